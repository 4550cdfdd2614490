"""Acting on Gemini CLI's logs: what the client takes for the same conversation, closed.

What it makes of a new log is here told by its own rules (`loadConversationRecord` and
`convertSessionToClientHistory`, 0.61.0); tests/clients runs the client itself.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import build
import pytest
from build import line
from gemini_logs import (
    CONTEXT,
    FILE,
    ID,
    answer,
    call,
    document,
    healthy,
    model,
    sent,
    start,
    turn,
    update,
    user,
)  # fmt: skip

from sessionlog.forks import apply_fork, fork, plan_fork
from sessionlog.formats.base import Birth, Composer, Said
from sessionlog.formats.gemini_actor import GeminiActor
from sessionlog.reader import load
from sessionlog.records import Origin
from sessionlog.repairs import plan_repair, repair

NOW = datetime(2026, 11, 28, 9, 30, tzinfo=UTC)
CLOSED = {"error": "Interrupted by the user."}
Row = dict[str, Any]


def log(folder: Path, *lines: bytes, tail: bytes = b"", name: str = FILE) -> Path:
    return build.log(folder / name, lines, tail)


def heads(path: Path) -> list[Row]:
    values = map(json.loads, path.read_text().splitlines())
    return [value for value in values if "sessionId" in value]


def ok(id: str, text: str = "ok") -> tuple[str, Row]:
    return id, {"output": text}


def test_a_fork_has_its_own_head_and_name_and_says_each_result_once(tmp_path: Path) -> None:
    path = log(tmp_path, *healthy())
    before = path.read_bytes()
    read = load(path)
    new = fork(path, len(read.history), now=NOW)
    (head,) = heads(new)
    assert head["sessionId"] != ID
    assert new.name == f"session-2026-11-28T09-30-{head['sessionId']}.jsonl"
    assert new.parent == path.parent
    assert sent(new) == [
        "Fix it", "I look.", "c1", ok("c1", "one"), "c2", "c3", ok("c2", "two"), ok("c3", "three"),
        "Done.",
    ]  # fmt: skip
    made = load(new)
    assert made.meta.forked_from == Origin(ID, len(read.history))
    assert [m.text for m in made.messages] == [m.text for m in read.messages]
    assert path.read_bytes() == before


def test_a_copy_is_as_new_as_its_making(tmp_path: Path) -> None:
    """The client deletes sessions that were not updated for a month."""
    path = log(tmp_path, *healthy(), update(summary="Fixing", sessionId=ID))
    new = apply_fork(plan_fork(load(path), 11, now=NOW))
    values = [json.loads(data) for data in new.read_text().splitlines()]
    times = [v.get("$set", v).get("lastUpdated") for v in values]
    assert {time for time in times if time} == {"2026-11-28T09:30:00Z"}


def test_every_cut_of_a_run_is_sent_in_order_and_closed(tmp_path: Path) -> None:
    path = log(tmp_path, *healthy())
    whole = sent(fork(path, len(load(path).history), now=NOW))
    for step in load(path).history[1:]:
        new = fork(path, step.n, tmp_path / f"cut-{step.n}.jsonl", now=NOW)
        told = sent(new)
        assert told == whole[: len(told)]
        assert load(new).open_calls == ()
        assert len(load(new).history) >= step.n


def test_lines_that_stay_keep_their_bytes(tmp_path: Path) -> None:
    odd = b'{"id":"u1", "type" : "user","timestamp":"2026-11-27T22:00:01Z","new":1.50,' \
          b'"content":[{"text":"Fix it"}],"big":' + str(2**70).encode() + b"}\n"  # fmt: skip
    lines = [*start(), odd, *turn("m1", "Look.", call("c1"))]
    new = fork(log(tmp_path, *lines), 5, now=NOW)
    copied = new.read_bytes().splitlines(keepends=True)[2:]
    assert copied == [data for data in lines[2:6] if not data.startswith(b'{"$set"')]


OPEN = {
    "one": (model("m1", "Look.", call("c1", None)), ["c1", ("c1", CLOSED)]),
    "two": (model("m1", "Look.", call("c1", None), call("c2", None, status="executing")),
            ["c1", "c2", ("c1", CLOSED), ("c2", CLOSED)]),
    "one of two": (model("m1", "Look.", call("c1"), call("c2", None, status="cancelled")),
                   ["c1", "c2", ok("c1"), ("c2", CLOSED)]),
    "among the parts": (
        model("m1", [{"text": "Look."}, {"functionCall": {"id": "c1", "name": "x", "args": {}}}]),
        ["c1", ("c1", CLOSED)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize("later", [False, True])
def test_an_open_call_is_closed_inside_its_message(tmp_path: Path, name: str, later: bool) -> None:
    message, expected = OPEN[name]
    after = [line(user("u2", "And now?")), line(model("m2", "Yes."))] if later else []
    path = log(tmp_path, *start(), line(user("u1", "Fix it")), line(message), *after)
    before = path.read_bytes()
    new = repair(path, now=NOW)
    assert sent(new) == ["Fix it", "Look.", *expected, *(["And now?", "Yes."] if later else [])]
    read = load(new)
    assert (read.open_calls, read.orphan_results, read.assistants) == ((), (), 1 + later)
    assert read.meta.resumed_from == ID
    assert not plan_repair(read).needed
    assert path.read_bytes() == before


def test_a_call_that_a_list_of_messages_holds_is_closed_behind_it(tmp_path: Path) -> None:
    parts = [{"text": "Look."}, {"functionCall": {"id": "c1", "name": "x", "args": {}}}]
    path = log(tmp_path, *start(), update(messages=[user("u1", "Fix it"), model("m1", parts)]))
    new = repair(path, now=NOW)
    assert sent(new) == ["Fix it", "Look.", "c1", ("c1", CLOSED)]
    assert load(new).open_calls == ()


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    path = log(tmp_path, *start(), line(OPEN["two"][0]))
    made = []
    for _ in range(2):
        plan = plan_fork(load(path), 4, now=NOW)
        made.append(apply_fork(plan, told="Go on").read_bytes())
        os.unlink(plan.path)
    assert made[0] == made[1]
    place = GeminiActor().place(str(path), 4, NOW, {plan.path}.__contains__)
    assert place[0] != plan.id
    assert not os.path.lexists(place[1])


def test_what_is_told_is_the_users_last_message(tmp_path: Path) -> None:
    path = log(tmp_path, *healthy())
    new = apply_fork(plan_fork(load(path), 4, now=NOW), told="Files changed.")
    assert sent(new)[-1] == "Files changed."
    assert load(new).messages[-1].type == "user"


def test_damage_is_left_out_and_no_record_is_lost(tmp_path: Path) -> None:
    lines = healthy()
    lines[11:13] = [lines[11].rstrip(b"\n") + lines[15], b'{"broken\n']  # two on a line, garbage
    path = log(tmp_path, *lines, tail=b'{"id":"m4","type":"gem')
    new = repair(path, force=True, now=NOW)
    assert load(new).damages == ()
    assert sent(new) == sent(fork(log(tmp_path / "whole", *healthy()), 11, now=NOW))


def test_a_log_that_lost_its_head_gets_one(tmp_path: Path) -> None:
    path = log(tmp_path, *healthy()[1:])
    new = fork(path, 4, now=NOW)
    (head,) = heads(new)
    assert head["projectHash"]
    assert new.name.endswith(f"{head['sessionId']}.jsonl")
    assert sent(new) == ["Fix it", "I look.", "c1", ok("c1", "one")]


def test_later_heads_and_changes_name_the_new_session(tmp_path: Path) -> None:
    kept = [user("ctx", CONTEXT), user("u1", "Fix it"), model("m1", "Yes.")]
    lines = [*start(), *map(line, kept[1:]), *start(), update(messages=kept), update(sessionId=ID)]
    new = fork(log(tmp_path, *lines, line(user("u2", "On"))), 4, now=NOW)
    assert sent(new) == ["Fix it", "Yes.", "On"]
    values = [json.loads(data) for data in new.read_text().splitlines()]
    named = [v.get("$set", v).get("sessionId") for v in values]
    assert {id for id in named if id} == {load(new).id}


def test_what_the_client_took_over_is_sent_once_too(tmp_path: Path) -> None:
    kept = [user("u1", "Fix it"), model("m1", [{"text": "Look."}], call("c1")),
            user("m1_response", [answer("c1", {"output": "ok"})])]  # fmt: skip
    lines = [*start(), line(kept[0]), *turn("m1", "Look.", call("c1")), update(messages=kept)]
    new = fork(log(tmp_path, *lines, line(user("u2", "On"))), 6, now=NOW)
    assert sent(new) == ["Fix it", "Look.", "c1", ok("c1"), "On"]


def test_late_results_go_to_their_calls_and_those_of_none_are_left_out(tmp_path: Path) -> None:
    asked = [{"functionCall": {"id": id, "name": "x", "args": {}}} for id in ("c1", "c2")]
    late = [answer("c2", {"output": "late"}), {"text": "Also this."}, answer("c9", {"output": "?"})]
    lines = [*start(), line(user("u1", "Fix it")), line(model("m1", asked)),
             line(user("u2", [answer("c1", {"output": "one"})])), line(user("u3", "And now?")),
             line(model("m2", "Yes.")), line(user("u4", late))]  # fmt: skip
    new = repair(log(tmp_path, *lines), now=NOW)
    results = [ok("c1", "one"), ok("c2", "late")]
    assert sent(new) == ["Fix it", "c1", "c2", *results, "And now?", "Yes.", "Also this."]
    assert load(new).orphan_results == load(new).open_calls == ()


def test_a_result_beside_a_text_is_not_sent_twice_and_the_text_stays(tmp_path: Path) -> None:
    both = line(user("u2", [answer("c1", {"output": "ok"}), {"text": "Also this."}]))
    lines = [*start(), line(user("u1", "Fix it")), line(model("m1", "Look.", call("c1"))), both]
    new = fork(log(tmp_path, *lines), 6, now=NOW)
    assert sent(new) == ["Fix it", "Look.", "c1", ok("c1"), "Also this."]


def test_a_result_that_is_no_list_is_not_sent_twice_either(tmp_path: Path) -> None:
    bare = line(user("u2", "") | {"content": answer("c1", {"output": "ok"})})
    lines = [*start(), line(user("u1", "Fix it")), line(model("m1", "", call("c1"))), bare]
    new = fork(log(tmp_path, *lines, line(user("u3", "On"))), 6, now=NOW)
    assert sent(new) == ["Fix it", "c1", ok("c1"), "On"]


def test_a_call_that_nothing_names_is_left_out(tmp_path: Path) -> None:
    nameless = {"args": {}, "status": "executing"}
    path = log(tmp_path, *start(), line(model("m1", "Look.", call("c1"), nameless)))
    assert sent(repair(path, now=NOW)) == ["Look.", "c1", ok("c1")]


def test_a_result_that_two_messages_of_the_user_bring_is_sent_once(tmp_path: Path) -> None:
    """Resumed in the minute in which it began, the client loses `toolCalls`, and has both."""
    parts = [{"text": "Look."}, {"functionCall": {"id": "c1", "name": "x", "args": {}}}]
    result = [answer("c1", {"output": "ok"})]
    kept = [user("u1", "Fix it"), model("m1", parts), user("m1_response", result),
            user("m1-results", result)]  # fmt: skip
    lines = [*start(), line(kept[0]), *turn("m1", "Look.", call("c1")), *start()]
    path = log(tmp_path, *lines, update(messages=kept), line(user("u2", "On")))
    new = fork(path, len(load(path).history), now=NOW)
    assert sent(new) == ["Fix it", "Look.", "c1", ok("c1"), "On"]
    assert sent(fork(log(tmp_path, *start(), *map(line, kept)), 5, now=NOW))[2:] == ["c1", ok("c1")]


def test_a_rewind_goes_along(tmp_path: Path) -> None:
    lines = [*healthy(), line({"$rewindTo": "m2"}), line(user("u2", "Otherwise"))]
    path = log(tmp_path, *lines)
    new = fork(path, len(load(path).history), now=NOW)
    assert sent(new) == ["Fix it", "I look.", "c1", ok("c1", "one"), "Otherwise"]
    assert b"$told" not in new.read_bytes()
    assert [m.text for m in load(new).messages] == [m.text for m in load(path).messages]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_gives_a_log_of_lines(tmp_path: Path, indent: int | None) -> None:
    messages = [user("u1", "Fix it"), model("m1", "Look.", call("c1")), model("m2", "Done.")]
    path = tmp_path / "session-2025-12-01T21-45-f00dfeed.json"
    path.write_bytes(document(messages, indent))
    new = fork(path, 5, now=NOW)
    assert new.suffix == ".jsonl"
    assert sent(new) == ["Fix it", "Look.", "c1", ok("c1"), "Done."]


def test_a_subagents_log_becomes_a_session_of_the_project(tmp_path: Path) -> None:
    path = log(tmp_path / "chats" / ID, *healthy(), name="agent-1.jsonl")
    new = fork(path, 4, now=NOW)
    assert new.parent == tmp_path / "chats"
    assert heads(new)[0]["kind"] == "main"


def test_a_session_can_be_composed_of_plain_messages(tmp_path: Path) -> None:
    actor = GeminiActor()
    assert isinstance(actor, Composer)
    birth = Birth("id-1", "old", None, build.at(9), "Go on", "/srv/app", "The title")
    said = [Said("user", "Fix it", build.at(1)), Said("assistant", "Done.")]
    read = load(log(tmp_path, *(data + b"\n" for data in actor.compose(said, birth))))
    assert sent(Path(read.path)) == ["Fix it", "Done.", "Go on"]
    assert (read.id, read.title, read.users, read.assistants) == ("id-1", "The title", 2, 1)


@pytest.mark.parametrize("text", ["/compact\n\nWhat now?", " ? me", "<hook_context> so"])
def test_a_composed_text_that_the_client_would_leave_out_is_told_in_words(
    tmp_path: Path, text: str
) -> None:
    birth = Birth("id-1", "old", None, build.at(9), workdir="/srv/app")
    made = GeminiActor().compose([Said("user", text), Said("assistant", "/fine")], birth)
    path = log(tmp_path, *(data + b"\n" for data in made))
    assert sent(path) == [f"[the user said] {text}", "/fine"]


def test_a_session_goes_where_the_client_looks_for_those_of_the_folder(tmp_path: Path) -> None:
    own = tmp_path / ".gemini"
    environ = {"HOME": str(tmp_path)}

    def project(workdir: str) -> str:
        id, path = GeminiActor().home(workdir, NOW, environ, os.path.lexists)
        assert os.path.basename(path) == f"session-2026-11-28T09-30-{id}.jsonl"
        assert Path(path).parents[2] == own / "tmp"
        return Path(path).parents[1].name

    assert project("/srv/My App") == "my-app"
    own.mkdir()
    known = {"/srv/app": "shop", "/other": "lib"}
    (own / "projects.json").write_text(json.dumps({"projects": known}))
    assert project("/srv/app") == "shop"
    assert project("/new/lib") == "lib-1"
    (own / "projects.json").write_text(json.dumps({"projects": {"/evil": "../../x"}}))
    assert project("/evil") == "evil"
    (own / "tmp" / "evil").mkdir(parents=True)
    (own / "tmp" / "evil" / ".project_root").write_text("/somebody/evil")
    assert project("/evil") == "evil-1"
