"""What a list row shows of a Claude Code log, from its two ends.

Read lazily: the first prompt may lie behind hundreds of lines of bookkeeping; titles are written
again near the end, so that they are found there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sessionlog.formats.base import Description, dict_of, text_of
from sessionlog.formats.claude_blocks import INLINE, SYNTHETIC, is_interrupt
from sessionlog.formats.claude_events import TITLES
from sessionlog.records import Event, Message, Meta, Origin, Record

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NEAR = 64 * 1024
"""Bytes behind the prompt in which the model's name is looked for."""
TAIL = 16 * 1024
"""Bytes before the end in which a title is looked for: it is written again after each turn."""


@dataclass(slots=True)
class Facts:
    """What the ends of a log tell."""

    about: Mapping[str, Any] = field(default_factory=dict)
    started: str = ""
    model: str = ""
    prompt: str = ""
    command: str = ""
    """A command without words of its own, a subagent's task: titles where there is no other."""
    titles: dict[str, str] = field(default_factory=dict)
    summaries: list[tuple[str, str]] = field(default_factory=list)
    """(leaf, title) of each summary: often of another log."""
    keys: set[str] = field(default_factory=set)

    def read_head(self, oldest_first: Iterable[Record]) -> None:
        """Reads on until the prompt is known, and a little further for the model."""
        found = 0
        for record in oldest_first:
            payload = record.payload
            self.started = self.started or record.at
            self.keys.add(record.key)
            if isinstance(payload, Event):
                self._event(payload)
            elif isinstance(payload, Message):
                self._message(payload)
            said = self.prompt or (self.command and self.model)
            found = found or (record.span.end if said else 0)
            if found and (self.model or record.span.end > found + _NEAR):
                return

    def read_tail(self, newest_first: Iterable[Record]) -> None:
        """The last title of a kind wins. Looks TAIL bytes back."""
        seen: set[str] = set()
        end = -1
        for record in newest_first:
            payload = record.payload
            end = record.span.end if end < 0 else end
            if record.span.offset < end - TAIL or "custom-title" in seen:
                return
            self.keys.add(record.key)
            if isinstance(payload, Event) and payload.kind in TITLES:
                if payload.kind == "summary":
                    self.summaries.append((text_of(payload.extra.get("leafUuid")), payload.text))
                elif payload.kind not in seen:
                    seen.add(payload.kind)
                    self.titles[payload.kind] = payload.text
            elif isinstance(payload, Message):
                model = text_of(payload.extra.get("model"))
                self.model = self.model or (model if model != SYNTHETIC else "")

    @property
    def title(self) -> str:
        """The strongest that there is."""
        named = next((self.titles[kind] for kind in TITLES if self.titles.get(kind)), "")
        own = [title for leaf, title in self.summaries if leaf in self.keys]
        return named or (own[-1] if own else "") or self.prompt or self.command

    def description(self, path: str) -> Description:
        """The row. A log that was made from another is as old as the making of it."""
        made = text_of(dict_of(self.about.get("forkedFrom")).get("timestamp"))
        return Description(self._meta(path), self.title, made or self.started)

    def _event(self, event: Event) -> None:
        if event.kind == "summary":
            self.summaries.append((text_of(event.extra.get("leafUuid")), event.text))
        elif event.kind in TITLES:
            self.titles[event.kind] = event.text
        elif event.kind == "model" and not self.model:
            self.model = text_of(dict_of(event.extra.get("identity")).get("modelId"))
        if not self.about and text_of(event.extra.get("sessionId")):
            self.about = {"sessionId": event.extra["sessionId"]}

    def _message(self, message: Message) -> None:
        if message.sidechain == INLINE:
            self.command = self.command or message.text
            return
        if not self.about.get("cwd"):
            self.about = message.extra
        model = text_of(message.extra.get("model"))
        if not self.model and model != SYNTHETIC:
            self.model = model
        if message.type != "user" or is_interrupt(message.text):
            return
        command = text_of(message.extra.get("command"))
        if command and message.text == command:
            self.command = self.command or command
        else:
            self.prompt = self.prompt or message.text

    def _meta(self, path: str) -> Meta:
        """The file's name is the identity; a log under another name goes by what stands in it."""
        stem = path.rpartition("/")[2].removesuffix(".jsonl")
        about = self.about
        session = text_of(about.get("sessionId"))
        own = bool(_UUID.fullmatch(stem)) or stem.startswith("agent-")
        names = ("gitBranch", "version", "entrypoint", "sessionId")
        return Meta(
            id=stem if own else session or stem,
            model=self.model,
            provider="anthropic",
            driver="claude",
            workdir=text_of(about.get("cwd")),
            resumed_from=_source(about),
            forked_from=_origin(about),
            extra={name: about[name] for name in names if name in about},
        )


def description_of(
    path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
) -> Description:
    """What a list row shows."""
    facts = Facts()
    facts.read_head(oldest_first)
    facts.read_tail(newest_first)
    return facts.description(path)


def _origin(about: Mapping[str, Any]) -> Origin | None:
    """Where the log was taken from: the client's branches say it on each line, ours on the first
    message, with the number of the last one that a fork holds."""
    source = dict_of(about.get("forkedFrom"))
    parent, at = text_of(source.get("sessionId")), source.get("at")
    if not parent or not text_of(source.get("messageUuid")):
        return None
    return Origin(parent, at if type(at) is int else None)


def _source(about: Mapping[str, Any]) -> str | None:
    """The session that a log goes on with, of which it holds no record: another agent's."""
    source = dict_of(about.get("forkedFrom"))
    return None if text_of(source.get("messageUuid")) else text_of(source.get("sessionId")) or None
