"""A plot as the log of each client whose records follow one another."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import agentsession
import build
import claude_logs
import qwen_logs
from plots import Step
from scribe import Scribe


class ClaudeScribe(Scribe):
    """Claude Code: a block of an answer a line."""

    name = build.CLAUDE_FILE

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.chat = claude_logs.Chat()
        self.lines = self.chat.lines
        self.asked: dict[str, str] = {}
        self.answered = False

    def on_prompt(self, step: Step) -> None:
        self.turns.append(self.chat.last)
        self.chat.user(step.text)

    def on_back(self, step: Step) -> None:
        origin = self.origin(step)
        if origin is None and not self.answered:  # without an answer no null tells anything
            return self.on_prompt(step)
        self.turns.append(origin)
        self.chat.user(step.text, origin)
        return None

    def on_answer(self, step: Step) -> None:
        chat, id, self.answered = self.chat, f"m{self.chat.n}", True
        blocks: list[dict[str, Any]] = []
        if step.thought:
            blocks.append({"type": "thinking", "thinking": step.thought, "signature": "x"})
        if step.text:
            blocks.append({"type": "text", "text": step.text})
        for call in step.calls:
            blocks.append({"type": "tool_use", "id": call, "name": "Bash", "input": {"c": "ls"}})
        for block in blocks:
            key = chat.add(build.claude_said(block, id=id, seconds=chat.n))
            if block["type"] == "tool_use":
                self.asked[block["id"]] = key

    def on_results(self, step: Step) -> None:
        block = {"type": "tool_result", "content": step.text}
        if len(step.calls) > 1 and self.random.random() < 0.5:  # several in one record
            blocks = [{"tool_use_id": id, **block} for id in step.calls]
            self.chat.add(build.claude_user(blocks, self.chat.n, toolUseResult="x"))
            return
        for id in step.calls:
            after = self.asked.get(id, "") if self.random.random() < 0.8 else ""
            self.chat.add(build.claude_result(id, step.text, seconds=self.chat.n), after)

    def on_note(self, step: Step) -> None:
        if self.random.random() < 0.5:
            self.lines.append(build.claude_note("queue-operation", operation=step.text))
        else:
            self.chat.add(build.claude_line("attachment", 1, attachment={"type": "date"}))

    def on_side(self, step: Step) -> None:
        last = self.chat.last
        self.chat.add(build.claude_user(step.text, 1, isSidechain=True, agentId="a1"), None)
        self.chat.add(build.claude_call(f"side{step.text}", isSidechain=True, agentId="a1"))
        self.chat.last = last

    def on_compact(self, step: Step) -> None:
        self.turns.clear()
        about = {"trigger": "manual"}
        self.chat.add(build.claude_system("compact_boundary", compactMetadata=about), None)
        self.chat.user(step.text, isCompactSummary=True)


class TreeScribe(Scribe):
    """A format in which every record follows another."""

    last: str | None = None

    def key(self) -> str:
        return f"{len(self.lines):08x}"

    def put(self, make: Callable[[str, str | None], bytes], parent: str | None = "") -> None:
        key = self.key()
        self.lines.append(make(key, self.last if parent == "" else parent))
        self.last = key

    def prompt(self, text: str, parent: str | None) -> None:
        raise NotImplementedError

    def on_prompt(self, step: Step) -> None:
        self.turns.append(self.last)
        self.prompt(step.text, self.last)

    def on_back(self, step: Step) -> None:
        origin = self.origin(step)
        self.turns.append(origin)
        self.prompt(step.text, origin)


class PiScribe(TreeScribe):
    """pi."""

    name = build.PI_FILE

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.lines.append(build.pi_head())
        self.asked: str | None = None
        """The last prompt's id."""

    def prompt(self, text: str, parent: str | None) -> None:
        self.asked = self.key()
        self.put(lambda id, up: build.pi_user(text, id, up), parent)

    def on_answer(self, step: Step) -> None:
        blocks: list[dict[str, Any] | str] = []
        if step.thought:
            blocks.append({"type": "thinking", "thinking": step.thought})
        blocks += [step.text] if step.text else []
        blocks += [build.pi_call(id) for id in step.calls]
        stop = "toolUse" if step.calls else "stop"
        self.put(lambda id, up: build.pi_said(*blocks, id=id, parent=up, stop=stop))

    def on_results(self, step: Step) -> None:
        for call in step.calls:
            self.put(lambda id, up, call=call: build.pi_result(call, step.text, id, up))  # type: ignore[misc]

    def on_note(self, step: Step) -> None:
        kind = self.random.choice(("model_change", "unheard_of", "label"))
        self.put(lambda id, up: build.pi_entry(kind, id, up, targetId=self.last))

    def on_compact(self, step: Step) -> None:
        kept, self.asked = self.asked, None
        self.put(lambda id, up: build.pi_entry("compaction", id, up, summary=step.text,
                                               tokensBefore=9, firstKeptEntryId=kept))  # fmt: skip


class QwenScribe(TreeScribe):
    """Qwen Code."""

    name = qwen_logs.FILE

    def key(self) -> str:
        return f"{len(self.lines):08x}-0000-4000-8000-000000000000"

    def prompt(self, text: str, parent: str | None) -> None:
        self.put(lambda id, up: qwen_logs.user(text, id, up), parent)

    def on_answer(self, step: Step) -> None:
        parts: list[dict[str, Any] | str] = []
        if step.thought:
            parts.append({"text": step.thought, "thought": True})
        parts += [step.text] if step.text else []
        parts += [qwen_logs.call(id) for id in step.calls]
        self.put(lambda id, up: qwen_logs.said(*parts, id=id, parent=up))

    def on_results(self, step: Step) -> None:
        if len(step.calls) > 1 and self.random.random() < 0.5:
            parts = [qwen_logs.answer(id, step.text) for id in step.calls]
            self.put(lambda id, up: qwen_logs.result(step.calls[0], id=id, parent=up, parts=parts))
            return
        for call in step.calls:
            self.put(lambda id, up, call=call: qwen_logs.result(call, step.text, id, up))  # type: ignore[misc]

    def on_note(self, step: Step) -> None:
        self.put(lambda id, up: qwen_logs.telemetry("api_response", id, up))

    def on_compact(self, step: Step) -> None:
        history = [{"role": "user", "parts": [{"text": step.text}]},
                   {"role": "model", "parts": [{"text": "Got it."}]}]  # fmt: skip
        self.put(lambda id, up: qwen_logs.system("chat_compression", id, up,
                                                 compressedHistory=history))  # fmt: skip


class AgentSessionScribe(Scribe):
    """Agent Session."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.tree = agentsession.Tree()
        self.lines = self.tree.lines

    def on_prompt(self, step: Step) -> None:
        self.turns.append(self.tree.last)
        self.tree.said("user", step.text)

    def on_back(self, step: Step) -> None:
        self.tree.last = self.origin(step)
        self.on_prompt(step)

    def on_answer(self, step: Step) -> None:
        if step.thought:
            summary = [{"type": "summary_text", "text": step.thought}]
            self.tree.add("item", item={"type": "reasoning", "summary": summary})
        if step.text:
            self.tree.said("assistant", step.text)
        for id in step.calls:
            self.tree.call(id)

    def on_results(self, step: Step) -> None:
        for id in step.calls:
            self.tree.output(id, step.text)

    def on_note(self, step: Step) -> None:
        self.tree.add(self.random.choice(("label", "a:note", "unheard")), target="e1", label="x")
