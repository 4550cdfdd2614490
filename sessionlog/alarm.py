"""When a person who does not look should be told how a run stands. Pure."""

from __future__ import annotations

from sessionlog.records import Status
from sessionlog.text import took


class Alarm:
    """Says once what happened to a run; again only when it went on in between.

    How the run stands at the first look is what the person knows already.
    """

    def __init__(self, silent_after: float | None = None) -> None:
        """`silent_after`: seconds without growth of a running log that are told; None: never."""
        self.silent_after = silent_after
        self._stood: str | None = None
        """How it stood at the last look; None before the first."""
        self._silent_since: float | None = None
        """The growth after which the silence was told."""

    def see(
        self, status: Status | None, ok: bool | None, last_growth: float, now: float
    ) -> str | None:
        """What to tell: "failed", "ended", "stopped: writer gone", "silent for 5m"; None: nothing.

        `last_growth` and `now` in seconds of one clock.
        """
        stands = _stands(status, ok)
        before, self._stood = self._stood, stands
        if stands:
            return stands if before is not None and stands != before else None
        if self.silent_after is None or now - last_growth < self.silent_after:
            return None
        if self._silent_since == last_growth:
            return None
        self._silent_since = last_growth
        return f"silent for {took(now - last_growth)}"


def _stands(status: Status | None, ok: bool | None) -> str:
    """The word for a run that is over; "" while it runs, or when nothing is known of it."""
    if ok is False:
        return "failed"
    if status is Status.COMPLETE:
        return "ended"
    return "stopped: writer gone" if status in (Status.UNFINISHED, Status.TRUNCATED) else ""
