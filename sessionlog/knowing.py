"""What a transcript knows of one file after all that was done to it. Pure.

A known content stays known through every edit that can be repeated here; one that cannot leaves
only the lines it brought, which still have to stand in the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sessionlog.acts import Act, Swap
from sessionlog.diffs import Hunk
from sessionlog.displays import View, view_of

_PARTS = 20
"""Latest parts that are kept of a file that is not known as a whole."""


class Known(NamedTuple):
    """What the transcript holds of a file."""

    there: bool = True
    """False: it was seen missing, or the run removed it."""
    whole: View | None = None
    parts: tuple[str, ...] = ()
    """Texts that have to stand somewhere in the file."""
    digest: str = ""
    """"sha256:<hex>" of the content."""


def known_of(acts: Iterable[Act]) -> Known:
    """What the acts on one file, in order, leave known."""
    known = Known()
    for act in acts:
        known = _after(known, act)
    return known


def settles(act: Act) -> bool:
    """Does an act make what was known before it worthless?"""
    if act.how == "read":
        return act.text is not None and not act.ranged
    return act.how in ("write", "remove", "absent") or act.base is not None


def _after(known: Known, act: Act) -> Known:
    if act.how in ("remove", "absent"):
        return Known(there=False)
    if act.how == "read":
        return _read(known, act)
    if act.how == "edit":
        return _edited(known, act)
    return Known(whole=None if act.text is None else View(act.text, True))


def _read(known: Known, act: Act) -> Known:
    known = known._replace(there=True, digest=act.digest or known.digest)
    view = view_of(act.text, ranged=act.ranged, shell=act.shell) if act.text is not None else None
    if view is None:
        return known if act.ranged or act.text is None else Known(digest=act.digest)
    if view.whole:
        return Known(whole=view, digest=act.digest)
    part = view.text.strip("\n")
    if not part or (known.whole and part in known.whole.text):
        return known
    if known.whole:  # the file is another than the one that was known
        return Known(parts=_parts([part]))
    return known._replace(parts=_parts([*known.parts, part]))


def _edited(known: Known, act: Act) -> Known:
    whole = View(act.base, True, 0, "numbered") if act.base is not None else known.whole
    brought = [_side(hunk, "-") for hunk in act.hunks] or [swap.new for swap in act.swaps]
    if whole is not None and (act.hunks or act.swaps):
        text = patched(whole.text, act.hunks) if act.hunks else swapped(whole.text, act.swaps)
        if text is not None:
            loose = bool(act.hunks) and not text.endswith("\n") and not _is_numbered(act.hunks)
            hidden = max(whole.hidden, 1) if loose else whole.hidden
            return Known(whole=whole._replace(text=text, hidden=hidden))
    kept = (swapped(part, act.swaps) for part in known.parts) if act.swaps else ()
    return Known(parts=_parts([*(part for part in kept if part), *brought]))


def _parts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if text.strip())[-_PARTS:]


def swapped(text: str, swaps: Iterable[Swap]) -> str | None:
    """A text after its swaps; None where one of them cannot be repeated."""
    for old, new, every in swaps:
        count = text.count(old) if old else 0
        if not count or (count > 1 and not every):
            return None
        text = text.replace(old, new)
    return text


def patched(text: str, hunks: Iterable[Hunk]) -> str | None:
    """A text after its hunks; None where the place of one is not the only one, or is not there.

    apply_patch (Codex) puts a hunk without old lines at the end; it ends the file with a line feed,
    but not all that speak its language do. Hunks with line numbers are looked for at their line
    alone.
    """
    lines = text.split("\n")
    at, shift = 0, 0
    for hunk in hunks:
        if not hunk.changes:
            continue
        old, new = _side(hunk, "+").split("\n"), _side(hunk, "-").split("\n")
        new = [] if all(change.sign == "-" for change in hunk.changes) else new
        place = _place(lines, hunk, old, at, shift)
        if place is None:
            return None
        old = old if any(change.sign != "+" for change in hunk.changes) else []
        lines[place : place + len(old)] = new
        at, shift = place + len(new), shift + len(new) - len(old)
    return "\n".join(lines)


def _is_numbered(hunks: Iterable[Hunk]) -> bool:
    return any(change.number is not None for hunk in hunks for change in hunk.changes)


def _place(lines: list[str], hunk: Hunk, old: list[str], at: int, shift: int) -> int | None:
    """Index of the line where a hunk belongs."""
    first = hunk.changes[0]
    bare = all(change.sign == "+" for change in hunk.changes)
    if first.number is not None:
        place = first.number - 1 + (shift if first.sign == "-" else 0)
        fits = bare or lines[place : place + len(old)] == old
        return place if fits and 0 <= place <= len(lines) else None
    if bare:
        return len(lines) - 1 if lines[-1] == "" else len(lines)
    found = list(_found(lines, old, at))
    return found[0] if len(found) == 1 else None


def _found(lines: list[str], wanted: Sequence[str], at: int) -> Iterable[int]:
    try:
        while True:
            at = lines.index(wanted[0], at)
            if lines[at : at + len(wanted)] == wanted:
                yield at
            at += 1
    except ValueError:
        return


def _side(hunk: Hunk, without: str) -> str:
    """The lines of a hunk without those of one sign."""
    return "\n".join(change.text for change in hunk.changes if change.sign != without)
