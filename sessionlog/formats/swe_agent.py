"""SWE-agent: one document a run, of which the store makes a line a step (`stores.trajectory`).

A step is an answer of the model, the action it asked for, and what the environment showed. The
history repeats the steps as messages; only what it has before the first answer is news. Nothing has
a time or an id. From the agent's public source (0.6 to 1.1: types.py, agent/agents.py) and
trajectories of these versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from sessionlog.codec import loads
from sessionlog.formats.base import (
    Actor,
    Description,
    Head,
    decoded_bits,
    dict_of,
    event_record,
    list_of,
    message_record,
    other_record,
    response,
    standing,
    text_of,
)
from sessionlog.formats.issue import task_of
from sessionlog.formats.mini_commands import text_in
from sessionlog.formats.parts import image_at, json_text, rest_of
from sessionlog.formats.tokens import count, dollars
from sessionlog.records import (
    Activity,
    Ending,
    Entry,
    Event,
    Image,
    Kind,
    Message,
    Meta,
    Record,
    Reset,
    Result,
    Span,
    Tokens,
    Usage,
)

_TOOL = "bash"
"""Every action is a line of the shell; the agent's own tools are programs there."""
_EXIT = re.compile(r"exit_(?!forfeit)\w+|early_exit|skip(?:ped)?")
"""Actions that the agent, not the model, writes when it gives up."""
_LONG = ("query", "messages", "response", "thought", "action", "observation")
"""Fields of a step that are shown, or that repeat the whole prompt."""
_LOOK = 50
INSTEAD = (
    "{agent} goes on with no trajectory, it is only read; "
    "`resume --agent NAME` gives its conversation to another agent"
)

Body = Mapping[str, Any]


class SweAgent:
    """SWE-agent's answers."""

    name = "swe-agent"
    agent = "swe-agent"
    actor: Actor | None = None
    instead = INSTEAD.format(agent="SWE-agent")

    def recognises(self, head: Head) -> bool:
        if head.first.keys().isdisjoint(("trajectory", "history", "attempts")):
            return False
        return not text_of(head.first.get("role")) and "sessionId" not in head.first

    def plausible(self, value: dict[str, Any]) -> bool:
        return "action" in value or "observation" in value or "info" in value

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        if isinstance(value.get("role"), str):
            return [_told(value, span)]
        if "action" in value or "observation" in value or "thought" in value:
            return _numbered(_step(value, span))
        if "info" in value:
            return [end_record(value, span)]
        if not value.keys().isdisjoint(("trajectory", "attempts", "attempt")):
            return _numbered(_head(value, span))
        return [other_record("history" if "history" in value else "record", value, span,
                             quiet="history" in value)]  # fmt: skip

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        """The file's name is the id: that of the instance."""
        return described(path.rpartition("/")[2].removesuffix(".traj"), oldest_first, newest_first)

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        return run_ending(newest_first)

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        return None

    def classify(self, data: bytes) -> int:
        return decoded_bits(self, data)

    def usage(self, record: Record) -> Usage | None:
        return total_usage(record)

    def alive(self, path: str, session_id: str) -> str | None:
        return None


# -- the whole run -----------------------------------------------------------------------------


def end_record(value: Body, span: Span) -> Record:
    """What the agent says of the run's end: an exit status, the patch, what it cost.

    A run that goes on, and one that was killed, has no exit status.
    """
    info = dict_of(value.get("info"))
    status = json_text(info.get("exit_status")).strip()
    ok = _ok(status)
    extra = rest_of(info, "exit_status", "submission")
    if "attempt" in value:
        words = f"attempt {json_text(value['attempt'])}: {status or 'no exit status'}"
        return event_record("attempt", span, quiet=False, text=words, ok=ok,
                            extra=rest_of(value, "info") | dict(info))  # fmt: skip
    if not status:
        return event_record("info", span, extra=dict(info))
    calls = count(dict_of(info.get("model_stats")).get("api_calls"))
    result = Result(status, json_text(info.get("submission")), code=int(not ok), calls=calls,
                    extra=extra)  # fmt: skip
    return Record(Kind.RESULT, "", result, span)


def _ok(status: str) -> bool | None:
    """Only a submission that nothing forced is one: `submitted (exit_cost)` is what was there
    when the money was gone."""
    return status.lower() == "submitted" if status else None


def run_ending(newest_first: Iterable[Record]) -> Ending:
    """By the exit status alone; without one the run was cut off."""
    records = iter(newest_first)
    seen: list[Record] = []
    for record in islice(records, _LOOK):
        if isinstance(record.payload, Result):
            result = record.payload
            ok = _ok(result.reason)
            return Ending(True, result.reason, ok, "submitted" if ok else result.reason,
                          f"exit_status {result.reason}")  # fmt: skip
        seen.append(record)
    return standing(seen)


def described(
    stem: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
) -> Description:
    """The model stands in the head or at the end, the task in the head or in the first prompt."""
    meta, prompt, started = Meta(), "", ""
    for record in islice(oldest_first, _LOOK):
        payload = record.payload
        started = started or record.at
        if isinstance(payload, Meta):
            meta = payload
        elif isinstance(payload, Message) and payload.type == "user":
            prompt = payload.text
            break
    end = next(iter(newest_first), None)
    told = end.payload.extra if end and isinstance(end.payload, Result | Event) else {}
    model = meta.model or model_of(dict_of(told.get("config")))
    task = meta.task or task_of(prompt)
    return Description(meta._replace(id=stem, model=model), task, started)


def model_of(config: Body) -> str:
    """The model's name in a configuration of either agent."""
    for body in (dict_of(config.get("agent")), config):
        model = dict_of(body.get("model"))
        for key in ("name", "model_name"):
            if name := text_of(model.get(key)):
                return name
    return ""


def total_usage(record: Record) -> Usage | None:
    """`model_stats` is the run's total; of a run of several attempts each has its own, and the
    run's own is what the choice among them cost beside."""
    payload = record.payload
    if not isinstance(payload, Result | Event):
        return None
    tried = isinstance(payload, Event) and payload.kind == "attempt"
    sum_of = "rloop_model_stats" if "rloop_model_stats" in payload.extra else "model_stats"
    told = dict_of(payload.extra.get(sum_of))
    if not told or (isinstance(payload, Event) and payload.kind not in ("attempt", "info")):
        return None
    tokens = Tokens(count(told.get("tokens_sent")), count(told.get("tokens_received")))
    cost = dollars(told.get("instance_cost")) or dollars(told.get("total_cost")) or None
    model = model_of(dict_of(payload.extra.get("config")))
    counter = "" if tried or sum_of != "model_stats" else "run"
    return Usage(tokens if tokens.total else None, cost, model, counter=counter)


def _head(value: Body, span: Span) -> Iterator[Record]:
    """The document without its lists; of a further attempt, where the conversation begins anew."""
    if "attempt" in value:
        number = json_text(value["attempt"])
        if number != "1":
            yield Record(Kind.RESET, "", Reset(f"attempt {number}"), span)
        yield event_record("attempt", span, text=f"attempt {number}", extra=dict(value))
        return
    config = _config(value.get("replay_config"))
    problem = dict_of(config.get("problem_statement"))
    task = next((text for key in ("text", "github_url") if (text := text_of(problem.get(key)))), "")
    extra = rest_of(value, "trajectory", "history", "attempts")
    meta = Meta(task=task.strip(), model=model_of(config), driver="SWE-agent", extra=extra)
    yield Record(Kind.META, "", meta, span)


def _config(value: Any) -> Body:
    """It is kept as JSON inside a string."""
    if isinstance(value, str):
        try:
            value = loads(value.encode("utf-8", "surrogatepass"))
        except ValueError:
            return {}
    return dict_of(value)


# -- what was said -----------------------------------------------------------------------------


def _numbered(records: Iterable[Record]) -> list[Record]:
    return [record._replace(part=part) for part, record in enumerate(records)]


def _told(value: Body, span: Span) -> Record:
    """A message of the history before the first answer. A demonstration is another run, told to
    the model in its prompt: nobody said it here."""
    role, content = text_of(value.get("role")), value.get("content")
    shown = value.get("is_demo") is True or value.get("message_type") == "demonstration"
    extra = rest_of(value, "content")
    if shown:
        extra["note"] = "demonstration"
    text = text_in(content) or json_text(value.get("thought"))
    kind = "user" if role == "user" and not shown else "system"
    return message_record(kind, text, span, images=_images(content), extra=extra)


def _step(value: Body, span: Span) -> Iterator[Record]:
    """What the model thought, said and did, and what came back; never none."""
    answer = f"@{span.offset}"
    none = True
    for block in list_of(value.get("thinking_blocks")):
        text = text_of(dict_of(block).get("thinking"))
        yield message_record("reasoning", text, span, answer=answer, quiet=not text.strip())
        none = False
    calls = _calls(value)
    said = text_of(value.get("thought")).strip() or text_of(value.get("response")).strip()
    if said:
        extra = rest_of(value, *_LONG, "tool_calls", "thinking_blocks")
        yield message_record("assistant", said, span, answer=answer, extra=extra)
        none = False
    for call in calls:
        yield message_record("activity", "", span, activity=call, answer=answer)
        none = False
    if "observation" in value and value["observation"] is not None:
        for record in _observed(value, calls, span):
            yield record
            none = False
    action = text_of(value.get("action")).strip()
    if not calls and action:
        yield event_record("exit", span, quiet=False, text=action, ok=False)
    elif none:
        yield event_record("step", span, extra=dict(value))


def _calls(value: Body) -> list[Activity]:
    """The tool calls of a step; else its action, for the shell."""
    action = text_of(value.get("action")).strip()
    asked = [dict_of(call) for call in list_of(value.get("tool_calls"))]
    if asked:
        return [
            Activity("request", text_of(call.get("id")),
                     text_of(dict_of(call.get("function")).get("name")) or _TOOL,
                     json_text(dict_of(call.get("function")).get("arguments")),
                     extra={"action": action} if action else {})
            for call in asked
        ]  # fmt: skip
    if not action or _EXIT.fullmatch(action):
        return []
    return [Activity("request", "", _TOOL, json_text({"command": action}))]


def _observed(value: Body, calls: list[Activity], span: Span) -> Iterator[Record]:
    """A step has one observation: it answers each of its calls."""
    seen = value["observation"]
    text, images = text_in(seen), _images(seen)
    more = {key: value[key] for key in ("execution_time", "state", "extra_info") if key in value}
    for call in calls:
        kept = text if text or images or seen in ("", []) else seen
        half = response(call.name, call.id, kept, None, arguments=call.arguments, extra=more)
        yield message_record("activity", text, span, images=images, activity=half)
    if not calls and text.strip():
        yield message_record("system", text, span, images=images, extra={"note": "observation"})


def _images(content: Any) -> tuple[Image, ...]:
    parts = [dict_of(part) for part in list_of(content)]
    urls = [p.get("image_url") for p in parts if p.get("type") == "image_url"]
    return tuple(image_at(text_of(url) or text_of(dict_of(url).get("url"))) for url in urls)
