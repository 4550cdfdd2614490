"""The logs of clients whose records follow one another, as those clients go on with them: from the
last record to the root."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from told import Retold, Told, Value, dict_of, flat, item_told, list_of, parts_told, text_of

_ITEMS = ("message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
          "custom_tool_call_output")  # fmt: skip


# -- links -------------------------------------------------------------------------------------


def _linked(values: Iterable[Value], key: str, parent: str, roots: Callable[[Value], bool]
            ) -> list[str]:  # fmt: skip
    """Faults of links: `roots` tells which records may follow nothing known."""
    wrong: list[str] = []
    seen: set[str] = set()
    for value in values:
        id = value.get(key)
        if not isinstance(id, str) or not id or parent not in value:
            continue
        if id in seen:
            wrong.append(f"id {id} twice")
        up = value[parent]
        if up is not None and up not in seen and not roots(value):
            wrong.append(f"{id} follows {up!r}, which is not there before it")
        seen.add(id)
    return wrong


def _way(values: list[Value], key: str, parent: str) -> list[Value]:
    """From the root to the last record, as the clients walk. Of two with an id the later counts,
    where they are not joined."""
    by_key = {value[key]: value for value in values if isinstance(value.get(key), str)}
    way: list[Value] = []
    at = values[-1].get(key) if values else None
    seen: set[Any] = set()
    while isinstance(at, str) and at in by_key and at not in seen:
        seen.add(at)
        way.append(by_key[at])
        at = by_key[at].get(parent)
    return way[::-1]


# -- Claude Code -------------------------------------------------------------------------------


def claude(values: list[Value]) -> Retold:
    chained = [v for v in values if "parentUuid" in v and text_of(v.get("uuid"))]
    main = [v for v in chained if v.get("isSidechain") is not True]
    first = next(iter(main), None)  # and what follows nothing known as the first
    later = {v["uuid"] for v in main}  # the client takes a log in any order
    wrong = _linked(main, "uuid", "parentUuid", lambda v: v["parentUuid"] in later or v is first)
    spoken = [v for v in main if v.get("type") in ("user", "assistant")]
    leaf = main.index(spoken[-1]) + 1 if spoken else 0
    way = _way(_healed(main[:leaf]), "uuid", "parentUuid")
    kept = {v["uuid"] for v in way}
    answers = {dict_of(v.get("message")).get("id") for v in way if v.get("type") == "assistant"}
    for value in main:
        if value.get("type") == "assistant" and dict_of(value.get("message")).get("id") in answers:
            kept.add(value["uuid"])
    gathered = [v for v in main if v["uuid"] in kept]
    calls = {p.id for v in gathered for p in _blocks(v) if p.kind == "call"}
    for value in main:
        pieces = list(_blocks(value))
        if pieces and all(p.kind == "result" and p.id in calls for p in pieces):
            kept.add(value["uuid"])
    return Retold([p for v in main if v["uuid"] in kept for p in _blocks(v)], wrong)


def _healed(main: list[Value]) -> list[Value]:
    """A record that follows one which is not there follows the one before it."""
    there = {v["uuid"] for v in main}
    healed, last = [], None
    for value in main:
        lost = value["parentUuid"] is not None and value["parentUuid"] not in there
        healed.append({**value, "parentUuid": last} if lost else value)
        last = value["uuid"]
    return healed


def _blocks(value: Value) -> Iterator[Told]:
    kind = value.get("type")
    if kind not in ("user", "assistant"):
        return
    message = dict_of(value.get("message"))
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list_of(content)
    answer = text_of(message.get("id")) if kind == "assistant" else ""
    said = "user" if kind == "user" else "said"
    made = []
    for block in map(dict_of, blocks):
        match block.get("type"):
            case "tool_use":
                made.append(Told("call", text_of(block.get("id")), "", answer))
            case "tool_result":
                made.append(Told("result", text_of(block.get("tool_use_id")), flat(block)))
            case _:
                made.append(Told(said, "", flat(block), answer))
    yield from sorted(made, key=lambda piece: piece.kind != "result")


# -- trees -------------------------------------------------------------------------------------


def pi(values: list[Value]) -> Retold:
    entries = [v for v in values if v.get("type") != "session" and text_of(v.get("id"))]
    wrong = _linked(entries, "id", "parentId", lambda v: False)
    way = _way(entries, "id", "parentId")
    last = max((i for i, v in enumerate(way) if v.get("type") == "compaction"), default=-1)
    if last >= 0:
        first = way[last].get("firstKeptEntryId")
        kept = next((i for i, v in enumerate(way[:last]) if v["id"] == first), last)
        rest = [v for v in way[kept:last] if v.get("type") != "compaction"]
        way = [way[last], *rest, *way[last + 1 :]]
    return Retold([piece for value in way for piece in _pi_entry(value)], wrong)


def _pi_entry(value: Value) -> Iterator[Told]:
    if value.get("type") in ("compaction", "branch_summary"):
        yield Told("user", "", text_of(value.get("summary")))
    if value.get("type") != "message":
        return
    message = dict_of(value.get("message"))
    role = message.get("role")
    if role == "toolResult":
        yield Told("result", text_of(message.get("toolCallId")), flat(message.get("content")))
        return
    if role == "assistant" and message.get("stopReason") in ("aborted", "error"):
        return
    for block in map(dict_of, list_of(message.get("content"))):
        if role == "assistant" and block.get("type") == "toolCall":
            yield Told("call", text_of(block.get("id")), "", value["id"])
        elif role == "assistant":
            yield Told("said", "", flat(block), value["id"])
        elif role == "user":
            yield Told("user", "", flat(block))


def qwen(values: list[Value]) -> Retold:
    outside = ("session_artifact_event", "session_artifact_snapshot")
    chained = [v for v in values if v.get("subtype") not in outside and _is_read(v)]
    chained = _joined(chained)
    wrong = _linked(chained, "uuid", "parentUuid", lambda v: False)
    told: list[Told] = []
    for value in _way(chained, "uuid", "parentUuid"):
        if value.get("subtype") == "chat_compression":
            history = list_of(dict_of(value.get("systemPayload")).get("compressedHistory"))
            told = [piece for one in history for piece in parts_told(dict_of(one), "")]
        elif value.get("type") in ("user", "assistant", "tool_result"):
            told += parts_told(dict_of(value.get("message")), value["uuid"])
    ids = {v.get("sessionId") for v in values if "sessionId" in v}
    wrong += [f"session ids {sorted(map(str, ids))}"] if len(ids) > 1 else []
    return Retold(told, wrong)


def _joined(values: list[Value]) -> list[Value]:
    """Records of one id and parent are pieces of one."""
    first: dict[tuple[Any, Any], Value] = {}
    for value in values:
        key = value["uuid"], value["parentUuid"]
        there = first.setdefault(key, value)
        if there is not value:
            mine, more = dict_of(there.get("message")), dict_of(value.get("message"))
            parts = [*list_of(mine.get("parts")), *list_of(more.get("parts"))]
            first[key] = {**there, "message": {**mine, "parts": parts}}
    return list(first.values())


def _is_read(value: Value) -> bool:
    parent = value.get("parentUuid", 0)
    ids = text_of(value.get("uuid")) and text_of(value.get("sessionId"))
    return bool(ids) and (parent is None or isinstance(parent, str))


def agentsession(values: list[Value]) -> Retold:
    entries = [v for v in values if v.get("type") != "session" and text_of(v.get("id"))]
    wrong = _linked(entries, "id", "parent", lambda v: False)
    way = _way(entries, "id", "parent")
    items = [dict_of(v.get("item")) for v in way if v.get("type") == "item"]
    return Retold([p for i in items if i.get("type") in _ITEMS for p in item_told(i)], wrong)
