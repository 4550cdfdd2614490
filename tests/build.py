"""Logs made in code: each helper gives bytes or writes one small file. No binary fixtures."""

from __future__ import annotations

import json
from collections.abc import Iterable
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


def meta(id: str = "20261127-220000", task: str = "Fix it", seconds: float = 0, **more: Any) -> bytes:
    body = {"id": id, "task": task, "model": "m", "provider": "p", "driver": "d",
            "workdir": "/srv/app", **more}  # fmt: skip
    return line({"kind": "meta", "at": at(seconds), "meta": body})


def message(type: str, text: str = "", seconds: float = 1, **more: Any) -> bytes:
    return line({"kind": "message", "at": at(seconds), "message": {"type": type, "text": text, **more}})


def request(id: str, name: str = "shell", arguments: str = '{"command":"ls"}', seconds: float = 2) -> bytes:
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
