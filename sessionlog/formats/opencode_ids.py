"""New ids for a copy of an OpenCode session: every id in it is a key of the client's database.

An id is a word for what it names, twelve hexadecimal digits of time that sort, and fourteen
characters by chance (1.18: descending for sessions, so that the newest sort first). A copy keeps
the digits, because parts are ordered by them, and gets other characters; these come from the new
session's id and the old one, so the same plan gives the same ids. Pure.
"""

from __future__ import annotations

import hashlib
import re
from datetime import datetime

_SHAPE = re.compile(r"[a-z]{3}_([0-9a-f]{12})[0-9A-Za-z]{14}")
_SESSION = re.compile(r"ses_[0-9A-Za-z]{1,80}")
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TAIL = 14
_MOST = (1 << 48) - 1


def session_id(now: datetime, *seeds: object) -> str:
    """An id for a session that begins now."""
    return f"ses_{~_digits(int(now.timestamp() * 1000)) & _MOST:012x}{_tail(*seeds)}"


def is_session(id: str) -> bool:
    """Can the client take it for a session's id?"""
    return _SESSION.fullmatch(id) is not None


class Ids:
    """Ids of the messages and parts of one new session, given in their order."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._given: dict[str, str] = {}
        self._count = 0
        self._message = self._part = 0
        """Digits of the last ones."""

    def message(self, old: str, created: int) -> str:
        """For a message; `created` in Unix milliseconds, where its id has no digits."""
        self._message = self._part = _behind(self._message, old, _digits(created))
        return self._new("msg", self._message, old)

    def part(self, old: str) -> str:
        """For a part of the message before it."""
        self._part = _behind(self._part, old, 0)
        return self._new("prt", self._part, old)

    def now(self, old: str) -> str:
        """The id that a message or a part has here; "" when it is not here."""
        return self._given.get(old, "")

    def _new(self, word: str, digits: int, old: str) -> str:
        self._count += 1
        id = f"{word}_{digits & _MOST:012x}{_tail(self._session, old, self._count)}"
        if old:
            self._given[old] = id
        return id


def _behind(last: int, old: str, otherwise: int) -> int:
    """Digits that sort behind the last ones: those of the old id if they do. In anonymous exports
    ids repeat, and in old ones they have other shapes."""
    found = _SHAPE.fullmatch(old)
    digits = int(found[1], 16) if found else otherwise
    return digits if digits > last else last + 1


def _digits(milliseconds: int) -> int:
    return milliseconds * 4096 & _MOST


def _tail(*seeds: object) -> str:
    digest = hashlib.sha256("\0".join(map(str, seeds)).encode("utf-8", "replace")).digest()
    number, letters = int.from_bytes(digest, "big"), ""
    for _ in range(_TAIL):
        number, place = divmod(number, len(_LETTERS))
        letters += _LETTERS[place]
    return letters
