"""Builders of Agent Session logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import build

from sessionlog.reader import load
from sessionlog.session import Session

ID = "01995b2a-0000-7000-8000-000000000001"


def head(version: str = "0.2", **more: Any) -> bytes:
    return build.line({
        "type": "session", "format": f"agentsession/{version}", "id": ID,
        "created_at": build.at(), "payload": "openresponses/2026-04-24",
        "harness": {"name": "h", "version": "1"}, "cwd": "/srv/app", **more,
    })  # fmt: skip


class Tree:
    """Entries that follow each other, each on the one before unless told otherwise."""

    def __init__(self, **header: Any) -> None:
        self.lines = [head(**header)]
        self.last: str | None = None

    def add(self, type: str, id: str = "", parent: str | None = "", **more: Any) -> Tree:
        id = id or f"e{len(self.lines)}"
        up = self.last if parent == "" else parent
        self.lines.append(build.line({
            "type": type, "id": id, "parent": up, "ts": build.at(len(self.lines)), **more,
        }))  # fmt: skip
        self.last = id
        return self

    def said(self, role: str, text: str, id: str = "", **more: Any) -> Tree:
        kind = "output_text" if role == "assistant" else "input_text"
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return self.add("item", id, item=item, **more)

    def call(self, call_id: str, **more: Any) -> Tree:
        item = {
            "type": "function_call",
            "call_id": call_id,
            "name": "sh",
            "arguments": '{"command":"ls"}',
        }
        return self.add("item", item=item, **more)

    def output(self, call_id: str, output: Any = "ok", id: str = "") -> Tree:
        item = {"type": "function_call_output", "call_id": call_id, "output": output}
        return self.add("item", id, item=item)

    def run(self, phase: str, **more: Any) -> Tree:
        return self.add("run", run_id="r", phase=phase, **more)

    def read(self, folder: Path, tail: bytes = b"") -> Session:
        return load(build.log(folder / "x.jsonl", self.lines, tail))


def everything() -> list[bytes]:
    """A log with an entry of each type."""
    tree = Tree(records=["run"]).run("start", source="input").said("user", "Q", "q")
    tree.add("config", model="m", instructions="Be brief.", tools_added=[{"name": "sh"}])
    tree.add(
        "item", item={"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    )
    tree.call("c1", response="r1").add("dispatch", call_id="c1", target="e5")
    tree.add("decision", call_id="c1", verdict="reject", by="human", reason="no")
    tree.add(
        "response", response_id="r1", usage={"input_tokens": 9, "output_tokens": 1}, error=None
    )
    tree.output("c1", [{"type": "input_image", "image_url": "data:image/png;base64,AAAA"}])
    summary = {"type": "message", "role": "system", "content": "S"}
    tree.add("compaction", first_kept="q", summary=summary, pinned=[summary], config={})
    tree.add("branch_summary", summary=summary, **{"from": "q"})
    tree.add("queued", item=summary, mode="steer").add("withdraw", target="e12", by="human")
    tree.add("label", target="q", label="x").add("info", name="N").add("env", cwd="/srv")
    tree.add("outcome", kind="test", score=1.0, **{"pass": True})
    tree.add("link", rel="fork_of", session="P").add("custom", ns="a", data=1).add("a:note", x=1)
    return tree.run("end", reason="done", pending=[]).lines
