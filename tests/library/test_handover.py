"""A planned handing over is carried out: the new log, the files for the agent, the order."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import build
import pytest

from sessionlog.errors import DamagedLog, NotPossible
from sessionlog.handover import Handed, finish, prepare
from sessionlog.reader import load
from sessionlog.records import Origin
from sessionlog.resume import plan_resume

NOW = datetime(2026, 11, 30, 22, 0, 10, tzinfo=UTC)
ID = "20261127-220000"


def environ(folder: Path) -> dict[str, str]:
    return {"HOME": str(folder), "PATH": os.environ["PATH"]}


def agent(folder: Path, text: str) -> str:
    path = folder / ".config" / "sessionlog" / "agents.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"[agents.mine]\n{text}\n")
    return "mine"


def native(folder: Path, *lines: bytes, tail: bytes = b"") -> Path:
    return build.log(folder / f"{ID}.jsonl", lines, tail)


def codex(folder: Path) -> Path:
    head = {"timestamp": build.at(), "type": "session_meta",
            "payload": {"id": "s1", "cwd": str(folder)}}  # fmt: skip
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}
    line = {"timestamp": build.at(1), "type": "response_item", "payload": said}
    return build.log(folder / "rollout-x-s1.jsonl", map(build.line, [head, line]))


def handed(path: Path, folder: Path, *, force: bool = False, **more: object) -> Handed:
    session, place = load(path), environ(folder)
    plan = plan_resume(session, now=NOW, environ=place, cwd=str(folder), agent="mine", **more)  # type: ignore[arg-type]
    return prepare(session, plan, force=force, environ=place)


def test_the_order_names_the_log_as_it_was_made(tmp_path: Path) -> None:
    agent(tmp_path, 'argv = ["true", "{log}", "{id}", "{prompt}"]\nappends = true')
    path = native(tmp_path, build.meta(), build.message("user", "go"), build.request("c1"))
    build.log(tmp_path / "20261130-220010.jsonl", [build.meta()])  # its place is taken meanwhile
    before = path.read_bytes()
    done = handed(path, tmp_path)
    assert done.order.argv[:3] == ("true", done.made, "20261130-220010-2")
    assert (done.order.log, done.order.session) == (done.made, "20261130-220010-2")
    assert done.order.closes
    assert load(done.order.log).open_calls == ()
    assert path.read_bytes() == before


def test_a_program_that_writes_no_log_is_recorded_behind_the_conversation(tmp_path: Path) -> None:
    agent(tmp_path, 'argv = ["true", "{messages}"]\noutput = "text"')
    done = handed(native(tmp_path, build.meta(), build.message("user", "go")), tmp_path)
    session = load(done.order.log)
    assert session.meta.forked_from == Origin(ID, 1)
    assert session.history[-1].message.text == done.resume.note
    assert (done.order.output, done.order.screen) == ("text", False)


def test_a_log_that_changed_since_it_was_looked_at_does_not_go_over(tmp_path: Path) -> None:
    name = agent(tmp_path, 'argv = ["true", "{log}", "{prompt}"]\nappends = true')
    path = native(tmp_path, build.meta(), build.message("user", "go"))
    session, place = load(path), environ(tmp_path)
    plan = plan_resume(session, environ=place, cwd=str(tmp_path), agent=name)
    changed = build.log(tmp_path / "other", [build.meta(), build.message("user", "no")])
    os.utime(changed, ns=(0, path.stat().st_mtime_ns))
    os.replace(changed, path)
    with pytest.raises(NotPossible, match="it changed since it was looked at"):
        prepare(session, plan, environ=place)
    with path.open("ab") as file:
        file.write(build.message("bot", "more"))
    with pytest.raises(NotPossible, match="it changed while it was read"):
        plan_resume(session, environ=place, cwd=str(tmp_path), agent=name)


def test_a_chat_is_carried_to_a_log_beside_it_under_the_name_that_was_planned(
    tmp_path: Path,
) -> None:
    name = agent(tmp_path, 'argv = ["true", "{messages}"]\noutput = "text"')
    said = {"role": "user", "content": "go"}
    path = build.log(tmp_path / "chat" / "talk.jsonl", [build.line(said)])
    session, place = load(path), environ(tmp_path)
    plan = plan_resume(session, environ=place, cwd=str(tmp_path), agent=name, now=NOW)
    done = prepare(session, plan, environ=place)
    assert done.order.log == plan.log == str(tmp_path / "chat" / "20261130-220010.jsonl")
    new = load(done.order.log)
    assert (new.id, new.meta.workdir) == (plan.id, str(tmp_path))


def test_another_formats_conversation_is_carried_into_a_native_log(tmp_path: Path) -> None:
    agent(tmp_path, 'argv = ["true", "{messages_openai}"]\noutput = "text"')
    done = handed(codex(tmp_path), tmp_path)
    session = load(done.order.log)
    assert (session.format, session.meta.resumed_from) == ("native", "s1")
    assert [step.message.text for step in session.history] == ["go", done.resume.note]


def test_the_file_of_messages_is_private_holds_the_note_once_and_goes(tmp_path: Path) -> None:
    agent(tmp_path, 'argv = ["true", "{messages}", "{messages_openai}"]\noutput = "text"')
    done = handed(native(tmp_path, build.meta(), build.message("user", "go")), tmp_path)
    assert len(done.files) == 2
    for path in done.files:
        assert path in done.order.argv
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert json.dumps(json.loads(Path(path).read_bytes())).count("You go on with") == 1
    finish(done)
    assert not any(map(os.path.exists, done.files))


def test_a_note_on_the_command_line_is_not_among_the_messages(tmp_path: Path) -> None:
    agent(tmp_path, 'argv = ["true", "{messages}", "{prompt}"]\noutput = "text"')
    done = handed(native(tmp_path, build.meta(), build.message("user", "go")), tmp_path)
    assert done.order.argv[2] == done.resume.note
    assert "You go on with" not in Path(done.files[0]).read_text()


def test_nothing_is_written_when_something_is_missing(tmp_path: Path) -> None:
    agent(tmp_path, 'argv = ["no-such-program", "{log}", "{prompt}"]\nappends = true')
    path = native(tmp_path, build.meta(), build.message("user", "go"))
    with pytest.raises(NotPossible, match="no-such-program: no such program"):
        handed(path, tmp_path)
    assert [p.name for p in tmp_path.glob("*.jsonl")] == [path.name]


def test_damage_before_the_end_stops_it_unless_it_was_seen(tmp_path: Path) -> None:
    agent(tmp_path, 'argv = ["true", "{log}", "{prompt}"]\nappends = true')
    path = native(tmp_path, build.meta(), b"junk\n", build.message("user", "go"))
    with pytest.raises(DamagedLog):
        handed(path, tmp_path)
    done = handed(path, tmp_path, force=True)
    assert load(done.order.log, strict=True).damages == ()


def test_an_earlier_message_is_gone_on_from(tmp_path: Path) -> None:
    agent(tmp_path, 'argv = ["true", "{messages}"]\noutput = "text"')
    done = handed(codex(tmp_path), tmp_path, at=1)
    assert load(done.order.log).meta.forked_from == Origin("s1", 1)


def test_damage_in_what_is_carried_stops_it_too(tmp_path: Path) -> None:
    agent(tmp_path, 'argv = ["true", "{messages}"]\noutput = "text"')
    path = codex(tmp_path)
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"junk\n" + second)
    with pytest.raises(DamagedLog):
        handed(path, tmp_path)
    assert load(handed(path, tmp_path, force=True).order.log).history[0].message.text == "go"


def test_what_a_killed_viewer_left_of_a_conversation_goes_with_the_next_run(tmp_path: Path) -> None:
    agent(tmp_path, 'argv = ["true", "{messages}"]\noutput = "text"')
    path = native(tmp_path, build.meta(), build.message("user", "go"))
    first, second = handed(path, tmp_path), handed(path, tmp_path)
    folder = Path(first.files[0]).parent
    (folder / f"{first.order.run}.json").touch()  # its run has begun and ended
    for name in (f"{second.order.run}.json", f"{second.order.run}.live"):
        (folder / name).touch()  # this one goes on
    third = handed(path, tmp_path)
    there = [os.path.exists(done.files[0]) for done in (first, second, third)]
    assert there == [False, True, True]


def to_pi(folder: Path, **more: object) -> Handed:
    path, place = codex(folder), environ(folder)
    path.write_bytes(path.read_bytes() + build.codex_call("c1"))
    session = load(path)
    plan = plan_resume(session, now=NOW, environ=place, cwd=str(folder), agent="pi", **more)  # type: ignore[arg-type]
    return prepare(session, replace(plan, missing=()), environ=place)


def test_another_agents_session_is_written_where_the_agent_looks(tmp_path: Path) -> None:
    done = to_pi(tmp_path)
    session = load(done.order.log, strict=True)
    assert (session.format, session.id, done.order.log) == ("pi", done.order.session, done.made)
    assert done.order.argv == ("pi", "--session", done.made, done.resume.note)
    assert session.messages[-1].text == "[result of exec_command] Interrupted by the user."
    assert session.meta.workdir == str(tmp_path)
    assert not done.order.closes


def test_a_place_that_is_taken_meanwhile_gives_another_id_to_the_agent(tmp_path: Path) -> None:
    place, session = environ(tmp_path), load(codex(tmp_path))
    plan = plan_resume(session, now=NOW, environ=place, cwd=str(tmp_path), agent="pi")
    first, second = (prepare(session, replace(plan, missing=()), environ=place) for _ in "12")
    assert first.made == plan.log != second.made
    assert second.order.session == load(second.order.log).id != plan.id
    assert second.order.argv[2] == second.made


def test_what_is_carried_is_cut_at_the_message_that_was_chosen(tmp_path: Path) -> None:
    done = to_pi(tmp_path, at=1)
    assert [message.text for message in load(done.order.log).messages] == ["go"]


def test_a_fork_for_another_folder_is_made_where_the_agent_never_was(tmp_path: Path) -> None:
    path, place = tmp_path / "away" / "log.jsonl", environ(tmp_path)
    build.log(path, [build.claude_user("Begin."), build.claude_call("t1")])
    session = load(path)
    plan = plan_resume(session, now=NOW, environ=place, cwd=str(tmp_path), agent="claude")
    done = prepare(session, replace(plan, missing=()), environ=place)
    folder = tmp_path / ".claude" / "projects"
    assert Path(done.order.log).parent.parent == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert done.order.argv == ("claude", "--resume", done.order.log, done.resume.note)
