"""Logs of Gemini CLI, made in code as the client writes them."""

from __future__ import annotations

import json
from typing import Any

from build import at, line

ID = "f00dfeed-0000-4000-8000-000000000001"
FILE = "session-2026-11-27T22-00-f00dfeed.jsonl"
CONTEXT = "<session_context>\n- **Workspace Directories:**\n  - /srv/app\n</session_context>"


def head(id: str = ID, **more: Any) -> bytes:
    return line({"sessionId": id, "projectHash": "ab" * 32, "startTime": at(),
                 "lastUpdated": at(), "kind": "main", **more})  # fmt: skip


def user(id: str, content: Any, seconds: float = 1, **more: Any) -> dict[str, Any]:
    parts = [{"text": content}] if isinstance(content, str) else content
    return {"id": id, "timestamp": at(seconds), "type": "user", "content": parts, **more}


def model(id: str, content: Any = "", *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    value = {"id": id, "timestamp": at(2), "type": "gemini", "content": content, "thoughts": [],
             "tokens": {"input": 100, "output": 10, "cached": 40, "thoughts": 5, "tool": 0,
                        "total": 115}, "model": "gemini-2.5-flash", **more}  # fmt: skip
    return value | ({"toolCalls": list(calls)} if calls else {})


def answer(id: str, response: Any, name: str = "read_file") -> dict[str, Any]:
    return {"functionResponse": {"id": id, "name": name, "response": response}}


def call(
    id: str, output: str | None = "ok", name: str = "read_file", **more: Any
) -> dict[str, Any]:
    """A call as it stands in `toolCalls`; `output` None: without a result."""
    value = {"id": id, "name": name, "args": {"file_path": "a.py"}, "status": "success",
             "timestamp": at(3), **more}  # fmt: skip
    return value if output is None else value | {"result": [answer(id, {"output": output}, name)]}


def update(**change: Any) -> bytes:
    return line({"$set": {"lastUpdated": at(4), **change}})


def start() -> list[bytes]:
    return [head(), update(messages=[user("ctx", CONTEXT)])]


def turn(id: str, text: str, *calls: dict[str, Any]) -> list[bytes]:
    """An answer with calls as the client writes it: without them, with them, and their results
    once more."""
    results = [part for one in calls for part in one.get("result", ())]
    return [
        line(model(id, text)), update(), line(model(id, text, *calls)),
        line(user(f"{id}-results", results)), update(),
    ]  # fmt: skip


def healthy() -> list[bytes]:
    return [
        *start(), line(user("u1", "Fix it")), update(), *turn("m1", "I look.", call("c1", "one")),
        *turn("m2", "", call("c2", "two"), call("c3", "three")), line(model("m3", "Done.")),
        update(),
    ]  # fmt: skip


def document(messages: list[dict[str, Any]], indent: int | None = None, id: str = ID) -> bytes:
    """The one document of the client before 0.39."""
    whole = {"sessionId": id, "projectHash": "ab" * 32, "startTime": at(), "lastUpdated": at(9),
             "messages": messages}  # fmt: skip
    return json.dumps(whole, indent=indent, ensure_ascii=False).encode()
