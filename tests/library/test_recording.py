"""A stream becomes a log: whole blocks at once, an honest end, nothing secret, bounded memory."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from random import Random
from typing import Any

import pytest
import streams
from build import line
from disks import Failing, broken

from sessionlog.dialects import NAMES
from sessionlog.errors import NotPossible
from sessionlog.reader import load
from sessionlog.recording import Recording
from sessionlog.records import Event, Message, Status
from sessionlog.session import Session
from sessionlog.writer import create


def recorded(
    folder: Path, data: bytes, dialect: str = "", how: str = "", code: int | None = None,
    step: int = 0, stderr: bytes = b"", ends: bool = True,
) -> Session:  # fmt: skip
    """The log of a stream, fed `step` bytes at a time."""
    path = folder / f"{len(list(folder.iterdir())):04d}.jsonl"
    with create(folder, path.stem, {}, sync="none") as writer:
        recording = Recording(dialect, writer, ends=ends)
        for start in range(0, len(data), step or len(data) or 1):
            recording.feed(data[start : start + (step or len(data))])
        recording.stderr(stderr)
        recording.end(how, code)
        assert recording.problem is None
    return load(path, strict=True)


def rows(session: Session) -> list[Any]:
    """What a log holds beside times and places."""
    return [(record.kind, record.payload) for record in session.records[1:]]


def events(session: Session, kind: str) -> list[Event]:
    return [event for event in session.events if event.kind == kind]


def messages(session: Session) -> list[tuple[str, str]]:
    """Types and texts; of calls the arguments."""
    return [
        (m.activity.kind, m.activity.arguments if m.activity.kind == "request" else m.text)
        if m.activity
        else (m.type, m.text)
        for m in session.messages
    ]


def holds(session: Session, text: str) -> bool:
    """Is a text in a message, or in a line of plain output?"""
    said = [m.text + (m.activity.arguments if m.activity else "") for m in session.messages]
    said += [event.text for event in events(session, "output")]
    forms = {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    return any(form in one for one in said for form in forms)


@pytest.mark.parametrize("shape", streams.MAKERS)
def test_however_a_stream_is_cut_into_pieces_the_log_is_the_same(
    shape: str, tmp_path: Path
) -> None:
    random = Random(7)
    stream = streams.MAKERS[shape](streams.answers(random), random)
    whole = recorded(tmp_path, stream.data)
    for step in (1, 2, 3, 5, 13, 64, 1000):
        assert rows(recorded(tmp_path, stream.data, step=step)) == rows(whole)
    crlf = stream.data.replace(b"\n", b"\r\n")
    assert rows(recorded(tmp_path, crlf, step=1)) == rows(whole)


@pytest.mark.parametrize("shape", streams.MAKERS)
def test_its_first_lines_tell_what_a_stream_is(shape: str, tmp_path: Path) -> None:
    random = Random(8)
    stream = streams.MAKERS[shape](streams.answers(random), random)
    named = recorded(tmp_path, stream.data, stream.dialect)
    assert rows(recorded(tmp_path, stream.data)) == rows(named)
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le")):
        data = mark + stream.data.decode().encode(encoding)
        assert rows(recorded(tmp_path, data, step=1)) == rows(named)


@pytest.mark.parametrize("shape", streams.MAKERS)
def test_a_stream_that_is_cut_anywhere_keeps_its_finished_blocks_and_says_so(
    shape: str, tmp_path: Path
) -> None:
    random = Random(9)
    stream = streams.MAKERS[shape](streams.answers(random), random)
    for _ in range(40):
        size = random.randrange(len(stream.data) + 1)
        session = recorded(tmp_path, stream.data[:size], stream.dialect)
        for after, text in stream.blocks:
            assert after > size or holds(session, text)
        if any(size in span for span in stream.open):
            assert events(session, "cut"), size
            assert session.status is Status.UNFINISHED or not session.ok


def test_a_service_that_breaks_off_is_an_error_that_names_the_block(tmp_path: Path) -> None:
    stream = streams.anthropic([[("text", "First."), ("call", "make test")]], None)
    session = recorded(tmp_path, stream.data[: stream.data.index(b"content_block_stop") + 900])
    cut = "the stream was cut in the middle of block 2, a call of Bash"
    assert session.result is not None
    assert (session.status, session.result.error) == (Status.COMPLETE, cut)
    assert messages(session) == [("bot", "First.")]
    [partial] = events(session, "partial")
    assert partial.tool == "Bash"
    assert '{"command": "make test"}'.startswith(partial.text)


def test_an_agent_that_vanishes_leaves_its_run_unfinished(tmp_path: Path) -> None:
    stream = streams.claude([[("call", "make test")], [("text", "Done.")]])
    size = stream.data.index(b'{"type": "user"')
    session = recorded(tmp_path, stream.data[:size])
    assert (session.status, session.result) == (Status.UNFINISHED, None)
    assert [call.tool for call in session.open_calls] == ["Bash"]


@pytest.mark.parametrize(
    ("how", "words"), [("stopped", "the user"), ("viewer gone", "had started it")]
)
def test_a_run_that_somebody_stopped_has_no_open_call_and_says_who(
    how: str, words: str, tmp_path: Path
) -> None:
    stream = streams.claude([[("call", "make test")], [("text", "Done.")]])
    size = stream.data.index(b'{"type": "user"')
    session = recorded(tmp_path, stream.data[:size], "claude-stream-json", how, -9)
    assert session.result is not None
    assert not session.ok
    assert session.result.reason == "aborted"
    assert words in session.result.error
    assert session.result.code == 137
    assert not session.open_calls
    [_, answer] = session.messages
    assert answer.activity is not None
    assert (answer.activity.name, answer.activity.failure) == ("Bash", "Interrupted by the user.")


def test_an_agent_that_had_ended_before_it_was_stopped_ended_by_itself(tmp_path: Path) -> None:
    stream = streams.claude([[("text", "Done.")]])
    session = recorded(tmp_path, stream.data, "claude-stream-json", "stopped", -9)
    assert session.result is not None
    assert session.result.reason != "aborted"


@pytest.mark.parametrize(
    ("code", "error"),
    [(3, "exit status 3: no such model"), (-11, "killed by signal 11: no such model")],
)
def test_a_bad_exit_status_is_an_error_with_the_programs_last_words(
    code: int, error: str, tmp_path: Path
) -> None:
    for data in (b"Starting.\n", streams.claude([[("text", "Done.")]]).data):
        session = recorded(tmp_path, data, code=code, stderr=b"warning: x\nno such model\n\n")
        assert session.result is not None
        assert not session.ok
        assert session.result.error == error
        told = [event.text for event in events(session, "stderr")]
        assert told == ["warning: x", "no such model"]


def test_a_log_that_goes_on_gets_no_result(tmp_path: Path) -> None:
    data = streams.codex([[("text", "Done.")]]).data
    assert recorded(tmp_path, data, code=0, ends=False).result is None


def test_plain_output_is_an_event_a_line_and_one_message_at_its_end(tmp_path: Path) -> None:
    data = b"Looking around.\n\n  two\x1b[31m spaces\nlast"
    folder = tmp_path / "killed"
    folder.mkdir()
    with create(folder, "killed", {}, sync="none") as writer:
        Recording("text", writer).feed(data)
        killed = load(folder / "killed.jsonl")
    said = ["Looking around.", "  two\x1b[31m spaces"]
    assert [event.text for event in killed.events] == said
    assert not killed.messages
    whole = recorded(tmp_path, data, "text", code=0)
    assert [event.text for event in whole.events] == [*said, "last"]
    assert messages(whole) == [("bot", data.decode())]
    assert whole.ok


def test_a_long_output_is_one_message_of_its_first_and_last_lines(tmp_path: Path) -> None:
    lines = [f"line {n} " + "x" * 90 for n in range(40_000)]
    session = recorded(tmp_path, "\n".join(lines).encode(), "text", code=0)
    [message] = session.messages
    assert message.text.startswith(lines[0])
    assert message.text.endswith(lines[-1])
    assert "lines left out]" in message.text
    assert len(message.text) < 2 << 20
    assert len(events(session, "output")) == len(lines)


def test_without_a_writer_a_stream_is_taken_all_the_same() -> None:
    recording = Recording("", None)
    recording.feed(streams.codex([[("call", "ls")]]).data)
    recording.end()
    assert (recording.dialect, recording.problem) == ("codex-exec-json", None)


def test_an_unknown_dialect_is_a_callers_mistake() -> None:
    with pytest.raises(NotPossible, match=r"one of anthropic-sse, .*, text"):
        Recording("morse", None)


@pytest.mark.parametrize("dialect", ["", *NAMES])
def test_no_bytes_raise(dialect: str, tmp_path: Path) -> None:
    random = Random(11)
    odd = [b"data: {", b"\n", b"\r\n\n", b"[DONE]", b"\xff\xfe", b"\0", b'{"type":', b"null", b"[]",
           b'{"type":"item.completed","item":3}\n', b'data: {"choices":[{"delta":7},1]}\n\n',
           b'{"type":"assistant","message":[1]}\n', b'{"type":"user","message":{"content":[5]}}\n',
           b'{"type":"item.started","item":{"type":"command_execution","id":[]}}\n',
           b'data: {"type":"content_block_delta","index":"x","delta":3}\n\n', b'{"error":[]}\n',
           b'{"type":"result","usage":[],"num_turns":"x","errors":7}\n', b"HTTP/1.1 500 x\n",
           b'{"type":"turn.completed","usage":9}\n', b'{"type":"turn.failed","error":"x"}\n',
           b'data: {"type":"response.output_item.done","item":{"type":"mcp_call"}}\n\n',
           b'{"type":"stream_event","event":{"type":"message_start","message":4}}\n']  # fmt: skip
    for _ in range(60):
        data = b"".join(random.choices([*odd, random.randbytes(9)], k=12))
        recorded(tmp_path, data, dialect)


def test_a_line_without_end_is_left_out_with_a_word(tmp_path: Path) -> None:
    with create(tmp_path, "long", {}, sync="none") as writer:
        recording = Recording("claude-stream-json", writer)
        recording.feed(b'{"type":"assistant","text":"')
        for _ in range(70):
            recording.feed(b"x" * (1 << 20))
        recording.feed(b'"}\n' + line({"type": "system", "subtype": "odd", "session_id": "s"}))
        recording.end()
    session = load(tmp_path / "long.jsonl")
    [damage] = events(session, "damage")
    assert damage.text.startswith("a line of 73,400,350 bytes was left out; it began: ")
    assert events(session, "odd")


def test_a_block_without_end_is_given_up_with_a_word(tmp_path: Path) -> None:
    first, *rest = streams.anthropic_events("m", [("text", "x")])
    piece = {"type": "content_block_delta", "index": 0,
             "delta": {"type": "text_delta", "text": "word " * 100_000}}  # fmt: skip
    endless = [first, rest[1], *[piece] * 140]
    after = streams.anthropic_events("n", [("text", "Something else.")])
    with create(tmp_path, "long", {}, sync="none") as writer:
        recording = Recording("", writer)
        for event in (*endless, *rest[2:], *after):
            recording.feed(f"data: {json.dumps(event)}\n\n".encode())
        recording.end()
    session = load(tmp_path / "long.jsonl")
    assert messages(session) == [("bot", "Something else.")]
    [damage] = events(session, "damage")
    assert (
        damage.text == "block 1, a text is longer than 67,108,864 bytes; the end of it is left out"
    )
    assert len(events(session, "partial")[0].text) == 1 << 20


def test_a_prompt_stands_before_what_answers_it(tmp_path: Path) -> None:
    with create(tmp_path, "asked", {}, sync="none") as writer:
        recording = Recording("text", writer)
        recording.record(Message("user", "Fix it."))
        recording.feed(b"Fixed.\n")
        recording.end()
    assert messages(load(tmp_path / "asked.jsonl")) == [("user", "Fix it."), ("bot", "Fixed.")]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (b"Looking around.\nDone.\n", "the output ended; the exit status is not known"),
        (bytes(range(256)) * 8,
         "what came is no text; the output ended; the exit status is not known"),
    ],
)  # fmt: skip
def test_of_an_output_without_an_exit_status_nobody_knows_how_it_went(
    given: bytes, words: str, tmp_path: Path
) -> None:
    session = recorded(tmp_path, given)
    assert (session.status, session.ok, session.ending.text) == (Status.COMPLETE, None, words)
    assert recorded(tmp_path, given, code=0).ok
    assert recorded(tmp_path, given, code=1).ok is False


def test_bytes_that_are_no_text_are_no_answer_of_a_model(tmp_path: Path) -> None:
    random = Random(12)
    for size in (300, 2_000, 50_000):
        session = recorded(tmp_path, random.randbytes(size))
        assert not session.messages
        assert [event.text for event in events(session, "damage")] == ["what came is no text"]
    for text in ("größer, schneller\n", "\x1b[31mred\x1b[0m\r\n\tok\x07\n", "日本語です\n", "x\n"):
        session = recorded(tmp_path, text.encode() * 30, code=0)
        assert messages(session) == [("bot", (text.replace("\r", "") * 30).strip("\n"))]
        assert recorded(tmp_path, "größer\n".encode("latin-1") * 30, code=0).messages


@pytest.mark.parametrize("dialect", ["", *NAMES])
def test_a_stream_in_which_nothing_came_says_so_and_is_not_called_well(
    dialect: str, tmp_path: Path
) -> None:
    session = recorded(tmp_path, b"", dialect)
    assert (session.status, session.result) == (Status.UNFINISHED, None)
    said = [event.text for event in events(session, "cut")]
    assert said
    assert said == ["the stream was empty: nothing came"] or "cut" in said[0]


def test_an_event_costs_the_same_however_many_blocks_are_open() -> None:
    """By the memory that it takes: a look at every open block would need some for each."""
    start: dict[str, Any] = {"type": "content_block_start", "content_block": {"type": "text"}}
    recording = Recording("anthropic-sse", None)
    for index in range(4_000):
        recording.feed(f"data: {json.dumps({**start, 'index': index})}\n\n".encode())
    delta = {
        "type": "content_block_delta",
        "index": 3,
        "delta": {"type": "text_delta", "text": "x"},
    }
    piece = f"data: {json.dumps(delta)}\n\n".encode()
    tracemalloc.start()
    try:
        recording.feed(piece)
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        recording.feed(piece)
        assert tracemalloc.get_traced_memory()[1] - before < 16_000
    finally:
        tracemalloc.stop()


def test_what_comes_in_one_piece_is_written_at_once_and_synced_once(tmp_path: Path) -> None:
    disk = Failing()
    data = streams.claude([[("call", f"make {n}")] for n in range(50)]).data
    with create(tmp_path, "run", {}, disk=disk.disk()) as writer:
        recording = Recording("claude-stream-json", writer)
        written, synced = disk.turns["write"], disk.turns["sync"]
        recording.feed(data)
        assert disk.turns["write"] - written > 100
        assert disk.turns["sync"] - synced == 1
        disk.fail["sync"] = broken
        recording.feed(data)
        assert recording.problem is not None
        assert "not synced" in recording.problem
        disk.fail.clear()
        recording.feed(data)
        assert recording.problem is None
        recording.end()
    assert len(load(tmp_path / "run.jsonl", strict=True).messages) == 3 * 100
