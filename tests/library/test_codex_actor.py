"""Acting on Codex's logs: what a repair and a fork hold, byte for byte, and where they lie."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import build
import pytest
from build import codex_call, codex_event, codex_item, codex_line, codex_meta, codex_output
from build import codex_said as said

from sessionlog.forks import fork
from sessionlog.formats.base import Birth, Fate, Part, Said
from sessionlog.formats.codex_actor import CodexActor
from sessionlog.formats.codex_place import provider
from sessionlog.framing import split
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Origin
from sessionlog.repairs import repair

ACTOR = CodexActor()
TEXT = "Interrupted by the user."
NOW = datetime(2026, 11, 28, 5, 30, tzinfo=UTC)
BIRTH = Birth("01a22b00-0000-7000-8000-000000000001", build.CODEX_ID, None, build.at(99))
TURN = "01a22748-0000-7000-8000-00000000000f"


def paginated(*lines: bytes, first: int = 0) -> list[bytes]:
    """The lines with ordinals, as the client writes them since 0.149."""
    made = []
    for ordinal, data in enumerate(lines, first):
        value = json.loads(data)
        rest = {key: value[key] for key in ("type", "payload")}
        made.append(build.line({"timestamp": value["timestamp"], "ordinal": ordinal, **rest}))
    return made


def killed() -> list[bytes]:
    """Two calls of a turn, one of them answered, and nothing after them."""
    return paginated(
        codex_meta(session_id=build.CODEX_ID, history_mode="paginated"),
        said("user", "Fix it"),
        codex_event("item_completed", thread_id=build.CODEX_ID, turn_id=TURN),
        codex_call("c1"),
        codex_call("c2", "sleep 60"),
        codex_output("c1"),
    )


def made(folder: Path, *lines: bytes, tail: bytes = b"") -> Path:
    return build.log(folder / build.CODEX_FILE, lines, tail)


def values(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def payloads(path: Path) -> list[dict[str, Any]]:
    return [value["payload"] for value in values(path)]


def renewed(*lines: bytes, birth: Birth = BIRTH) -> list[bytes]:
    return list(ACTOR.renew([Part(line.removesuffix(b"\n")) for line in lines], birth))


# -- a repair ---------------------------------------------------------------------------------


def test_a_repair_answers_in_our_words_and_goes_on_counting(tmp_path: Path) -> None:
    source = made(tmp_path, *killed())
    before = source.read_bytes()
    new = repair(source)
    assert values(new)[-1] == {
        "timestamp": build.at(3), "ordinal": 6, "type": "response_item",
        "payload": {"type": "function_call_output", "call_id": "c2", "output": TEXT},
    }  # fmt: skip
    read = load(new)
    assert (read.open_calls, read.orphan_results, read.damages) == ((), (), ())
    assert read.history[-1].message.activity is not None
    assert read.history[-1].message.activity.failure == TEXT
    assert source.read_bytes() == before


def test_a_call_left_open_in_the_middle_is_closed_there_and_all_that_follows_counts_on(
    tmp_path: Path,
) -> None:
    later = paginated(said("user", "Go on"), said("assistant", "Yes."), first=6)
    new = repair(made(tmp_path, *killed(), *later))
    assert [value["ordinal"] for value in values(new)] == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    kinds = [payload.get("call_id") or payload.get("role") for payload in payloads(new)]
    assert kinds[-5:] == ["c2", "c1", "c2", "user", "assistant"]


def test_what_was_torn_is_left_out_and_its_number_given_again(tmp_path: Path) -> None:
    lines = killed()
    new = repair(made(tmp_path, *lines[:-1], tail=lines[-1][:60]))
    assert [value["ordinal"] for value in values(new)] == [0, 1, 2, 3, 4, 5, 6]
    assert [payload["call_id"] for payload in payloads(new)[-2:]] == ["c1", "c2"]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin"},
         {"type": "custom_tool_call_output", "output": TEXT}),
        ({"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"]}},
         {"type": "function_call_output", "output": TEXT}),
        ({"type": "brand_new_call", "arguments": "{}"},
         {"type": "brand_new_call_output", "output": TEXT}),
        ({"type": "tool_search_call", "execution": "client", "arguments": {"query": "x"}},
         {"type": "tool_search_output", "execution": "client", "status": "failed", "tools": []}),
    ],
)  # fmt: skip
def test_each_kind_of_call_has_its_kind_of_output(
    tmp_path: Path, asked: dict[str, Any], answer: dict[str, Any]
) -> None:
    call = codex_line("response_item", {**asked, "call_id": "k"})
    new = repair(made(tmp_path, codex_meta(), said("user", "x"), call))
    assert payloads(new)[-1] == {**answer, "call_id": "k"}
    assert load(new).open_calls == ()


def test_a_log_without_ordinals_stays_without(tmp_path: Path) -> None:
    new = repair(made(tmp_path, codex_meta(), said("user", "x"), codex_call("c1")))
    assert not any("ordinal" in value for value in values(new))


def test_a_late_output_is_moved_to_its_call_under_a_number_that_fits(tmp_path: Path) -> None:
    lines = paginated(
        codex_meta(), said("user", "x"), codex_call("c1"), said("user", "y"), codex_output("c1"),
        said("assistant", "z"),
    )  # fmt: skip
    new = repair(made(tmp_path, *lines))
    assert [value["ordinal"] for value in values(new)] == [0, 1, 2, 3, 4, 5]
    assert [p.get("call_id") or p.get("role") for p in payloads(new)[2:]] == [
        "c1", "c1", "user", "assistant"]  # fmt: skip


# -- whose log it is --------------------------------------------------------------------------


def test_a_fork_has_its_own_id_and_names_its_parent(tmp_path: Path) -> None:
    source = made(tmp_path, *killed())
    new = fork(source, 2)
    id = load(new).id
    assert id != build.CODEX_ID
    assert new.name.startswith("rollout-")
    assert new.name.endswith(f"-{id}.jsonl")
    head = payloads(new)[0]
    assert (head["id"], head["session_id"], head["forked_from_id"]) == (id, id, build.CODEX_ID)
    assert load(new).meta.forked_from == Origin(build.CODEX_ID)
    assert payloads(new)[2]["thread_id"] == id
    assert payloads(new)[2]["turn_id"] == TURN


def test_only_what_must_change_is_changed(tmp_path: Path) -> None:
    odd = (
        b'{"timestamp":"t", "type":"response_item","payload": {"type":"message","role":"user",'
        b'"content":[{"type":"input_text","text":"\\"thread_id\\":\\"'
        + build.CODEX_ID.encode()
        + b'\\""}],"n":1e400,"big":9007199254740993123,"n":1.50}}'
    )
    new = fork(made(tmp_path, codex_meta(new_field={"a": 1.0}), odd + b"\n"), 1)
    first, second = new.read_bytes().splitlines()
    assert second == odd
    assert b'"new_field":{"a":1.0}' in first


def test_a_head_that_comes_again_gets_the_new_id_and_one_of_a_forebear_stays(
    tmp_path: Path,
) -> None:
    other = "01a20000-0000-7000-8000-000000000000"
    new = fork(made(tmp_path, codex_meta(), codex_meta(other), codex_meta(), said("user", "x")), 1)
    ids = [payload["id"] for payload in payloads(new)[:3]]
    assert ids == [load(new).id, other, load(new).id]


def test_a_lost_head_is_put_before_all_that_is_left(tmp_path: Path) -> None:
    lines = killed()
    context = paginated(codex_line("turn_context", {"cwd": "/srv/app", "model": "m"}), first=1)
    source = made(tmp_path, lines[0][:100] + b"\n", *context, *lines[2:])
    new = repair(source, force=True)
    head = values(new)[0]
    assert (head["type"], head["ordinal"], head["payload"]["cwd"]) == (
        "session_meta", 0, "/srv/app")  # fmt: skip
    assert load(new).damages == ()
    assert [value["ordinal"] for value in values(new)] == list(range(len(values(new))))


def test_two_records_on_a_line_get_a_line_each(tmp_path: Path) -> None:
    lines = killed()
    glued = lines[1].removesuffix(b"\n") + lines[2]
    new = repair(made(tmp_path, lines[0], glued, *lines[3:]))
    assert [value["ordinal"] for value in values(new)] == [0, 1, 2, 3, 4, 5, 6]


def test_bad_utf_8_does_not_go_into_a_log_that_the_client_reads(tmp_path: Path) -> None:
    bad = said("user", "XX").replace(b"XX", b"a\xff\xfe")
    new = fork(made(tmp_path, codex_meta(), bad), 1)
    assert "a��" in new.read_text()


def test_items_of_before_the_envelope_get_one_around_their_bytes(tmp_path: Path) -> None:
    item = (
        b'{"type":"message","role":"user","content":[{"type":"input_text","text":"<cwd>/x</cwd>"}]}'
    )
    call = b'{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}'
    head = {"id": build.CODEX_ID, "timestamp": build.at(), "instructions": None, "git": {"a": 1}}
    state = b'{"record_type":"state"}'
    source = made(tmp_path, build.line(head), state + b"\n", item + b"\n", call + b"\n")
    new = repair(source)
    lines = new.read_bytes().splitlines()
    first = json.loads(lines[0])
    assert (first["type"], first["payload"]["git"], first["payload"]["cwd"]) == (
        "session_meta", {"a": 1}, "/x")  # fmt: skip
    assert {"originator", "cli_version", "model_provider"} <= first["payload"].keys()
    assert lines[1] == state
    assert lines[2].endswith(b'"payload":' + item + b"}")
    assert json.loads(lines[4])["payload"]["output"] == TEXT
    assert (load(new).open_calls, len(load(new).history)) == ((), len(load(source).history) + 1)


def test_a_fork_that_holds_only_what_is_new_keeps_its_link(tmp_path: Path) -> None:
    base = {"thread_id": "aaaaaaaa", "end_ordinal_exclusive": 40, "end_byte_offset": 9}
    lines = paginated(codex_meta(history_base=base), said("user", "x"), codex_call("c"), first=40)
    new = repair(made(tmp_path, *lines))
    assert payloads(new)[0]["history_base"] == base
    assert [value["ordinal"] for value in values(new)] == [40, 41, 42, 43]


def test_an_id_is_a_uuid_whatever_the_file_is_called(tmp_path: Path) -> None:
    first = fork(made(tmp_path, *killed()), 1, tmp_path / "mine.jsonl")
    second = fork(made(tmp_path, *killed()), 1, tmp_path / f"rollout-x-{BIRTH.id}.jsonl")
    assert payloads(second)[0]["id"] == BIRTH.id
    assert len(payloads(first)[0]["id"]) == 36


def test_the_same_plan_gives_the_same_bytes() -> None:
    told = BIRTH._replace(told="Look at <turn_aborted>.")
    assert renewed(*killed(), birth=told) == renewed(*killed(), birth=told)


def test_what_is_told_is_the_last_words_of_a_person(tmp_path: Path) -> None:
    told = BIRTH._replace(told="<turn_aborted> is what I want to know about")
    lines = renewed(*killed(), birth=told)
    read = load(build.log(tmp_path / build.CODEX_FILE, [line + b"\n" for line in lines]))
    assert (read.messages[-1].type, read.messages[-1].text) == ("user", told.told)
    assert json.loads(lines[-1])["ordinal"] == 6


def test_what_is_dropped_and_damaged_is_not_in_it() -> None:
    parts = [Part(codex_meta()), Part(said("user", "x"), Fate.DROPPED), Part(b'{"torn')]
    assert len(list(ACTOR.renew(parts, BIRTH))) == 1
    assert len(list(ACTOR.renew([], BIRTH))) == 1


# -- where it lies ----------------------------------------------------------------------------


def never(path: str) -> bool:
    return False


def test_a_copy_lies_beside_its_parent_under_a_name_that_is_free() -> None:
    parent = f"/h/sessions/2026/11/27/{build.CODEX_FILE}"
    id, path = ACTOR.place(parent, 7, NOW, never)
    assert os.path.dirname(path) == os.path.dirname(parent)
    assert path.endswith(f"-{id}.jsonl")
    other, _ = ACTOR.place(parent, 7, NOW, lambda name: name == path)
    assert other != id
    packed, _ = ACTOR.place(parent, 7, NOW, lambda name: name == f"{path}.zst")
    assert packed != id


def test_ids_sort_by_time() -> None:
    late = NOW.replace(hour=6)
    assert ACTOR.place("/x/y", 1, NOW, never)[0] < ACTOR.place("/a/b", 1, late, never)[0]


def test_a_copy_of_an_archived_log_lies_where_the_client_finds_it(tmp_path: Path) -> None:
    home = tmp_path / ".codex"
    source = made(home / "archived_sessions", *killed())
    new = repair(source)
    assert new.parent.parent.parent.parent == home / "sessions"
    assert load(new).open_calls == ()


def test_a_session_of_another_agent_lies_among_the_clients_of_today() -> None:
    day = NOW.astimezone().strftime("%Y/%m/%d")
    _, path = ACTOR.home("/srv/app", NOW, {"CODEX_HOME": "/h"}, never)
    assert path.startswith(f"/h/sessions/{day}/rollout-")


# -- out of plain messages --------------------------------------------------------------------


def test_a_composed_session_has_its_messages_and_says_where_they_come_from(
    tmp_path: Path,
) -> None:
    said = [Said("user", "# AGENTS.md is odd", build.at(1)), Said("assistant", "Yes.", build.at(2)),
            Said("user", "And?"), Said("assistant", "No.")]  # fmt: skip
    birth = BIRTH._replace(parent="20261127-220000", told="Go on.", workdir="/srv/app")
    lines = [line + b"\n" for line in ACTOR.compose(said, birth)]
    read = load(build.log(tmp_path / build.CODEX_FILE, lines))
    assert [(m.type, m.text) for m in read.messages] == [
        ("user", "# AGENTS.md is odd"), ("assistant", "Yes."), ("user", "And?"),
        ("assistant", "No."), ("user", "Go on.")]  # fmt: skip
    assert (read.id, read.meta.resumed_from) == (BIRTH.id, "20261127-220000")
    assert (read.meta.workdir, read.damages) == ("/srv/app", ())
    values = [json.loads(line) for line in lines]
    assert [value["ordinal"] for value in values] == list(range(len(lines)))
    assert all(value["timestamp"] for value in values)
    # the client's screen draws events alone
    shown = [v["payload"]["item"] for v in values if v["payload"].get("type") == "item_completed"]
    assert [item["type"] for item in shown] == [
        "UserMessage", "AgentMessage", "UserMessage", "AgentMessage", "UserMessage"]  # fmt: skip


def test_a_composed_session_that_ends_with_an_answer_is_done(tmp_path: Path) -> None:
    said = [Said("user", "x"), Said("assistant", "y")]
    lines = [line + b"\n" for line in ACTOR.compose(said, BIRTH)]
    read = load(build.log(tmp_path / build.CODEX_FILE, lines))
    assert (read.status, read.ok) == ("complete", True)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (None, "openai"),
        ('model_provider = "mine"', "mine"),
        ('model_provider = "mine"\nprofile = "p"\n[profiles.p]\nmodel_provider = "his"', "his"),
        ("profile = 7\nmodel_provider = []", "openai"),
        ("profiles = 3", "openai"),
        ("no toml", "openai"),
    ],
)
def test_the_provider_is_the_one_that_the_client_is_set_to(
    tmp_path: Path, config: str | None, name: str
) -> None:
    # its screen opens no session without one, and none with one that it does not know
    if config is not None:
        (tmp_path / "config.toml").write_text(config)
    assert provider({"CODEX_HOME": str(tmp_path)}) == name


@pytest.mark.parametrize("at", range(1, 5))
def test_a_fork_at_any_message_is_whole(tmp_path: Path, at: int) -> None:
    source = made(tmp_path, *paginated(*build.codex_healthy()))
    new = fork(source, at)
    read = load(new)
    assert (read.open_calls, read.orphan_results, read.damages) == ((), (), ())
    kept = [m.message.text for m in load(source).history[:at]]
    assert [m.message.text for m in read.history[:at]] == kept
    assert all(line.ended for line in split(new.read_bytes()))


def test_an_item_without_a_call_id_is_answered_where_the_kind_has_one(tmp_path: Path) -> None:
    call = codex_item("tool_search_call", execution="server", arguments={"query": "x"})
    new = repair(made(tmp_path, codex_meta(), said("user", "x"), call))
    assert payloads(new)[-1]["call_id"] is None
    assert load(new).open_calls == ()


def test_a_new_log_is_as_old_as_the_making_of_it(tmp_path: Path) -> None:
    source = made(tmp_path, *killed())
    now = datetime(2026, 12, 3, 4, 5, 6, tzinfo=UTC)
    for new in (repair(source, now=now), fork(source, 1, now=now)):
        assert glance(str(new)).started == load(new).started == "2026-12-03T04:05:06Z"
