"""What stands out in text: JSON's parts, comments in code. Pure.

The colours are few and grey: red is for what went wrong in the run, not for a syntax. JSON is
laid out from its text, token by token and only as far as lines are taken, so numbers and escapes
stay as they are written, a torn record is shown as far as it goes, and a line of megabytes costs
what is looked at of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sessionlog.text import ELLIPSIS, visible
from tui.lines import Piece

KEY, TEXT, NUMBER, SIGN = "fg-2", "fg", "fg-1", "fg-3"
LONGEST = 2000
"""Characters of one JSON string or number that are shown where it is not asked for whole."""

_FLAT_WIDTH = 56
_DEEPEST = 16
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"?'
_TOKEN = re.compile(rf"{_STRING}|[{{}}\[\],:]|[^\s{{}}\[\],:\"]+", re.DOTALL)
_FLAT = re.compile(r'\[(?:[^\[\]{}"]|"[^"\\\n]*")*\]|\{\s*\}')
_COLON = re.compile(r"\s*:")


def json_lines(text: str, longest: int = LONGEST) -> Iterator[list[Piece]]:
    """JSON text, whole or torn, as indented lines of pieces; made as they are taken."""
    line: list[Piece] = []
    depth, at = 0, 0
    while match := _TOKEN.search(text, at):
        token, at = match[0], match.end()
        if token in "{[":
            if flat := _FLAT.match(text[match.start() : match.start() + _FLAT_WIDTH]):
                line += _scalars(flat[0])
                at = match.start() + flat.end()
                continue
            line.append((token, SIGN))
            depth += 1
        elif token in "}]":
            if line and line[-1][0].strip():
                yield line
            depth = max(depth - 1, 0)
            line = [(_indent(depth) + token, SIGN)]
            continue
        elif token == ",":
            line.append((",", SIGN))
        elif token == ":":
            line.append((": ", SIGN))
            continue
        else:
            line.append(_scalar(token, bool(_COLON.match(text, at)), longest))
            continue
        yield line
        line = [(_indent(depth), "")]
    if line and "".join(piece[0] for piece in line).strip():
        yield line


def _indent(depth: int) -> str:
    return "  " * min(depth, _DEEPEST)


def _scalars(text: str) -> list[Piece]:
    """A short array of plain values, on one line."""
    pieces: list[Piece] = []
    for token in _TOKEN.findall(text):
        if token in "{}[],":
            pieces.append((", " if token == "," else token, SIGN))
        else:
            pieces.append(_scalar(token, False, LONGEST))
    return pieces


def _scalar(token: str, is_key: bool, longest: int) -> Piece:
    over = len(token) - longest
    if over > 0:
        token = f"{token[:longest]}{ELLIPSIS} + {over:,} characters"
    style = KEY if is_key else TEXT if token[0] == '"' else NUMBER
    return visible(token), style


_CODE = re.compile(
    r"""(?P<note>(?:(?<=\s)|^)(?:\#|//|--\s).*$)|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
)


def code_pieces(line: str) -> list[Piece]:
    """One visible line of a program: comments recede, strings a little."""
    pieces: list[Piece] = []
    at = 0
    for match in _CODE.finditer(line[:LONGEST]):
        if match.start() > at:
            pieces.append((line[at : match.start()], "fg"))
        pieces.append((match[0], "fg-3" if match["note"] else "fg-2"))
        at = match.end()
    if at < len(line):
        pieces.append((line[at:], "fg"))
    return pieces
