"""A shell command as its plain parts: words, redirections, here-documents. Pure.

Only what needs no shell to be understood: a word that holds a variable, a substitution or a
pattern is marked as not plain, and a command with a loop, a condition or a subshell is none of
this module's business (`steps_of` gives nothing).
"""

from __future__ import annotations

import re
import shlex
from typing import Any, NamedTuple

SHELLS = ("bash", "sh", "zsh", "fish", "dash", "ksh")
_MOST = 256 * 1024
"""Characters of a command that are looked at."""
_PIECE = re.compile(
    r"""(?P<blank>(?:[ \t\r]|\\\n)+)
    |(?P<here><<-?)(?!<)
    |(?P<out>[12&]?>>?\|?)(?![&(])
    |(?P<skip>\d?[<>]&[\d-]+|\d?<(?![<(&])|<<<)
    |(?P<join>&&|\|\|?&?|;|&|\n)
    |(?P<single>'[^']*')
    |(?P<double>"(?:[^"\\]|\\.)*")
    |(?P<escaped>\\.)
    |(?P<bare>[^\s'"\\;&|<>()]+)""",
    re.VERBOSE | re.DOTALL,
)
_EXPANDS = re.compile(r"[*?\[\]{}$`]")
_IN_DOUBLE = re.compile(r"(?<!\\)[$`]")
_UNESCAPED = re.compile(r'\\(["\\$`\n])')
_CONTROL = frozenset((
    "for", "while", "until", "if", "then", "else", "elif", "fi", "do", "done", "case", "esac",
    "select", "function", "{", "}", "[[", "!", "time", "coproc", "eval", "exec", "source", ".",
    "trap",
))  # fmt: skip
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")


class Word(NamedTuple):
    text: str
    plain: bool = True
    """It means itself: nothing for the shell to fill in."""


class Step(NamedTuple):
    """One simple command."""

    words: tuple[Word, ...]
    outs: tuple[tuple[Word, bool], ...] = ()
    """Files that standard output goes to; true: appended."""
    here: str | None = None
    """The body of its here-document, where nothing in it is filled in."""
    piped: bool = False
    """It reads from or writes to another command."""
    fed: bool = False
    """Its input is given: it reads no file for want of one."""

    @property
    def name(self) -> str:
        return self.words[0].text.rpartition("/")[2] if self.words else ""


def command_of(value: Any) -> str:
    """A command line as it stands in arguments, text or argv; `bash -lc X` means X."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return ""
    if len(value) == 3 and value[0].rpartition("/")[2] in SHELLS and value[1].startswith("-"):
        return str(value[2])
    return shlex.join(value)


def steps_of(command: str) -> list[Step]:
    """The simple commands, in order; empty when it is not plain what runs."""
    if len(command) > _MOST:
        return []
    reader = _Reader(command)
    return reader.steps if reader.read() else []


class _Reader:
    """Walks over a command line."""

    def __init__(self, command: str) -> None:
        self.steps: list[Step] = []
        self._command, self._at = command, 0
        self._words: list[Word] = []
        self._outs: list[tuple[Word, bool]] = []
        self._word: list[str] = []  # its pieces
        self._plain = True
        self._next = ""  # what the next word is for: "out", "append", "here", "skip", ""
        self._heres: list[tuple[Word, bool, int]] = []
        self._bodies: dict[int, str | None] = {}
        self._fed = False
        self._pipe = self._maybe = False

    def read(self) -> bool:
        """False when the command is not plain."""
        while self._at < len(self._command):
            if not self._word and self._command[self._at] == "#":
                end = self._command.find("\n", self._at)
                self._at = len(self._command) if end < 0 else end
                continue
            found = _PIECE.match(self._command, self._at)
            if found is None or found.lastgroup is None:
                return False
            self._at = found.end()
            self._take(found.lastgroup, found[0])
        self._end_step(False)
        if self._heres:
            return False
        self.steps = [
            step._replace(here=self._bodies[i]) if i in self._bodies else step
            for i, step in enumerate(self.steps)
        ]
        return not any(step.words and step.words[0].text in _CONTROL for step in self.steps)

    def _take(self, kind: str, text: str) -> None:
        if kind in ("single", "double", "escaped", "bare"):
            self._grow(kind, text)
            return
        self._end_word()
        if kind == "here":
            self._next, self._fed = "here" if text == "<<" else "here-", True
        elif kind == "out":
            self._next = "skip" if text.startswith("2") else "append" if ">>" in text else "out"
        elif kind == "skip" and not text[-1:].isdigit() and text[-1:] != "-":
            self._next, self._fed = "skip", True
        elif kind == "join":
            self._end_step(text.startswith("|") and text != "||")
            self._maybe = text == "||" or (self._maybe and text in ("&&", "|"))
            if text == "\n":
                self._take_bodies()

    def _grow(self, kind: str, text: str) -> None:
        plain = True
        if kind == "single":
            text = text[1:-1]
        elif kind == "double":
            text = text[1:-1]
            plain = not _IN_DOUBLE.search(text)
            text = _UNESCAPED.sub(r"\1", text)
        elif kind == "escaped":
            text = text[1:]
        else:
            first = not self._word
            plain = not _EXPANDS.search(text) and not (first and text.startswith("~"))
        self._word.append(text)
        self._plain = self._plain and plain
        if kind != "bare" and self._next.startswith("here"):
            self._next = self._next.rstrip("q") + "q"  # quoted: nothing in the body is filled in

    def _end_word(self) -> None:
        if not self._word:
            return
        word, use = Word("".join(self._word), self._plain), self._next
        self._word, self._plain, self._next = [], True, ""
        if use.startswith("here"):
            quoted, dashed = use.endswith("q"), "-" in use
            self._heres.append((Word(word.text, quoted), dashed, len(self.steps)))
        elif use in ("out", "append"):
            self._outs.append((word, use == "append"))
        elif use != "skip" and (self._words or not _ASSIGNED.match(word.text)):
            self._words.append(word)

    def _end_step(self, pipes: bool) -> None:
        self._end_word()
        if self._words or self._outs:
            step = Step(tuple(self._words), tuple(self._outs), None, self._pipe or pipes,
                        self._fed or self._pipe)  # fmt: skip
            # behind `||` nothing is sure to run
            self.steps.append(Step(()) if self._maybe else step)
        self._words, self._outs, self._fed = [], [], False
        self._pipe = pipes

    def _take_bodies(self) -> None:
        """The here-documents whose lines begin here."""
        for end, dashed, step in self._heres:
            lines = []
            while self._at < len(self._command):
                stop = self._command.find("\n", self._at)
                stop = len(self._command) if stop < 0 else stop
                line = self._command[self._at : stop]
                self._at = stop + 1
                line = line.lstrip("\t") if dashed else line
                if line == end.text:
                    break
                lines.append(line + "\n")
            body = "".join(lines)
            literal = end.plain or not re.search(r"[$`\\]", body)
            self._bodies[step] = body if literal else None
        self._heres = []
