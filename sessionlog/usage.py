"""Tokens and cost of logs, each answer counted once.

Logs tell of the same tokens again and again: on every line of one answer, with a count that grows
while it is streamed, as a running total, and in the copies that forks and resumed logs hold. A
Format says of each record which answer or which running total it is about (`Format.usage`); the
Meter of a log adds up what is new, and a Seen that several Meters share tells what an earlier log
had already.

An answer costs some 70 bytes of memory, and 100 in a Seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from sessionlog.records import Tokens, Usage

_NONE = Tokens()
_GROWING = 64
"""Answers whose tokens may still change: lines of an answer stand a few results apart."""
_MODELS = 100
"""Names of models that are kept: a log may name as many as it likes."""


class Spent(NamedTuple):
    """What a log's run used."""

    tokens: Tokens | None = None
    """Subagents' included; None: the log does not tell."""
    side: Tokens | None = None
    """The subagents' part; None: there were none, or nobody tells."""
    fresh: Tokens | None = None
    """Without what an earlier log of the same Seen has, too."""
    fresh_side: Tokens | None = None
    cost: float | None = None
    """US dollars as the log has them; None: it has none."""
    fresh_cost: float | None = None


@dataclass(slots=True)
class Seen:
    """Answers that logs had already, over several logs."""

    _by_log: dict[int, int] = field(default_factory=dict)
    _costs: list[float] = field(default_factory=list)

    def begin(self) -> int:
        """Number of the log that begins now."""
        self._costs.append(0.0)
        return len(self._costs) - 1

    def first(self, key: int, log: int) -> int:
        """The log that has it first: `log` itself when none had it before."""
        return self._by_log.setdefault(key, log)

    def cost_of(self, log: int) -> float:
        """What an earlier log cost."""
        return self._costs[log]

    def end(self, log: int, cost: float | None) -> None:
        """That log is through."""
        self._costs[log] = cost or 0.0


@dataclass(slots=True)
class _Counter:
    """A running total: what it grew by in this log."""

    last: Tokens | None = None
    spent: Tokens = _NONE
    fresh: Tokens = _NONE

    def step(self, usage: Usage, builds: bool) -> Tokens:
        """What the total grew by. A log that builds on another begins with the other's total, so
        there its first step counts; a total that fell belongs to a counter that began anew."""
        total = usage.tokens or _NONE
        last, self.last = self.last, total
        if last is None:
            return usage.step if builds and usage.step else total
        if total.total < last.total:
            return usage.step or total
        return total.minus(last)


@dataclass(slots=True)
class _Sum:
    """Amounts of their own, added up."""

    tokens: Tokens | None = None
    cost: float | None = None

    def add(self, tokens: Tokens | None, cost: float | None) -> None:
        if tokens is not None:
            self.tokens = (self.tokens or _NONE).plus(tokens)
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost


@dataclass(slots=True)
class Meter:
    """Usage of one log in, what its run used out.

    ::

        meter = Meter(seen)
        if (usage := form.usage(record)) is not None: meter.take(usage)
        meter.close()
    """

    seen: Seen | None = None
    builds: bool = False
    """Does the log go on from another's total (a fork)?"""
    number: int = 0
    """Of this log among those of `seen`."""
    models: dict[str, int] = field(default_factory=dict)
    """How many records name each model."""
    _growing: dict[str, Usage] = field(default_factory=dict)
    _done: set[int] = field(default_factory=set)
    _counters: dict[str, _Counter] = field(default_factory=dict)
    _main: _Sum = field(default_factory=_Sum)
    _side: _Sum = field(default_factory=_Sum)
    _fresh: _Sum = field(default_factory=_Sum)
    _fresh_side: _Sum = field(default_factory=_Sum)
    _bill: float | None = None
    """The cost by its running total."""
    _billed: float = 0.0
    """The last state of that total."""
    _parent: int | None = None
    """The log that has answers of this one, too."""

    def __post_init__(self) -> None:
        if self.seen is not None:
            self.number = self.seen.begin()

    def name(self, model: str) -> None:
        """A record names the model."""
        if model and (model in self.models or len(self.models) < _MODELS):
            self.models[model] = self.models.get(model, 0) + 1

    def take(self, usage: Usage, context: str = "") -> None:
        """Count what a record tells. `context` is what stands before it: copies of a running
        total are told by it where the format has no better name for the step."""
        self.name(usage.model)
        if usage.counter:
            self._count(usage, context)
            self._charge(usage.cost)
        elif usage.answer:
            self._grow(usage)
        else:
            self._add(usage, None)

    def close(self) -> Spent:
        """What was used. The log is through: what it has, later logs only repeat."""
        for answer in list(self._growing):
            self._settle(answer)
        # a log may have two running totals of the same run: the one that lost less counts
        best = max(self._counters.values(), key=lambda c: c.spent.total, default=None)
        run = best.spent if best else None
        sums = [self._main.tokens, self._side.tokens, run]
        told = any(part is not None for part in sums)
        fresh = (self._fresh.tokens or _NONE).plus(best.fresh if best else _NONE)
        costs = [self._main.cost, self._side.cost, self._bill]
        priced = any(part is not None for part in costs)
        spent = Spent(
            _summed(sums) if told else None, self._side.tokens, fresh if told else None,
            self._fresh_side.tokens,
            sum(part or 0.0 for part in costs) if priced else None,
            (self._fresh.cost or 0.0) + self._fresh_bill() if priced else None,
        )  # fmt: skip
        if self.seen is not None:
            self.seen.end(self.number, spent.cost)
        return spent

    # -- answers -------------------------------------------------------------------------------

    def _grow(self, usage: Usage) -> None:
        known = self._growing.get(usage.answer)
        if known is not None:
            if usage.tokens and (not known.tokens or usage.tokens.output >= known.tokens.output):
                self._growing[usage.answer] = usage._replace(side=known.side)
            return
        if hash(usage.answer) in self._done:
            return
        if len(self._growing) >= _GROWING:
            self._settle(next(iter(self._growing)))
        self._growing[usage.answer] = usage

    def _settle(self, answer: str) -> None:
        usage = self._growing.pop(answer)
        key = hash(answer)
        self._done.add(key)
        self._add(usage, key)

    def _add(self, usage: Usage, key: int | None) -> None:
        (self._side if usage.side else self._main).add(usage.tokens, usage.cost)
        if self._is_first(key):
            self._fresh.add(usage.tokens, usage.cost)
            if usage.side:
                self._fresh_side.add(usage.tokens, None)

    def _is_first(self, key: int | None) -> bool:
        if self.seen is None or key is None:
            return True
        first = self.seen.first(key, self.number)
        if first != self.number:
            self._parent = first
        return first == self.number

    # -- running totals ------------------------------------------------------------------------

    def _count(self, usage: Usage, context: str) -> None:
        if usage.tokens is None:
            return
        counter = self._counters.setdefault(usage.counter, _Counter())
        step = counter.step(usage, self.builds)
        if not step.total:
            return
        counter.spent = counter.spent.plus(step)
        if self.seen is None or self._is_first(
            hash((usage.counter, usage.answer or (context, usage.tokens)))
        ):
            counter.fresh = counter.fresh.plus(step)

    def _charge(self, cost: float | None) -> None:
        """A running total of the cost that fell began anew."""
        if cost is not None:
            grown = cost - self._billed if cost >= self._billed else cost
            self._bill, self._billed = (self._bill or 0.0) + grown, cost

    def _fresh_bill(self) -> float:
        """A fork's total begins with what its parent had cost (seen with Claude Code 2.1.332)."""
        bill = self._bill or 0.0
        if self._parent is None or self.seen is None:
            return bill
        return max(bill - self.seen.cost_of(self._parent), 0.0)


def _summed(parts: list[Tokens | None]) -> Tokens:
    total = _NONE
    for part in parts:
        total = total.plus(part or _NONE)
    return total
