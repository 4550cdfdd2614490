"""The two lines in the head of an open session: why it stopped, and the facts beside it. Pure.

Line 1 is the headline that `sessionlog why` gives, from the same evidence, and for how long the
run went; line 2 the facts, most telling first. Whole facts drop from the end where there is no
room: a number is never cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sessionlog.branch import left_behind
from sessionlog.records import Ending, Entry, Kind, Record, Status, moment
from sessionlog.repeats import again
from sessionlog.text import clip, one_line, took, visible, width
from sessionlog.tools import label_of
from sessionlog.why.answer import Reading, Why, answered
from sessionlog.why.facts import Beside, Facts
from sessionlog.why.said import headline, level_of
from tui.lines import Line, Piece

QUIET = 300
"""Seconds with nothing written that are worth a word."""
SHORT = 24
"""Columns below which words are not cut but dropped: what is left would say nothing."""
MOST = 4000
"""Records that are looked at, from the end."""
TINTS = {"fail": "tint-fail", "open": "tint-open", "torn": "tint-bytes", "run": "tint-run"}
"""Background by how bad it is; what ended well has none of its own."""
_HEADLINE = {"fail": "fail bold", "open": "open bold", "torn": "bytes bold", "run": "run bold"}
_JOINTS = {**dict.fromkeys(("running", "killed_in_tool", "interrupted"), " "), "torn_write": ", "}
_WORDS = {"ok": "fg-2", "fail": "fail"}

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
    return lines_of(entry, why_of(entry, gather(records, before)), now, columns, writer)


def gather(records: Sequence[Record], before: int | None = None) -> Facts:
    """Read the last records. `before`: messages of the log ahead of them, None: not known."""
    if before is None and records and records[0].span.offset == 0:
        before = 0
    reading = Reading(before)
    if len(records) > MOST:
        ahead = sum(record.kind is Kind.MESSAGE for record in records[:-MOST])
        reading = Reading(None if before is None else before + ahead)
        records = records[-MOST:]
    twice = again(records)
    left = left_behind(records, twice=twice)
    for i, record in enumerate(records):
        if i in left:
            reading.past(record, i in twice)
        else:
            reading.take(record)
    return reading.facts()


def why_of(entry: Entry, facts: Facts, beside: Beside | None = None, began: str = "") -> Why:
    """Why the session of a list row stopped, from facts that were gathered before; `beside` is
    how the run ended by the journal of what was handed over, `began` when it began, where the
    facts are of the log's end alone."""
    if facts.files is None or began:
        facts = facts._replace(first_at=moment(began))
    ended = entry.status is Status.COMPLETE
    ending = Ending(ended, entry.reason, entry.ok, entry.stop)
    return answered(facts, ending, entry.status, beside=beside)


def lines_of(
    entry: Entry, why: Why, now: datetime, columns: int, writer: str = ""
) -> tuple[Line, Line]:
    """The same from an answer that was given before: only the clock and the width change."""
    if entry.status is None:
        why_not = f"  {visible(entry.reason or '')}"
        return Line([(" ", ""), ("Not a log that can be read", "fg-1 bold"), (why_not, "fg")],
                    [], "surface"), Line([], [], "surface")  # fmt: skip
    level = level_of(why)
    tint = TINTS.get(level, "surface")
    title, words = headline(why)
    pieces: list[Piece] = [(title, _HEADLINE.get(level, "fg-1 bold"))]
    if words:
        pieces.append((_JOINTS.get(why.cause, "  ") + words, _WORDS.get(level, "fg-1")))
    first = Line([(" ", ""), *pieces], _aside(_how_long(why, now)), tint)
    facts = _facts(entry, why, now, writer, f"{title} {words}")
    since = _running_for(why, now) if why.cause == "running" else []
    room = columns - 3 - sum(width(text) for text, _ in since)
    second = Line([(" ", ""), *_joined(facts, room)], _aside(since), tint)
    return first, second


def _aside(pieces: list[Piece]) -> list[Piece]:
    """What stands at the right edge, with air around it."""
    return [(" ", ""), *pieces, (" ", "")] if pieces else []


def _is_said(words: str, headline: str) -> bool:
    """Does the headline have these words? The first of them are enough."""
    return words.lower().rstrip("…. ")[:60] in headline.lower()


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


def _how_long(why: Why, now: datetime) -> list[Piece]:
    """How long the call in flight has been running, or how long the run took; of one that was cut
    off, how far its log goes."""
    if why.cause == "running":
        flying = why.in_flight
        began = moment(flying[-1].since) if flying else why.facts.last_at
        return [(took((now - began).total_seconds()), "run bold")] if began else []
    seconds = why.progress.seconds
    if seconds is None or not why.facts.messages:
        return []
    return [(f"{'' if why.ending.ended else 'log ends '}after {took(seconds)}", "fg-2")]


def _running_for(why: Why, now: datetime) -> list[Piece]:
    first = why.facts.first_at
    return [(f"for {took((now - first).total_seconds())}", "fg-2")] if first else []


# -- line 2 ----------------------------------------------------------------------------------


def _facts(entry: Entry, why: Why, now: datetime, writer: str, said: str) -> list[Fact]:
    """The facts, most telling first, each once; what the headline says is not said again."""
    if why.cause == "running":
        alive: Fact = [(f"writer {visible(writer or 'alive')}", "fg-2")]
        facts = [_asked(why), alive, _silent(why, now), _so_far(why)]
    elif why.status is Status.COMPLETE:
        facts = [_forgotten(why), _repeats(why, said), _error(why, said), _retries(why),
                 _silence(why), _words(why, said), _changed(why),
                 _last_call(why, said)]  # fmt: skip
    else:
        gone: Fact = [(f"writer {visible(writer or 'unknown')}", "fg-2")]
        torn = why.cause == "torn_write"
        facts = [_asked(why), _unanswered(why),
                 _error(why, said) if torn else [], gone, _tried(why), _error(why, said),
                 _repeats(why, said), _retries(why), _silence(why)]  # fmt: skip
    kept: list[Fact] = []
    for fact in (*facts, _damages(entry)):
        if fact and fact not in kept:
            kept.append(fact)
    return kept


def _error(why: Why, said: str) -> Fact:
    """In its own words, with the number of its call. What was overcome is no fact of the stop."""
    if why.cause == "interrupted":
        return []  # the refusal is the interrupt
    error = why.last_error
    error = why.failed if error and _is_said(error.text, said) else error
    if error is None or error.overcome or _is_said(error.text, said):
        return []
    last = why.facts.last_call
    if level_of(why) == "ok" and not (last and last.failed and last.call.n == error.n):
        return []
    number = f" {error.n}" if error.n is not None else ""
    return [(f"last error{number}: ", "fg-2"), (error.text, "fail")]


def _words(why: Why, said: str) -> Fact:
    """The model's last text, where nothing came after it."""
    last = why.progress.last_words
    if why.ok is not True or last is None or why.facts.expects != "person":
        return []
    return [] if _is_said(last.says, said) else [(last.says, "fg-2")]


def _last_call(why: Why, said: str) -> Fact:
    done = why.facts.last_call
    if done is None or why.ok is not False or _is_said(done.call.said, said):
        return []
    return [(f"last call {label_of(done.call.tool)} {done.call.said}", "fg-2")]


def _changed(why: Why) -> Fact:
    files = why.facts.files
    return [(f"{files} file{'s' if files > 1 else ''} changed", "fg-2")] if files else []


def _asked(why: Why) -> Fact:
    asked = why.in_flight[-1].asks if why.in_flight else ""
    return [("asks for leave ", "fg-2"), (asked, "open")] if asked else []


def _unanswered(why: Why) -> Fact:
    """The calls without a result, by number where they have one."""
    known = [str(call.n) for call in why.in_flight if call.n is not None]
    if known:
        noun = "message" if len(known) == 1 else "messages"
        return [(f"no result for {noun} {', '.join(known)}", "fg-2")]
    return [("no result", "fg-2")] if why.in_flight else []


def _forgotten(why: Why) -> Fact:
    """A call that never got its result, though the run went on: providers refuse that."""
    if not why.facts.unanswered or why.ok is not False:
        return []
    call = why.facts.unanswered[-1]
    number = f" {call.n}" if call.n is not None else ""
    return [(f"no result for{number} {label_of(call.tool)} {clip(call.said, 60)}", "open")]


def _tried(why: Why) -> Fact:
    before = why.in_flight[-1].before if why.in_flight else 0
    if not before:
        return []
    times = "once" if before == 1 else f"{before} times"
    return [("the same call failed ", "fg-2"), (times, "fail"), (" before", "fg-2")]


def _repeats(why: Why, said: str) -> Fact:
    """What was repeated without effect, up to the end."""
    last, again = why.facts.last_call, why.repeated[:1]
    if last is None or level_of(why) == "ok" or not again or _is_said(again[0].says[:40], said):
        return []
    call = clip(one_line(f"{label_of(again[0].tool)} {again[0].says}"), 60)
    outcome = f", {again[0].outcome} each time"
    return [(f"{call} ", "fg-2"), (f"{again[0].times} times", "fail"), (outcome, "fg-2")]


def _retries(why: Why) -> Fact:
    if not why.retries:
        return []
    noun = "attempt" if why.retries == 1 else "attempts"
    return [(f"{why.retries} failed {noun} before the end", "fg-2")]


def _so_far(why: Why) -> Fact:
    errors = why.facts.errors
    noun = "call" if errors == 1 else "calls"
    return [(str(errors), "fail"), (f" {noun} failed so far", "fg-2")] if errors else []


def _silent(why: Why, now: datetime) -> Fact:
    """How long a living run has written nothing."""
    if why.facts.last_at is None:
        return []
    return [("silent ", "fg-2"), (took((now - why.facts.last_at).total_seconds()), "fg-1")]


def _silence(why: Why) -> Fact:
    if why.facts.silence < QUIET or why.ok:
        return []
    return [(f"{took(why.facts.silence)} of silence before the last line", "fg-2")]


def _damages(entry: Entry) -> Fact:
    if not entry.damage:
        return []
    spots = "1 damage" if entry.damage == 1 else f"{entry.damage} damages"
    torn = " at its end" if entry.status is Status.TRUNCATED and entry.damage == 1 else ""
    return [(spots + torn, "bytes")]
