"""`sessionlog record`: what comes in goes out, whatever happens to the recording, and back."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
import streams

from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Status
from sessionlog.session import Session
from sessionlog.why.look import look
from sessionlog.why.said import headline

ROOT = Path(__file__).parent.parent.parent
STREAM = streams.claude([[("call", "make test")], [("text", "Done.")]]).data


class Run:
    """A running `sessionlog record`."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sessionlog", "record", "--dir", str(folder), *more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=ROOT, start_new_session=True,
        )  # fmt: skip
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self.stdin: IO[bytes] = self.process.stdin
        self.stdout: IO[bytes] = self.process.stdout
        self.stderr: IO[bytes] = self.process.stderr

    def give(self, data: bytes) -> None:
        self.stdin.write(data)
        self.stdin.flush()

    def path(self) -> Path:
        """Where the log is, from the first line on standard error."""
        return Path(self.stderr.readline().decode().split()[-1])

    def end(self) -> tuple[int, bytes, str]:
        """Exit status, the rest of the output, and what was said."""
        out, said = self.process.communicate(timeout=60)
        return self.process.returncode, out, said.decode()


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Run]]:
    runs: list[Run] = []
    yield runs
    for run in runs:
        run.process.kill()
        for pipe in (run.stdin, run.stdout, run.stderr):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        run.process.wait()


def start(started: list[Run], folder: Path, *more: str) -> Run:
    started.append(Run(folder, *more))
    return started[-1]


def until_written(path: Path, words: bytes) -> None:
    """The log holds these words, though nothing was read or closed for it."""
    end = time.monotonic() + 60
    while words not in path.read_bytes():
        assert time.monotonic() < end, f"{words!r} is not written"


def only(folder: Path) -> Session:
    [path] = folder.glob("*.jsonl")
    return load(path, strict=True)


@pytest.mark.parametrize("shape", streams.MAKERS)
def test_a_stream_comes_out_as_it_went_in_and_is_recorded(
    shape: str, tmp_path: Path, started: list[Run]
) -> None:
    told = [[("text", "Looking."), ("call", "ls")], [("text", "Done.")]]
    stream = streams.MAKERS[shape](told, None)
    run = start(started, tmp_path, "--task", "Fix it")
    run.give(stream.data)
    code, out, said = run.end()
    assert (code, out) == (0, stream.data)
    session = only(tmp_path)
    place, tells = said.splitlines()
    assert place.split() == [session.id, session.path]
    assert tells == f"sessionlog: the stream is {stream.dialect}"
    assert session.meta.task == "Fix it"
    assert session.messages[0].text == "Fix it"
    assert session.status is Status.COMPLETE


def test_any_bytes_come_out_as_they_went_in(tmp_path: Path, started: list[Run]) -> None:
    data = os.urandom(3_000_000) + b"\n\0\r\n" + "größer".encode("utf-16")
    run = start(started, tmp_path)
    assert run.process.communicate(data, timeout=60)[0] == data
    assert not only(tmp_path).damages


def test_bytes_go_through_at_once_and_records_are_there_while_it_runs(
    tmp_path: Path, started: list[Run]
) -> None:
    run = start(started, tmp_path, "--from", "text")
    path = run.path()
    run.give(b"no line feed")
    assert run.stdout.read(12) == b"no line feed"
    run.give(b" yet\nnext\n")
    assert run.stdout.read(10) == b" yet\nnext\n"
    run.process.kill()
    run.process.wait()
    assert load(path).status is Status.UNFINISHED


def test_the_model_and_the_folder_of_the_stream_are_in_the_head_of_the_log(
    tmp_path: Path, started: list[Run]
) -> None:
    hook = {"type": "system", "subtype": "hook_started", "session_id": "s"}
    run = start(started, tmp_path)
    run.give(json.dumps(hook).encode() + b"\n" + STREAM)
    run.end()
    meta = only(tmp_path).meta
    assert (meta.model, meta.workdir) == ("m-4", "/srv/app")


def test_as_json_the_place_of_the_log_is_an_object(tmp_path: Path, started: list[Run]) -> None:
    run = start(started, tmp_path, "--json")
    run.give(STREAM)
    _, _, said = run.end()
    place = json.loads(said.splitlines()[0])
    session = only(tmp_path)
    assert place == {"v": 1, "id": session.id, "path": session.path}


def test_a_reader_that_goes_away_ends_neither_the_agent_nor_the_recording(
    tmp_path: Path, started: list[Run]
) -> None:
    run = start(started, tmp_path)
    run.stdout.close()
    for at in range(0, len(STREAM), 100):
        run.give(STREAM[at : at + 100])
    run.stdin.close()
    assert run.process.wait(60) == 0
    assert only(tmp_path).ok


def test_a_reader_that_reads_nothing_keeps_nothing_from_the_log(
    tmp_path: Path, started: list[Run]
) -> None:
    run = start(started, tmp_path, "--from", "text")
    path = run.path()
    data = b"a line of what is printed\n" * 20_000  # more than a pipe holds
    run.give(data)
    run.give(b"the last\n")
    until_written(path, b"the last")
    assert run.process.poll() is None
    reader = threading.Thread(target=run.stdin.close)
    reader.start()
    assert run.stdout.read() == data + b"the last\n"
    reader.join()


def test_a_folder_that_cannot_be_used_stops_no_stream(tmp_path: Path, started: list[Run]) -> None:
    place = tmp_path / "file"
    place.write_text("no folder")
    run = start(started, place)
    run.give(STREAM)
    code, out, said = run.end()
    assert (code, out) == (2, STREAM)
    assert said.startswith(f"sessionlog: not recorded: {place}")


def test_a_full_disk_stops_no_stream_and_is_told(tmp_path: Path) -> None:
    record = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)); " \
        "from sessionlog.cli import main; sys.exit(main(sys.argv[1:]))"  # fmt: skip
    data = b"".join(b"line %d of what is printed\n" % n for n in range(1000))
    done = subprocess.run(
        [sys.executable, "-c", record, "record", "--from", "text", "--dir", str(tmp_path)],
        input=data, capture_output=True, cwd=ROOT, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, data)
    assert b"not written" in done.stderr
    assert only(tmp_path).events[0].text == "line 0 of what is printed"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_closes_the_log(
    number: signal.Signals, code: int, tmp_path: Path, started: list[Run]
) -> None:
    run = start(started, tmp_path)
    half = STREAM[: STREAM.index(b'{"type": "user"')]
    run.give(half)
    path = run.path()
    assert run.stdout.read(len(half)) == half
    until_written(path, b"make test")
    run.process.send_signal(number)
    assert run.end()[0] == code
    session = only(tmp_path)
    assert session.result is not None
    assert (session.result.reason, session.open_calls) == ("aborted", ())


def test_what_was_recorded_outlives_a_kill(tmp_path: Path, started: list[Run]) -> None:
    run = start(started, tmp_path)
    run.give(STREAM[: STREAM.index(b'{"type": "user"')])
    path = run.path()
    until_written(path, b"make test")
    run.process.kill()
    run.process.wait()
    session = load(path, strict=True)
    assert (session.status, len(session.open_calls)) == (Status.UNFINISHED, 1)


def test_an_empty_stream_leaves_a_log_that_says_so(tmp_path: Path, started: list[Run]) -> None:
    run = start(started, tmp_path)
    code, out, said = run.end()
    assert (code, out) == (0, b"")
    assert said.splitlines()[1:] == ["sessionlog: the stream was empty: nothing came"]
    session = only(tmp_path)
    assert (session.status, session.messages) == (Status.UNFINISHED, ())


def test_bytes_that_are_no_text_are_told(tmp_path: Path, started: list[Run]) -> None:
    run = start(started, tmp_path)
    run.give(bytes(range(256)) * 8)
    assert run.end()[2].splitlines()[1:] == ["sessionlog: what came is no text"]
    session = only(tmp_path)
    assert (session.ok, session.messages) == (None, ())


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "1>&- 2>&-"])
def test_a_standard_stream_that_is_closed_stops_no_recording(closed: str, tmp_path: Path) -> None:
    line = f'exec "$0" -m sessionlog record --dir "$1" {closed}'
    done = subprocess.run(
        ["sh", "-c", line, sys.executable, str(tmp_path)],
        input=STREAM, capture_output=True, cwd=ROOT, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    session = only(tmp_path)
    assert bool(session.ok) is ("0" not in closed)
    assert done.stdout == (STREAM if closed == "2>&-" else b"")
    if closed == "1>&-":
        assert done.stderr.startswith(b"sessionlog: standard output is closed: what comes is rec")


def test_another_command_says_why_it_cannot_answer() -> None:
    line = 'exec "$0" -m sessionlog list / 1>&-'
    done = subprocess.run(
        ["sh", "-c", line, sys.executable], capture_output=True, cwd=ROOT, timeout=60, check=False
    )
    said = b"sessionlog: standard output is closed: there is nowhere to answer\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_a_stream_that_brought_nothing_is_told_as_such(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "sessionlog", "record", "--dir", str(tmp_path), "--task", "t"],
        input=b"", check=True, capture_output=True,
    )  # fmt: skip
    (log,) = tmp_path.glob("*.jsonl")
    assert glance(str(log)).stop == "the stream was empty: nothing came"
    assert headline(look(str(log)).why) == ("Stopped", "the stream was empty: nothing came")
