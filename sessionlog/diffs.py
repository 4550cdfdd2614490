"""Changes of files, as values: which lines went, which came, and where. Pure.

An edit stands in a log in one of four spellings: the old and the new text (Claude Code's Edit,
pi, the str_replace tools), hunks with line numbers (Claude Code's structuredPatch beside the
result), apply_patch's own language (Codex), and a unified diff. All become FileDiffs.
Texts here are as the log holds them; whoever shows them makes them visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

CONTEXT = 3
"""Unchanged lines kept on either side of a change."""
MOST = 2000
"""Lines that are compared one by one; longer texts count as replaced as a whole."""

_OLD = ("old_string", "oldText", "old_str", "oldString", "old_text", "search")
_NEW = ("new_string", "newText", "new_str", "newString", "new_text", "replace", "new_source")
_WHOLE = ("content", "file_text", "insert_text", "contents")
_PATHS = ("file_path", "path", "filePath", "notebook_path", "filename", "target_file", "file")
_HUNK = re.compile(r"^@@ -(\d{1,9})(?:,\d+)? \+(\d{1,9})(?:,\d+)? @@ ?(.*)")
_FILE = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.*)")


class Change(NamedTuple):
    """One line of a hunk."""

    sign: str
    """"+", "-" or " "."""
    text: str
    number: int | None = None
    """Line in the file: the old one's for "-", else the new one's; None where not told."""


class Hunk(NamedTuple):
    """Lines that stand together."""

    changes: tuple[Change, ...]
    head: str = ""
    """What the hunk says of its place: a function, a line to look for."""


class FileDiff(NamedTuple):
    """What was done to one file."""

    path: str
    hunks: tuple[Hunk, ...]
    how: str = ""
    """"added", "deleted", "to <new path>", or ""."""

    @property
    def added(self) -> int:
        return self._count("+")

    @property
    def removed(self) -> int:
        return self._count("-")

    def _count(self, sign: str) -> int:
        return sum(change.sign == sign for hunk in self.hunks for change in hunk.changes)


def counts(diffs: Iterable[FileDiff]) -> tuple[int, int]:
    """Lines that came and lines that went, over all files."""
    made = list(diffs)
    return sum(d.added for d in made), sum(d.removed for d in made)


def edits_of(arguments: Any, result: Any = None) -> list[FileDiff]:
    """What a call changes, by its arguments and, where it tells lines, its structured result.

    `arguments` is the call's JSON value or free text, `result` the client's structured result
    (Claude Code's toolUseResult, pi's details). An empty list: this call is no edit.
    """
    values = arguments if isinstance(arguments, Mapping) else {}
    path = _text(values, _PATHS)
    if isinstance(result, Mapping):
        hunks = result.get("structuredPatch")
        if isinstance(hunks, list) and hunks:
            return [FileDiff(path or str(result.get("filePath") or ""), _structured(hunks))]
        if isinstance(result.get("diff"), str) and (found := unified(result["diff"])):
            return found
    for text in [arguments] if isinstance(arguments, str) else values.values():
        for item in text if isinstance(text, list) else [text]:
            if isinstance(item, str) and (found := patched(item) or _only_diff(item)):
                return found
    return _replaced(values, path)


def _replaced(values: Mapping[str, Any], path: str) -> list[FileDiff]:
    """Old and new text among the arguments, one pair or a list of them; or a whole new text."""
    several = values.get("edits")
    pairs = [e for e in several if isinstance(e, Mapping)] if isinstance(several, list) else []
    hunks: list[Hunk] = []
    for pair in pairs or [values]:
        if any(isinstance(pair.get(name), str) for name in _NEW):
            hunks += between(_text(pair, _OLD), _text(pair, _NEW))
    if hunks:
        return [FileDiff(path, tuple(hunks))]
    whole = _text(values, _WHOLE)
    if path and whole:
        return [FileDiff(path, tuple(between("", whole)))]
    return []


def _text(values: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((v for name in names if isinstance(v := values.get(name), str)), "")


def between(old: str, new: str) -> list[Hunk]:
    """The hunks that lead from one text to another; line numbers are not known."""
    a, b = _lines(old), _lines(new)
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    tail = 0
    while tail < min(len(a), len(b)) - same and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    inner_a, inner_b = a[same : len(a) - tail], b[same : len(b) - tail]
    changes = [Change(" ", text) for text in a[max(same - CONTEXT, 0) : same]]
    if len(inner_a) + len(inner_b) > MOST:
        changes += [Change("-", text) for text in inner_a]
        changes += [Change("+", text) for text in inner_b]
    else:
        changes += _compared(inner_a, inner_b)
    changes += [Change(" ", text) for text in a[len(a) - tail :][:CONTEXT]]
    return _split(changes) if any(c.sign != " " for c in changes) else []


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _compared(a: list[str], b: list[str]) -> Iterator[Change]:
    for word, i, i2, j, j2 in SequenceMatcher(None, a, b).get_opcodes():
        if word == "equal":
            yield from (Change(" ", text) for text in a[i:i2])
            continue
        yield from (Change("-", text) for text in a[i:i2])
        yield from (Change("+", text) for text in b[j:j2])


def _split(changes: list[Change]) -> list[Hunk]:
    """Cut where more than twice the context stands unchanged."""
    hunks: list[Hunk] = []
    start, quiet = 0, 0
    for i, change in enumerate(changes):
        if change.sign == " ":
            quiet += 1
            continue
        if quiet > 2 * CONTEXT and i > quiet:
            hunks.append(Hunk(tuple(changes[start : i - quiet + CONTEXT])))
            start = i - CONTEXT
        quiet = 0
    return [*hunks, Hunk(tuple(changes[start:]))]


def _structured(hunks: list[Any]) -> tuple[Hunk, ...]:
    """Claude Code's structuredPatch (seen from 1.0.98 to 2.1.259)."""
    made = []
    for hunk in hunks:
        if isinstance(hunk, Mapping) and isinstance(hunk.get("lines"), list):
            lines = [line for line in hunk["lines"] if isinstance(line, str)]
            made.append(Hunk(_numbered(lines, hunk.get("oldStart"), hunk.get("newStart"))))
    return tuple(made)


def _numbered(lines: Iterable[str], old: Any, new: Any) -> tuple[Change, ...]:
    """Lines with their sign in front, counted from where the hunk starts."""
    old = old if isinstance(old, int) else None
    new = new if isinstance(new, int) else None
    changes = []
    for line in lines:
        sign = line[:1] if line[:1] in ("+", "-") else " "
        if line.startswith("\\"):  # "\ No newline at end of file"
            continue
        changes.append(Change(sign, line[1:], old if sign == "-" else new))
        if old is not None and sign != "+":
            old += 1
        if new is not None and sign != "-":
            new += 1
    return tuple(changes)


def _only_diff(text: str) -> list[FileDiff]:
    """A text that is a unified diff; a diff inside other text is left alone."""
    start = text.lstrip()[:4]
    return unified(text) if start in ("diff", "--- ", "@@ -", "Inde") else []


class _Files:
    """Files, hunks and lines as a parser meets them."""

    def __init__(self) -> None:
        self._files: list[tuple[str, list[tuple[str, list[Change]]], list[str]]] = []

    def file(self, path: str, how: str = "") -> None:
        self._files.append((path, [], [how]))

    def renamed(self, path: str) -> None:
        if self._files:
            self._files[-1][2][0] = f"to {path}"

    def hunk(self, head: str = "") -> None:
        if not self._files:
            self.file("")
        self._files[-1][1].append((head, []))

    def add(self, changes: Sequence[Change]) -> None:
        if not changes:
            return
        if not self._files or not self._files[-1][1]:
            self.hunk()
        self._files[-1][1][-1][1].extend(changes)

    def made(self) -> list[FileDiff]:
        return [
            FileDiff(path, tuple(Hunk(tuple(ls), head) for head, ls in hunks if ls), how[0])
            for path, hunks, how in self._files
        ]


def unified(text: str) -> list[FileDiff]:
    """The files of a unified diff (git's too); empty when the text has no hunk."""
    if "@@ -" not in text:
        return []
    files = _Files()
    old_path, place, lines = "", (0, 0), list[str]()
    inside = False
    for line in text.split("\n"):
        if match := _HUNK.match(line):
            files.add(_numbered(lines, *place))
            files.hunk(match[3])
            place, lines, inside = (int(match[1]), int(match[2])), [], True
        elif line.startswith(("--- ", "diff --git ")) and (not inside or _is_head(line)):
            files.add(_numbered(lines, *place))
            lines, inside, old_path = [], False, _bare(line[4:])
        elif line.startswith("+++ ") and not inside:
            path = _bare(line[4:])
            files.file(old_path if path == "/dev/null" else path)
        elif inside and line[:1] in (" ", "+", "-", "\\"):
            lines.append(line)
    files.add(_numbered(lines, *place))
    return [diff for diff in files.made() if diff.hunks]


def _is_head(line: str) -> bool:
    """A "--- name" is a head, not the removed line "-- name", where it names a file of git's."""
    return line.startswith(("diff ", "--- a/", "--- /", '--- "a/'))


def _bare(name: str) -> str:
    name = name.partition("\t")[0].strip().strip('"')
    return name[2:] if name.startswith(("a/", "b/")) else name


def patched(text: str) -> list[FileDiff]:
    """The files of an apply_patch text, also inside a shell's here-document."""
    start = text.find("*** Begin Patch")
    if start < 0:
        return []
    files = _Files()
    begun = False
    for line in text[start:].rstrip("\n").split("\n")[1:]:
        if line.startswith("*** End Patch"):
            break
        if match := _FILE.match(line):
            how = {"Add": "added", "Delete": "deleted"}.get(match[1], "")
            files.file(match[2].strip(), how)
            begun = True
        elif line.startswith("*** Move to: "):
            files.renamed(line[13:].strip())
        elif begun and line.startswith("@@"):
            files.hunk(line[2:].strip())
        elif begun and not line.startswith("***"):
            sign = line[:1] if line[:1] in ("+", "-") else " "
            files.add([Change(sign, line[1:])])
    return files.made()
