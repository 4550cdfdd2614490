"""Logs compressed with Zstandard, as Codex keeps old rollouts (`.jsonl.zst`).

One is read as the lines that were packed. What is packed can be thousands of times as long as the
file, so how much is unpacked is bounded by the file's size. A file that was cut gives what can be
read of it, and a line that is no JSON, so that the loss is seen.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator

from sessionlog.errors import Unreadable
from sessionlog.framing import LineBuffer
from sessionlog.paths import open_regular
from sessionlog.records import Entry
from sessionlog.stores.base import Mark, Unended

MAGIC = b"\x28\xb5\x2f\xfd"
_MOST = 4 << 30
_TIMES, _FREE = 200, 64 << 20
"""A log packs to a tenth or a fiftieth; small ones that repeat themselves, better."""
_IN = 1024
"""Bytes that are unpacked at once: they give 32 MB at the most."""
_BLOCK = 1 << 16


class Zstd:
    """The store of compressed logs."""

    many = False

    def keeps(self, path: str, head: bytes) -> bool:
        return head.startswith(MAGIC)

    def sessions(self, path: str) -> list[str]:
        return []

    def lines(self, path: str, id: str) -> Iterator[bytes]:
        return lines_of(path)

    def mark(self, path: str, id: str) -> Mark:
        return mark_of(path)

    def glimpse(self, path: str, id: str) -> Entry | None:
        return None


def mark_of(path: str) -> Mark:
    """Size and time of a file. Raises OSError when it is gone."""
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def lines_of(path: str) -> Generator[bytes, None, None]:
    """The lines of a log, packed or not, without LF; `Unended` the one behind the last LF. Raises
    Unreadable."""
    fd = open_regular(path)
    try:
        buffer = LineBuffer()
        head = os.pread(fd, len(MAGIC), 0)
        for block in _unpacked(path, fd) if head == MAGIC else _blocks(fd, _BLOCK):
            for line in buffer.feed(block):
                yield line.data
        rest = buffer.rest()
        if rest is not None:
            yield Unended(rest.data)
    except OSError as error:
        raise Unreadable(f"{path}: cannot be read: {error.strerror or error}") from None
    finally:
        os.close(fd)


def _blocks(fd: int, size: int) -> Iterator[bytes]:
    at = 0
    while block := os.pread(fd, size, at):
        yield block
        at += len(block)


def _unpacked(path: str, fd: int) -> Iterator[bytes]:
    """What the frames of a file hold."""
    import zstandard  # a megabyte of code that most logs do without

    most = min(_MOST, max(_FREE, _TIMES * os.fstat(fd).st_size))
    frame = zstandard.ZstdDecompressor().decompressobj()
    done, last = 0, b"\n"
    try:
        for block in _blocks(fd, _IN):
            while block:
                if frame.eof:
                    frame = zstandard.ZstdDecompressor().decompressobj()
                text, block = frame.decompress(block), b""
                if frame.eof:
                    block = frame.unused_data
                done += len(text)
                if done > most:
                    raise Unreadable(f"{path}: unpacks to more than {most >> 20} MB; not a log")
                last = text[-1:] or last
                yield text
        broken = "" if frame.eof else "cut"
    except zstandard.ZstdError as error:
        broken = str(error)
    if broken:
        yield (b"" if last == b"\n" else b"\n") + f"# compressed data: {broken}".encode()
