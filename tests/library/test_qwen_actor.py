"""Acting on Qwen Code's logs: what a fork and a repair are for the client that goes on with them.

`walked` reads a log as the client does (0.24.4): one session id in all of it, or it is refused;
from the last record of the conversation to the root.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import build
import pytest
import qwen_logs as qwen

from sessionlog import codec
from sessionlog.forks import apply_fork, fork, plan_fork
from sessionlog.formats.base import Birth, Composer, Said
from sessionlog.formats.qwen_actor import QwenActor
from sessionlog.listing import glance
from sessionlog.plan import INTERRUPTED
from sessionlog.reader import load
from sessionlog.repairs import repair

NOW = datetime(2026, 11, 30, 6, 5, 4, 321_000, UTC)
THEN = "2026-11-30T06:05:04.321000Z"
ACTOR = QwenActor()


def values(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def walked(path: Path) -> list[dict[str, Any]]:
    records = values(path)
    assert len({r["sessionId"] for r in records}) == 1
    by_id = {r["uuid"]: r for r in records}
    assert len(by_id) == len(records)
    way, at = [], next(
        r["uuid"] for r in reversed(records) if "session_artifact" not in r.get("subtype", "")
    )  # fmt: skip
    while at is not None and at in by_id:
        way.append(by_id[at])
        at = by_id[at]["parentUuid"]
    return way[::-1]


def words(way: list[dict[str, Any]]) -> list[str]:
    """What stands on the way, in short: u:text, a:text or a:call ids, r:id:text."""
    told = []
    for record in (r for r in way if "message" in r):
        parts = record["message"]["parts"]
        text = "".join(p.get("text", "") for p in parts if not p.get("thought"))
        ids = [p["functionCall"]["id"] for p in parts if "functionCall" in p]
        results = [p["functionResponse"] for p in parts if "functionResponse" in p]
        told += [f"r:{r['id']}:{next(iter(r['response'].values()))}" for r in results]
        if not results:
            told.append(f"{record['type'][0]}:{text}{'+'.join(ids)}")
    return told


def log(folder: Path, *lines: bytes, tail: bytes = b"") -> Path:
    return build.log(folder / qwen.FILE, lines, tail)


def killed() -> list[bytes]:
    """Killed in two calls, one of which had ended: only the telemetry knows."""
    return [
        qwen.user("Fix it", "u1"),
        qwen.said(qwen.call("c1"), qwen.call("c2"), id="a1", parent="u1"),
        qwen.telemetry("tool_call", "t1", "a1", call_id="c1"),
    ]


CLOSED = ["u:Fix it", "a:c1+c2", f"r:c1:{INTERRUPTED}", f"r:c2:{INTERRUPTED}"]


def test_open_calls_are_closed_in_the_chain_behind_their_answer(tmp_path: Path) -> None:
    source = log(tmp_path, *killed())
    before = source.read_bytes()
    made = repair(source, now=NOW)
    way = walked(made)
    assert words(way) == CLOSED
    assert [r["uuid"] for r in way if r["uuid"] in ("u1", "a1", "t1")] == ["u1", "a1", "t1"]
    assert way[-1]["uuid"] == "t1"
    added = way[2]
    assert (added["cwd"], added["version"], added["type"]) == ("/srv/app", "0.24.4", "tool_result")
    assert added["toolCallResult"] == {"callId": "c1", "status": "error",
                                       "resultDisplay": INTERRUPTED}  # fmt: skip
    assert "forkedFrom" not in added
    assert source.read_bytes() == before
    read = load(made)
    assert (read.open_calls, read.orphan_results, read.damages) == ((), (), ())


def test_each_copied_record_has_the_new_id_and_says_where_it_came_from(tmp_path: Path) -> None:
    made = repair(log(tmp_path, *killed()), now=NOW)
    assert {v["sessionId"] for v in values(made)} == {made.stem}
    assert made.stem[14] == "4"  # the client takes no id of a later version
    assert glance(str(made)).started == THEN  # its own, not that of what was copied
    copied = [v for v in values(made) if "forkedFrom" in v]
    assert [v["forkedFrom"] for v in copied] == [
        {"sessionId": qwen.ID, "messageUuid": id, "timestamp": THEN} for id in ("u1", "a1", "t1")
    ]
    read = load(made)
    assert read.meta.forked_from is not None
    assert read.meta.forked_from.id == qwen.ID


def test_only_what_must_change_is_changed(tmp_path: Path) -> None:
    odd = (b'{ "uuid": "u1","parentUuid":null, "sessionId":"' + qwen.ID.encode() + b'" ,'
           b'"type":"user","big":1180591620717411303424,"forkedFrom":{"sessionId":"x"},'
           b'"message":{"role":"user","parts":[{"text":"\xff"}]}}\n')  # fmt: skip
    made = fork(log(tmp_path, odd, qwen.said("ok", id="a", parent="u1")), 2, now=NOW)
    first = made.read_bytes().split(b"\n")[0]
    origin = codec.dumps({"sessionId": qwen.ID, "messageUuid": "u1", "timestamp": THEN})
    wanted = odd.rstrip().replace(qwen.ID.encode(), made.stem.encode(), 1)
    assert first == wanted.replace(b'{"sessionId":"x"}', origin)


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    session = load(log(tmp_path, *killed()))
    plans = [plan_fork(session, 2, now=NOW) for _ in range(2)]
    first = apply_fork(plans[0])
    data = first.read_bytes()
    first.unlink()
    assert apply_fork(plans[1]).read_bytes() == data


def test_what_followed_an_open_call_follows_its_closing_record(tmp_path: Path) -> None:
    later = [qwen.user("Go on", "u2", "t1"), qwen.said("Done.", id="a2", parent="u2")]
    assert words(walked(repair(log(tmp_path, *killed(), *later), now=NOW))) == [
        *CLOSED, "u:Go on", "a:Done."
    ]  # fmt: skip


@pytest.mark.parametrize("n", range(1, 6))
def test_a_cut_at_any_message_leaves_a_way_to_the_root(tmp_path: Path, n: int) -> None:
    told = words(walked(fork(log(tmp_path, *qwen.healthy()), n, now=NOW)))
    whole = ["u:Fix it", "a:c1", "r:c1:done", "a:Done."]
    assert told == {1: whole[:1], 4: whole[:3], 5: whole}.get(
        n, [*whole[:2], f"r:c1:{INTERRUPTED}"]
    )


def test_a_record_with_a_late_result_is_parted(tmp_path: Path) -> None:
    late = qwen.result("c9", id="r2", parent="u2", parts=[
        qwen.answer("c2", "late"), {"text": "its note"}, qwen.answer("c9", "nobody"),
    ])  # fmt: skip
    lines = [*killed(), qwen.user("Go on", "u2", "t1"), late, qwen.said("Done.", id="a2",
             parent="r2")]  # fmt: skip
    made = repair(log(tmp_path, *lines), now=NOW)
    assert words(walked(made)) == [
        "u:Fix it", "a:c1+c2", f"r:c1:{INTERRUPTED}", "r:c2:late", "u:Go on", "a:Done.",
    ]  # fmt: skip
    moved = next(v for v in values(made) if "late" in json.dumps(v))
    assert moved["message"]["parts"][1] == {"text": "its note"}
    assert moved["toolCallResult"] is None  # it told of the other result
    assert load(made).orphan_results == ()


def test_a_torn_tail_is_left_out_and_the_log_ends_with_a_line_feed(tmp_path: Path) -> None:
    lines = qwen.healthy()
    made = repair(log(tmp_path, *lines[:-1], tail=lines[-1][:80]), now=NOW)
    assert words(walked(made)) == ["u:Fix it", "a:c1", "r:c1:done"]
    assert made.read_bytes().endswith(b"}\n")


def test_what_the_client_glued_onto_a_torn_line_is_found_again(tmp_path: Path) -> None:
    lines = qwen.healthy()
    glued = lines[2][:-80] + qwen.user("Go on", "u2", "t1")
    source = log(tmp_path, *lines[:2], glued, qwen.said("Done.", id="a9", parent="u2"))
    made = repair(source, force=True, now=NOW)
    assert words(walked(made)) == ["u:Fix it", "u:Go on", "a:Done."]


def test_a_lost_record_in_the_middle_is_bridged(tmp_path: Path) -> None:
    lines = qwen.healthy()
    lines[4] = b"\0" * 40 + b"\n"
    made = repair(log(tmp_path, *lines), force=True, now=NOW)
    assert words(walked(made)) == ["u:Fix it", "a:c1", f"r:c1:{INTERRUPTED}", "a:Done."]


def test_a_garbage_line_costs_nothing(tmp_path: Path) -> None:
    lines = qwen.healthy()
    made = repair(log(tmp_path, *lines[:3], b'{"broken\n', *lines[3:]), force=True, now=NOW)
    assert words(walked(made)) == ["u:Fix it", "a:c1", "r:c1:done", "a:Done."]


def test_what_was_rewound_stays_behind(tmp_path: Path) -> None:
    lines = [*killed(), qwen.system("rewind", "w", "u1"), qwen.user("Other way", "u2", "w")]
    made = repair(log(tmp_path, *lines), now=NOW)
    assert words(walked(made)) == ["u:Fix it", "u:Other way"]
    assert load(made).open_calls == ()


def test_records_outside_the_chain_stay_outside(tmp_path: Path) -> None:
    aside = qwen.system("session_artifact_snapshot", "x", "u1")
    made = repair(log(tmp_path, *killed(), aside), now=NOW)
    assert words(walked(made)) == CLOSED
    assert values(made)[-1]["parentUuid"] == "u1"


def test_what_the_agent_is_told_is_the_last_record(tmp_path: Path) -> None:
    plan = plan_fork(load(log(tmp_path, *killed())), 3, now=NOW)
    way = walked(apply_fork(plan, told="You were stopped."))
    assert words(way) == [*CLOSED, "u:You were stopped."]
    assert (way[-1]["cwd"], way[-1]["provenance"]) == ("/srv/app", "real_user")


def test_a_call_without_an_id_is_left_out_of_its_answer(tmp_path: Path) -> None:
    lines = [qwen.user("one", "u1"), qwen.said("I look", qwen.call(""), id="a1", parent="u1")]
    assert words(walked(repair(log(tmp_path, *lines), now=NOW))) == ["u:one", "a:I look"]


def test_a_session_is_composed_of_plain_messages_where_the_client_looks(tmp_path: Path) -> None:
    assert isinstance(ACTOR, Composer)
    environ = {"HOME": str(tmp_path)}
    id, path = ACTOR.home("/srv/my_app", NOW, environ, lambda _: False)
    assert path == str(tmp_path / ".qwen" / "projects" / "-srv-my-app" / "chats" / f"{id}.jsonl")
    assert ACTOR.home("/srv/my_app", NOW, environ, {path}.__contains__)[0] != id
    birth = Birth(id, "p", None, build.at(9), "Go on.", "/srv/my_app", "The greeting")
    talk = [Said("user", "Fix it", build.at(1)), Said("assistant", "Half done.")]
    lines = (line + b"\n" for line in ACTOR.compose(talk, birth))
    made = build.log(tmp_path / f"{id}.jsonl", lines)
    assert words(walked(made)) == ["u:Fix it", "a:Half done.", "u:Go on."]
    read = load(made)
    assert (read.format, read.id, read.title) == ("qwen", id, "The greeting")
    assert read.meta.workdir == "/srv/my_app"
