"""Codex's logs, of every age: what the model was told, how the run ended, nothing dropped."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import build
import pytest
from build import codex_call, codex_event, codex_item, codex_line, codex_meta, codex_output
from build import codex_said as said
from decoding import Decoding

from sessionlog import codec
from sessionlog.formats.base import decoded_bits
from sessionlog.formats.codex import Codex
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import (
    Event,
    Message,
    Meta,
    Other,
    Reset,
    Span,
    shown_type,
)
from sessionlog.session import Session

FORMAT = Codex()
READ = Decoding(FORMAT)
decoded, one, message, event, activity = (
    READ.decoded,
    READ.one,
    READ.message,
    READ.event,
    READ.activity,
)
STARTED = codex_event("task_started", turn_id="t1")


def session(folder: Path, *lines: bytes, tail: bytes = b"") -> Session:
    return load(build.log(folder / build.CODEX_FILE, lines, tail))


def output(value: Any, **more: Any) -> bytes:
    return codex_item("function_call_output", call_id="c1", output=value, **more)


def test_a_run_reads_as_its_conversation_and_its_ending(tmp_path: Path) -> None:
    read = session(tmp_path, *build.codex_healthy())
    assert [shown_type(m) for m in read.messages] == ["user", "call", "response", "assistant"]
    assert (read.status, read.ok, read.reason) == ("complete", True, None)
    assert (read.users, read.assistants, read.calls, read.open_calls) == (1, 1, 1, ())
    assert (read.id, read.title, read.meta.model) == (build.CODEX_ID, "Fix it", "gpt-5.5")
    assert (read.meta.workdir, read.meta.provider) == ("/srv/app", "openai")
    assert read.meta.extra["originator"] == "codex_exec"


def test_a_row_of_a_listing_tells_the_same_from_head_and_tail(tmp_path: Path) -> None:
    instructions = {"text": "x" * 25_000}
    lines = build.codex_healthy()
    lines[0] = codex_meta(base_instructions=instructions)
    row = glance(str(build.log(tmp_path / build.CODEX_FILE, lines)))
    assert (row.format, row.agent, row.id) == ("codex", "codex", build.CODEX_ID)
    assert (row.title, row.model, row.workdir) == ("Fix it", "gpt-5.5", "/srv/app")
    assert (row.status, row.ok, row.stop, row.started) == ("complete", True, "done", build.at(0))


def test_the_id_is_the_files_own_where_the_head_is_lost(tmp_path: Path) -> None:
    damaged = codex_meta()[:-40] + b"\n"
    read = session(tmp_path, damaged, *build.codex_healthy()[1:])
    assert (read.format, read.id, len(read.damages)) == ("codex", build.CODEX_ID, 1)


# -- whose words ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["<environment_context>\n<cwd>/x</cwd>", "# AGENTS.md instructions for /x", "<turn_aborted>\n",
     "<user_instructions>\n", "<permissions instructions>", "\n<subagent_notification>{}",
     "<skills_instructions>\n"],
)  # fmt: skip
def test_what_the_client_puts_in_is_no_prompt_of_a_person(text: str) -> None:
    assert message(said("user", text)).type == "system"
    assert message(said("user", "see here", text)).type == "system"


def test_a_prompt_that_only_looks_alike_is_a_persons() -> None:
    assert message(said("user", "<b>why</b> is <turn_aborted> there?")).type == "user"
    kinds = {"content_item_kinds": ["user.text"]}
    told = said("user", "<turn_aborted>?", internal_chat_message_metadata_passthrough=kinds)
    assert message(told).type == "user"


def test_the_clients_own_word_for_a_text_counts_more_than_how_it_begins() -> None:
    kinds = {"content_item_kinds": ["generic.turn_aborted"]}
    told = said("user", "You were stopped.", internal_chat_message_metadata_passthrough=kinds)
    assert message(told).type == "system"


def test_a_developers_words_are_the_systems_and_other_roles_stay() -> None:
    assert message(said("developer", "Be brief.")).type == "system"
    assert message(said("critic", "No.")).type == "critic"


def test_answers_are_told_apart_by_id_or_by_place(tmp_path: Path) -> None:
    # blocks of one answer share nothing but the message's id, and old logs have none
    same = said("assistant", "a", id="msg_1")
    nameless = said("assistant", "b")
    read = session(tmp_path, codex_meta(), same, same, nameless, nameless)
    assert read.assistants == 3
    assert message(said("user", "x")).answer == ""


def test_a_picture_is_kept_with_its_prompt_and_without_its_tags() -> None:
    content = [{"type": "input_text", "text": "Look:"},
               {"type": "input_text", "text": '<image name="a.png">'},
               {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
               {"type": "input_text", "text": "</image>"}]  # fmt: skip
    told = message(codex_item("message", role="user", content=content))
    assert told.text == "Look:"
    assert [(i.media_type, i.size, i.source) for i in told.images] == [("image/png", 3, "inline")]


def test_reasoning_is_its_summary_and_quiet_where_it_is_sealed() -> None:
    summary = [{"type": "summary_text", "text": "First"}, {"type": "summary_text", "text": "Then"}]
    told = one(codex_item("reasoning", summary=summary, encrypted_content="xyz"))
    assert isinstance(told.payload, Message)
    assert (told.payload.type, told.payload.text) == ("reasoning", "First\n\nThen")
    assert not told.quiet
    sealed = one(codex_item("reasoning", summary=[], content=None, encrypted_content="xyz"))
    assert isinstance(sealed.payload, Message)
    assert (sealed.payload.text, sealed.quiet) == ("", True)
    assert sealed.payload.extra["encrypted_content"] == "xyz"


# -- events and the context -------------------------------------------------------------------


def test_what_an_item_tells_too_is_quiet() -> None:
    assert one(codex_event("agent_message", message="Done.")).quiet
    assert one(codex_event("item_completed", item={"type": "AgentMessage", "content": []})).quiet
    assert one(codex_line("turn_context", {"model": "m"})).quiet
    assert one(codex_line("world_state", {"full": True})).quiet
    assert one(codex_event("patch_apply_end", call_id="c1", success=True)).quiet


def test_what_only_an_event_tells_is_shown() -> None:
    # a patch that a script applied has no output of its own
    failed = one(codex_event("patch_apply_end", call_id="c1", success=False, stderr="no match"))
    assert not failed.quiet
    assert isinstance(failed.payload, Event)
    assert (failed.payload.ok, failed.payload.text) == (False, "no match")
    assert not one(codex_event("never_seen_before", message="x")).quiet


def test_errors_keep_their_own_words_and_only_those_that_stop_the_turn_end_it() -> None:
    error = event(codex_event("error", message="no quota", codex_error_info="usage_limit_exceeded"))
    assert (error.text, error.ok, error.ends) == ("no quota", False, True)
    again = event(codex_event("stream_error", message="Reconnecting... 1/5"))
    assert (again.text, again.ok, again.ends) == ("Reconnecting... 1/5", False, False)
    beside = event(codex_event("error", message="no", codex_error_info="thread_rollback_failed"))
    assert (beside.ok, beside.ends) == (False, False)


def test_tokens_are_the_runs_total() -> None:
    info = {"total_token_usage": {"input_tokens": 30, "output_tokens": 2},
            "last_token_usage": {"input_tokens": 3, "output_tokens": 1}}  # fmt: skip
    assert event(codex_event("token_count", info=info)).text == "input 30 output 2"
    assert event(codex_event("token_count", info=None)).text == ""


def test_a_compaction_leaves_what_it_holds_and_its_summary(tmp_path: Path) -> None:
    history = [codec.loads(said("user", text))["payload"] for text in ("Fix it", "So far: x")]
    compacted = codex_line("compacted", {"message": "So far: x", "replacement_history": history})
    read = session(tmp_path, codex_meta(), said("user", "Fix it"), said("assistant", "a"),
                   compacted, said("assistant", "b"))  # fmt: skip
    assert [(m.type, m.text) for m in read.messages] == [
        ("user", "Fix it"), ("summary", "So far: x"), ("assistant", "b")]  # fmt: skip
    assert len(read.history) == 4
    reset, summary = decoded(compacted)
    assert isinstance(reset.payload, Reset)
    assert (reset.payload.why, reset.part, summary.part) == ("compaction", 0, 1)


def test_an_undone_turn_is_out_of_the_context_and_in_the_history(tmp_path: Path) -> None:
    read = session(
        tmp_path, codex_meta(), said("user", "a"), said("assistant", "A"), said("user", "b"),
        said("assistant", "B"), codex_event("thread_rolled_back", num_turns=1),
    )  # fmt: skip
    assert [m.text for m in read.messages] == ["a", "A"]
    assert len(read.history) == 4


# -- how it ended -----------------------------------------------------------------------------

ERROR = {"message": "Please log in again.", "codex_error_info": "unauthorized"}
LOST = {"message": "cut", "codex_error_info": {"response_stream_disconnected": {"status": None}}}
COMPLETE = codex_event("task_complete", 9, turn_id="t1")
OPEN = "in exec: ls"
ENDINGS = {
    "done": ([said("assistant", "x"), COMPLETE], True, None, True, "done"),
    "done, then counters": (
        [said("assistant", "x"), COMPLETE, codex_event("token_count")], True, None, True, "done"),
    "an error": ([codex_event("error", **ERROR), codex_event("task_complete", error=ERROR)],
                 True, "unauthorized", False, "Please log in again."),
    "an error alone": ([codex_event("error", **LOST)], True, "response_stream_disconnected", False,
                       "cut"),
    "an abort": ([codex_call("c1"), codex_output("c1", code=1), said("user", "<turn_aborted>"),
                  codex_event("turn_aborted", reason="interrupted")],
                 True, "interrupted", False, "interrupted"),
    "replaced": ([codex_event("turn_aborted", reason="replaced")],
                 True, "replaced", False, "aborted: replaced"),
    "in a call": ([codex_call("c1"), codex_event("token_count")], False, None, None, OPEN),
    "answering": ([codex_call("c1"), codex_output("c1")], False, None, None,
                  "while the model answered"),
    "between": ([said("assistant", "x")], False, None, None, "no ending recorded"),
    "a retry": ([codex_event("stream_error", message="again")], False, None, None,
                "while the model answered"),
    "going on": ([said("assistant", "x"), COMPLETE, STARTED, said("user", "more")],
                 False, None, None, "while the model answered"),
    "said after the end": ([COMPLETE, said("user", "more")], False, None, None,
                           "while the model answered"),
    "context after the end": ([COMPLETE, said("developer", "be brief")], True, None, True, "done"),
    "an error, and the turn closed without a word": (
        [codex_event("error", **ERROR), codex_event("task_complete", last_agent_message=None)],
        True, "unauthorized", False, "Please log in again."),
    "an error of the turn before": (
        [codex_event("error", **ERROR), COMPLETE, STARTED, said("user", "more"),
         codex_event("task_complete", last_agent_message=None)], True, None, True, "done"),
    "an error passed": ([codex_event("error", **ERROR), said("assistant", "x")],
                        False, None, None, "no ending recorded"),
    "an error overcome": ([codex_event("error", **ERROR), said("assistant", "x"), COMPLETE],
                          True, None, True, "done"),
}  # fmt: skip


@pytest.mark.parametrize("case", ENDINGS)
def test_a_turn_that_was_closed_is_an_ending(tmp_path: Path, case: str) -> None:
    lines, ended, reason, ok, text = ENDINGS[case]
    ending = session(tmp_path, codex_meta(), STARTED, said("user", "Go"), *lines).ending
    assert (ending.ended, ending.reason, ending.ok, ending.text) == (ended, reason, ok, text)


def test_a_log_without_turns_ends_with_an_answer(tmp_path: Path) -> None:
    begun = (codex_meta(), said("user", "Go"), codex_call("c1"))
    assert session(tmp_path, *begun).ending.text == OPEN
    assert not session(tmp_path, *begun, codex_output("c1")).complete
    ended = session(tmp_path, *begun, codex_output("c1"), said("assistant", "x"),
                    codex_event("token_count"))  # fmt: skip
    assert (ended.status, ended.ok) == ("complete", True)


def test_the_start_of_a_turn_out_of_reach_is_told_by_what_names_it() -> None:
    # a listing reads back a megabyte at most: there the turn's start may not be in sight
    context = codex_line("turn_context", {"turn_id": "t1", "model": "m"})
    records = [one(line) for line in (context, said("assistant", "x"))]
    assert not FORMAT.ending(reversed(records)).ended
    records[0] = one(codex_line("turn_context", {"model": "m"}))
    assert FORMAT.ending(reversed(records)).ended


def test_an_open_call_of_a_turn_before_is_not_in_flight(tmp_path: Path) -> None:
    read = session(tmp_path, codex_meta(), STARTED, said("user", "Go"), codex_call("c1"),
                   codex_event("task_started", turn_id="t2"), said("user", "go on"))  # fmt: skip
    assert [call.call_id for call in read.open_calls] == ["c1"]
    assert read.in_flight == ()


# -- old logs, forks, what is not known -------------------------------------------------------


def old_log() -> list[bytes]:
    place = "<environment_context>\n  <cwd>/srv/old</cwd>\n</environment_context>"
    head = {"id": build.CODEX_ID, "timestamp": build.at(0), "instructions": "x", "git": {}}
    return [
        build.line(head),
        build.line({"record_type": "state"}),
        *(build.line(codec.loads(item)["payload"]) for item in (
            said("user", place), said("user", "Fix it"), codex_call("c1"),
            output('{"output":"ok","metadata":{"exit_code":0}}'), said("assistant", "Done."))),
    ]  # fmt: skip


def test_a_log_of_bare_items_reads_like_the_others(tmp_path: Path) -> None:
    read = session(tmp_path, *old_log())
    assert (read.format, read.id, read.started) == ("codex", build.CODEX_ID, build.at(0))
    assert (read.title, read.meta.workdir) == ("Fix it", "/srv/old")
    assert (read.users, read.assistants, read.calls, read.open_calls) == (1, 1, 1, ())
    assert (read.status, read.ok) == ("complete", True)


def test_the_first_head_is_the_sessions_own(tmp_path: Path) -> None:
    # a fork of before 0.149 repeats its parent's lines, head included
    parent = build.codex_healthy("aaaaaaaa-0000-7000-8000-000000000000")
    read = session(tmp_path, codex_meta(forked_from_id="aaaaaaaa"), *parent)
    assert read.id == build.CODEX_ID
    assert read.meta.forked_from is not None
    assert read.meta.forked_from.id == "aaaaaaaa"


def test_a_fork_that_holds_only_what_is_new_says_where_the_rest_is(tmp_path: Path) -> None:
    base = {"thread_id": "aaaaaaaa", "end_ordinal_exclusive": 40, "end_byte_offset": 51225}
    read = session(tmp_path, codex_meta(history_base=base), *build.codex_healthy()[1:])
    note = read.events[0]
    assert (note.kind, note.text) == (
        "fork", "goes on from aaaaaaaa, whose first 40 records belong to it")  # fmt: skip
    assert (read.damages, len(read.history)) == ((), 4)
    assert len(decoded(codex_meta(history_base={"thread_id": 7}))) == 1


def test_an_editors_context_is_not_the_title(tmp_path: Path) -> None:
    asked = "# Context from my IDE setup:\n\n## My request for Codex:\nFix it\n"
    assert session(tmp_path, codex_meta(), said("user", asked)).title == "Fix it"


def test_the_prompt_is_the_events_where_no_item_has_it(tmp_path: Path) -> None:
    assert session(tmp_path, codex_meta(), codex_event("user_message", message="Go")).title == "Go"


def test_what_is_not_known_is_kept_as_it_stands() -> None:
    for line in (codex_line("brand_new", {"a": 1}), codex_item("brand_new", a=1),
                 codex_line("response_item", 7), build.line({"a": 1})):  # fmt: skip
        payload = one(line).payload
        assert isinstance(payload, Other)
        assert payload.data
    hello = [{"type": "text", "text": "hi"}]
    mail = message(codex_item("agent_message", author="a", content=hello))
    assert (mail.type, mail.text, mail.extra["author"]) == ("agent_message", "hi", "a")


def test_a_subagent_is_told_by_who_started_it() -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "aaaaaaaa"}}}
    for more in ({"source": source}, {"source": source, "parent_thread_id": "aaaaaaaa"}):
        payload = one(codex_meta(**more)).payload
        assert isinstance(payload, Meta)
        assert payload.resumed_from == "aaaaaaaa"
        assert payload.extra["source"] == source


# -- content never raises, and the fast way is the right way ----------------------------------

JUNK: tuple[Any, ...] = (
    None, True, -1, 2**70, 1.5, "", "x", [], ["x"], [None], [[1]], {}, {"a": 1}, {"type": []},
    [{"type": {}, "text": 1}], [{"text": None}],
)  # fmt: skip


def mangled(value: Any, random: random.Random) -> Any:
    """The value with junk in some of its places."""
    if random.random() < 0.15:
        return random.choice(JUNK)
    if isinstance(value, dict):
        return {key: mangled(item, random) for key, item in value.items() if random.random() > 0.05}
    if isinstance(value, list):
        return [mangled(item, random) for item in value]
    return value


def samples() -> list[bytes]:
    compacted = {"message": "m", "replacement_history": [{"type": "message", "content": "x"}]}
    failed = {"invocation": {"server": "s", "tool": "t"}, "result": {"Err": "x"}}
    return [
        *build.codex_healthy(), *old_log(),
        *(line for case in ENDINGS.values() for line in case[0]),
        codex_line("compacted", compacted), codex_event("thread_rolled_back", num_turns=1),
        codex_item("web_search_call", action={"query": "x"}),
        output([{"type": "text", "text": "x"}]),
        codex_item("image_generation_call", id="i", result="AAAA", revised_prompt="p"),
        output('{"output":"x","metadata":{"exit_code":1}}'), codex_item("reasoning", summary=[]),
        codex_item("custom_tool_call_output", call_id="c", output="Exit code: 0\nOutput:\n"),
        codex_event("mcp_tool_call_end", **failed),
        codex_event("item_completed", item={"type": "CommandExecution", "id": "c", "exit_code": 1}),
        said("developer", "x"), said("user", "# AGENTS.md instructions"), codex_call("c2"),
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
            assert FORMAT.classify(data) == decoded_bits(FORMAT, data)


def test_a_line_is_classified_as_it_decodes() -> None:
    for line in samples():
        data = line.rstrip(b"\n")
        assert FORMAT.classify(data) == decoded_bits(FORMAT, data), data
        assert FORMAT.classify(data[:-9]) == decoded_bits(FORMAT, data[:-9]), data


def test_text_in_a_line_does_not_make_it_another_line() -> None:
    fake = '","type":"event_msg","payload":{"type":"token_count"'
    said = {"type": "message", "role": "user", "content": fake}
    data = codec.dumps({"timestamp": fake, "type": "response_item", "payload": said})
    assert FORMAT.classify(data) == decoded_bits(FORMAT, data)
