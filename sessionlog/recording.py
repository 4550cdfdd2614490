"""An agent's stream, recorded as it comes: bytes in, records of a native log out.

What a dialect finds whole is written the moment it is; everything goes through `masked` first. How
the log ends is decided here, from three witnesses: what the stream says of its own end, the
program's exit status, and whether somebody stopped it. A program whose stream breaks off without
an ending left the run unfinished, as its own log would say; an answer of a service that breaks off
is an error of the connection, which ended the run.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from sessionlog.dialects.base import CUT, DAMAGE, INTERRUPTED, PARTIAL, Dialect, Standing, response
from sessionlog.dialects.guess import Guess
from sessionlog.dialects.lines import Line, Lines
from sessionlog.dialects.plain import Plain
from sessionlog.dialects.table import dialect as dialect_named
from sessionlog.masked import masked, masked_cut
from sessionlog.recorder import Recorder
from sessionlog.records import ENDED, Activity, Event, Message, Payload, Result
from sessionlog.secrets import mask
from sessionlog.writer import Writer

LONGEST = 64 << 20
"""Bytes of a line that is read whole; ordinary logs have lines of a megabyte (formats.md 0)."""
_PRINTED = 1 << 20
"""Bytes of a line on standard error."""
_OPEN = 10_000
"""Calls that may wait for a result; the oldest is let go when there are more."""
_WORDS = 500
EMPTY = "the stream was empty: nothing came"
_STOPS = {
    "stopped": INTERRUPTED,
    "viewer gone": "Interrupted: what had started it was gone.",
    "unwatched": "Interrupted: what watched it was killed.",
}
"""What a log says of each way to be ended by somebody else."""


class Recording:
    """One stream, from its first byte to its last.

    `dialect` is one of `dialects.NAMES`, or "": the first lines tell it. `writer` None: everything
    is taken and nothing written. `ends` False: the log goes on after this stream, so it gets no
    result. Raises NotPossible for an unknown dialect, and nothing after that: a stream is data.
    """

    def __init__(self, dialect: str, writer: Writer | None, *, ends: bool = True) -> None:
        self.dialect = dialect
        """The name of the dialect; "" while it is not known."""
        self._dialect: Dialect = dialect_named(dialect) if dialect else Guess()
        self._recorder = Recorder(writer)
        self._ends = ends
        self._lines = Lines(LONGEST)
        self._errors = Lines(_PRINTED)
        self._stderr = Plain("stderr")
        self._said = ""
        """The last line on standard error."""
        self._open: OrderedDict[str, Activity] = OrderedDict()
        self._calls = 0
        self._came = False
        """Did any byte come?"""
        self.remark = ""
        """What is odd about the stream as a whole, for a person to read, once it is over."""
        self._ended = False

    @property
    def problem(self) -> str | None:
        """What is wrong with the writing, for a person to read; None while all is written."""
        return self._recorder.problem

    def feed(self, data: bytes) -> None:
        """More of the stream, cut anywhere."""
        self._came = self._came or bool(data)
        with self._recorder.together():
            for line in self._lines.feed(data):
                self._take(line)

    def stderr(self, data: bytes) -> None:
        """More of what the program prints on standard error: events, a line each."""
        for line in self._errors.feed(data):
            self._told(line)

    def end(self, how: str = "", code: int | None = None) -> None:
        """The stream is over: write how it stands, and let go of the log. Again does nothing.

        `how` is "" (ended by itself), "stopped" (by a person) or "viewer gone"; `code` the exit
        status of the program (negative: killed by that signal), None where nobody knows it.
        """
        if self._ended:
            return
        self._ended = True
        cut = bool(how) or code != 0
        if line := self._errors.rest():
            self._told(line, cut)
        self._write(self._stderr.rest())
        if line := self._lines.rest():
            self._take(line, cut, last=True)
        else:
            self._write(self._dialect.rest(b""))
        standing = self._dialect.standing()
        if not self._came and code is None:
            self.remark = EMPTY
        else:
            self._settle()
            self.remark = standing.remark
        self._write(standing.partial)
        if standing.cut or not self._came:
            self._write([Event(CUT, text=standing.cut or EMPTY)])
        elif self.remark:
            self._write([Event(DAMAGE, text=self.remark)])
        if how:
            self._close_calls(how)
        if self._ends and (result := self._result(standing, how, code)):
            self._write([result._replace(
                calls=self._calls, iterations=result.iterations or standing.answers
            )])  # fmt: skip
        self._recorder.close()

    def record(self, payload: Payload) -> None:
        """A record that is no part of the stream, such as the prompt that it answers."""
        self._write([payload])

    # -- the way to the disk -----------------------------------------------------------------------

    def _take(self, line: Line, cut: bool = False, last: bool = False) -> None:
        """A line of the stream; of one that is too long only what it began with is told."""
        if line.lost:
            start = line.data[:200].decode("utf-8", "replace")
            size = f"a line of {len(line.data) + line.lost:,} bytes was left out"
            self._write([Event(DAMAGE, text=f"{size}; it began: {start}")])
            self._write(self._dialect.rest(b"") if last else ())
        elif last:
            self._write(self._dialect.rest(line.data), cut)
        else:
            self._write(self._dialect.take(line.data))
            self._settle()

    def _settle(self) -> None:
        """The dialect by itself, once the first lines have told it."""
        if isinstance(self._dialect, Guess) and self._dialect.found is not None:
            self.dialect, self._dialect = self._dialect.name, self._dialect.found

    def _told(self, line: Line, cut: bool = False) -> None:
        self._write(self._stderr.take(line.data), cut)
        if said := line.data.decode("utf-8", "replace").strip():
            self._said = (masked_cut(said) if cut else mask(said))[:_WORDS]

    def _write(self, payloads: Iterable[Payload], cut: bool = False) -> None:
        for payload in payloads:
            if isinstance(payload, Message) and payload.activity is not None:
                payload = payload._replace(activity=self._paired(payload.activity))
            payload = masked(payload)
            torn = cut or (isinstance(payload, Event) and payload.kind in (PARTIAL, DAMAGE))
            if torn and isinstance(payload, Event | Message):
                payload = payload._replace(text=masked_cut(payload.text))
            self._put(payload)

    def _put(self, payload: Payload) -> None:
        match payload:
            case Message():
                self._recorder.message(payload)
            case Event(kind, tool, text, iteration):
                self._recorder.event(kind, tool, text, iteration)
            case Result():
                self._recorder.result(payload)

    def _paired(self, activity: Activity) -> Activity:
        """Remember a call until it is answered; an answer gets the call's name and arguments."""
        key = activity.id or f"{activity.name}\0{activity.arguments}"
        if activity.kind == "request":
            self._calls += 1
            self._open[key] = activity
            if len(self._open) > _OPEN:
                self._open.popitem(last=False)
            return activity
        asked = self._open.pop(key, None)
        if asked is None or activity.name:
            return activity
        return activity._replace(name=asked.name, arguments=asked.arguments)

    # -- the end -----------------------------------------------------------------------------------

    def _close_calls(self, how: str) -> None:
        for asked in list(self._open.values()):
            self._write([response(asked, INTERRUPTED, failed=True)])

    def _result(self, standing: Standing, how: str, code: int | None) -> Result | None:
        """How the run ended; None where nothing tells."""
        result = standing.result
        if how and (standing.cut or result is None):
            return Result("aborted", error=_STOPS.get(how, INTERRUPTED), code=_status(code) or 1)
        if result is not None and not (code and result.code == 0):
            return result._replace(code=_status(code) or result.code)
        if code is None:
            words = "; ".join(filter(None, [self.remark, _UNKNOWN]))
            return Result(ENDED, words) if self.dialect == "text" and self._came else None
        if code == 0 and not standing.cut:
            return Result("stop") if self.dialect == "text" or not self._open else None
        words = ": ".join(filter(None, [_ending(code), standing.cut or self._said]))
        return Result("error", error=words, code=_status(code))


_UNKNOWN = "the output ended; the exit status is not known"


def _status(code: int | None) -> int:
    """As a shell counts: 128 and the signal's number for a program that was killed."""
    return 128 - code if code is not None and code < 0 else code or 0


def _ending(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit status {code}" if code else ""
