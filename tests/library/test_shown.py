"""The JSON objects of `list`, `show` and `check`: every field, its type, and what may be null."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import build
import pytest

from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Entry
from sessionlog.shown import json_line, of_check, of_entry, of_session, time_of

NONE = type(None)
LIST: dict[str, tuple[type, ...]] = {
    "id": (str,), "path": (str,), "format": (str,), "agent": (str,), "title": (str,),
    "task": (str,), "model": (str,), "workdir": (str,), "started": (str, NONE),
    "updated": (str, NONE), "status": (str, NONE), "reason": (str, NONE), "ok": (bool, NONE),
    "damage": (int, NONE), "resumed_from": (str, NONE), "forked_from": (dict, NONE),
    "bytes": (int,),
}  # fmt: skip
SHOW: dict[str, tuple[type, ...]] = {
    "kind": (str,), "n": (int, NONE), "type": (str,), "at": (str, NONE), "text": (str,),
    "tool": (str, NONE), "call_id": (str, NONE), "arguments": (str, NONE), "result": (object,),
    "ok": (bool, NONE), "pair": (int, NONE), "open": (bool,), "in_context": (bool,),
    "line": (int,), "offset": (int,), "length": (int,),
}  # fmt: skip
CHECK: dict[str, tuple[type, ...]] = {
    "id": (str,), "path": (str,), "format": (str,), "status": (str,), "reason": (str, NONE),
    "ok": (bool, NONE), "messages": (int,), "events": (int,), "users": (int,), "assistants": (int,),
    "calls": (int,), "open_calls": (list,), "orphan_results": (list,), "damages": (list,),
}  # fmt: skip
# Everything that a terminal obeys, hides or turns around, in 7 and 8 bits.
HOSTILE = (
    "\x1b]0;owned\x07\x1b[2J\x9b31m\x9d52;c;!\x9c\x7f\x00\x08\r\u202e\u2066\u200e\u061c\u200b"
    "\u200d\u2028\u2029\u2060\ufeff\u00ad\U000e0041[/bold]\ud83d"
)
UNSAFE = {chr(c) for c in (*range(0x20), *range(0x7F, 0xA0))} | {c for c in HOSTILE if c > "\x7f"}


def printed(value: dict[str, Any]) -> dict[str, Any]:
    """The object as a script reads it; the line itself has to be safe."""
    line = json_line(value)
    assert not UNSAFE & set(line), line
    found: dict[str, Any] = json.loads(line)
    assert found.pop("v") == 1
    return found


def checked(found: dict[str, Any], fields: dict[str, tuple[type, ...]]) -> dict[str, Any]:
    assert not fields.keys() - found.keys()
    for name, types in fields.items():
        assert isinstance(found[name], types), (name, found[name])
        assert not (isinstance(found[name], bool) and bool not in types and object not in types), (
            name
        )
    return found


def shown(path: Path) -> list[dict[str, Any]]:
    return [checked(printed(item), SHOW) for item in of_session(load(path))]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return build.log(
        tmp_path / "20261127-220000.jsonl",
        [
            build.meta(forkedFrom={"id": "parent", "at": 4}, tags=["a"]),
            build.message("instructions", "Be brief."),
            build.message("user", "old"),
            build.reset(),
            build.message("checkpoint", "what came before"),
            build.message("user", "go"),
            build.message("reasoning", "hm"),
            build.request("c1"),
            build.request("c2", "read", '{"path":"a"}'),
            build.response("c2", "read", '{"path":"a"}', failure="no such file"),
            build.response("c1", result={"lines": 2}),
            build.response("gone", "old"),
            build.request("c3"),
            b"junk\n",
            build.event("toolCallError", tool="read", text="no", iteration=2),
            build.line({"kind": "novel", "at": "yesterday", "novel": [1]}),
            build.message("bot", "Done."),
            build.message("gesture", "waves", mood=7),
            build.result("failed", 1, message="can't", failure={"status": 401}),
        ],
        b'{"kind":"ev',
    )


def test_list_has_every_field_of_the_contract(log: Path) -> None:
    found = checked(printed(of_entry(glance(str(log)))), LIST)
    assert found["forked_from"] == {"id": "parent", "at": 4}
    assert (found["status"], found["reason"], found["ok"]) == ("complete", "failed", False)
    assert (found["damage"], found["resumed_from"]) == (None, None)
    assert (found["bytes"], found["path"]) == (log.stat().st_size, str(log))


def test_what_is_no_log_has_every_field_too_and_a_reason(tmp_path: Path) -> None:
    for data in (b"", b"prose\n", b"\x1b[2J\n"):
        path = build.log(tmp_path / "no.jsonl", [data])
        found = checked(printed(of_entry(glance(str(path)))), LIST)
        assert (found["format"], found["status"], found["ok"]) == ("unknown", None, None)
        assert found["reason"]
    found = checked(printed(of_entry(glance(str(tmp_path / "gone.jsonl")))), LIST)
    assert found["status"] is None


def test_a_title_is_the_first_line_of_the_task() -> None:
    entry = Entry("a", "/a", "native", title="\n  Fix it \nand more", task="\n  Fix it \nand more")
    assert of_entry(entry)["title"] == "Fix it"
    assert of_entry(entry)["task"] == "\n  Fix it \nand more"


def test_show_gives_records_and_damage_in_the_order_of_the_file(log: Path) -> None:
    found = shown(log)
    assert [item["offset"] for item in found] == sorted(item["offset"] for item in found)
    assert [(item["kind"], item["type"], item["n"]) for item in found] == [
        ("meta", "meta", None), ("message", "system", 1), ("message", "user", 2),
        ("reset", "reset", None), ("message", "summary", 3), ("message", "user", 4),
        ("message", "reasoning", 5), ("message", "call", 6), ("message", "call", 7),
        ("message", "response", 8), ("message", "response", 9), ("message", "response", 10),
        ("message", "call", 11), ("damage", "damage", None), ("event", "toolCallError", None),
        ("other", "novel", None), ("message", "assistant", 12), ("message", "gesture", 13),
        ("result", "failed", None), ("damage", "damage", None),
    ]  # fmt: skip
    raw = log.read_bytes()
    for item in found:
        assert raw.count(b"\n", 0, item["offset"]) == item["line"] - 1


def test_show_tells_calls_responses_and_their_other_halves(log: Path) -> None:
    by_n = {item["n"]: item for item in shown(log)}
    call = by_n[6]
    assert (call["tool"], call["call_id"], call["arguments"]) == ("shell", "c1", '{"command":"ls"}')
    assert (call["pair"], call["open"], call["ok"], call["result"]) == (9, False, None, None)
    failed, answer, orphan, waiting = (by_n[n] for n in (8, 9, 10, 11))
    assert (failed["ok"], failed["result"], failed["pair"]) == (False, None, 7)
    assert "no such file" in failed["text"]
    assert (answer["ok"], answer["result"], answer["pair"]) == (True, {"lines": 2}, 6)
    assert (orphan["pair"], orphan["open"]) == (None, False)
    assert (waiting["pair"], waiting["open"]) == (None, True)


def test_show_marks_what_a_resume_would_hand_over(log: Path) -> None:
    assert [item["n"] for item in shown(log) if item["in_context"]] == list(range(3, 14))


def test_show_tells_damage_with_its_place_and_reason(log: Path) -> None:
    middle, torn = (item for item in shown(log) if item["kind"] == "damage")
    assert (middle["line"], middle["length"], middle["why"]) == (14, 4, "not JSON")
    assert middle["salvaged"] == 0
    assert (torn["line"], torn["length"], torn["why"]) == (20, 11, "torn last line")
    assert not {"why", "salvaged"} & shown(log)[0].keys()


def test_show_keeps_what_the_format_does_not_name(log: Path) -> None:
    found = {item["type"]: item for item in shown(log)}
    assert found["meta"]["extra"] == {"tags": ["a"]}
    assert found["gesture"]["extra"] == {"mood": 7}
    assert found["novel"]["data"] == {"kind": "novel", "at": "yesterday", "novel": [1]}
    assert found["novel"]["at"] is None  # no time: nothing that a script would trip over
    assert found["toolCallError"]["ok"] is False
    assert found["toolCallError"]["iteration"] == 2
    assert (found["failed"]["ok"], found["failed"]["text"]) == (False, "can't")
    assert found["failed"]["failure"] == {"status": 401}


def test_check_counts_and_names_what_needs_a_person(log: Path) -> None:
    found = checked(printed(of_check(load(log))), CHECK)
    assert found | {
        "messages": 13, "events": 1, "users": 2, "calls": 3, "status": "complete",
        "reason": "failed", "ok": False,
        "open_calls": [{"n": 11, "call_id": "c3", "tool": "shell"}],
        "orphan_results": [{"n": 10, "call_id": "gone"}],
    } == found  # fmt: skip
    assert [set(damage) for damage in found["damages"]] == [
        {"line", "offset", "length", "why", "salvaged"}
    ] * 2


def test_an_unfinished_log_has_no_reason_and_no_verdict(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [build.meta(), build.message("user", "go")])
    for found in (of_check(load(path)), of_entry(glance(str(path)))):
        assert (found["status"], found["reason"], found["ok"]) == ("unfinished", None, None)


def test_a_result_and_its_session_agree_on_the_verdict(tmp_path: Path) -> None:
    for reason, code in (("settled", 0), ("failed", 0), ("stop", 0), ("error", 1), ("novel", 0)):
        path = build.log(tmp_path / "a.jsonl", [build.meta(), build.result(reason, code)])
        assert shown(path)[-1]["ok"] is of_check(load(path))["ok"], reason


def test_no_byte_of_a_hostile_log_reaches_the_terminal(tmp_path: Path) -> None:
    call = {"kind": "request", "id": HOSTILE, "name": HOSTILE, "arguments": HOSTILE}
    path = build.log(
        tmp_path / "hostile.jsonl",
        [
            build.line({"kind": "meta", "at": HOSTILE, "meta": {"task": HOSTILE, "model": HOSTILE,
                        "workdir": HOSTILE, "resumedFrom": HOSTILE, HOSTILE: HOSTILE}}),
            build.message(HOSTILE, HOSTILE, 1, **{HOSTILE: HOSTILE}),
            build.message("activity", HOSTILE, activity=call),
            build.message("activity", HOSTILE, activity=call | {"kind": HOSTILE}),
            build.response(HOSTILE, HOSTILE, HOSTILE, failure=HOSTILE),
            build.response(HOSTILE, HOSTILE, "other", result={HOSTILE: [HOSTILE]}),
            build.event(HOSTILE, tool=HOSTILE, text=HOSTILE),
            build.line({"kind": HOSTILE, "at": HOSTILE, HOSTILE: HOSTILE}),
            HOSTILE.encode(errors="replace") + b"\xff\xfe\x80\n",
            build.result(HOSTILE, error=HOSTILE, message=HOSTILE),
        ],
    )  # fmt: skip
    items = shown(path)
    assert len(items) == 10
    assert items[1]["text"] == HOSTILE  # an escape is the same text: nothing is lost
    checked(printed(of_check(load(path))), CHECK)
    found = checked(printed(of_entry(glance(str(path)))), LIST)
    assert (found["reason"], found["started"]) == (HOSTILE, None)


def test_wrong_types_anywhere_keep_the_types_of_the_contract(tmp_path: Path) -> None:
    values: list[Any] = [None, 1, 2**70, 1.5, float("nan"), True, "x", [], {}, [1], {"a": None}]
    fields = ["id", "task", "type", "text", "kind", "name", "arguments", "failure", "reason",
              "code", "error", "tool", "iteration", "images", "resumedFrom",
              "forkedFrom"]  # fmt: skip
    lines = []
    for kind in ("meta", "message", "event", "result"):
        for value in values:
            body = dict.fromkeys(fields, value)
            lines.append(build.line({"kind": kind, "at": value, kind: body | {"activity": body}}))
    items = shown(build.log(tmp_path / "a.jsonl", lines))
    assert len(items) == len(lines)


def test_the_deepest_record_that_is_read_can_be_printed(tmp_path: Path) -> None:
    for inside in (b"1", b"1e999", b"%d" % 2**70):
        deep = b'{"kind":"novel","x":' + b"[" * 199 + inside + b"]" * 199 + b"}\n"
        [meta, item] = shown(build.log(tmp_path / "a.jsonl", [build.meta(), deep]))
        assert (meta["kind"], item["kind"]) == ("meta", "other")


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("2026-11-27T22:00:00.123456789Z", "2026-11-27T22:00:00.123456789Z"),
        ("2026-11-27T22:00:00+02:00", "2026-11-27T22:00:00+02:00"),
        ("2026-11-27 22:00:00", "2026-11-27T22:00:00Z"),
        ("2026-11-27T22:00:00", "2026-11-27T22:00:00Z"),
        ("", None), ("yesterday", None), ("2026-11-27T22:00:00Z\n", None), ("\x1b[2J", None),
    ],
)  # fmt: skip
def test_times_are_rfc_3339_with_an_offset_or_null(at: str, told: str | None) -> None:
    assert time_of(at) == told
