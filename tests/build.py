"""Logs made in code: each helper gives bytes or writes one small file. No binary fixtures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

START = datetime(2026, 11, 27, 22, 0, 0, tzinfo=UTC)


def at(seconds: float = 0) -> str:
    """RFC 3339, so many seconds after the common start."""
    time = START + timedelta(seconds=seconds)
    return time.isoformat().replace("+00:00", "Z")


def line(value: Any) -> bytes:
    """One compact JSON line, LF included; lone surrogates as escapes, as agents write them."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace") + b"\n"


def log(path: Path, lines: Iterable[bytes], tail: bytes = b"") -> Path:
    """Write a log of these lines, and maybe a torn tail."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines) + tail)
    return path


# -- native ----------------------------------------------------------------------------------


def meta(
    id: str = "20261127-220000", task: str = "Fix it", seconds: float = 0, **more: Any
) -> bytes:
    body = {"id": id, "task": task, "model": "m", "provider": "p", "driver": "d",
            "workdir": "/srv/app", **more}  # fmt: skip
    return line({"kind": "meta", "at": at(seconds), "meta": body})


def message(type: str, text: str = "", seconds: float = 1, **more: Any) -> bytes:
    return line(
        {"kind": "message", "at": at(seconds), "message": {"type": type, "text": text, **more}}
    )


def request(
    id: str, name: str = "shell", arguments: str = '{"command":"ls"}', seconds: float = 2
) -> bytes:
    activity = {"kind": "request", "id": id, "name": name, "arguments": arguments}
    return message("activity", "", seconds, activity=activity)


def response(
    id: str, name: str = "shell", arguments: str = '{"command":"ls"}', result: Any = "ok",
    failure: str | None = None, seconds: float = 3,
) -> bytes:  # fmt: skip
    activity: dict[str, Any] = {"kind": "response", "id": id, "name": name, "arguments": arguments}
    if failure is None:
        activity["result"] = result
        text = result if isinstance(result, str) else json.dumps(result)
    else:
        activity["failure"] = failure
        text = json.dumps({"error": failure})
    return message("activity", text, seconds, activity=activity)


def event(kind: str, seconds: float = 2, **more: Any) -> bytes:
    return line({"kind": "event", "at": at(seconds), "event": {"kind": kind, **more}})


def reset(seconds: float = 4) -> bytes:
    return line({"kind": "reset", "at": at(seconds)})


def result(reason: str = "settled", code: int = 0, seconds: float = 9, **more: Any) -> bytes:
    body = {"reason": reason, "code": code, "iterations": 1, "calls": 1, "continuations": 0,
            "cycles": 0, "settles": 1, **more}  # fmt: skip
    return line({"kind": "result", "at": at(seconds), "result": body})


def healthy(id: str = "20261127-220000") -> list[bytes]:
    """A short run that ended well: 4 messages, one call."""
    return [
        meta(id),
        message("user", "Begin."),
        request("c1"),
        response("c1"),
        message("bot", "Done.", 5),
        result(message="all done"),
    ]


def scrambled(seed: int, length: int = 30) -> list[bytes]:
    """A native log of calls left open, answered late, twice, or out of nowhere. Ids come again."""
    random = Random(seed)
    waiting: list[tuple[str, str]] = []
    lines = [meta()]
    for i in range(length):
        what = random.choice("uubqqqqrrrroeexia")
        id = random.choice(["", f"c{i}", "c1", "c2"])
        call = (id, json.dumps({"command": random.choice("ab" if id else "cd")}))
        if what == "q":
            waiting.append(call)
            lines.append(request(call[0], arguments=call[1], seconds=i))
        elif what == "r" and waiting:
            call = waiting.pop(random.randrange(len(waiting)))
            lines.append(response(call[0], arguments=call[1], result=i, seconds=i))
        elif what == "o":
            lines.append(response(f"nobody{i}", seconds=i))
        elif what == "e":
            lines.append(event(random.choice(["iteration", "toolCallStart"]), i, text="{}"))
        elif what == "x":
            lines.append(reset(i))
        else:
            kind = {"b": "bot", "i": "reasoning", "a": "attachment"}.get(what, "user")
            lines.append(message(kind, f"text {i}", i))
    return lines


# -- Codex -----------------------------------------------------------------------------------

CODEX_ID = "01a22748-f798-7db0-b19d-c1d5f7c6dafa"
CODEX_FILE = f"rollout-2026-11-27T22-00-00-{CODEX_ID}.jsonl"


def codex_line(type: str, payload: Any, seconds: float = 1, **more: Any) -> bytes:
    return line({"timestamp": at(seconds), **more, "type": type, "payload": payload})


def codex_meta(id: str = CODEX_ID, seconds: float = 0, **more: Any) -> bytes:
    body = {"id": id, "timestamp": at(seconds), "cwd": "/srv/app", "originator": "codex_exec",
            "cli_version": "0.171.0", "model_provider": "openai", **more}  # fmt: skip
    return codex_line("session_meta", body, seconds)


def codex_item(type: str, seconds: float = 1, **more: Any) -> bytes:
    return codex_line("response_item", {"type": type, **more}, seconds)


def codex_event(type: str, seconds: float = 1, **more: Any) -> bytes:
    return codex_line("event_msg", {"type": type, **more}, seconds)


def codex_said(role: str, *texts: str, seconds: float = 1, **more: Any) -> bytes:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return codex_item("message", seconds, role=role, content=content, **more)


def codex_call(id: str, command: str = "ls", seconds: float = 2) -> bytes:
    asked = {"name": "exec_command", "arguments": json.dumps({"cmd": command})}
    return codex_item("function_call", seconds, **asked, call_id=id)


def codex_output(id: str, text: str = "done", code: int = 0, seconds: float = 3) -> bytes:
    output = (f"Chunk ID: e7411d\nWall time: 0.1000 seconds\nProcess exited with code {code}\n"
              f"Original token count: 1\nOutput:\n{text}")  # fmt: skip
    return codex_item("function_call_output", seconds, call_id=id, output=output)


def codex_healthy(id: str = CODEX_ID) -> list[bytes]:
    """A short run that ended well: 4 messages of the main run, one call."""
    return [
        codex_meta(id),
        codex_event("task_started", turn_id="t1"),
        codex_line("turn_context", {"turn_id": "t1", "cwd": "/srv/app", "model": "gpt-5.5"}),
        codex_said("user", "Fix it"),
        codex_call("c1"),
        codex_output("c1"),
        codex_said("assistant", "Done.", seconds=5, id="msg_1"),
        codex_event("task_complete", 6, turn_id="t1", last_agent_message="Done."),
    ]


# -- plain chat ------------------------------------------------------------------------------


def chat(role: str, content: Any = "", seconds: float = 1, **more: Any) -> bytes:
    return line({"timestamp": at(seconds), "role": role, "content": content, **more})


def chat_call(id: str, name: str = "shell", arguments: str = '{"command":"ls"}') -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


# -- Claude Code -----------------------------------------------------------------------------

CLAUDE_ID = "5c222f59-9870-426c-8147-f79f0e365247"
CLAUDE_FILE = f"{CLAUDE_ID}.jsonl"


def claude_line(type: str, seconds: float = 1, **more: Any) -> bytes:
    """A record of the conversation, its keys in the client's order; its uuid tells its time."""
    body = {"parentUuid": None, "isSidechain": False, "userType": "external", "cwd": "/srv/app",
            "sessionId": CLAUDE_ID, "version": "2.1.332", "gitBranch": "main"}  # fmt: skip
    body |= {key: more.pop(key) for key in body.keys() & more.keys()}
    message = more.pop("message", None)
    first = {"message": message} if message and type == "assistant" else {}
    last = {"message": message} if message and type != "assistant" else {}
    end = {"uuid": f"u{seconds}", "timestamp": at(seconds)}
    return line({**body, **first, "type": type, **last, **end, **more})


def claude_user(content: Any, seconds: float = 1, **more: Any) -> bytes:
    return claude_line("user", seconds, message={"role": "user", "content": content}, **more)


def claude_said(
    *blocks: dict[str, Any] | str, id: str = "msg_1", stop: str | None = None,
    model: str = "claude-sonnet-4-5", seconds: float = 2, usage: Any = None, **more: Any,
) -> bytes:  # fmt: skip
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    message = {"model": model, "id": id, "type": "message", "role": "assistant",
               "content": content, "stop_reason": stop,
               "usage": {"output_tokens": 9} if usage is None else usage}  # fmt: skip
    return claude_line("assistant", seconds, message=message, **more)


def claude_call(
    call_id: str, command: str = "ls", id: str = "msg_1", name: str = "Bash", seconds: float = 2,
    **more: Any,
) -> bytes:  # fmt: skip
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {"command": command}}
    return claude_said(block, id=id, seconds=seconds, **more)


def claude_result(
    call_id: str, content: Any = "done", failed: bool = False, seconds: float = 3,
    structured: Any = None, **more: Any,
) -> bytes:  # fmt: skip
    block = {"tool_use_id": call_id, "type": "tool_result", "content": content}
    block |= {"is_error": True} if failed else {}
    structured = {"stdout": content, "interrupted": False} if structured is None else structured
    return claude_user([block], seconds, toolUseResult=structured, **more)


def claude_system(subtype: str, seconds: float = 6, **more: Any) -> bytes:
    return claude_line("system", seconds, subtype=subtype, **more)


def claude_note(type: str, **more: Any) -> bytes:
    """A record outside the conversation."""
    return line({"type": type, **more, "sessionId": CLAUDE_ID})


def claude_error(text: str, error: str = "rate_limit", seconds: float = 7) -> bytes:
    return claude_said(text, id="e", model="<synthetic>", seconds=seconds, error=error,
                       isApiErrorMessage=True)  # fmt: skip


def claude_healthy() -> list[bytes]:
    """A short run that ended well: 4 messages, one call."""
    return [
        claude_note("queue-operation", operation="enqueue", timestamp=at(0), content="Fix it"),
        claude_user("Fix it"),
        claude_call("c1"),
        claude_result("c1"),
        claude_said("Done.", id="msg_2", stop="end_turn", seconds=5),
        claude_system("turn_duration", durationMs=4200),
    ]


# -- pi --------------------------------------------------------------------------------------

PI_ID = "01a2274a-4fed-73de-af52-39a1c1828d5b"
PI_FILE = f"2026-11-27T22-00-00-000Z_{PI_ID}.jsonl"


def pi_head(id: str = PI_ID, version: int | None = 3, **more: Any) -> bytes:
    counted = {} if version is None else {"version": version}
    return line({"type": "session", **counted, "id": id, "timestamp": at(), "cwd": "/srv/app",
                 **more})  # fmt: skip


def pi_entry(type: str, id: str = "", parent: str | None = None, seconds: float = 1,
             **more: Any) -> bytes:  # fmt: skip
    """An entry, its keys in the client's order; without an id it is one of version 1."""
    links = {"id": id, "parentId": parent} if id else {}
    return line({"type": type, **links, "timestamp": at(seconds), **more})


def pi_message(role: str, id: str = "", parent: str | None = None, seconds: float = 1,
               **more: Any) -> bytes:  # fmt: skip
    milliseconds = int((START.timestamp() + seconds) * 1000)
    message = {"role": role, **more, "timestamp": milliseconds}
    return pi_entry("message", id, parent, seconds, message=message)


def pi_user(text: str, id: str = "", parent: str | None = None, seconds: float = 1) -> bytes:
    content = [{"type": "text", "text": text}]
    return pi_message("user", id, parent, seconds, content=content)


def pi_said(
    *blocks: dict[str, Any] | str, id: str = "", parent: str | None = None, stop: str = "stop",
    seconds: float = 2, **more: Any,
) -> bytes:  # fmt: skip
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    usage = {"input": 9, "output": 3, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 12}
    return pi_message("assistant", id, parent, seconds, content=content, api="anthropic-messages",
                      provider="anthropic", model="claude-opus-4-5", usage=usage,
                      stopReason=stop, **more)  # fmt: skip


def pi_call(call_id: str, command: str = "ls", name: str = "bash") -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": {"command": command}}


def pi_result(
    call_id: str, text: str = "done", id: str = "", parent: str | None = None,
    failed: bool = False, seconds: float = 3, **more: Any,
) -> bytes:  # fmt: skip
    return pi_message("toolResult", id, parent, seconds, toolCallId=call_id, toolName="bash",
                      content=[{"type": "text", "text": text}], **more,
                      isError=failed)  # fmt: skip


def pi_healthy() -> list[bytes]:
    """A short run that ended well: 4 messages, one call."""
    return [
        pi_head(),
        pi_entry("model_change", "a0", None, 0, provider="anthropic", modelId="claude-opus-4-5"),
        pi_user("Fix it", "a1", "a0"),
        pi_said(pi_call("c1"), id="a2", parent="a1", stop="toolUse"),
        pi_result("c1", id="a3", parent="a2"),
        pi_said("Done.", id="a4", parent="a3", seconds=5),
    ]


def pi_chain(*makers: Callable[[str, str | None], bytes]) -> list[bytes]:
    """A head, and entries e0, e1, ... that each follow the one before: made of (id, parent)."""
    lines, parent = [pi_head()], None
    for i, make in enumerate(makers):
        lines.append(make(f"e{i}", parent))
        parent = f"e{i}"
    return lines


def pi_tree(seed: int, length: int = 60, pad: int = 0) -> list[bytes]:
    """A log whose person goes back and forth: turns to earlier places, compactions, torn and
    lost lines. `pad`: characters that each text is longer."""
    random = Random(seed)
    lines, ids, last = [pi_head()], [], ""
    for i in range(length):
        what = random.choice("uuaaaqqrbxkt" if ids else "u")
        parent = random.choice(ids) if ids and random.random() < 0.15 else last or None
        parent = None if random.random() < 0.02 else parent
        id, text = f"{i:08x}", f"text {i} " + "x" * pad
        if what == "u":
            made = pi_user(text, id, parent, i)
        elif what == "a":
            stop = random.choice(["stop", "stop", "aborted", "error"])
            made = pi_said(text, id=id, parent=parent, stop=stop, seconds=i)
        elif what == "q":
            made = pi_said(pi_call(f"c{i}"), id=id, parent=parent, stop="toolUse", seconds=i)
        elif what == "r":
            made = pi_result(f"c{i - 1}", text, id, parent, seconds=i)
        elif what == "b":
            made = pi_entry("branch_summary", id, parent, i, fromId=parent, summary=text)
        elif what == "x":
            made = pi_entry("compaction", id, parent, i, summary=text, tokensBefore=9,
                            firstKeptEntryId=random.choice([*ids[-6:], "gone"]))  # fmt: skip
        elif what == "k":
            made = line({"type": "custom", "customType": "x", "data": {"text": text}, "id": id,
                         "parentId": parent, "timestamp": at(i)})  # fmt: skip
        else:  # torn: the client writes on and never reads it
            lines.append(pi_user(text, id, parent, i)[:70] + b"\n")
            continue
        lines.append(made)
        ids.append(id)
        last = id
    return lines
