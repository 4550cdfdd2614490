"""A regex that cannot hang: matched in another process, under a time limit that holds.

Python's `re` can take longer than the universe is old over forty characters, holds the
interpreter while it does, and cannot be interrupted. So texts go to a process of their own, which
the kernel ends when one takes longer than it may; that text is passed over and counted. After a
few of those the pattern is given up: `problem` says so.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import re
import select
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sessionlog.needle import Spans
from sessionlog.query import compiled
from sessionlog.sieve import Sieve

LIMIT = 0.5
"""Seconds that a text may take, and as much again for each megabyte of it."""
BATCH = 64 * 1024
"""Characters that go over at once."""
FEW = 3
"""Texts that may be passed over before the pattern is given up."""
_BLINK = 10
"""Milliseconds between two looks at `stopped`."""
_UNSURE = frozenset("iksIKS")
"""Letters that `re` finds beyond ASCII when case does not count (the Kelvin sign is a k)."""


class Matcher:
    """One pattern and the process that matches it; `close` ends that."""

    def __init__(
        self, pattern: str, ignore_case: bool = False, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        """Raises BadQuery for what is no regex."""
        made = compiled(pattern, ignore_case)
        self._asked = marshal.dumps((pattern, int(made.flags & ~re.UNICODE)))
        self._stopped = stopped
        self._process: subprocess.Popen[bytes] | None = None
        self.sieve = sieve_of(made)
        self.passed_over = 0
        """Texts that took too long."""

    @property
    def gave_up(self) -> bool:
        """Is the pattern given up?"""
        return self.passed_over > FEW

    @property
    def problem(self) -> str:
        """What was left out, in words; "" when nothing was."""
        count = self.passed_over
        if not count:
            return ""
        texts = "one text" if count == 1 else f"{count} texts"
        return f"the pattern took too long on {texts}" + (": given up" if self.gave_up else "")

    def spans(self, texts: Iterable[str]) -> dict[str, Spans]:
        """Where the pattern matches in each text; some are missing when the pattern is given up,
        all when `stopped`."""
        found: dict[str, Spans] = {}
        for batch in _batches(dict.fromkeys(texts)):
            if self.gave_up:
                break
            found.update(zip(batch, self._match(batch), strict=False))
            if self._stopped():
                return {}
        return found

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def _match(self, batch: Sequence[str]) -> Iterator[Spans]:
        """The places in each text of a batch, in order; ends early when it gives up or has to
        stop."""
        done = 0
        while done < len(batch):
            for spans in self._asks(batch[done:]):
                yield spans
                done += 1
            if done == len(batch):
                return
            self.close()
            if self._stopped():
                return
            self.passed_over += 1  # the one over which the process died
            if self.gave_up:
                return
            yield []
            done += 1

    def _asks(self, batch: Sequence[str]) -> Iterator[Spans]:
        """The other process' answers, as many as there come before it dies or has to stop."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        told = process.stdout.fileno()
        answers = select.poll()
        answers.register(told, select.POLLIN)
        asked = [(LIMIT * (1 + len(text) / 1e6), text) for text in batch]
        data = bytearray()
        with contextlib.suppress(OSError):
            _send(process.stdin, marshal.dumps(asked))
        for _ in batch:
            while (size := _size(data)) > len(data):
                while not answers.poll(_BLINK):
                    if self._stopped():
                        return
                more = os.read(told, 1 << 20)
                if not more:
                    return
                data += more
            if self._stopped():
                return
            yield marshal.loads(data[8:size])
            del data[:size]

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", os.path.join(os.path.dirname(__file__), "matching.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
        )  # fmt: skip
        assert process.stdin is not None
        _send(process.stdin, self._asked)
        return process


def _send(pipe: Any, data: bytes) -> None:
    rest = memoryview(len(data).to_bytes(8, "big") + data)
    while rest:
        rest = rest[pipe.write(rest) :]


def _size(data: bytearray) -> int:
    """Bytes of the first answer, its length included."""
    return 8 + int.from_bytes(data[:8], "big") if len(data) >= 8 else 8


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and size + len(text) > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


# -- what a match has to hold ------------------------------------------------------------------


def sieve_of(pattern: re.Pattern[str]) -> Sieve:
    """The raw lines that may hold a match: those with a text that every match holds."""
    any_case = bool(pattern.flags & re.IGNORECASE)
    texts = required(pattern)
    if any_case:
        texts = ["".join("\0" if _is_unsure(c) else c for c in text) for text in texts]
    return Sieve(texts or ("",), any_case)


def _is_unsure(char: str) -> bool:
    return char in _UNSURE or not char.isascii()


def required(pattern: re.Pattern[str]) -> list[str]:
    """Texts one of which stands in every match; none when there is nothing to go by."""
    try:
        from re import _parser  # type: ignore[attr-defined]

        parsed = _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    except (ImportError, re.error, RecursionError):
        return []
    if _turns(parsed):
        return []
    return _required(parsed)


def _turns(parsed: Any) -> bool:
    """Does a part of the pattern have flags of its own ("(?i:...)")?"""
    for op, value in parsed:
        name = str(op)
        if name == "SUBPATTERN" and (value[1] or value[2]):
            return True
        parts = value if isinstance(value, list | tuple) else ()
        inner = [*(value[1] if name == "BRANCH" else parts)]
        if any(hasattr(part, "data") and _turns(part) for part in inner):
            return True
    return False


def _required(parsed: Any) -> list[str]:
    """The best of what stands in every match of a sequence: the one that narrows down most."""
    best: list[str] = []
    run = ""
    for op, value in [*parsed, ("END", None)]:
        name = str(op)
        if name == "LITERAL":
            run += chr(value)
            continue
        best = _better(best, [run] if run else [])
        run = ""
        if name == "SUBPATTERN":
            best = _better(best, _required(value[3]))
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and value[0] > 0:
            best = _better(best, _required(value[2]))
        elif name == "ATOMIC_GROUP":
            best = _better(best, _required(value))
        elif name == "BRANCH":
            ways = [_required(way) for way in value[1]]
            if all(ways):
                best = _better(best, [text for way in ways for text in way])
    return best


def _better(a: list[str], b: list[str]) -> list[str]:
    return b if b and min(map(len, b)) > min(map(len, a), default=0) else a
