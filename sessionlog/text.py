"""Log text, made safe and made to fit: the one way from a log to a terminal.

A log may hold anything: escape sequences that paint or answer for the person, directions that
turn a path around, characters nobody sees. `visible` shows each of them as a mark instead of
dropping it, so what is hostile can be read, and leaves ordinary text of any script as it is.
Marks are plain text: a log may hold the same letters, and they do as little.
The rest measures and cuts text that is already visible, in terminal columns, and says times and
sizes in few letters. No I/O; what is costly is made on first use, for listing is a tight loop.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, islice
from math import isfinite

ELLIPSIS = "…"
LINE_MARK = "↵"
"""Stands for a line feed where a text has to be one line; one column, no emoji form."""

_MOST_MARKS = 8
_TAB = 4
_TITLE = 1000
_ZWNJ, _ZWJ, _VS16 = "\u200c", "\u200d", "\ufe0f"
_JOINERS = _ZWNJ + _ZWJ
_PLAIN = bytes(range(0x20, 0x7F)) + b"\t\n"

_CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f]"
# Everything but LF and TAB that a terminal obeys, hides or draws in another order. Joiners are
# judged by their neighbours, below. Arabic number signs are Cf too, but they are seen: not here.
_HIDDEN = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0, DEL, C1
    r"\u061c\u200e\u200f\u202a-\u202e"  # bidi marks and embeddings; isolates are in 2060-206F
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u3164\ufeff\uffa0"  # no width, or no ink
    r"\u2028\u2029\u2060-\u206f\ufff0-\ufffb"  # separators, invisible operators, annotations
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # layout of rare scripts
    r"\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"  # tags: text that only a model reads
    r"\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"  # lone surrogates, noncharacters
    + "".join(rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(1, 17))
    + "]"
)
# Blocks that hold combining marks, widely: a run of nine in here is worth a look at each.
_MARK_BLOCKS = (
    r"[\u0300-\u036f\u0483-\u0489\u0591-\u1dff\u200c\u200d\u20d0-\u20ff\u2cef-\u2dff\u302a-\u302f"
    r"\u3099\u309a\ua66f-\uabff\ufb1e\ufe00-\ufe2f\U00010000-\U0001efff\U000e0100-\U000e01ef]"
)
_STACKED = f"{_MARK_BLOCKS}{{{_MOST_MARKS + 1},}}"
# Signs that take part in joined emoji.
_EMOJI = (
    r"[\u2194\u2195\u2620\u2640\u2642\u2695\u2696\u26a7\u26d3\u26f9\u2708\u2764\u27a1\u2b1b"
    rf"\U0001f300-\U0001faff][\U0001f3fb-\U0001f3ff]?{_VS16}?"
)
# An emoji sequence as long as any that exists (four parts), or a joiner anywhere else.
_SEQUENCE = f"{_EMOJI}(?:{_ZWJ}{_EMOJI}){{1,3}}|[{_JOINERS}]"
# Scripts in which a joiner changes the shape of the letters beside it.
_JOINING = r"[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\ua8e0-\ua8ff]"

_WIDENED = (
    "23 2A 30-39 A9 AE 203C 2049 2122 2139 2194-2199 21A9-21AA 2328 23CF 23ED-23EF 23F1-23F2 "
    "23F8-23FA 24C2 25AA-25AB 25B6 25C0 25FB-25FC 2600-2604 260E 2611 2618 261D 2620 2622-2623 "
    "2626 262A 262E-262F 2638-263A 2640 2642 265F-2660 2663 2665-2666 2668 267B 267E 2692 "
    "2694-2697 2699 269B-269C 26A0 26A7 26B0-26B1 26C8 26CF 26D1 26D3 26E9 26F0-26F1 26F4 "
    "26F7-26F9 2702 2708-2709 270C-270D 270F 2712 2714 2716 271D 2721 2733-2734 2744 2747 "
    "2763-2764 27A1 2934-2935 2B05-2B07 1F170-1F171 1F17E-1F17F 1F321 1F324-1F32C 1F336 1F37D "
    "1F396-1F397 1F399-1F39B 1F39E-1F39F 1F3CB-1F3CE 1F3D4-1F3DF 1F3F3 1F3F5 1F3F7 1F43F 1F441 "
    "1F4FD 1F549-1F54A 1F56F-1F570 1F573-1F579 1F587 1F58A-1F58D 1F590 1F5A5 1F5A8 1F5B1-1F5B2 "
    "1F5BC 1F5C2-1F5C4 1F5D1-1F5D3 1F5DC-1F5DE 1F5E1 1F5E3 1F5E8 1F5EF 1F5F3 1F5FA 1F6CB "
    "1F6CD-1F6CF 1F6E0-1F6E5 1F6E9 1F6F0 1F6F3"
)
"""Narrow signs that U+FE0F turns into two columns (Unicode's emoji variation sequences)."""

_SIZES = (
    (0x0600, 0x0605, 1), (0x06DD, 0x06DD, 1), (0x070F, 0x070F, 1), (0x0890, 0x0891, 1),
    (0x08E2, 0x08E2, 1), (0x110BD, 0x110BD, 1), (0x110CD, 0x110CD, 1),  # Cf, but drawn
    (0x1160, 0x11FF, 0), (0xD7B0, 0xD7FB, 0), (0x1F3FB, 0x1F3FF, 0),  # drawn inside the one before
    (0x2630, 0x2637, 2), (0x268A, 0x268F, 2), (0x4DC0, 0x4DFF, 2),  # wide since Unicode 16
    (0x1D300, 0x1D356, 2), (0x1D360, 0x1D376, 2),
    (0x1F6D5, 0x1F6DF, 2), (0x1FA70, 0x1FAFF, 2),  # emoji younger than Python's own table
)  # fmt: skip
"""Where terminals differ from what `unicodedata` says: first, last, columns."""


def visible(text: str, *, newlines: bool = False) -> str:
    """`text` with everything a terminal would obey or hide shown as a mark.

    One line by default: a line break becomes `LINE_MARK`, a tab a space. With `newlines` line
    feeds stay, CRLF is a line feed and tabs reach the next fourth column. A CR that stands alone
    is a mark in both: it would write over its own line. Idempotent, and linear in the text.
    """
    if text.isascii():
        if text.isprintable():
            return text
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        text = _pattern(_CONTROLS).sub(_mark, text)
    else:
        text = _marked(text)
    if newlines:
        return _expanded(text) if "\t" in text else text
    return text.replace("\n", LINE_MARK).replace("\t", " ")


def _marked(text: str) -> str:
    """The same for text beyond ASCII, where a regex costs ten times as much for each character.

    So it looks first at what is not printable ASCII, and at that once for each character.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    rest = text.encode("utf-8", "surrogatepass").translate(None, _PLAIN)
    beyond = rest.decode("utf-8", "surrogatepass")
    met = "".join(set(beyond))
    if _pattern(_HIDDEN).search(met):
        text = _pattern(_HIDDEN).sub(_mark, text)
    # What is side by side in the text is side by side in `beyond`, too.
    if _pattern(_MARK_BLOCKS).search(met) and _pattern(_STACKED).search(beyond):
        text = _pattern(_STACKED).sub(_capped, text)
    if _ZWNJ in met or _ZWJ in met:
        text = _pattern(_SEQUENCE).sub(_judged, text)
    return text


@cache
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)


def _mark(match: re.Match[str]) -> str:
    return _sign(match[0])


def _sign(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"


def _capped(match: re.Match[str]) -> str:
    """A run of characters, with the marks that exceed the cap of their base shown apart.

    What this Python does not know yet counts as a mark: the terminal may be younger.
    """
    shown, run = [], 0
    for char in match[0]:
        is_mark = char in _JOINERS or unicodedata.category(char) in ("Mn", "Me", "Mc", "Cn")
        run = run + 1 if is_mark else 0
        shown.append(_sign(char) if run > _MOST_MARKS else char)
    return "".join(shown)


def _judged(match: re.Match[str]) -> str:
    """A joiner stays where it shapes the letters beside it, and is a mark where it only hides."""
    joiner, at = match[0], match.start()
    if len(joiner) > 1:
        return joiner  # a whole emoji sequence
    before, after = match.string[at - 1 : at], match.string[at + 1 : at + 2]
    if not (_is_word(before) and _is_word(after)):
        return _sign(joiner)
    sides = [_pattern(_JOINING).match(before), _pattern(_JOINING).match(after)]
    if joiner == _ZWNJ:  # one side is enough: a Persian ending on a Latin word
        return joiner if any(sides) else _sign(joiner)
    # Beside a virama it makes one shape of two letters; elsewhere they join without it.
    virama = 9 in (unicodedata.combining(before), unicodedata.combining(after))
    return joiner if all(sides) and virama else _sign(joiner)


def _is_word(char: str) -> bool:
    return bool(char) and unicodedata.category(char)[0] in "LMN"


def _expanded(text: str) -> str:
    """Tabs as spaces up to the next tab stop, counted in columns."""
    if text.isascii():
        return text.expandtabs(_TAB)
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if "\t" in line:
            done: list[str] = []
            column = 0
            *cells, last = line.split("\t")
            for cell in cells:
                size = width(cell)
                gap = _TAB - (column + size) % _TAB
                column += size + gap
                done += (cell, " " * gap)
            lines[number] = "".join((*done, last))
    return "\n".join(lines)


class _Sizes(dict[str, int]):
    """Columns of each character met so far: a dict lookup costs a tenth of the rules."""

    def __missing__(self, char: str) -> int:
        if len(self) >= 8192:
            self.clear()
        size = self[char] = _size(char)
        return size


_sizes = _Sizes()


def _size(char: str) -> int:
    code = ord(char)
    for first, last, size in _SIZES:
        if first <= code <= last:
            return size
    category = unicodedata.category(char)
    if category == "Cn":  # unassigned: some Pythons call all of these wide
        return 2 if 0x20000 <= code <= 0x3FFFD else 1
    if category[0] == "M" or category == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


@cache
def _widened() -> frozenset[str]:
    ends = [part.partition("-") for part in _WIDENED.split()]
    return frozenset(
        chr(code)
        for first, _, last in ends
        for code in range(int(first, 16), int(last or first, 16) + 1)
    )


def width(text: str) -> int:
    """Terminal columns of a visible, one-line text."""
    if text.isascii():
        return len(text)
    if _ZWJ not in text and _VS16 not in text:
        return sum(map(_sizes.__getitem__, text))
    return sum(size for _, size in _clusters(text))


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """(end, columns) of each part that cannot be cut: a base with its marks, or a joined emoji."""
    widened, size, widens, joined = _widened(), 0, False, False
    for index, char in enumerate(text):
        if joined:  # drawn as one with what stands before the joiner
            joined = False
        elif char == _ZWJ:
            joined = True
        elif char == _VS16:
            size += widens
            widens = False
        elif columns := _sizes[char]:
            if index:
                yield index, size
            size, widens = columns, char in widened
    yield len(text), size


def _fit(text: str, columns: int) -> int:
    """How many characters of `text` fit; looks no further than that."""
    if text.isascii():
        return max(min(len(text), columns), 0)
    if _ZWJ not in text and _VS16 not in text:
        if columns <= 0:
            return 0
        head = text[: columns + 1]  # enough, but for marks of no width
        fits = bisect_right(list(accumulate(map(_sizes.__getitem__, head))), columns)
        if fits < len(head) or len(head) == len(text):
            return fits
        return bisect_right(list(accumulate(map(_sizes.__getitem__, text))), columns)
    end = 0
    for stop, size in _clusters(text):
        columns -= size
        if columns < 0:
            break
        end = stop
    return end


def clip(text: str, columns: int, ellipsis: str = ELLIPSIS) -> str:
    """`text` in at most `columns`; where something was cut it ends in `ellipsis`, if that fits."""
    return _clipped(text, columns, ellipsis)[0]


def _clipped(text: str, columns: int, ellipsis: str) -> tuple[str, int]:
    """The clipped text and its columns, measured once: listings clip by the ten thousand."""
    if columns <= 0:
        return "", 0
    if text.isascii():
        size = len(text)
        if size <= columns:
            return text, size
    else:
        fits = _fit(text, columns)
        if fits == len(text):
            return text, width(text)
    room = columns - width(ellipsis)
    if room < 0:
        room, ellipsis = columns, ""
    # A joiner with nothing behind it would join what comes next on the screen.
    kept = text[: _fit(text, room)].rstrip(" " + _JOINERS) + ellipsis
    return kept, width(kept)


def pad(text: str, columns: int, align: str = "<") -> str:
    """`text` in exactly `columns`: clipped, then filled on the right ("<"), left (">") or both."""
    text, size = _clipped(text, columns, ELLIPSIS)
    gap = max(columns, 0) - size
    left = {"<": 0, ">": gap, "^": gap // 2}[align]
    return " " * left + text + " " * (gap - left)


def one_line(text: str) -> str:
    """The first line that says something, visible, with single spaces: a title.

    A title is at most a thousand characters and an ellipsis: a first line can be a whole file.
    """
    text = text.lstrip()
    end = text.find("\n", 0, _TITLE + 1)
    head = text[: end if end >= 0 else _TITLE]
    cut = ELLIPSIS if end < 0 and len(text) > _TITLE else ""
    return " ".join(visible(head.rstrip()).split()) + cut


def wrap(text: str, columns: int, lines: int) -> list[str]:
    """Visible text as at most `lines` lines of `columns`, broken between words.

    Line feeds break too and blank lines are left out: this is a glance at a text. What does not
    fit is an ellipsis at the end. The cost follows what is shown, not the length of the text.
    """
    if columns <= 0 or lines <= 0:
        return []
    made = list(islice(_wrapped(text, columns), lines + 1))
    if len(made) > lines:
        made[lines - 1 :] = [clip(made[lines - 1] + ELLIPSIS, columns)]
    return made


def _wrapped(text: str, columns: int) -> Iterator[str]:
    for paragraph in re.finditer(r"[^\n]+", text):
        line = ""
        for match in re.finditer(r"( *)([^ ]+)", paragraph[0].rstrip(" ")):
            space, word = match.groups()
            room = columns - width(line) - len(space)
            if _fit(word, room) == len(word):
                line += space + word
                continue
            if _fit(word, columns) < len(word):  # longer than a line: fill this one first
                end = _fit(word, room)
                line += space + word[:end] if end else ""
                word = word[end:]
            if line:
                yield line.rstrip(_JOINERS)
            while (end := _fit(word, columns)) < len(word):
                yield word[:end].rstrip(_JOINERS) or ELLIPSIS
                word = word[max(end, 1) :]  # a wide sign in a single column: left out
            line = word
        if line:
            yield line


def ago(seconds: float) -> str:
    """An age in at most four columns: 12s, 59m, 23h, 13d, 5w, 2y."""
    if not isfinite(seconds):
        return "?"
    left = max(int(seconds), 0)
    for limit, unit, sign in (
        (60, 1, "s"), (3600, 60, "m"), (86400, 3600, "h"), (14 * 86400, 86400, "d"),
        (104 * 604800, 604800, "w"),
    ):  # fmt: skip
        if left < limit:
            return f"{left // unit}{sign}"
    return f"{min(left // 31_557_600, 999)}y"


def took(seconds: float) -> str:
    """A length of time in at most six columns: 0.2s, 38s, 1m44s, 4h29m, 3d04h."""
    if not isfinite(seconds):
        return "?"
    tenths = round(max(seconds, 0) * 10)
    if tenths < 100:
        return f"{tenths / 10:.1f}s"
    left = round(max(seconds, 0))
    if left < 60:
        return f"{left}s"
    for limit, unit, part, signs in (
        (3600, 60, 1, "ms"), (86400, 3600, 60, "hm"), (100 * 86400, 86400, 3600, "dh"),
    ):  # fmt: skip
        if left < limit:
            whole, rest = left // unit, left % unit // part
            return f"{whole}{signs[0]}{rest:02}{signs[1]}" if rest else f"{whole}{signs[0]}"
    return f"{min(left // 86400, 99_999)}d"


def size(count: int) -> str:
    """Bytes in at most six columns: 812 B, 9.1 KB, 48 KB. Powers of ten, as counts are shown."""
    if count < 1000:
        return f"{count} B"
    amount = float(count)
    for unit in ("KB", "MB", "GB", "TB"):
        amount /= 1000
        if amount < 9.95:
            return f"{amount:.1f} {unit}"
        if amount < 999.5 or unit == "TB":
            break
    return f"{amount:.0f} {unit}"
