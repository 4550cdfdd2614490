"""What a transcript knows of one file after all that was done to it. Pure.

A known content stays known through every edit that can be repeated here; one that cannot leaves
only the lines it brought, which still have to stand in the file. Repeating has bounds: edits can
multiply a content, and a content is gone over once for each edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from sessionlog.acts import Act, Swap
from sessionlog.diffs import Hunk
from sessionlog.displays import View, view_of

MOST = 8 << 20
"""Characters, and bytes of a file, up to which a content is followed and compared."""
_GONE = ("remove", "absent")
_PARTS = 20
"""Latest parts that are kept of a file that is not known as a whole."""
_LONGEST_PART = 1 << 20
"""Characters to which edits may bring a part."""
_ALL = 1 << 30
"""Characters that may be gone over for all files together: some seconds."""
_LINE = 16
"""What a line costs that is looked at, in characters gone over."""
_ACT = 5000
"""What an act costs besides its texts, in characters gone over."""


class Known(NamedTuple):
    """What the transcript holds of a file."""

    there: bool = True
    """False: it was seen missing, or the run removed it."""
    whole: View | None = None
    parts: tuple[str, ...] = ()
    """Texts that have to stand somewhere in the file."""
    digest: str = ""
    """"sha256:<hex>" of the content."""


class Work:
    """What may still be spent on knowing files, in characters gone over."""

    __slots__ = ("left", "of")

    def __init__(self, left: int = _ALL, of: Work | None = None) -> None:
        self.left = left
        self.of = of
        """What this is a share of."""

    def does(self, cost: int) -> bool:
        """Spend; false where there is not that much left."""
        self.left -= cost
        return (self.of is None or self.of.does(cost)) and self.left >= 0

    def share(self) -> Work:
        """What one file's content may cost, so that something is left for the others."""
        return Work(self.left // 4, self)


def known_of(acts: Sequence[Act], work: Work) -> Known:
    """What the acts on one file, in order, leave known; where the work runs out, no content."""
    known, whole = Known(), work.share()
    for act in acts:
        if not work.does(_cost(act)):
            return unknown_of(acts[-1])
        known = _after(known, act, whole, work)
    return known


def unknown_of(last: Act) -> Known:
    """What is known of a file after an act if nothing of its content is."""
    return Known(there=last.how not in _GONE)


def _cost(act: Act) -> int:
    held = (
        len(act.text or "") + len(act.base or "") + sum(len(s.old) + len(s.new) for s in act.swaps)
    )
    return _ACT + held + sum(len(change.text) for hunk in act.hunks for change in hunk.changes)


def settles(act: Act) -> bool:
    """Does an act make what was known before it worthless?"""
    if act.how == "read":
        return act.text is not None and not act.ranged
    return act.how == "write" or act.how in _GONE or act.base is not None


def _after(known: Known, act: Act, whole: Work, work: Work) -> Known:
    if act.how in _GONE:
        return Known(there=False)
    if act.how == "read":
        return _read(known, act, work)
    if act.how == "edit":
        return _edited(known, act, whole, work)
    return Known(whole=None if act.text is None else View(act.text, True))


def _read(known: Known, act: Act, work: Work) -> Known:
    known = known._replace(there=True, digest=act.digest or known.digest)
    view = view_of(act.text, ranged=act.ranged, shell=act.shell) if act.text is not None else None
    if view is None:
        return known if act.ranged or act.text is None else Known(digest=act.digest)
    if view.whole:
        return Known(whole=view, digest=act.digest)
    part = view.text.strip("\n")
    held = known.whole.text if known.whole else ""
    if not part or (work.does(len(held)) and part in held):
        return known
    if known.whole:  # the file is another than the one that was known
        return Known(parts=_parts([part]))
    return known._replace(parts=_parts([*known.parts, part]))


def _edited(known: Known, act: Act, work: Work, rest: Work) -> Known:
    """`work`: what the whole content may cost; `rest`: what parts of it may."""
    whole = View(act.base, True, 0, "numbered") if act.base is not None else known.whole
    brought = [_side(hunk, "-") for hunk in act.hunks] or [swap.new for swap in act.swaps]
    if whole is not None and (act.hunks or act.swaps):
        if act.hunks:
            text = patched(whole.text, act.hunks, work)
        else:
            text = swapped(whole.text, act.swaps, work)
        if text is not None:
            loose = bool(act.hunks) and not text.endswith("\n") and not _is_numbered(act.hunks)
            hidden = max(whole.hidden, 1) if loose else whole.hidden
            return Known(whole=whole._replace(text=text, hidden=hidden))
    parts = known.parts if act.swaps else ()
    kept = (swapped(part, act.swaps, rest, _LONGEST_PART) for part in parts)
    return Known(parts=_parts([*(part for part in kept if part), *brought]))


def _parts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if text.strip())[-_PARTS:]


def swapped(text: str, swaps: Iterable[Swap], work: Work, most: int = MOST) -> str | None:
    """A text after its swaps; None where one of them cannot be repeated, or costs too much."""
    for old, new, every in swaps:
        count = text.count(old) if old and work.does(len(text)) else 0
        if not count or (count > 1 and not every):
            return None
        if len(text) + count * (len(new) - len(old)) > most:
            return None
        text = text.replace(old, new)
    return text


def patched(text: str, hunks: Iterable[Hunk], work: Work) -> str | None:
    """A text after its hunks; None where the place of one is not the only one, or is not there, or
    it costs too much.

    apply_patch (Codex) puts a hunk without old lines at the end; it ends the file with a line feed,
    but not all that speak its language do. Hunks with line numbers are looked for at their line
    alone.
    """
    if not work.does(len(text)) or len(text) > MOST:
        return None
    lines = text.split("\n")
    at, shift = 0, 0
    for hunk in hunks:
        if not hunk.changes:
            continue
        if not work.does(_LINE * len(lines)):
            return None
        old, new = _side(hunk, "+").split("\n"), _side(hunk, "-").split("\n")
        new = [] if all(change.sign == "-" for change in hunk.changes) else new
        place = _place(lines, hunk, old, at, shift, work)
        if place is None:
            return None
        old = old if any(change.sign != "+" for change in hunk.changes) else []
        lines[place : place + len(old)] = new
        at, shift = place + len(new), shift + len(new) - len(old)
    return "\n".join(lines)


def _is_numbered(hunks: Iterable[Hunk]) -> bool:
    return any(change.number is not None for hunk in hunks for change in hunk.changes)


def _place(
    lines: list[str], hunk: Hunk, old: list[str], at: int, shift: int, work: Work
) -> int | None:
    """Index of the line where a hunk belongs."""
    first = hunk.changes[0]
    bare = all(change.sign == "+" for change in hunk.changes)
    if first.number is not None:
        place = first.number - 1 + (shift if first.sign == "-" else 0)
        fits = bare or lines[place : place + len(old)] == old
        return place if fits and 0 <= place <= len(lines) else None
    if bare:
        return len(lines) - 1 if lines[-1] == "" else len(lines)
    found = list(islice(_found(lines, old, at, work), 2))
    return found[0] if len(found) == 1 and work.left >= 0 else None


def _found(lines: list[str], wanted: Sequence[str], at: int, work: Work) -> Iterable[int]:
    try:
        while work.does(_LINE * len(wanted)):
            at = lines.index(wanted[0], at)
            if lines[at : at + len(wanted)] == wanted:
                yield at
            at += 1
    except ValueError:
        return


def _side(hunk: Hunk, without: str) -> str:
    """The lines of a hunk without those of one sign."""
    return "\n".join(change.text for change in hunk.changes if change.sign != without)
