"""Codex's logs that are kept otherwise: forks that hold only what is new, and compressed ones."""

from __future__ import annotations

import json
import random
from pathlib import Path

import build
import pytest
import zstandard
from build import codex_call, codex_meta, codex_output
from build import codex_said as said

from sessionlog.errors import Unreadable
from sessionlog.forks import fork
from sessionlog.listing import glance, list_sessions
from sessionlog.reader import load
from sessionlog.repairs import repair
from sessionlog.session import Session
from sessionlog.stores import zstd
from sessionlog.stores.zstd import is_packed, lines_of

PARENT = "01a22748-f798-7db0-b19d-000000000001"
CHILD = "01a22748-f798-7db0-b19d-000000000002"
GRANDCHILD = "01a22748-f798-7db0-b19d-000000000003"


def numbered(lines: list[bytes], first: int = 0) -> list[bytes]:
    values = [json.loads(line) for line in lines]
    return [build.line({**value, "ordinal": n}) for n, value in enumerate(values, first)]


def rollout(folder: Path, id: str, lines: list[bytes], first: int = 0, tail: bytes = b"") -> Path:
    name = f"rollout-2026-11-27T22-00-00-{id}.jsonl"
    return build.log(folder / name, numbered(lines, first), tail)


def parent(folder: Path, tail: bytes = b"") -> Path:
    lines = [codex_meta(PARENT), said("user", "Fix it"), codex_call("c1"), codex_output("c1"),
             codex_call("c2"), said("user", "After the fork")]  # fmt: skip
    return rollout(folder, PARENT, lines, tail=tail)


def forked(id: str, of: str, end: int, *lines: bytes) -> list[bytes]:
    base = {"thread_id": of, "end_ordinal_exclusive": end, "end_byte_offset": 0}
    return [codex_meta(id, forked_from_id=of, forked_from_ordinal_exclusive=end,
                       history_base=base), *lines]  # fmt: skip


def child(folder: Path, tail: bytes = b"") -> Path:
    lines = forked(CHILD, PARENT, 5, said("user", "Go on"), said("assistant", "Yes."))
    return rollout(folder, CHILD, lines, 5, tail)


def texts(read: Session) -> list[str]:
    return [m.activity.id if m.activity else m.text for m in read.messages]


# -- forks ------------------------------------------------------------------------------------


def test_a_fork_is_read_behind_its_parents_records(tmp_path: Path) -> None:
    parent(tmp_path)
    read = load(child(tmp_path))
    assert texts(read) == ["Fix it", "c1", "c1", "c2", "Go on", "Yes."]
    assert (read.id, read.meta.forked_from and read.meta.forked_from.id) == (CHILD, PARENT)
    assert [call.n for call in read.open_calls] == [4]
    assert read.damages == ()


def test_a_fork_whose_parent_is_gone_is_what_its_file_holds(tmp_path: Path) -> None:
    read = load(child(tmp_path))
    assert texts(read) == ["Go on", "Yes."]
    assert read.damages == ()
    assert PARENT in read.events[0].text


def test_a_parent_is_found_by_the_time_in_its_id(tmp_path: Path) -> None:
    # ids have the world's time, folders the local one
    parent(tmp_path / "sessions/2026/11/28")
    read = load(child(tmp_path / "sessions/2026/12/24"))
    assert len(read.messages) == 6
    archived = tmp_path / "2"
    parent(archived / "archived_sessions")
    assert len(load(child(archived / "sessions/2026/12/24")).messages) == 6


def test_a_fork_of_a_fork_has_all_of_its_forebears(tmp_path: Path) -> None:
    parent(tmp_path)
    child(tmp_path)
    lines = forked(GRANDCHILD, CHILD, 7, said("user", "Once more"))
    read = load(rollout(tmp_path, GRANDCHILD, lines, 7))
    assert texts(read) == ["Fix it", "c1", "c1", "c2", "Go on", "Once more"]
    early = load(rollout(tmp_path / "x", GRANDCHILD, forked(GRANDCHILD, CHILD, 3), 7))
    assert early.messages == ()  # its parent is not there


def test_a_fork_that_ends_within_its_grandparent_has_no_more_of_it(tmp_path: Path) -> None:
    parent(tmp_path)
    child(tmp_path)
    lines = forked(GRANDCHILD, CHILD, 3, said("user", "Once more"))
    assert texts(load(rollout(tmp_path, GRANDCHILD, lines, 3))) == ["Fix it", "c1", "Once more"]


def test_forks_in_a_circle_are_what_their_files_hold(tmp_path: Path) -> None:
    rollout(tmp_path, PARENT, forked(PARENT, CHILD, 9, said("user", "a")))
    path = rollout(tmp_path, CHILD, forked(CHILD, PARENT, 9, said("user", "b")))
    assert texts(load(path)) == ["b"]


def test_what_a_log_says_is_never_taken_for_a_path(tmp_path: Path) -> None:
    build.log(tmp_path / "rollout-x-..jsonl", numbered([said("user", "a")]))
    path = rollout(tmp_path, CHILD, forked(CHILD, "../x", 9, said("user", "b")))
    assert texts(load(path)) == ["b"]


def test_what_the_parent_lost_behind_the_fork_is_none_of_its(tmp_path: Path) -> None:
    parent(tmp_path, tail=b'{"timestamp":"2026')
    assert load(child(tmp_path)).damages == ()


def test_a_torn_tail_of_the_fork_is_its_own(tmp_path: Path) -> None:
    parent(tmp_path)
    read = load(child(tmp_path, tail=b'{"timestamp":"2026'))
    assert read.truncated
    assert len(read.damages) == 1


def test_a_repair_of_a_fork_is_a_whole_log(tmp_path: Path) -> None:
    old, source = parent(tmp_path), child(tmp_path)
    before = old.read_bytes(), source.read_bytes()
    new = repair(source)
    values = [json.loads(line) for line in new.read_bytes().splitlines()]
    assert values[0]["payload"]["history_base"] is None
    assert [value["ordinal"] for value in values] == list(range(len(values)))
    assert [v["payload"].get("call_id") for v in values[3:7]] == ["c1", "c1", "c2", "c2"]
    old.unlink()
    assert texts(load(new)) == ["Fix it", "c1", "c1", "c2", "c2", "Go on", "Yes."]
    assert before[1] == source.read_bytes()


def test_a_message_of_the_parent_can_be_forked_from(tmp_path: Path) -> None:
    parent(tmp_path)
    assert texts(load(fork(child(tmp_path), 1))) == ["Fix it"]


def test_a_row_of_a_fork_tells_the_same_as_its_log(tmp_path: Path) -> None:
    parent(tmp_path)
    path = child(tmp_path)
    row, read = glance(str(path)), load(path)
    assert (row.id, row.title, row.status) == (read.id, read.title, read.status)
    assert row.forked_from == read.meta.forked_from


# -- compressed -------------------------------------------------------------------------------


def packed(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstandard.ZstdCompressor().compress(data))
    return path


def noise(lines: int) -> list[bytes]:
    """Messages that do not pack well."""
    chance = random.Random(7)
    return [said("user", chance.randbytes(2000).hex()) for _ in range(lines)]


def test_a_compressed_log_reads_as_the_plain_one(tmp_path: Path) -> None:
    data = b"".join(build.codex_healthy())
    path = packed(tmp_path / f"{build.CODEX_FILE}.zst", data)
    plain = load(build.log(tmp_path / "plain" / build.CODEX_FILE, [data]))
    read = load(path)
    assert (read.records, read.status, read.id) == (plain.records, plain.status, plain.id)
    assert glance(str(path)).title == "Fix it"


def test_a_repair_of_a_compressed_log_is_plain_and_beside_it(tmp_path: Path) -> None:
    source = packed(
        tmp_path / f"{build.CODEX_FILE}.zst", b"".join([codex_meta(), codex_call("c1")])
    )
    before = source.read_bytes()
    new = repair(source)
    assert (new.parent, new.suffix) == (tmp_path, ".jsonl")
    assert load(new).open_calls == ()
    assert source.read_bytes() == before


def test_a_compressed_parent_is_followed(tmp_path: Path) -> None:
    plain = parent(tmp_path)
    packed(plain.with_suffix(".jsonl.zst"), plain.read_bytes())
    plain.unlink()
    path = child(tmp_path)
    assert len(load(path).messages) == 6
    packed(path.with_suffix(".jsonl.zst"), path.read_bytes())
    assert len(load(path.with_suffix(".jsonl.zst")).messages) == 6


def test_several_frames_are_one_log(tmp_path: Path) -> None:
    pieces = [zstandard.ZstdCompressor().compress(line) for line in build.codex_healthy()]
    path = tmp_path / f"{build.CODEX_FILE}.zst"
    path.write_bytes(b"".join(pieces))
    assert len(load(path).history) == 4


@pytest.mark.parametrize("left", [0.5, 0.9, 0.999])
def test_a_cut_file_gives_what_can_be_read(tmp_path: Path, left: float) -> None:
    data = b"".join([codex_meta(), *noise(300)])
    whole = packed(tmp_path / "a.jsonl.zst", data).read_bytes()
    path = tmp_path / "cut.jsonl.zst"
    path.write_bytes(whole[: int(len(whole) * left)])
    read = load(path)
    assert 0 < len(read.history) < 300
    assert read.damages
    assert read.status == "truncated"


def test_damaged_bytes_do_not_raise(tmp_path: Path) -> None:
    data = b"".join([codex_meta(), *noise(300)])
    whole = bytearray(packed(tmp_path / "a.jsonl.zst", data).read_bytes())
    whole[len(whole) // 2 :] = b"\0" * (len(whole) - len(whole) // 2)
    path = tmp_path / "bad.jsonl.zst"
    path.write_bytes(whole)
    assert load(path).damages


def test_a_file_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "bomb.jsonl.zst", b"0" * (80 << 20))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(Unreadable, match="unpacks to more than 64 MB"):
        list(lines_of(str(path)))
    assert "unpacks to more" in (glance(str(path)).reason or "")


SKIPPED = b"\x50\x2a\x4d\x18\x04\0\0\0size"


def test_frames_that_hold_no_text_are_passed_over(tmp_path: Path) -> None:
    pack = zstandard.ZstdCompressor().compress
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(b"".join(SKIPPED + pack(data) for data in build.codex_healthy()) + SKIPPED)
    assert (len(load(path).history), glance(str(path)).title) == (4, "Fix it")
    path.write_bytes(SKIPPED[:4] + (9000).to_bytes(4, "little") + bytes(9000) + pack(b""))
    assert is_packed(path.read_bytes()[:4096])
    assert not is_packed(SKIPPED + b"{}{}{}")


def test_what_nothing_can_be_read_of_says_why(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.jsonl.zst", b"".join(build.codex_healthy()))
    data = path.read_bytes()
    words = zstandard.train_dictionary(1024, [b"some words %d " % n * 9 for n in range(900)])
    using = zstandard.ZstdCompressor(dict_data=words).compress(b"some words")
    for broken, why in ((data[:-20], "it is cut"), (using, "a dictionary, which is not in it")):
        path.write_bytes(broken)
        with pytest.raises(Unreadable, match=why):
            load(path)
        assert why in (glance(str(path)).reason or "")


def test_padding_does_not_raise_how_much_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zstd, "_MOST", 1 << 20)
    path = packed(tmp_path / "bomb.jsonl.zst", b"0\n" * (1 << 20))
    with path.open("ab") as file:
        file.write(b"\x50\x2a\x4d\x18\0\0\x10\0" + bytes(1 << 20))
    with pytest.raises(Unreadable, match="unpacks to more than 1 MB"):
        load(path)


def test_a_packed_line_that_nobody_could_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zstd, "_LONGEST", 1 << 20)
    path = packed(tmp_path / "a.jsonl.zst", (codex_meta() + b" " * (1 << 20) + b"\n") * 3)
    assert len(list(lines_of(str(path)))) == 6
    packed(path, codex_meta() + b" " * (3 << 20))
    with pytest.raises(Unreadable, match="a line of more than 1 MB"):
        load(path)


def test_the_plain_log_wins(tmp_path: Path) -> None:
    plain = build.log(tmp_path / build.CODEX_FILE, build.codex_healthy())
    packed(tmp_path / f"{build.CODEX_FILE}.zst", plain.read_bytes())
    assert [row.path for row in list_sessions(tmp_path)] == [str(plain)]
