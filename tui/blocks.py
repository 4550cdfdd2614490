"""The parts a detail is made of: fields, output, JSON, diffs, bytes. Pure.

Every part is an iterator of Lines, made as they are taken: what stands below the pane costs
nothing. Text comes in as the log holds it and is made visible here. A part that is folded keeps
what tells most and says how much it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from sessionlog import codec
from sessionlog.diffs import FileDiff, Hunk
from sessionlog.errorline import looks_like_error
from sessionlog.records import Image
from sessionlog.text import clip, pad, size, visible, width
from tui.flow import MORE, chopped, words
from tui.highlight import json_lines
from tui.lines import Line, Piece

HEAD, TAIL, ERRORS = 4, 8, 12
"""Lines of a folded output: from its start, from its end, and those that look like errors."""
FOLDED = 40
"""Lines of JSON or of a diff before they are folded."""
_LOOK = 128 * 1024
_NAMES = 7, 20
"""Least and most columns of the names of fields: parts below one another line up."""

Field = tuple[str, str, str]
"""(name, text, style words)."""


def indented(pieces: Iterable[Piece], tint: str = "") -> Line:
    """A line of the body: one column of air in front."""
    return Line([(" ", ""), *pieces], tint=tint)


def folded(what: str) -> Line:
    """What a fold leaves out, and the key that shows it."""
    return indented([(f"+ {what} ", "fg-2"), ("space", "fg-1 bold")])


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def prose(text: str, columns: int, style: str) -> Iterator[Line]:
    """Text as it stands, its own line breaks kept, wrapped between words."""
    for line in visible(text, newlines=True).strip("\n").split("\n"):
        bare = line.lstrip(" ")
        indent = " " * min(len(line) - len(bare), columns // 3)
        made = False
        for part in words([(bare, style)], columns - 2 - len(indent)):
            yield indented([(indent, ""), *part] if indent else part)
            made = True
        if not made:
            yield indented([])


def fields(pairs: Sequence[Field], columns: int, expanded: bool = False) -> Iterator[Line]:
    """Names and values in two columns; a value may take several lines."""
    if not pairs:
        return
    names = min(max(_NAMES[0], *(width(visible(name)) for name, _, _ in pairs)), _NAMES[1])
    for name, text, style in pairs:
        label = pad(clip(visible(name), names), names + 2)
        lines = visible(text, newlines=True).strip("\n").split("\n")
        most = len(lines) if expanded or len(lines) <= HEAD + TAIL else HEAD
        for line in lines[:most]:
            for part in chopped([(line, style)], columns - 4 - names, MORE):
                yield indented([(label, "fg-3"), *part])
                label = " " * (names + 2)
        if most < len(lines):
            yield folded(counted(len(lines) - most, "line"))


def structure(
    value: Any, columns: int, expanded: bool, first: Sequence[Field] = ()
) -> Iterator[Line]:
    """A JSON value: an object of a few members as fields, `first` above them, and blocks; all else
    as JSON."""
    if not isinstance(value, Mapping) or len(value) > 16:
        yield from fields(first, columns, expanded)
        yield from json_block(_json(value), columns, expanded)
        return
    short, texts, deep = [*first], [], []
    for key, item in value.items():
        if isinstance(item, str) and ("\n" in item or len(item) > 4 * columns):
            texts.append((str(key), item))
        elif isinstance(item, str):
            short.append((str(key), item, "fg"))
        elif isinstance(item, dict | list) and item:
            deep.append((str(key), item))
        else:
            short.append((str(key), _json(item), "fg-2"))
    yield from fields(short, columns, expanded)
    for key, text in texts:
        yield indented([(visible(key), "fg-3"), *said_size(text)])
        yield from output(text, columns, expanded)
    for key, item in deep:
        yield indented([(visible(key), "fg-3")])
        yield from json_block(_json(item), columns, expanded)


def _json(value: Any) -> str:
    try:
        return codec.dumps(value).decode()
    except ValueError as error:  # deeper than the codec writes
        return str(error)


def json_block(text: str, columns: int, expanded: bool) -> Iterator[Line]:
    """JSON text, highlighted. Folded, its first lines."""
    lines = json_lines(text, len(text)) if expanded else json_lines(text)
    made = (part for line in lines for part in chopped(line, columns - 2, MORE))
    if expanded:
        yield from map(indented, made)
        return
    yield from map(indented, islice(made, FOLDED))
    if next(made, None) is not None:
        yield folded(f"the rest of {size(len(text))}")


def said_size(text: str) -> list[Piece]:
    """How much a text is ("  214 lines, 9.1 KB"), where that says something."""
    lines = text.count("\n") + (not text.endswith("\n")) if text else 0
    if lines < 2 and len(text) < 200:
        return []
    return [(f"  {counted(lines, 'line')}, {size(len(text.encode('utf-8', 'replace')))}", "fg-2")]


def output(text: str, columns: int, expanded: bool, failed: bool = False) -> Iterator[Line]:
    """What a tool wrote. Folded: its head, its tail, and the lines that look like errors."""
    lines = visible(text, newlines=True).strip("\n").split("\n")
    shown = range(len(lines)) if expanded else _telling(lines, len(text), failed)
    last = -1
    for at in shown:
        if at > last + 1:
            yield folded(counted(at - last - 1, "line"))
        yield from _output_line(lines[at], columns, failed)
        last = at
    if last + 1 < len(lines):
        yield folded(counted(len(lines) - last - 1, "line"))


def _telling(lines: list[str], length: int, failed: bool) -> Sequence[int]:
    """The lines that stay when an output is folded; of a failure the head tells little."""
    count = len(lines)
    if count <= HEAD + TAIL + ERRORS // 2:
        return range(count)
    kept = {*range(1 if failed else HEAD), *range(count - TAIL, count)}
    near = count if length <= _LOOK else count * _LOOK // length // 2
    looked = [*range(near), *range(max(count - near, near), count)]
    errors = [at for at in looked if looks_like_error(lines[at])]
    # The first errors cause the others; the last are what stopped it.
    for at in [*errors[: ERRORS // 2], *errors[-ERRORS // 2 :]]:
        kept |= {at - 1, at, at + 1}
    return sorted(at for at in kept if 0 <= at < count)


def _output_line(line: str, columns: int, failed: bool) -> Iterator[Line]:
    wrong = looks_like_error(line)
    style = "fail bold" if wrong and failed else "fg" if wrong else "fg-2"
    for part in chopped([(line, style)], columns - 4, MORE):
        yield indented([("  ", ""), *part], "tint-fail" if wrong and failed else "")


def changes(
    diffs: Sequence[FileDiff], columns: int, expanded: bool, *, named: bool = False
) -> Iterator[Line]:
    """A diff: line numbers where they are known, whole hunks until it is long enough.

    `named`: every file is named, also where it is the only one.
    """
    hunks = [(diff, hunk) for diff in diffs for hunk in diff.hunks or (Hunk(()),)]
    taken = 0
    before: FileDiff | None = None
    for number, (diff, hunk) in enumerate(hunks):
        if not expanded and number and taken + len(hunk.changes) > FOLDED:
            yield folded(counted(len(hunks) - number, "hunk"))
            return
        if diff is not before and (named or len(diffs) > 1 or diff.how):
            yield indented(file_head(diff))
        before = diff
        most = len(hunk.changes) if expanded else 2 * FOLDED
        yield from _hunk(hunk, columns, most)
        taken += len(hunk.changes)


def file_head(diff: FileDiff) -> list[Piece]:
    """A file of several: its path, what became of it, its counts."""
    how = [(f"  {visible(diff.how)}", "fg-2")] if diff.how else []
    return [(visible(diff.path), "fg-1"), *how, ("  ", ""), *plus_minus(diff.added, diff.removed)]


def plus_minus(added: int, removed: int) -> list[Piece]:
    """The counts as "+14 −9", without what is none."""
    came: list[Piece] = [(f"+{added}", "diff-add bold")] if added or not removed else []
    gone: list[Piece] = [(f"−{removed}", "diff-del bold")] if removed else []
    return [*came, (" ", ""), *gone] if came and gone else [*came, *gone]


def _hunk(hunk: Hunk, columns: int, most: int) -> Iterator[Line]:
    numbers = [change.number for change in hunk.changes if change.number is not None]
    digits = max(len(str(max(numbers))), 4) + 1 if numbers else 0
    place = f" {min(numbers)},{len(hunk.changes)}" if numbers else ""
    if place or hunk.head:
        words_ = visible(hunk.head)
        said = f"@@{place} · {words_}" if place and words_ else f"@@{place or ' ' + words_}"
        yield indented([(clip(said, columns - 2), "fg-3")])
    styles = {"+": ("diff-add", "tint-add"), "-": ("diff-del", "tint-del"), " ": ("fg-2", "")}
    for change in hunk.changes[:most]:
        style, tint = styles[change.sign]
        number = "" if change.number is None else str(change.number)
        sign = "−" if change.sign == "-" else change.sign
        lead = [(f"{number:>{digits}} ", "fg-3"), (f"{sign} ", f"{style} bold")]
        text = visible(change.text, newlines=True).replace("\n", " ")
        for part in chopped([(text, style)], columns - digits - 5, MORE):
            yield indented([*lead, *part], tint)
            lead = [(" " * (digits + 3), "")]
    if most < len(hunk.changes):
        yield folded(counted(len(hunk.changes) - most, "line"))


def image_field(image: Image) -> Field:
    """A picture, named: it is never drawn."""
    known = [image.media_type or "image", f"{image.size:,} bytes" if image.size else ""]
    if image.width and image.height:
        known.append(f"{image.width}x{image.height}")
    return "image", " ".join(filter(None, (*known, image.digest, image.source))), "fg-2"


def hexdump(data: bytes, offset: int, columns: int, expanded: bool) -> Iterator[Line]:
    """Bytes as numbers and as what they may be read as."""
    step = 16 if columns >= 80 else 8 if columns >= 46 else 4
    rows = range(0, len(data), step)
    for at in rows if expanded else rows[: HEAD + TAIL]:
        part = data[at : at + step]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "·" for byte in part)
        numbers = part.hex(" ")
        yield indented([
            (f"{offset + at:>10,}  ", "fg-3"), (f"{numbers:<{3 * step}} ", "fg-2"), (text, "fg"),
        ])  # fmt: skip
    if not expanded and len(rows) > HEAD + TAIL:
        yield folded(f"{len(data) - (HEAD + TAIL) * step:,} bytes")
