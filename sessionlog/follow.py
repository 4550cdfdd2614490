"""Folders as they change: which logs are new, grew, or are gone.

What counts is what stat says: device, inode, size and times of each log. Events of the operating
system are hints that make a look happen soon; they get lost (overflows, network and container
mounts, names that are no UTF-8), so the truth is also looked up by the clock, ever so often that
looking costs next to nothing. The only user of watchfiles.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sessionlog.listing import logs_in
from sessionlog.logfile import print_of
from sessionlog.stores.base import Mark

EVERY = 0.5
"""Seconds between two looks at everything, at least."""
SHARE = 400
"""And at least so many times as long as a look took."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths of logs; each at most once."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone)


class Folder:
    """The logs in some folders (or named one by one), and what they were at the last look."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self._seen: dict[str, Mark] = {}
        self._homes: set[str] = set()
        self._strange: set[str] = set()

    def look(self) -> Changes:
        """What changed since the last look. O(logs): one stat each."""
        now = {path: seen for path in logs_in(self._paths) if (seen := print_of(path))}
        was, self._seen = self._seen, now
        self._homes = {os.path.dirname(path) for path in now} | set(self._paths)
        return Changes(
            tuple(path for path in now if path not in was),
            tuple(path for path, seen in now.items() if path in was and was[path] != seen),
            tuple(path for path in was if path not in now),
        )

    def look_at(self, touched: Iterable[str]) -> Changes:
        """The same for paths that something was said of. O(touched), but for what is strange: a
        folder, say, which may hold logs. Such a path has everything looked at, once.
        """
        known = []
        for path in touched:
            if path in self._seen or self._is_at_home(path):
                known.append(path)
            elif path not in self._strange:
                if len(self._strange) > 10_000:
                    self._strange.clear()
                self._strange.add(path)
                return self.look()
        return self._look_at(known)

    def _is_at_home(self, path: str) -> bool:
        """Is it a log that stands beside logs? Not everything below a folder is looked into."""
        return path.endswith(".jsonl") and os.path.dirname(path) in self._homes

    def _look_at(self, paths: Iterable[str]) -> Changes:
        new: list[str] = []
        changed: list[str] = []
        gone: list[str] = []
        for path in paths:
            now, was = print_of(path), self._seen.get(path)
            if now is None:
                if self._seen.pop(path, None):
                    gone.append(path)
            elif now != was:
                self._seen[path] = now
                (changed if was else new).append(path)
        return Changes(tuple(new), tuple(changed), tuple(gone))


class Hints:
    """Events of the operating system, gathered in a thread. `problem` says why there are none."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = [path for path in paths if os.path.isdir(path)]
        self._touched: set[str] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._told = threading.Event()
        self.problem = ""
        self._thread = threading.Thread(target=self._run, name="hints", daemon=True)

    def start(self) -> None:
        """Begin to watch; without a folder that is there, there is nothing to watch."""
        if self._paths:
            self._thread.start()

    def stop(self) -> None:
        """End the watch; the thread goes when it next wakes."""
        self._stop.set()
        self._told.set()

    def wait(self, seconds: float) -> list[str]:
        """The paths that were touched, as soon as there are some, or after so many seconds."""
        self._told.wait(seconds)
        with self._lock:
            self._told.clear()
            touched, self._touched = sorted(self._touched), set()
        return touched

    def _run(self) -> None:
        import watchfiles

        try:
            # the default filter leaves out .git, node_modules, .venv and others
            for batch in watchfiles.watch(
                *self._paths, watch_filter=None, stop_event=self._stop, raise_interrupt=False,
                ignore_permission_denied=True,
            ):  # fmt: skip
                with self._lock:
                    self._touched.update(path for _, path in batch)
                self._told.set()
        except (OSError, RuntimeError) as error:
            # too many watches, or a name that is no UTF-8 (a RuntimeError of its own)
            self.problem = f"no events ({_said(error)}): looking every few seconds"


def _said(error: Exception) -> str:
    text = str(error).partition("\n")[0]
    return "a file name is not UTF-8" if "decode" in text else text or type(error).__name__


def changes(
    folder: Folder,
    hints: Hints,
    stopped: Callable[[], bool],
    *,
    tick: float = 0.25,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Changes]:
    """What changes in a folder, as it does; empty every `tick` seconds in which nothing did.

    The empty ones let the caller look at what no file shows (does a writer still live?). Ends
    soon after `stopped` says so.
    """
    pause, last = EVERY, clock()
    while not stopped():
        touched = hints.wait(tick)
        if stopped():
            return
        if clock() - last < pause:
            yield folder.look_at(touched)
            continue
        last = clock()
        found = folder.look()
        pause = max(EVERY, SHARE * (clock() - last))
        yield found
