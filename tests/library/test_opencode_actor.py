"""Acting on OpenCode's sessions: what `opencode import` gets, and what stays as it was."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import opencode_logs as oc
import pytest
from opencode_logs import answer, export, healthy, info, killed, part, text, tool, user

from sessionlog.errors import NotPossible
from sessionlog.forks import apply_fork, fork, plan_fork
from sessionlog.formats.base import Birth, Composer, Keeper, Said
from sessionlog.formats.opencode_actor import OpenCodeActor
from sessionlog.reader import load
from sessionlog.records import Origin
from sessionlog.repairs import repair

NOW = datetime(2026, 11, 28, 7, 0, tzinfo=UTC)
ACTOR = OpenCodeActor()
CLOSED = "Interrupted by the user."


def never(path: str) -> bool:
    return False


def read(path: Path) -> dict[str, Any]:
    value = json.loads(path.read_bytes())
    assert isinstance(value, dict)
    return value


def parts(value: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for message in value["messages"] for part in message["parts"]]


def ids(value: dict[str, Any]) -> list[str]:
    """Every id of a session, in its order."""
    own = [value["info"]["id"], *(m["info"]["id"] for m in value["messages"])]
    return [*own, *(part["id"] for part in parts(value))]


def said(path: Path) -> list[str]:
    return [message.text for message in load(path, strict=True).messages]


def test_a_repair_closes_a_call_where_it_stands(tmp_path: Path) -> None:
    source = export(tmp_path / "x.json", [*killed(), user(3, "Go on"), answer(4, "Sure.")])
    before = source.read_bytes()
    made = repair(source, now=NOW)
    assert said(made) == ["Fix it", "Two things.", "", "done", "", CLOSED, "Go on", "Sure."]
    state = parts(read(made))[3]["state"]
    assert (state["status"], state["error"]) == ("error", CLOSED)
    assert state["metadata"] == {"output": "started\n"}
    assert state["time"] == {"start": oc.ms(202), "end": oc.ms(202)}
    assert load(made).open_calls == ()
    assert source.read_bytes() == before
    assert made == tmp_path / "x-repaired.json"


def test_each_of_two_open_calls_gets_its_own_answer(tmp_path: Path) -> None:
    calls = tool(202, "running", id="a"), tool(203, "pending", id="b", input={}, raw="{")
    made = repair(export(tmp_path / "x.json", killed(*calls)), now=NOW)
    states = [part["state"] for part in parts(read(made)) if part["type"] == "tool"]
    assert [state.get("error") for state in states] == [None, CLOSED, CLOSED]
    assert [state["input"] for state in states[1:]] == [{"command": "ls"}, {}]


def test_two_open_calls_of_one_id_are_both_closed(tmp_path: Path) -> None:
    calls = tool(202, "running", id="a"), tool(203, "running", id="a")
    made = repair(export(tmp_path / "x.json", killed(*calls)), now=NOW)
    assert load(made).open_calls == ()


def test_the_model_is_told_our_words_and_not_what_was_printed(tmp_path: Path) -> None:
    printed = tool(202, "running", metadata={"output": "started\n", "interrupted": True})
    made = repair(export(tmp_path / "x.json", killed(printed)), now=NOW)
    assert parts(read(made))[3]["state"]["metadata"]["interrupted"] is False
    assert said(made)[-1] == CLOSED


def test_every_id_of_a_copy_is_new_and_sorts_as_before(tmp_path: Path) -> None:
    source = export(tmp_path / "x.json", killed())
    made = read(repair(source, now=NOW))
    old, new = ids(read(source)), ids(made)
    assert not set(old) & set(new)
    assert len(set(new)) == len(old)
    assert [id[:16] for id in new[1:]] == [id[:16] for id in old[1:]]
    assert re.fullmatch(r"ses_[0-9a-f]{12}[0-9A-Za-z]{14}", new[0])
    for message in made["messages"]:
        own = message["info"]["id"]
        assert message["info"]["sessionID"] == new[0]
        assert {(p["messageID"], p["sessionID"]) for p in message["parts"]} == {(own, new[0])}
    assert made["messages"][1]["info"]["parentID"] == made["messages"][0]["info"]["id"]


def test_ids_that_repeat_or_have_no_digits_become_ids_that_sort(tmp_path: Path) -> None:
    messages = healthy()
    for message in messages:
        message["info"]["id"] = "REDACTED"
        for one in message["parts"]:
            one["id"] = "p_1"
    made = read(fork(export(tmp_path / "x.json", messages), 4, now=NOW))
    for word in ("msg", "prt"):
        new = [id for id in ids(made) if id.startswith(word)]
        assert new == sorted(set(new))
        assert all(re.fullmatch(word + "_[0-9a-f]{12}[0-9A-Za-z]{14}", id) for id in new)
    assert [m["info"].get("parentID") for m in made["messages"][1:]] == [ids(made)[1]] * 2


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    plan = plan_fork(load(export(tmp_path / "x.json", killed())), 5, now=NOW)
    first = apply_fork(plan)
    made = first.read_bytes()
    first.unlink()
    assert apply_fork(plan).read_bytes() == made


def test_a_fork_holds_what_was_said_up_to_the_message(tmp_path: Path) -> None:
    source = export(tmp_path / "x.json", healthy())
    made = fork(source, 1, now=NOW)
    assert said(made) == ["Fix it"]
    assert made == tmp_path / "x-fork-1.json"
    head = read(made)["info"]
    assert (head["title"], head["directory"]) == ("Fix it (fork #1)", "/srv/app")
    assert load(made).meta.forked_from == Origin(oc.SESSION, 1)
    again = fork(made, 1, now=NOW)
    assert read(again)["info"]["title"] == "Fix it (fork #2)"


def test_the_parts_of_one_message_are_not_torn_apart(tmp_path: Path) -> None:
    plan = plan_fork(load(export(tmp_path / "x.json", healthy())), 2, now=NOW)
    assert plan.at == 3
    assert said(apply_fork(plan)) == ["Fix it", "", "done"]


def test_all_else_stays_as_it_was(tmp_path: Path) -> None:
    messages = killed()
    messages[1]["info"]["surprise"] = {"n": 5}
    data = oc.document(messages).replace(b'"n": 5', b'"n": 1e400, "n": 12345678901234567890')
    (tmp_path / "x.json").write_bytes(data)
    made = repair(tmp_path / "x.json", now=NOW).read_bytes()
    assert b'"surprise": { "n": 1e400, "n": 12345678901234567890 }' in made


def test_a_copy_is_a_session_by_itself(tmp_path: Path) -> None:
    times = {"created": 1, "updated": 2, "archived": 3}
    share = {"url": "https://example.org"}
    head = info(parentID="ses_1", share=share, time=times, workspaceID="wrk_1")
    made = read(fork(export(tmp_path / "x.json", healthy(), head), 1, now=NOW))["info"]
    assert not {"parentID", "share", "workspaceID"} & made.keys()
    assert made["time"] == dict.fromkeys(("created", "updated"), int(NOW.timestamp() * 1000))


def test_what_was_taken_back_stays_so_in_a_repair_and_comes_back_in_a_fork(tmp_path: Path) -> None:
    back = {"messageID": oc.ident("msg", 3), "snapshot": "s"}
    messages = [*killed(), user(3, "No"), answer(4, "Sorry")]
    source = export(tmp_path / "x.json", messages, info(revert=back))
    made = read(repair(source, now=NOW))
    assert made["info"]["revert"] == {"messageID": ids(made)[3], "snapshot": "s"}
    assert said(tmp_path / "x-repaired.json")[-1] == CLOSED
    forked = fork(source, len(load(source).history), now=NOW)
    assert "revert" not in read(forked)["info"]
    assert said(forked)[-1] == "Sorry"
    assert b"reverted" not in forked.read_bytes()


def test_a_compaction_names_the_new_id_of_what_it_keeps(tmp_path: Path) -> None:
    asks = user(4, part("compaction", 401, auto=True, tail_start_id=oc.ident("msg", 3)))
    summary = answer(5, "In short", summary=True, parentID=oc.ident("msg", 4))
    source = export(tmp_path / "x.json", [*healthy(), asks, summary])
    made = fork(source, 5, now=NOW)
    assert said(made) == ["In short", "Done."]
    assert parts(read(made))[-2]["tail_start_id"] == ids(read(made))[3]
    assert b'"tail"' not in made.read_bytes()


def test_a_child_that_a_call_started_keeps_its_id(tmp_path: Path) -> None:
    call = tool(201, name="task", metadata={"sessionId": "ses_child"})
    made = fork(export(tmp_path / "x.json", [user(1, "Go"), answer(2, call)]), 3, now=NOW)
    assert parts(read(made))[1]["state"]["metadata"] == {"sessionId": "ses_child"}


def test_what_is_told_is_the_last_prompt_to_the_same_model(tmp_path: Path) -> None:
    plan = plan_fork(load(export(tmp_path / "x.json", healthy())), 4, now=NOW)
    last = read(apply_fork(plan, told="Go on"))["messages"][-1]
    assert last["parts"][0]["text"] == "Go on"
    assert last["info"]["role"] == "user"
    assert (last["info"]["agent"], last["info"]["model"]) == (
        "build", {"providerID": "p", "modelID": "m"},
    )  # fmt: skip


def test_what_an_import_would_miss_is_made_up_for(tmp_path: Path) -> None:
    bare: list[oc.Message] = [
        {"info": {"role": "user", "id": "m1", "summary": {"title": "x"}}, "parts": [text("Go", 1)]},
        {"info": {"role": "assistant", "id": "m2", "cost": {"usd": 1}, "tokens": {"input": 7}},
         "parts": [part("step-start", 2, snapshot={}), tool(3, title=None, time=None),
                   part("step-finish", 4, tokens={"input": 7}), part("reasoning", 5, text="hm")]},
    ]  # fmt: skip
    source = tmp_path / "x.json"
    source.write_text(json.dumps({"info": {"id": "ses_1", "time": {}}, "messages": bare}))
    made = read(fork(source, 2, now=NOW))
    assert {"slug", "projectID", "directory", "version"} <= made["info"].keys()
    first, second = (message["info"] for message in made["messages"])
    assert "summary" not in first
    assert first["model"] == {"providerID": "unknown", "modelID": "unknown"}
    assert (second["cost"], second["mode"], second["path"]["cwd"]) == (0, "build", "/")
    assert second["tokens"] == {"input": 7, "output": 0, "reasoning": 0,
                                "cache": {"read": 0, "write": 0}}  # fmt: skip
    start, call, finish, thought = made["messages"][1]["parts"]
    assert "snapshot" not in start
    assert (call["state"]["title"], call["state"]["time"]) == ("", {"start": 0, "end": 0})
    assert finish["tokens"]["cache"] == {"read": 0, "write": 0}
    assert thought["time"] == {"start": 0}


def test_damage_is_left_out_of_a_repair(tmp_path: Path) -> None:
    source = tmp_path / "x.json"
    source.write_bytes(oc.document(killed())[:-150])
    made = repair(source, now=NOW)
    assert said(made) == ["Fix it", "Two things.", "", "done"]
    assert load(made).damages == ()


def test_a_session_of_the_database_goes_to_a_folder_of_ours_under_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = oc.database(tmp_path / "opencode.db", killed())
    made = repair(place, now=NOW)
    assert made.parent == tmp_path / "state" / "sessionlog" / "opencode"
    assert made.parent.stat().st_mode & 0o777 == 0o700
    assert made.stem == read(made)["info"]["id"]
    assert said(made)[-1] == CLOSED
    assert load(place).open_calls
    stored = oc.tree(tmp_path / "storage", killed())
    assert repair(stored, now=NOW).parent == made.parent


def test_a_place_that_is_taken_is_passed_over(tmp_path: Path) -> None:
    source = export(tmp_path / "x.json", healthy())
    made = [fork(source, 1, now=NOW) for _ in range(2)]
    assert [path.name for path in made] == ["x-fork-1.json", "x-fork-1-2.json"]
    assert len({load(path).id for path in made}) == 2


def test_a_file_that_a_person_named_gets_an_id_that_can_be_one(tmp_path: Path) -> None:
    made = fork(export(tmp_path / "x.json", healthy()), 1, tmp_path / "mine.json", now=NOW)
    assert read(made)["info"]["id"].startswith("ses_")


def test_a_session_of_version_2_is_not_copied() -> None:
    from sessionlog.formats.base import Part

    line = b'{"info":{"id":"msg_1","sessionID":"ses_1","type":"user","text":"Go"}}'
    with pytest.raises(NotPossible, match="OpenCode 2"):
        list(ACTOR.renew([Part(line)], Birth("ses_2", "ses_1", 1, "2026-11-28T07:00:00Z")))


def test_a_session_is_composed_of_plain_messages(tmp_path: Path) -> None:
    assert isinstance(ACTOR, Composer)
    id, path = ACTOR.home("/srv/app", NOW, {"XDG_STATE_HOME": str(tmp_path)}, never)
    assert path == f"{tmp_path}/sessionlog/opencode/{id}.json"
    birth = Birth(id, "other", 4, "2026-11-28T07:00:00Z", "Go on", "/srv/app", "From elsewhere")
    said_by = [Said("user", "Fix it", "2026-11-27T22:00:00Z"), Said("assistant", "Done.")]
    made = tmp_path / "x.json"
    made.write_bytes(b"\n".join(ACTOR.compose(said_by, birth)))
    found = load(made, strict=True)
    assert [message.text for message in found.messages] == ["Fix it", "Done.", "Go on"]
    assert (found.id, found.title, found.meta.workdir) == (id, "From elsewhere", "/srv/app")
    assert found.meta.forked_from == Origin("other", 4)
    messages = read(made)["messages"]
    assert messages[1]["info"]["parentID"] == messages[0]["info"]["id"]
    assert [m["info"]["id"] for m in messages] == sorted(m["info"]["id"] for m in messages)


def test_the_client_keeps_a_session_in_its_database() -> None:
    assert isinstance(ACTOR, Keeper)
    data = {"XDG_DATA_HOME": "/data"}
    assert ACTOR.kept("ses_1", data) == "/data/opencode/opencode.db/ses_1"
    assert ACTOR.kept("ses_1", {**data, "OPENCODE_DB": "/my.db"}) == "/my.db/ses_1"
