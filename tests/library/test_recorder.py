"""Recording never stops the run: what fails is told, waits in order, and is written later."""

from __future__ import annotations

import errno
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sessionlog.append import Disk
from sessionlog.reader import load
from sessionlog.recorder import Recorder
from sessionlog.records import Image, Message, Result
from sessionlog.writer import Writer, create


class Space:
    """A disk that is full while it is told to be."""

    def __init__(self) -> None:
        self.full = False
        self.tries = 0

    def write(self, fd: int, data: bytes) -> int:
        self.tries += 1
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.write(fd, data)


@pytest.fixture
def space() -> Space:
    return Space()


@pytest.fixture
def writer(tmp_path: Path, space: Space) -> Writer:
    return create(tmp_path, "run", {"task": "t"}, disk=Disk(write=space.write))


def says(text: str) -> Message:
    return Message("bot", text)


def texts(writer: Writer) -> list[str]:
    return [m.text for m in load(writer.path, strict=True).messages]


def test_a_run_is_recorded_without_its_tokens(writer: Writer) -> None:
    recorder = Recorder(writer)
    recorder.message(Message("user", "Begin."))
    for word in ("to", "ken"):
        recorder.event("token", text=word)
        recorder.event("reasoningToken", text=word)
    recorder.event("toolCallStart", "shell", "{}", 3)
    recorder.reset()
    recorder.message(says("Done."))
    recorder.result(Result("settled", calls=1))
    recorder.close()
    session = load(writer.path, strict=True)
    assert [(e.kind, e.tool, e.text, e.iteration) for e in session.events] == [
        ("toolCallStart", "shell", "{}", 3)
    ]
    assert [m.text for m in session.messages] == ["Done."]
    assert session.result == Result("settled", calls=1)
    assert recorder.problem is None


def test_no_recorder_is_harmless() -> None:
    recorder = Recorder(None)
    recorder.message(says("x"))
    recorder.event("notice")
    recorder.reset()
    recorder.result(Result("settled"))
    recorder.close()
    assert recorder.problem is None


def test_a_full_disk_is_told_within_one_record_and_recording_resumes_by_itself(
    writer: Writer, space: Space
) -> None:
    recorder = Recorder(writer)
    recorder.message(says("before"))
    space.full = True
    recorder.message(says("one"))
    assert "No space left" in (recorder.problem or "")
    assert writer.path in (recorder.problem or "")
    recorder.event("notice", text="two")
    recorder.message(says("three"))
    assert "wait: 3" in (recorder.problem or "")
    space.full = False
    recorder.message(says("four"))
    assert recorder.problem is None
    assert texts(writer) == ["before", "one", "three", "four"]
    assert [e.text for e in load(writer.path).events] == ["two"]


def test_what_waited_keeps_the_time_it_happened(writer: Writer, space: Space) -> None:
    recorder = Recorder(writer)
    space.full = True
    recorder.message(says("early"))
    after = datetime.now(UTC)
    space.full = False
    recorder.message(says("late"))
    times = [s.record.time for s in load(writer.path).history]
    assert times[0] is not None
    assert times[1] is not None
    assert times[0] <= after <= times[1]


def test_a_full_disk_is_tried_once_a_record(writer: Writer, space: Space) -> None:
    recorder = Recorder(writer)
    space.full = True
    for _ in range(10):
        recorder.message(says("x"))
    before = space.tries
    recorder.message(says("x"))
    assert space.tries == before + 1


def test_closing_writes_what_waits(writer: Writer, space: Space) -> None:
    recorder = Recorder(writer)
    space.full = True
    recorder.message(says("waits"))
    space.full = False
    recorder.close()
    assert texts(writer) == ["waits"]
    assert recorder.problem is None


def test_what_is_lost_at_the_end_is_told(writer: Writer, space: Space) -> None:
    recorder = Recorder(writer)
    space.full = True
    recorder.message(says("waits"))
    recorder.close()
    assert "wait: 1" in (recorder.problem or "")


def test_pictures_wait_for_space_too(tmp_path: Path, writer: Writer) -> None:
    recorder = Recorder(writer)
    blocked = tmp_path / "run.blobs"
    blocked.write_bytes(b"in the folder's place")
    recorder.message(Message("attachment", "a picture", images=(Image("image/png", data=b"x"),)))
    assert "wait: 1" in (recorder.problem or "")
    blocked.unlink()
    recorder.event("notice")
    assert recorder.problem is None
    assert len(os.listdir(blocked)) == 1
    assert texts(writer) == ["a picture"]


def test_too_many_that_wait_cost_events_first(writer: Writer, space: Space) -> None:
    recorder = Recorder(writer, waiting=3)
    space.full = True
    recorder.message(says("one"))
    recorder.event("notice", text="early")
    recorder.message(says("two"))
    recorder.event("notice", text="late")
    recorder.message(says("three"))
    recorder.message(says("one too many"))
    assert "lost: 3 (too many waited)" in (recorder.problem or "")
    space.full = False
    recorder.message(says("four"))
    assert texts(writer) == ["one", "two", "three", "four"]
    assert load(writer.path).events == ()
    assert recorder.problem == "records lost: 3 (too many waited)"


@pytest.mark.parametrize("bad", [Message("bot", extra={"x": object()}), "no message", None])
def test_what_can_never_be_written_is_told_and_costs_nothing_else(writer: Writer, bad: Any) -> None:
    recorder = Recorder(writer)
    recorder.message(bad)
    assert "lost: 1" in (recorder.problem or "")
    recorder.message(says("next"))
    assert texts(writer) == ["next"]


def test_a_closed_log_is_told_and_does_not_raise(writer: Writer) -> None:
    recorder = Recorder(writer)
    recorder.result(Result("settled"))
    recorder.event("notice")
    assert "the result is written" in (recorder.problem or "")
    recorder.close()
    recorder.close()
    recorder.message(says("late"))
    assert "lost: 2" in (recorder.problem or "")


def test_threads_may_share_a_recorder(writer: Writer, space: Space) -> None:
    recorder = Recorder(writer)
    space.full = True

    def run(name: str) -> None:
        for n in range(50):
            recorder.message(says(f"{name} {n}"))
            if n == 25:
                space.full = False

    threads = [threading.Thread(target=run, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.close()
    assert recorder.problem is None
    found = texts(writer)
    for name in "ab":
        assert [t for t in found if t.startswith(name)] == [f"{name} {n}" for n in range(50)]
