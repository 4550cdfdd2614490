"""Streams of agents and services, made in code: bytes, and what has to be known after how many."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any


@dataclass
class Stream:
    """A stream under construction."""

    dialect: str
    data: bytes = b""
    blocks: list[tuple[int, str]] = field(default_factory=list)
    """(bytes after which a block is finished, a text of its own that it holds)."""
    deltas: list[int] = field(default_factory=list)
    """Where pieces end."""
    begun: int = 0
    open: list[range] = field(default_factory=list)
    """Where a cut is one: the numbers of bytes after which something is missing."""

    def put(self, value: Any, event: str = "") -> None:
        """An event or a line."""
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if self.dialect.endswith("sse"):
            name = f"event: {event}\n" if event else ""
            self.data += f"{name}data: {text}\n\n".encode()
        else:
            self.data += text.encode() + b"\n"
        self.deltas.append(len(self.data))

    def finished(self, text: str) -> None:
        self.blocks.append((len(self.data), text))

    def begins(self) -> None:
        """What was put last opens something that has to be ended."""
        self.begun = len(self.data)

    def ended(self) -> None:
        """What was put last ends it; the line feeds behind it may be missing."""
        self.open.append(range(self.begun, len(self.data) - 2))


Block = tuple[str, str]
"""("reasoning" | "text" | "call", its text or the command)."""


def pieces(text: str, random: Random | None) -> list[str]:
    """A text cut into pieces, at random or into single characters."""
    if random is None:
        return list(text)
    cuts = sorted(random.sample(range(len(text) + 1), min(4, len(text))))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True) if a < b]


def anthropic(answers: list[list[Block]], random: Random | None = None) -> Stream:
    stream = Stream("anthropic-sse")
    for number, blocks in enumerate(answers):
        last = number == len(answers) - 1
        for event in anthropic_events(f"msg_{number}", blocks, random, last):
            stream.put(event, event["type"])
            if event["type"] == "message_start":
                stream.begins()
            if event["type"] == "content_block_stop":
                stream.finished(blocks[event["index"]][1])
        stream.ended()
    return stream


def anthropic_events(
    id: str, blocks: list[Block], random: Random | None = None, last: bool = True
) -> list[dict[str, Any]]:
    """The events of one answer. The calls of any but the last wait for nobody."""
    usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1}
    message = {"id": id, "model": "m-1", "role": "assistant", "content": [], "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for index, (kind, text) in enumerate(blocks):
        start, name, key = {
            "text": ({"type": "text", "text": ""}, "text_delta", "text"),
            "reasoning": ({"type": "thinking", "thinking": ""}, "thinking_delta", "thinking"),
            "call": ({"type": "tool_use", "id": f"{id}_{index}", "name": "Bash", "input": {}},
                     "input_json_delta", "partial_json"),
        }[kind]  # fmt: skip
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        raw = json.dumps({"command": text}) if kind == "call" else text
        for piece in pieces(raw, random):
            delta = {"type": name, key: piece}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    stop = "tool_use" if any(kind == "call" for kind, _ in blocks) else "end_turn"
    delta = {"stop_reason": stop}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}})
    return [*events, {"type": "message_stop"}]


def responses(answers: list[list[Block]], random: Random | None = None) -> Stream:
    stream = Stream("openai-sse")

    def put(kind: str, **more: Any) -> None:
        stream.put({"type": kind, **more}, kind)

    for number, blocks in enumerate(answers):
        put("response.created", response={"id": f"resp_{number}", "model": "m-2"})
        stream.begins()
        for index, (kind, text) in enumerate(blocks):
            id = f"item_{number}_{index}"
            raw = json.dumps({"command": text}) if kind == "call" else text
            shapes: dict[str, tuple[dict[str, Any], str]] = {
                "text": ({"type": "message", "content": [{"type": "output_text", "text": raw}]},
                         "response.output_text.delta"),
                "reasoning": ({"type": "reasoning", "summary": [{"text": raw}]},
                              "response.reasoning_summary_text.delta"),
                "call": ({"type": "function_call", "call_id": f"call_{number}_{index}",
                          "name": "shell", "arguments": raw},
                         "response.function_call_arguments.delta"),
            }  # fmt: skip
            item, delta = shapes[kind]
            empty: dict[str, Any] = {"content": [], "summary": [], "arguments": ""}
            started = {**item, "id": id, **{k: v for k, v in empty.items() if k in item}}
            put("response.output_item.added", output_index=index, item=started)
            for piece in pieces(raw, random):
                put(delta, output_index=index, item_id=id, delta=piece)
            put("response.output_item.done", output_index=index, item={**item, "id": id})
            stream.finished(text)
        usage = {"input_tokens": 15, "output_tokens": 20}
        put("response.completed", response={"status": "completed", "usage": usage})
        stream.ended()
    return stream


def chat(answers: list[list[Block]], random: Random | None = None) -> Stream:
    """Chat completions' chunks: reasoning, text, calls, in that order, finished all at once."""
    stream = Stream("openai-sse")
    for number, blocks in enumerate(answers):

        def put(delta: dict[str, Any], finish: str | None = None, id: int = number) -> None:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            stream.put({"id": f"chat_{id}", "model": "m-3", "choices": [choice]})

        put({"role": "assistant", "content": ""})
        stream.begins()
        calls = 0
        for kind, text in blocks:
            if kind == "call":
                head = {"index": calls, "id": f"call_{number}_{calls}", "type": "function"}
                put({"tool_calls": [{**head, "function": {"name": "shell", "arguments": ""}}]})
                for piece in pieces(json.dumps({"command": text}), random):
                    put({"tool_calls": [{"index": calls, "function": {"arguments": piece}}]})
                calls += 1
            else:
                key = "content" if kind == "text" else "reasoning_content"
                for piece in pieces(text, random):
                    put({key: piece})
        put({}, "tool_calls" if calls else "stop")
        for _, text in blocks:
            stream.finished(text)
        stream.ended()
        usage = {"prompt_tokens": 15, "completion_tokens": 20}
        stream.put({"id": f"chat_{number}", "choices": [], "usage": usage})
        stream.put("[DONE]")
    return stream


def claude(
    answers: list[list[Block]], random: Random | None = None, partial: bool = False
) -> Stream:
    """A run of Claude Code; every call is answered, the last answer ends the turn."""
    stream = Stream("claude-stream-json")
    head = {"session_id": "s-1", "parent_tool_use_id": None}
    stream.put({"type": "system", "subtype": "init", "model": "m-4", "cwd": "/srv/app",
                "session_id": "s-1"})  # fmt: skip
    for number, blocks in enumerate(answers):
        id, results = f"msg_{number}", []
        events = anthropic_events(id, blocks, random)
        for event in events:
            index = event.get("index", 0)
            if event["type"] == "content_block_stop":
                kind, text = blocks[index]
                block = {
                    "text": {"type": "text", "text": text},
                    "reasoning": {"type": "thinking", "thinking": text, "signature": "x"},
                    "call": {"type": "tool_use", "id": f"{id}_{index}", "name": "Bash",
                             "input": {"command": text}},
                }[kind]  # fmt: skip
                message = {"id": id, "model": "m-4", "content": [block],
                           "usage": {"input_tokens": 15, "output_tokens": 1}}  # fmt: skip
                stream.put({"type": "assistant", "message": message, **head})
                stream.finished(text)
                if kind == "call":
                    results.append({"type": "tool_result", "tool_use_id": f"{id}_{index}",
                                    "content": f"did {text}", "is_error": False})  # fmt: skip
            if partial:
                stream.put({"type": "stream_event", "event": event, **head})
        for result in results:
            message = {"role": "user", "content": [result]}
            stream.put({"type": "user", "message": message, **head})
            stream.finished(str(result["content"]))
    usage = {"input_tokens": 15 * len(answers), "output_tokens": 20 * len(answers)}
    stream.put({"type": "result", "subtype": "success", "is_error": False, "result": "All done.",
                "num_turns": len(answers), "session_id": "s-1", "usage": usage})  # fmt: skip
    stream.ended()
    return stream


def claude_partial(answers: list[list[Block]], random: Random | None = None) -> Stream:
    return claude(answers, random, partial=True)


def codex(answers: list[list[Block]], random: Random | None = None) -> Stream:
    stream = Stream("codex-exec-json")
    stream.put({"type": "thread.started", "thread_id": "0199-abcdef"})
    stream.put({"type": "turn.started"})
    count = 0
    for blocks in answers:
        for kind, text in blocks:
            count += 1
            item: dict[str, Any] = {"id": f"item_{count}"}
            if kind == "call":
                item |= {"type": "command_execution", "command": text, "aggregated_output": "",
                         "exit_code": None, "status": "in_progress"}  # fmt: skip
                stream.put({"type": "item.started", "item": item})
                stream.finished(text)
                item |= {"aggregated_output": f"did {text}\n", "exit_code": 0,
                         "status": "completed"}  # fmt: skip
                stream.put({"type": "item.completed", "item": item})
                stream.finished(f"did {text}")
            else:
                item |= {"type": "agent_message" if kind == "text" else "reasoning", "text": text}
                stream.put({"type": "item.completed", "item": item})
                stream.finished(text)
    usage = {"input_tokens": 15, "cached_input_tokens": 5, "output_tokens": 20}
    stream.put({"type": "turn.completed", "usage": usage})
    stream.ended()
    return stream


def text(answers: list[list[Block]], random: Random | None = None) -> Stream:
    stream = Stream("text")
    for blocks in answers:
        for kind, said in blocks:
            stream.put(f"{kind}: {said}")
            stream.finished(said)
    return stream


MAKERS: dict[str, Callable[[list[list[Block]], Random | None], Stream]] = {
    "anthropic": anthropic, "responses": responses, "chat": chat, "claude": claude,
    "claude partial": claude_partial, "codex": codex, "text": text,
}  # fmt: skip
"""Every shape of stream that is understood."""

WORDS = ("tests", "the parser", "größer", "日本語", "a\nline", 'say "hi"', "\\path", "🎉", "<b>&")


def answers(random: Random) -> list[list[Block]]:
    """Some answers of a run; the last asks for nothing."""
    count = 0
    told: list[list[Block]] = []
    for _ in range(random.randint(1, 4)):
        blocks: list[Block] = []
        for kind in ("reasoning", "text", "call", "call"):
            count += 1
            if random.random() < 0.6:
                words = " ".join(random.choices(WORDS, k=random.randint(1, 6)))
                blocks.append((kind, f"unit{count:03d} {words} end{count:03d}"))
        told.append(blocks or [("text", f"unit{count:03d} alone")])
    told.append([("text", f"unit{count + 1:03d} the last words")])
    return told
