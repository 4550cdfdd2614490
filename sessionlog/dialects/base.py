"""What a dialect is: how one program words its stream. Pure.

A dialect takes the stream line by line and gives native payloads the moment they are known to be
whole. It writes nothing and masks nothing: `recording.Recording` is the only one that does. What
arrives is data from elsewhere: no line, however malformed, raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from sessionlog import codec
from sessionlog.records import Activity, Event, Message, Payload, Result

PARTIAL, CUT, DAMAGE, OUTPUT = "partial", "cut", "damage", "output"
"""Kinds of events that only a recorded stream has: the raw text of a block that was not finished;
where the stream broke off; bytes that were left out; a line that is no part of the stream."""
INTERRUPTED = "Interrupted by the user."
PRINTED = 1 << 20
"""Bytes that are kept of a line that is no part of the stream."""
_WORD = 4 << 10
"""Bytes of the longest secret: a line is not cut inside of one."""
TOLD = 300
"""Characters that are kept of what is told in passing."""


class Standing(NamedTuple):
    """How a stream stands if nothing more comes."""

    result: Result | None = None
    """What the stream says of its end; None: it says nothing."""
    cut: str = ""
    """Where it broke off, in words; "" where nothing was broken off."""
    partial: tuple[Event, ...] = ()
    """The raw text of the blocks that are not finished."""
    answers: int = 0
    remark: str = ""
    """What is odd about the stream as a whole, in words; "" for nothing."""


class About(NamedTuple):
    """What a line tells of the run as a whole."""

    model: str = ""
    workdir: str = ""


class Dialect(Protocol):
    """One program's stream: lines in, payloads out."""

    def take(self, line: bytes) -> Iterable[Payload]:
        """A line, without its end. Never raises on content."""

    def rest(self, line: bytes) -> Iterable[Payload]:
        """What stands behind the last line's end when the stream is over: half a line, maybe."""

    def standing(self) -> Standing:
        """How it stands."""


def loaded(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line; None for anything else."""
    if not line.lstrip().startswith((b"{", b"\xef\xbb\xbf{")):
        return None
    try:
        value = codec.loads(line)
    except ValueError:
        value = _mended(line)
    return value if isinstance(value, dict) else None


def _mended(line: bytes) -> Any:
    """The value of a line with bad UTF-8, which is shown as U+FFFD."""
    mended = line.decode("utf-8", "replace").encode()
    if mended == line:
        return None
    try:
        return codec.loads(mended)
    except ValueError:
        return None


def shortened(line: bytes) -> bytes:
    """The first bytes of a long line, up to the end of a word."""
    if len(line) <= PRINTED:
        return line
    blank = line.rfind(b" ", PRINTED - _WORD, PRINTED)
    return line[: blank if blank >= 0 else PRINTED - _WORD]


def last_line(dialect: Dialect, line: bytes) -> Iterable[Payload]:
    """A line of JSON behind which the stream ended: whole, or torn and kept as it is."""
    if line.startswith(b"{") and loaded(line) is None:
        return [Event(PARTIAL, text=shortened(line).decode("utf-8", "replace"))]
    return dialect.take(line) if line else ()


def request(id: str, name: str, arguments: str) -> Message:
    """A call, the moment it is asked for."""
    return Message("activity", "", Activity("request", id, name, arguments or "{}"))


def response(asked: Activity, result: Any, failed: bool = False) -> Message:
    """What came back of a call. The text is what the model saw (openzot's rule, formats.md 1)."""
    answer = asked._replace(kind="response", extra={})
    if failed:
        failure = result if isinstance(result, str) else written(result)
        return Message("activity", written({"error": failure}), answer._replace(failure=failure))
    text = result if isinstance(result, str) else written(result)
    return Message("activity", text, answer._replace(result=result))


def written(value: Any) -> str:
    """A value as JSON text; "" for what JSON has no word for."""
    try:
        return codec.dumps(value).decode()
    except ValueError:
        return ""


def told(value: Mapping[str, Any], *without: str) -> str:
    """The fields of something unknown, for an event's text."""
    return written({k: v for k, v in value.items() if k not in without})[:TOLD]


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def dict_of(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def list_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
