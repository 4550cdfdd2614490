"""The formats in the order in which they are asked, and the asking.

Content decides; names lie. The heads of native logs and of Codex's are known by their first
bytes, because a listing of ten thousand logs asks ten thousand times, and because Codex's first
line is longer than what a listing reads at first.
"""

from __future__ import annotations

import re
from functools import cache

from sessionlog import codec
from sessionlog.formats.base import Format, Head
from sessionlog.formats.native import Native
from sessionlog.framing import split

_NATIVE = Native()
_LINES = 50
_NATIVE_HEAD = re.compile(rb'\s*\{\s*"kind"\s*:\s*"(?:meta|message|event|result|reset)"')
_CODEX_HEAD = re.compile(
    rb'\{"timestamp":"[^"\\]*",(?:"ordinal":\d+,)?"type":"session_meta","payload":\{'
)
_CLAUDE_HEAD = re.compile(
    rb'\{"(?:parentUuid":(?:null|"[^"\\]*"),"(?:isSidechain|logicalParentUuid)":'
    rb'|type":"(?:queue-operation|file-history-snapshot|last-prompt|mode|permission-mode)",)'
)


@cache
def _claude() -> Format:
    """The format of which folders hold thousands: it does not wait for the others' modules."""
    from sessionlog.formats.claude import Claude

    return Claude()


@cache
def formats() -> tuple[Format, ...]:
    """Every format, in the order in which they are asked. Adding an agent adds one here.

    They are imported when the first log asks: native logs do without, and the screen is there
    sooner.
    """
    from sessionlog.formats.agent_session import AgentSession
    from sessionlog.formats.chat import Chat
    from sessionlog.formats.claude_stream import ClaudeStream
    from sessionlog.formats.codex import Codex
    from sessionlog.formats.codex_exec import CodexExec
    from sessionlog.formats.gemini import Gemini
    from sessionlog.formats.mini_swe import MiniSwe
    from sessionlog.formats.opencode import OpenCode
    from sessionlog.formats.pi import Pi
    from sessionlog.formats.qwen import Qwen
    from sessionlog.formats.swe_agent import SweAgent

    return (
        _NATIVE, Codex(), CodexExec(), Qwen(), _claude(), ClaudeStream(), Pi(), AgentSession(),
        Gemini(), OpenCode(), SweAgent(), MiniSwe(), Chat(),
    )  # fmt: skip


def named(name: str) -> Format | None:
    """The format of that name."""
    if name == _NATIVE.name:
        return _NATIVE
    if name == "claude":
        return _claude()
    return next((form for form in formats() if form.name == name), None)


def recognise(name: str, folder: str, data: bytes) -> Format | None:
    """The format of a log by its file name, its folder and its first bytes."""
    if data.startswith(b'{"kind":"meta",'):
        return _NATIVE
    if _CODEX_HEAD.match(data):
        return named("codex")
    if _is_claude(data):
        return _claude()
    if b"\n" not in data and _NATIVE_HEAD.match(data):
        return _NATIVE  # a first line longer than what was read
    head = head_of(name, folder, data)
    return next((form for form in formats() if form.recognises(head)), None)


def _is_claude(data: bytes) -> bool:
    """Do the first bytes show the envelope that Claude Code alone writes?"""
    if not _CLAUDE_HEAD.match(data) or b'"parts":[' in data:  # Qwen Code's envelope is the same
        return False
    end = data.find(b"\n")
    first = data if end < 0 else data[:end]
    return b'"sessionId":"' in first or b'"snapshot":{' in first


def head_of(name: str, folder: str, data: bytes) -> Head:
    """What formats look at: the first JSON objects. Damaged lines are passed over, and so is a
    last line that the block cuts off, unless there is no other."""
    lines = split(data)[:_LINES]
    if len(lines) > 1 and not lines[-1].ended:
        lines.pop()
    values = [value for line in lines for value, _ in codec.parse(line).objects]
    return Head(name, folder, tuple(values), data)
