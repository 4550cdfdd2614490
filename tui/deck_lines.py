"""How a replay plays and where it is, as one line. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from sessionlog.text import took, width
from tui.lines import Line, Piece
from tui.replay import Transport
from tui.row_lines import Clock
from tui.tempo import Tempo

_LONG = 160
"""Columns from which the bar has room for the length of the run."""


class Playing(NamedTuple):
    """What the bar says. All texts are visible."""

    playing: bool = False
    ended: bool = False
    """All of the log is there."""
    speed: float = 1.0
    clock: str = ""
    end: str = ""
    """Clock of the last line."""
    n: int | None = None
    """Messages that are there; None while they are not counted."""
    total: str = ""
    """Messages of the log: "147", "147+" while they are counted."""
    passed: float | None = None
    """Seconds of the run so far, and of all of it."""
    whole: float | None = None
    idle: float | None = 2.0
    saved: float | None = None
    """Seconds that the idle cap leaves out, of the whole run; None while they are not known."""
    error_in: float | None = None
    """Wall seconds to the next error; None where there is none near."""
    end_in: float | None = None
    live: bool = False


def playing(
    transport: Transport, clock: Clock, tempo: Tempo | None, error: float | None
) -> Playing:
    """What the transport itself tells; `error`: seconds of run until the next one."""
    pace, track = transport.pace, transport.track
    begins, ends, now = track.begins, track.ends, transport.clock
    passed = whole = None
    if begins is not None and ends is not None and now is not None:
        passed, whole = now - begins, ends - begins
    return Playing(
        transport.playing, transport.following is None, pace.speed,
        told(clock, now), told(clock, ends), passed=passed, whole=whole, idle=pace.idle,
        saved=tempo.saved(pace.idle) if tempo else None,
        error_in=None if error is None else error / pace.speed,
        end_in=tempo.left(transport) / pace.speed if tempo else None,
    )  # fmt: skip


def told(clock: Clock, seconds: float | None) -> str:
    """A moment (POSIX seconds) as the clock tells it."""
    if seconds is None:
        return ""
    return clock.tell(datetime.fromtimestamp(int(seconds), UTC).isoformat(), short=False)


def state_line(state: Playing, columns: int) -> Line:
    """How it plays and where it is; at the right what is to come. Facts drop that do not fit."""
    left = [*_sign(state), *_clock(state), *_number(state)]
    if columns >= _LONG and state.whole:
        left += [(f"   {took(state.passed or 0)}", "fg"), (f" of {took(state.whole)}", "fg-3")]
    room = columns - sum(width(text) for text, _ in left) - 2
    right: list[Piece] = [(" ", "")]
    for fact in (_end(state), _error(state), _gaps(state)):
        size = sum(width(text) for text, _ in fact)
        if size <= room:
            right, room = [*fact, *right], room - size
    return Line(left, right, "surface")


def speed_of(speed: float) -> str:
    """8x, 0.25x"""
    return f"{speed:g}x"


def _sign(state: Playing) -> list[Piece]:
    speed = (f" {speed_of(state.speed):<5} ", "fg-1 bold")
    if state.playing:
        return [(" ►", "run bold"), speed]
    return [(" end   " if state.ended else " paused", "fg-2"), speed]


def _clock(state: Playing) -> list[Piece]:
    if not state.clock.strip():
        return []
    return [(state.clock, "fg-1 bold"), (f" of {state.end}" if state.end.strip() else "", "fg-3")]


def _number(state: Playing) -> list[Piece]:
    if state.n is None:
        return [(f"   {state.total} messages", "fg-3")] if state.total else []
    return [(f"   {state.n:,}", "fg"), (f" of {state.total}", "fg-3")]


def _gaps(state: Playing) -> list[Piece]:
    if state.idle is None:
        return [("   gaps as they were", "fg-3")]
    pieces: list[Piece] = [("   gaps cut to ", "fg-3"), (f"{state.idle:g}s", "fg-1")]
    if state.saved is not None:
        pieces.append((f", {took(state.saved)} saved", "fg-3"))
    return pieces


def _error(state: Playing) -> list[Piece]:
    if state.error_in is None:
        return []
    return [("   ✗", "fail bold"), (" in ", "fg-2"), (took(state.error_in), "fg-1")]


def _end(state: Playing) -> list[Piece]:
    if state.ended and state.live:
        return [("   live", "run"), (", waits for more", "fg-2")]
    if state.end_in is None or state.ended:
        return []
    return [("   end in ", "fg-2"), (took(state.end_in), "fg-1")]
