"""A plot as the log of each client: its lines as that client writes them."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import build
import gemini_logs
import opencode_logs
from plots import Step
from scribe import Scribe
from tree_scribes import AgentSessionScribe, ClaudeScribe, PiScribe, QwenScribe


class CodexScribe(Scribe):
    """Codex, with ordinals or without."""

    name = build.CODEX_FILE

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.counted = random.random() < 0.6
        more = {"history_mode": "paginated"} if self.counted else {}
        self.kinds: dict[str, str] = {}
        self.add(build.codex_meta(**more))

    def add(self, line: bytes) -> None:
        if self.counted:
            value = json.loads(line)
            value = {"timestamp": value.pop("timestamp"), "ordinal": len(self.lines), **value}
            line = build.line(value)
        self.lines.append(line)

    def on_prompt(self, step: Step) -> None:
        turn = f"t{len(self.lines)}"
        self.add(build.codex_event("task_started", turn_id=turn))
        self.add(build.codex_line("turn_context", {"turn_id": turn, "cwd": "/srv/app"}))
        self.add(build.codex_said("user", step.text, seconds=len(self.lines)))

    def on_back(self, step: Step) -> None:
        self.add(build.codex_event("thread_rolled_back", num_turns=1 + int(2 * step.far)))
        self.on_prompt(step)

    def on_answer(self, step: Step) -> None:
        if step.thought:
            summary = [{"type": "summary_text", "text": step.thought}]
            self.add(build.codex_item("reasoning", summary=summary, content=None))
        if step.text:
            self.add(build.codex_said("assistant", step.text, seconds=len(self.lines)))
        for id in step.calls:
            kind = self.kinds.setdefault(id, self.random.choice(("function", "custom_tool")))
            body = {"arguments": '{"cmd":"ls"}'} if kind == "function" else {"input": "ls"}
            self.add(build.codex_item(f"{kind}_call", len(self.lines), name="exec", call_id=id,
                                      **body))  # fmt: skip

    def on_results(self, step: Step) -> None:
        for id in step.calls:
            kind = self.kinds.get(id, "function")
            self.add(build.codex_item(f"{kind}_call_output", call_id=id, output=step.text))

    def on_note(self, step: Step) -> None:
        self.add(build.codex_event(self.random.choice(("token_count", "unheard_of")), info=None))

    def on_compact(self, step: Step) -> None:
        summary = {"type": "message", "role": "user",
                   "content": [{"type": "input_text", "text": step.text}]}  # fmt: skip
        self.add(build.codex_line("compacted", {"message": "", "replacement_history": [summary]}))


class NativeScribe(Scribe):
    """The native format."""

    name = "20261127-220000.jsonl"

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.lines.append(build.meta())

    def on_prompt(self, step: Step) -> None:
        self.lines.append(build.message("user", step.text))

    def on_answer(self, step: Step) -> None:
        if step.thought:
            self.lines.append(build.message("reasoning", step.thought))
        if step.text:
            self.lines.append(build.message("bot", step.text))
        self.lines += [build.request(id, seconds=len(self.lines)) for id in step.calls]

    def on_results(self, step: Step) -> None:
        self.lines += [build.response(id, result=step.text) for id in step.calls]

    def on_note(self, step: Step) -> None:
        self.lines.append(build.event(self.random.choice(("iteration", "usage")), text="x"))

    def on_compact(self, step: Step) -> None:
        self.lines += [build.reset(), build.message("checkpoint", step.text)]


class ChatScribe(Scribe):
    """Plain chat, in OpenAI's words or in Anthropic's."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.blocks = random.random() < 0.5

    def say(self, role: str, content: Any, **more: Any) -> None:
        self.lines.append(build.chat(role, content, len(self.lines), **more))

    def on_prompt(self, step: Step) -> None:
        self.say("user", step.text)

    def on_answer(self, step: Step) -> None:
        if self.blocks:
            content: list[dict[str, Any]] = []
            if step.thought:
                content.append({"type": "thinking", "thinking": step.thought, "signature": "x"})
            content += [{"type": "text", "text": step.text}] if step.text else []
            content += [{"type": "tool_use", "id": id, "name": "sh", "input": {"command": "ls"}}
                        for id in step.calls]  # fmt: skip
            self.say("assistant", content)
            return
        more: dict[str, Any] = {"reasoning_content": step.thought} if step.thought else {}
        if step.calls:
            more["tool_calls"] = [build.chat_call(id) for id in step.calls]
        self.say("assistant", step.text or None, **more)

    def on_results(self, step: Step) -> None:
        if self.blocks:
            self.say("user", [{"type": "tool_result", "tool_use_id": id, "content": step.text}
                              for id in step.calls])  # fmt: skip
            return
        for id in step.calls:
            self.say("tool", step.text, tool_call_id=id)


class GeminiScribe(Scribe):
    """Gemini CLI: an answer is written again once its calls are over."""

    name = gemini_logs.FILE

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.lines += gemini_logs.start()
        self.n = 0
        self.asked: dict[str, tuple[str, list[dict[str, Any]], str]] = {}
        """Of each call its message: id, entries, text."""
        self.prompts: list[str] = []

    def put(self, value: dict[str, Any]) -> None:
        self.lines.append(build.line(value))

    def id(self, letter: str) -> str:
        self.n += 1
        return f"{letter}{self.n}"

    def on_prompt(self, step: Step) -> None:
        id = self.id("u")
        self.prompts.append(id)
        self.put(gemini_logs.user(id, step.text))
        self.lines.append(gemini_logs.update())

    def on_back(self, step: Step) -> None:
        place = int(len(self.prompts) * (1 - step.far) * 0.999)
        if self.prompts:
            self.put({"$rewindTo": self.prompts[place]})
            del self.prompts[place:]
        self.on_prompt(step)

    def on_answer(self, step: Step) -> None:
        id = self.id("m")
        entries = [gemini_logs.call(call, None, status="executing") for call in step.calls]
        for call in step.calls:
            self.asked[call] = id, entries, step.text
        self.put(gemini_logs.model(id, step.text))
        if entries and self.random.random() < 0.5:  # as other clients of its kind do
            self.put(gemini_logs.model(id, step.text, *entries))

    def on_results(self, step: Step) -> None:
        """An answer is told again when all of its calls are over, and then their results."""
        for call in step.calls:
            id, entries, text = self.asked.get(call, ("", [], ""))
            at = next((i for i, e in enumerate(entries) if e["id"] == call), None)
            if at is None or "result" in entries[at]:  # once more, or of nobody
                parts = [gemini_logs.answer(call, {"output": step.text})]
                self.put(gemini_logs.user(self.id("r"), parts))
                continue
            entries[at] = gemini_logs.call(call, step.text)
            if all("result" in entry for entry in entries):
                self.put(gemini_logs.model(id, text, *entries))
                if self.random.random() < 0.8:
                    parts = [part for entry in entries for part in entry["result"]]
                    self.put(gemini_logs.user(self.id("r"), parts))

    def on_note(self, step: Step) -> None:
        kind = self.random.choice(("info", "warning", "unheard"))
        self.put({"id": self.id("n"), "timestamp": build.at(), "type": kind, "content": "hm"})


class OpenCodeScribe(Scribe):
    """OpenCode: an export's messages; a call and its result are one part."""

    name = "session.json"

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.messages: list[dict[str, Any]] = []
        self.parts: dict[str, dict[str, Any]] = {}
        self.n = 0

    def write(self, steps: list[Step]) -> list[bytes]:
        super().write(steps)
        document = opencode_logs.document(self.messages)
        return document.splitlines(keepends=True)

    def next(self) -> int:
        self.n += 1
        return self.n

    def on_prompt(self, step: Step) -> None:
        self.messages.append(opencode_logs.user(self.next(), step.text))

    def on_answer(self, step: Step) -> None:
        n = self.next()
        parts: list[dict[str, Any] | str] = []
        if step.thought:
            parts.append(opencode_logs.part("reasoning", n * 100 + 50, text=step.thought))
        parts += [step.text] if step.text else []
        first = len(parts)
        for i, call in enumerate(step.calls):
            status = self.random.choice(("running", "pending", "running"))
            parts.append(opencode_logs.tool(n * 100 + 60 + i, status, id=call))
        finish = "tool-calls" if step.calls else "stop"
        message = opencode_logs.answer(n, *parts, finish=finish)
        self.messages.append(message)
        self.parts |= zip(step.calls, message["parts"][first:], strict=True)

    def on_results(self, step: Step) -> None:
        for call in step.calls:
            if call in self.parts:
                state = self.parts[call]["state"]
                state |= {"status": "completed", "output": step.text, "title": "ls",
                          "metadata": {}, "time": {"start": 1, "end": 2}}  # fmt: skip


SCRIBES: dict[str, type[Scribe]] = {
    "claude": ClaudeScribe, "codex": CodexScribe, "pi": PiScribe, "qwen": QwenScribe,
    "gemini": GeminiScribe, "opencode": OpenCodeScribe, "agentsession": AgentSessionScribe,
    "native": NativeScribe, "chat": ChatScribe,
}  # fmt: skip
