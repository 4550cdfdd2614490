"""Logs full of awkward texts, spelled as different writers spell them, and what a search of them
has to find: every record is decoded and looked through. Pure but for the reading of the log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import build

from sessionlog.query import Query
from sessionlog.reader import load
from sessionlog.records import Damage, Event, Message, Meta, Other, Record, Reset, Result
from sessionlog.search import Hit, search_log
from sessionlog.sieve import folded

SCRAPS = (
    "lock", "the advisory lock", 'say "hi"', "C:\\new\\u0041", "a\nb", "x\ty", "é", "É", "ß",
    "naïve Ärger", "日本語", "テスト", "👍🏽", "👨\u200d👩", "\x1b[31m", "\x00", "\x7f", "\u2028",
    "</b>&amp;", "it's", "1+1=2", "`ls`", "a/b//c", "{\"k\": [1, 2]}", "{}", "\\", "\\n", '"', "'",
    "Σίσυφος ΣΊΣΥΦΟΣ", "İstanbul", "Ωmega", "\ud800", "\ufffd", "foo, bar: baz", "  two  spaces ",
    "error: no such file", "0x1F", "e\u0301", "\r\n", "path/to/file.py:12",
)  # fmt: skip


_ESCAPED = re.compile("[0-9a-f]{1,4}", re.I)
"""Such a text may stand in an escape, where it is no hit."""


class Made(NamedTuple):
    """A log and texts that stand in it."""

    name: str
    lines: list[bytes]
    texts: list[str]


def some_text(random: Random) -> str:
    parts = [random.choice(SCRAPS) for _ in range(random.randrange(1, 6))]
    return random.choice(("", " ", " ", "\n")).join(parts)


def made(random: Random) -> Made:
    """A log of any format, respelled."""
    kind = random.choice(sorted(_MAKERS))
    texts = [some_text(random) for _ in range(random.randrange(3, 12))]
    lines = _MAKERS[kind](texts, random)
    name = {"codex": build.CODEX_FILE, "claude": build.CLAUDE_FILE}.get(kind, "a.jsonl")
    one = random.choice(_WRITERS)
    mixed = random.random() < 0.3
    spelled = [_respelled(line, random.choice(_WRITERS) if mixed else one) for line in lines]
    if random.random() < 0.3:  # a torn record before a whole one, or at the end
        at = random.randrange(1, len(spelled))
        spelled[at] = spelled[at][: random.randrange(1, len(spelled[at]))]
    return Made(name, spelled, texts)


def _native(texts: list[str], random: Random) -> list[bytes]:
    lines = [build.meta(task=texts[0])]
    for i, text in enumerate(texts):
        arguments = json.dumps({"command": text, "n": i}, ensure_ascii=random.random() < 0.5)
        lines += random.choice((
            [build.message("user", text, i)],
            [build.message("bot", text, i), build.event("retry", i, text=text)],
            [build.request(f"c{i}", arguments=arguments), build.response(f"c{i}", result=text)],
            [build.request(f"c{i}", name=text), build.response(f"c{i}", failure=text)],
            [build.response(f"c{i}", result={"output": text, "code": [i, None, 1.5]})],
            [build.event("toolCallStart", i, tool="shell", text=arguments), build.reset(i)],
            [build.line({"kind": "new", "at": build.at(i), "new": {"said": text}})],
        ))  # fmt: skip
    return [*lines, build.result(message=texts[-1])]


def _chat(texts: list[str], random: Random) -> list[bytes]:
    lines = [build.chat("user", "Begin."), build.chat("assistant", "Yes.")]
    for i, text in enumerate(texts):
        lines += random.choice((
            [build.chat("user", text, i)],
            [build.chat("assistant", [{"type": "text", "text": text}], i)],
            [build.chat("assistant", "", i, tool_calls=[
                build.chat_call(f"c{i}", arguments=json.dumps({"q": text}))])],
            [build.chat("tool", text, i, tool_call_id=f"c{i}")],
        ))  # fmt: skip
    return lines


def _claude(texts: list[str], random: Random) -> list[bytes]:
    lines = build.claude_healthy()
    for i, text in enumerate(texts):
        lines += random.choice((
            [build.claude_user(text, i)],
            [build.claude_said(text, seconds=i)],
            [build.claude_call(f"d{i}", text, seconds=i), build.claude_result(f"d{i}", text)],
            [build.claude_result(f"e{i}", text, failed=True)],
            [build.claude_error(text)],
        ))  # fmt: skip
    return lines


def _codex(texts: list[str], random: Random) -> list[bytes]:
    lines = build.codex_healthy()
    for i, text in enumerate(texts):
        lines += random.choice((
            [build.codex_said("user", text, seconds=i)],
            [build.codex_said("assistant", text, "more", seconds=i, id=f"m{i}")],
            [build.codex_call(f"d{i}", text), build.codex_output(f"d{i}", text)],
            [build.codex_event("error", i, message=text)],
            [build.codex_event("agent_message", i, message=text[:150])],
        ))  # fmt: skip
    return lines


_MAKERS = {"native": _native, "chat": _chat, "claude": _claude, "codex": _codex}


_WRITERS = ("same", "ascii", "upper", "go", "php", "spaced")


def _respelled(line: bytes, how: str) -> bytes:
    """The same JSON as another writer spells it: Python, Go, PHP, JavaScript, by hand."""
    value = json.loads(line)
    if how == "same":
        return line
    if how == "spaced":
        return json.dumps(value).encode() + b"\n"
    text = json.dumps(value, ensure_ascii=how != "go", separators=(",", ":"))
    if how == "upper":
        text = re.sub(r"(\\\\)|\\u([0-9a-f]{4})", _upper, text)
    if how == "go":
        for char in "<>&\u2028":
            text = text.replace(char, f"\\u{ord(char):04x}")
    if how == "php":
        text = text.replace("/", "\\/").replace("'", "\\u0027")
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _upper(match: re.Match[str]) -> str:
    return match[1] or f"\\u{match[2].upper()}"


def a_query(random: Random, texts: list[str]) -> Query:
    """Part of a text, in any case or not; sometimes one that stands nowhere."""
    text = random.choice(texts)
    start = random.randrange(len(text))
    wanted = text[start : start + random.choice((1, 2, 3, 5, 8, 20))]
    if random.random() < 0.05 or _ESCAPED.fullmatch(wanted):
        wanted += random.choice(SCRAPS)
    ignore_case = random.random() < 0.4
    if ignore_case:
        other = wanted.swapcase()
        wanted = other if len(other) == len(wanted) else wanted
    return Query(wanted, ignore_case)


# -- what has to be found ----------------------------------------------------------------------


def faults(path: Path, query: Query) -> list[str]:
    """Where a search and a look at every decoded record differ."""
    session = load(path)
    numbers = {(s.record.span.offset, s.record.part): s.n for s in session.history}
    data = path.read_bytes()
    wanted = {}
    for record in session.records:
        if any(_holds(query, text) for text in _texts(record)):
            wanted[record.span.offset, record.part] = (
                record.span.line, numbers.get((record.span.offset, record.part)),
            )  # fmt: skip
    for damage in session.damages:
        if not damage.mild and _holds(query, _raw(data, damage)):
            wanted[damage.span.offset, 0] = (damage.span.line, None)
    hits = [hit for hit in search_log(str(path), query, most=None, within=None)
            if isinstance(hit, Hit)]  # fmt: skip
    found = {(hit.offset, hit.part): (hit.line, hit.n) for hit in hits}
    wrong = [f"missed {place}" for place in wanted.keys() - found.keys()]
    wrong += [f"false {place}" for place in found.keys() - wanted.keys()]
    wrong += [
        f"numbers of {place}: {found[place]} for {wanted[place]}"
        for place in found.keys() & wanted.keys()
        if found[place] != wanted[place]
    ]
    wrong += [f"no place in {hit.text!r}" for hit in hits if not hit.spans]
    return [f"{query.text!r} {'any case' * query.ignore_case}: {fault}" for fault in wrong]


def _raw(data: bytes, damage: Damage) -> str:
    return data[damage.span.offset : damage.span.end].decode("utf-8", "replace")


def _holds(query: Query, text: str) -> bool:
    if query.ignore_case:
        return folded(query.text) in folded(text)
    return query.text in text


def _texts(record: Record) -> Iterator[str]:
    """Every text of a record that a person sees."""
    payload = record.payload
    if isinstance(payload, Message):
        yield payload.text
        half = payload.activity
        if half is not None:
            yield from (half.name, half.arguments, half.failure or "")
            yield from _strings(_value(half.arguments))
            result = half.result
            yield result if isinstance(result, str) else _json(result)
            yield from _strings(result)
    elif isinstance(payload, Event):
        yield from (payload.tool, payload.kind, payload.text)
    elif isinstance(payload, Meta):
        yield from (payload.task, payload.model, payload.id, payload.workdir)
    elif isinstance(payload, Result):
        yield from (payload.reason, payload.message, payload.error)
    elif isinstance(payload, Reset):
        yield payload.why
    elif isinstance(payload, Other):
        yield payload.name
        yield _json(payload.data)
        yield from _strings(payload.data)


def _json(value: Any) -> str:
    text = "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace").decode()


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
