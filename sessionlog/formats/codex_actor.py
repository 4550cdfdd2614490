"""Acting on Codex's logs: close an open call, give a copy its own id and place.

A call and its output are items of their own lines, and the kind of an output is that of its call.
The client closes what is open as "aborted", but only in what it sends, and takes an output that
stands there as it is (0.171; codex-rs/core/src/context_manager/normalize.rs).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar

from sessionlog import codec, splice
from sessionlog.formats.base import Birth, Part, Said, dict_of, text_of
from sessionlog.formats.codex_compose import composed
from sessionlog.formats.codex_lines import envelope
from sessionlog.formats.codex_place import beside, home, provider
from sessionlog.formats.codex_renew import renewed
from sessionlog.records import OpenCall

_OUTPUTS = {"local_shell_call": "function_call_output", "tool_search_call": "tool_search_output"}
"""Kinds of outputs that are not named after their calls."""


class CodexActor:
    """Codex's way of acting."""

    by_line: ClassVar = True

    def close(self, request: bytes, call: OpenCall, at: str, text: str) -> bytes:
        """The output of the call; `renew` gives it its ordinal."""
        asked = splice.loads(request)
        payload = asked.get("payload")
        item = _output(dict_of(payload) or asked, call, text)
        if not isinstance(payload, dict):
            return codec.dumps(item)
        return envelope("response_item", item, at or text_of(asked.get("timestamp")))

    def answers(self, call: OpenCall) -> bool:
        """The reader gives a call without an id its tool's name for one; the client does not read
        such a call, but for a search, which need not have one."""
        named = call.call_id in (call.tool, call.tool.rpartition(".")[2])
        return bool(call.call_id) and (not named or call.tool == "tool_search")

    def without(self, data: bytes, calls: Collection[int]) -> bytes:
        return b""  # a call is all that its line says

    def pick(self, data: bytes, results: Collection[int], rest: bool) -> bytes:
        return data  # one item an object

    def renew(self, parts: Iterable[Part], birth: Birth) -> Iterator[bytes]:
        """See `codex_renew`."""
        return renewed(parts, birth)

    def place(
        self, parent: str, at: int | None, now: datetime, taken: Callable[[str], bool]
    ) -> tuple[str, str]:
        """Beside the parent under a new UUID; see `codex_place`."""
        return beside(parent, at, now, taken)

    def compose(self, said: Iterable[Said], birth: Birth) -> Iterator[bytes]:
        """A session of these messages."""
        return composed(said, birth)

    def model(self, environ: Mapping[str, str]) -> str:
        """The model provider that the client is set to: its screen opens no log without one, and
        it goes on with none that names another."""
        return provider(environ)

    def home(
        self, workdir: str, now: datetime, environ: Mapping[str, str],
        taken: Callable[[str], bool],
    ) -> tuple[str, str]:  # fmt: skip
        """Among the client's sessions of today."""
        return home(workdir, now, environ, taken)


def _output(asked: Mapping[str, Any], call: OpenCall, text: str) -> dict[str, Any]:
    kind = text_of(asked.get("type")) or "function_call"
    output = {"type": _OUTPUTS.get(kind, f"{kind}_output")}
    if kind == "tool_search_call":  # it has no place for words
        own = {key: asked.get(key) for key in ("call_id", "execution")}
        return {**output, **own, "status": "failed", "tools": []}
    return {**output, "call_id": call.call_id, "output": text}
