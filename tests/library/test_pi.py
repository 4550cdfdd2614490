"""pi's logs, versions 1 to 3: what was said, which branch counts, how the run stands."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import build
import pytest
from build import pi_call as call
from build import pi_entry as entry
from build import pi_head as head
from build import pi_message as message
from build import pi_result as result
from build import pi_said as said
from build import pi_user as user
from decoding import Decoding

from sessionlog.formats.base import COUNT, LOUD, TROUBLE, USER, decoded_bits
from sessionlog.formats.pi import Pi
from sessionlog.formats.table import recognise
from sessionlog.framing import split
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Event, Kind, Message, Origin, shown_type
from sessionlog.session import Session

CASES = os.environ.get("SESSIONLOG_CASES", "")
FORMAT = Pi()
READ = Decoding(FORMAT)
decoded = READ.decoded
cases = pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES names no folder of sample logs")


def session(folder: Path, *lines: bytes, tail: bytes = b"") -> Session:
    return load(build.log(folder / build.PI_FILE, lines, tail))


def only(data: bytes) -> Any:
    (record,) = decoded(data)
    return record.payload


def texts(read: Session) -> list[str]:
    return [m.text for m in read.messages]


def test_a_run_reads_as_its_conversation_and_its_ending(tmp_path: Path) -> None:
    read = session(tmp_path, *build.pi_healthy())
    assert [shown_type(m) for m in read.messages] == ["user", "call", "response", "assistant"]
    assert (read.status, read.ok, read.reason) == ("complete", True, "stop")
    assert (read.users, read.assistants, read.calls, read.open_calls) == (1, 2, 1, ())
    assert (read.id, read.title, read.meta.model) == (build.PI_ID, "Fix it", "claude-opus-4-5")
    assert (read.meta.workdir, read.meta.provider) == ("/srv/app", "anthropic")
    assert read.ending.evidence == "stopReason stop"


def test_a_row_of_a_listing_tells_the_same_from_head_and_tail(tmp_path: Path) -> None:
    middle = [user("x" * 9000, f"m{i}", f"m{i - 1}" if i else "a3") for i in range(9)]
    lines = build.pi_healthy()
    read = session(tmp_path, *lines[:-1], *middle, said("Done.", id="z", parent="m8"))
    row = glance(read.path)
    assert (row.format, row.agent, row.id) == ("pi", "pi", build.PI_ID)
    assert (row.title, row.model, row.workdir) == ("Fix it", "claude-opus-4-5", "/srv/app")
    assert (row.status, row.ok, row.reason) == (read.status, read.ok, read.reason)
    assert (row.stop, row.started, row.updated) == ("Done.", build.at(0), build.at(2))


def test_a_run_that_no_answer_came_to_names_its_model_all_the_same(tmp_path: Path) -> None:
    broke = said(id="a2", parent="a1", stop="error", errorMessage="529 Overloaded")
    assert glance(session(tmp_path, head(), user("Go", "a1"), broke).path).model == (
        "claude-opus-4-5"
    )


def test_the_name_that_a_person_gave_is_the_title(tmp_path: Path) -> None:
    named = entry("session_info", "a5", "a4", name="Old name")
    again = entry("session_info", "a6", "a5", name="The greeting")
    assert session(tmp_path, *build.pi_healthy(), named, again).title == "The greeting"


def test_a_copy_names_the_log_that_it_was_made_from(tmp_path: Path) -> None:
    parent = f"/home/x/.pi/agent/sessions/--srv-app--/2026-11-27T21-00-00-000Z_{build.PI_ID}.jsonl"
    for field in ("parentSession", "branchedFrom"):
        read = session(tmp_path, head("b", **{field: parent}), *build.pi_healthy()[1:])
        assert read.meta.forked_from == Origin(build.PI_ID)


def test_the_id_is_the_files_own_where_the_head_is_lost(tmp_path: Path) -> None:
    read = session(tmp_path, head()[:-40] + b"\n", *build.pi_healthy()[1:])
    assert (read.format, read.id, len(read.damages)) == ("pi", build.PI_ID, 1)


@pytest.mark.parametrize("version", [None, 2, 3])
def test_every_version_and_a_torn_head_are_recognised(version: int | None) -> None:
    form = recognise("x", "", head(version=version))
    assert form is not None
    assert form.name == "pi"
    torn = recognise("x", "", head(version=version)[:-9])
    assert torn is not None
    assert torn.name == "pi"
    other = recognise("x", "", head(format="agentsession/0.9"))
    assert other is not None
    assert other.name == "agentsession"


# -- what was said ----------------------------------------------------------------------------


def test_an_answers_blocks_are_messages_of_one_answer() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "abc"}
    records = decoded(
        said(thinking, "Look:", call("c1", "ls -l"), id="a", parent="", stop="toolUse")
    )
    told = [r.payload for r in records if isinstance(r.payload, Message)]
    assert [shown_type(m) for m in told] == ["reasoning", "assistant", "call"]
    assert {m.answer for m in told} == {"a"}
    assert all(m.extra["usage"]["totalTokens"] == 12 for m in told)
    asked = told[2].activity
    assert asked is not None
    assert (asked.id, asked.name, json.loads(asked.arguments)) == (
        "c1",
        "bash",
        {"command": "ls -l"},
    )


def test_sealed_thinking_and_empty_answers_are_quiet() -> None:
    sealed = {"type": "thinking", "thinking": "", "redacted": True}
    assert [r.quiet for r in decoded(said(sealed, "Yes."))] == [True, False]
    assert [r.quiet for r in decoded(said())] == [True]


def test_results_tell_failure_pictures_and_details() -> None:
    content = [
        {"type": "text", "text": "a"},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    ]
    told = only(message("toolResult", "r", "q", toolCallId="c", toolName="read", content=content,
                        details={"diff": "+1 x"}, isError=True))  # fmt: skip
    assert told.activity.failure == "a"
    assert told.activity.name == "read"
    assert [(i.media_type, i.size) for i in told.images] == [("image/png", 3)]
    assert told.extra["details"] == {"diff": "+1 x"}
    assert only(result("c")).activity.failure is None
    assert only(result("c", "", failed=True)).activity.failure == "failed without a word"


def test_a_prompt_may_be_a_bare_text() -> None:
    assert only(message("user", content="Hi")) == Message("user", "Hi", extra={})


def test_a_broken_answer_is_shown_and_never_handed_over(tmp_path: Path) -> None:
    # the client drops answers that ended in an error or an abort when it builds a request
    read = session(
        tmp_path,
        *build.pi_chain(
            lambda id, up: user("Go", id, up),
            lambda id, up: said("Half", call("c1"), id=id, parent=up, stop="aborted",
                                errorMessage="Request was aborted."),
            lambda id, up: user("Again", id, up),
            lambda id, up: said("Whole", id=id, parent=up),
        ),
    )  # fmt: skip
    assert texts(read) == ["Go", "Again", "Whole"]
    assert [step.message.text for step in read.history] == ["Go", "Half", "", "Again", "Whole"]
    assert read.open_calls == ()
    assert not read.in_flight
    (told,) = (e for e in read.events if e.ends)
    assert (told.kind, told.ok, told.text) == ("aborted", False, "Request was aborted.")


@pytest.mark.parametrize(
    ("stop", "more", "ok", "text"),
    [
        ("error", {"errorMessage": "529 overloaded"}, False, "529 overloaded"),
        ("aborted", {}, False, "aborted"),
        ("length", {}, False, "the answer was cut at its longest"),
        ("stop", {}, True, "Ho"),
    ],
)
def test_the_last_answers_stop_reason_ends_the_run(
    tmp_path: Path, stop: str, more: dict[str, str], ok: bool, text: str
) -> None:
    read = session(tmp_path, head(), user("Hi"), said("Ho", stop=stop, **more))
    assert (read.status, read.reason, read.ok) == ("complete", stop, ok)
    assert read.ending.text == text == glance(read.path).stop


def test_an_error_that_a_later_try_overcame_ends_nothing(tmp_path: Path) -> None:
    read = session(tmp_path, head(), user("Hi"), said(stop="error"), said("Ho"))
    assert (read.status, read.ok) == ("complete", True)
    read = session(tmp_path, head(), user("Hi"), said(stop="error"), user("Hi?"))
    assert (read.status, read.ending.text) == ("unfinished", "while the model answered")


def test_what_is_done_while_the_model_is_idle_changes_no_ending(tmp_path: Path) -> None:
    idle = [
        entry("label", "a5", "a4", targetId="a2", label="here"),
        entry("model_change", "a6", "a5", provider="p", modelId="m"),
        message("bashExecution", "a7", "a6", command="ls", output="x\n", exitCode=0),
        entry("compaction", "a8", "a7", summary="S", firstKeptEntryId="a4", tokensBefore=9),
    ]
    read = session(tmp_path, *build.pi_healthy(), *idle)
    assert (read.status, read.ok, read.ending.text) == ("complete", True, "Done.")
    back = entry("branch_summary", "a9", "a1", fromId="a1", summary="Tried it")
    read = session(tmp_path, *build.pi_healthy(), *idle, back)
    assert (read.status, read.ok) == ("complete", None)


def test_calls_without_results_are_in_flight_until_somebody_goes_on(tmp_path: Path) -> None:
    asked = said(call("c1"), call("c2", "sleep 60"), stop="toolUse")
    read = session(tmp_path, head(), user("Go"), asked, result("c1"))
    assert read.status == "unfinished"
    assert [(c.call_id, c.n) for c in read.in_flight] == [("c2", 3)]
    assert glance(read.path).stop == "in bash: sleep 60"
    read = session(tmp_path, head(), user("Go"), asked, user("Go on"), said("Done"))
    assert [c.call_id for c in read.open_calls] == ["c1", "c2"]
    assert read.status == "complete"
    assert not read.in_flight


def test_a_command_by_hand_is_no_prompt_and_may_be_kept_from_the_model(tmp_path: Path) -> None:
    told = message("bashExecution", command="make", output="no\n", exitCode=2, cancelled=False)
    hidden = message("bashExecution", command="env", output="", excludeFromContext=True)
    read = session(tmp_path, head(), user("Hi"), told, hidden, said("Ho"))
    assert texts(read) == ["Hi", "! make\nno\nexit code 2", "Ho"]
    assert read.users == 1
    assert len(read.history) == 4


@pytest.mark.parametrize("role", ["custom", "hookMessage"])
def test_what_an_extension_says_is_the_systems(role: str) -> None:
    body = {"customType": "memory", "content": "Remember", "display": False}
    (record,) = decoded(message(role, **body))
    told = only(message(role, **body))
    assert (told.type, told.text, record.quiet) == ("system", "Remember", True)
    entered = only(entry("custom_message", "a", None, **body))
    assert entered._replace(extra=told.extra) == told


@pytest.mark.parametrize(
    "kind",
    ["model_change", "thinking_level_change", "label", "session_info", "custom", "new_change"],
)
def test_bookkeeping_is_a_quiet_event(kind: str) -> None:
    (record,) = decoded(entry(kind, "a", "b", modelId="m"))
    assert isinstance(record.payload, Event)
    assert record.quiet
    assert (record.key, record.parent) == ("a", "b")


def test_what_is_not_known_is_kept_and_shown() -> None:
    for line in (entry("dream", "a", "b", text="x"), entry("message", "a", "b", message=3)):
        (record,) = decoded(line)
        assert record.kind is Kind.OTHER
        assert not record.quiet
        assert record.key == "a"
    assert only(message("critic", content="No.")).type == "critic"
    block = {"type": "hologram", "text": "H"}
    assert [r.payload.type for r in decoded(said(block)) if isinstance(r.payload, Message)] == [
        "hologram"
    ]


# -- the fast ways ----------------------------------------------------------------------------


THOUGHT = {"type": "thinking", "thinking": ""}
ANSWERS = [
    said(*blocks, id="a", parent="b", stop=stop, **more)
    for blocks in (
        (), ("",), (" x",), ("x",), ("\\x",), ("x", "y"), (call("c"),), ("x", call("c")),
        ("x", call("c"), "y"), ("x", call("c"), call("d")), (call("c"), "x"),
        (THOUGHT,), ({**THOUGHT, "thinking": 'Hm "x"'}, "x"),
        ({**THOUGHT, "thinkingSignature": "s"}, "x", call("c")),
        ({**call("c"), "arguments": {"content": [{"type": "text", "text": "x"}]}},),
        ({"type": "hologram", "text": "x"},),
        ({"type": "text", "text": "x", "textSignature": "s"},),
    )
    for stop in ("stop", "error", "aborted")
    for more in ({}, {"errorMessage": "no"})
]  # fmt: skip


def test_the_fast_count_is_that_of_decoding() -> None:
    lines = [*build.pi_healthy(), *build.pi_tree(1), *build.pi_tree(2),
             *ANSWERS, result("c", failed=True), result("c", "exit", details={"a": 1}),
             entry("label", "a", "b"), entry("dream"), b"\0{}\n", b"{}\n"]  # fmt: skip
    for data in lines:
        assert FORMAT.classify(data.rstrip(b"\n")) == decoded_bits(FORMAT, data.rstrip(b"\n")), data
    assert FORMAT.classify(result("c", id="a", parent="b").rstrip()) == LOUD | 1
    assert FORMAT.classify(result("c", failed=True).rstrip()) & TROUBLE
    assert FORMAT.classify(user("x").rstrip()) == USER | LOUD | 1


def test_links_are_read_wherever_they_stand() -> None:
    assert FORMAT.link(user("x", "a", "b").rstrip()) == ("a", "b")
    assert FORMAT.link(user("x", "a", None).rstrip()) == ("a", "")
    late = entry(
        "custom", customType="x", data={"id": "no", "parentId": "no"}, id="a", parentId="b"
    )
    assert FORMAT.link(late.rstrip()) == ("a", "b")
    assert FORMAT.link(user("x").rstrip()) is None
    assert FORMAT.link(b"{broken}") is None


def test_every_prefix_of_a_log_loads_and_lists_alike(tmp_path: Path) -> None:
    whole = b"".join(build.pi_healthy())
    for cut in range(len(head()), len(whole), 7):
        read = session(tmp_path, whole[:cut])
        row = glance(read.path)
        assert (row.status, row.reason, row.ok) == (read.status, read.reason, read.ok)
        kept = sum(r.span.length for r in read.records if not r.part) + sum(
            d.span.length for d in read.damages
        )
        assert kept == cut - whole[:cut].count(b"\n"), cut


# -- sample logs ------------------------------------------------------------------------------

MADE = {
    "1-normal": ("complete", True, 1, 4, 3, 0, 0),
    "2-kill": ("unfinished", None, 1, 2, 3, 2, 0),
    "3-int": ("unfinished", None, 1, 2, 2, 1, 0),
    "4-resume-killed": ("complete", True, 2, 4, 4, 2, 0),
    "7a-cut-last-line/before.jsonl": ("truncated", None, 1, 1, 1, 0, 1),
    # the prompt that was written onto the torn line is shown, so there are two
    "7a-cut-last-line/after.jsonl": ("complete", True, 2, 3, 2, 0, 1),
    "8-own-fork": ("complete", True, 3, 6, 5, 2, 0),
}


@cases
@pytest.mark.parametrize("name", MADE)
def test_logs_of_the_real_client_read_as_they_are_described(name: str) -> None:
    path = Path(CASES, "made", "pi", name)
    read = load(path if path.is_file() else next(path.glob("*.jsonl")))
    counts = (read.users, read.assistants, read.calls, len(read.open_calls), len(read.damages))
    assert (read.status, read.ok, *counts) == MADE[name]
    assert read.orphan_results == ()


@cases
def test_labelled_runs_read_as_they_are_labelled() -> None:
    folder = Path(CASES, "why")
    labels = json.loads((folder / "labels.json").read_bytes())["logs"]
    ours = [label for label in labels if label["format"] == "pi"]
    assert ours
    for label in ours:
        read = load(folder / label["file"])
        assert (read.status, read.ok) == (label["status"], label["ok"]), label["file"]
        assert len(read.open_calls) == label["open_calls"]
        assert len(read.damages) == label["damages"]
        assert [c.call_id for c in read.in_flight] == [c["call_id"] for c in label["in_flight"]]


@cases
def test_every_line_of_the_sample_logs_is_accounted_for() -> None:
    paths = [path for path in Path(CASES).rglob("*.jsonl") if "pi" in path.parts]
    assert paths
    for path in paths:
        read, row = load(path), glance(str(path))
        assert (row.id, row.status, row.ok, row.title) == (
            read.id,
            read.status,
            read.ok,
            read.title,
        )
        assert not [r for r in read.records if r.kind is Kind.OTHER], path
        offsets = {r.span.offset for r in read.records} | {d.span.offset for d in read.damages}
        for line in split(path.read_bytes()):
            assert line.offset in offsets, (path, line.number)
            bits = decoded_bits(FORMAT, line.data)
            if bits & COUNT != COUNT and line.ended:
                assert FORMAT.classify(line.data) == bits, (path, line.number)
