"""Pictures beside a log: their bytes never stand in a line.

`<id>.blobs/<sha256>.<png|jpg|gif|webp|bin>`, made on first use; the same bytes are stored once.
A file that is missing, or whose bytes are not what its name says, gives no picture: the text of
a message has to stand alone.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from secrets import token_hex

from sessionlog.records import Image

_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}


def folder_of(log: str) -> str:
    """The blob folder of a log."""
    return log.removesuffix(".jsonl") + ".blobs"


def _name(image: Image) -> str:
    digest = image.digest.removeprefix("sha256:")
    return f"{digest}.{_ENDINGS.get(image.media_type, 'bin')}"


def store(log: str, image: Image) -> Image:
    """Put the bytes of an image into the log's blob folder; gives the image that the line names.

    An image without bytes comes back as it is. Raises OSError when the disk refuses.
    """
    if image.data is None:
        return image
    digest = hashlib.sha256(image.data).hexdigest()
    stored = replace(image, digest=f"sha256:{digest}", size=len(image.data), source="blob", data=None)
    folder = folder_of(log)
    path = os.path.join(folder, _name(stored))
    if not os.path.exists(path):
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o700)
            os.chmod(folder, 0o700)
        _write(path, image.data)
    return stored


def _write(path: str, data: bytes) -> None:
    """The file whole or not at all, under its own name by a link."""
    temp = f"{os.path.dirname(path)}/.{token_hex(8)}.tmp"
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temp, path)
    except BaseException:
        os.unlink(temp)
        raise


def fetch(log: str, image: Image) -> bytes | None:
    """The bytes of a stored image; None when its file is missing or holds other bytes."""
    digest = image.digest.removeprefix("sha256:")
    if len(digest) != 64 or not digest.isalnum():
        return None  # the name comes from a log: it must not lead out of the folder
    try:
        with open(os.path.join(folder_of(log), _name(image)), "rb") as file:
            data = file.read()
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == digest else None
