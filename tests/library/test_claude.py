"""Claude Code's logs: whose words stand where, how a run ended, nothing dropped."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import build
import pytest
from build import claude_call as call
from build import claude_error, claude_line, claude_note, claude_system
from build import claude_result as result
from build import claude_said as said
from build import claude_user as user

from sessionlog import codec
from sessionlog.formats.base import LOUD, decoded_bits
from sessionlog.formats.claude import Claude
from sessionlog.formats.claude_subagents import agent_log, subagents_of
from sessionlog.formats.table import recognise
from sessionlog.framing import split
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import (
    Activity,
    Event,
    Message,
    Origin,
    Other,
    Record,
    Reset,
    Span,
    shown_type,
)
from sessionlog.session import Session
from sessionlog.source import decode

CASES = os.environ.get("SESSIONLOG_CASES", "")
FORMAT = Claude()
REFUSED = "The user doesn't want to proceed with this tool use. STOP and wait."
INTERRUPTED = "[Request interrupted by user for tool use]"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}


FILE = build.CLAUDE_FILE


def session(folder: Path, *lines: bytes, tail: bytes = b"", name: str = FILE) -> Session:
    return load(build.log(folder / name, lines, tail))


def decoded(data: bytes) -> list[Record]:
    return FORMAT.decode(codec.loads(data), Span(1, 0, len(data)))


def one(data: bytes) -> Record:
    (record,) = decoded(data)
    return record


def message(data: bytes) -> Message:
    payload = one(data).payload
    assert isinstance(payload, Message)
    return payload


def event(data: bytes) -> Event:
    payload = one(data).payload
    assert isinstance(payload, Event)
    return payload


def activity(data: bytes) -> Activity:
    found = message(data).activity
    assert found is not None
    return found


def attachment(type: str, **more: Any) -> bytes:
    return claude_line("attachment", attachment={"type": type, **more})


def types(data: bytes) -> list[str]:
    return [shown_type(r.payload) for r in decoded(data) if isinstance(r.payload, Message)]


def test_a_run_reads_as_its_conversation_and_its_ending(tmp_path: Path) -> None:
    read = session(tmp_path, *build.claude_healthy())
    assert [shown_type(m) for m in read.messages] == ["user", "call", "response", "assistant"]
    assert (read.status, read.ok, read.reason) == ("complete", True, "end_turn")
    assert (read.users, read.assistants, read.calls, read.open_calls) == (1, 2, 1, ())
    assert (read.id, read.title, read.started) == (build.CLAUDE_ID, "Fix it", build.at(0))
    assert (read.meta.workdir, read.meta.model) == ("/srv/app", "claude-sonnet-4-5")
    assert read.meta.extra["gitBranch"] == "main"


def test_a_row_of_a_listing_tells_the_same_from_head_and_tail(tmp_path: Path) -> None:
    middle = [user(f"more {n}" * 9000, n) for n in range(10, 200)]
    lines = [*build.claude_healthy(), *middle, said("Over.", seconds=300)]
    path = build.log(tmp_path / FILE, lines)
    row, read = glance(str(path)), load(path)
    assert (row.format, row.agent, row.id) == ("claude", "claude", read.id)
    assert (row.title, row.model, row.workdir) == (read.title, read.meta.model, read.meta.workdir)
    assert (row.status, row.ok, row.reason, row.stop) == ("complete", True, None, "Over.")
    assert (row.started, row.updated) == (read.started, build.at(300))


# -- messages ---------------------------------------------------------------------------------


def test_blocks_of_one_answer_on_many_lines_are_one_answer(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    lines = (user("Go"), said(thought), call("c1"), result("c1"), said("So."))
    read = session(tmp_path, *lines, said("B", id="msg_2"))
    shown = [shown_type(m) for m in read.messages]
    assert shown == ["user", "reasoning", "call", "response", "assistant", "assistant"]
    assert read.assistants == 2


def test_several_blocks_on_a_line_are_as_many_messages() -> None:
    data = said({"type": "thinking", "thinking": "Hm."}, "So.", codec.loads(call("c"))["message"]
                ["content"][0])  # fmt: skip
    assert types(data) == ["reasoning", "assistant", "call"]
    assert [r.part for r in decoded(data)] == [0, 1, 2]
    assert {r.key for r in decoded(data)} == {"u2"}


def test_answers_without_an_id_are_told_apart(tmp_path: Path) -> None:
    answers = [said("a", id="", seconds=2), said("b", id="", seconds=3)]
    assert session(tmp_path, user("Go"), *answers).assistants == 2


def test_words_before_and_behind_a_result_stay_in_their_order() -> None:
    block = codec.loads(result("c"))["message"]["content"][0]
    data = user([{"type": "text", "text": "a"}, block, {"type": "text", "text": "b"}])
    read = [r.payload for r in decoded(data) if isinstance(r.payload, Message)]
    assert [m.text for m in read] == ["a", "done", "b"]
    assert types(data) == ["user", "response", "user"]


def test_thinking_of_which_only_the_signature_is_kept_is_quiet() -> None:
    assert one(said({"type": "thinking", "thinking": "", "signature": "x"})).quiet
    assert one(said({"type": "redacted_thinking", "data": "x"})).quiet
    assert not one(said({"type": "thinking", "thinking": "Hm."})).quiet


def test_a_call_keeps_its_name_its_id_and_its_arguments() -> None:
    asked = activity(call("c1", "make test"))
    assert (asked.kind, asked.id, asked.name) == ("request", "c1", "Bash")
    assert json.loads(asked.arguments) == {"command": "make test"}


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        (result("c", "ok"), None),
        (result("c", "no", failed=True), "no"),
        (result("c", "no", structured="Error: no"), "no"),
        (result("c", "Error: as the tool's words"), None),
        (result("c", REFUSED, structured="User rejected tool use"), REFUSED),
        (result("c", "", failed=True, structured="Error: gone"), "Error: gone"),
        (result("c", None, failed=True), "failed without a word"),
    ],
)
def test_a_result_is_a_failure_when_the_client_says_so(line: bytes, failure: str | None) -> None:
    half = activity(line)
    assert (half.kind, half.id, half.failure) == ("response", "c", failure)
    assert (half.result is None) == (failure is not None)


def test_a_result_in_parts_reads_as_text_with_pictures() -> None:
    parts = [{"type": "text", "text": "a"}, IMAGE, {"type": "text", "text": "b"}, {"type": "new"}]
    read = message(result("c", parts))
    assert read.text == 'a\nb\n{"type":"new"}'
    assert [(i.media_type, i.source, i.size) for i in read.images] == [("image/png", "inline", 3)]


def test_a_results_structure_is_kept_without_the_files_in_it() -> None:
    patch = [{"oldStart": 1, "lines": ["-a", "+b"]}]
    kept = {"filePath": "/a", "structuredPatch": patch, "isImage": False}
    whole = {**kept, "originalFile": "x" * 5000, "content": [{"text": "x"}]}
    assert activity(result("c", structured=whole)).extra["toolUseResult"] == kept


def test_a_prompt_with_pictures_is_one_message() -> None:
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf",
                                          "data": "AAA="}}  # fmt: skip
    linked = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    read = message(user([IMAGE, {"type": "text", "text": "What is this?"}, pdf, linked]))
    assert (read.type, read.text) == ("user", "What is this?")
    assert [i.media_type for i in read.images] == ["image/png", "application/pdf", ""]
    assert read.images[2].source == "url"


def test_blocks_that_are_not_known_are_kept_under_their_type() -> None:
    read = message(said({"type": "brand_new", "body": [1]}))
    assert (read.type, json.loads(read.text)["body"]) == ("brand_new", [1])
    assert types(said({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
                      {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}),
                 ) == ["call", "response"]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "type", "words"),
    [
        ("Fix <b>it</b>", "user", "Fix <b>it</b>"),
        (INTERRUPTED, "user", INTERRUPTED),
        ("<command-message>review runs…</command-message>\n<command-name>/review</command-name>"
         "\n<command-args>the parser</command-args>", "user", "/review the parser"),
        ("<command-name>/init</command-name>\n<command-args></command-args>", "user", "/init"),
        ("<bash-input>git fetch</bash-input>", "system", "! git fetch"),
        ("<bash-stdout>a <i>b</i></bash-stdout><bash-stderr>c</bash-stderr>", "system",
         "a <i>b</i>c"),
        ("<local-command-stdout>Set model</local-command-stdout>", "system", "Set model"),
        ("<system-reminder>Mind.</system-reminder>", "system", "Mind."),
        ("<system-reminder>Mind.</system-reminder>\nFix it", "user",
         "<system-reminder>Mind.</system-reminder>\nFix it"),
        ("<system-reminder>Mind." * 3, "user", "<system-reminder>Mind." * 3),
        ("<task-notification><status>done</status></task-notification>\nRead /tmp/x", "system",
         "done\nRead /tmp/x"),
        ("<ide_opened_file>a.py</ide_opened_file>", "system", "a.py"),
    ],
)  # fmt: skip
def test_whose_words_stand_under_the_users_role(text: str, type: str, words: str) -> None:
    for data in (user(text), user([{"type": "text", "text": text}])):
        read = message(data)
        assert (read.type, read.text) == (type, words)


def test_what_the_client_puts_in_a_persons_mouth_is_not_theirs() -> None:
    assert message(user("A skill's text", isMeta=True)).type == "system"
    caveat = one(user("<local-command-caveat>Mind.</local-command-caveat>", isMeta=True))
    assert caveat.quiet
    assert message(user("Summary: ...", isCompactSummary=True)).type == "summary"
    both = user([{"type": "text", "text": "<ide_selection>x</ide_selection>"},
                 {"type": "text", "text": "Why?"}])  # fmt: skip
    assert types(both) == ["system", "user"]


def test_a_prompt_that_was_typed_while_the_model_worked_is_a_prompt() -> None:
    typed = message(attachment("queued_command", prompt="And the docs"))
    assert (typed.type, typed.text) == ("user", "And the docs")


def test_empty_content_still_gives_a_record() -> None:
    for nothing in (user([]), user(""), user(None)):
        assert one(nothing).quiet
    assert one(said()).quiet


# -- events -----------------------------------------------------------------------------------


def test_an_error_of_the_service_is_an_event_in_its_own_words() -> None:
    line = claude_error("Prompt is too long", "invalid_request")
    told = event(line)
    assert (told.kind, told.text) == ("api_error", "Prompt is too long")
    assert (told.ok, told.ends, one(line).quiet) == (False, True, False)
    assert told.extra["error"] == "invalid_request"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ({"message": "529 Overloaded", "status": 529}, "529 Overloaded"),
        ({"formatted": "Nope", "message": "x"}, "Nope"),
        ({"status": 529, "error": {"type": "error", "error": {"message": "Busy"}}}, "Busy"),
        ({"cause": {"code": "ECONNRESET"}}, "ECONNRESET"),
        ({"status": 503}, "503"),
        ({}, "API error"),
        (None, "API error"),
    ],
)
def test_a_retry_tells_why_and_which(error: Any, words: str) -> None:
    line = claude_system("api_error", error=error, retryAttempt=2, maxRetries=10, retryInMs=1044.5)
    told = event(line)
    assert (told.kind, told.ok, one(line).quiet) == ("retry", False, False)
    assert told.text == f"{words} (attempt 2 of 10, next in 1.0s)"


def test_bookkeeping_is_quiet_and_says_a_little() -> None:
    notes = {
        claude_note("queue-operation", operation="enqueue", content="Next"): "enqueue Next",
        claude_note("last-prompt", lastPrompt="Fix it", leafUuid="u"): "Fix it",
        claude_note("tools-used", tools=["Bash", "Read"]): "Bash, Read",
        claude_note("cost-state", totalCostUSD=1.255): "$1.25",
        claude_note("ai-title", aiTitle="A title"): "A title",
        claude_system("turn_duration", durationMs=65699): "1m06s",
        claude_line("progress", data={"type": "bash_progress", "output": "3 of 9"}): "3 of 9",
        attachment("file", filename="a.py"): "a.py",
    }
    for line, text in notes.items():
        assert (one(line).quiet, event(line).text) == (True, text)


def test_a_hook_that_failed_is_shown() -> None:
    for line in (
        attachment("hook_non_blocking_error", hookName="Stop", stderr="no such file"),
        claude_system("stop_hook_summary", hookErrors=["Stop: no such file"]),
    ):
        told = event(line)
        assert (told.text, told.ok, one(line).quiet) == ("Stop: no such file", False, False)
    assert one(claude_system("stop_hook_summary", hookErrors=[])).quiet


def test_progress_names_its_call() -> None:
    line = claude_line("progress", data={"type": "bash_progress"}, parentToolUseID="c1")
    assert (event(line).kind, event(line).call_id) == ("bash_progress", "c1")


def test_what_is_not_known_is_kept_as_it_stands() -> None:
    bare = build.line({"a": 1})
    for line in (claude_note("brand-new", a=1), claude_line("user", message=None), bare):
        payload = one(line).payload
        assert isinstance(payload, Other)
        assert payload.data
        assert not one(line).quiet
    told = one(claude_system("brand_new", content="News"))
    assert (told.quiet, getattr(told.payload, "text", "")) == (False, "News")


# -- compaction -------------------------------------------------------------------------------


def compaction(trigger: str, seconds: float = 6, **more: Any) -> list[bytes]:
    about = {"trigger": trigger, "preTokens": 9, **more}
    return [
        claude_system("compact_boundary", seconds, compactMetadata=about, content="Compacted"),
        user("This session is being continued ...", seconds + 1, isCompactSummary=True,
             isVisibleInTranscriptOnly=True),
    ]  # fmt: skip


def test_a_compaction_empties_the_context_but_not_the_history(tmp_path: Path) -> None:
    lines = [*build.claude_healthy(), *compaction("auto"), said("On.", seconds=9)]
    read = session(tmp_path, *lines)
    assert [shown_type(m) for m in read.messages] == ["summary", "assistant"]
    assert len(read.history) == 6
    resets = [r.payload for r in read.records if isinstance(r.payload, Reset)]
    assert resets == [Reset("auto compaction")]


def test_a_preserved_segment_stays_in_the_context(tmp_path: Path) -> None:
    kept = {"headUuid": "u3", "tailUuid": "u5", "anchorUuid": "u7"}
    lines = [*build.claude_healthy(), *compaction("manual", preservedSegment=kept)]
    shown = [shown_type(m) for m in session(tmp_path, *lines).messages]
    assert shown == ["summary", "response", "assistant"]  # as the client sends them


def test_a_subagents_compaction_is_not_the_main_runs(tmp_path: Path) -> None:
    boundary = claude_system("compact_boundary", isSidechain=True, compactMetadata={})
    read = session(tmp_path, *build.claude_healthy(), boundary)
    assert len(read.messages) == 4


# -- what a list row shows --------------------------------------------------------------------


def titles(**names: str) -> list[bytes]:
    fields = {"custom-title": "customTitle", "agent-name": "agentName", "ai-title": "aiTitle"}
    return [claude_note(kind, **{field: names[field]}) for kind, field in fields.items()
            if field in names]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        (titles(customTitle="mine", agentName="its", aiTitle="made"), "mine"),
        (titles(agentName="its", aiTitle="made"), "its"),
        ([*titles(aiTitle="old"), *titles(aiTitle="new")], "new"),
        ([claude_note("summary", summary="of this", leafUuid="u5")], "of this"),
        ([claude_note("summary", summary="of another", leafUuid="u99")], "Fix it"),
        ([], "Fix it"),
    ],
)
def test_the_strongest_title_wins_and_the_last_of_its_kind(
    tmp_path: Path, lines: list[bytes], title: str
) -> None:
    run = build.claude_healthy()
    for name, log in (("a", [*lines, *run]), ("b", [*run, *lines])):
        path = build.log(tmp_path / name / FILE, log)
        assert load(path).title == title
        assert glance(str(path)).title == title


def test_the_first_prompt_is_found_behind_hundreds_of_lines(tmp_path: Path) -> None:
    notes = [claude_note("file-history-snapshot", snapshot={"n": n}) for n in range(900)]
    path = build.log(tmp_path / FILE, [*notes, *build.claude_healthy()])
    assert glance(str(path)).title == "Fix it"


def test_a_command_without_words_is_a_title_only_where_there_is_no_other(tmp_path: Path) -> None:
    clear = user("<command-name>/clear</command-name>", 0)
    assert session(tmp_path, clear, *build.claude_healthy()).title == "Fix it"
    assert session(tmp_path, clear, said("Done.")).title == "/clear"
    review = user("<command-name>/review</command-name><command-args>it</command-args>", 0)
    assert session(tmp_path, review, *build.claude_healthy()).title == "/review it"


def test_neither_a_side_chain_nor_an_interrupt_is_the_title(tmp_path: Path) -> None:
    side = user("Count", 0, isSidechain=True)
    assert session(tmp_path, side, user(INTERRUPTED, 0), *build.claude_healthy()).title == "Fix it"
    assert session(tmp_path, side).title == "Count"


def test_the_file_name_is_the_identity_where_it_is_an_id(tmp_path: Path) -> None:
    other = build.CLAUDE_ID.replace("5c22", "0000")
    assert session(tmp_path, *build.claude_healthy(), name=f"{other}.jsonl").id == other
    assert session(tmp_path, *build.claude_healthy(), name="copy.jsonl").id == build.CLAUDE_ID
    assert session(tmp_path, *build.claude_healthy(), name="agent-a1.jsonl").id == "agent-a1"


def test_a_fork_names_its_origin(tmp_path: Path) -> None:
    line = user("Fix it", forkedFrom={"sessionId": "parent", "messageUuid": "u1"})
    assert session(tmp_path, line).meta.forked_from == Origin("parent")


def test_the_clients_own_answers_name_no_model(tmp_path: Path) -> None:
    filler = said("No response requested.", id="x", model="<synthetic>", isApiErrorMessage=False)
    read = session(tmp_path, user("Go"), filler, said("Hi", model="claude-opus-4-5", id="y"))
    assert (read.meta.model, read.assistants) == ("claude-opus-4-5", 2)


# -- how a run ended --------------------------------------------------------------------------

GO = [user("Fix it"), call("c1", "make"), result("c1")]
LOCAL = [user("<command-name>/model</command-name>", 20),
         user("<local-command-stdout>Set</local-command-stdout>", 21)]  # fmt: skip
SAID = [*GO, said("Done.", id="b")]
AGAIN = [*GO, call("c2", "sleep 60", id="b")]
ANSWERING = (False, None, None, "while the model answered")
DONE = (True, None, True, "Done.")
REFUSAL = (True, "interrupted", False, "a call was refused")
TURN = claude_system("turn_duration", 9, durationMs=1)

How = tuple[bool, str | None, bool | None, str]
ENDINGS: dict[str, tuple[list[bytes], How]] = {
    "an answer": (SAID, DONE),
    "an answer that says so": (
        [*GO, said("Done.", id="b", stop="end_turn")], (True, "end_turn", True, "Done.")),
    "notes behind it": (
        [*SAID, claude_note("mode", mode="normal"), claude_system("away_summary")], DONE),
    "a local command behind it": ([*SAID, *LOCAL], DONE),
    "a shell line behind it": (
        [*SAID, user("<bash-input>ls</bash-input>", 20), user("<bash-stdout></bash-stdout>", 21)],
        DONE),
    "a command for the model": ([*SAID, LOCAL[0]], ANSWERING),
    "too long an answer": (
        [*GO, said("Half", id="b", stop="max_tokens")], (True, "max_tokens", False, "Half")),
    "an error": (
        [*GO, claude_error("Too long", "invalid_request")],
        (True, "invalid_request", False, "Too long")),
    "an error, then a prompt": ([*GO, claude_error("x"), user("go on", 9)], ANSWERING),
    "an interrupt": (
        [*GO, user([{"type": "text", "text": INTERRUPTED}], 9), TURN],
        (True, "interrupted", False, INTERRUPTED.strip("[]"))),
    "a refusal": ([*AGAIN, result("c2", REFUSED, failed=True)], REFUSAL),
    "a refusal with an order": (
        [*AGAIN, result("c2", f"{REFUSED} the user said: use x", failed=True)], ANSWERING),
    "an open call": (AGAIN, (False, None, None, "in Bash: sleep 60")),
    "a result": (GO, ANSWERING),
    "a prompt": ([user("Fix it")], ANSWERING),
    "a text before its call": ([*GO, said("Now", id="b", stop="tool_use")], ANSWERING),
    "a thought": ([*GO, said({"type": "thinking", "thinking": "Hm"}, id="b")], ANSWERING),
    "a turn that ended without words": ([*GO, TURN], (True, None, None, "the turn ended")),
    "a retry": ([*GO, claude_system("api_error", error={"message": "529"})], ANSWERING),
    "resumed, nothing asked": (
        [*AGAIN, result("c2", "[Tool call interrupted: ...]", failed=True),
         said("No response requested.", model="<synthetic>")], ANSWERING),
    "condensed by the client": ([*SAID, *compaction("auto")], ANSWERING),
    "condensed by a person": ([*SAID, *compaction("manual"), *LOCAL], DONE),
    "condensed before the answer": ([*GO, *compaction("manual")], ANSWERING),
    "only notes": (
        [claude_note("mode", mode="normal")], (False, None, None, "nothing but the head")),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDINGS)
def test_the_last_records_tell_how_a_run_ended(tmp_path: Path, name: str) -> None:
    lines, how = ENDINGS[name]
    path = build.log(tmp_path / FILE, lines)
    ending = load(path).ending
    assert (ending.ended, ending.reason, ending.ok, ending.text) == how
    assert ending.evidence
    row = glance(str(path))
    assert (row.reason, row.ok, row.stop) == how[1:]


def test_a_call_that_told_of_itself_for_hours_is_still_in_flight(tmp_path: Path) -> None:
    signs = [claude_line("progress", 10 + n, data={"type": "bash_progress", "output": "."},
                         parentToolUseID="c2") for n in range(2000)]  # fmt: skip
    asked = [call("c2", "sleep 60", id="b", seconds=7), call("c3", "ls", id="b", seconds=8)]
    path = build.log(tmp_path / FILE, [*GO, *asked, result("c3", seconds=9), *signs])
    read = load(path)
    assert [c.call_id for c in read.in_flight] == ["c2"]
    assert read.ending.text == glance(str(path)).stop == "in Bash: sleep 60"


def test_a_row_reads_no_further_than_it_may(tmp_path: Path) -> None:
    signs = [claude_line("progress", data={"type": "bash_progress", "output": "x" * 2000})] * 600
    row = glance(str(build.log(tmp_path / FILE, [*AGAIN, *signs])))
    assert (row.status, row.title, row.stop) == ("unfinished", "Fix it", "no ending recorded")


def test_a_torn_tail_is_told_from_a_whole_one(tmp_path: Path) -> None:
    cut = session(tmp_path, *GO, tail=said("Done.")[:-20])
    assert (cut.status, len(cut.damages)) == ("truncated", 1)
    assert session(tmp_path, *build.claude_healthy(), tail=b'{"par').status == "complete"


# -- subagents --------------------------------------------------------------------------------


def test_side_chains_inside_the_log_are_not_the_main_run(tmp_path: Path) -> None:
    side = {"isSidechain": True}
    task = [user("Count", 4, **side), call("s1", id="s", seconds=5, **side)]
    read = session(tmp_path, user("Go"), call("c1", name="Task"), *task * 60)
    assert (read.title, read.users, read.ending.text) == ("Go", 1, "in Task: ls")
    ended = session(tmp_path, *build.claude_healthy(), *task * 60)
    assert (ended.status, ended.title) == ("complete", "Fix it")
    assert {m.sidechain for m in (n.message for n in ended.history)} == {"", "sidechain"}


def test_a_side_chain_before_the_last_words_of_the_main_run_is_passed_over(tmp_path: Path) -> None:
    side = call("s1", id="s", seconds=9, isSidechain=True)
    assert session(tmp_path, *SAID, side, *LOCAL).ending.text == "Done."


def test_a_side_chain_is_named_after_its_agent() -> None:
    assert message(user("Go", isSidechain=True, agentId="a1")).sidechain == "a1"
    assert message(user("Go", isSidechain=True)).sidechain == "sidechain"
    assert message(user("Go", agentId="a1")).sidechain == ""


@pytest.mark.parametrize("length", [1, 80])
def test_a_subagents_own_log_is_a_run_like_any_other(tmp_path: Path, length: int) -> None:
    side = {"isSidechain": True, "agentId": "a1"}
    asked = [call(f"s{n}", id=f"m{n}", **side) for n in range(length)]
    answers = [result(f"s{n}", **side) for n in range(length)]
    lines = [user("Count the files", **side), *asked, *answers, said("Two.", id="x", **side)]
    path = build.log(tmp_path / "agent-a1.jsonl", lines)
    read, row = load(path), glance(str(path))
    assert (read.id, read.title, read.status) == ("agent-a1", "Count the files", "complete")
    assert (row.id, row.title, row.status) == (read.id, read.title, read.status)
    assert (row.ok, row.stop, read.users, read.calls) == (True, "Two.", 1, length)
    path = build.log(tmp_path / "agent-a2.jsonl", [lines[0], call("s0", "sleep 60", **side)])
    assert glance(str(path)).stop == load(path).ending.text == "in Bash: sleep 60"


def test_an_error_that_ended_a_side_chain_did_not_end_the_main_run(tmp_path: Path) -> None:
    error = said("x", model="<synthetic>", isApiErrorMessage=True, isSidechain=True)
    assert session(tmp_path, *build.claude_healthy(), error).ok is True


def test_a_call_of_a_subagent_leads_to_its_log(tmp_path: Path) -> None:
    told = {"agentId": "a1", "status": "completed", "prompt": "x" * 999}
    assert activity(result("c1", structured=told)).extra["agent_id"] == "a1"
    main = build.log(tmp_path / FILE, build.claude_healthy())
    inside = build.log(tmp_path / build.CLAUDE_ID / "subagents" / "agent-a1.jsonl", GO)
    beside = build.log(tmp_path / "agent-b2.jsonl", GO)
    build.log(tmp_path / "agent-c3.jsonl", [user("Go", sessionId="another")])
    build.log(tmp_path / "agent-acompact-d4.jsonl", GO)
    assert subagents_of(str(main)) == [str(inside), str(beside)]
    assert agent_log(str(main), "a1") == str(inside)
    assert agent_log(str(main), "../a1") is None
    assert subagents_of(str(inside)) == []


def test_a_call_that_nothing_answered_leads_to_the_log_by_the_note_beside_it(
    tmp_path: Path,
) -> None:
    main = build.log(tmp_path / FILE, build.claude_healthy())
    folder = tmp_path / build.CLAUDE_ID / "subagents"
    inside = build.log(folder / "agent-a1.jsonl", GO)
    nested = build.log(folder / "agent-b2.jsonl", GO)
    (folder / "agent-a1.meta.json").write_text('{"toolUseId": "c1"}')
    (folder / "agent-b2.meta.json").write_text('{"toolUseId": "c2"}')
    (folder / "agent-c3.meta.json").write_text("{")
    asked = activity(call("c1", name="Task"))
    assert FORMAT.started(str(main), asked) == str(inside)
    assert FORMAT.started(str(inside), activity(call("c2", name="Task"))) == str(nested)
    assert FORMAT.started(str(main), activity(call("c4", name="Task"))) is None
    assert FORMAT.subagents(str(main)) == [str(inside), str(nested)]
    fork = build.log(
        tmp_path / "fork.jsonl", [user("Go", forkedFrom={"sessionId": build.CLAUDE_ID}), *GO]
    )
    assert FORMAT.started(str(fork), asked) == str(inside)
    around = build.log(tmp_path / FILE, [user("Go", forkedFrom={"sessionId": build.CLAUDE_ID})])
    assert FORMAT.started(str(around), activity(call("c4"))) is None


# -- evidence of life -------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The client's configuration folder."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "home"))
    (tmp_path / "home" / "sessions").mkdir(parents=True)
    return tmp_path / "home"


def pid_file(home: Path, **more: Any) -> Path:
    """The pid file of a client that is this very process."""
    stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    path = home / "sessions" / f"{os.getpid()}.json"
    value = {"pid": os.getpid(), "procStart": stat[19], "sessionId": build.CLAUDE_ID, **more}
    path.write_text(json.dumps(value))
    return path


def test_a_log_whose_client_lives_is_running(tmp_path: Path, home: Path) -> None:
    path = build.log(tmp_path / FILE, GO)
    assert load(path).status == "unfinished"
    pid_file(home)
    assert (load(path).status, load(path).alive) == ("running", f"claude runs as pid {os.getpid()}")
    ended = build.log(tmp_path / "a" / FILE, build.claude_healthy())
    assert load(ended).status == "complete"
    side = build.log(tmp_path / build.CLAUDE_ID / "subagents" / "agent-a1.jsonl", GO)
    assert load(side).status == "running"


@pytest.mark.parametrize(
    "wrong",
    [{"procStart": "1"}, {"procStart": None}, {"pid": -1}, {"pid": "x"}, {"sessionId": "another"},
     {"sessionId": []}],
)  # fmt: skip
def test_a_pid_file_left_behind_is_no_evidence(home: Path, wrong: dict[str, Any]) -> None:
    pid_file(home, **wrong)
    assert FORMAT.alive(f"/x/{FILE}", build.CLAUDE_ID) is None


def test_a_client_that_goes_on_with_another_session_is_believed(home: Path) -> None:
    pid_file(home)
    assert FORMAT.alive("/x.jsonl", build.CLAUDE_ID)
    pid_file(home, sessionId="the next one")
    assert FORMAT.alive("/x.jsonl", build.CLAUDE_ID) is None
    assert FORMAT.alive("/x.jsonl", "the next one")


@pytest.mark.parametrize("junk", [b"", b"[]", b"{", b"\xff", b"7"])
def test_junk_among_the_pid_files_hides_no_other(home: Path, junk: bytes) -> None:
    (home / "sessions" / "1.json").write_bytes(junk)
    (home / "sessions" / "2.json").mkdir()
    pid_file(home)
    assert FORMAT.alive("/x.jsonl", build.CLAUDE_ID)


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
