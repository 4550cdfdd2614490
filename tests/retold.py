"""What each client makes of a log when it goes on with it, by the client's own rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import orjson
from retold_trees import agentsession, claude, pi, qwen
from told import (
    Retold,
    Told,
    Value,
    dict_of,
    flat,
    item_told,
    list_of,
    objects,
    parts_told,
    text_of,
    value_of,
)


def retold(client: str, data: bytes) -> Retold:
    """The log of a client."""
    if client == "opencode":
        return _opencode(orjson.loads(data))
    if client in ("native", "chat"):  # whoever reads these takes glued records apart
        return _READERS[client](list(objects(data)))
    values = [value for line in data.split(b"\n") if (value := value_of(line)) is not None]
    return _READERS[client](values)


def _codex(values: list[Value]) -> Retold:
    wrong: list[str] = []
    told: list[Told] = []
    numbers = [v["ordinal"] for v in values if isinstance(v.get("ordinal"), int)]
    if numbers and (sorted(set(numbers)) != numbers or len(numbers) != len(values)):
        wrong.append(f"ordinals {numbers}")
    if not values or values[0].get("type") != "session_meta":
        wrong.append("no head")
    for value in values:
        payload = dict_of(value.get("payload"))
        if value.get("type") == "response_item":
            told += item_told(payload)
        elif value.get("type") == "compacted":
            told = [
                p for item in list_of(payload.get("replacement_history")) for p in item_told(item)
            ]
        elif payload.get("type") == "thread_rolled_back" and value.get("type") == "event_msg":
            left = payload.get("num_turns")
            users = [i for i, piece in enumerate(told) if piece.kind == "user"]
            if type(left) is int and left > 0:
                del told[users[-left] if len(users) >= left else 0 :]
    return Retold(told, wrong)


def _native(values: list[Value]) -> Retold:
    told: list[Told] = []
    asked: list[tuple[str, Value]] = []
    for n, value in enumerate(values):
        if value.get("kind") == "reset":
            told, asked = [], []
        message = dict_of(value.get("message"))
        if value.get("kind") != "message" or not message:
            continue
        activity = dict_of(message.get("activity"))
        if message.get("type") == "activity" and activity.get("kind") == "request":
            asked.append((f"{n}", activity))
            told.append(Told("call", f"{n}"))
        elif message.get("type") == "activity" and activity.get("kind") == "response":
            id = _asked(asked, activity)
            told.append(Told("result", id, flat(activity.get("result"))))
        elif message.get("type") in ("user", "bot", "reasoning", "checkpoint"):
            said = "user" if message["type"] == "user" else "said"
            told.append(Told(said, "", text_of(message.get("text"))))
    return Retold(told, [])


def _asked(asked: list[tuple[str, Value]], answer: Value) -> str:
    """The engine's rule: by id where both have one, else by equal name and arguments."""
    for by_id in (True, False):
        for i, (number, call) in reversed(list(enumerate(asked))):
            ids = text_of(call.get("id")), text_of(answer.get("id"))
            alike = all(
                text_of(call.get(k)) == text_of(answer.get(k)) for k in ("name", "arguments")
            )
            if (ids[0] == ids[1] != "") if by_id else (alike and not all(ids)):
                del asked[i]
                return number
    return "nobody"


def _chat(values: list[Value]) -> Retold:
    told: list[Told] = []
    for value in values:
        role, content = value.get("role"), value.get("content")
        if role == "tool":
            told.append(Told("result", text_of(value.get("tool_call_id")), flat(content)))
            continue
        said = "said" if role == "assistant" else "user"
        # no answer is named: calls on lines behind each other are told as one answer's
        made = [Told(said, "", text_of(value.get("reasoning_content")))]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in map(dict_of, list_of(blocks)):
            match block.get("type"):
                case "tool_use":
                    id = text_of(block.get("id")) or text_of(block.get("name"))
                    made.append(Told("call", id))
                case "tool_result":
                    made.append(Told("result", text_of(block.get("tool_use_id")), flat(block)))
                case _:
                    made.append(Told(said, "", flat(block)))
        for call in map(dict_of, list_of(value.get("tool_calls"))):
            id = text_of(call.get("id")) or text_of(dict_of(call.get("function")).get("name"))
            made.append(Told("call", id))
        made = [p for p in made if p.kind in ("call", "result") or p.text]
        told += sorted(made, key=lambda piece: piece.kind != "result")
    return Retold(told, [])


def _gemini(values: list[Value]) -> Retold:
    messages: dict[str, Value] = {}
    heads = 0
    for value in values:
        change = dict_of(value.get("$set"))
        if isinstance(value.get("$rewindTo"), str):
            ids = list(messages)
            at = ids.index(value["$rewindTo"]) if value["$rewindTo"] in ids else 0
            messages = {id: messages[id] for id in ids[:at]}
        elif isinstance(value.get("id"), str):
            messages[value["id"]] = value
        elif isinstance(change.get("messages"), list):
            messages = {m["id"]: m for m in change["messages"]}
        elif isinstance(value.get("sessionId"), str):
            heads += 1
    told: list[Told] = []
    for id, message in messages.items():
        content = message.get("content")
        parts = [{"text": content}] if isinstance(content, str) else list_of(content)
        parts = [part if isinstance(part, dict) else {"text": part} for part in parts]
        if message.get("type") == "user":
            texts = "".join(text_of(part.get("text")) for part in parts)
            if not texts.startswith("<session_context>"):
                told += parts_told({"role": "user", "parts": parts}, "")
        elif message.get("type") == "gemini":
            told += _gemini_answer(
                id, parts, [dict_of(c) for c in list_of(message.get("toolCalls"))]
            )
    return Retold(told, [] if heads else ["no head"])


def _gemini_answer(id: str, parts: list[Value], calls: list[Value]) -> Iterator[Told]:
    made = list(parts_told({"role": "model", "parts": parts}, id))
    yield from (piece for piece in made if piece.kind == "call" or piece.text != '{"text": ""}')
    if not any(piece.kind == "call" for piece in made):
        yield from (Told("call", text_of(call.get("id")), "", id) for call in calls)
    for call in calls:
        for part in list_of(call.get("result")):
            found = dict_of(dict_of(part).get("functionResponse"))
            if found:
                yield Told("result", text_of(found.get("id")), flat(found))


def _opencode(document: Value) -> Retold:
    told: list[Told] = []
    ids = [document["info"]["id"]]
    for message in document["messages"]:
        info = message["info"]
        ids.append(info["id"])
        results = []
        for part in map(dict_of, message["parts"]):
            ids.append(part.get("id"))
            if part.get("type") == "tool":
                state = dict_of(part.get("state"))
                told.append(Told("call", text_of(part.get("callID")), "", info["id"]))
                if state.get("status") in ("completed", "error"):
                    text = flat(state.get("error" if state["status"] == "error" else "output"))
                    results.append(Told("result", text_of(part.get("callID")), text))
            elif part.get("type") in ("text", "reasoning"):
                said = "user" if info.get("role") == "user" else "said"
                told.append(Told(said, "", text_of(part.get("text")), info["id"]))
        told += results
    twice = sorted({str(id) for id in ids if ids.count(id) > 1})
    return Retold(told, [f"ids twice: {twice}"] if twice else [])


_READERS: dict[str, Callable[[list[Value]], Retold]] = {
    "claude": claude, "codex": _codex, "pi": pi, "qwen": qwen, "gemini": _gemini,
    "agentsession": agentsession, "native": _native, "chat": _chat,
}  # fmt: skip
