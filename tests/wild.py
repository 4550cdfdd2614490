"""Conversations as no agent should write them: ids, names, arguments, texts and pictures that a
service refuses, calls and results in any order. The same seed makes the same log."""

from __future__ import annotations

import base64
import json
from random import Random
from typing import Any

import build
import harm
import services

from sessionlog import codec
from sessionlog.formats.table import recognise
from sessionlog.framing import split
from sessionlog.records import Damage, Message, Record
from sessionlog.session import Session, fold
from sessionlog.source import decode
from sessionlog.transcript import anthropic_messages, openai_messages

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A PNG of one pixel."""
IDS = (
    "",
    "c1",
    "c1",
    "c2",
    "call_3",
    "call_5",
    "call_5_",
    "a b",
    "ü",
    "x" * 41,
    "../../x",
    "toolu_01",
)
NAMES = ("shell", "", "mcp.server/tool", "a b", "ü", "n" * 200, "{id}", "-rf", "functions.exec:0")
ARGUMENTS = (
    '{"command":"ls"}', "", "  ", "not json", "[1,2]", '"text"', "null", '{"a":NaN}', '{"a":1e999}',
    '{"a":1180591620717411303424}', '{"a":"\\ud800","\\udfff":1}', "{" * 300, '{"a":' * 150 + "1"
    + "}" * 150, '{"a":"' + "x" * 2000 + '"}',
)  # fmt: skip
TEXTS = (
    "go on",
    "",
    "   ",
    "\n\t ",
    "\ud800 lone",
    "nul \0",
    "ends in blanks  \n",
    "\u202e rtl",
    "é" * 500,
)
TYPES = ("user", "bot", "reasoning", "instructions", "checkpoint", "attachment", "strange", "call",
         "response", "assistant", "system")  # fmt: skip


def native(seed: int, length: int = 40) -> list[bytes]:
    """Lines of a native log."""
    random = Random(seed)
    asked: list[tuple[str, str, str]] = []
    lines = [build.meta()]
    for i in range(length):
        what = random.choice("mmmqqqrrrotx") if random.random() < 0.95 else "z"
        call = (random.choice(IDS), random.choice(NAMES), random.choice(ARGUMENTS))
        if what == "q":
            asked.append(call)
            lines.append(build.request(*call, seconds=i))
        elif what == "r" and asked:
            taken = asked.pop(random.randrange(len(asked)))
            lines.append(_response(taken, random, i))
        elif what == "o":
            lines.append(_response(call, random, i))
        elif what == "t":
            trigger = {"kind": "trigger", "id": call[0], "name": call[1], "arguments": call[2]}
            lines.append(build.message("activity", random.choice(TEXTS), i, activity=trigger))
        elif what == "z":
            lines.append(build.reset(i))
        else:
            more = {"images": _images(random)} if random.random() < 0.2 else {}
            lines.append(build.message(random.choice(TYPES), random.choice(TEXTS), i, **more))
    return lines


def chat(seed: int, length: int = 30) -> list[bytes]:
    """Lines of plain messages, in either dialect."""
    random = Random(seed)
    lines = [build.chat("user", "Begin.")]
    for i in range(length):
        id, name = random.choice(IDS), random.choice(NAMES)
        role = random.choice(("user", "assistant", "system", "tool", "developer"))
        text = random.choice(TEXTS)
        url = "data:image/png;base64," + base64.b64encode(PIXEL).decode()
        content: Any = random.choice((
            text, None, [], [{"type": "text", "text": text}], [{"type": "text"}], 7,
            [{"type": "tool_use", "id": id, "name": name, "input": {"a": 1}}],
            [{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": i % 2 == 0}],
            [{"type": "thinking", "thinking": text, "signature": "x"}],
            [{"type": "image_url", "image_url": {"url": url}}],
        ))  # fmt: skip
        more: dict[str, Any] = {"tool_call_id": id} if role == "tool" else {}
        if role == "assistant" and random.random() < 0.4:
            more["tool_calls"] = [build.chat_call(id, name, random.choice(ARGUMENTS))]
        lines.append(build.chat(role, content, i, **more))
    return lines


def _response(call: tuple[str, str, str], random: Random, seconds: int) -> bytes:
    id, name, arguments = call
    result = random.choice(
        (None, "ok", "", " ", 2**70, float("nan"), [1, {"a": "\ud800"}], {"a": []})
    )
    activity: dict[str, Any] = {"kind": "response", "id": id, "name": name, "arguments": arguments}
    activity |= {"failure": random.choice(TEXTS)} if random.random() < 0.3 else {"result": result}
    more = {"images": _images(random)} if random.random() < 0.2 else {}
    return build.message("activity", random.choice(TEXTS), seconds, activity=activity, **more)


def _images(random: Random) -> list[dict[str, Any]]:
    data = random.choice((PIXEL, PIXEL[:9], b"no picture", b"GIF89a\x01\0\x01\0" + b"\0" * 20, b""))
    inline = {"source": "inline", "data": base64.b64encode(data).decode(), "size": len(data)}
    blob = {"source": "blob", "digest": "sha256:" + "0" * 64, "size": 9}
    url = {"source": "url", "url": "https://x.invalid/\ud800.png"}
    media = random.choice(("image/png", "image/svg+xml", "", "image/jpeg"))
    return [{"media_type": media, **random.choice((inline, blob, url))} for _ in range(2)]


MAKERS = (native, chat, build.scrambled, build.pi_tree)


def session(seed: int) -> Session | None:
    """A session; two of three are damaged. None where no format knows what the damage left."""
    lines = MAKERS[seed % len(MAKERS)](seed)
    data = harm.harmed(lines, seed).data if seed % 3 else b"".join(lines)
    form = recognise("x.jsonl", "", data[:65536])
    if form is None:
        return None
    records: list[Record] = []
    damages: list[Damage] = []
    for line in split(data):
        found, lost = decode(form, line)
        records += found
        damages += lost
    return fold(records, damages, form=form, path="/nowhere/x.jsonl", size=len(data))


def faults(session: Session, note: str = "") -> list[str]:
    """What a service would refuse, and what was lost on the way."""
    told = anthropic_messages(session, note)
    chat = openai_messages(session, note)
    wrong = [f"anthropic: {fault}" for fault in services.anthropic_faults(told)]
    wrong += [f"openai: {fault}" for fault in services.openai_faults(chat)]
    calls = sum(map(asks, session.context))
    blocks = [block for message in told for block in message["content"]]
    kept = sum(block["type"] == "tool_use" for block in blocks)
    asked = sum(len(message.get("tool_calls") or ()) for message in chat)
    if not calls == kept == asked:
        wrong.append(f"{calls} calls became {kept} and {asked}")
    for messages in (told, chat):
        if json.loads(codec.dumps(messages)) != messages:
            wrong.append("messages are not what JSON makes of them")
    return wrong


def asks(message: Message) -> bool:
    return message.activity is not None and message.activity.kind == "request"
