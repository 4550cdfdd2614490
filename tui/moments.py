"""Where a person asks to go in a replay, as moments: rows on or back, a number, a time, a share.

Pure over the whole log: the future is looked at, it is only not shown.
"""

from __future__ import annotations

from sessionlog.records import Message
from sessionlog.window import CHUNK
from tui.destination import destination, time_of_day
from tui.row_lines import Clock
from tui.rows import Row
from tui.timeline import END_PLACE, Timeline
from tui.track import Beat, Track


class Moments:
    """The moments of one log."""

    def __init__(self, track: Track, timeline: Timeline) -> None:
        """`timeline` is that of the whole log, as the past one shows it."""
        self.track = track
        self.timeline = timeline

    def rows_on(self, beat: Beat, row: Row | None, delta: int) -> Beat:
        """The moment at which the row begins that is `delta` rows below the one shown (above);
        the last moment, or the first, where there are not so many."""
        timeline = self.timeline
        pos = timeline.find_place(row.place) if row else None
        while pos is not None:
            there = timeline.step(pos, delta)
            if there == pos:
                break
            found = self._begin(timeline.row(there))
            if found is not None and found != beat:
                return found
            pos, delta = there, 1 if delta > 0 else -1  # the line of a gap is that of its row
        edge = self.track.last if delta > 0 else self.track.first
        return edge or beat

    def _begin(self, row: Row) -> Beat | None:
        return self.track.last if row.place == END_PLACE else self.track.holding(row.place[0])

    def goto(self, text: str, beat: Beat, row: Row | None, clock: Clock) -> Beat | str:
        """Where "143", "50%", "03:31" or "+5m" leads; or why it leads nowhere."""
        text = text.strip()
        if text.isdecimal():
            found = self._message(int(text[:18]))
            if found is not None:
                return found
        elif text.endswith("%") and text[:-1].isdecimal():
            return self.track.holding(self.track.log.size * int(text[:-1][:4]) // 100) or beat
        elif ":" in text and (seconds := time_of_day(text, row.at if row else "", clock)):
            return self.track.at_time(seconds) or beat
        pos = destination(text, self.timeline, row, clock)
        if isinstance(pos, str):
            return pos
        return self._begin(self.timeline.row(pos)) or beat

    def _message(self, n: int) -> Beat | None:
        """The line of message `n`; None while it is not counted yet, or not there."""
        number = self.timeline.marks.chunk_of(n)
        before = None if number is None else self.timeline.marks.messages_before(number)
        if number is None or before is None:
            return None
        messages = [
            r for r in self.timeline.chunk(number).records if isinstance(r.payload, Message)
        ]
        if not before < n <= before + len(messages):
            return None
        return self.track.holding(messages[n - before - 1].span.offset)

    def arrives(self, row: Row) -> str:
        """When the result of a call that runs is written (RFC 3339); "" when it never is, or the
        log does not tell."""
        if row.sort != "call" or row.sign != "run" or row.place[0] // CHUNK >= self.timeline.chunks:
            return ""
        for whole in self.timeline.rows(row.place[0] // CHUNK):
            if whole.place == row.place and len(whole.records) > 1:
                return whole.records[-1].at
        return ""
