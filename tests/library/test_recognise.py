"""Which format a file is of: its content says so, its name does not, and what is no log is none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import build
import pytest

from sessionlog.formats.table import formats, head_of, recognise

CASES = os.environ.get("SESSIONLOG_CASES", "")
TALK = [build.chat("user", "Hi"), build.chat("assistant", "Ho")]
OLD = build.line({"id": "a", "timestamp": build.at(), "instructions": None, "git": {}})
PI = build.line({"type": "session", "version": 3, "id": "a", "timestamp": build.at(), "cwd": "/"})


def named(*lines: bytes, name: str = "x.jsonl") -> str | None:
    form = recognise(name, "/logs", b"".join(lines))
    return form.name if form else None


def test_each_format_is_known_by_its_own_lines() -> None:
    assert named(*build.healthy()) == "native"
    assert named(*build.codex_healthy()) == "codex"
    assert named(*build.codex_healthy()[1:]) == "codex"
    assert named(OLD, build.line({"record_type": "state"})) == "codex"
    assert named(*build.pi_healthy()) == "pi"
    assert named(*build.pi_healthy()[2:]) == "pi"
    assert named(*TALK) == "chat"
    assert named(build.line({"messages": [{"role": "user", "content": "Hi"}]})) == "chat"


def test_names_lie() -> None:
    assert named(*TALK, name=build.CODEX_FILE) == "chat"
    assert named(*build.codex_healthy(), name="20261127-220000.jsonl") == "codex"


@pytest.mark.parametrize(
    "lines",
    [build.healthy(), build.codex_healthy(), TALK * 3, [OLD, build.line({"record_type": "state"})],
     build.pi_healthy()],
)  # fmt: skip
@pytest.mark.parametrize("broken", [b"\0" * 99 + b"\n", b'{"cut": "of\n', b"# a note\n", b"\n"])
def test_a_damaged_first_line_hides_no_log(lines: list[bytes], broken: bytes) -> None:
    form = named(*lines)
    assert form is not None
    assert named(broken, *lines) == form


def test_a_first_line_that_the_block_cuts_off_is_enough_for_codex() -> None:
    assert named(build.codex_meta(base_instructions={"text": "x" * 25_000})[:4096]) == "codex"


def test_a_line_that_the_block_cuts_off_is_passed_over() -> None:
    assert len(head_of("x", "", TALK[0] + TALK[1][:-9]).values) == 1
    assert len(head_of("x", "", TALK[0][:-1]).values) == 1


@pytest.mark.parametrize(
    "text",
    [
        "", "notes\nrole: user\n", "role,content\nuser,hi\n", '{"name": "x", "version": "1.0.0"}',
        json.dumps({"name": "x", "role": "library"}),
        json.dumps([{"role": "user", "content": "x"}]),
        json.dumps({"messages": [{"role": "user", "content": "x"}]}, indent=1),
        '[\n' + '{"role": "user", "content": "x"},\n' * 9 + '{"role": "user", "content": "x"}\n]\n',
        json.dumps({"messages": []}), json.dumps({"messages": [{"type": "user", "content": "x"}]}),
        json.dumps({"type": "event_msg", "payload": 1}), "\x7fELF\0\0", "12\n13\n",
    ],
)  # fmt: skip
def test_what_is_no_log_is_none(text: str) -> None:
    assert named(text.encode()) is None


@pytest.mark.parametrize(
    "lines",
    [
        [PI, build.line({"type": "message", "message": {"role": "user", "content": "x"}})],
        [PI, *TALK],
        [build.line({"uuid": "a", "sessionId": "b", "message": {"role": "user", "parts": []}})],
        [build.line({"sessionId": "a", "projectHash": "b"}),
         build.line({"type": "user", "content": "x"})],
        [build.line({"info": {"id": "ses_a"},
                     "messages": [{"info": {"role": "user"}, "parts": []}]})],
        [build.line({"working_dir": "/", "description": "x"}), *TALK],
        [build.chat("assistant", [{"type": "toolRequest", "id": "a"}])],
        [build.line({"trajectory_format": "mini", "messages": [{"role": "user", "content": "x"}]})],
    ],
)  # fmt: skip
def test_logs_of_other_agents_are_not_taken_for_these(lines: list[bytes]) -> None:
    assert named(*lines) not in ("native", "codex", "chat")


@pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES names no folder of sample logs")
def test_sample_logs_are_known_for_what_they_are() -> None:
    names = ("native", "codex", "chat", "claude", "pi", "gemini", "qwen", "opencode",
             "agentsession")  # fmt: skip
    ours = {"openzot": "native", "zot": "native", **{name: name for name in names}}
    known = {form.name for form in formats()}
    seen = set()
    for path in Path(CASES).rglob("*"):
        data = path.read_bytes()[: 1 << 20] if path.is_file() else b""
        if not data:
            continue
        found = named(data, name=path.name)
        agent = next((ours[part] for part in path.relative_to(CASES).parts if part in ours), None)
        expected = agent if agent in known and path.suffix == ".jsonl" else None
        if found is not None or expected is not None:
            assert found == expected, path
            seen.add(found)
    assert {"native", "codex", "chat"} <= seen
