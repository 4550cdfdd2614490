"""Logs of Gemini CLI, made in code as the client writes them."""

from __future__ import annotations

import json
from pathlib import Path
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


# -- what the client makes of a log (0.61.0) ---------------------------------------------------


def conversation(path: Path) -> dict[str, dict[str, Any]]:
    """The messages of a log by their ids (`loadConversationRecord`)."""
    messages: dict[str, dict[str, Any]] = {}
    for data in path.read_bytes().split(b"\n"):
        try:
            value = json.loads(data)
        except ValueError:
            continue
        if "$rewindTo" in value:
            ids = list(messages)
            at = ids.index(value["$rewindTo"]) if value["$rewindTo"] in ids else 0
            messages = {id: messages[id] for id in ids[:at]}
        elif "id" in value:
            messages[value["id"]] = value
        elif "messages" in value.get("$set", {}):
            messages = {message["id"]: message for message in value["$set"]["messages"]}
    return messages


def history(path: Path) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """(id, role, parts) of what it tells the model again (`convertSessionToClientHistory`)."""
    told = []
    for id, message in conversation(path).items():
        content = message["content"]
        parts = [{"text": content}] if isinstance(content, str) else _list(content)
        if message["type"] == "user" and not _is_ignored(parts):
            told.append((id, "user", parts))
        if message["type"] == "gemini":
            calls = message.get("toolCalls", [])
            parts = [part for part in parts if part != {"text": ""}]
            if not any("functionCall" in part for part in parts):
                keys = ("id", "name", "args")
                parts += [{"functionCall": {key: one.get(key) for key in keys}} for one in calls]
            results = [part for one in calls for part in one.get("result", [])]
            told.append((id, "model", parts))
            told += [(f"{id}_response", "user", results)] if results else []
    return told


def sent(path: Path) -> list[Any]:
    """What the model is told when the client resumes this log: texts, ids of calls, and (id,
    response) of results."""
    told: list[Any] = []
    for _, _, parts in history(path):
        told += [part["text"] for part in parts if part.get("text")]
        told += [part["functionCall"]["id"] for part in parts if "functionCall" in part]
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        told += [(one["id"], one["response"]) for one in responses]
    return told


def resume(path: Path, prompt: str, reply: str) -> None:
    """Go on with a log as the client does (`updateMessagesFromHistory`)."""
    there, told, messages = conversation(path), history(path), {}
    for id, role, parts in told:
        new = user(id, parts) if role == "user" else model(id, parts)
        messages[id] = there.get(id, new) | {"content": parts}
    calls = [one for message in messages.values() for one in message.get("toolCalls", [])]
    for _, role, parts in told:
        for answered in (part["functionResponse"]["id"] for part in parts if role == "user"
                         and "functionResponse" in part):  # fmt: skip
            next(one for one in calls if one["id"] == answered)["result"] = parts
    n = len(messages)
    with path.open("ab") as file:
        file.write(update(messages=list(messages.values())) + line(user(f"u{n}", prompt)))
        file.write(line(model(f"m{n}", reply)))


def _list(content: Any) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else [content]


def _is_ignored(parts: list[dict[str, Any]]) -> bool:
    words = "".join(part.get("text", "[…]") for part in parts).strip()
    return not words or words.startswith(("/", "?", "<session_context>", "<hook_context>"))
