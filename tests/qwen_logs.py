"""Qwen Code's logs, built in code: keys in the client's order, a chain unless a parent is given."""

from __future__ import annotations

from typing import Any

import build

ID = "49546487-039f-4144-a2b9-4167b4b43ece"
FILE = f"{ID}.jsonl"
ABOUT = {"cwd": "/srv/app", "version": "0.24.4"}


def record(type: str, id: str, parent: str | None = None, seconds: float = 1, **more: Any) -> bytes:
    return build.line({"uuid": id, "parentUuid": parent, "sessionId": ID,
                       "timestamp": build.at(seconds), "type": type, **ABOUT, **more})  # fmt: skip


def user(text: str, id: str, parent: str | None = None, seconds: float = 1, **more: Any) -> bytes:
    return record("user", id, parent, seconds, **more,
                  message={"role": "user", "parts": [{"text": text}]})  # fmt: skip


def call(id: str, name: str = "run_shell_command", command: str = "ls") -> dict[str, Any]:
    return {"functionCall": {"id": id, "name": name, "args": {"command": command}}}


def said(
    *parts: dict[str, Any] | str, id: str, parent: str | None = None, seconds: float = 2,
    **more: Any,
) -> bytes:  # fmt: skip
    made = [{"text": p} if isinstance(p, str) else p for p in parts]
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 4,
             "totalTokenCount": 110, "cachedContentTokenCount": 30}  # fmt: skip
    return record("assistant", id, parent, seconds, model="qwen3-coder", usageMetadata=usage,
                  message={"role": "model", "parts": made}, **more)  # fmt: skip


def answer(call_id: str, text: str = "done", failed: bool = False) -> dict[str, Any]:
    key = "error" if failed else "output"
    return {"functionResponse": {"id": call_id, "name": "run_shell_command",
                                 "response": {key: text}}}  # fmt: skip


def result(
    call_id: str, text: str = "done", id: str = "", parent: str | None = None,
    status: str = "success", seconds: float = 3, parts: list[dict[str, Any]] | None = None,
) -> bytes:  # fmt: skip
    made = parts or [answer(call_id, text, failed=status != "success")]
    return record("tool_result", id, parent, seconds, message={"role": "user", "parts": made},
                  toolCallResult={"callId": call_id, "status": status,
                                  "resultDisplay": text})  # fmt: skip


def system(subtype: str, id: str, parent: str | None = None, seconds: float = 4,
           **payload: Any) -> bytes:  # fmt: skip
    return record("system", id, parent, seconds, subtype=subtype, systemPayload=payload)


def telemetry(name: str, id: str, parent: str | None = None, seconds: float = 4,
              **more: Any) -> bytes:  # fmt: skip
    event = {"event.name": f"qwen-code.{name}", **more}
    return system("ui_telemetry", id, parent, seconds, uiEvent=event)


def healthy() -> list[bytes]:
    """A short run that ended well: 5 messages, one call."""
    return [
        user("Fix it", "u1"),
        telemetry("api_response", "t1", "u1", 2, total_token_count=110),
        said({"text": "I look.", "thought": True}, call("c1"), id="a1", parent="t1"),
        telemetry("tool_call", "t2", "a1", 3, call_id="c1", status="success"),
        result("c1", id="r1", parent="t2"),
        said("Done.", id="a2", parent="r1", seconds=5),
    ]
