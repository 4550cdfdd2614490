"""How a run that was handed over ended, in plain words."""

from __future__ import annotations

import signal

from sessionlog.records import moment
from sessionlog.supervise.order import Outcome
from sessionlog.text import one_line, took

_LINES = 3
"""Last lines of what a failed program printed that are told."""
_STOPPED = {
    "person": "stopped by you", "command": "stopped by `sessionlog stop`",
    "viewer gone": "stopped: nobody watched it any more",
    "unwatched": "stopped: what watched it was killed",
}  # fmt: skip


def said(agent: str, outcome: Outcome) -> str:
    """`zot ended well after 41s`, `zot stopped by you after 2m03s, 5 processes killed`. One
    line, safe to print."""
    words = [f"{one_line(agent)} {_how(outcome)}"]
    began, ended = moment(outcome.began), moment(outcome.ended)
    if began and ended:
        words[0] += f" after {took((ended - began).total_seconds())}"
    if outcome.stopped:
        words.append(f"{outcome.killed} process{'es' * (outcome.killed != 1)} killed")
    elif outcome.left_over:
        words.append(f"{outcome.left_over} left in the background, killed")
    if outcome.problem:
        words.append(one_line(outcome.problem))
    return ", ".join(words)


def last_words(outcome: Outcome) -> list[str]:
    """The last lines that a failed program printed, safe to print."""
    if outcome.code == 0 or outcome.stopped:
        return []
    text = outcome.tail.decode("utf-8", "replace")
    lines = [one_line(line).strip() for line in text.splitlines()]
    return [line for line in lines if line][-_LINES:]


def _how(outcome: Outcome) -> str:
    if outcome.stopped:
        gentle = " gently" if outcome.gentle else ""
        return _STOPPED.get(outcome.stopped, "stopped") + gentle
    if outcome.signal:
        return f"was killed by {_signal(outcome.signal)}"
    if outcome.code is None:
        return "ended, nobody knows how,"
    return "ended well" if outcome.code == 0 else f"failed with {exit_of(outcome)}"


def exit_of(outcome: Outcome) -> str:
    """`exit status 7`, `signal 9`, `exit status not known`."""
    if outcome.code is not None:
        return f"exit status {outcome.code}"
    return f"signal {outcome.signal}" if outcome.signal else "exit status not known"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
