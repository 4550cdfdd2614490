"""Why a run stopped: facts, an ending and a status to one cause, with the evidence for it. Pure.

The rules are asked in order and the first that answers decides. An error that something went well
after is never a cause. How sure a rule may be depends on what the log records: its own verdict
and the provider's words count for themselves; a failed call counts only where nothing came after
it, or where the model's last words say that the work is not done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sessionlog.records import ENDED, Ending, Event, Status
from sessionlog.status import BROKE_OFF, UNASKED, WAITS
from sessionlog.telling import a_message, arguments_of
from sessionlog.text import clip, one_line
from sessionlog.tools import label_of
from sessionlog.why import errors, failures, prose, work
from sessionlog.why.facts import Beside, Call, Done, Facts, Repeat, Saying

NOT_KNOWN = "not_known"
LOOP = 5
"""So many equal outcomes of equal calls are a loop, when most calls between were no others."""
_NEAR = 4
"""Calls before the end that a failure is looked for among, where only nearness tells."""
_FAR = 12
"""The same where the model's last words tell of it too."""
_SENTENCE = 300
_STATUS = 8
"""Characters of a status that are looked at."""
_STORM = 3
"""Failed attempts without an answer that count as the cause of a run that was cut off."""
_REASONS = {
    **dict.fromkeys(("failed", "failure", "exit_forfeit"), "declared_failed"),
    **dict.fromkeys(("cycle", "loop", "loop_detected", "runaway"), "loop"),
    **dict.fromkeys((
        "iterations", "calls", "continuations", "time", "max_tokens", "length", "max_output_tokens",
        "max_turns", "budget_limited", "exit_cost", "messageoutputlengtherror", "billing_error",
        "error_max_turns", "error_max_budget_usd", "limit", "timeexceeded",
        "exit_total_execution_time",
    ), "budget"),
    **dict.fromkeys((
        "aborted", "interrupted", "cancelled", "canceled", "messageabortederror", "replaced",
        "abort", "user_cancelled", "keyboardinterrupt",
    ), "interrupted"),
    **dict.fromkeys(("model_context_window_exceeded", "exit_context"), "context_full"),
    "exit_command_timeout": "tool_timeout",
}  # fmt: skip
"""What the formats' own words for an ending mean, where they mean one thing."""
_LEAVE = ("sandbox_permissions", "with_escalated_permissions")
_ASKING = (
    "exitplanmode",
    "askuserquestion",
    "ask_user",
    "request_permissions",
    "ask_followup_question",
)
"""Tools that wait for a person."""
_REPORTS = ("failure", "fail", "give_up", "giveup", "task_failed", "report_failure", "fail_task",
            "abort_task")  # fmt: skip
"""Tools by which a model reports that it failed (Codex's update_goal says it by an argument)."""
_RELATED = {
    "permission": r"permi|approv|allow|grant|refus|reject|denied|leave|block|escalat|sandbox",
    "disk_full": r"disk|space|full|volume|storage",
    "tool_timeout": r"time|minute|hour|hang|hung|cut off|stuck|wait|nothing|killed",
    "subagent_failed": r"agent|helper|sub-?task|delegat|worker",
    "missing_program": r"install|not found|missing|available|on this machine|not there|path\b",
}
"""Words that show that the model's last text is about such a failure."""
TOLD = ("settled",)
"""Reasons by which the model itself declared success."""


class Verdict(NamedTuple):
    """The cause, one of the closed list or `not_known`, and what says so."""

    cause: str
    evidence: tuple[Saying, ...] = ()
    blamed: Done | None = None
    """The call whose failure is the cause."""
    subject: str = ""
    """The missing program's name."""


Rule = Callable[[Facts, Ending], Verdict | None]


def judge(facts: Facts, ending: Ending, status: Status | None) -> Verdict:
    """Why it stopped, or that it runs."""
    if status is Status.RUNNING:
        return Verdict("running", tuple(map(asked, facts.flying)) or _last(facts))
    if not ending.ended and ending.text in (UNASKED, WAITS):
        return Verdict("never_started", (Saying(ending.text),))
    if not ending.ended and facts.message is None and not (facts.troubles or _printed(facts)):
        says = "nothing but the head: no message was written"
        return Verdict("never_started", (Saying(says),))
    if ending.evidence == BROKE_OFF and (not facts.message or facts.message.says == "user"):
        return Verdict(NOT_KNOWN, (closing(facts, ending),))  # nothing came of it
    rules = _CUT_OFF if not ending.ended else _BAD if ending.ok is False else _GOOD
    for rule in rules:
        if verdict := rule(facts, ending):
            return verdict
    return Verdict(NOT_KNOWN, (closing(facts, ending),))


def with_beside(verdict: Verdict, beside: Beside) -> Verdict:
    """The verdict on a log without an ending, with the end of its run that stands beside it."""
    said = Saying(beside.says)
    if verdict.cause == "never_started":  # it did: what the log says of that is of its parent
        verdict = Verdict(NOT_KNOWN)
    if beside.stopped:
        return Verdict("interrupted", (said, *verdict.evidence))
    if beside.failed:  # it failed, and said why in its output alone
        return Verdict(errors.cause_of(beside.last) or NOT_KNOWN, (said, *verdict.evidence))
    return verdict._replace(evidence=(said, *verdict.evidence))


def closing(facts: Facts, ending: Ending) -> Saying:
    """The ending in the log's words, where they stand."""
    words = one_line(ending.text or ending.reason or ending.evidence)
    place = facts.ended
    if place is None or (facts.message and facts.message.offset > place.offset):
        place = facts.message
    return place._replace(says=words) if place else Saying(words)


def asked(call: Call) -> Saying:
    """A call as evidence."""
    says = f"{label_of(call.tool)} {call.said}".strip()
    return Saying(f"no result: {says}", call.n, call.line, call.offset)


def failure(done: Done) -> Saying:
    """A failed call as evidence."""
    says = f"{label_of(done.call.tool)} {done.call.said}: {worded(done)}"
    return Saying(says, done.call.n, done.line, done.offset)


def worded(done: Done) -> str:
    """What a failure says; where that is next to nothing, what was called."""
    return done.error if len(done.error) > 4 else f"{done.words}: {done.call.said}"


def told_by(cause: str, done: Done) -> Done:
    """The call with the line of its output that tells of the cause."""
    line = failures.line_of(cause, done.text)
    told = bool(failures.line_of(cause, done.error))
    return done._replace(error=clip(one_line(line), _SENTENCE)) if line and not told else done


def _last(facts: Facts) -> tuple[Saying, ...]:
    """The last message as evidence of being cut off behind it."""
    if facts.message is None:
        return ()
    return (facts.message._replace(says=f"the last message is {a_message(facts.message.says)}"),)


def _printed(facts: Facts) -> tuple[Saying, ...]:
    """The last line of a program whose plain output was recorded: it lived, message or not."""
    for _, record in reversed(facts.last):
        event, span = record.payload, record.span
        if isinstance(event, Event) and event.kind == "output":
            said = clip(one_line(event.text), _SENTENCE)
            return (Saying(f"the last line of output: {said}", None, span.line, span.offset),)
    return ()


# -- a run with an ending that is not a good one -------------------------------------------------


def _declared(facts: Facts, ending: Ending) -> Verdict | None:
    """The log's own word for the ending, where it means one thing."""
    cause = _REASONS.get((ending.reason or "").lower(), "")
    if not cause:
        return None
    if cause == "interrupted" and (refused := _refused(facts, ending)):
        return Verdict("permission", (failure(refused),), refused)
    return _limited(cause, facts, ending) or Verdict(cause, (closing(facts, ending),))


def _limited(cause: str, facts: Facts, ending: Ending) -> Verdict | None:
    """A limit, or a guard against loops, that stopped a loop: the loop is the cause."""
    found = looping(facts, LOOP if cause == "budget" else 2)
    if found is None or cause not in ("budget", "loop"):
        return None
    return Verdict("loop", (_repeated(found), closing(facts, ending)))


def _refused(facts: Facts, ending: Ending) -> Done | None:
    """The last call, where its refusal is all that ended the run, and no mark of an interrupt."""
    last = facts.last_call
    if last is None or "interrupt" in ending.text.lower():
        return None
    if not (last.failed or last.interrupted):
        return None
    if facts.message is None or facts.message.says != "response":
        return None
    cause, _ = failures.cause_of(last.call.tool, last.call.said, last.text, failed=True)
    return last if cause == "permission" else None


def _named(facts: Facts, ending: Ending) -> Verdict | None:
    """The error's own words: the provider's, the client's, the network's."""
    texts = [ending.text, ending.reason or ""]
    status = ""
    if facts.result is not None and facts.result.failure:
        status = str(facts.result.failure.get("status", ""))[:_STATUS]
        texts.append(str(facts.result.failure.get("response_body", "")))
    texts += [trouble.detail for trouble in facts.troubles[-1:]]
    cause = errors.cause_of(*texts) or errors.by_status(status)
    if not cause:
        return None
    if limited := _limited(cause, facts, ending):
        return limited
    says = [closing(facts, ending)]
    if cause == "dangling_call":
        says += map(asked, facts.unanswered[-3:])
    return Verdict(cause, (*says, *_tried(facts)))


def _tried(facts: Facts) -> list[Saying]:
    """The first of the attempts that failed."""
    if not facts.retries:
        return []
    first = facts.troubles[0]
    many = f"{facts.retries} failed attempt{'s' if facts.retries > 1 else ''} before: {first.says}"
    return [Saying(many, None, first.line, first.offset)]


def _condensed(facts: Facts, ending: Ending) -> Verdict | None:
    """The conversation was condensed, and the model said nothing after it."""
    if facts.reset is None or facts.after_reset or facts.reset.says.startswith("manual"):
        return None
    says = f"condensed right before the end: {one_line(facts.reset.says)}"
    return Verdict("compaction", (facts.reset._replace(says=says),))


def _circled(facts: Facts, ending: Ending) -> Verdict | None:
    found = looping(facts)
    return Verdict("loop", (_repeated(found), closing(facts, ending))) if found else None


def _stormed(facts: Facts, ending: Ending) -> Verdict | None:
    """Errors of the run that nothing went well after."""
    if not facts.troubles:
        return None
    last = facts.troubles[-1]
    many = len(facts.troubles) >= _STORM or _is_last_try(last.says)
    if not ending.ended and not (many or last.ends or last.kind == "error"):
        return None
    cause = errors.cause_of(last.says, last.detail)
    if not cause or (cause == "interrupted" and not ending.ended):
        return None
    return Verdict(cause, (Saying(last.says, None, last.line, last.offset), *_tried(facts)))


def _is_last_try(says: str) -> bool:
    """`attempt 10 of 10`"""
    found = errors.alternatives(r"attempt (\d+) ?(?:of|/) ?(\d+)").search(says)
    return bool(found) and found[1] == found[2] if found else False


# -- a run that ended by itself ------------------------------------------------------------------


def _settled(facts: Facts, ending: Ending) -> Verdict | None:
    """The model declared success, with words of its own: nothing is read into them."""
    if facts.result is not None and ending.ok and ending.reason in TOLD:
        return Verdict("finished", (closing(facts, ending),))
    return None


def _reported(facts: Facts, ending: Ending) -> Verdict | None:
    """The model's last call told the client that the task can't be done."""
    last = facts.last_call
    if last is None or last.failed:
        return None
    tool = last.call.tool.replace("-", "_").lower().rpartition("__")[2]
    if tool in _REPORTS or (tool == "update_goal" and '"blocked"' in last.call.arguments):
        says = f"{label_of(last.call.tool)} {last.call.said}"
        place = (last.call.n, last.call.line, last.call.offset)
        return Verdict("declared_failed", (Saying(says, *place),))
    return None


def _gave_up(facts: Facts, ending: Ending) -> Verdict | None:
    """The model's last words say that the work is not done, or the last call left it so."""
    words = facts.words if facts.expects == "person" and facts.words else None
    near = work.unresolved(facts.recent[-3:])
    if not near and (words is None or prose.is_plain(words.says)):
        return None
    said = prose.judged(words.says if words else "")
    doubted = said.gave_up or (said.broken and not said.success and bool(near))
    if words and doubted:
        sentence = words._replace(says=clip(one_line(words.says), _SENTENCE))
        if soft := _soft(facts, words.says):
            done, cause, subject = soft
            return Verdict(cause, (failure(done), sentence), done, subject)
        return Verdict("gave_up", (sentence, *map(failure, near[-1:])))
    if said.success or not near or near[-1] is not facts.last_call:
        return None
    if soft := _soft(facts, "", 1):
        done, cause, subject = soft
        return Verdict(cause, (failure(done),), done, subject)
    return _circled(facts, ending)


def _finished(facts: Facts, ending: Ending) -> Verdict | None:
    """A log that has no verdict to be had looks the same after a turn and in the middle of one."""
    unsure = ending.ok is None or ending.reason == ENDED
    return Verdict(NOT_KNOWN if unsure else "finished", (closing(facts, ending),))


def _soft(facts: Facts, words: str, near: int = _NEAR) -> tuple[Done, str, str] | None:
    """The failed call that the end is about, its cause and the cause's subject."""
    after: list[Done] = []
    for distance, done in enumerate(reversed(facts.recent[-_FAR:])):
        said = done.call.said
        cause, subject = failures.cause_of(done.call.tool, said, done.text, done.failed)
        told = bool(words) and _is_about(words, cause, subject)
        blamed = told or (done.failed and distance < near)
        if cause and blamed and not work.is_overcome(done, cause, subject, after):
            return told_by(cause, done), cause, subject
        after.append(done)
    return None


def _is_about(words: str, cause: str, subject: str) -> bool:
    if subject and subject.lower() in words.lower():
        return True
    return cause in _RELATED and bool(errors.alternatives(_RELATED[cause]).search(words))


# -- a run that was cut off ----------------------------------------------------------------------


def _full(facts: Facts, ending: Ending) -> Verdict | None:
    """Nothing could be written any more. A call in flight behind it says that there was hope."""
    after: list[Done] = []
    for done in reversed(facts.recent[-1 if facts.flying else -_NEAR :]):
        cause, _ = failures.cause_of(done.call.tool, done.call.said, done.text, done.failed)
        if cause == "disk_full" and not work.is_overcome(done, cause, "", after):
            done = told_by(cause, done)
            return Verdict(cause, (failure(done), *_torn_line(facts)), done)
        after.append(done)
    return None


def _torn(facts: Facts, ending: Ending) -> Verdict | None:
    if not facts.torn:
        return None
    return Verdict("torn_write", (*_torn_line(facts), *map(asked, facts.flying)))


def _torn_line(facts: Facts) -> list[Saying]:
    return [
        Saying(f"{damage.why}, {damage.span.length} bytes", None, damage.span.line,
               damage.span.offset)
        for damage in facts.damages if damage.torn
    ]  # fmt: skip


def _waited(facts: Facts, ending: Ending) -> Verdict | None:
    """A call asked for leave, and no answer came."""
    for call in reversed(facts.flying):
        if leave := leave_of(call):
            says = asked(call)
            return Verdict("permission", (says, says._replace(says=f"asks for leave: {leave}")))
    if facts.asks and facts.flying:
        return Verdict("permission", (facts.asks, *map(asked, facts.flying)))
    return None


def leave_of(call: Call) -> str:
    """The leave that a call asks for (Codex 0.171 names it among its arguments); "" for none."""
    if call.tool.replace("_", "").lower() in _ASKING:
        return "an answer of a person"
    value = arguments_of(call.arguments) if "permissions" in call.arguments else None
    if not isinstance(value, dict):
        return ""
    for key in _LEAVE:
        word = value.get(key)
        if word and word != "use_default":
            why = value.get("justification")
            return one_line(f"{key if word is True else word}" + (f": {why}" if why else ""))
    return ""


def _in_tool(facts: Facts, ending: Ending) -> Verdict | None:
    if not facts.flying:
        return None
    found = looping(facts)
    if found and any(call.arguments == found.call.arguments for call in facts.flying):
        return Verdict("loop", (_repeated(found), *map(asked, facts.flying)))
    return Verdict("killed_in_tool", tuple(map(asked, facts.flying)))


def _answering(facts: Facts, ending: Ending) -> Verdict | None:
    says = (*_last(facts), *_printed(facts))
    return Verdict("killed_answering", says) if says else None


def looping(facts: Facts, least: int = LOOP) -> Repeat | None:
    """The call that came again and again with the same outcome up to the end."""
    end = facts.recent[-1].nth if facts.recent else 0
    found = [
        r for r in facts.repeats
        if r.times >= least and end - r.last <= 2 and r.dense >= (0.3 if r.failed else 0.45)
    ]  # fmt: skip
    return max(found, key=lambda r: r.times, default=None)


def _repeated(found: Repeat) -> Saying:
    said = f"{label_of(found.call.tool)} {found.call.said} {found.times} times"
    told = ", ".join(filter(None, [found.words, found.error]))
    return Saying(f"{said}, the same each time{': ' if told else ''}{told}", found.call.n,
                  found.call.line, found.call.offset)  # fmt: skip


_BAD: Sequence[Rule] = (_declared, _named, _stormed, _condensed, _circled, _gave_up)
_GOOD: Sequence[Rule] = (_settled, _stormed, _reported, _gave_up, _finished)
_CUT_OFF: Sequence[Rule] = (
    _full,
    _torn,
    _waited,
    _in_tool,
    _stormed,
    _condensed,
    _circled,
    _answering,
)
