"""`codex exec --json`: one JSON object a line (codex-rs/exec/src/exec_events.rs, Codex 0.171).

thread.started, then turns of items. An item is started, maybe updated, and completed; what the
model says and thinks comes completed only. A turn ends with turn.completed (and the thread's tokens
so far) or turn.failed. Items are numbered anew by every process, so a call's id here holds the
thread's as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sessionlog.dialects.answers import ERROR, spent_so_far
from sessionlog.dialects.base import (
    About,
    Standing,
    dict_of,
    last_line,
    list_of,
    loaded,
    request,
    response,
    text_of,
    told,
    written,
)
from sessionlog.dialects.plain import Plain
from sessionlog.formats.tokens import openai
from sessionlog.records import Activity, Event, Message, Payload, Result, Tokens

_BAD = ("failed", "declined")
_RUNNING = 1000
"""Calls that may run at the same time; the oldest is forgotten when there are more."""


class CodexExecJson:
    """Lines in, payloads out."""

    def __init__(self) -> None:
        self._plain = Plain()
        self._thread = ""
        self._running: dict[str, Activity] = {}
        self._turns = 0
        self._result: Result | None = None
        self._problem = ""
        self._before = Tokens()
        self._now = Tokens()

    def take(self, line: bytes) -> Iterator[Payload]:
        value = loaded(line)
        kind = text_of(value.get("type")) if value else ""
        if value is None or not kind:
            yield from self._plain.take(line)
            return
        yield from self._plain.rest()
        head, _, last = kind.partition(".")
        if head == "item":
            yield from self._item(last, dict_of(value.get("item")))
        elif head == "turn":
            yield from self._turn(last, value)
        elif kind == "thread.started":
            self._begin(text_of(value.get("thread_id")))
            yield Event("session", text=f"codex thread {self._thread}")
        elif kind == ERROR:
            yield from self._failed(text_of(value.get("message")))
        else:
            yield Event(kind, text=told(value, "type"))

    def rest(self, line: bytes) -> Iterator[Payload]:
        yield from last_line(self, line)
        yield from self._plain.rest()

    def standing(self) -> Standing:
        if self._result is not None:
            return Standing(self._result, answers=self._turns)
        failed = Result(ERROR, error=self._problem, code=1) if self._problem else None
        cut = "" if failed else "the stream was cut before the end of its turn"
        return Standing(failed, cut, answers=self._turns)

    def _begin(self, thread: str) -> None:
        self._thread = thread
        self._running.clear()
        self._result, self._problem = None, ""
        self._before, self._now = self._before.plus(self._now), Tokens()

    def _turn(self, what: str, value: Mapping[str, Any]) -> Iterator[Payload]:
        if what == "started":
            self._turns += 1
            self._result, self._problem = None, ""
        elif what == "completed":
            self._now = openai(value.get("usage")) or self._now
            yield spent_so_far(self._before.plus(self._now))
            self._result = Result("stop", iterations=self._turns)
            yield Event("turn", text="completed")
        elif what == "failed":
            words = text_of(dict_of(value.get("error")).get("message"))
            self._result = Result(ERROR, error=words or "the turn failed", code=1)
            yield from self._failed(words)

    def _failed(self, words: str) -> Iterator[Payload]:
        """An error; one that Codex tries again after is no end."""
        if words.startswith("Reconnecting"):
            yield Event("retry", text=words)
        elif words != self._problem:
            self._problem = words
            yield Event(ERROR, text=words)

    # -- items -------------------------------------------------------------------------------------

    def _item(self, what: str, item: Mapping[str, Any]) -> Iterator[Payload]:
        kind, text = text_of(item.get("type")), text_of(item.get("text"))
        done = what == "completed"
        if kind in ("agent_message", "reasoning"):
            if done and text.strip():
                yield Message("bot" if kind == "agent_message" else "reasoning", text)
        elif kind in _CALLS:
            yield from self._call(done, item)
        elif done and kind == ERROR:
            yield Event("warning", text=text_of(item.get("message")))
        elif done and kind == "todo_list":
            steps = map(dict_of, list_of(item.get("items")))
            marks = (
                f"[{'x' if s.get('completed') else ' '}] {text_of(s.get('text'))}" for s in steps
            )
            yield Event(kind, text="\n".join(marks))
        elif done:
            yield Event(kind or "item", text=text or told(item, "type", "id"))

    def _call(self, done: bool, item: Mapping[str, Any]) -> Iterator[Payload]:
        """A call: asked for when it is first heard of, answered when it is completed."""
        id = (
            f"{self._thread[-8:]}:{text_of(item.get('id'))}"
            if self._thread
            else text_of(item.get("id"))
        )
        asked = self._running.get(id)
        if asked is None:
            call = request(id, *_CALLS[item["type"]](item))
            yield call
            assert call.activity is not None
            asked = self._running[id] = call.activity
            if len(self._running) > _RUNNING:
                del self._running[next(iter(self._running))]
        if done:
            del self._running[id]
            yield _answered(asked, item)


def _command(item: Mapping[str, Any]) -> tuple[str, str]:
    return "shell", written({"command": text_of(item.get("command"))})


def _change(item: Mapping[str, Any]) -> tuple[str, str]:
    return "apply_patch", written({"changes": list_of(item.get("changes"))})


def _mcp(item: Mapping[str, Any]) -> tuple[str, str]:
    name = f"mcp__{text_of(item.get('server'))}__{text_of(item.get('tool'))}"
    return name, written(item.get("arguments") or {})


def _collab(item: Mapping[str, Any]) -> tuple[str, str]:
    names = ("prompt", "receiver_thread_ids")
    given = {name: item[name] for name in names if item.get(name)}
    return text_of(item.get("tool")) or "agent", written(given)


def _search(item: Mapping[str, Any]) -> tuple[str, str]:
    return "web_search", written({"query": text_of(item.get("query"))})


_CALLS = {
    "command_execution": _command, "file_change": _change, "mcp_tool_call": _mcp,
    "collab_tool_call": _collab, "web_search": _search,
}  # fmt: skip
"""Items that are calls: their tool and its arguments. A command is a `shell` here as in Codex's
own log, so that both read alike."""


def _answered(asked: Activity, item: Mapping[str, Any]) -> Message:
    """What came back of a call."""
    error = text_of(dict_of(item.get("error")).get("message"))
    output, code = text_of(item.get("aggregated_output")), item.get("exit_code")
    failed = bool(error) or item.get("status") in _BAD or (type(code) is int and code != 0)
    if item.get("type") == "command_execution":
        ending = f"exit status {code}" if type(code) is int else text_of(item.get("status"))
        return response(
            asked, f"{output.rstrip()}\n{ending}".lstrip() if failed else output, failed
        )
    gave = dict_of(item.get("result")) or item.get("agents_states") or item.get("action")
    content = list_of(dict_of(gave).get("content"))
    texts = [text_of(dict_of(part).get("text")) for part in content]
    result = "\n".join(filter(None, texts)) or gave or text_of(item.get("status")) or "completed"
    return response(asked, error or result, failed)


def about(value: Mapping[str, Any]) -> About:
    """What the first line tells of the run: nothing; the model and the folder are not in it."""
    return About()
