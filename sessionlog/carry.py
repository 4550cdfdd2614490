"""A session's conversation in a new log, whatever format it was written in.

Into a native log it goes whole, calls and all: for the native engine, and for a program that
writes no log of its own, whose output is recorded behind the conversation that it was given, so
that the new log is a whole run which can be shown and handed on again. Into the log of any other
agent it goes as plain messages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from sessionlog import newlog
from sessionlog.earlier import until
from sessionlog.errors import NotPossible, SessionExists
from sessionlog.formats.base import Birth, Composer, Fate, Format, Said
from sessionlog.formats.native import Native
from sessionlog.formats.native_actor import NativeActor
from sessionlog.formats.native_encode import encode, stamp
from sessionlog.framing import split
from sessionlog.mend import Mend
from sessionlog.plain import Plain
from sessionlog.records import NOTHING, Message, Meta, Origin, Record, Span, moment
from sessionlog.repeats import units
from sessionlog.session import Session
from sessionlog.source import decode


def carry(
    session: Session, folder: str, driver: str, now: datetime, *, at: int | None = None,
    told: str = "", workdir: str = "",
) -> Path:  # fmt: skip
    """Write the conversation as it stood after message `at` (None: at the end), every call
    closed, and `told` as the user's last message, into a folder; gives the new log's path.

    Raises NotPossible when there is no message `at`, or the folder cannot be written.
    """
    known = until(session, at)
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


def carry_to(
    form: Format, conversation: Plain, birth: Birth, path: str, again: Callable[[], tuple[str, str]]
) -> Path:
    """Write plain messages as a session of another agent, and `birth.told` as the user's last one;
    gives the new log's path.

    It goes to `path`, where the agent looks for `birth.id`, or where that is taken meanwhile to
    the (id, path) that `again` gives. Raises NotPossible when the agent's sessions cannot be
    composed, or the folder cannot be written.
    """
    composer = composer_of(form)
    said = _told_now(conversation.said, birth.time)
    for _ in range(_TRIES):
        lines = (line + b"\n" for line in composer.compose(said, birth))
        try:
            return newlog.write(Path(path), lines)
        except SessionExists:
            id, path = again()
            birth = birth._replace(id=id)
    raise SessionExists(f"{path}: taken again and again; try once more")


def _told_now(said: Sequence[Said], time: str) -> list[Said]:
    """The messages, one after the other, up to the time at which they are told: to the agent that
    gets them they are new, and its client shows its newest sessions first."""
    now = moment(time)
    if now is None:
        return list(said)
    ago = (timedelta(milliseconds=n) for n in range(len(said), 0, -1))
    return [m._replace(at=stamp(now - back)) for m, back in zip(said, ago, strict=True)]


def composer_of(form: Format) -> Composer:
    """What writes sessions of that agent out of plain messages. Raises NotPossible: nothing."""
    if not isinstance(form.actor, Composer):
        raise NotPossible(f"a {form.name} log cannot be written out of plain messages")
    return form.actor


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


_TRIES = 100
_TYPES = {"assistant": "bot", "system": "instructions", "summary": "checkpoint"}
"""The native words for what other formats call otherwise."""
