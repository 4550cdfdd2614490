"""The lines of a Codex log under a new id, in the shape that the client resumes.

The head names the session and where it was taken from, events name the session they belong to,
and in logs that number their records the numbers rise without two the same (0.171 refuses a log
whose last record has none). A fork that holds only what is new keeps the link to its parent's
file; one that was read together with its parent's records becomes a whole log. Items of before
0.32, which 0.171 no longer reads, get today's envelope around their bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple

from sessionlog import codec, splice
from sessionlog.formats.base import Birth, Fate, Part, dict_of, text_of
from sessionlog.formats.codex_lines import (
    ORIGINATOR,
    VERSION,
    envelope,
    numbered,
    ordinal_of,
    said,
    wrapped,
)
from sessionlog.formats.codex_place import PROVIDER, UUID, id_of
from sessionlog.framing import Line

_LOOK = 50
"""Lines in which the folder is looked for when the head does not tell it."""
_CWD = re.compile(rb"<cwd>([^<\\]*)</cwd>")
_BARE = ("message", "reasoning")
"""Items of logs without envelopes, besides calls and their outputs."""
_LINKS = ("history_base", "forked_from_ordinal_exclusive")


class Piece(NamedTuple):
    """One JSON object of the new log in the making."""

    data: bytes
    value: Mapping[str, Any]
    fate: Fate


def renewed(parts: Iterable[Part], birth: Birth) -> Iterator[bytes]:
    """The lines of the new log. O(bytes); holds a few lines at its beginning. `birth.model` is the
    model provider of a log that names none."""
    pieces = _pieces(parts)
    ahead = list(islice(pieces, _LOOK))
    id = id_of(birth.id, birth.parent)
    old = _own_id(ahead) or birth.parent
    head, rest = _head(ahead, id, birth)
    numbers = _Numbers(_first_number(ahead))
    at = codec.dumps(_time_of(ahead) or birth.time)
    yield numbers.on(head, Fate.KEPT)
    for data, value, fate in chain(rest, pieces):
        if _is_bare(value):
            stamp = value.get("timestamp")
            data = wrapped(data, codec.dumps(stamp) if isinstance(stamp, str) else at)
        yield numbers.on(_identified(data, value, old, id), fate)
    if birth.told:
        told = envelope("response_item", said("user", birth.told), birth.time)
        yield numbers.on(told, Fate.ADDED)


class _Numbers:
    """Ordinals that rise: each its own where that is above the one before."""

    def __init__(self, first: int | None) -> None:
        """`first`: the head's, where it has none of its own; None: the log has none."""
        self._last: int | None = None
        self._first = first

    def on(self, data: bytes, fate: Fate) -> bytes:
        own = ordinal_of(data)
        if self._last is None:
            self._last = self._first if own is None else own
            return data if self._last == own else numbered(data, self._last or 0)
        if own is not None and own > self._last and fate is Fate.KEPT:
            self._last = own
            return data
        self._last += 1
        return numbered(data, self._last)


def _first_number(ahead: list[Piece]) -> int | None:
    """What the head of a log that numbers its records has for a number, None in one that does
    not."""
    found = [n for piece in ahead if (n := ordinal_of(piece.data)) is not None]
    head = dict_of(ahead[0].value.get("payload")) if ahead else {}
    if not found:
        return 0 if head.get("history_mode") == "paginated" else None
    return max(found[0] - 1, 0)


def _pieces(parts: Iterable[Part]) -> Iterator[Piece]:
    """Each object on a line of its own: the client takes two on one line for garbage."""
    for data, fate in parts:
        if fate is Fate.DROPPED:
            continue
        if isinstance(value := _peeked(data), dict):
            yield Piece(data, value, fate)
            continue
        for value, span in codec.parse(Line(0, 0, data, True)).objects:
            yield Piece(splice.clean(data[span.offset : span.end]), value, fate)


def _peeked(data: bytes) -> Any:
    """The value of a line that needs no closer look, as most do; only its strings are used."""
    try:
        return codec.peek(data)
    except ValueError:
        return None


def _head(ahead: list[Piece], id: str, birth: Birth) -> tuple[bytes, list[Piece]]:
    """The first line, which has to be the session's head, and what follows it."""
    first = ahead[0] if ahead else Piece(b"{}", {}, Fate.KEPT)
    if first.value.get("type") == "session_meta" and isinstance(first.value.get("payload"), dict):
        changes = _changes(first.value["payload"], ahead, id, birth)
        if _is_whole(ahead):
            changes |= {key: b"null" for key in _LINKS if key in first.value["payload"]}
            first = first._replace(data=numbered(first.data, 0))
        return _put(first.data, changes), ahead[1:]
    if is_old_head(first.value):
        payload = splice.put(first.data, 0, _changes(first.value, ahead, id, birth))
        at = codec.dumps(text_of(first.value["timestamp"]))
        head = b'{"timestamp":' + at + b',"type":"session_meta","payload":' + payload + b"}"
        return head, ahead[1:]
    head = _put(envelope("session_meta", {}, birth.time), _changes({}, ahead, id, birth))
    number = next((n for piece in ahead if (n := ordinal_of(piece.data)) is not None), None)
    return head if number is None else numbered(head, max(number - 1, 0)), ahead


def is_old_head(value: Mapping[str, Any]) -> bool:
    """Is it the first line of a log of before 0.32?"""
    return (
        "type" not in value
        and isinstance(value.get("id"), str)
        and isinstance(value.get("timestamp"), str)
        and ("instructions" in value or "git" in value)
    )


def _changes(
    head: Mapping[str, Any], ahead: list[Piece], id: str, birth: Birth
) -> dict[str, bytes]:
    """The members of the head that change, and those that the client does not do without."""
    new = {"id": id, "session_id": id, "timestamp": birth.time}  # begun when it was made
    changes = {key: codec.dumps(value) for key, value in new.items()}
    if UUID.fullmatch(birth.parent):
        changes["forked_from_id"] = codec.dumps(birth.parent)
    wanted = {"cwd": "", "originator": ORIGINATOR, "cli_version": VERSION,
              "model_provider": birth.model or PROVIDER}  # fmt: skip
    for key, otherwise in wanted.items():
        if not isinstance(head.get(key), str):
            value = _workdir(ahead) if key == "cwd" else codec.dumps(otherwise)
            changes[key] = value
    return changes


def _workdir(ahead: list[Piece]) -> bytes:
    """The folder as JSON, from what the first turn tells of it."""
    for piece in ahead:
        if place := text_of(dict_of(piece.value.get("payload")).get("cwd")):
            return codec.dumps(place)
        if found := _CWD.search(piece.data):
            return b'"' + found[1] + b'"'
    return b'"/"'


def _is_whole(ahead: list[Piece]) -> bool:
    """Do the parent's records follow the head of a fork that names them? They are older."""
    head, after = ahead[0], ahead[1:2]
    if not dict_of(dict_of(head.value.get("payload")).get("history_base")):
        return False
    own, next_ = ordinal_of(head.data), [ordinal_of(piece.data) for piece in after]
    return bool(next_) and own is not None and next_[0] is not None and next_[0] < own


def _own_id(ahead: list[Piece]) -> str:
    first = ahead[0].value if ahead else {}
    return text_of(dict_of(first.get("payload")).get("id")) or text_of(first.get("id"))


def _time_of(ahead: list[Piece]) -> str:
    return text_of(ahead[0].value.get("timestamp")) if ahead else ""


def _is_bare(value: Mapping[str, Any]) -> bool:
    kind = text_of(value.get("type"))
    return "payload" not in value and (kind in _BARE or kind.endswith(("_call", "_output")))


def _identified(data: bytes, value: Mapping[str, Any], old: str, id: str) -> bytes:
    """The line with the new id where it says which session it belongs to."""
    payload = dict_of(value.get("payload"))
    repeats = value.get("type") == "session_meta"  # as logs do that were resumed
    keys = ("id",) * repeats + ("thread_id", "session_id")
    changes = {key: codec.dumps(id) for key in keys if old and payload.get(key) == old}
    return _put(data, changes) if changes else data


def _put(data: bytes, changes: Mapping[str, bytes]) -> bytes:
    """The line with these members in its payload."""
    found = splice.member(data, ("payload",))
    return splice.put(data, found.start, changes) if found else data
