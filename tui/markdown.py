"""The Markdown that models write, as lines. Pure, and cheap enough to lay out as it streams.

Headings, lists, quotes, rules, fenced code, and bold, italic, code and links inside a line. What
is not certain stays as it is written: a text is shown, not published. Tables keep their own
alignment, a link shows where it leads, and HTML is plain text. Lines come as they are taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sessionlog.text import visible, width
from tui.flow import MORE, chopped, words
from tui.highlight import code_pieces
from tui.lines import Piece

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)")
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_RULE = re.compile(r"^ {0,3}([-*_])(?:\s*\1){2,}\s*$")
_ITEM = re.compile(r"^(\s*)([-*+]|\d{1,4}[.)])\s+(?:\[([ xX])\]\s+)?(.*)$")
_QUOTE = re.compile(r"^ {0,3}>\s?(.*)$")
_TABLE = re.compile(r"^\s*\|.*\|\s*$")
_INLINE = re.compile(
    r"""
    (?P<ticks>`+)(?P<code>(?:(?!(?P=ticks)).)+?)(?P=ticks)(?!`)
  | \*\*(?P<bold>\S(?:.*?\S)?)\*\*
  | (?<!\w)__(?P<bold2>\S(?:.*?\S)?)__(?!\w)
  | (?<![*\w])\*(?P<italic>[^*\s](?:[^*]*[^*\s])?)\*(?![*\w])
  | (?<!\w)_(?P<italic2>[^_\s](?:[^_]*[^_\s])?)_(?!\w)
  | !?\[(?P<label>[^\[\]]{1,300})\]\((?P<url>[^\s()]{1,2000})(?:\s+"[^"]*")?\)
    """,
    re.VERBOSE,
)
_LONGEST = 4000
"""Characters of one paragraph line that are searched for inline marks."""


def markdown(text: str, columns: int, style: str = "fg") -> Iterator[list[Piece]]:
    """The lines of a text, at most `columns` wide; `style` is that of plain words."""
    fence, gap = "", False
    for line in visible(text, newlines=True).rstrip().split("\n"):
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            else:
                yield from _code(line, columns)
            continue
        if not line.strip():
            gap = True
            continue
        if gap:
            yield []
            gap = False
        if match := _FENCE.match(line):
            fence = match[1]
            if match[2]:
                yield [(match[2], "fg-3")]
            continue
        yield from _block(line, columns, style)


def _code(line: str, columns: int) -> Iterator[list[Piece]]:
    for part in chopped(code_pieces(line), columns - 2, MORE):
        yield [("  ", ""), *part]


def _block(line: str, columns: int, style: str) -> Iterator[list[Piece]]:
    """One line of the text outside of fenced code."""
    if match := _HEADING.match(line):
        yield from words(inline(match[2], "fg-1 bold"), columns)
    elif _RULE.match(line):
        yield [("─" * columns, "line")]
    elif _TABLE.match(line):
        yield from chopped(inline(line, style, plain=True), columns, MORE)
    elif match := _QUOTE.match(line):
        for part in words(inline(match[1], f"{style} italic"), columns - 2):
            yield [("│ ", "line-2"), *part]
    elif match := _ITEM.match(line):
        yield from _item(match, columns, style)
    else:
        indent = len(line) - len(line.lstrip(" "))
        yield from _hung(" " * indent, "", inline(line[indent:], style), columns)


def _item(match: re.Match[str], columns: int, style: str) -> Iterator[list[Piece]]:
    sign = "·" if match[2] in "-*+" else match[2]
    if match[3]:
        sign += " [ ]" if match[3] == " " else " [x]"
    return _hung(match[1], sign + " ", inline(match[4], style), columns)


def _hung(indent: str, sign: str, pieces: list[Piece], columns: int) -> Iterator[list[Piece]]:
    """Lines that hang under their sign; deep indents are cut down to what leaves room."""
    indent = indent[: columns // 3]
    hang = " " * (len(indent) + width(sign))
    first = True
    for part in words(pieces, columns - len(hang)):
        lead: list[Piece] = [(indent, ""), (sign, "fg-2")] if first else [(hang, "")]
        yield [piece for piece in lead if piece[0]] + part
        first = False
    if first:
        yield [(indent + sign, "fg-2")]


def inline(line: str, style: str, plain: bool = False) -> list[Piece]:
    """The pieces of one visible line: marks become styles, all else stays. `plain` keeps the
    marks too, where columns have to stay where they are."""
    pieces: list[Piece] = []
    at = 0
    for match in _INLINE.finditer(line[:_LONGEST]):
        if match.start() > at:
            pieces.append((line[at : match.start()], style))
        text, words_ = _marked(match, style)
        pieces.append((match[0] if plain else text, words_))
        if match["url"] and not plain and match["url"] != text:
            pieces.append((f" {match['url']}", "fg-3"))
        at = match.end()
    if at < len(line):
        pieces.append((line[at:], style))
    return pieces


def _marked(match: re.Match[str], style: str) -> Piece:
    if match["code"]:
        return match["code"], "fg-1"
    if bold := match["bold"] or match["bold2"]:
        return bold, _styled(style, "bold")
    if italic := match["italic"] or match["italic2"]:
        return italic, _styled(style, "italic")
    return match["label"], "accent"


def _styled(style: str, word: str) -> str:
    return style if word in style.split() else f"{style} {word}"
