"""Agent Session logs: a tree of entries, what the model was told of it, and how its runs ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import build
import pytest
from agentsession import ID, Tree, head

from sessionlog import codec
from sessionlog.formats.agent_session import AgentSession
from sessionlog.formats.table import recognise
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Event, Kind, Record, Span, shown_type
from sessionlog.session import Session
from sessionlog.usage import Meter

FORMAT = AgentSession()


def texts(session: Session) -> list[str]:
    return [message.text for message in session.messages]


def decoded(type: str, **more: Any) -> Record:
    value = {"type": type, "id": "a", "parent": None, "ts": build.at(), **more}
    return FORMAT.decode(value, Span(2, 9, 9))[0]


def test_a_conversation_reads_as_it_was_held(tmp_path: Path) -> None:
    tree = Tree().add("config", model="m-1", instructions="Be brief.").said("user", "What is it?")
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    tree.add("item", item=thought, response="resp_1").call("c1", response="resp_1")
    tree.add("response", response_id="resp_1", status="completed", model="m-1-2026")
    session = tree.output("c1", "4").said("assistant", "It is 4.", response="resp_2").read(tmp_path)
    assert [shown_type(m) for m in session.messages] == [
        "user", "reasoning", "call", "response", "assistant"]  # fmt: skip
    assert (session.users, session.assistants, session.calls) == (1, 2, 1)
    assert session.open_calls == session.orphan_results == session.damages == ()
    assert (session.id, session.title, session.meta.model) == (ID, "What is it?", "m-1")
    assert (session.meta.workdir, session.started) == ("/srv/app", build.at())
    assert (session.status, session.ok) == ("complete", None)


@pytest.mark.parametrize("minor", range(1, 13))
def test_every_minor_version_is_known_with_its_keys_in_any_order(minor: int) -> None:
    value = codec.loads(head(f"0.{minor}"))
    shuffled = build.line(dict(sorted(value.items())))
    for data in (head(f"0.{minor}"), shuffled, shuffled[:-9]):
        form = recognise("x", "", data)
        assert form is not None
        assert form.name == "agentsession"


def test_a_log_without_its_head_is_known_by_its_entries(tmp_path: Path) -> None:
    tree = Tree().said("user", "one").said("assistant", "two")
    session = load(build.log(tmp_path / "y.jsonl", tree.lines[1:]))
    assert (session.format, session.id, texts(session)) == ("agentsession", "y", ["one", "two"])


def test_the_branch_of_the_last_entry_is_the_conversation(tmp_path: Path) -> None:
    tree = Tree().said("user", "Q", "q").said("assistant", "A1", "a1").said("user", "left", "l")
    summary = {"type": "message", "role": "system", "content": "What was left."}
    tree.add("branch_summary", parent="a1", summary=summary, **{"from": "l"})
    session = tree.said("user", "taken").read(tmp_path)
    assert texts(session) == ["Q", "A1", "What was left.", "taken"]
    assert [s.n for s in session.history if not s.in_context] == [3]


def test_several_roots_and_a_parent_that_is_not_there(tmp_path: Path) -> None:
    tree = Tree().said("user", "old").said("user", "new root", parent=None)
    assert texts(tree.read(tmp_path)) == ["new root"]
    lost = Tree().said("user", "old").said("user", "dangling", parent="nowhere")
    assert texts(lost.said("assistant", "on it").read(tmp_path)) == ["dangling", "on it"]


def test_a_compaction_gives_its_summary_what_it_pinned_and_what_it_kept(tmp_path: Path) -> None:
    tree = Tree().said("user", "one", "a").said("assistant", "two", "b").said("user", "three", "c")
    pinned = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one"}]}
    summary = {"type": "message", "role": "system", "content": "In short."}
    tree.add("compaction", first_kept="c", summary=summary, pinned=[pinned], tokens_before=9)
    session = tree.said("assistant", "four").read(tmp_path)
    assert texts(session) == ["In short.", "one", "three", "four"]
    assert (session.users, session.assistants) == (2, 2)


def test_a_hidden_item_is_told_to_the_model_but_is_no_prompt(tmp_path: Path) -> None:
    session = Tree().said("user", "hidden", visible=False).said("user", "shown").read(tmp_path)
    assert texts(session) == ["hidden", "shown"]
    assert (session.users, session.title) == (1, "shown")
    assert session.records[1].quiet


@pytest.mark.parametrize(
    ("reason", "ok"),
    [("done", True), ("stopped", None), ("input_required", None), ("interrupted", False),
     ("aborted", False), ("error", False), ("brand_new", None)],
)  # fmt: skip
def test_a_runs_end_says_how_it_went(tmp_path: Path, reason: str, ok: bool | None) -> None:
    tree = Tree(records=["run"]).run("start", source="input").said("user", "Q")
    session = tree.said("assistant", "A").run("end", reason=reason, pending=[]).read(tmp_path)
    assert (session.status, session.reason, session.ok) == ("complete", reason, ok)


@pytest.mark.parametrize(("records", "status"), [(["run"], "unfinished"), ([], "complete")])
def test_a_run_without_an_end_was_cut_off_if_the_header_promises_ends(
    tmp_path: Path, records: list[str], status: str
) -> None:
    tree = Tree(records=records).run("start").said("user", "Q").said("assistant", "A")
    assert tree.read(tmp_path).status == status
    assert glance(str(tmp_path / "x.jsonl")).status == status


def test_a_run_that_begins_last_is_more_than_a_head_where_something_was_said(
    tmp_path: Path,
) -> None:
    tree = Tree(records=["run"]).run("start").said("user", "Q").run("end", reason="stopped")
    assert tree.run("start", source="resume").read(tmp_path).ending.text == (
        "while the model answered"
    )
    alone = Tree(records=["run"]).run("start").read(tmp_path)
    assert alone.ending.text == "nothing but the head"


def test_what_was_said_after_a_runs_end_counts(tmp_path: Path) -> None:
    tree = Tree(records=["run"]).run("start").run("end", reason="done").said("user", "And now?")
    session = tree.read(tmp_path)
    assert (session.status, session.ending.text) == ("unfinished", "while the model answered")


def test_a_call_in_flight_and_a_torn_tail(tmp_path: Path) -> None:
    tree = Tree(records=["run", "dispatch"]).run("start").said("user", "Q").call("c1")
    session = tree.add("dispatch", call_id="c1", target="e3").read(tmp_path, b'{"type":"item","id')
    assert [call.call_id for call in session.open_calls] == ["c1"]
    assert (session.status, session.ending.text) == ("truncated", "in sh: ls")


def test_a_response_that_failed_ends_it_badly(tmp_path: Path) -> None:
    tree = Tree().said("user", "Q").add("response", status="failed", error={"message": "boom"})
    session = tree.read(tmp_path)
    assert (session.status, session.ok, session.ending.text) == ("complete", False, "boom")
    cut = decoded("response", incomplete={"reason": "max_output_tokens"}).payload
    assert isinstance(cut, Event)
    assert (cut.ok, cut.text) == (False, "max_output_tokens")


def test_each_answers_tokens_count_once(tmp_path: Path) -> None:
    usage = {"input_tokens": 40, "output_tokens": 12, "input_tokens_details": {"cached_tokens": 30}}
    tree = Tree().said("user", "Q").said("assistant", "A", response="r1")
    session = tree.add("response", response_id="r1", model="m", usage=usage).read(tmp_path)
    meter = Meter()
    for record in session.records:
        if (told := FORMAT.usage(record)) is not None:
            meter.take(told)
    spent = meter.close().tokens
    assert spent is not None
    assert (spent.input, spent.cache_read, spent.output) == (10, 30, 12)
    assert meter.models == {"m": 1}


def test_the_last_name_is_the_title_and_a_fork_names_its_parent(tmp_path: Path) -> None:
    tree = Tree(parent_session="P").add("info", name="Old").said("user", "Q")
    session = tree.add("info", name="New").read(tmp_path)
    assert session.title == "New"
    assert session.meta.forked_from is not None
    assert session.meta.forked_from.id == "P"
    child = Tree(parent_session="P", spawned_by="c1").said("user", "Q").read(tmp_path)
    assert child.meta.forked_from is None
    linked = Tree().add("link", rel="fork_of", session="L").said("user", "Q").read(tmp_path)
    assert linked.meta.forked_from is not None
    assert linked.meta.forked_from.id == "L"


@pytest.mark.parametrize(
    ("type", "more", "quiet", "ok"),
    [
        ("dispatch", {"call_id": "c1"}, True, None),
        ("decision", {"call_id": "c1", "verdict": "proceed"}, True, None),
        ("decision", {"call_id": "c1", "verdict": "reject", "reason": "no"}, False, False),
        ("outcome", {"kind": "test", "pass": False, "score": 0.5}, False, False),
        ("env", {"cwd": "/srv"}, True, None), ("label", {"label": None}, True, None),
        ("custom", {"ns": "acme", "data": {}}, True, None), ("queued", {"item": {}}, True, None),
        ("withdraw", {"target": "e1", "by": "human"}, True, None),
    ],
)  # fmt: skip
def test_what_happened_around_it_is_narration(
    type: str, more: dict[str, Any], quiet: bool, ok: bool | None
) -> None:
    record = decoded(type, **more)
    assert isinstance(record.payload, Event)
    assert (record.payload.kind, record.quiet, record.payload.ok) == (type, quiet, ok)
    assert record.payload.call_id == more.get("call_id", "")


def test_extensions_and_what_is_not_known_are_kept() -> None:
    assert (decoded("acme:note").kind, decoded("acme:note").quiet) == (Kind.OTHER, True)
    assert (decoded("brand_new").kind, decoded("brand_new").quiet) == (Kind.OTHER, False)
    item = decoded("item", item={"type": "acme:note", "text": "kept"})
    assert "kept" in getattr(item.payload, "text", "")
    assert decoded("item", item=None).kind is Kind.MESSAGE


def test_links_are_told_of_a_raw_line() -> None:
    assert FORMAT.link(build.line({"type": "item", "id": "a", "parent": None})) == ("a", "")
    assert FORMAT.link(head()) is None
    assert FORMAT.link(b"{") is None
