"""The two lines in the head of an open session: how it stands, and the facts that tell why. Pure.

Line 1 says what it was doing or how it ended, and for how long; line 2 the facts, most telling
first. Whole facts drop from the end where there is no room: a number is never cut. Only evidence
is said; where there is none it says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sessionlog.records import Entry, InFlight, Record, Status, moment
from sessionlog.telling import telling
from sessionlog.text import clip, one_line, took, visible, width
from tui.evidence import Evidence, Trouble, gather
from tui.lines import Line, Piece
from tui.signs import state_of

QUIET = 300
"""Seconds with nothing written that are worth a word."""
SHORT = 24
"""Columns below which words are not cut but dropped: what is left would say nothing."""
TINTS = {"fail": "tint-fail", "open": "tint-open", "torn": "tint-bytes", "run": "tint-run"}
"""Background by state; what ended well has none of its own."""
_INTERRUPTS = ("interrupt", "abort", "cancel")
_HEADLINE = {"fail": "fail bold", "open": "open bold", "torn": "bytes bold", "run": "run bold"}

Fact = list[Piece]


def stop_lines(
    entry: Entry,
    records: Sequence[Record],
    now: datetime,
    columns: int,
    *,
    before: int | None = None,
    writer: str = "",
) -> tuple[Line, Line]:
    """The lines for a session whose last records these are (or all of them).

    `before` is the count of messages ahead of `records`, None where it is not known; `writer` is
    what is known of the log's writer ("alive, pid 51877", "gone", "locked by pid 4711").
    """
    return lines_of(entry, gather(records, before), now, columns, writer)


def lines_of(
    entry: Entry, seen: Evidence, now: datetime, columns: int, writer: str = ""
) -> tuple[Line, Line]:
    """The same from evidence that was gathered once: only the clock and the width change."""
    state = state_of(entry)
    tint = TINTS.get(state, "surface")
    headline = _headline(entry, seen, state)
    said = _text(headline)
    right = _how_long(entry, seen, state, now)
    first = Line([(" ", ""), *headline], _aside(right), tint)
    if seen.last_error and _is_said(seen.last_error.text, said):
        seen = seen._replace(last_error=None)
    if _is_said(seen.last_words, said):
        seen = seen._replace(last_words="")
    facts = _facts(entry, seen, state, now, writer)
    since = _running_for(entry, now) if state == "run" else []
    room = columns - 3 - sum(width(text) for text, _ in since)
    second = Line([(" ", ""), *_joined(facts, room)], _aside(since), tint)
    return first, second


def _aside(pieces: list[Piece]) -> list[Piece]:
    """What stands at the right edge, with air around it."""
    return [(" ", ""), *pieces, (" ", "")] if pieces else []


def _is_said(words: str, headline: str) -> bool:
    """Does the headline have these words? The first of them are enough."""
    return words.lower().rstrip("…. ")[:60] in headline.lower()


def _text(pieces: Sequence[Piece]) -> str:
    return "".join(text for text, _ in pieces)


def _joined(facts: Sequence[Fact], room: int) -> list[Piece]:
    """As many whole facts as fit; only long words, such as an error's, are cut to fit."""
    pieces: list[Piece] = []
    for fact in facts:
        lead: list[Piece] = [(" · ", "fg-3")] if pieces else []
        left = room - sum(width(text) for text, _ in lead)
        *head, (words, style) = fact
        left -= sum(width(text) for text, _ in head)
        if width(words) > left and ((pieces and left < SHORT) or width(words) < SHORT):
            continue
        pieces += [*lead, *head, (clip(words, left), style)]
        room = left - width(pieces[-1][0])
    return pieces


# -- line 1 ----------------------------------------------------------------------------------


def _headline(entry: Entry, seen: Evidence, state: str) -> list[Piece]:
    style = _HEADLINE.get(state, "fg-1 bold")
    stop = one_line(entry.stop)
    if state == "nolog":
        return [("Not a log that can be read", style), (f"  {visible(entry.reason or '')}", "fg")]
    if state == "run":
        return _running(seen, style)
    if state == "torn":
        where = _inside(seen.flying) if seen.flying else []
        return [("Last line torn", style), *([(", ", "fg"), *where] if where else [])]
    if state == "open":
        return _stopped(entry, seen, style)
    if state == "fail":
        return _failed(entry, seen, stop, style)
    words = _closing(seen) or ("" if stop == entry.reason else stop)
    told = stop if state == "ok" and stop not in ("", "done", entry.reason) else words
    title = "Done" if state == "ok" else "Ended, no verdict in the log"
    return [(title, style), (f"  {told}", "fg-2")] if told else [(title, style)]


def _closing(seen: Evidence) -> str:
    """The model's last text, where nothing came after it."""
    return seen.last_words if seen.expects == "person" else ""


def _inside(flying: Sequence[InFlight]) -> list[Piece]:
    """Which call it was inside, and what it was told."""
    call = flying[-1]
    others = f" and {len(flying) - 1} more" if len(flying) > 1 else ""
    said = one_line(telling(call.arguments))
    return [(f"inside {visible(call.tool)}{others} ", "fg-1 bold"), (said, "fg-1")]


def _running(seen: Evidence, style: str) -> list[Piece]:
    if not seen.flying:
        doing = "the model is to answer" if seen.expects == "model" else "between two calls"
        return [("Running", style), (f"  {doing}", "fg")]
    call = seen.flying[-1]
    others = f" and {len(seen.flying) - 1} more" if len(seen.flying) > 1 else ""
    said = one_line(telling(call.arguments))
    return [(f"Running {visible(call.tool)}{others}", style), (f" {said}", "fg-1")]


def _stopped(entry: Entry, seen: Evidence, style: str) -> list[Piece]:
    if seen.flying:
        (inside, _), said = _inside(seen.flying)
        return [(f"Stopped {inside}", style), said]
    if not seen.messages:
        return [("Nothing but the head", style), ("  no message was written", "fg")]
    if seen.expects == "model":
        after = f"  after {_call(seen)}" if seen.last_call else ""
        return [("Stopped while the model answered", style), (after, "fg")]
    return [("Stopped", style), (f"  {one_line(entry.stop) or 'no ending recorded'}", "fg")]


def _call(seen: Evidence) -> str:
    call = seen.last_call
    return "" if call is None else f"{visible(call.tool)} {one_line(telling(call.arguments))}"


def _failed(entry: Entry, seen: Evidence, stop: str, style: str) -> list[Piece]:
    if _is_interrupt(entry):
        words = stop if "interrupt" in stop.lower() else "interrupted"
        title = words[:1].upper() + words[1:]
        where = f" inside {_call(seen)}" if seen.last_call and seen.last_call.failed else ""
        return [(title, style), (where, "fg-1")]
    words = stop or (entry.reason and visible(entry.reason)) or "no reason recorded"
    return [("Failed: ", style), (words, "fail")]


def _is_interrupt(entry: Entry) -> bool:
    """Did a person stop it, as the log words it?"""
    reason = (entry.reason or "").lower()
    return any(word in reason for word in _INTERRUPTS)


def _how_long(entry: Entry, seen: Evidence, state: str, now: datetime) -> list[Piece]:
    """How long the call in flight has been running, or how long the run took."""
    if state == "run":
        began = moment(seen.flying[-1].since) if seen.flying else seen.last_at
        return [(took((now - began).total_seconds()), "run bold")] if began else []
    first, last = moment(entry.started), moment(entry.updated)
    if first is None or last is None or not seen.messages:
        return []
    return [(f"after {took((last - first).total_seconds())}", "fg-2")]


def _running_for(entry: Entry, now: datetime) -> list[Piece]:
    first = moment(entry.started)
    return [(f"for {took((now - first).total_seconds())}", "fg-2")] if first else []


# -- line 2 ----------------------------------------------------------------------------------


def _facts(entry: Entry, seen: Evidence, state: str, now: datetime, writer: str) -> list[Fact]:
    """The facts of a state, most telling first, each once."""
    error = _error(seen.last_error) if seen.last_error else []
    if state in ("ok", "ended"):
        facts = _of_an_end(seen, state, error)
    elif state == "run":
        alive: Fact = [(f"writer {visible(writer or 'alive')}", "fg-2")]
        facts = [_asked(seen), alive, _silent(seen, now), _so_far(seen)]
    elif state == "fail":
        facts = _of_a_failure(entry, seen, error)
    elif state in ("open", "torn"):
        gone: Fact = [(f"writer {visible(writer or 'unknown')}", "fg-2")]
        facts = [_asked(seen), _unanswered(seen), error if state == "torn" else [], gone,
                 _tried(seen), error, _repeats(seen), _retries(seen), _silence(seen)]  # fmt: skip
    else:
        facts = []
    kept: list[Fact] = []
    for fact in (*facts, _damages(entry)):
        if fact and fact not in kept:
            kept.append(fact)
    return kept


def _of_an_end(seen: Evidence, state: str, error: Fact) -> list[Fact]:
    """A run that ended by itself: an error only where the very last call failed."""
    failed = seen.last_call is not None and seen.last_call.failed
    words: Fact = [(_closing(seen), "fg-2")] if _closing(seen) and state == "ok" else []
    return [error if failed else [], words, _changed(seen)]


def _of_a_failure(entry: Entry, seen: Evidence, error: Fact) -> list[Fact]:
    last: Fact = [(f"last call {_call(seen)}", "fg-2")] if seen.last_call else []
    if _is_interrupt(entry) and seen.last_call and seen.last_call.failed:
        error = last = []  # the headline names the call, and its refusal is the interrupt
    return [_forgotten(seen), _repeats(seen), error, _retries(seen), _silence(seen),
            [] if error else last]  # fmt: skip


def _error(error: Trouble) -> Fact:
    """In its own words, with the number of its call."""
    number = f" {error.n}" if error.n is not None else ""
    return [(f"last error{number}: ", "fg-2"), (error.text, "fail")]


def _changed(seen: Evidence) -> Fact:
    if not seen.files:
        return []
    return [(f"{seen.files} file{'s' if seen.files > 1 else ''} changed", "fg-2")]


def _asked(seen: Evidence) -> Fact:
    return [("asks for leave ", "fg-2"), (seen.asked, "open")] if seen.asked else []


def _unanswered(seen: Evidence) -> Fact:
    """The calls without a result, by number where they have one."""
    known = [call for call in seen.flying if call.n is not None]
    if known:
        numbers = ", ".join(str(call.n) for call in known)
        return [(f"no result for {numbers}", "fg-2")]
    return [("no result", "fg-2")] if seen.flying else []


def _forgotten(seen: Evidence) -> Fact:
    """A call that never got its result, though the run went on: providers refuse that."""
    if not seen.unanswered:
        return []
    call = seen.unanswered[-1]
    number = f" {call.n}" if call.n is not None else ""
    said = clip(one_line(telling(call.arguments)), 60)
    return [(f"no result for{number} {visible(call.tool)} {said}", "open")]


def _tried(seen: Evidence) -> Fact:
    if not seen.before:
        return []
    times = "once" if seen.before == 1 else f"{seen.before} times"
    return [("the same call failed ", "fg-2"), (times, "fail"), (" before", "fg-2")]


def _repeats(seen: Evidence) -> Fact:
    if seen.repeated is None:
        return []
    call, times = seen.repeated
    said = one_line(f"{call.tool} {telling(call.arguments)}")
    outcome = f"{visible(call.words)} each time" if call.failed else "the same result each time"
    return [(f"{clip(said, 60)} ", "fg-2"), (f"{times} times", "fail"), (f", {outcome}", "fg-2")]


def _retries(seen: Evidence) -> Fact:
    if not seen.retries:
        return []
    noun = "attempt" if seen.retries == 1 else "attempts"
    return [(f"{seen.retries} failed {noun} before the end", "fg-2")]


def _so_far(seen: Evidence) -> Fact:
    if not seen.errors:
        return []
    noun = "error" if seen.errors == 1 else "errors"
    return [(str(seen.errors), "fail"), (f" {noun} so far", "fg-2")]


def _silent(seen: Evidence, now: datetime) -> Fact:
    """How long a living run has written nothing."""
    if seen.last_at is None:
        return []
    return [("silent ", "fg-2"), (took((now - seen.last_at).total_seconds()), "fg-1")]


def _silence(seen: Evidence) -> Fact:
    if seen.silence < QUIET:
        return []
    return [(f"{took(seen.silence)} of silence before the last line", "fg-2")]


def _damages(entry: Entry) -> Fact:
    if not entry.damage:
        return []
    spots = "1 damage" if entry.damage == 1 else f"{entry.damage} damages"
    torn = " at its end" if entry.status is Status.TRUNCATED and entry.damage == 1 else ""
    return [(spots + torn, "bytes")]
