"""Any value of a log may be any JSON value: nothing that reads logs raises over one (law 3)."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import build
import pytest

from sessionlog import shown
from sessionlog.errors import NotALog
from sessionlog.listing import glance, look
from sessionlog.measure import measure
from sessionlog.query import Query
from sessionlog.reader import load
from sessionlog.search import search_log
from sessionlog.source import format_of
from sessionlog.why.look import look as why
from sessionlog.window import Log
from tui.timeline import Timeline

ODD = ["null", "true", "{}", "[]", '""', '"x"', "-1", "1e999", "NaN", str(2**70), '"²"', "[[]]",
       '{"a":{}}', "9" * 5000, r'"\ud800"', '"9999-12-31T23:59:59.999999Z"']  # fmt: skip
"""What stands where something else is expected, as JSON."""
CHAT = [
    build.chat("user", "hi"),
    build.chat("assistant", tool_calls=[build.chat_call("c1")], usage={"prompt_tokens": 3}),
    build.chat("tool", "done", tool_call_id="c1"),
    build.chat("assistant", "ok"),
]
LOGS = {
    "native": ("20261127-220000.jsonl", build.healthy()),
    "claude": (build.CLAUDE_FILE, build.claude_healthy()),
    "codex": ("rollout.jsonl", build.codex_healthy()),
    "pi": (build.PI_FILE, build.pi_healthy()),
    "chat": ("chat.jsonl", CHAT),
}
EACH = 60
"""Logs of a format that are read: a sample, for all of them take minutes."""
HEADS = ['{"type":{},"timestamp":"x"}', '{"type":[],"timestamp":"x"}', '{"role":[]}', "[{}]",
         '{"kind":{}}', '{"type":{},"payload":{}}', '{"record_type":[]}', '{"messages":[{}]}',
         '{"type":[],"parentUuid":{},"sessionId":[]}', '{"type":"message","message":{"role":{}},'
         '"timestamp":"x","parentId":[]}']  # fmt: skip
"""Lines of no format that look a little like one."""


def spoilt(value: Any, wrap: Callable[[str], str] = str) -> Iterator[str]:
    """A value as JSON, over and over, each time with something else in one place of it."""
    yield from map(wrap, ODD)
    if isinstance(value, dict):
        for key, item in value.items():
            yield from spoilt(item, lambda said, key=key: wrap(_dict(value, key, said)))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from spoilt(item, lambda said, at=at: wrap(_list(value, at, said)))


def _dict(value: dict[str, Any], at: str, said: str) -> str:
    items = (f"{json.dumps(k)}:{said if k == at else json.dumps(v)}" for k, v in value.items())
    return "{" + ",".join(items) + "}"


def _list(value: list[Any], at: int, said: str) -> str:
    return "[" + ",".join(said if i == at else json.dumps(v) for i, v in enumerate(value)) + "]"


def read_in_every_way(path: str) -> None:
    """Whatever reads logs reads this one; it may be none, but that is all it may say."""
    look([path], True)
    entry = glance(path)
    ways: list[Callable[[], Any]] = [
        lambda: [shown.json_line(item) for item in shown.of_session(load(path))],
        lambda: load(path).conversation(),
        lambda: why(path, datetime(2026, 11, 28, tzinfo=UTC)),
        lambda: measure(entry),
        lambda: list(search_log(path, Query("done", errors=True))),
        lambda: list(search_log(path, Query("x"))),
        lambda: rows(path),
    ]
    for way in ways:
        with contextlib.suppress(NotALog):
            way()


def rows(path: str) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        log = Log(path, format_of(path, fd))
    finally:
        os.close(fd)
    timeline = Timeline(log)
    for number in range(timeline.chunks):
        timeline.shown(number)
    log.close()


@pytest.mark.parametrize("form", LOGS)
def test_no_value_makes_a_reader_raise(form: str, tmp_path: Path) -> None:
    name, lines = LOGS[form]
    cases = [(at, said) for at, data in enumerate(lines) for said in spoilt(json.loads(data))]
    for at, said in Random(form).sample(cases, EACH):
        data = said.encode("utf-8", "surrogatepass") + b"\n"
        path = build.log(tmp_path / name, [*lines[:at], data, *lines[at + 1 :]])
        try:
            read_in_every_way(str(path))
        except Exception as error:
            error.add_note(f"line {at + 1}: {said[:300]}")
            raise


@pytest.mark.parametrize("line", HEADS)
def test_a_line_that_is_of_no_format_breaks_no_folder(line: str, tmp_path: Path) -> None:
    good = build.log(tmp_path / "20261127-220000.jsonl", build.healthy())
    odd = build.log(tmp_path / "odd.jsonl", [line.encode() + b"\n"])
    read_in_every_way(str(odd))
    assert [entry.status for entry in look([str(good)], True)] == ["complete"]
    assert len(look([str(good), str(odd)], True)) == 2
