"""Pictures beside a log: their bytes never stand in a line.

`<id>.blobs/<sha256>.<png|jpg|gif|webp|bin>`, made on first use; the same bytes are stored once.
A file that is missing, or whose bytes are not what its name says, gives no picture: the text of
a message has to stand alone. Only a log without a name to go by keeps the bytes in its lines.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from secrets import token_hex

from sessionlog.errors import Unreadable
from sessionlog.paths import open_regular, private_folder, sync_folder
from sessionlog.records import Image

_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def folder_of(log: str) -> str:
    """The blob folder of a log."""
    return log.removesuffix(".jsonl") + ".blobs"


def store(log: str, image: Image) -> Image:
    """Put the bytes of an image into the log's blob folder; gives the image that the line names.

    An image without bytes comes back as it is. Raises OSError when the disk refuses.
    """
    if image.data is None:
        return image
    digest, size = _digest(image.data), len(image.data)
    named = image._replace(digest=digest, size=size, source="blob", data=None)
    if fetch(log, named) is None:
        private_folder(folder_of(log))
        _write(_path(log, named), image.data)
    return named


def inline(image: Image) -> Image:
    """The image as a line holds it where no folder can: with its bytes."""
    if image.data is None:
        return image
    return image._replace(digest=_digest(image.data), size=len(image.data), source="inline")


def fetch(log: str, image: Image) -> bytes | None:
    """The bytes of an image of this log; None when they are missing or are not the image's.

    What a line says is never a path: only a digest leads to a file. Never raises.
    """
    data = image.data
    if data is None and image.source == "inline":
        data = _decoded(image.extra.get("data"))
    elif data is None and _DIGEST.fullmatch(image.digest):
        data = _read(_path(log, image))
    if data is None or (image.digest and _digest(data) != image.digest):
        return None
    return data


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _path(log: str, image: Image) -> str:
    ending = _ENDINGS.get(image.media_type, "bin")
    return os.path.join(folder_of(log), f"{image.digest.removeprefix('sha256:')}.{ending}")


def _decoded(text: object) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except ValueError:
        return None


def _read(path: str) -> bytes | None:
    try:
        with open(open_regular(path), "rb") as file:
            return file.read()
    except (OSError, Unreadable):
        return None


def _write(path: str, data: bytes) -> None:
    """The file whole or not at all, and there after a power cut."""
    folder = os.path.dirname(path)
    temp = f"{folder}/.{token_hex(8)}.tmp"
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with open(fd, "wb") as file:
            os.fchmod(fd, 0o600)
            file.write(data)
            file.flush()
            os.fsync(fd)
        os.replace(temp, path)
    except BaseException:
        os.unlink(temp)
        raise
    sync_folder(folder)
