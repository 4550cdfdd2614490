"""Pictures beside a log: never in the line, stored once, checked when read."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from pathlib import Path

import pytest

from sessionlog.blobs import fetch, folder_of, inline, store
from sessionlog.records import Image

PIXELS = b"\x89PNG" + bytes(range(256)) * 4
DIGEST = hashlib.sha256(PIXELS).hexdigest()


def picture(media_type: str = "image/png", data: bytes | None = PIXELS) -> Image:
    return Image(media_type, width=8, height=4, data=data)


def log(folder: Path) -> str:
    return str(folder / "run.jsonl")


def test_a_stored_picture_is_named_by_its_hash_and_found_again(tmp_path: Path) -> None:
    named = store(log(tmp_path), picture())
    assert named == Image("image/png", f"sha256:{DIGEST}", 8, 4, len(PIXELS), "blob")
    assert (tmp_path / "run.blobs" / f"{DIGEST}.png").read_bytes() == PIXELS
    assert fetch(log(tmp_path), named) == PIXELS


@pytest.mark.parametrize(
    ("media_type", "ending"),
    [("image/jpeg", "jpg"), ("image/gif", "gif"), ("image/webp", "webp"), ("x/../../y", "bin")],
)
def test_the_ending_is_the_media_types(tmp_path: Path, media_type: str, ending: str) -> None:
    named = store(log(tmp_path), picture(media_type))
    assert os.listdir(tmp_path / "run.blobs") == [f"{DIGEST}.{ending}"]
    assert fetch(log(tmp_path), named) == PIXELS


def test_the_same_bytes_are_stored_once(tmp_path: Path) -> None:
    store(log(tmp_path), picture())
    file = next((tmp_path / "run.blobs").iterdir())
    before = file.stat()
    store(log(tmp_path), picture())
    assert [file] == list((tmp_path / "run.blobs").iterdir())
    assert file.stat().st_ino == before.st_ino


def test_folder_and_files_are_their_owners_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        store(log(tmp_path), picture())
    finally:
        os.umask(old)
    folder = tmp_path / "run.blobs"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()] == [0o600]


def test_a_picture_without_bytes_makes_no_folder(tmp_path: Path) -> None:
    image = picture(data=None)
    assert store(log(tmp_path), image) == image
    assert not Path(folder_of(log(tmp_path))).exists()


def test_a_missing_and_a_tampered_blob_give_no_picture(tmp_path: Path) -> None:
    named = store(log(tmp_path), picture())
    file = next((tmp_path / "run.blobs").iterdir())
    file.write_bytes(PIXELS[:-1] + b"!")
    assert fetch(log(tmp_path), named) is None
    file.unlink()
    assert fetch(log(tmp_path), named) is None


def test_a_tampered_blob_is_replaced_when_its_bytes_come_again(tmp_path: Path) -> None:
    named = store(log(tmp_path), picture())
    next((tmp_path / "run.blobs").iterdir()).write_bytes(b"something else")
    store(log(tmp_path), picture())
    assert fetch(log(tmp_path), named) == PIXELS


@pytest.mark.parametrize("digest", ["../../secret", "sha256:../../secret", "sha256:", "", "x" * 64])
def test_a_digest_that_is_none_reads_no_file(tmp_path: Path, digest: str) -> None:
    (tmp_path / "secret.bin").write_bytes(b"secret")
    (tmp_path / "run.blobs").mkdir()
    assert fetch(log(tmp_path), Image("", digest, source="blob")) is None


def test_a_fifo_in_a_blobs_place_does_not_hang(tmp_path: Path) -> None:
    (tmp_path / "run.blobs").mkdir()
    os.mkfifo(tmp_path / "run.blobs" / f"{DIGEST}.png")
    assert fetch(log(tmp_path), Image("image/png", f"sha256:{DIGEST}", source="blob")) is None


def test_a_log_without_a_folder_keeps_the_bytes_in_its_lines(tmp_path: Path) -> None:
    image = inline(picture())
    assert (image.source, image.digest, image.data) == ("inline", f"sha256:{DIGEST}", PIXELS)
    read = image._replace(data=None, extra={"data": base64.b64encode(PIXELS).decode()})
    assert fetch(log(tmp_path), read) == PIXELS
    for wrong in ("not base64!", 7, None, base64.b64encode(b"other").decode()):
        assert fetch(log(tmp_path), read._replace(extra={"data": wrong})) is None
