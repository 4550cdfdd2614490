"""A run in numbers, as plain values: what `stats` counts and what commands and screen show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from sessionlog.density import Density
from sessionlog.records import InFlight, Tokens

LONGEST = 5
"""Silences that are named."""
_FILES = 10_000
"""Names of changed files that are kept."""


@dataclass(slots=True)
class Tool:
    """The calls of one tool."""

    name: str
    calls: int = 0
    failed: int = 0
    interrupted: int = 0
    """Cut short, and closed later: no failure of the tool."""
    open: int = 0
    """Without a result in the log."""
    seconds: float = 0.0
    """All its answered calls together; calls that ran side by side count each."""

    def add(self, other: Tool) -> None:
        self.calls += other.calls
        self.failed += other.failed
        self.interrupted += other.interrupted
        self.open += other.open
        self.seconds += other.seconds


class Gap(NamedTuple):
    """A silence between two records."""

    seconds: float
    after: int | None
    """Number of the last message before it; None: nothing was said yet."""
    at: float
    """When it began, in POSIX seconds."""


@dataclass(slots=True)
class Counts:
    """What adds up over parts of a log, and over logs."""

    messages: int = 0
    taken_back: int = 0
    """Messages before which the run went back."""
    users: int = 0
    assistants: int = 0
    reasoning: int = 0
    calls: int = 0
    errors: int = 0
    retries: int = 0
    resets: int = 0
    damages: int = 0
    orphans: int = 0
    """Results without a call."""
    tools: dict[str, Tool] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    """Files that calls of edit tools changed, and how often."""

    def tool(self, name: str) -> Tool:
        """The tool of that name, counted from now on."""
        return self.tools.setdefault(name, Tool(name))

    def add(self, other: Counts) -> None:
        """Add what another part, or another log, has."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name, tool in other.tools.items():
            self.tool(name).add(tool)
        for path, times in other.files.items():
            self.changed(path, times)

    def changed(self, path: str, times: int = 1) -> None:
        """A file was changed."""
        if path in self.files or len(self.files) < _FILES:
            self.files[path] = self.files.get(path, 0) + times

    @property
    def failed(self) -> int:
        return sum(tool.failed for tool in self.tools.values())

    @property
    def interrupted(self) -> int:
        return sum(tool.interrupted for tool in self.tools.values())

    @property
    def open(self) -> int:
        return sum(tool.open for tool in self.tools.values())

    def ranked(self) -> list[Tool]:
        """The tools, most used first."""
        return sorted(self.tools.values(), key=lambda t: (-t.calls, t.name))


_NUMBERS = (
    "messages", "users", "assistants", "reasoning", "calls", "errors", "retries", "resets",
    "damages", "orphans", "taken_back",
)  # fmt: skip


@dataclass(slots=True)
class Stats:
    """One log in numbers, or several together."""

    id: str = ""
    path: str = ""
    title: str = ""
    sessions: int = 1
    counts: Counts = field(default_factory=Counts)
    """The main run's; `messages` includes the subagents'."""
    side: Counts = field(default_factory=Counts)
    """The subagents' runs, where they stand in the log or beside it."""
    start: float | None = None
    """POSIX seconds of the first record; None when no record has a time."""
    duration: float = 0.0
    """Seconds from the first to the last record."""
    active: float = 0.0
    """The same without silences of SILENT seconds or more."""
    gaps: list[Gap] = field(default_factory=list)
    """The longest silences, longest first."""
    in_flight: list[InFlight] = field(default_factory=list)
    """Calls that ran when the log ended without an ending."""
    tokens: Tokens | None = None
    """Subagents' included, each answer once; None: the log does not tell."""
    telling: int = 0
    """Sessions that tell of tokens."""
    side_tokens: Tokens | None = None
    cost: float | None = None
    """US dollars, where the log itself has them."""
    models: dict[str, int] = field(default_factory=dict)
    """How many records name each."""
    density: Density = field(default_factory=Density)
    own: Stats | None = None
    """The part that no other log of the same count has, too; None: all of it."""

    def add(self, stats: Stats) -> None:
        """Add another log: of what an earlier one had, nothing."""
        own = stats.own or stats
        self.sessions += stats.sessions
        self.counts.add(own.counts)
        self.side.add(own.side)
        self.duration += own.duration
        self.active += own.active
        self.gaps = sorted([*self.gaps, *own.gaps], key=lambda gap: -gap.seconds)[:LONGEST]
        self.in_flight += own.in_flight
        self.tokens = _plus(self.tokens, own.tokens)
        self.telling += stats.telling
        self.side_tokens = _plus(self.side_tokens, own.side_tokens)
        if own.cost is not None:
            self.cost = (self.cost or 0.0) + own.cost
        if own.start is not None:
            self.start = own.start if self.start is None else min(self.start, own.start)
        for model, times in own.models.items():
            self.models[model] = self.models.get(model, 0) + times
        self.density.merge(own.density)

    @property
    def ranked_models(self) -> list[str]:
        """The models, most often named first."""
        return sorted(self.models, key=lambda name: -self.models[name])


def total(parts: Iterable[Stats]) -> Stats:
    """Several logs together: what some of them share counts once."""
    whole = Stats(sessions=0)
    for stats in parts:
        whole.add(stats)
    return whole


def _plus(one: Tokens | None, other: Tokens | None) -> Tokens | None:
    return other if one is None else one if other is None else one.plus(other)
