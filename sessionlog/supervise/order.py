"""What the viewer asks a supervisor for, and what it hears of the end.

Lines of JSON on a socket between two processes of ours, and files of the journal. The values are
plain tuples and the JSON is the standard library's: both load in a moment, and a supervisor that
took its time would be waited for.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

MARKER = "SESSIONLOG_RUN"
"""The variable in a command's environment by which its processes are known when their supervisor
was killed."""
STOP, GENTLE = b"stop", b"gentle"
"""What the viewer says, a line each."""
PERSON, VIEWER_GONE, COMMAND = "person", "viewer gone", "command"
"""Who stopped a run: a person at the viewer; nobody, the viewer went away; `sessionlog stop`."""
UNWATCHED = "unwatched"
"""Nobody: its supervisor or its guard was killed, and the other one ended it."""
TAIL = 8 << 10
"""Bytes that are kept of what a program without a terminal printed last."""


class Order(NamedTuple):
    """A command to run, and what to do with its output and its log."""

    argv: tuple[str, ...]
    """The program first; looked up in PATH. No shell ever sees it."""
    cwd: str
    run: str
    """The token of this run, from `new_run`."""
    session: str
    """The id of the session that is gone on with."""
    log: str
    """The log that the agent goes on with."""
    source: str
    """The log that was handed over."""
    agent: str
    screen: bool
    """It gets a terminal of its own; else its output is read and its input is empty."""
    output: str = ""
    """The dialect in which its output is recorded into `log`; "" records nothing."""
    closes: bool = False
    """`log` is a native one that the agent appends to: what a stop leaves open in it is closed."""
    namespace: bool = False
    """Run in a process namespace of its own: the kernel then ends all of it with its first."""
    env: Mapping[str, str] = {}
    """In addition to the viewer's environment."""
    before: tuple[str, ...] = ()
    """A command that runs first, in the same place and under the same watch; where it fails, the
    other is not started. Empty for none."""


class Outcome(NamedTuple):
    """How a run ended. Times are RFC 3339 in UTC."""

    code: int | None = None
    """Exit code; None when a signal ended the command, or nobody knows."""
    signal: int = 0
    """The signal that ended the command; 0 when none did."""
    stopped: str = ""
    """"person", "viewer gone" or "command"; "" when it ended by itself."""
    gentle: bool = False
    """It was interrupted first."""
    killed: int = 0
    """Processes that ended by a SIGKILL of ours."""
    left_over: int = 0
    """Of these, the ones that were still there when the command had ended by itself."""
    began: str = ""
    ended: str = ""
    tail: bytes = b""
    """The last of what it printed, as it came. Hostile: it is shown through `text.visible`."""
    recorded: str = ""
    """The log that its output was recorded into."""
    problem: str = ""
    """What went wrong on our side, in words: no journal, no recording, a process that stays."""


def new_run(now: float | None = None) -> str:
    """A token for a run: sorts by time, and nobody else has it."""
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(now)) + "-" + os.urandom(4).hex()


def stamp(now: float | None = None) -> str:
    """A time (seconds since the epoch; now unless given) as RFC 3339, to the millisecond."""
    now = time.time() if now is None else now
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
    return f"{whole}.{int(now % 1 * 1000):03}Z"


def line(value: Mapping[str, Any]) -> bytes:
    """One line of JSON, in ASCII; undecodable bytes of a name stay what they are."""
    return json.dumps(value).encode() + b"\n"


def read(data: bytes) -> dict[str, Any]:
    """The object in a line. Raises ValueError for what is none."""
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def of_order(order: Order) -> dict[str, Any]:
    """An order as JSON."""
    return {**order._asdict(), "env": dict(order.env)}


def read_order(data: bytes) -> Order:
    """The order in a line. Raises ValueError, TypeError or KeyError for what is none."""
    fields = read(data)
    commands = {name: tuple(fields.get(name, ())) for name in ("argv", "before")}
    return Order(**{**fields, **commands})


def of_outcome(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON: its tail is text, with bytes that are none escaped as Python does."""
    return {**outcome._asdict(), "tail": outcome.tail.decode("utf-8", "surrogateescape")}


def read_outcome(fields: Any) -> Outcome:
    """The outcome in a JSON object; fields of a later version are left out.

    Raises ValueError for what is none: whoever can write to the journal's folder can write this.
    """
    if not isinstance(fields, dict):
        raise ValueError("no outcome")
    known = {name: fields[name] for name in Outcome._fields if name in fields}
    for name, value in known.items():
        wanted = _OUTCOME[name]
        if wanted == "code" and value is None:
            continue
        if wanted == "text":
            text(value)
        elif wanted == "flag":
            if not isinstance(value, bool):
                raise ValueError(f"{name}: neither true nor false")
        else:
            number(value)
    if known.get("stopped", "") not in ("", PERSON, VIEWER_GONE, COMMAND, UNWATCHED):
        raise ValueError("stopped: by nobody that is known")
    tail = known.get("tail", "").encode("utf-8", "surrogateescape")
    return Outcome(**{**known, "tail": tail})


_OUTCOME = {
    "code": "code", "signal": "number", "stopped": "text", "gentle": "flag", "killed": "number",
    "left_over": "number", "began": "text", "ended": "text", "tail": "text", "recorded": "text",
    "problem": "text",
}  # fmt: skip


def text(value: Any) -> str:
    """A text that a name or a path can be; bytes that are no UTF-8 are escaped as Python does.

    Raises ValueError for anything else, such as a lone surrogate.
    """
    if not isinstance(value, str):
        raise ValueError("no text")
    value.encode("utf-8", "surrogateescape")
    return value


def number(value: Any, least: int = 0) -> int:
    """A number as the system counts processes, codes and signals. Raises ValueError."""
    if type(value) is not int or not least <= value < 1 << 31:
        raise ValueError("no number")
    return value
