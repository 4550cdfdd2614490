"""A session's conversation in a new native log, whatever format it was written in.

For a program that writes no log of its own: what it prints is recorded behind the conversation
that it was given, so that the new log is a whole run which can be shown and handed on again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from sessionlog import newlog
from sessionlog.errors import NotPossible
from sessionlog.formats.base import Birth, Fate
from sessionlog.formats.native import Native
from sessionlog.formats.native_actor import NativeActor
from sessionlog.formats.native_encode import encode, stamp
from sessionlog.framing import split
from sessionlog.plan import Mend, units
from sessionlog.records import NOTHING, Message, Meta, Origin, Record, Span
from sessionlog.session import Session, fold
from sessionlog.source import decode
from sessionlog.survey import form_named


def carry(
    session: Session, folder: str, driver: str, now: datetime, *, at: int | None = None,
    told: str = "", workdir: str = "",
) -> Path:  # fmt: skip
    """Write the conversation as it stood after message `at` (None: at the end), every call
    closed, and `told` as the user's last message, into a folder; gives the new log's path.

    Raises NotPossible when there is no message `at`, or the folder cannot be written.
    """
    known = session if at is None else until(session, at)
    id, path = place(folder, now)
    birth = Birth(id, session.id, at, stamp(now))
    origin = {"forked_from": Origin(session.id, at)} if at else {"resumed_from": session.id}
    meta = Meta(
        id, session.meta.task or session.title, session.meta.model, session.meta.provider, driver,
        workdir or session.meta.workdir, **origin,
    )  # fmt: skip
    lines = [encode(meta, birth.time), *_closed(known, birth.time)]
    if told:
        lines.append(encode(Message("user", told), birth.time))
    return newlog.write(Path(path), lines)


def place(folder: str, now: datetime) -> tuple[str, str]:
    """(id, path) of a new native log there, the first of that second that is not taken."""
    return NativeActor().place(os.path.join(folder, "x"), None, now, os.path.lexists)


def until(session: Session, at: int) -> Session:
    """The session as it stood right after a message. Raises NotPossible when there is none."""
    step = next((step for step in session.history if step.n == at), None)
    if step is None:
        raise NotPossible(f"{session.path}: no message {at}; it has {len(session.history)}")
    end = step.record.span.offset
    records = [record for record in session.records if record.span.offset <= end]
    form = form_named(session.format)
    return fold(records, (), form=form, path=session.path, size=session.size)


def _closed(session: Session, at: str) -> Iterator[bytes]:
    """Lines of the context, every call answered in its turn; `at` where no time is known."""
    times = {id(step.message): step.record.at for step in session.history}
    lines = _lines(session.context, times, at)
    records: list[Record] = []
    for line in split(b"".join(lines)):
        records += decode(Native(), line)[0]
    mend = Mend()
    for unit in units(records):
        mend.take(unit)
    data = b"".join(lines)

    def read(span: Span) -> bytes:
        return data[span.offset : span.end]

    whole = [line for line in split(data) if line.data]
    for part in newlog.parts(whole, mend.edits(()), NativeActor(), read):
        if part.fate is not Fate.DROPPED:
            yield part.data + b"\n"


def _lines(messages: tuple[Message, ...], times: dict[int, str], at: str) -> list[bytes]:
    made = []
    for message in messages:
        at = times.get(id(message)) or at
        made.append(encode(_native(message), at))
    return made


def _native(message: Message) -> Message:
    """The message in native words; what only its own format knows stays behind."""
    if message.activity is not None:
        return Message("activity", message.text, message.activity._replace(extra=NOTHING),
                       message.images)  # fmt: skip
    return Message(_TYPES.get(message.type, message.type), message.text, None, message.images)


_TYPES = {"assistant": "bot", "system": "instructions", "summary": "checkpoint"}
"""The native words for what other formats call otherwise."""
