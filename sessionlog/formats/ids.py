"""Ids of new logs in the shape of a UUID, made without chance: the same plan gives the same id."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from datetime import datetime
from itertools import count


def uuid_at(now: datetime, *seeds: object) -> str:
    """A UUID of version 7 (RFC 9562): ids of different times sort by time. The bits that are left
    to chance there come from the seeds."""
    milliseconds = int(now.timestamp() * 1000) & (1 << 48) - 1
    rest = digest_of(*seeds)[:10]
    number = int.from_bytes(milliseconds.to_bytes(6, "big") + rest, "big")
    number = number & ~(0xF << 76) | 7 << 76
    number = number & ~(0x3 << 62) | 2 << 62
    return str(uuid.UUID(int=number))


def digest_of(*seeds: object) -> bytes:
    """32 bytes that only the seeds decide."""
    return hashlib.sha256("\0".join(map(str, seeds)).encode("utf-8", "replace")).digest()


def first_free(
    made: Callable[[int], tuple[str, str]], taken: Callable[[str], bool]
) -> tuple[str, str]:
    """The first (id, path) that is not taken of those that `made` gives for 0, 1, 2, ..."""
    return next(place for place in map(made, count()) if not taken(place[1]))


def uuid_of(digest: bytes) -> str:
    """A UUID in the shape of one made by chance (version 4), from at least 16 bytes of a hash."""
    return str(uuid.UUID(bytes=digest[:16], version=4))
