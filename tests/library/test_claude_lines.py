"""Lines of Claude Code: known by what stands in them, whatever stands in them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import build
import pytest
from build import claude_line, claude_note, claude_system
from build import claude_result as result
from build import claude_said as said
from build import claude_user as user
from claude_reads import CASES, ENDINGS, FORMAT, GO, IMAGE, attachment, message, titles

from sessionlog import codec
from sessionlog.formats.base import LOUD, decoded_bits
from sessionlog.formats.claude_subagents import agent_log, subagents_of
from sessionlog.formats.table import recognise
from sessionlog.framing import split
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Message, Span
from sessionlog.session import Session
from sessionlog.source import decode

# -- recognising ------------------------------------------------------------------------------


def test_a_log_is_known_by_what_stands_in_it() -> None:
    def named(*lines: bytes) -> str | None:
        form = recognise("x.jsonl", "/logs", b"".join(lines))
        return form.name if form else None

    assert named(*build.claude_healthy()) == "claude"
    assert named(claude_note("summary", summary="x", leafUuid="u")) == "claude"
    assert named(b"// a note\n", *GO) == "claude"
    assert named(user("Go")[:60]) == "claude"
    assert named(claude_line("user", message={"parts": [{"text": "Go"}]})) == "qwen"
    assert named(build.line({"type": "summary", "sessionId": "x"})) is None


# -- content never raises, and the fast way is the right way ----------------------------------

JUNK: tuple[Any, ...] = (
    None, True, -1, 2**70, 10**400, 1.5, "", "x", [], ["x"], [None], [[1]], {}, {"a": 1},
    {"type": []}, [{"type": {}, "text": 1}], [{"text": None}],
)  # fmt: skip


def mangled(value: Any, chance: random.Random) -> Any:
    """The value with junk in some of its places."""
    if chance.random() < 0.12:
        return chance.choice(JUNK)
    if isinstance(value, dict):
        return {key: mangled(item, chance) for key, item in value.items() if chance.random() > 0.04}
    if isinstance(value, list):
        return [mangled(item, chance) for item in value]
    return value


def samples() -> list[bytes]:
    thought = {"type": "thinking", "thinking": "Hm."}
    patch = {"structuredPatch": [{"lines": []}, {"lines": []}]}
    return [
        *build.claude_healthy(), *(line for case in ENDINGS.values() for line in case[0]),
        *titles(customTitle="a", agentName="b", aiTitle="c"), said(thought), said(thought, "Two"),
        said({"type": "thinking", "thinking": ""}), said(""), said("\n"), said("\u3000"),
        said("a", {"type": "tool_use", "id": "c", "name": "n", "input": {"a": [{}, {}]}}),
        result("c", [IMAGE, {"type": "text", "text": "x"}]), result("c", structured=patch),
        result("c", structured="Error: x"), result("c", 'a "is_error":true'), user([IMAGE, IMAGE]),
        result("c", failed=True, structured={"agentId": "a"}),
        claude_line("progress", data={"type": "agent_progress", "message": {"type": "user"}}),
        attachment("queued_command", prompt=[IMAGE]),
        attachment("hook_blocking_error", blockingError={}),
        claude_system("stop_hook_summary", hookErrors=["x"]),
        claude_note("cost-state", totalCostUSD=1),
        claude_system("api_error", error={"error": {"error": {"message": "x"}}}, retryInMs=1),
    ]  # fmt: skip


def test_fields_of_wrong_types_raise_nothing_and_lose_nothing() -> None:
    chance = random.Random(7)
    for line in samples():
        for _ in range(40):
            value = mangled(codec.loads(line), chance)
            if not isinstance(value, dict):
                continue
            records = FORMAT.decode(value, Span(1, 0, 1))
            assert records
            assert [record.part for record in records] == list(range(len(records)))
            FORMAT.ending(records)
            FORMAT.describe("x.jsonl", records, records)
            data = codec.dumps(value)
            assert FORMAT.classify(data) == decoded_bits(FORMAT, data), data


def test_a_line_is_classified_as_it_decodes() -> None:
    for line in samples():
        data = line.rstrip(b"\n")
        assert FORMAT.classify(data) == decoded_bits(FORMAT, data), data
        for broken in (data[:-9], data.replace(b":01Z", b":\0\0Z")):
            assert FORMAT.classify(broken) == decoded_bits(FORMAT, broken), broken


def test_text_in_a_line_does_not_make_it_another_line() -> None:
    fake = '","type":"progress","data":{"type":"bash_progress"}}'
    for data in (user(fake), said(fake), result("c", fake), claude_line("user", cwd=fake)):
        bits = decoded_bits(FORMAT, data.rstrip(b"\n"))
        assert FORMAT.classify(data.rstrip(b"\n")) == bits
        assert bits & LOUD


def test_marks_without_end_cost_one_look_each() -> None:
    text = "<system-reminder>x</system-reminder>" * 20_000
    assert message(user(text + "z")).type == "user"
    assert message(user(text)).type == "system"


# -- the sample logs --------------------------------------------------------------------------

cases = pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES names no folder of sample logs")

MADE = {
    "1-normal": (1, 4, 3, 0, 0, "complete", True),
    "2-kill": (1, 2, 3, 1, 0, "unfinished", None),
    "3-int": (2, 2, 2, 0, 0, "complete", False),
    "4-resume-killed": (2, 5, 4, 0, 0, "complete", True),
    "7a-cut-last-line/after.jsonl": (2, 5, 4, 0, 1, "complete", True),
    "7a-cut-last-line/before.jsonl": (1, 2, 3, 2, 1, "truncated", None),
    "8-own-fork": (3, 7, 5, 0, 0, "complete", True),
    "12-subagent": (1, 2, 1, 0, 0, "complete", True),
    "13-compact": (3, 5, 3, 0, 0, "complete", True),
}
"""users, assistants, calls, open calls, damages, status, ok: as the samples' own table says."""


def counts(read: Session) -> tuple[Any, ...]:
    return (read.users, read.assistants, read.calls, len(read.open_calls), len(read.damages),
            str(read.status), read.ok)  # fmt: skip


@cases
@pytest.mark.parametrize("name", MADE)
def test_the_clients_own_logs_give_the_right_reading(name: str) -> None:
    path = Path(CASES, "made", "claude", name)
    path = path if path.is_file() else next(path.glob("*.jsonl"))
    read = load(path)
    assert counts(read) == MADE[name]
    assert not read.orphan_results
    row = glance(str(path))
    assert (row.status, row.ok, row.reason, row.id) == (read.status, read.ok, read.reason, read.id)


@cases
def test_a_sample_subagents_log_is_found_and_reads_as_a_run() -> None:
    (main,) = Path(CASES, "made", "claude", "12-subagent").glob("*.jsonl")
    (path,) = subagents_of(str(main))
    assert counts(load(path)) == (1, 2, 1, 0, 0, "complete", True)
    ids = [r.payload.activity.extra.get("agent_id") for r in load(main).records
           if isinstance(r.payload, Message) and r.payload.activity]  # fmt: skip
    assert agent_log(str(main), next(filter(None, ids))) == path


@cases
def test_labelled_logs_give_the_right_reading() -> None:
    labels = json.loads(Path(CASES, "why", "labels.json").read_bytes())["logs"]
    mine = [label for label in labels if label["format"] == "claude"]
    assert mine
    for label in mine:
        read = load(Path(CASES, "why", label["file"]))
        assert (read.status, len(read.open_calls)) == (label["status"], label["open_calls"]), label
        assert read.ok in [label["ok"], *label.get("ok_accept", [])], label
        assert read.reason == label["reason"], label
        assert len(read.damages) == label["damages"], label
        flying = [(c["tool"], c["call_id"]) for c in label["in_flight"]]
        assert [(c.tool, c.call_id) for c in read.in_flight] == flying, label


@cases
def test_every_line_of_the_sample_logs_is_accounted_for_and_classified() -> None:
    paths = [path for path in Path(CASES).rglob("*.jsonl") if "claude" in path.parts]
    assert paths
    for path in paths:
        for line in split(path.read_bytes()):
            records, damages = decode(FORMAT, line)
            assert records or damages, (path, line.number)
            bits = decoded_bits(FORMAT, line.data)
            assert FORMAT.classify(line.data) == bits, (path, line.number)
