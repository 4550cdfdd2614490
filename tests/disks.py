"""Disks that fail when told to, and what then stands in a log."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sessionlog.append import Disk
from sessionlog.records import Message

Turn = Callable[[int], OSError | int | None]


def lines(path: str | Path) -> list[Any]:
    """Every line decoded; each has to end, and to be one object."""
    data = Path(path).read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def texts(path: str | Path) -> list[str]:
    return [body["message"]["text"] for body in lines(path) if body["kind"] == "message"]


def says(text: str) -> Message:
    return Message("bot", text)


class Failing:
    """A disk whose calls fail when told to.

    `fail` says for a call what its turn (from 1) comes to: an error, a short write of so many
    bytes, or None, which lets it through. Nothing is ever really synced.
    """

    def __init__(self) -> None:
        self.fail: dict[str, Turn] = {}
        self.turns = {"write": 0, "sync": 0, "truncate": 0}

    def _turn(self, call: str) -> OSError | int | None:
        self.turns[call] += 1
        told = self.fail.get(call)
        return None if told is None else told(self.turns[call])

    def write(self, fd: int, data: bytes) -> int:
        told = self._turn("write")
        if isinstance(told, OSError):
            raise told
        return os.write(fd, data if told is None else data[:told])

    def sync(self, fd: int) -> None:
        told = self._turn("sync")
        if isinstance(told, OSError):
            raise told

    def truncate(self, fd: int, size: int) -> None:
        told = self._turn("truncate")
        if isinstance(told, OSError):
            raise told
        os.ftruncate(fd, size)

    def disk(self) -> Disk:
        return Disk(self.write, self.sync, self.truncate)


def full(*_: int) -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


def broken(*_: int) -> OSError:
    return OSError(errno.EIO, "Input/output error")
