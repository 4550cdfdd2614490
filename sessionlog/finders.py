"""What finds places in texts: a literal here, a regex in another process, or everything."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from sessionlog.needle import Needle, Spans
from sessionlog.query import Query
from sessionlog.sieve import Sieve


class Finder(Protocol):
    """Finds what a query looks for."""

    sieve: Sieve
    """The raw lines that may hold it."""
    batch: int
    """Bytes of lines that it likes to be given at once; 0: each line alone."""

    @property
    def problem(self) -> str:
        """What was left out, in words."""

    @property
    def gave_up(self) -> bool:
        """Is it of no use to go on?"""

    def spans(self, texts: Iterable[str]) -> Callable[[str], Spans]:
        """What tells the places in each of these texts."""

    def close(self) -> None:
        """It is needed no longer."""


def finder_of(query: Query, stopped: Callable[[], bool]) -> Finder:
    """What finds the text of a query. Raises BadQuery for what is no regex."""
    if query.regex and query.text:
        return _ByRegex(query, stopped)
    return _ByText(query)


class _ByText:
    batch = 0
    problem = ""
    gave_up = False

    def __init__(self, query: Query) -> None:
        self._needle = Needle(query.text, query.ignore_case)
        self.sieve = self._needle.sieve

    def spans(self, texts: Iterable[str]) -> Callable[[str], Spans]:
        return self._needle.spans

    def close(self) -> None:
        pass


class _ByRegex:
    def __init__(self, query: Query, stopped: Callable[[], bool]) -> None:
        from sessionlog.matcher import BATCH, Matcher  # most searches have no regex

        self.batch = BATCH
        self._matcher = Matcher(query.text, query.ignore_case, stopped)
        self.sieve = self._matcher.sieve

    @property
    def problem(self) -> str:
        return self._matcher.problem

    @property
    def gave_up(self) -> bool:
        return self._matcher.gave_up

    def spans(self, texts: Iterable[str]) -> Callable[[str], Spans]:
        found = self._matcher.spans(texts)
        return lambda text: found.get(text, [])

    def close(self) -> None:
        self._matcher.close()
