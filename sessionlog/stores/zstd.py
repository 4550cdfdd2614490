"""Logs compressed with Zstandard, as Codex keeps old rollouts (`.jsonl.zst`).

One is read as the text that was packed. That can be thousands of times as long as the file, so
how much is unpacked is bounded, and none of it is held. A file that was cut gives what can be
read of it, and a line that is no JSON, so that the loss is seen. Frames are those of RFC 8878.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import closing

from sessionlog.errors import Unreadable
from sessionlog.framing import LineBuffer
from sessionlog.paths import open_regular
from sessionlog.records import Entry
from sessionlog.stores.base import Mark, Unended

_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPED = b"\x2a\x4d\x18"
"""Behind a byte of 0x50 to 0x5f: a frame that holds no text. pzstd begins each of its with one."""
_HEAD = 4096
_MOST = 1 << 30
_TIMES, _FREE = 200, 64 << 20
"""A log packs to a tenth or a fiftieth; small ones that repeat themselves, better."""
_LONGEST = 128 << 20
"""Bytes of a line: whoever reads it holds it."""
_IN = 512
"""Bytes that are unpacked at once: they give 16 MB at the most."""
_BLOCK = 1 << 16


class Zstd:
    """The store of compressed logs."""

    many = False

    def keeps(self, path: str, head: bytes) -> bool:
        return is_packed(head)

    def sessions(self, path: str) -> list[str]:
        return []

    def lines(self, path: str, id: str) -> Iterator[bytes]:
        return map(Unended, _text_of(path))

    def mark(self, path: str, id: str) -> Mark:
        return mark_of(path)

    def glimpse(self, path: str, id: str) -> Entry | None:
        return None


def is_packed(head: bytes) -> bool:
    """Do a file's first bytes (up to 4 KB) begin a frame? One behind a long frame that is skipped
    is taken on trust."""
    at = 0
    while head[at + 1 : at + 4] == _SKIPPED and head[at] >> 4 == 5:
        at += 8 + int.from_bytes(head[at + 4 : at + 8], "little")
    return head.startswith(_MAGIC, at) or (at > 0 and at + len(_MAGIC) > len(head))


def mark_of(path: str) -> Mark:
    """Size and time of a file. Raises OSError when it is gone."""
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def lines_of(path: str) -> Generator[bytes, None, None]:
    """The lines of a log, packed or not, without LF; `Unended` the one behind the last LF. Raises
    Unreadable."""
    buffer = LineBuffer()
    for block in _text_of(path):
        for line in buffer.feed(block):
            yield line.data
    rest = buffer.rest()
    if rest is not None:
        yield Unended(rest.data)


def first_line(path: str, most: int) -> bytes:
    """The first line of a log, packed or not; b"" for one of more than `most` bytes. Raises
    Unreadable."""
    head = b""
    with closing(_text_of(path)) as blocks:
        for block in blocks:
            head += block
            if b"\n" in block or len(head) > most:
                break
    line = head.partition(b"\n")[0]
    return line if len(line) <= most else b""


def _text_of(path: str) -> Generator[bytes, None, None]:
    """What a log holds, packed or not, block by block. Raises Unreadable."""
    fd = open_regular(path)
    try:
        packed = is_packed(os.pread(fd, _HEAD, 0))
        yield from _unpacked(path, fd) if packed else _blocks(fd, _BLOCK)
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
    unpacker = zstandard.ZstdDecompressor()
    frame = unpacker.decompressobj()
    done, line, last = 0, 0, b"\n"
    try:
        for block in _blocks(fd, _IN):
            while block:
                if frame.eof:
                    frame = unpacker.decompressobj()
                text, block = frame.decompress(block), b""
                if frame.eof:
                    block = frame.unused_data
                done += len(text)
                if done > most:
                    raise Unreadable(f"{path}: unpacks to more than {most >> 20:,} MB; not a log")
                end = text.rfind(b"\n")
                line = line + len(text) if end < 0 else len(text) - end - 1
                if line > _LONGEST:
                    raise Unreadable(f"{path}: a line of more than {_LONGEST >> 20} MB; not a log")
                if text:
                    last = text[-1:]
                    yield text
        broken = "" if frame.eof else "it is cut"
    except zstandard.ZstdError as error:
        broken = _in_words(str(error))
    if broken and not done:
        raise Unreadable(f"{path}: nothing of the compressed data can be read: {broken}")
    if broken:
        yield (b"" if last == b"\n" else b"\n") + f"# compressed data: {broken}".encode()


def _in_words(error: str) -> str:
    if "Dictionary" in error:
        return "it was compressed with a dictionary, which is not in it"
    return error.removeprefix("zstd decompressor error: ")
