"""What a person, the model and the client said in a Qwen Code log: Gemini's parts as messages.

A record holds one answer, one prompt or one call's result. Whose words a record of type "user"
holds, its subtype tells: the client puts notices and its goal's orders into the conversation under
that role. From the client's public source and from logs of 0.24.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sessionlog.formats.base import dict_of, list_of, response, text_of
from sessionlog.formats.parts import image_at, image_inline, json_text, rest_of
from sessionlog.records import Activity, Image, Kind, Message, Record, Span

Value = Mapping[str, Any]

INLINE = "subagent"
"""The name of a side chain whose agent is not named."""
CANCELLED = "cancelled"
_HOOK = "<qwen:user-prompt-submit-context>"
"""Begins what a hook added to a prompt: its last part."""
_NOTICES = ("notification", "cron", "goal_runtime")
"""Subtypes of what the client itself says to the model as a user."""
_SPOKEN = "realtime_message"
"""Subtype of what was said by voice; the agent is never told of it again."""
_ABOUT = ("cwd", "gitBranch", "version", "sessionId", "forkedFrom", "provenance", "subtype",
          "agentName")  # fmt: skip
_TOLD = ("model", "usageMetadata")
_LONG = 200


def records_of(value: Value, span: Span, at: str, key: str) -> list[Record]:
    """The messages of a record that has a `message`, in order; at least one."""
    kind = text_of(value.get("type"))
    parts = parts_of(value.get("message"))
    about = {name: value[name] for name in _ABOUT if name in value}
    answer = ""
    if kind == "assistant":
        about |= {name: value[name] for name in _TOLD if name in value}
        made = list(blocks(parts, "assistant")) or [Message("assistant")]
        if not (side_of(value) and any(said.activity for said in made)):
            answer = key or f"@{span.offset}"  # a subagent's calls have a record each
    elif kind == "tool_result":
        made = list(_results(value, parts)) or [Message("system")]
    else:
        made = list(_prompt(value, parts)) or [Message("user")]
    side, unsent = side_of(value), value.get("subtype") == _SPOKEN
    records = []
    for part, said in enumerate(made):
        full = said._replace(
            answer=answer, sidechain=side, unsent=unsent, extra=about | dict(said.extra)
        )
        quiet = not (said.text.strip() or said.images or said.activity)
        records.append(Record(Kind.MESSAGE, at, full, span, part, quiet=quiet))
    return records


def side_of(value: Value) -> str:
    """The subagent whose run a record is of, by its id; "" for the main run."""
    if value.get("isSidechain") is not True:
        return ""
    return text_of(value.get("agentId")) or INLINE


def parts_of(content: Any) -> list[Value]:
    """The parts of a content; a bare text is one, what is no part is kept as JSON text."""
    if isinstance(content, str):
        return [{"text": content}]
    found = dict_of(content).get("parts")
    if isinstance(found, str):
        return [{"text": found}]
    return [p if isinstance(p, dict) else {"text": json_text(p)} for p in list_of(found)]


def blocks(parts: Iterable[Value], speaker: str) -> Iterator[Message]:
    """One message for each part."""
    for part in parts:
        if isinstance(part.get("functionCall"), dict):
            yield _call(part["functionCall"])
        elif isinstance(part.get("functionResponse"), dict):
            yield _result(part["functionResponse"], [], {})
        elif picture := _picture(part):
            yield Message(speaker, images=(picture,))
        elif isinstance(part.get("text"), str):
            yield Message("reasoning" if part.get("thought") is True else speaker, part["text"])
        else:
            yield Message(next(iter(part), "part"), json_text(part))


def _call(body: Value) -> Message:
    asked = Activity(
        "request", text_of(body.get("id")), text_of(body.get("name")), json_text(body.get("args")),
        extra=rest_of(body, "id", "name", "args"),
    )  # fmt: skip
    return Message("activity", activity=asked)


# -- what stands under the user's role ---------------------------------------------------------


def _prompt(value: Value, parts: list[Value]) -> Iterator[Message]:
    """A prompt's texts and pictures are one message, as the person typed it; what the client added
    for the model is one of its own."""
    if any(set(part) & {"functionCall", "functionResponse"} for part in parts):
        yield from blocks(parts, "user")
        return
    subtype = text_of(value.get("subtype"))
    if subtype in _NOTICES:
        yield _joined("system", parts, {"note": subtype})
        return
    typed = dict_of(value.get("systemPayload")).get("displayText")
    own, added = _split(parts, typed if isinstance(typed, str) else None)
    if own or not added:
        yield _joined("user", own, {})
    if added:
        yield _joined("system", added, {"note": "added to the prompt"})


def _split(parts: list[Value], typed: str | None) -> tuple[list[Value], list[Value]]:
    """(what the person said, what the client added to it)."""
    if typed is not None:
        texts = [part for part in parts if isinstance(part.get("text"), str)]
        others = [part for part in parts if part not in texts]
        added = [part for part in texts if part["text"] != typed]
        return ([{"text": typed}] if typed else []) + others, added
    if len(parts) > 1 and text_of(parts[-1].get("text")).lstrip().startswith(_HOOK):
        return parts[:-1], parts[-1:]
    return parts, []


def _joined(type: str, parts: Iterable[Value], extra: Mapping[str, Any]) -> Message:
    texts, images = _attached(parts)
    return Message(type, "\n\n".join(texts), images=images, extra=extra)


# -- results and pictures ----------------------------------------------------------------------


def _results(value: Value, parts: list[Value]) -> Iterator[Message]:
    """A result with the parts behind it, pictures above all; what stands before the first one is a
    note."""
    kept = dict_of(value.get("toolCallResult"))
    for run in runs_of(parts):
        body = run[0].get("functionResponse")
        if not isinstance(body, dict):
            yield _joined("system", run, {"note": "tool_result"})
            continue
        call = text_of(body.get("id"))
        yield _result(body, run[1:], kept if kept.get("callId") in (None, "", call) else {})


def runs_of(parts: Iterable[Value]) -> list[list[Value]]:
    """Parts of a tool's record, each result with what belongs to it."""
    runs: list[list[Value]] = []
    for part in parts:
        if not runs or isinstance(part.get("functionResponse"), dict):
            runs.append([])
        runs[-1].append(part)
    return runs


def _result(body: Value, behind: Iterable[Value], kept: Value) -> Message:
    """The answer to a call. `kept`: what the client keeps of it for its screen."""
    told = body.get("response")
    said = dict_of(told)
    wrong = said.get("error")
    output = wrong if wrong is not None else said.get("output", told)
    texts, images = _attached(behind)
    _, inside = _attached(list_of(body.get("parts")))
    text = "\n".join([json_text(output), *texts])
    status = text_of(kept.get("status"))
    failed = wrong is not None or status in ("error", CANCELLED)
    failure = (text or _display(kept) or "failed without a word") if failed else None
    extra = {"toolCallResult": _slim(kept)} if kept else {}
    half = response(text_of(body.get("name")), text_of(body.get("id")), text, failure)
    return Message("activity", text, half, (*inside, *images), extra=extra)


def _display(kept: Value) -> str:
    shown = kept.get("resultDisplay")
    return shown if isinstance(shown, str) else text_of(dict_of(shown).get("text"))


def _slim(kept: Value) -> dict[str, Any]:
    """What is kept beside a result, without the texts that only repeat it: the line has them."""
    slim = {key: item for key, item in kept.items() if _is_short(item)}
    shown = kept.get("resultDisplay")
    if isinstance(shown, dict):
        slim["resultDisplay"] = {
            key: item for key, item in shown.items() if _is_short(item) or key == "fileDiff"
        }
    return slim


def _is_short(item: Any) -> bool:
    return not isinstance(item, str | list | dict) or (isinstance(item, str) and len(item) <= _LONG)


def _attached(parts: Iterable[Any]) -> tuple[list[str], tuple[Image, ...]]:
    """Texts and pictures of parts; what is neither stays as JSON text."""
    texts: list[str] = []
    images: list[Image] = []
    for part in parts:
        picture = _picture(dict_of(part))
        text = dict_of(part).get("text")
        if picture is not None:
            images.append(picture)
        else:
            texts.append(text if isinstance(text, str) else json_text(part))
    return texts, tuple(images)


def _picture(part: Value) -> Image | None:
    """An attached file, which mostly is a picture."""
    inline, file = dict_of(part.get("inlineData")), dict_of(part.get("fileData"))
    if inline:
        return image_inline(text_of(inline.get("mimeType")), text_of(inline.get("data")))
    if file:
        found = image_at(text_of(file.get("fileUri")))
        return found._replace(media_type=text_of(file.get("mimeType")) or found.media_type)
    return None
