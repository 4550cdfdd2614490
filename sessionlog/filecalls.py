"""What a call does to files, by the shape of its arguments. Pure.

Agents name their tools as they like, so a name only helps out with its words (read, write,
delete, ...): what counts is a path beside an old and a new text, a path beside a content, a patch,
a command. A failed call did nothing, except that it may have found a file missing; what is not
clear is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from sessionlog.acts import Act, Swap
from sessionlog.diffs import Hunk, edits_of, unified
from sessionlog.displays import says_same
from sessionlog.outcome import result_text
from sessionlog.plainshell import command_of
from sessionlog.records import Activity, Message
from sessionlog.shellfiles import MISSING, diff_acts, patch_acts, shell_acts
from sessionlog.telling import arguments_of

_PATHS = ("filepath", "path", "absolutepath", "notebookpath", "filename", "targetfile", "file",
          "relativepath", "uri")  # fmt: skip
_MANY = ("paths", "files", "filepaths")
_OLD = ("oldstring", "oldtext", "oldstr", "old", "search")
_NEW = ("newstring", "newtext", "newstr", "new", "replace")
_WHOLE = ("content", "filetext", "contents", "text")
_RANGES = ("offset", "limit", "startline", "endline", "linestart", "lineend", "lineoffset",
           "nlines", "viewrange", "range", "ranges", "lines", "pages", "head", "tail")  # fmt: skip
_BROUGHT = ("inserttext", "newsource", "insertion", "newcontent", "codeedit")
_FROM, _TO = ("source", "from", "sourcepath", "oldpath"), ("destination", "to", "newpath", "target")
_FOLDERS = ("workdir", "cwd", "workingdirectory", "workingdir")
_COMMANDS = ("command", "cmd")

_READS = {"read", "view", "cat", "open", "show", "get", "load"}
_WRITES = {"write", "create", "save", "put", "overwrite"}
_EDITS = {"edit", "replace", "insert", "update", "append", "modify", "patch", "apply", "undo"}
_REMOVES = {"delete", "remove", "rm", "unlink"}
_LISTS = {"list", "ls", "dir", "directory", "folder", "tree", "glob", "grep", "search", "find",
          "mkdir", "watch"}  # fmt: skip
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_GONE = re.compile(
    rf"{MISSING}|\bENOENT\b|(?:file|path) (?:does not|doesn't) exist|\bfile not found\b|"
    r"cannot find the (?:file|path)",
    re.I,
)
_ELSEWHERE = re.compile(r"[A-Za-z]:[\\/]|[A-Za-z][\w+.-]+://")
_BAD_EXIT = re.compile(r"\[(?:exit: |timed out )[^\]\n]+\]\s*\Z")
_EXIT_SAID = 400
"""Characters at the end of a result in which an engine's word about the exit stands."""
_BLIND = (".ipynb", ".pdf", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".docx",
          ".xlsx", ".zip", ".gz")  # fmt: skip
"""Files that tools show in another form than their text."""


class _Call(NamedTuple):
    """A call and what it gave."""

    fields: Mapping[str, Any]
    """Arguments by name, in lower case without underscores."""
    words: frozenset[str]
    """Of the tool's name."""
    path: str
    text: str
    structured: Mapping[str, Any]
    folder: str
    answer: Message
    numbered: bool


def acts_of(call: Activity, answer: Message, folder: str, *, numbered: bool = False) -> list[Act]:
    """The acts of a call, by its answer; relative paths are joined to `folder`.

    `numbered`: the agent's own read tool shows numbers, so a text without them is no content.
    """
    value = arguments_of(call.arguments) if call.arguments else None
    if not isinstance(value, Mapping):
        free = call.arguments if value is None else value
        fine = isinstance(free, str) and free.lstrip().startswith("*** Begin Patch")
        return patch_acts(free, folder) if fine and not _failed(answer) else []
    fields = {_plain(name): item for name, item in value.items()}
    words = _words(call.name)
    path, asked = _text(fields, _PATHS), fields.get("command")
    if path and isinstance(asked, str) and re.fullmatch(r"[a-z_]+", asked):
        words = frozenset(asked.split("_"))  # one tool for all: view, create, str_replace, insert
    structured = _structured(answer)
    found = _Call(fields, words, path, _shown(answer), structured,
                  _folder(fields, folder), answer, numbered)  # fmt: skip
    if _failed(answer):
        return [*_missing(found)]
    return [*_done(found)]


def _done(call: _Call) -> Iterator[Act]:
    fields = call.fields
    command = next((command_of(fields[name]) for name in _COMMANDS if name in fields), "")
    if command and not call.path:
        if not _BAD_EXIT.search(call.text.rstrip()[-_EXIT_SAID:]):
            yield from shell_acts(command, call.folder, call.text)
        return
    if many := _patches(call):
        yield from many
    elif call.path:
        yield from _on_file(call)
    elif (source := _text(fields, _FROM)) and (target := _text(fields, _TO)):
        if call.words & {"move", "rename", "copy"}:
            yield Act(_joined(call, target), "copy", source=_joined(call, source))
            if "copy" not in call.words:
                yield Act(_joined(call, source), "remove")
    elif call.words & _READS and not call.words & _LISTS:
        paths = [*_several(fields)]
        text = call.text if len(paths) == 1 else None
        yield from (Act(_joined(call, path), "read", text, _ranged(fields)) for path in paths)


def _patches(call: _Call) -> list[Act]:
    """The acts of a patch among the arguments."""
    for name in ("input", "patch", "diff", "patchtext"):
        text = call.fields.get(name)
        if isinstance(text, str) and text.lstrip().startswith("*** Begin Patch"):
            return patch_acts(text, call.folder)
        if isinstance(text, str) and not call.path and "@@ -" in text:
            return [act for diff in unified(text) for act in diff_acts(diff, call.folder)]
    return []


def _on_file(call: _Call) -> Iterator[Act]:
    path, fields, words = _joined(call, call.path), call.fields, call.words
    whole = _text(fields, _WHOLE, None)
    if swaps := _swaps(fields):
        yield _edit(call, path, swaps)
    elif whole is not None and words & (_WRITES | _EDITS) and not words & _REMOVES:
        yield _written(call, path, whole)
    elif words & _REMOVES:
        yield Act(path, "remove")
    elif words & _LISTS:
        return
    elif words & _EDITS or any(name in fields for name in _BROUGHT):
        brought = _text(fields, _BROUGHT)
        sketch = "codeedit" in fields or path.endswith(_BLIND)
        yield _edit(call, path, (Swap("", brought),) if brought and not sketch else ())
    elif words & _WRITES:
        yield Act(path, "write")
    elif words & _READS:
        yield _read(call, path)


def _read(call: _Call, path: str) -> Act:
    text: str | None = call.text
    images = call.answer.images
    blind = images or path.lower().endswith(_BLIND) or (call.numbered and not _has_numbers(call))
    if blind or says_same(call.text):
        text = None
    digest = images[0].digest if len(images) == 1 else ""
    return Act(path, "read", text, _ranged(call.fields), digest=digest and f"image-{digest}")


def _has_numbers(call: _Call) -> bool:
    return bool(re.match(r" *\d+[→\t]|<system-reminder>", call.text))


def _written(call: _Call, path: str, text: str) -> Act:
    """A whole content, unless only some lines are replaced or added."""
    if _ranged(call.fields) or "append" in call.words or call.fields.get("mode") == "append":
        return Act(path, "edit", swaps=(Swap("", text.removesuffix("\n")),))
    other = call.structured.get("userModified") is True or not call.words & _WRITES
    return Act(path, "write", None if other else text)


def _edit(call: _Call, path: str, swaps: tuple[Swap, ...]) -> Act:
    """An edit, by the lines that the client says it changed where it does."""
    structured = call.structured
    hunks: tuple[Hunk, ...] = ()
    if structured.get("structuredPatch") and (made := edits_of({}, structured)):
        hunks = made[0].hunks
    base = structured.get("originalFile")
    base = base if isinstance(base, str) and hunks else None
    if not hunks and len(swaps) == 1 and not swaps[0].old and "oldstring" in call.fields:
        return Act(path, "write", swaps[0].new)  # how Claude Code and its like make a file
    if call.fields.get("regex") or call.fields.get("isregex"):
        swaps = ()
    return Act(path, "edit", base=base, swaps=() if hunks else swaps, hunks=hunks)


def _swaps(fields: Mapping[str, Any]) -> tuple[Swap, ...]:
    several = fields.get("edits")
    made = []
    for item in several if isinstance(several, list) else [fields]:
        inner = {_plain(n): v for n, v in item.items()} if isinstance(item, Mapping) else {}
        old, new = _text(inner, _OLD, None), _text(inner, _NEW, None)
        if old is not None and new is not None:
            every = inner.get("replaceall") is True
            count = inner.get("expectedreplacements")
            made.append(Swap(old, new, every or (isinstance(count, int) and count > 1)))
    return tuple(made)


def _missing(call: _Call) -> Iterator[Act]:
    """Files that a failed call did not find."""
    fields = call.fields
    text = call.text
    command = next((command_of(fields[name]) for name in _COMMANDS if name in fields), "")
    if call.path and not call.words & _LISTS and _GONE.search(text[:2000]):
        yield Act(_joined(call, call.path), "absent")
    elif command and not call.path and MISSING in text:
        found = shell_acts(command, call.folder, text)
        yield from (act for act in found if act.how == "absent")


def _failed(answer: Message) -> bool:
    return answer.activity is not None and answer.activity.failure is not None


def _shown(answer: Message) -> str:
    """What came back, without the JSON that some engines put around it."""
    result = answer.activity.result if answer.activity else None
    if isinstance(result, Mapping):
        held = next((result[n] for n in ("content", "output", "text") if n in result), None)
        if isinstance(held, str):
            return held
    if _failed(answer) or not isinstance(result, str):
        return result_text(answer)
    return result


def _structured(answer: Message) -> Mapping[str, Any]:
    """Claude Code's structured result, pi's details."""
    half = answer.activity.extra.get("toolUseResult") if answer.activity else None
    found = half or answer.extra.get("details")
    return found if isinstance(found, Mapping) else {}


def _folder(fields: Mapping[str, Any], folder: str) -> str:
    own = _text(fields, _FOLDERS)
    return own if own.startswith("/") else f"{folder}/{own}" if own and folder else folder


def _joined(call: _Call, path: str) -> str:
    """The path from the root; "" for one that cannot be told: of a home folder, of another system,
    behind an address."""
    if path.startswith("file://"):
        from urllib.parse import unquote, urlsplit

        try:
            return unquote(urlsplit(path).path)
        except ValueError:  # its host is none
            return ""
    if path.startswith("~") or _ELSEWHERE.match(path):
        return ""
    return path if path.startswith("/") or not call.folder else f"{call.folder}/{path}"


def _several(fields: Mapping[str, Any]) -> Iterator[str]:
    for name in _MANY:
        items = fields.get(name)
        for item in items if isinstance(items, list) else []:
            path = item.get("path") or item.get("file_path") if isinstance(item, Mapping) else item
            if isinstance(path, str) and not re.search(r"[*?\[{]", path):
                yield path


def _ranged(fields: Mapping[str, Any]) -> bool:
    """Were only some lines asked for? Engines write 0 where nothing was asked."""
    return any(fields.get(name) not in (None, 0, False, "", [], -1) for name in _RANGES)


@lru_cache(maxsize=256)
def _words(name: str) -> frozenset[str]:
    """The words of a tool's name: "str_replace", "WebFetch"."""
    return frozenset(word.lower() for word in _WORD.findall(name))


@lru_cache(maxsize=256)
def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _text(values: Mapping[str, Any], names: tuple[str, ...], default: Any = "") -> Any:
    return next((v for name in names if isinstance(v := values.get(name), str)), default)
