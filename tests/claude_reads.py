"""Claude Code's logs as the tests of its format read them, and how runs end in them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import build
from build import claude_call as call
from build import claude_error, claude_line, claude_note, claude_system
from build import claude_result as result
from build import claude_said as said
from build import claude_user as user
from decoding import Decoding

from sessionlog.formats.claude import Claude
from sessionlog.reader import load
from sessionlog.records import Message, shown_type
from sessionlog.session import Session

CASES = os.environ.get("SESSIONLOG_CASES", "")
FORMAT = Claude()
READ = Decoding(FORMAT)
decoded, one, message, event, activity = (
    READ.decoded,
    READ.one,
    READ.message,
    READ.event,
    READ.activity,
)
REFUSED = "The user doesn't want to proceed with this tool use. STOP and wait."
INTERRUPTED = "[Request interrupted by user for tool use]"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}


FILE = build.CLAUDE_FILE


def session(folder: Path, *lines: bytes, tail: bytes = b"", name: str = FILE) -> Session:
    return load(build.log(folder / name, lines, tail))


def attachment(type: str, **more: Any) -> bytes:
    return claude_line("attachment", attachment={"type": type, **more})


def types(data: bytes) -> list[str]:
    return [shown_type(r.payload) for r in decoded(data) if isinstance(r.payload, Message)]


def compaction(trigger: str, seconds: float = 6, **more: Any) -> list[bytes]:
    about = {"trigger": trigger, "preTokens": 9, **more}
    return [
        claude_system("compact_boundary", seconds, compactMetadata=about, content="Compacted"),
        user("This session is being continued ...", seconds + 1, isCompactSummary=True,
             isVisibleInTranscriptOnly=True),
    ]  # fmt: skip


def titles(**names: str) -> list[bytes]:
    fields = {"custom-title": "customTitle", "agent-name": "agentName", "ai-title": "aiTitle"}
    return [claude_note(kind, **{field: names[field]}) for kind, field in fields.items()
            if field in names]  # fmt: skip


GO = [user("Fix it"), call("c1", "make"), result("c1")]
LOCAL = [user("<command-name>/model</command-name>", 20),
         user("<local-command-stdout>Set</local-command-stdout>", 21)]  # fmt: skip
SAID = [*GO, said("Done.", id="b")]
AGAIN = [*GO, call("c2", "sleep 60", id="b")]
ANSWERING = (False, None, None, "while the model answered")
DONE = (True, None, True, "Done.")
REFUSAL = (True, "interrupted", False, "a call was refused")
TURN = claude_system("turn_duration", 9, durationMs=1)

How = tuple[bool, str | None, bool | None, str]
LIMIT: How = (True, "max_turns", False, "turn limit reached (30)")
STOPPED = {"kind": "hook_stopped_continuation", "message": "budget", "hookName": "Stop"}
HOOKED: How = (True, "hook_stopped", False, "stopped by a hook: Stop: budget")
UNASKED: How = (False, None, None, "nothing was asked")


def attached(kind: str, **more: Any) -> bytes:
    return claude_line("attachment", 20, attachment={"type": kind, **more})


ENDINGS: dict[str, tuple[list[bytes], How]] = {
    "an answer": (SAID, DONE),
    "an answer that says so": (
        [*GO, said("Done.", id="b", stop="end_turn")], (True, "end_turn", True, "Done.")),
    "notes behind it": (
        [*SAID, claude_note("mode", mode="normal"), claude_system("away_summary")], DONE),
    "a local command behind it": ([*SAID, *LOCAL], DONE),
    "a shell line behind it": (
        [*SAID, user("<bash-input>ls</bash-input>", 20), user("<bash-stdout></bash-stdout>", 21)],
        DONE),
    "a command for the model": ([*SAID, LOCAL[0]], ANSWERING),
    "too long an answer": (
        [*GO, said("Half", id="b", stop="max_tokens")], (True, "max_tokens", False, "Half")),
    "an error": (
        [*GO, claude_error("Too long", "invalid_request")],
        (True, "invalid_request", False, "Too long")),
    "an error, then a prompt": ([*GO, claude_error("x"), user("go on", 9)], ANSWERING),
    "an interrupt": (
        [*GO, user([{"type": "text", "text": INTERRUPTED}], 9), TURN],
        (True, "interrupted", False, INTERRUPTED.strip("[]"))),
    "a refusal": ([*AGAIN, result("c2", REFUSED, failed=True)], REFUSAL),
    "a refusal with an order": (
        [*AGAIN, result("c2", f"{REFUSED} the user said: use x", failed=True)], ANSWERING),
    "an open call": (AGAIN, (False, None, None, "in bash: sleep 60")),
    "a result": (GO, ANSWERING),
    "a prompt": ([user("Fix it")], ANSWERING),
    "a text before its call": ([*GO, said("Now", id="b", stop="tool_use")], ANSWERING),
    "an answer that paused": ([*GO, said("I look on", id="b", stop="pause_turn")], ANSWERING),
    "the turn limit": ([*GO, attached("max_turns_reached", maxTurns=30)], LIMIT),
    "a hook that stopped it": ([*GO, attached(**STOPPED)], HOOKED),
    "a hook that stopped it between two results": (
        [*AGAIN, attached(**STOPPED), result("c2", seconds=30)], HOOKED),
    "a hook that stopped it, then a prompt": (
        [*GO, attached(**STOPPED), user("go on", 30)], ANSWERING),
    "the note of a task that ended": (
        [*SAID, user("<task-notification><status>completed</status></task-notification>", 30)],
        ANSWERING),
    "only a command of the client": (LOCAL, UNASKED),
    "only a shell line": (
        [user("<bash-input>ls</bash-input>", 1), user("<bash-stdout>a</bash-stdout>", 2)], UNASKED),
    "a thought": ([*GO, said({"type": "thinking", "thinking": "Hm"}, id="b")], ANSWERING),
    "a turn that ended without words": ([*GO, TURN], (True, None, None, "the turn ended")),
    "a retry": ([*GO, claude_system("api_error", error={"message": "529"})], ANSWERING),
    "resumed, nothing asked": (
        [*AGAIN, result("c2", "[Tool call interrupted: ...]", failed=True),
         said("No response requested.", model="<synthetic>")], ANSWERING),
    "condensed by the client": ([*SAID, *compaction("auto")], ANSWERING),
    "condensed by a person": ([*SAID, *compaction("manual"), *LOCAL], DONE),
    "condensed before the answer": ([*GO, *compaction("manual")], ANSWERING),
    "only notes": (
        [claude_note("mode", mode="normal")], (False, None, None, "nothing but the head")),
}  # fmt: skip
