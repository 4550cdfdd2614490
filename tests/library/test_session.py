"""The fold: numbers, pairs, what is in context, and the status by evidence."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

import build
import pytest

import sessionlog
from sessionlog.conversation import INTERRUPTED
from sessionlog.formats.native import Native
from sessionlog.framing import split
from sessionlog.records import Damage, Record, Status
from sessionlog.session import Session, fold
from sessionlog.source import decode


def folded(lines: Iterable[bytes], tail: bytes = b"", alive: str | None = None) -> Session:
    records: list[Record] = []
    damages: list[Damage] = []
    for line in split(b"".join(lines) + tail):
        found, lost = decode(Native(), line)
        records += found
        damages += lost
    return fold(records, damages, form=Native(), path="/x/20261127-220000.jsonl", alive=alive)


def test_messages_are_numbered_through_the_whole_log_and_only_messages_are() -> None:
    session = folded(
        [
            build.meta(),
            build.message("user", "a"),
            build.event("usage"),
            build.message("bot", "b"),
            build.reset(),
            build.message("checkpoint", "c"),
            build.result(),
        ]
    )
    assert [(s.n, s.message.text) for s in session.history] == [(1, "a"), (2, "b"), (3, "c")]


def test_a_reset_empties_the_conversation_and_not_the_history() -> None:
    session = folded(
        [build.meta(), build.message("user", "old"), build.reset(), build.message("user", "new")]
    )
    assert [m.text for m in session.messages] == ["new"]
    assert [(s.message.text, s.in_context) for s in session.history] == [
        ("old", False),
        ("new", True),
    ]


def test_a_call_pairs_by_id_and_without_ids_by_name_and_arguments() -> None:
    session = folded(
        [
            build.request("a"),
            build.request("b"),
            build.response("b"),
            build.response("a"),
            build.request("", arguments="1"),
            build.request("", arguments="2"),
            build.response("", arguments="2"),
        ]
    )
    assert [s.pair for s in session.history] == [4, 3, 2, 1, None, 7, 6]
    assert [c.n for c in session.open_calls] == [5]


def test_a_trigger_never_pairs() -> None:
    trigger = {"kind": "trigger", "id": "t", "name": "shell", "arguments": "{}"}
    session = folded([build.message("activity", activity=trigger), build.response("t")])
    assert [o.call_id for o in session.orphan_results] == ["t"]
    assert not session.open_calls


def test_a_replayed_conversation_pairs_within_itself() -> None:
    session = folded([build.request("a"), build.reset(), build.request("a"), build.response("a")])
    assert [(c.n, c.call_id) for c in session.open_calls] == [(1, "a")]
    assert not session.orphan_results


@pytest.mark.parametrize(
    ("lines", "tail", "alive", "status"),
    [
        (build.healthy(), b"", None, Status.COMPLETE),
        (build.healthy(), b'{"kind":', None, Status.COMPLETE),
        (build.healthy(), b"", "locked by pid 1", Status.COMPLETE),
        (build.healthy()[:-1], b"", None, Status.UNFINISHED),
        (build.healthy()[:-1], b"", "locked by pid 1", Status.RUNNING),
        (build.healthy()[:-1], b'{"kind":', None, Status.TRUNCATED),
        (build.healthy()[:-1], b'{"kind":', "locked by pid 1", Status.RUNNING),
        ([*build.healthy(), build.reset()], b"", None, Status.COMPLETE),
        ([build.meta()], b"", None, Status.UNFINISHED),
    ],
)
def test_status_is_told_by_evidence(
    lines: list[bytes], tail: bytes, alive: str | None, status: Status
) -> None:
    assert folded(lines, tail, alive).status is status


def test_a_torn_tail_is_one_damage_and_costs_no_neighbour() -> None:
    session = folded(build.healthy(), b'{"kind":"mess')
    assert session.truncated
    assert len(session.damages) == 1
    assert len(session.history) == 4


def test_damage_in_the_middle_is_not_truncation() -> None:
    lines = build.healthy()
    session = folded([*lines[:2], b"garbage\n", *lines[2:]])
    assert not session.truncated
    assert [d.span.line for d in session.damages] == [3]


@pytest.mark.parametrize(
    ("reason", "code", "ok"),
    [
        ("settled", 0, True),
        ("stop", 0, True),
        ("failed", 1, False),
        ("iterations", 1, False),
        ("aborted", 1, False),
        ("error", 1, False),
    ],
)
def test_the_result_says_how_it_ended(reason: str, code: int, ok: bool) -> None:
    session = folded([build.meta(), build.result(reason, code)])
    assert (session.reason, session.ok) == (reason, ok)


def test_a_call_that_stands_only_in_events_is_in_flight() -> None:
    session = folded(
        [
            build.meta(),
            build.message("user", "go"),
            build.event("iteration", iteration=1),
            build.event("toolCallStart", tool="read", text="{}"),
            build.event("toolCallEnd", tool="read"),
            build.event("toolCallStart", tool="shell", text='{"command":"sleep 60"}'),
        ]
    )
    assert [(c.tool, c.arguments, c.call_id) for c in session.in_flight] == [
        ("shell", '{"command":"sleep 60"}', "")
    ]
    assert not session.open_calls
    assert session.ending.text == "in shell: sleep 60"


def test_an_open_call_is_not_in_flight_once_the_run_went_on() -> None:
    lines = [build.meta(), build.message("user", "go"), build.request("a")]
    assert [c.call_id for c in folded(lines).in_flight] == ["a"]
    assert not folded([*lines, build.message("user", "again")]).in_flight
    assert not folded([*lines, build.result("aborted", 1)]).in_flight
    assert [c.call_id for c in folded([*lines, build.message("user", "again")]).open_calls] == ["a"]


def test_the_conversation_has_every_call_closed_right_after_its_turn() -> None:
    session = folded(
        [
            build.message("user", "go"),
            build.request("a"),
            build.request("b"),
            build.response("b"),
            build.message("user", "again"),
        ]
    )
    turns = session.conversation()
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    results = {
        b["tool_use_id"]: b["content"] for b in turns[2]["content"] if b["type"] == "tool_result"
    }
    assert results == {"b": "ok", "a": INTERRUPTED}
    assert turns[2]["content"][-1] == {"type": "text", "text": "again"}


def test_unknown_kinds_fields_and_types_are_kept() -> None:
    session = folded(
        [
            build.line({"kind": "novel", "novel": {"x": 1}}),
            build.message("gesture", "waves", mood=7),
            build.line({"kind": "meta"}),
        ]
    )
    assert [r.kind for r in session.records] == ["other", "message", "other"]
    assert session.history[0].message.type == "gesture"
    assert session.history[0].message.extra == {"mood": 7}


def test_the_first_meta_is_the_sessions_and_the_last_result_wins() -> None:
    session = folded(
        [
            build.meta(task="first"),
            build.result("failed", 1),
            build.meta(task="second"),
            build.result("settled"),
        ]
    )
    assert session.meta.task == "first"
    assert session.reason == "settled"


def test_wrong_typed_fields_never_raise() -> None:
    rng = random.Random(3)
    values = [None, 1, 2**70, "x", [], {}, [1], {"a": None}, True, 1.5]
    for _ in range(500):
        kind = rng.choice(["meta", "message", "event", "result", "reset", "other", 5])
        fields = [
            "id",
            "type",
            "text",
            "kind",
            "activity",
            "images",
            "failure",
            "code",
            "tool",
            "forkedFrom",
            "arguments",
            "name",
            "iteration",
        ]
        body = {rng.choice(fields): rng.choice(values) for _ in range(4)}
        body["activity"] = {rng.choice(fields): rng.choice(values) for _ in range(3)}
        data = json.dumps({"kind": kind, "at": rng.choice(values), str(kind): body}).encode()
        session = folded([data + b"\n"])
        assert len(session.records) == 1
        assert Native().classify(data) >= 0


def test_the_raw_bytes_of_every_record_can_be_fetched(tmp_path: Path) -> None:
    lines = build.healthy()
    path = build.log(tmp_path / "a.jsonl", lines)
    assert [sessionlog.raw(path, r.span) + b"\n" for r in sessionlog.load(path).records] == lines
