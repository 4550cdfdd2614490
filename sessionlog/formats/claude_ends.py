"""How a Claude Code run stands, by the last records of its log.

Read lazily, newest first: the last words may lie before hundreds of lines of bookkeeping.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from sessionlog.formats.base import standing, text_of
from sessionlog.formats.claude_blocks import (
    INLINE,
    OUTPUTS,
    SYNTHETIC,
    TASK,
    is_interrupt,
    is_refusal,
)
from sessionlog.formats.claude_events import ENDS
from sessionlog.records import Ending, Event, Message, Record, Reset, as_own, shown_type
from sessionlog.status import ANSWERING, NO_END, UNASKED

_TURN = 400
"""Messages that an unfinished turn is judged by."""
_MANY = 50
"""Side chain messages after which a log without any others is a subagent's own."""
_BAD_STOPS = ("max_tokens", "refusal", "model_context_window_exceeded")
_GOES_ON = ("tool_use", "pause_turn")
"""Reasons to stop after which the client asks the model again."""


def ending_of(newest_first: Iterable[Record]) -> Ending:
    """What the last records of the main run say.

    The last text without a call ends a turn, whatever `stop_reason` says: before about 2.1.60 it
    was null on nearly all lines. An error of the API, the mark of an interrupt and a refusal end
    it too. A call without a result, a result or a prompt at the end do not.
    """
    ending, turn = verdict_of(newest_first)
    return ending or cut_off(turn)


def verdict_of(newest_first: Iterable[Record]) -> tuple[Ending | None, Iterable[Record]]:
    """The ending, where the last records make one; else None, and the records of the turn that is
    open, newest first. Reads no further than that takes."""
    records = _own_run(newest_first)
    turned = local = False
    summary: Record | None = None
    offset, aside = 0, False
    for record in records:
        payload, offset = record.payload, record.span.offset
        if isinstance(payload, Reset):
            if not payload.why.startswith("manual"):
                return None, [summary or record]
            summary = None  # a person asked for it, and the model was idle
        elif isinstance(payload, Event):
            if payload.kind == "api_error":
                reason = text_of(payload.extra.get("error")) or "api_error"
                words = "an API error ended the turn"
                return Ending(True, reason, False, payload.text, words), ()
            if payload.kind in ENDS:
                return _stopped(payload), ()
            turned = turned or payload.ends
        elif isinstance(payload, Message) and payload.extra.get("note") == TASK:
            words = "the note of a task that ended, which the model is to answer"
            return Ending(False, None, None, ANSWERING, words), ()
        elif not isinstance(payload, Message) or _is_aside(payload, local):
            local = _asks_no_model(payload, local)
            aside = aside or isinstance(payload, Message)
        elif payload.type == "summary" and summary is None:
            summary = record
        else:
            before = [summary] if summary else []
            ending = _decided(payload, turned)
            turn = [record]
            if ending is None and shown_type(payload) == "response":
                turn, ending = _with_answers(record, records)
            return ending, chain(before, turn, records)
    if summary is None and offset:  # as far as was read; the messages stand before
        return Ending(False, None, None, NO_END, "no message near the end"), ()
    if summary is None and aside:
        return Ending(False, None, None, UNASKED, "no message for the model"), ()
    return None, [summary] if summary else []


def _is_aside(message: Message, local: bool) -> bool:
    """Neither the model's nor meant for it: notes, a command that was run here, the filler that
    the client writes when it resumes ("No response requested.")."""
    if message.type == "system" or (local and "command" in message.extra):
        return True
    return message.type == "assistant" and message.extra.get("model") == SYNTHETIC


def _asks_no_model(payload: object, local: bool) -> bool:
    """Is the command in front of this record one that the client ran by itself?"""
    if isinstance(payload, Message) and "command" in payload.extra:
        return False
    return local or (isinstance(payload, Message) and payload.extra.get("note") in OUTPUTS)


def _decided(message: Message, turned: bool) -> Ending | None:
    """The ending that the last message of the run makes; None: it is cut off there.

    `turned`: the client noted behind it that the turn was over.
    """
    kind, text = shown_type(message), message.text.strip()
    if kind == "user" and is_interrupt(text):
        return Ending(True, "interrupted", False, text.strip("[]"), "the mark of an interrupt")
    if kind == "response" and is_refusal(message):
        return Ending(True, "interrupted", False, "a call was refused", "a refused call, no more")
    if kind == "assistant":
        stop = text_of(message.extra.get("stop_reason"))
        if stop in _BAD_STOPS:
            return Ending(True, stop, False, text or stop, f"stop_reason {stop}")
        if turned or stop not in _GOES_ON:
            return Ending(True, stop or None, True, text or "done", "the last answer has no call")
    if turned and kind != "call":
        return Ending(True, None, None, "the turn ended", f"turn_duration, and before it a {kind}")
    return None


def _stopped(event: Event) -> Ending:
    """The client let the model go no further, though its turn was not over."""
    evidence = f"a note of {event.kind}"
    if event.kind == "max_turns_reached":
        return Ending(True, "max_turns", False, event.text, evidence)
    text = f"stopped by a hook: {event.text}" if event.text else "stopped by a hook"
    return Ending(True, "hook_stopped", False, text, evidence)


def _with_answers(last: Record, before: Iterator[Record]) -> tuple[list[Record], Ending | None]:
    """The results at the end of a log, newest first, with the record that stands before them; and
    the ending that a note between them makes."""
    turn = [last]
    for record in before:
        payload = record.payload
        turn.append(record)
        if isinstance(payload, Event) and payload.kind in ENDS:
            return turn, _stopped(payload)
        if isinstance(payload, Message) and shown_type(payload) not in ("response", "system"):
            break
    return turn, None


def cut_off(newest_first: Iterable[Record]) -> Ending:
    """Cut off: in a call, or while the model answered."""
    records = list(islice(_turn(newest_first), _TURN))
    last = records[0].payload if records else None
    kind = shown_type(last) if isinstance(last, Message) else ""
    if kind in ("assistant", "reasoning"):
        words = f"the last message is a piece of an answer: {kind}"
        return Ending(False, None, None, ANSWERING, words)
    return standing(records)


def _turn(newest_first: Iterable[Record]) -> Iterator[Record]:
    """The messages back to where the last calls were asked for."""
    for record in newest_first:
        if isinstance(record.payload, Message):
            yield record
            if record.payload.activity is None and record.payload.type != "system":
                return


def _own_run(newest_first: Iterable[Record]) -> Iterator[Record]:
    """The records of the main run; where there is no other, a subagent's are the main run.

    Up to 1.0 the side chains stood inside the main log, without the names of their agents.
    """
    rest = iter(newest_first)
    side: list[Record] = []
    for record in rest:
        if name := _side(record):
            side.append(record)
            if len(side) >= _MANY and name != INLINE:
                break
            continue
        yield record
        if isinstance(record.payload, Message):
            yield from (record for record in rest if not _side(record))
            return
    yield from map(as_own, chain(side, rest))


def _side(record: Record) -> str:
    """The side chain that a record is of; "" for the main run."""
    payload = record.payload
    if isinstance(payload, Message):
        return payload.sidechain
    return text_of(payload.extra.get("sidechain")) if isinstance(payload, Event) else ""
