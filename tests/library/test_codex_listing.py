"""Codex's logs in folders: a row from a few lines, and which logs are subagents of which."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import build
import pytest
from build import codex_call, codex_event, codex_item, codex_line, codex_meta, codex_output
from build import codex_said as said

from sessionlog.family import Forest
from sessionlog.formats.codex import Codex
from sessionlog.listing import glance, look
from sessionlog.records import Activity, Entry

FORMAT = Codex()
CONTEXT = codex_line("turn_context", {"turn_id": "t1", "cwd": "/srv/app", "model": "gpt-5.5"})
STARTED = codex_event("task_started", turn_id="t1")
ITEM = codex_event("item_completed", turn_id="t1", item={"type": "AgentMessage", "content": []})
HEAD = [
    codex_meta(base_instructions={"text": "x" * 25_000}), STARTED, said("developer", "y" * 3000),
    said("user", "<environment_context>\n<cwd>/x</cwd>"), CONTEXT, said("user", "Fix it"),
]  # fmt: skip


def row(path: Path) -> Entry | None:
    data = path.read_bytes()
    return FORMAT.glimpse(str(path), data[:4096], data[-4096:], len(data))


def made(folder: Path, *lines: bytes) -> Path:
    return build.log(folder / build.CODEX_FILE, lines)


@pytest.mark.parametrize(
    "tail",
    [
        [said("assistant", "Done."), codex_event("task_complete", 9, turn_id="t1")],
        [said("assistant", "x"), codex_event("task_complete", 9), codex_event("token_count")],
        [codex_event("error", message="no quota", codex_error_info="usage_limit_exceeded")],
        [codex_call("c1"), codex_event("turn_aborted", reason="interrupted")],
        [codex_call("c1"), codex_output("c1"), codex_call("c2")],
        [said("assistant", "x"), ITEM, said("assistant", "y")],
        [codex_item("reasoning", summary=[], encrypted_content="x"), said("assistant", "y"),
         STARTED, said("user", "more")],
    ],
)  # fmt: skip
def test_a_row_from_a_few_lines_is_the_one_from_the_records(
    tmp_path: Path, tail: list[bytes]
) -> None:
    pad = [codex_output(f"p{n}", "z" * 900) for n in range(8)]
    path = made(tmp_path, *HEAD, *pad, *tail)
    fast = row(path)
    assert fast is not None
    assert fast.title == "Fix it"
    slow = glance(str(path))
    assert fast._replace(stop=slow.stop) == slow
    assert fast.stop in ("", slow.stop)


@pytest.mark.parametrize(
    "lines",
    [
        [*HEAD, said("assistant", "y")],  # whether it has turns is not told there
        [codex_meta(), said("user", "x"), codex_call("c1")],  # no model
        [codex_meta(forked_from_id="a"), *HEAD[1:], codex_call("c1")],  # maybe not begun yet
        [*HEAD[:-1], codex_call("c1")],  # no prompt
        [*HEAD, b'{"torn'],
        [b"{}\n", *HEAD],
    ],
)
def test_where_a_few_lines_do_not_tell_there_is_no_row(tmp_path: Path, lines: list[bytes]) -> None:
    pad = [codex_output(f"p{n}", "z" * 900) for n in range(8)]
    assert row(made(tmp_path, *lines[:-1], *pad, lines[-1])) is None


def test_a_log_that_is_another_than_its_first_bytes_gives_no_row(tmp_path: Path) -> None:
    path = made(tmp_path, *HEAD, codex_event("task_complete", 9, turn_id="t1"))
    data = path.read_bytes()
    head = data[:4096].replace(b"codex_exec", b"codex_none")
    assert FORMAT.glimpse(str(path), head, data[-4096:], len(data)) is None
    assert FORMAT.glimpse(str(path), data[:4096], data[-4096:], len(data) + 9) is None


# -- subagents --------------------------------------------------------------------------------

PARENT, CHILD, GRANDCHILD, OTHER = (f"01a22748-f798-7db0-b19d-00000000000{n}" for n in range(4))


def rollout(folder: Path, id: str, *lines: bytes, parent: str = "") -> Path:
    source: Any = {"subagent": {"thread_spawn": {"parent_thread_id": parent}}}
    more = {"parent_thread_id": parent, "source": source} if parent else {"source": "exec"}
    name = f"rollout-2026-11-27T22-00-00-{id}.jsonl"
    return build.log(folder / name, [codex_meta(id, **more), said("user", "x"), *lines])


def crew(folder: Path) -> dict[str, Path]:
    return {
        PARENT: rollout(folder, PARENT, codex_call("c1")),
        CHILD: rollout(folder, CHILD, parent=PARENT),
        GRANDCHILD: rollout(folder, GRANDCHILD, parent=CHILD),
        OTHER: rollout(folder, OTHER, parent="01a22748-0000-7db0-b19d-000000000009"),
    }


def test_the_subagents_of_a_session_are_theirs_too(tmp_path: Path) -> None:
    paths = crew(tmp_path)
    assert FORMAT.subagents(str(paths[PARENT])) == [str(paths[CHILD]), str(paths[GRANDCHILD])]
    assert FORMAT.subagents(str(paths[CHILD])) == [str(paths[GRANDCHILD])]
    assert FORMAT.subagents(str(paths[OTHER])) == []
    assert FORMAT.subagents(str(tmp_path / "gone" / "x.jsonl")) == []


def test_a_subagent_of_a_later_day_is_found(tmp_path: Path) -> None:
    parent = rollout(tmp_path / "sessions/2026/11/27", PARENT)
    child = rollout(tmp_path / "sessions/2026/11/29", CHILD, parent=PARENT)
    late = 1_795_960_000  # 2026-11-29
    os.utime(parent, (late, late))
    assert FORMAT.subagents(str(parent)) == [str(child)]


def test_the_answer_to_a_call_leads_to_the_subagent_that_it_started(tmp_path: Path) -> None:
    paths = crew(tmp_path)

    def answer(result: Any, kind: str = "response") -> str | None:
        return FORMAT.started(str(paths[PARENT]), Activity(kind, "c1", "", result=result))

    assert answer(json.dumps({"agent_id": CHILD, "nickname": "Jason"})) == str(paths[CHILD])
    assert answer(json.dumps({"agent_id": PARENT})) is None
    assert answer(json.dumps({"agent_id": "../x"})) is None
    assert answer(json.dumps({"agent_id": 7})) is None
    assert answer('{"agent_id": torn') is None
    assert answer({"agent_id": CHILD}) is None
    assert answer(json.dumps({"agent_id": CHILD}), "request") is None


def test_a_subagent_stands_below_its_parent(tmp_path: Path) -> None:
    paths = crew(tmp_path)
    forest = Forest(look(map(str, paths.values()), True))
    depths = {member.entry.id: member.depth for member in forest.members()}
    assert depths == {PARENT: 0, CHILD: 1, GRANDCHILD: 2, OTHER: 0}
