"""Any session's conversation in a new native log."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import build
import pytest

from sessionlog.carry import carry
from sessionlog.errors import NotPossible
from sessionlog.reader import load
from sessionlog.records import Origin

NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


def codex(folder: Path) -> Path:
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":"make"}',
         "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "made"},
        {"type": "function_call", "name": "shell", "arguments": '{"command":"test"}',
         "call_id": "c2"},
    ]  # fmt: skip
    head = {"timestamp": build.at(), "type": "session_meta",
            "payload": {"id": "s1", "cwd": "/srv/app"}}  # fmt: skip
    lines = [
        {"timestamp": build.at(i + 1), "type": "response_item", "payload": item}
        for i, item in enumerate(items)
    ]
    return build.log(folder / "rollout-x-s1.jsonl", map(build.line, [head, *lines]))


def test_the_conversation_goes_over_whole_with_every_call_answered(tmp_path: Path) -> None:
    session = load(codex(tmp_path))
    new = load(carry(session, str(tmp_path / "native"), "mine", NOW, told="Go on."))
    assert new.format == "native"
    assert new.meta.resumed_from == "s1"
    assert (new.meta.driver, new.meta.workdir) == ("mine", "/srv/app")
    assert new.open_calls == ()
    assert new.orphan_results == ()
    said = [(step.message.type, step.message.text) for step in new.history]
    assert said[0] == ("user", "go")
    assert said[-1] == ("user", "Go on.")
    answers = [s.message.activity for s in new.history if s.message.activity][1::2]
    assert [(a.result or a.failure) for a in answers] == ["made", "Interrupted by the user."]
    assert new.conversation()[:-1] == session.conversation()[:-1]


def test_it_can_be_taken_from_an_earlier_message(tmp_path: Path) -> None:
    session = load(codex(tmp_path))
    new = load(carry(session, str(tmp_path / "native"), "mine", NOW, at=3))
    assert new.meta.forked_from == Origin("s1", 3)
    assert len(new.history) == 3
    with pytest.raises(NotPossible, match="no message 9"):
        carry(session, str(tmp_path / "native"), "mine", NOW, at=9)


def test_the_source_is_not_written(tmp_path: Path) -> None:
    path = codex(tmp_path)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    carry(load(path), str(tmp_path / "native"), "mine", NOW)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
