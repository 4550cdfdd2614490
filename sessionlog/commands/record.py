"""`sessionlog record`: an agent's stream from standard input, passed through and recorded."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
from types import FrameType

from sessionlog.commands.common import CANNOT, DONE
from sessionlog.dialects import NAMES
from sessionlog.dialects.base import About
from sessionlog.dialects.lines import Lines
from sessionlog.dialects.table import about
from sessionlog.errors import SessionLogError
from sessionlog.paths import native_folder
from sessionlog.recording import Recording
from sessionlog.records import Message, Meta
from sessionlog.shown import json_line
from sessionlog.text import visible
from sessionlog.through import Through
from sessionlog.writer import Writer, start

_FIRST, _PATIENCE = 10.0, 1.0
"""Seconds in which a stream may begin, and from then on say what it is, before its log is made."""
_HEAD = 64 << 10
"""Bytes in which it may."""
_LINGER = 2.0
"""Seconds in which what was read is still passed on after a signal."""


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    sub.add_argument("--dir", metavar="D", help="keep the log here, not among the native ones")
    sub.add_argument("--from", dest="dialect", choices=NAMES, default="",
                     help="what the stream is; else its first lines tell")  # fmt: skip
    sub.add_argument("--task", metavar="TEXT", default="", help="what the agent was asked to do")
    sub.add_argument("--model", metavar="NAME", default="", help="where the stream does not say")


def run(options: argparse.Namespace) -> int:
    """Do it. The log is made as soon as the stream has said of what model it is, or might have."""
    _hold_descriptors()
    through = Through(0, 1)
    stopped: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.append(number)
        through.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    through.start()
    head, known = (b"", About()) if options.dialect == "text" else _head(through)
    log = _Log(options, known)
    log.feed(head)
    for chunk in through:
        log.feed(chunk)
    log.end("stopped" if stopped else "", through.lost)
    while not through.wait(_LINGER) and not stopped:
        pass  # whoever reads us is slow
    return 128 + stopped[0] if stopped else log.code


def _hold_descriptors() -> None:
    """Put something in the place of a standard stream that is closed: the log would come to lie
    there, and what is passed on would be written into it."""
    if sys.stdout is None:
        _print("sessionlog: standard output is closed: what comes is recorded and not passed on")
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number


def _head(through: Through) -> tuple[bytes, About]:
    """The first bytes, up to a line that tells of the run, and what it tells."""
    head, lines = b"", Lines(_HEAD)
    until = time.monotonic() + _FIRST
    while len(head) < _HEAD:
        chunk = through.get(max(until - time.monotonic(), 0))
        if not chunk:
            break
        if not head:
            until = time.monotonic() + _PATIENCE
        head += chunk
        for line in lines.feed(chunk):
            if (known := about(line.data)) is not None:
                return head, known
    return head, About()


class _Log:
    """The log that is written, and what is said of it on standard error."""

    def __init__(self, options: argparse.Namespace, known: About) -> None:
        self.code = DONE
        self._dialect = options.dialect
        self._problem: str | None = None
        writer: Writer | None = None
        try:
            writer = start(options.dir or native_folder(), _meta(options, known))
        except SessionLogError as error:  # the stream goes through all the same
            self._say(f"not recorded: {error}")
            self.code = CANNOT
        self._recording = Recording(options.dialect, writer)
        if writer is not None:
            place = {"id": writer.id, "path": writer.path}
            _print(json_line(place) if options.json else "  ".join(map(visible, place.values())))
        if options.task:
            self._recording.record(Message("user", options.task))

    def feed(self, data: bytes) -> None:
        """More of the stream."""
        self._recording.feed(data)
        self._look()

    def end(self, how: str, lost: int) -> None:
        """The stream is over."""
        self._recording.end(how)
        if self._recording.remark:
            self._dialect = self._recording.dialect
            self._say(self._recording.remark)
        self._look()
        if lost:
            self._say(f"{lost:,} bytes were not recorded: the disk did not take them in time")
        if lost or self._problem:
            self.code = CANNOT

    def _look(self) -> None:
        """Say what the stream is, once it tells, and what is wrong with the writing."""
        if self._recording.dialect != self._dialect:
            self._dialect = self._recording.dialect
            self._say(f"the stream is {self._dialect}")
        problem = self._recording.problem
        if bool(problem) != bool(self._problem):
            self._say(problem or "the disk takes records again")
        self._problem = problem

    def _say(self, words: str) -> None:
        _print(f"sessionlog: {visible(words)}")


def _print(line: str) -> None:
    """A line on standard error, which may be gone: the recording does not hang on it."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(line, file=sys.stderr, flush=True)


def _meta(options: argparse.Namespace, known: About) -> Meta:
    model, workdir = options.model or known.model, known.workdir or os.getcwd()
    return Meta(task=options.task, model=model, driver="record", workdir=workdir)
