"""Claude Code's logs: whose words stand where, nothing dropped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import build
import pytest
from build import claude_call as call
from build import claude_error, claude_line, claude_note, claude_system
from build import claude_result as result
from build import claude_said as said
from build import claude_user as user
from claude_reads import (
    FILE,
    IMAGE,
    INTERRUPTED,
    REFUSED,
    activity,
    attachment,
    compaction,
    decoded,
    event,
    message,
    one,
    session,
    types,
)

from sessionlog import codec
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Message, Other, Reset, shown_type


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
