"""Threads that call the library and only post messages.

Each is a plain function: what it needs comes in, what it finds goes out through `post`, and it
ends soon after `stopped` says so.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from textual.message import Message

from sessionlog.follow import Changes, Folder, Hints, changes
from sessionlog.listing import glance, with_life
from sessionlog.records import Entry, Status
from tui import messages

Post = Callable[[Message], object]
Stopped = Callable[[], bool]

_BATCH = 0.1
"""Seconds between two batches of rows while heads are read."""
_LIFE = (0.5, 5.0)
"""Seconds after which running sessions, and unfinished ones, are asked again whether they live:
a writer may die, or come back, without a byte being written."""
_SHARE = 200
"""Running ones are asked no sooner than so many times what asking cost, up to the seconds of
unfinished ones."""
_NOTICE = 0.1
"""Seconds after which the thread that waits for the open log asks whether it is to stop."""
_GROWTH = 60.0
"""Seconds for which growth that was seen counts as evidence of a living writer."""


@dataclass
class Catalogue:
    """What is known of the sessions in some places. Used by one thread at a time."""

    places: tuple[str, ...]
    folder: Folder = field(init=False)
    rest: list[str] = field(default_factory=list)
    """Logs that nobody has looked at yet, the likely newest last."""
    total: int = 0
    known: dict[str, Entry] = field(default_factory=dict)
    read: dict[str, Entry] = field(default_factory=dict)
    """The rows as their logs alone have them: while those stay as they are, only life is asked."""
    grew: dict[str, float] = field(default_factory=dict)
    """When growth was seen, by a steady clock."""
    witnessed: set[str] = field(default_factory=set)
    """Logs whose writer was seen by better evidence: when that is gone, so is the writer, however
    lately the log grew."""

    def __post_init__(self) -> None:
        self.folder = Folder(self.places)
        self._asking: threading.Thread | None = None

    @property
    def lone(self) -> bool:
        """Is it one log that is looked at, not a folder or a database?"""
        return len(self.places) == 1 and self.total < 2 and not os.path.isdir(self.places[0])

    def begin(self, budget: float) -> None:
        """Find the logs, and read heads and tails for so many seconds: the first screenful."""
        end = time.monotonic() + budget
        # names of logs start with their time, nearly always: a good guess at the newest
        self.rest = sorted(self.folder.look().new, key=os.path.basename)
        self.total = len(self.rest)
        read = self._glances(until=lambda: time.monotonic() > end)
        # whether writers live is asked of the kernel, which takes its time: meanwhile others import
        self._asking = threading.Thread(target=self.keep, args=(read,), name="life")
        self._asking.start()

    def named(self, path: str) -> str:
        """The path as the places that are looked in make it: the same log is not listed twice."""
        full = os.path.abspath(path)
        for place in self.places:
            base = os.path.join(os.path.abspath(place), "")
            if full.startswith(base):
                return os.path.join(place, full[len(base) :])
        return path

    def begun(self) -> dict[str, Entry]:
        """What `begin` found."""
        if self._asking is not None:
            self._asking.join()
            self._asking = None
        return self.known

    def take(self, until: Callable[[], bool]) -> tuple[Entry, ...]:
        """Read on until told to stop; gives what was read."""
        return self.keep(self._glances(until))

    def _glances(self, until: Callable[[], bool]) -> list[Entry]:
        read = []
        while self.rest:
            read.append(glance(self.rest.pop()))
            if until():
                break
        return read

    def keep(self, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        """Remember rows that were read; gives those that differ from what was known."""
        read = list(entries)
        self.read.update((entry.path, entry) for entry in read)
        return self._judged(read)

    def ask(self, paths: Iterable[str]) -> tuple[Entry, ...]:
        """Ask again whether these have a writer, with one look at the processes for all; as
        `keep`. What their logs say is not read again: what changes in them is seen by their files.
        """
        return self._judged([self.read[path] for path in paths])

    def _judged(self, read: list[Entry]) -> tuple[Entry, ...]:
        now = time.monotonic()
        seen = with_life(read)
        self.witnessed |= {entry.path for entry in seen if entry.status is Status.RUNNING}
        told = [self._grown(entry, now) for entry in seen]
        new = tuple(entry for entry in told if self.known.get(entry.path) != entry)
        self.known.update((entry.path, entry) for entry in new)
        return new

    def _grown(self, entry: Entry, now: float) -> Entry:
        seen = self.grew.get(entry.path)
        ended = entry.status in (None, Status.COMPLETE, Status.RUNNING) or entry.failed
        if ended or seen is None or now - seen > _GROWTH or entry.path in self.witnessed:
            return entry
        return entry._replace(status=Status.RUNNING)

    def saw(self, changed: Iterable[Entry], now: float) -> None:
        """Which of them grew: what became shorter, or has the same length, shows no writer."""
        for entry in changed:
            was = self.known.get(entry.path)
            if was is not None and entry.bytes > was.bytes:
                self.grew[entry.path] = now
            else:
                self.grew.pop(entry.path, None)

    def forget(self, paths: Iterable[str]) -> None:
        """Those logs are gone."""
        for path in paths:
            self.known.pop(path, None)
            self.read.pop(path, None)

    def standing(self, *status: Status) -> list[str]:
        """Paths of the sessions that stand so."""
        return [path for path, entry in self.known.items() if entry.status in status]


def read_rest(catalogue: Catalogue, post: Post, stopped: Stopped) -> None:
    """Read the heads and tails that are left, a batch at a time."""
    while catalogue.rest and not stopped():
        end = time.monotonic() + _BATCH
        found = catalogue.take(until=lambda end=end: time.monotonic() > end or stopped())  # type: ignore[misc]
        post(messages.Read(found, catalogue.total - len(catalogue.rest), catalogue.total))


def watch(catalogue: Catalogue, open_log: Callable[[], str], post: Post, stopped: Stopped) -> None:
    """Read what is left, then tell what changes in the folders until stopped."""
    hints = Hints(catalogue.places)
    hints.start()
    try:
        read_rest(catalogue, post, stopped)
        due = [time.monotonic() + seconds for seconds in _LIFE]
        problem = None
        for found in changes(catalogue.folder, hints, stopped):
            if hints.problem != problem:
                problem = hints.problem
                post(messages.WatchState(problem))
            if found:
                _tell(catalogue, found, post)
                if open_log() in (*found.changed, *found.gone):
                    post(messages.LogGrew(open_log()))
            _ask_for_life(catalogue, due, post)
    finally:
        hints.stop()


def watch_log(path: str, post: Post, stopped: Stopped) -> None:
    """Tell when something happens to the open log, until stopped."""
    from sessionlog.logfile import watched
    from sessionlog.notice import Notice  # nothing waits before the first paint

    notice = Notice(watched(path))
    post(messages.LogGrew(path))  # what happened before it was watched
    try:
        while not stopped():
            if notice.wait(_NOTICE):
                post(messages.LogGrew(path))
    finally:
        notice.close()


def _tell(catalogue: Catalogue, found: Changes, post: Post) -> None:
    now = time.monotonic()
    read = [glance(path) for path in (*found.new, *found.changed)]
    catalogue.saw(read[len(found.new) :], now)
    catalogue.forget(found.gone)
    entries = catalogue.keep(read)
    if entries or found.gone:
        post(messages.Changed(entries, found.gone))


def _ask_for_life(catalogue: Catalogue, due: list[float], post: Post) -> None:
    """Ask the running ones often and the unfinished ones seldom whether their writers live."""
    for i, status in enumerate(((Status.RUNNING,), (Status.UNFINISHED, Status.TRUNCATED))):
        if time.monotonic() >= due[i]:
            began = time.thread_time()
            if entries := catalogue.ask(catalogue.standing(*status)):
                post(messages.Changed(entries))
            cost = time.thread_time() - began
            due[i] = time.monotonic() + min(max(_LIFE[i], _SHARE * cost), _LIFE[1])


def guarded(what: str, work: Callable[[], object], post: Post) -> None:
    """A worker's outer edge: an error of ours must show on the screen, not end it."""
    try:
        work()
    except Exception as error:
        post(messages.Failed(what, f"{type(error).__name__}: {error}"))
