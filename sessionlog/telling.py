"""The telling argument of a tool call: the one value a person wants to see on its row.

Works on any agent's arguments: a command, a path, a pattern, a query, an address. Pure text in,
text out; what comes back is still log text and has to go through `text.visible`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessionlog import codec
from sessionlog.text import visible

_KEYS = (
    "command", "cmd", "script", "code", "file_path", "filePath", "path", "notebook_path",
    "filename", "file", "target_file", "pattern", "query", "url", "uri", "prompt", "task",
    "description", "skill", "name", "question", "message", "text", "input", "content",
)  # fmt: skip
_SHELLS = ("bash", "sh", "zsh", "fish", "dash")
_LOOK = 64 * 1024


def arguments_of(text: str) -> Any:
    """The arguments as a JSON value; None when the text is no JSON (it may be cut or free text)."""
    try:
        return codec.loads(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None


def telling(arguments: str) -> str:
    """The most telling argument of a call, "" when it has none. One line is not promised."""
    if len(arguments) > _LOOK:  # a whole file as an argument: its head has the path
        said = _from_head(arguments)
        if said:
            return said
    value = arguments_of(arguments) if arguments else None
    if value is None:
        return _patched(arguments) or arguments
    return _of(value)


def _of(value: Any) -> str:
    if isinstance(value, str):
        return _patched(value) or value
    if isinstance(value, list):
        return _argv(value)
    if not isinstance(value, Mapping):
        return "" if value is None else str(value)
    for key in _KEYS:
        item = value.get(key)
        if isinstance(item, str) and item:
            return (_patched(item) if key == "input" else "") or item
        if isinstance(item, list) and item:
            return _argv(item)
    for item in value.values():
        if isinstance(item, str) and item:
            return item
        if isinstance(item, list) and item:
            return _argv(item)
    return ""


def _argv(items: list[Any]) -> str:
    """A command line as a list; `bash -lc X` means X."""
    words = [item for item in items if isinstance(item, str)]
    if len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1].startswith("-"):
        return words[2]
    if words:
        return " ".join(words)
    inner = [_of(item) for item in items if isinstance(item, Mapping)]
    return ", ".join(filter(None, inner))


def _patched(text: str) -> str:
    """The files that an apply_patch text changes."""
    if not text.lstrip().startswith("*** Begin Patch"):
        return ""
    heads = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")
    files = [line[len(h) :] for line in text.splitlines() for h in heads if line.startswith(h)]
    return ", ".join(files)


def _from_head(arguments: str) -> str:
    """A path from the first bytes of very long arguments, without decoding them all."""
    for key in _KEYS[:12]:
        mark = f'"{key}":'
        at = arguments.find(mark, 0, 4096)
        if at >= 0:
            rest = arguments[at + len(mark) : at + len(mark) + 4096].lstrip()
            if rest.startswith('"'):
                end = rest.find('"', 1)
                value = arguments_of(rest[: end + 1]) if end > 0 else None
                if isinstance(value, str):
                    return value
    return ""


_KINDS = {
    "user": "a prompt", "assistant": "an answer", "reasoning": "a thought", "call": "a call",
    "response": "a result", "summary": "a summary", "system": "an instruction",
    "attachment": "an attachment",
}  # fmt: skip


def a_message(kind: str) -> str:
    """A message of that shown type, in words: "a prompt"."""
    return _KINDS.get(kind) or f"of type {visible(kind)}"
