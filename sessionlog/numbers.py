"""Line and message numbers of hits that were given without: found first, counted later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sessionlog.counting import Counter
from sessionlog.errors import NotALog
from sessionlog.formats.base import Format
from sessionlog.framing import Line
from sessionlog.hit import Hit
from sessionlog.logfile import open_log
from sessionlog.needle import things
from sessionlog.regions import line_start
from sessionlog.source import format_of
from sessionlog.window import Strip

Stopped = Callable[[], bool]


def resolve(hits: Iterable[Hit], stopped: Stopped = lambda: False) -> Iterator[Hit]:
    """Hits with their line and message numbers, in the order given; quick when those of a log come
    together and in order. O(bytes in front of them)."""
    numbers: Numbers | None = None
    try:
        for hit in hits:
            if hit.line:
                yield hit
                continue
            if numbers is None or numbers.path != hit.path:
                if numbers is not None:
                    numbers.close()
                numbers = Numbers(hit.path)
            yield numbers.numbered(hit, stopped)
            if stopped():
                return
    finally:
        if numbers is not None:
            numbers.close()


class Numbers:
    """Line and message numbers of the hits of one log."""

    def __init__(self, path: str) -> None:
        """Raises Unreadable or NotALog when the log is none any more."""
        self.path = path
        self._strip = Strip(open_log(path))
        try:
            self._form = format_of(path, self._strip.fd)
        except NotALog:
            self.close()
            raise
        self.counter = Counter(self._form, self._strip)

    def close(self) -> None:
        self._strip.close()

    @property
    def form(self) -> Format:
        return self._form

    def numbered(self, hit: Hit, stopped: Stopped = lambda: False) -> Hit:
        """The hit with its numbers; as it was when `stopped`."""
        start = line_start(self._strip, hit.offset)
        count = self.counter.before(start, stopped)
        if count is None:
            return hit
        n = None
        if hit.kind not in _UNNUMBERED:
            end = self._strip.line_end(hit.offset)
            line = Line(0, start, self._strip.read(start, end - start), True)
            n = count.messages
            for thing in things(self._form, line):
                n += thing.is_message
                if thing.place == (hit.offset, hit.part):
                    break
        return hit._replace(line=count.lines + 1, n=n)


_UNNUMBERED = ("event", "result", "reset", "meta", "damage", "other")
