"""What `claude -p --output-format stream-json` printed, read as a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import build
import pytest
from build import line

from sessionlog.errors import NotPossible
from sessionlog.formats.claude_stream import ClaudeStream
from sessionlog.framing import split
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Event, Meta, Reset, shown_type
from sessionlog.repairs import repair
from sessionlog.session import Session
from sessionlog.source import decode
from sessionlog.stats import Fold

SESSION = "5c222f59-9870-426c-8147-f79f0e365247"


def told(type: str, **more: Any) -> bytes:
    return line({"type": type, **more, "session_id": SESSION, "uuid": "u1"})


def init(**more: Any) -> bytes:
    return told("system", subtype="init", cwd="/srv/app", model="claude-sonnet-4-5",
                tools=["Bash"], claude_code_version="2.1.332", **more)  # fmt: skip


def spoke(role: str, *blocks: Any, seconds: float = 1, parent: str | None = None, **more: Any
          ) -> bytes:  # fmt: skip
    message = {"role": role, "content": list(blocks)}
    if role == "assistant":
        message |= {"id": f"msg_{seconds}", "model": "claude-sonnet-4-5",
                    "usage": {"input_tokens": 9, "output_tokens": 1}}  # fmt: skip
    return told(role, message=message, parent_tool_use_id=parent, timestamp=build.at(seconds),
                **more)  # fmt: skip


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}


def gave(id: str, failed: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": "ok", "is_error": failed}


def result(subtype: str = "success", **more: Any) -> bytes:
    body = {"is_error": subtype != "success", "num_turns": 2, "total_cost_usd": 0.25,
            "usage": {"input_tokens": 100, "output_tokens": 40}, **more}  # fmt: skip
    return told("result", subtype=subtype, **body)


RUN = [
    init(),
    spoke("assistant", text("I look."), seconds=1),
    spoke("assistant", use("c1"), seconds=2),
    spoke("user", gave("c1"), seconds=3),
    spoke("assistant", text("Done."), seconds=4),
]


def session(folder: Path, *lines: bytes, tail: bytes = b"") -> Session:
    return load(build.log(folder / "out.jsonl", lines, tail))


def test_a_saved_stream_reads_as_a_run(tmp_path: Path) -> None:
    read = session(tmp_path, *RUN, result(result="Done."))
    assert (read.format, read.id, read.status, read.ok) == (
        "claude-stream", "out", "complete", True)  # fmt: skip
    assert [shown_type(m) for m in read.messages] == ["assistant", "call", "response", "assistant"]
    assert (read.meta.workdir, read.meta.model) == ("/srv/app", "claude-sonnet-4-5")
    assert (read.reason, read.ending.text, read.title) == ("success", "Done.", "I look.")
    row = glance(read.path)
    assert (row.agent, row.status, row.updated) == ("claude", "complete", build.at(4))
    assert row.title == read.title


@pytest.mark.parametrize(
    ("lines", "how"),
    [
        ([*RUN, result("error_max_turns", errors=["Reached 1"])],
         ("complete", "error_max_turns", False, "Reached 1")),
        ([*RUN, result(is_error=True, result="API Error: 401")],
         ("complete", "error", False, "API Error: 401")),
        ([*RUN[:3]], ("unfinished", None, None, "in bash: make")),
        ([*RUN[:4]], ("unfinished", None, None, "while the model answered")),
        ([*RUN, result(), init()], ("unfinished", None, None, "nothing but the head")),
        ([*RUN, result(), *RUN[:3]], ("unfinished", None, None, "in bash: make")),
        ([*RUN, result(), *RUN, result(result="Again.")], ("complete", "success", True, "Again.")),
        ([*RUN[:3], spoke("user", text("[Request interrupted by user for tool use]"))],
         ("complete", "interrupted", False, "Request interrupted by user for tool use")),
        ([*RUN, result(result="Done."), told("system", subtype="task_notification")],
         ("complete", "success", True, "Done.")),
    ],
)  # fmt: skip
def test_the_result_line_tells_how_it_ended(
    tmp_path: Path, lines: list[bytes], how: tuple[Any, ...]
) -> None:
    read = session(tmp_path, *lines)
    assert (read.status, read.reason, read.ok, read.ending.text) == how
    row = glance(read.path)
    assert (row.status, row.reason, row.ok, row.stop) == how


def test_a_torn_line_is_told_from_a_whole_one(tmp_path: Path) -> None:
    read = session(tmp_path, *RUN[:3], tail=RUN[3][:-20])
    assert (read.status, len(read.damages)) == ("truncated", 1)


def test_what_a_subagent_says_is_not_the_main_run(tmp_path: Path) -> None:
    side = [spoke("user", text("Count"), parent="c1", agent_id="a1"),
            spoke("assistant", use("s1"), parent="c1", agent_id="a1")]  # fmt: skip
    read = session(tmp_path, *RUN[:3], *side)
    assert [s.message.sidechain for s in read.history] == ["", "", "a1", "a1"]
    assert [c.call_id for c in read.open_calls] == ["c1"]


def test_pieces_of_an_answer_are_passed_by(tmp_path: Path) -> None:
    delta = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "I lo"}}
    piece = told("stream_event", event=delta, parent_tool_use_id=None)
    read = session(tmp_path, init(), piece, *RUN[1:], result())
    (event,) = read.events
    assert (event.kind, event.text) == ("stream_event", "I lo")
    assert len(read.messages) == 4


def test_an_error_and_a_retry_are_shown(tmp_path: Path) -> None:
    error = spoke("assistant", text("Invalid API key"), error="authentication_failed")
    retry = told("system", subtype="api_retry", attempt=1, error="overloaded")
    read = session(tmp_path, init(), retry, error, result(is_error=True, result="Invalid API key"))
    assert [(e.kind, e.text, e.ok) for e in read.events] == [
        ("retry", "overloaded", False), ("api_error", "Invalid API key", False)]  # fmt: skip


def test_a_compaction_empties_the_context(tmp_path: Path) -> None:
    boundary = told("system", subtype="compact_boundary", compact_metadata={"trigger": "auto"})
    read = session(tmp_path, *RUN, boundary, RUN[4])
    assert len(read.messages) == 1
    assert [r.payload for r in read.records if isinstance(r.payload, Reset)] == [
        Reset("auto compaction")]  # fmt: skip


def test_tokens_and_cost_are_the_result_lines(tmp_path: Path) -> None:
    read = session(tmp_path, *RUN, result())
    fold = Fold(ClaudeStream())
    for record in read.records:
        fold.record(record)
    stats = fold.stats(reversed(read.records))
    assert stats.tokens is not None
    assert (stats.tokens.input, stats.tokens.output) == (100, 40)
    assert stats.cost == 0.25


def test_every_line_gives_a_record_or_a_damage() -> None:
    odd = [told("brand_new", a=1), told("system", subtype="brand_new"), told("user", message=None),
           told("rate_limit_event"), b"warning: something\n", init(), result()]  # fmt: skip
    for data in (*odd, *RUN):
        records, damages = decode(ClaudeStream(), split(data)[0])
        assert records or damages
    assert isinstance(decode(ClaudeStream(), split(init())[0])[0][0].payload, Meta)
    made = decode(ClaudeStream(), split(odd[1])[0])[0][0]
    assert isinstance(made.payload, Event)
    assert made.quiet


def test_a_saved_stream_is_read_only(tmp_path: Path) -> None:
    path = build.log(tmp_path / "out.jsonl", RUN[:3])
    with pytest.raises(NotPossible):
        repair(path)
