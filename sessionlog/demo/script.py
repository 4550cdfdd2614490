"""A small language in which the demo's runs are told, and its words in three log formats.

A `Run` has a clock of its own and collects lines; `Native`, `Claude` and `Codex` write what their
agent would write, habits included: a native engine records messages at the end of an iteration,
Claude Code writes one content block a line, Codex wraps items in envelopes.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from sessionlog import codec

_NAMES = UUID("5e551057-0000-4000-8000-00000000109a")


class Run:
    """Lines of one log, told step by step. `skip` lets time pass."""

    def __init__(self, started: datetime, workdir: str) -> None:
        self.now, self.started, self.workdir = started, started, workdir
        self.lines: list[bytes] = []
        self._calls = 0

    def skip(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def at(self) -> str:
        self.now += timedelta(milliseconds=137)
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def put(self, value: dict[str, Any]) -> None:
        self.lines.append(codec.dumps(value) + b"\n")

    def call_id(self) -> str:
        self._calls += 1
        return f"call_{self._calls:04d}"

    def tear(self, keep: float = 0.6) -> None:
        """Cut the last line in the middle: what a process leaves that died while writing."""
        self.lines[-1] = self.lines[-1][: int(len(self.lines[-1]) * keep)]

    def splice(self) -> None:
        """The last two lines end up on one line, the second cut: two writers, one file."""
        second = self.lines.pop()
        self.lines[-1] = self.lines[-1][:-1] + second[: len(second) // 2] + b"\n"

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(b"".join(self.lines))
        path.chmod(0o600)
        return path


class Native(Run):
    """A run of the native engine."""

    def __init__(self, started: datetime, task: str, workdir: str, **meta: Any) -> None:
        super().__init__(started, workdir)
        self.id = started.strftime("%Y%m%d-%H%M%S")
        self._iteration = 0
        self._held: list[dict[str, Any]] = []
        body = {"id": self.id, "task": task, "model": "glm-5.2", "provider": "zai",
                "driver": "demo", "workdir": workdir, **meta}  # fmt: skip
        self.put({"kind": "meta", "at": self.at(), "meta": body})

    def message(self, type: str, text: str, **more: Any) -> None:
        self.put(
            {"kind": "message", "at": self.at(), "message": {"type": type, "text": text, **more}}
        )

    def event(self, kind: str, **more: Any) -> None:
        self.put({"kind": "event", "at": self.at(), "event": {"kind": kind, **more}})

    def user(self, text: str) -> None:
        self.flush()
        self.message("user", text)

    def turn(self) -> None:
        """A new iteration: what the last one said is recorded now."""
        self.flush()
        self._iteration += 1
        self.event("iteration", iteration=self._iteration)

    def think(self, text: str, seconds: float = 4) -> None:
        self.skip(seconds)
        self.event("message", text=text)
        self._held.append({"type": "reasoning", "text": text})

    def say(self, text: str, seconds: float = 3) -> None:
        self.skip(seconds)
        self.event("message", text=text)
        self._held.append({"type": "bot", "text": text})

    def start(self, tool: str, **arguments: Any) -> None:
        """A call that begins; a killed run has no more of it than this."""
        self.event("toolCallStart", tool=tool, text=codec.dumps(arguments).decode())

    def call(
        self, tool: str, result: str = "ok", failure: str = "", seconds: float = 1, **arguments: Any
    ) -> None:
        self.start(tool, **arguments)
        self.skip(seconds)
        half = {"id": self.call_id(), "name": tool, "arguments": codec.dumps(arguments).decode()}
        request = {"kind": "request", **half}
        self._held.append({"type": "activity", "text": "", "activity": request})
        if failure:
            self.event("toolCallError", tool=tool, text=failure)
            text, answer = codec.dumps({"error": failure}).decode(), {"failure": failure}
        else:
            self.event("toolCallEnd", tool=tool)
            text, answer = result, {"result": result}
        response = {"kind": "response", **half, **answer}
        self._held.append({"type": "activity", "text": text, "activity": response})

    def flush(self) -> None:
        for held in self._held:
            self.put({"kind": "message", "at": self.at(), "message": held})
        self._held.clear()

    def reset(self, summary: str) -> None:
        self.event("compact", text="condensed the conversation at 187k of 200k tokens")
        self.flush()
        self.put({"kind": "reset", "at": self.at()})
        self.message("checkpoint", summary)

    def end(
        self, reason: str, message: str = "", error: str = "", code: int = 0, **more: Any
    ) -> None:
        self.flush()
        body: dict[str, Any] = {"reason": reason}
        body |= {"message": message} if message else {}
        body |= {"error": error} if error else {}
        body |= {"code": code, "iterations": self._iteration, "calls": self._calls,
                 "continuations": 0, "cycles": 0, "settles": int(code == 0), **more}  # fmt: skip
        self.put({"kind": "result", "at": self.at(), "result": body})


class Claude(Run):
    """A run of Claude Code."""

    def __init__(self, started: datetime, workdir: str, title: str = "") -> None:
        super().__init__(started, workdir)
        self.id = str(uuid5(_NAMES, f"{started} {workdir}"))
        self._parent: str | None = None
        self._answers = 0
        if title:
            self.put({"type": "ai-title", "aiTitle": title, "sessionId": self.id})

    def record(self, type: str, **more: Any) -> None:
        uuid = str(uuid5(_NAMES, f"{self.id} {len(self.lines)}"))
        self.put({
            "parentUuid": self._parent, "isSidechain": False, "userType": "external",
            "cwd": self.workdir, "sessionId": self.id, "version": "2.1.181", "gitBranch": "main",
            "type": type, **more, "uuid": uuid, "timestamp": self.at(),
        })  # fmt: skip
        self._parent = uuid

    def user(self, text: str) -> None:
        self.record("user", message={"role": "user", "content": text})

    def answer(self, *blocks: dict[str, Any], seconds: float = 4) -> None:
        """One answer of the model: one line a block."""
        self.skip(seconds)
        self._answers += 1
        for block in blocks:
            self.record("assistant", message={
                "id": f"msg_{self._answers:04d}", "type": "message", "role": "assistant",
                "model": "claude-sonnet-4-5", "content": [block], "stop_reason": None,
                "usage": {"input_tokens": 12, "output_tokens": 200},
            })  # fmt: skip

    def say(self, text: str, seconds: float = 4) -> None:
        self.answer({"type": "text", "text": text}, seconds=seconds)

    def start(self, tool: str, **arguments: Any) -> str:
        call_id = f"toolu_{self.call_id()}"
        self.answer({"type": "tool_use", "id": call_id, "name": tool, "input": arguments})
        return call_id

    def call(
        self, tool: str, result: str = "ok", failed: bool = False, seconds: float = 1,
        **arguments: Any,
    ) -> None:  # fmt: skip
        call_id = self.start(tool, **arguments)
        self.skip(seconds)
        block = {"tool_use_id": call_id, "type": "tool_result", "content": result}
        if failed:
            block["is_error"] = True  # type: ignore[assignment]
        self.record("user", message={"role": "user", "content": [block]},
                    toolUseResult=f"Error: {result}" if failed else {"stdout": result})  # fmt: skip

    def api_error(self, text: str, error: str) -> None:
        self.skip(2)
        self.record("assistant", message={
            "id": f"err-{self._answers}", "type": "message", "role": "assistant",
            "model": "<synthetic>", "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }, isApiErrorMessage=True, error=error)  # fmt: skip


class Codex(Run):
    """A run of the Codex command line."""

    def __init__(self, started: datetime, workdir: str, prompt: str) -> None:
        super().__init__(started, workdir)
        self.id = str(uuid5(_NAMES, f"codex {started} {workdir}"))
        self._turn = 1
        self.line("session_meta", id=self.id, timestamp=self.at(), cwd=workdir,
                  originator="codex_exec", cli_version="0.140.0", source="exec",
                  model_provider="openai")  # fmt: skip
        self.line("event_msg", type="task_started", turn_id="1")
        self.line("turn_context", turn_id="1", cwd=workdir, model="gpt-5.1-codex")
        self.message("user", prompt)

    def line(self, type: str, /, **payload: Any) -> None:
        self.put({"timestamp": self.at(), "type": type, "payload": payload})

    def message(self, role: str, text: str) -> None:
        part = "input_text" if role == "user" else "output_text"
        self.line(
            "response_item", type="message", role=role, content=[{"type": part, "text": text}]
        )

    def say(self, text: str, seconds: float = 4) -> None:
        self.skip(seconds)
        self.message("assistant", text)

    def call(self, command: str, output: str, code: int = 0, seconds: float = 1) -> None:
        call_id = self.call_id()
        arguments = codec.dumps({"cmd": command}).decode()
        self.line("response_item", type="function_call", name="exec_command", arguments=arguments,
                  call_id=call_id)  # fmt: skip
        self.skip(seconds)
        text = (
            f"Wall time: {seconds:.1f} seconds\nProcess exited with code {code}\nOutput:\n{output}"
        )
        self.line("response_item", type="function_call_output", call_id=call_id, output=text)

    def name(self) -> str:
        stamp = self.started.strftime("%Y-%m-%dT%H-%M-%S")
        return f"rollout-{stamp}-{self.id}.jsonl"
