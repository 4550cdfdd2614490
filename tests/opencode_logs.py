"""OpenCode's sessions made in code: as values, and kept in each of the ways that the client has."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from build import START

Message = dict[str, Any]

SESSION = "ses_dd60a8d30fffalACOuEltiuIx1"
_SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
  slug text NOT NULL, directory text NOT NULL, title text NOT NULL, version text NOT NULL,
  revert text, model text, cost real DEFAULT 0 NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, time_archived integer, later_column text);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
"""


def ms(seconds: float = 0) -> int:
    """Unix milliseconds, so many seconds after the common start."""
    return int(START.timestamp() * 1000) + int(seconds * 1000)


def ident(word: str, n: int) -> str:
    """An id as the client makes them; they sort by n."""
    return f"{word}_2274eb{n:06x}AbCdEfGh{n:06d}"


def info(id: str = SESSION, **more: Any) -> dict[str, Any]:
    return {
        "id": id, "slug": "calm-river", "projectID": "global", "directory": "/srv/app",
        "title": "Fix it", "version": "1.18.33", "model": {"id": "m", "providerID": "p"},
        "time": {"created": ms(), "updated": ms(60)}, **more,
    }  # fmt: skip


def part(type: str, n: int, **more: Any) -> dict[str, Any]:
    return {"type": type, **more, "id": ident("prt", n)}


def text(words: str, n: int, **more: Any) -> dict[str, Any]:
    return part("text", n, text=words, **more)


def tool(
    n: int, status: str = "completed", name: str = "bash", id: str = "", output: str = "done",
    **state: Any,
) -> dict[str, Any]:  # fmt: skip
    made: dict[str, Any] = {"status": status, "input": {"command": "ls"}}
    if status in ("completed", "error"):
        said = {"output": output} if status == "completed" else {"error": output}
        made |= {**said, "title": "ls", "metadata": {}, "time": {"start": ms(n), "end": ms(n + 1)}}
    elif status == "running":
        made |= {"time": {"start": ms(n)}}
    return part("tool", n, tool=name, callID=id or f"call_{n}", state={**made, **state})


def user(n: int, *parts: dict[str, Any] | str, **more: Any) -> Message:
    about = {"agent": "build", "model": {"providerID": "p", "modelID": "m"}}
    return _message("user", n, parts, {"time": {"created": ms(n)}, **about, **more})


def answer(
    n: int, *parts: dict[str, Any] | str, finish: str | None = "stop", **more: Any
) -> Message:
    """One that is over, unless `finish` is None."""
    times = {"created": ms(n)} | ({"completed": ms(n + 2)} if finish else {})
    about: dict[str, Any] = {
        "parentID": ident("msg", 1), "modelID": "m", "providerID": "p", "mode": "build",
        "agent": "build", "path": {"cwd": "/srv/app", "root": "/"}, "cost": 0,
        "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
        "time": times,
    }  # fmt: skip
    return _message("assistant", n, parts, about | ({"finish": finish} if finish else {}) | more)


def _message(role: str, n: int, parts: Iterable[dict[str, Any] | str], more: Any) -> Message:
    id = ident("msg", n)
    named = {"id": id, "sessionID": SESSION}
    whole = [text(p, n * 100 + i) if isinstance(p, str) else p for i, p in enumerate(parts)]
    ids = {"sessionID": SESSION, "messageID": id}
    return {"info": {"role": role, **more, **named}, "parts": [{**p, **ids} for p in whole]}


def healthy() -> list[Message]:
    """A prompt, a call with its result, an answer: four messages."""
    return [
        user(1, "Fix it"),
        answer(2, part("step-start", 200), tool(201), part("step-finish", 202, reason="tool-calls"),
               finish="tool-calls"),
        answer(3, "Done."),
    ]  # fmt: skip


def killed(*open_calls: dict[str, Any]) -> list[Message]:
    """Killed while these calls ran (one, unless said otherwise), beside one that was over."""
    calls = open_calls or (tool(202, "running", metadata={"output": "started\n"}),)
    return [user(1, "Fix it"), answer(2, "Two things.", tool(201), *calls, finish=None)]


# -- how it is kept ----------------------------------------------------------------------------


def document(messages: list[Message], head: dict[str, Any] | None = None, **more: Any) -> bytes:
    """As `opencode export` prints it."""
    value = {"info": head or info(), **more, "messages": messages}
    return json.dumps(value, indent=2, ensure_ascii=False).encode()


def export(path: Path, messages: list[Message], head: dict[str, Any] | None = None) -> Path:
    path.write_bytes(document(messages, head))
    return path


def tree(storage: Path, messages: list[Message], head: dict[str, Any] | None = None) -> Path:
    """Before 1.2: a file for each; gives that of the session."""
    session = head or info()
    for message in messages:
        own = message["info"]
        _json(storage / "message" / session["id"] / f"{own['id']}.json", own)
        for one in message["parts"]:
            _json(storage / "part" / own["id"] / f"{one['id']}.json", one)
    path = storage / "session" / session["projectID"] / f"{session['id']}.json"
    _json(path, session)
    return path


def _json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2))


def database(path: Path, messages: list[Message], head: dict[str, Any] | None = None) -> Path:
    """From 1.2, in WAL mode, its -wal gone; gives the session's path in it."""
    fresh = not path.exists()
    db = sqlite3.connect(path)
    if fresh:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(_SCHEMA)
    session = head or info()
    put_session(db, session)
    for message in messages:
        put_message(db, session["id"], message)
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return path / session["id"]


def put_session(db: sqlite3.Connection, session: dict[str, Any]) -> None:
    row = {
        "id": session["id"], "project_id": session["projectID"], "slug": session["slug"],
        "parent_id": session.get("parentID"), "directory": session["directory"],
        "title": session["title"], "version": session["version"],
        "model": json.dumps(session["model"]), "time_created": session["time"]["created"],
        "time_updated": session["time"]["updated"],
        "revert": json.dumps(session["revert"]) if "revert" in session else None,
    }  # fmt: skip
    names, holes = ", ".join(row), ", ".join("?" * len(row))
    db.execute(f"INSERT INTO session ({names}) VALUES ({holes})", tuple(row.values()))


def put_message(db: sqlite3.Connection, session: str, message: Message) -> None:
    own, created = message["info"], message["info"]["time"]["created"]
    data = json.dumps({k: v for k, v in own.items() if k not in ("id", "sessionID")})
    db.execute(
        "INSERT INTO message VALUES (?,?,?,?,?)", (own["id"], session, created, created, data)
    )
    for one in message["parts"]:
        body = {k: v for k, v in one.items() if k not in ("id", "sessionID", "messageID")}
        row = (one["id"], own["id"], session, created, created, json.dumps(body))
        db.execute("INSERT INTO part VALUES (?,?,?,?,?,?)", row)
