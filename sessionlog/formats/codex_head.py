"""What the first records of a Codex log tell of the session: its head, its prompt, its model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from sessionlog.formats.base import Description, text_of
from sessionlog.formats.codex_place import UUID
from sessionlog.records import Event, Message, Meta, Record

_CWD = re.compile(r"<cwd>([^<]*)</cwd>")
_ASKED = "## My request for Codex:"
"""What stands between an editor's context and the prompt."""
_LOOK = 200
"""Records that are looked at."""


@dataclass(slots=True)
class HeadFacts:
    """What the first records tell."""

    meta: Meta = field(default_factory=Meta)
    started: str = ""
    title: str = ""
    told: str = ""
    """The prompt as an event tells it, for logs that begin without items."""
    model: str = ""
    cwd: str = ""

    @property
    def whole(self) -> bool:
        """Is nothing more to be learnt from further records?"""
        return bool(self.title and self.model)

    def description(self, path: str) -> Description:
        """What a list row shows of it; the file's name has the id where the head is lost."""
        stem = path.rpartition("/")[2].removesuffix(".jsonl")
        named = UUID.search(stem)
        meta = self.meta._replace(
            id=self.meta.id or (named[0] if named else stem),
            model=self.model or self.meta.provider,
            workdir=self.meta.workdir or self.cwd,
        )
        return Description(meta, self.title or self.told, self.started)


def read_head(oldest_first: Iterable[Record]) -> HeadFacts:
    """Reads on until the prompt and the model are known, or the model has answered."""
    head = HeadFacts()
    found = False
    for count, record in enumerate(oldest_first):
        payload = record.payload
        head.started = head.started or record.at
        if isinstance(payload, Meta) and not found:
            found, head.meta = True, payload
            head.started = text_of(payload.extra.get("timestamp")) or head.started
        elif isinstance(payload, Event):
            _note_event(head, payload)
        elif isinstance(payload, Message):
            if payload.type == "user":
                head.title = head.title or _prompt(payload.text)
            elif payload.type == "system":
                place = _CWD.search(payload.text)
                head.cwd = head.cwd or (place[1] if place else "")
            elif head.title:
                break
        if head.whole or count >= _LOOK:
            break
    return head


def _note_event(head: HeadFacts, event: Event) -> None:
    if event.kind == "turn_context":
        head.model = head.model or event.text
        head.cwd = head.cwd or text_of(event.extra.get("cwd"))
    elif event.kind == "user_message":
        head.told = head.told or _prompt(text_of(event.extra.get("message")))


def _prompt(text: str) -> str:
    """What the person asked for, without the context that an editor puts before it."""
    before, mark, asked = text.rpartition(_ASKED)
    return (asked if mark else before or text).strip()
