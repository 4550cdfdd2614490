"""The answer in words: a headline, a summary, and a page of statements. Pure.

The screen, its header and the command say the same, because they say it from here. Words are
visible text; a statement names the row that it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sessionlog.records import Damage, Status
from sessionlog.status import ALIVE, NO_END, UNASKED, WAITS, WENT_BACK
from sessionlog.text import clip, one_line, size, took, visible
from sessionlog.tools import label_of
from sessionlog.why.answer import Flight, Why
from sessionlog.why.facts import Call, Saying

LEVELS = {
    **dict.fromkeys(("finished",), "ok"),
    **dict.fromkeys(("running",), "run"),
    **dict.fromkeys(("torn_write",), "torn"),
    **dict.fromkeys((
        "killed_in_tool", "killed_answering", "never_started", "permission", "gave_up",
        "missing_program", "tool_timeout", "subagent_failed", "not_known",
    ), "open"),
}  # fmt: skip
"""How bad a cause is: ok, run, torn, open (left open, needs a look); all others fail."""
TITLES = {
    "finished": "Done", "never_started": "Nothing but the head", "empty": "Empty",
    "provider_overloaded": "Provider overloaded", "rate_limit": "Usage limit",
    "auth": "Credentials refused", "context_full": "Context full",
    "dangling_call": "Provider refuses an open call", "network": "Provider not reached",
    "killed_answering": "Stopped while the model answered", "torn_write": "Last line torn",
    "interrupted": "Interrupted", "permission": "No leave", "budget": "Limit",
    "declared_failed": "The model's verdict", "loop": "Going in circles", "gave_up": "Gave up",
    "tool_timeout": "Timed out", "disk_full": "Disk full", "compaction": "Compaction",
    "subagent_failed": "Subagent failed",
}  # fmt: skip
"""What the headline calls a cause; those that are not here depend on more."""
_JOINTS = {
    **dict.fromkeys(("running", "killed_in_tool", "killed_answering", "interrupted"), " "),
    "torn_write": ", ",
}
_SENTENCE = 300
_QUIET = 60
"""Seconds of silence that are worth a statement."""

Clock = Callable[[str], str]


class Statement(NamedTuple):
    """A line of the page."""

    label: str
    """"" where it goes on with what the line before says."""
    level: str
    """fail, amiss, open, run, torn, ok, bytes, reset, or "" for a plain fact."""
    words: str
    n: int | None = None
    """Number of the message it is about."""
    line: int = 0
    """Line of the file, from 1; 0 where it is not known."""
    offset: int = -1
    """Byte of the record; -1: it is about none."""


def clock_of(at: str) -> str:
    """The time of day of an RFC 3339 text, as the log has it."""
    return visible(at[11:19])


def level_of(why: Why) -> str:
    """ok, run, torn, open or fail."""
    if why.cause == "not_known" and why.status is Status.COMPLETE and why.ok is None:
        return "ok"  # nothing to look into: the log cannot tell
    if why.cause == "not_known" and (why.ok is False or (why.beside and why.beside.failed)):
        return "fail"
    return LEVELS.get(why.cause, "fail")


def is_amiss(why: Why) -> bool:
    """Did the run end by itself, though something failed?"""
    return why.status is Status.COMPLETE and why.ok is True and why.cause != "finished"


# -- the headline --------------------------------------------------------------------------------


def headline(why: Why) -> tuple[str, str]:
    """(what, where or in which words) of the stop."""
    if why.beside is not None:
        how = "Stopped" if why.beside.stopped else "Failed" if why.beside.failed else "Ended"
        return how, why.beside.says
    if why.cause in ("running", "killed_in_tool"):
        return _in_call(why)
    if why.cause == "interrupted":
        return _interrupt(why)
    if why.cause == "missing_program":
        return f"{visible(why.subject or 'A program')} is missing", _blamed(why)
    if why.ending.text in (WAITS, UNASKED, WENT_BACK):
        return why.ending.text.capitalize(), ""
    if why.cause == "not_known":
        return _not_known(why)
    if why.cause == "killed_answering" and why.ending.text.startswith("in "):
        return f"Stopped {one_line(why.ending.text)}", ""
    if why.cause == "killed_answering" and why.ending.text == NO_END:
        return NO_END.capitalize(), _closing(why)
    return TITLES[why.cause], _where(why)


def _in_call(why: Why) -> tuple[str, str]:
    running = why.cause == "running"
    if not why.in_flight:
        text = why.ending.text or NO_END
        doing = one_line(ALIVE.get(text, text))
        return (f"Running: {doing}", "") if running else ("Stopped", NO_END)
    call = why.in_flight[-1]
    verb = "Running" if running else "Stopped inside"
    return f"{verb} {_tool(call, len(why.in_flight))}", call.says


def _tool(call: Flight, count: int) -> str:
    return label_of(call.tool) + (f" (+{count - 1} more)" if count > 1 else "")


def _not_known(why: Why) -> tuple[str, str]:
    words = one_line(why.ending.text or why.reason or "")
    if why.status is not Status.COMPLETE:
        return "Stopped", words or NO_END
    if why.ok is False:
        return "Failed", words or "no reason recorded"
    return "Ended, no verdict in the log", _closing(why)


def _where(why: Why) -> str:
    """The words behind the headline."""
    match why.cause:
        case "finished":
            return _closing(why)
        case "never_started":
            return "no message was written"
        case "killed_answering":
            last = why.facts.last_call
            return f"after {said}" if last and (said := _call(last.call)) else ""
        case "torn_write":
            inside = [f"inside {_tool(c, len(why.in_flight))} {c.says}" for c in why.in_flight[-1:]]
            return "".join(inside)
        case "permission":
            return _leave(why)
        case "loop":
            return why.evidence[0].says if why.evidence else ""
        case _:
            return _blamed(why)


def _closing(why: Why) -> str:
    """The result's words; else the model's last text."""
    result = why.facts.result
    if result is not None and result.message:
        return one_line(result.message)
    last = why.progress.last_words
    if last is not None and why.facts.expects == "person":
        return last.says
    return "" if why.ending.text in ("done", why.reason) else one_line(why.ending.text)


def _interrupt(why: Why) -> tuple[str, str]:
    words = one_line(why.ending.text)
    words = words if "interrupt" in words.lower() else "interrupted"
    done, last = why.facts.last_call, why.facts.message
    if done and last and why.facts.result and last.offset > done.offset:
        done = None  # something was said after it: it is not what was interrupted
    inside = f"inside {_call(done.call)}" if done and (done.failed or done.interrupted) else ""
    return words[:1].upper() + words[1:], inside


def _leave(why: Why) -> str:
    if why.in_flight:
        call = why.in_flight[-1]
        return f"to run {label_of(call.tool)} {call.says}"
    return _blamed(why)


def _blamed(why: Why) -> str:
    """The error that did it, in its own words; else the words of the evidence."""
    if why.last_error is not None and not why.last_error.overcome and (
        why.blamed or not why.last_error.tool
    ):  # fmt: skip
        return why.last_error.text
    return why.evidence[0].says if why.evidence else one_line(why.ending.text)


def _call(call: Call) -> str:
    return f"{label_of(call.tool)} {call.said}".strip()


# -- the summary ---------------------------------------------------------------------------------


def summary(why: Why, clock: Clock = clock_of) -> str:
    """What, where and since when, in a sentence or two."""
    title, words = headline(why)
    words = clip(words, _SENTENCE)
    first = f"{title}{_JOINTS.get(why.cause, ': ') if words else ''}{words}"
    told = [first, *filter(None, [_since(why, clock), _tries(why), _after(why)])]
    return ". ".join(part.rstrip(". ") for part in told) + "."


def _since(why: Why, clock: Clock) -> str:
    if not why.in_flight:
        return ""
    call = why.in_flight[-1]
    at = f" at {clock(call.since)}" if call.since else ""
    where = f" (message {call.n})" if call.n is not None else ""
    if why.cause == "permission":
        return f"Asked{at}{where}{f': {call.asks}' if call.asks else ''}"
    if call.seconds is not None:
        return f"Asked{at}{where}, {took(call.seconds)} ago"
    return f"Asked{at}{where}, no result was written"


def _tries(why: Why) -> str:
    if not why.retries:
        return ""
    return f"{why.retries} attempt{'s' if why.retries > 1 else ''} failed before"


def _after(why: Why) -> str:
    progress = why.progress
    if not progress.messages or progress.seconds is None or progress.seconds < 1:
        return ""
    last = f", {_count(progress.files, 'file')} changed" if progress.files else ""
    spent = took(progress.seconds)
    return f"After {spent}, {_count(progress.calls, 'call')}{last}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# -- the page ------------------------------------------------------------------------------------


def statements(why: Why, clock: Clock = clock_of) -> tuple[Statement, ...]:
    """The page, top to bottom: the headline (two statements without a label), then labelled
    facts; an empty statement parts one group from the next."""
    level = level_of(why)
    title, words = headline(why)
    head = [Statement("", level, title)]
    if words:
        head.append(Statement("", level, words))
    groups = (
        [*_flying(why, clock), _log_end(why), *_writer(why), *_evidence(why)],
        [*_error(why), *_repeats(why), *_retried(why)],
        [*_gaps(why, clock), *_reset(why), *_damages(why), *_got(why)],
        [*_set_out(why)],
    )
    page = head
    for group in groups:
        if group:
            page += [Statement("", "", ""), *group]
    return tuple(page)


def _flying(why: Why, clock: Clock) -> Iterator[Statement]:
    for call in why.in_flight:
        since = f", asked {clock(call.since)}" if call.since else ""
        state = f", for {took(call.seconds)}" if call.seconds is not None else ", no result written"
        level = "run" if why.status is Status.RUNNING else "open"
        place = (call.n, call.line, call.offset)
        yield Statement("in flight", level, f"{label_of(call.tool)}{since}{state}", *place)
        if call.asks:
            yield Statement("", level, f"asks for leave: {call.asks}", *place)
        if call.before:
            yield Statement("", level, f"the same call failed {call.before} times before", *place)


def _log_end(why: Why) -> Statement:
    torn = next((damage.span for damage in reversed(why.damages) if damage.torn), None)
    last = why.facts.end
    span = torn if why.facts.torn and torn else last
    place = (None, span.line, span.offset) if span else (None, 0, -1)
    if why.facts.torn:
        return Statement("log end", "bytes", "torn line", *place)
    whole = "" if why.ending.ended else "whole line, "
    return Statement("log end", "", f"{whole}{visible(why.ending.evidence)}", *place)


def _writer(why: Why) -> Iterator[Statement]:
    if why.alive:
        yield Statement("writer", "", f"alive: {visible(why.alive)}")
    elif not why.ending.ended:
        yield Statement("writer", "", "unknown: no sign of one that lives")


def _evidence(why: Why) -> Iterator[Statement]:
    words = why.cause.replace("_", " ")
    if why.cause == "not_known":
        yield Statement("cause", "", "not in the log")
        return
    yield Statement("cause", "amiss" if is_amiss(why) else level_of(why), words)
    told = headline(why)[1]
    for said in why.evidence:
        if said.says == told:
            continue
        yield Statement("", "", clip(said.says, _SENTENCE), said.n, said.line, said.offset)


def _error(why: Why) -> Iterator[Statement]:
    error = why.last_error
    if error is None:
        return
    place = (error.n, error.line, error.offset)
    if error.overcome:
        yield Statement("last error", "", f"overcome: {clip(error.text, _SENTENCE)}", *place)
    else:
        yield Statement("last error", "fail", clip(error.text, _SENTENCE), *place)


def _repeats(why: Why) -> Iterator[Statement]:
    for i, again in enumerate(why.repeated):
        call = f"{label_of(again.tool)} {clip(again.says, _SENTENCE)}"
        outcome = ": ".join(filter(None, [f"{again.outcome} each time", again.error]))
        words = f"{again.times} times {call}, {outcome}"
        yield Statement("" if i else "repeated", "fail", words, again.n, again.line, again.offset)


def _retried(why: Why) -> Iterator[Statement]:
    if why.retries:
        first = why.facts.troubles[0]
        words = f"{_count(why.retries, 'attempt')} failed: {why.facts.troubles[-1].says}"
        yield Statement("retries", "fail", words, None, first.line, first.offset)


def _gaps(why: Why, clock: Clock) -> Iterator[Statement]:
    gaps = [gap for gap in why.longest_gaps if gap.seconds >= _QUIET]
    for i, gap in enumerate(gaps):
        words = f"{took(gap.seconds)} of silence from {clock(gap.at)}"
        yield Statement("" if i else "gaps", "", words, gap.after, gap.line, gap.offset)


def _reset(why: Why) -> Iterator[Statement]:
    if why.reset is not None and why.resets:
        said = why.reset
        words = f"{why.resets}, the last: {one_line(said.says)}"
        yield Statement("reset", "reset", words, said.n, said.line, said.offset)


def _damages(why: Why) -> Iterator[Statement]:
    for i, damage in enumerate(why.damages[-3:]):
        words = f"{why.damaged}, " if not i else ""
        yield Statement("" if i else "damage", "bytes", words + _damage(damage), None,
                        damage.span.line, damage.span.offset)  # fmt: skip


def _damage(damage: Damage) -> str:
    saved = f", {size(damage.salvaged)} of the line saved" if damage.salvaged else ""
    return f"{visible(damage.why)}, {size(damage.span.length)}{saved}"


def _got(why: Why) -> Iterator[Statement]:
    progress = why.progress
    told = [_count(progress.messages, "message"), _count(progress.calls, "call")]
    if progress.errors:
        told.append(f"{progress.errors:,} failed")
    if why.facts.interrupted:
        told.append(f"{why.facts.interrupted:,} interrupted")
    if progress.files:
        told.append(f"{_count(progress.files, 'file')} changed")
    yield Statement("got", "", ", ".join(told))


def _set_out(why: Why) -> Iterator[Statement]:
    for label, said in (("set out", why.set_out), ("last words", why.progress.last_words)):
        if said is not None:
            words = clip(one_line(said.says), _SENTENCE)
            yield Statement(label, "", words, said.n, said.line, said.offset)


def place_of(said: Statement | Saying) -> str:
    """The row that a statement is about: a message's number, else `L` and a line's."""
    if said.n is not None:
        return str(said.n)
    return f"L{said.line}" if said.line else ""
