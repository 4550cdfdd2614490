"""How long until the next error: a bounded look ahead of a replay, in slices. Pure."""

from __future__ import annotations

from sessionlog.formats.base import TROUBLE
from tui import ahead
from tui.looking import Look
from tui.moments import Moments
from tui.replay import Transport
from tui.timeline import Seeking
from tui.track import Beat

NEAR = 64
"""Chunks that are looked through."""


class Outlook:
    """The next error behind a moment that moves; looks again when it was passed, or left."""

    def __init__(self, moments: Moments, transport: Transport) -> None:
        self._moments, self._transport = moments, transport
        self.forget()

    def forget(self) -> None:
        """The log changed."""
        self._look: Look | None = None
        self._from: Beat | None = None
        self._error: Beat | None = None

    @property
    def seconds(self) -> float | None:
        """Seconds of run until the next error; None where there is none near, or not yet known."""
        if self._error is None or not self._holds:
            return None
        return self._transport.until(self._error)

    @property
    def _holds(self) -> bool:
        """Does what was found answer for where the replay is?"""
        here, begun = self._transport.beat, self._from
        if begun is None or here.start < begun.start or self._look is not None:
            return False
        if self._error is None:
            return here.number < begun.number + NEAR // 2
        return here.start < self._error.start

    def look(self, seconds: float) -> bool:
        """Look on for so long; True when it is known."""
        if self._holds:
            return True
        here = self._transport.beat
        begun = self._from
        if self._look is None or begun is None or here.start < begun.start:
            seeking = ahead.later(self._moments.timeline, here.end, ahead.is_trouble, TROUBLE)
            self._look, self._from = Look(_within(seeking, NEAR), ""), here
        if not self._look.work(seconds):
            return False
        found, self._look = self._look.found, None
        self._error = self._moments.track.holding(found[0]) if found else None
        return self._holds


def _within(seeking: Seeking, steps: int) -> Seeking:
    """So many steps of a look, and no more."""
    for _ in range(steps):
        try:
            part = next(seeking)
        except StopIteration as over:
            found: tuple[int, int] | None = over.value
            return found
        yield part
    return None
