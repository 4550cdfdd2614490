"""What the agent knew at a row: which messages were in its context then, and how full it was.

Pure over a Log. A look counts back to the last reset; what a chunk holds of it is remembered.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from sessionlog.formats.base import Format, dict_of
from sessionlog.marks import Marks
from sessionlog.records import Event, Message, Record
from sessionlog.window import CHUNK, Chunk, Log
from tui.contexts import Contexts
from tui.lines import Line, Piece
from tui.past import Past, PastMarks, messages_before, resets_of
from tui.rows import Row

_REACH = 32
"""Chunks that are counted back; of a longer context only the numbers are told."""
_KEPT = 256
_BACK = 400
"""Records that are looked through for what the model's API said of its tokens."""


class Full(NamedTuple):
    """How full the context was, by the last answer before."""

    used: int
    window: int | None = None
    """How many fit, where the log says."""


class Knew(NamedTuple):
    """What was in context when a line was written."""

    messages: int | None
    """How many; None where the context is too long to be counted."""
    first: int | None
    """Number of the first and the last of them; None where they are not counted yet."""
    last: int | None
    since: str = ""
    """Time of the last full reset: what was before it is out of context; "" when there is none."""
    undone: int = 0
    """Messages between first and last that are out of context."""
    tokens: Full | None = None


class _Part(NamedTuple):
    """What one chunk has of a context."""

    held: int
    first: int | None
    """Which of the chunk's messages, from 1."""
    last: int | None


class Knowledge:
    """Answers for the rows of one log. Remembers what chunks hold, within bounds."""

    def __init__(self, log: Log, marks: Marks) -> None:
        self._log, self._marks = log, marks
        self._past, self._counted = Past(log), PastMarks(marks)
        self._resets: tuple[int, ...] = ()
        self._contexts: Contexts | None = None
        self._parts: OrderedDict[tuple[object, int], _Part] = OrderedDict()

    def close(self) -> None:
        """Let go of the descriptor."""
        self._past.close()

    def forget(self) -> None:
        """The log is another one, or grew."""
        self._contexts = None
        self._parts.clear()

    def at(self, row: Row) -> Knew | None:
        """What was in context when the row's first line was written; None for a row of no line."""
        if not row.records and row.damage is None:
            return None
        span = row.damage.span if row.damage else row.records[0].span
        return self.before(span.offset)

    def before(self, offset: int) -> Knew:
        """What was in context in front of a line. O(its context), where it is looked at first."""
        self._past.cut(offset)
        self._counted.cut(offset, self._past.chunks)
        contexts = self._context()
        count, first, last = self._held(contexts)
        spread = last - first + 1 if first is not None and last is not None else None
        return Knew(
            count, first, last, self._since(contexts.horizon),
            undone=spread - count if spread is not None and count is not None else 0,
            tokens=self._tokens(contexts.horizon),
        )  # fmt: skip

    def _context(self) -> Contexts:
        resets = resets_of(self._past, self._counted)
        if self._contexts is None or resets != self._resets:
            self._contexts, self._resets = Contexts(self._past, self._counted), resets
        return self._contexts

    def _held(self, contexts: Contexts) -> tuple[int | None, int | None, int | None]:
        """(count, first, last) of the messages in context."""
        total, first, last = 0, None, None
        chunks = self._past.chunks
        _, kept, _ = contexts.state
        begins = kept[0] if isinstance(kept, tuple) else contexts.horizon
        for number in range(chunks - 1, begins // CHUNK - 1, -1):
            if chunks - number > _REACH:
                before = messages_before(self._log, self._marks, begins)
                return None, None if before is None else before + 1, last
            part = self._part(number, contexts)
            base = self._marks.messages_before(number)
            total += part.held
            if base is not None and part.first and part.last:
                first = base + part.first
                last = last or base + part.last
        return total, first, last

    def _part(self, number: int, contexts: Contexts) -> _Part:
        if number == self._past.chunks - 1:  # the last one is cut, and not worth remembering
            return _part(self._past.chunk(number), contexts)
        key = (contexts.state, number)
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = _part(self._past.chunk(number), contexts)
            if len(self._parts) > _KEPT:
                self._parts.popitem(last=False)
        return part

    def _since(self, horizon: int) -> str:
        if not horizon:
            return ""
        records = self._past.chunk(horizon // CHUNK).records
        return next((record.at for record in records if record.span.offset == horizon), "")

    def _tokens(self, horizon: int) -> Full | None:
        """By the last answer since the reset: what went in before it is another context."""
        for count, record in enumerate(self._past.newest_first()):
            if count >= _BACK or record.span.offset < horizon:
                return None
            found = tokens_of(self._log.form, record)
            if found is not None:
                return found
        return None


def _part(chunk: Chunk, contexts: Contexts) -> _Part:
    count = position = 0
    first = last = None
    for record in chunk.records:
        payload = record.payload
        if not isinstance(payload, Message):
            continue
        position += 1
        row = Row((record.span.offset, record.part), "", side=payload.sidechain)
        if contexts.holds(row):
            count += 1
            first, last = first or position, position
    return _Part(count, first, last)


def tokens_of(form: Format, record: Record) -> Full | None:
    """How full the context is after an answer, by what the model's API said with it: what went in
    and what came out. A running total of the log says nothing of it, its last step does (Codex;
    a native log tells totals only)."""
    usage = form.usage(record)
    if usage is None or usage.side:
        return None
    tokens = usage.step if usage.counter else usage.tokens
    if tokens is None or not tokens.total:
        return None
    extra = record.payload.extra if isinstance(record.payload, Event) else {}
    window = dict_of(extra.get("info")).get("model_context_window")  # Codex's token_count has it
    return Full(tokens.total, window if isinstance(window, int) else None)


# -- in words --------------------------------------------------------------------------------


def said(knew: Knew, clock: Callable[[str], str], *, wide: bool) -> list[Line]:
    """A title and what was known: in one line where it is `wide`, else a line for each fact."""
    facts = [_messages(knew), *_out(knew, clock), *_full(knew)]
    title = Line([(" what the agent knew here", "fg-2")])
    if not wide:
        return [title, *(Line([("   ", ""), *fact]) for fact in facts)]
    joined: list[Piece] = [("   ", "")]
    for fact in facts:
        joined += [(" · ", "fg-3"), *fact] if len(joined) > 1 else fact
    return [title, Line(joined)]


def _messages(knew: Knew) -> list[Piece]:
    if knew.messages == 0:
        return [("nothing yet", "fg-2")]
    noun = "message" if knew.messages == 1 else "messages"
    pieces: list[Piece] = [(noun if knew.messages is None else f"{knew.messages:,} {noun}", "fg-1")]
    if knew.first is not None and knew.last is not None:
        last = f" to {knew.last:,}" if knew.last != knew.first else ""
        pieces.append((f", {knew.first:,}{last}", "fg"))
        if knew.undone:
            pieces.append((f" without {knew.undone:,} of them", "fg-2"))
    return pieces


def _out(knew: Knew, clock: Callable[[str], str]) -> list[list[Piece]]:
    if not knew.since:
        return []
    since = clock(knew.since)[:5]
    first = f"before {knew.first:,}" if knew.first else "what was before"
    when = f" since {since}" if since.strip() else ""
    return [[(f"{first}: out of context{when}", "fg-2")]]


def _full(knew: Knew) -> list[list[Piece]]:
    if knew.tokens is None:
        return []
    used, window = knew.tokens
    of = f" of {thousands(window)}" if window else ""
    return [[(f"{thousands(used)} tokens{of}", "fg-2")]]


def thousands(count: int) -> str:
    """Tokens in few columns: 812, 9.1k, 41k, 1.2M."""
    for limit, unit in ((1_000_000, "M"), (1000, "k")):
        if count >= limit:
            amount = count / limit
            return f"{amount:.1f}{unit}" if amount < 9.95 else f"{amount:.0f}{unit}"
    return str(count)
