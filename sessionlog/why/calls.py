"""The calls of a run as they stream by: open, answered, repeated. Bounded memory. Pure."""

from __future__ import annotations

import re
from collections import OrderedDict, deque

from sessionlog.diffs import edits_of
from sessionlog.errorline import telling_line
from sessionlog.outcome import outcome_of, result_text
from sessionlog.pairing import Pairing
from sessionlog.records import Activity, Event, Message, Record
from sessionlog.telling import arguments_of
from sessionlog.why.facts import Call, Done, Repeat

RECENT = 40
"""Calls that are remembered with what they gave."""
KEPT = 1500
"""Characters that are kept of either end of an output."""
_LONG = 2000
"""Characters of arguments that are kept; of longer ones only what tells most."""
_ALIKE = 256
"""Calls that are compared with later ones."""
_IDS = 4096
"""Ids that are remembered to know a replayed conversation by."""
_FILES = 10_000
_WRAPPING = re.compile(
    r"^(?:Chunk ID: .*|Wall time: .*|Original token count: .*|Total output lines: .*)\n", re.M
)
_NUMBERS = re.compile(r"(?:0x)?[0-9a-f]*\d[0-9a-f]*(?:\.\d+)?", re.I)


class Calls:
    """Requests and answers in; what is open, recent and repeated out."""

    def __init__(self, whole: bool) -> None:
        """`whole`: the pass began at the log's first record, so files can be counted."""
        self._whole = whole
        self._pairing = Pairing()
        self._asked: dict[int, Call] = {}
        self._flying: dict[int, Call] = {}
        self._answer = ""
        self._told: list[Call] = []
        self._told_errors: list[tuple[Call, Record]] = []
        self._recent: deque[Done] = deque(maxlen=RECENT)
        self._alike: OrderedDict[tuple[str, int], tuple[Repeat, int]] = OrderedDict()
        self._ids: OrderedDict[str, None] = OrderedDict()
        self._files: set[str] = set()
        self.works: dict[str, int] = {}
        self.asked = self.answered = self.failed = self.interrupted = 0
        self.replaying = False
        """A reset wrote the conversation again: calls that are known are not counted anew."""

    # -- messages ------------------------------------------------------------------------------

    def land(self) -> None:
        """Somebody spoke: what is open now was left behind."""
        self._flying.clear()

    def message(self) -> None:
        """A message came: what events told before stands among the messages now."""
        self._told.clear()

    def began(self, activity: Activity) -> str:
        """When events told of this call; "" when they did not."""
        told = (
            c for c in self._told if (c.tool, c.arguments) == (activity.name, activity.arguments)
        )
        return next((call.since for call in told), "")

    def request(self, count: int, message: Message, activity: Activity, call: Call) -> None:
        """Message `count` of the pass asks for a call."""
        if self._answer and message.answer and message.answer != self._answer:
            self._flying.clear()
        self._answer = message.answer or self._answer
        self._pairing.request(count, activity)
        self._asked[count] = self._flying[count] = call
        self.asked += not self._is_known(activity.id)

    def past(self, message: Message) -> None:
        """A message that counts for nothing now: its call was made all the same."""
        activity = message.activity
        if activity is None or self._is_known(activity.id):
            return
        self.asked += activity.kind == "request"
        if activity.kind == "response":
            outcome = outcome_of(activity, message)
            self.failed += outcome.failed
            self.interrupted += outcome.interrupted

    def response(self, record: Record, message: Message, activity: Activity, call: Call) -> None:
        """An answer; `call` stands for its request where that was not seen."""
        count = self._pairing.response(activity)
        if count is not None:
            self._flying.pop(count, None)
            call = self._asked.pop(count, call)
        self._told_errors.clear()
        if self._is_known(activity.id):
            return
        if activity.id:
            self._ids[activity.id] = None
            if len(self._ids) > _IDS:
                self._ids.popitem(last=False)
        if not call.tool and not call.arguments and call.offset == record.span.offset:
            call = call._replace(tool="tool")
        request = Activity("request", call.call_id, call.tool, call.arguments)
        outcome = outcome_of(request, message)
        text = result_text(message)
        bad = outcome.failed or outcome.interrupted
        error = telling_line(_ends(text)) if bad else ""
        span = record.span
        done = Done(
            _short(call), outcome.failed, outcome.words, error, _ends(text), span.line, span.offset,
            record.at, self.answered, outcome.interrupted,
        )  # fmt: skip
        self._take(done, call)

    def _is_known(self, call_id: str) -> bool:
        return self.replaying and call_id in self._ids

    def _take(self, done: Done, call: Call) -> None:
        self._recent.append(done)
        self.answered += 1
        if done.interrupted:
            self.interrupted += 1
            return
        if done.failed:
            self.failed += 1
        else:
            self.works[call.tool] = done.nth
            self._edited(call)
        key, said = (call.tool, hash(call.arguments)), hash(_essence(done))
        known, before = self._alike.pop(key, (None, 0))
        if known is not None and before == said:
            repeat = known._replace(times=known.times + 1, last=done.nth)
        else:
            repeat = Repeat(done.call, 1, done.failed, done.words, done.error, done.nth, done.nth)
        self._alike[key] = repeat, said
        if len(self._alike) > _ALIKE:
            self._alike.popitem(last=False)

    def _edited(self, call: Call) -> None:
        if self._whole and len(self._files) < _FILES:
            value = arguments_of(call.arguments) if call.arguments else None
            diffs = edits_of(call.arguments if value is None else value)
            self._files.update(diff.path for diff in diffs if diff.path)

    # -- events --------------------------------------------------------------------------------

    def told(self, record: Record, event: Event) -> None:
        """An event tells of a call's begin or end. Events carry no ids: an end is that of the
        first call of its tool that still runs."""
        if event.kind == "toolCallStart":
            span = record.span
            begun = Call(event.tool, event.text, "", None, span.line, span.offset, record.at)
            self._told.append(begun)
            return
        first = next((call for call in self._told if call.tool == event.tool), None)
        if first is not None:
            self._told.remove(first)
        if event.kind == "toolCallError":
            self._told_errors.append((first or Call(event.tool, ""), record))

    # -- what was found ------------------------------------------------------------------------

    def flying(self) -> tuple[Call, ...]:
        """Calls that nothing answered and nothing came after, oldest first."""
        return tuple(self._told) or tuple(self._flying.values())

    def unanswered(self) -> tuple[Call, ...]:
        """Calls without a result that the run went on past."""
        flying = {(call.tool, call.arguments) for call in self.flying()}
        return tuple(c for c in self._asked.values() if (c.tool, c.arguments) not in flying)

    def recent(self) -> tuple[Done, ...]:
        """The last answered calls; those that failed by events alone come last."""
        told = [
            _told_done(call, record, self.answered + i)
            for i, (call, record) in enumerate(self._told_errors)
        ]
        return (*self._recent, *told)[-RECENT:]

    def errors(self) -> int:
        return self.failed + len(self._told_errors)

    def files(self) -> int | None:
        return len(self._files) if self._whole else None

    def repeats(self) -> tuple[Repeat, ...]:
        """Calls that gave the same more than once, the longest ago first."""
        return tuple(repeat for repeat, _ in self._alike.values() if repeat.times > 1)


def _told_done(call: Call, record: Record, index: int) -> Done:
    event = record.payload
    text = event.text if isinstance(event, Event) else ""
    return Done(call, True, "failed", telling_line(text), text, record.span.line,
                record.span.offset, record.at, index)  # fmt: skip


def _short(call: Call) -> Call:
    """The call as it is remembered: a whole file among its arguments is not."""
    return call if len(call.arguments) <= _LONG else call._replace(arguments=call.said[:_LONG])


def _ends(text: str) -> str:
    return text if len(text) <= 2 * KEPT else f"{text[:KEPT]}\n{text[-KEPT:]}"


def _essence(done: Done) -> str:
    """What makes two outcomes the same: the times that a failure took, and its numbers, do not."""
    text = _WRAPPING.sub("", done.text) if done.text.startswith(("Chunk", "Wall")) else done.text
    return f"x{_NUMBERS.sub('#', text)}" if done.failed else text
