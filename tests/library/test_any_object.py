"""Whatever object a line holds, every format takes it: records come out, and they are what they
say they are.

The objects are samples of each format with fields that are missing, of another type or huge, and
objects that are put together from the words which the format's own code looks for.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

import agentsession
import build
import gemini_logs
import pytest
import qwen_logs

from sessionlog import codec
from sessionlog.formats.base import Format, Tree, decoded_bits
from sessionlog.formats.table import formats
from sessionlog.framing import Line
from sessionlog.records import (
    Activity,
    Event,
    Message,
    Meta,
    Other,
    Record,
    Reset,
    Result,
    Span,
    shown_type,
)

JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**70, 1.5, float("nan"), "", " ", "x" * 5_000, "\ud800", "\x1b[31m",
    "2026-11-27T22:00:00Z", [], {}, [[]], [None], {"": None}, [{"type": []}], {"type": {}},
    10**400, [1, "a", {"text": 2}], {"message": {"content": [{}, None, 3, "x"]}},
)  # fmt: skip
COMMON = ("type", "role", "kind", "id", "message", "content", "item", "payload", "messages",
          "parts", "info", "data", "text", "timestamp", "ts", "action", "observation")  # fmt: skip
TURNS = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "```bash\nls\n```"},
         {"role": "user", "content": "<returncode>1</returncode>", "extra": {"returncode": 1}},
         {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "x"}]},
         ]  # fmt: skip
STEP = {"action": "ls", "thought": "hm", "response": "hm", "observation": "a", "state": {},
        "tool_calls": [{"id": "c", "function": {"name": "bash", "arguments": "{}"}}],
        "thinking_blocks": [{"thinking": "hm"}], "execution_time": 1.5}  # fmt: skip
INFO = {"info": {"exit_status": "submitted", "submission": "x", "model_stats": {"api_calls": 1},
                 "config": {"model": {"model_name": "m"}}}}  # fmt: skip
SAMPLES: dict[str, list[bytes]] = {
    "native": build.healthy(),
    "claude": build.claude_healthy(),
    "codex": build.codex_healthy(),
    "pi": [*build.pi_healthy(), *build.pi_tree(3)],
    "gemini": gemini_logs.healthy(),
    "qwen": qwen_logs.healthy(),
    "agentsession": agentsession.everything(),
    "swe-agent": [build.line(v) for v in (
        {"environment": "main", "trajectory": [], "replay_config": '{"agent":{}}'},
        {"attempt": 2, "trajectory": []}, {"role": "user", "content": "Go.", "is_demo": True},
        STEP, INFO, {"attempt": 1, **INFO}, {"history": []},
    )],
    "mini-swe-agent": [build.line(v) for v in (
        {"trajectory_format": "mini-swe-agent-1.1", "messages": []}, {"messages": TURNS[1:]},
        {"messages": [{"output": [{"type": "function_call", "call_id": "c"}, {"type": "message",
                       "content": [{"text": "x"}]}, {"type": "reasoning", "summary": []}]},
                      {"call_id": "c", "output": "x"}, {"role": "exit", "extra": {}}]}, INFO,
    )],
    "chat": [*(build.line(turn) for turn in TURNS), build.line({"messages": TURNS}),
             build.line({"role": "_usage", "token_count": 3}),
             build.line({"type": "tool_call", "function": {"name": "x"}})],
}  # fmt: skip


def each(test: Any) -> Any:
    return pytest.mark.parametrize("form", formats(), ids=lambda form: form.name)(test)


@each
def test_no_sample_with_anything_in_it_makes_a_format_raise(form: Format) -> None:
    random = Random(form.name)
    for value in samples(form.name):
        for _ in range(25):
            odd = spoilt(value, random)
            if isinstance(odd, dict):
                take(form, odd)


@each
def test_no_object_of_the_formats_own_words_makes_it_raise(form: Format) -> None:
    random, vocabulary = Random(form.name), words(form)
    for _ in range(600):
        take(form, made(vocabulary, random))


@each
def test_no_line_of_another_format_makes_it_raise(form: Format) -> None:
    for name in SAMPLES:
        for value in samples(name):
            take(form, value)


def samples(name: str) -> Iterator[dict[str, Any]]:
    """Objects of a format."""
    for data in SAMPLES.get(name, ()):
        yield from (value for value, _ in codec.parse(Line(0, 0, data, True)).objects)


# -- what a format gives ---------------------------------------------------------------------------


def take(form: Format, value: dict[str, Any]) -> None:
    try:
        _take(form, value)
    except Exception as error:
        error.add_note(repr(value)[:2000])
        raise


def _take(form: Format, value: dict[str, Any]) -> None:
    span = Span(3, 100, 9)
    records = form.decode(value, span)
    assert records
    for record in records:
        assert record.span == span
        assert sound(record), record
        form.usage(record)
    assert [record.part for record in records] == list(range(len(records)))
    form.plausible(value)
    for shown in (records, records * 2):
        ending = form.ending(reversed(shown))
        assert isinstance(ending.text, str)
        assert ending.ok in (True, False, None)
        described = form.describe("/logs/x.jsonl", iter(shown), reversed(shown))
        assert isinstance(described.title, str)
        assert isinstance(described.started, str)
        assert all(isinstance(part, str) for part in described.meta[:6])
    data = codec.dumps(value)
    assert form.classify(data) == decoded_bits(form, data)
    form.glimpse("/logs/x.jsonl", data + b"\n", data + b"\n", len(data) + 1)
    if isinstance(form, Tree):
        form.link(data)


def sound(record: Record) -> bool:
    """Is everything of the type that the records promise? The screen relies on it."""
    payload = record.payload
    texts = [record.at, record.key, record.parent or ""]
    if isinstance(payload, Message):
        texts += [payload.type, payload.text, payload.answer, payload.sidechain]
        texts += [shown_type(payload)]
        texts += [text for image in payload.images for text in (image.media_type, image.source)]
        texts += said(payload.activity)
    elif isinstance(payload, Event):
        texts += [payload.kind, payload.tool, payload.text, payload.call_id]
        if payload.ok not in (True, False, None) or not isinstance(payload.iteration, int):
            return False
    elif isinstance(payload, Result):
        texts += [payload.reason, payload.message, payload.error]
        if not isinstance(payload.code, int) or not isinstance(payload.calls, int):
            return False
    elif isinstance(payload, Meta):
        texts += [*payload[:6], payload.resumed_from or ""]
    elif isinstance(payload, Reset):
        texts += [payload.why, *(payload.keep or ())]
    elif isinstance(payload, Other):
        texts += [payload.name]
    return all(isinstance(text, str) for text in texts)


def said(activity: Activity | None) -> list[Any]:
    if activity is None:
        return []
    texts = [activity.kind, activity.id, activity.name, activity.arguments]
    return [*texts, "" if activity.failure is None else activity.failure]


# -- objects ---------------------------------------------------------------------------------------


def spoilt(value: Any, random: Random) -> Any:
    """A value with something else in some places, and without others."""
    if random.random() < 0.07:
        return random.choice(JUNK)
    if isinstance(value, dict):
        kept = {k: spoilt(v, random) for k, v in value.items() if random.random() > 0.07}
        if random.random() < 0.05:
            kept[random.choice(COMMON)] = random.choice(JUNK)
        return kept
    if isinstance(value, list):
        return [spoilt(item, random) for item in value]
    return value


def made(vocabulary: list[str], random: Random, depth: int = 3) -> dict[str, Any]:
    """An object of these words."""
    keys = [
        random.choice(COMMON if random.random() < 0.4 else vocabulary)
        for _ in range(random.randrange(1, 8))
    ]
    return {key: made_value(vocabulary, random, depth) for key in keys}


def made_value(vocabulary: list[str], random: Random, depth: int) -> Any:
    chance = random.random()
    if chance < 0.45:
        return random.choice(vocabulary)
    if chance < 0.6 or not depth:
        return random.choice(JUNK)
    if chance < 0.8:
        return made(vocabulary, random, depth - 1)
    return [made_value(vocabulary, random, depth - 1) for _ in range(random.randrange(4))]


def words(form: Format) -> list[str]:
    """The words in the code of a format and of the modules that it is made of."""
    found: set[str] = set()
    todo, done = [type(form).__module__], set()
    while todo:
        name = todo.pop()
        if name in done or not name.startswith("sessionlog.formats."):
            continue
        done.add(name)
        module = sys.modules[name]
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
        todo += [getattr(item, "__module__", "") for item in vars(module).values()]
    return sorted(word for word in found if 0 < len(word) < 40 and " " not in word)
