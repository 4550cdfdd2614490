"""What a tool's output shows of a file: the text without numbers, frames and notes. Pure.

Read tools show a file bare (pi, Gemini CLI, older engines) or with a number before each line:
`     1→text` and `1<TAB>text` (Claude Code 1.0 and 2.1), `cat -n`, `1: text` and `00001| text`
(OpenCode), `1<TAB>text` under a head that tells the length (openzot). Numbers have to run without
a gap, so what is not such a display is not taken for one.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

_MOST_LINES = 2000
"""Claude Code, OpenCode and pi show no more lines at once, and not always say so."""
_MOST_WIDTH = 2000
"""Characters at which Claude Code and OpenCode cut a line."""
ANY = 1 << 30

_NUMBER = re.compile(r"( *)(\d{1,9})(→|\t|\| ?|: ?)", re.ASCII)
_HEAD = re.compile(r"\[[^\n]* lines (\d+)-(\d+) of (\d+)\]\n", re.ASCII)
_CAT = re.compile(r"Here's the result of running `cat -n` on [^\n]*\n")
_FRAME = re.compile(r"\s*(?:<path>[^\n]*</path>\s*<type>file</type>\s*<content>|<file>)\n")
_FRAME_ENDS = ("</content>", "</file>")
_CODEX = re.compile(
    r"(?:(?:Chunk ID|Wall time|Process exited|Process running|Session ID|Exit code|"
    r"Original token count|Total output lines)[^\n]*\n){1,7}Output:\n"
)
_KEYS = ("use offset=", "truncated", "omitted", "more lines")
_KEY = re.compile("|".join(_KEYS), re.I)
_SIGN = re.compile(r"[ \t]*(?:[\[(<…]|\.\.\.)")
_TOKENS = re.compile(r"…\d+ \w+ \Z")
_IMPORTANT = "IMPORTANT: The file content has been "
_DIGIT = re.compile(r"\d")
_NOTE = 260
"""Characters of its line that stand before a note's word, at most."""
_MORE = re.compile(r"truncated|more lines|offset|not shown|omitted", re.I)
_ALL = re.compile(r"\(?End of file", re.I)
_EMPTY = re.compile(
    r"(?:<system-reminder>[^<]*the contents are empty|\(?(?:the )?file is empty)", re.I
)
_NOT_SHOWN = (
    "<persisted-output>", "<untrusted_context>", "Command: ", "Output: ", "(no output)", "<system",
    "<error", "<tool_use_error>",
)  # fmt: skip
_ASIDE = ("<", "(", "[")
"""How notes behind numbered lines begin."""
_SAME = "File unchanged since last read"


class View(NamedTuple):
    """A file as far as a display shows it."""

    text: str
    whole: bool = False
    hidden: int = 0
    """Most line feeds at the end that the display may have left out."""
    source: Literal["told", "numbered", "bare", "shell"] = "told"
    """Where the text is from: an argument or a result that holds it as it is; lines behind numbers,
    which hide carriage returns and a byte order mark; a read tool's bare text, which may have words
    of the tool's own around it; a shell command's output."""


def says_same(text: str) -> bool:
    """Does a result only say that the file is as it was shown before? (Claude Code 2.1)"""
    return text.startswith(_SAME)


def view_of(text: str, *, ranged: bool = False, shell: bool = False) -> View | None:
    """What a read's output shows. None: that cannot be told.

    `ranged`: some lines were asked for; `shell`: it is the output of cat and its like.
    """
    text = text[found.end() :] if (found := _CODEX.match(text)) else text
    if shell:
        return _bare(text, ranged, True)
    if _EMPTY.match(text):
        return View("", True)
    head = _HEAD.match(text)
    body = _unframed(text[head.end() :] if head else text)
    body = body[found.end() :] if (found := _CAT.match(body)) else body
    number = _NUMBER.match(body)
    shown = _numbered(body, number, ranged) if number else None
    if shown is None:
        return None if head or found else _bare(body, ranged, False)
    if head:
        return shown._replace(whole=head[1] == "1" and head[2] == head[3] and not _cut(body))
    return shown


def _unframed(text: str) -> str:
    frame = _FRAME.match(text)
    if frame is None:
        return text
    end = max(text.rfind(tag, frame.end()) for tag in _FRAME_ENDS)
    return text[frame.end() : end].rstrip("\n") if end >= 0 else text[frame.end() :]


def _numbered(body: str, number: re.Match[str], ranged: bool) -> View | None:
    """The lines behind numbers that run on; None where they do not."""
    sign, first = number[3].rstrip(" "), int(number[2])
    spaced = number[3].endswith(" ")
    kept: list[str] = []
    lines = body.split("\n")
    for line in lines:
        digits, found, rest = line.partition(sign)
        if not found or digits.strip(" ").lstrip("0") != str(first + len(kept)):
            break
        kept.append(rest.removeprefix(" ") if spaced else rest)
    notes = "\n".join(lines[len(kept) :]).strip()
    if not kept or max(map(len, kept)) >= _MOST_WIDTH:
        return None
    if notes and len(kept) == 1 and not notes.startswith(_ASIDE):
        return None  # one line that happens to begin with a number
    more = bool(notes) and (not notes.startswith(_ASIDE) or bool(_MORE.search(notes)))
    more = more or (len(kept) >= _MOST_LINES and not _ALL.match(notes))
    text = "\n".join(kept)
    exact = sign == "\t" and not number[1] and kept[-1] == ""
    whole = first == 1 and not ranged and not more
    return View(text, whole, 0 if exact else 1, "numbered")


def _cut(body: str) -> bool:
    return "[truncated: " in body[-200:]


def _bare(text: str, ranged: bool, shell: bool) -> View | None:
    """A text without numbers; up to a note that says that there is more."""
    if text.startswith(_NOT_SHOWN) or "\ufffd" in text:
        return None
    cut = _cut_from(text)
    if cut is not None:
        text = text[:cut].rstrip("\n")
        return View(text) if text else None
    hidden = 0 if text.endswith("\n") else ANY if shell else 1
    return View(text, not ranged, hidden, "shell" if shell else "bare")


def _cut_from(text: str) -> int | None:
    """Where a note begins that says that there is more of a file than is shown; None: nowhere.

    Looked for by its words, each with what is near it: a note can be anywhere in a long text.
    """
    plain = text.lower()
    for key in _KEY.finditer(text) if any(word in plain for word in _KEYS) else ():
        at = key.start()
        start = text.rfind("\n", max(0, at - _NOTE), at) + 1
        if at - start <= _NOTE and _is_note(text, start, key):
            return start
        near = max(0, at - 40)
        if text.startswith("…", key.end()) and (found := _TOKENS.search(text[near:at])):
            return near + found.start()  # Codex puts it in the middle of a line
    return None


def _is_note(text: str, start: int, key: re.Match[str]) -> bool:
    """Is the line that begins at `start` such a note, with that word in it?"""
    before, word = text[start : key.start()], key[0].lower()
    if word == "truncated" and before == _IMPORTANT:
        return True
    sign = _SIGN.match(before)
    if sign is None or word == "use offset=":
        return sign is not None
    after = text[key.end() : key.end() + 61].partition("\n")[0]
    told = word != "more lines" and (after.startswith(("]", ")", "…")) or _DIGIT.search(after))
    return bool(told or _DIGIT.search(before[sign.end() :][-41:]))


def same(view: View, data: bytes) -> bool:
    """Do a file's bytes hold what a whole view shows, as far as it shows it?"""
    text = view.text
    held = data
    if view.source == "numbered" and "\r" not in text:
        held = held.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    wanted = encoded(text)
    if held == wanted:
        return True
    rest = held[len(wanted) :]
    return held.startswith(wanted) and len(rest) <= view.hidden and not rest.strip(b"\n")


def holds(data: bytes, part: str) -> bool:
    """Is a part of a file's text in its bytes, line ends aside?"""
    return encoded(part.replace("\r\n", "\n")) in data.replace(b"\r\n", b"\n")


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
