"""Any session's conversation in a new native log."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import build
import pytest

from sessionlog.carry import carry, carry_to, composer_of
from sessionlog.errors import NotPossible
from sessionlog.formats.base import Birth
from sessionlog.formats.table import named
from sessionlog.plain import plain
from sessionlog.reader import load
from sessionlog.records import Origin, shown_type
from sessionlog.session import Session

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


def carried(folder: Path, agent: str) -> tuple[Session, Session]:
    """A session and what a new log of that agent holds of it."""
    session, environ = load(codex(folder)), {"HOME": str(folder)}
    form = named(agent)
    assert form is not None
    composer = composer_of(form)

    def home() -> tuple[str, str]:
        return composer.home("/srv/app", NOW, environ, os.path.lexists)

    id, path = home()
    birth = Birth(id, session.id, None, "2026-11-30T08:00:00Z", "Go on.", "/srv/app", "go")
    first = carry_to(form, plain(session), birth, path, home)
    assert str(first) == path
    second = carry_to(form, plain(session), birth, path, home)  # its place is taken
    assert second != first
    assert load(second).id != load(first).id == id
    return session, load(first, strict=True)


@pytest.mark.parametrize("agent", ["native", "claude", "codex", "pi", "qwen"])
def test_plain_messages_become_a_session_of_any_agent(tmp_path: Path, agent: str) -> None:
    birth = NOW
    session, new = carried(tmp_path, agent)
    assert new.format == agent
    assert new.meta.workdir == "/srv/app"
    assert (new.open_calls, new.orphan_results, new.calls) == ((), (), 0)
    kinds = ("user", "assistant")
    said = [(shown_type(m), m.text) for m in new.context if shown_type(m) in kinds]
    wanted = [(m.role, m.text) for m in plain(session).said]
    assert said == [*wanted, ("user", "Go on.")]
    times = [step.record.time for step in new.history if step.record.time]
    assert times == sorted(times)
    assert all(birth - time < timedelta(seconds=1) for time in times)  # new to who gets them
    assert stat.S_IMODE(os.stat(new.path).st_mode) == 0o600


def test_a_format_that_cannot_be_composed_is_refused() -> None:
    form = named("chat")
    assert form is not None
    with pytest.raises(NotPossible, match="a chat log cannot be written out of plain messages"):
        composer_of(form)
