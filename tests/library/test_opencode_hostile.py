"""OpenCode databases of which anything may be wrong: none stops a listing, and none is hidden."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import opencode_logs as oc
import pytest
from opencode_logs import SESSION, answer, healthy, info, text, user

from sessionlog.errors import Unreadable
from sessionlog.listing import list_sessions, scan
from sessionlog.logfile import sessions_in
from sessionlog.lookup import find
from sessionlog.reader import load
from sessionlog.records import Entry, Status
from sessionlog.stores import sqlite

MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""Of a journal, at its begin, and behind the name of another file at its end."""
LOOSE = """
CREATE TABLE session (id, project_id, parent_id, slug, directory, title, version, cost, model,
  tokens_input, revert, time_created, time_updated, agent);
CREATE TABLE message (id, session_id, time_created, time_updated, data);
CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data);
"""
"""Tables that take any value for any column, and may have any row twice."""
ODD: tuple[Any, ...] = (
    None, b"\xff\x00blob", -1, 2**62, 1.5, float("inf"), "", "x\x1b]0;pwn\x07\u202e", "{", "a/b",
    "..", '{"a":' + "[" * 1000,
)  # fmt: skip


def loose(path: Path, *changes: tuple[str, Any], schema: str = LOOSE) -> Path:
    """A database of one healthy session whose tables take anything, changed by some statements."""
    strict = path.with_name("strict.db")
    oc.database(strict, healthy())
    with closing(sqlite3.connect(path)) as db:
        db.executescript(schema)
        db.execute("ATTACH ? AS strict", (str(strict),))
        for table in ("session", "message", "part"):
            have = [row[1] for row in db.execute(f"PRAGMA strict.table_info({table})")]
            mine = {row[1] for row in db.execute(f"PRAGMA main.table_info({table})")}
            names = ", ".join(name for name in have if name in mine)
            db.execute(f"INSERT INTO main.{table} ({names}) SELECT {names} FROM strict.{table}")
        db.commit()
        for statement, values in changes:
            db.execute(statement, values)
        db.commit()
    strict.unlink()
    return path


def the_row(path: Path) -> Entry:
    (row,) = scan([str(path)])
    return row


def test_a_journal_that_names_another_file_is_never_rolled_back(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    db = oc.database(tmp_path / "opencode.db", healthy()).parent
    name, pages = os.fsencode(victim), db.stat().st_size // 4096
    head = (MAGIC + struct.pack(">IIIII", 0, 1234, pages, 512, 4096)).ljust(512, b"\0")
    tail = struct.pack(">II", len(name), sum(name)) + MAGIC
    journal = head + struct.pack(">I", 0x40000000 // 4096 + 1) + name + tail
    (tmp_path / "opencode.db-journal").write_bytes(journal)
    row = the_row(db)
    assert (row.status, row.format) == (None, "unknown")
    assert "several databases" in (row.reason or "")
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("end", ["-wal", "-journal", "-shm"])
@pytest.mark.parametrize("kind", ["folder", "link", "fifo"])
def test_what_is_beside_a_database_has_to_be_a_file(tmp_path: Path, end: str, kind: str) -> None:
    db = oc.database(tmp_path / "opencode.db", healthy()).parent
    beside = tmp_path / f"opencode.db{end}"
    other = tmp_path / "other"
    other.write_text("x" * 100)
    {
        "folder": beside.mkdir,
        "link": lambda: beside.symlink_to(other),
        "fifo": lambda: os.mkfifo(beside),
    }[kind]()
    assert f"{end} is no regular file" in (the_row(db).reason or "")
    assert other.read_text() == "x" * 100


def test_a_database_under_a_link_is_read_with_what_is_beside_it(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    with closing(sqlite3.connect(oc.database(real / "opencode.db", healthy()).parent)) as db:
        db.execute("UPDATE session SET title = 'In the log'")
        db.commit()
        for name in ("opencode.db", "opencode.db-wal"):  # as a killed writer leaves them
            (tmp_path / name).write_bytes((real / name).read_bytes())
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "opencode.db"
    link.symlink_to(tmp_path / "opencode.db")
    assert the_row(link).title == "In the log"


@pytest.mark.parametrize(
    "asked",
    [
        "ATTACH '/tmp/x' AS x", "DELETE FROM session", "SELECT load_extension('x')",
        "VACUUM INTO '/tmp/x'", "SELECT hex(data) FROM part", "PRAGMA writable_schema = ON",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n",
        "SELECT * FROM peek", "SELECT * FROM json_each('[]')", "CREATE TEMP TABLE t (x)",
    ],
)  # fmt: skip
def test_a_question_may_read_tables_and_nothing_else(tmp_path: Path, asked: str) -> None:
    path = loose(tmp_path / "opencode.db", ("CREATE VIEW peek AS SELECT * FROM part", ()))
    with pytest.raises(Unreadable):
        sqlite.read(str(path), lambda db: db.execute(asked).fetchall())


@pytest.mark.parametrize("table", ["session", "message", "part"])
@pytest.mark.parametrize("odd", ODD)
def test_one_odd_value_hides_no_session_and_list_and_check_agree(
    tmp_path: Path, table: str, odd: Any
) -> None:
    with closing(sqlite3.connect(loose(tmp_path / "x.db"))) as db:
        names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    for name in names:
        last = f"rowid = (SELECT max(rowid) FROM {table})"
        path = tmp_path / f"{name}.db"
        loose(path, (f"UPDATE {table} SET {name} = ? WHERE {last}", (odd,)))
        rows = scan([str(path)])
        assert rows, name
        for row in rows:
            if row.status is None:
                assert row.reason, name
                continue
            read = load(row.path)
            assert (row.status, row.ok, row.reason) == (read.status, read.ok, read.reason), name
            assert row.id == read.id, name


@pytest.mark.parametrize("id", ["a/b", "..", ".", "-x", 5, 1.5, "%41", "x\x1by\nz", b"s\xff", "é"])
def test_a_session_with_any_id_can_be_opened(tmp_path: Path, id: Any) -> None:
    path = loose(
        tmp_path / "opencode.db", ("UPDATE session SET id = ?", (id,)),
        ("UPDATE message SET session_id = ?", (id,)), ("UPDATE part SET session_id = ?", (id,)),
    )  # fmt: skip
    row = the_row(path)
    assert row.status is Status.COMPLETE
    assert os.path.dirname(row.path) == str(path)
    assert row.path.isprintable()
    assert find(row.path, []).id == row.id
    assert [message.text for message in load(row.path).messages][-1] == "Done."


@pytest.mark.parametrize("id", [None, "", b""])
def test_rows_without_an_id_are_told_beside_the_sessions(tmp_path: Path, id: Any) -> None:
    path = loose(tmp_path / "x.db", ("INSERT INTO session (id, title) VALUES (?, 'x')", (id,)))
    assert sessions_in(str(path)) == [f"{path}/{SESSION}", str(path)]
    (lost,) = [row for row in scan([str(path)]) if row.status is None]
    assert "1 of its sessions without an id" in (lost.reason or "")


def test_sessions_that_name_each_other_as_parents_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    for id, parent in (("a", "a"), ("b", "c"), ("c", "b"), ("top", None), ("below", "top")):
        oc.database(path, [], info(f"ses_{id}", parentID=parent and f"ses_{parent}"))
    listed = {os.path.basename(name) for name in sessions_in(str(path))}
    assert listed == {"ses_a", "ses_b", "ses_c", "ses_top"}


@pytest.mark.parametrize(
    ("table", "column"),
    [("session", "id"), ("message", "session_id"), ("part", "session_id"), ("message", "data")],
)
def test_a_column_that_has_to_be_there_is_named(tmp_path: Path, table: str, column: str) -> None:
    path = loose(tmp_path / "opencode.db", (f"ALTER TABLE {table} RENAME {column} TO other", ()))
    row = the_row(path)
    assert (row.status, row.reason) == (None, f"the table {table} has no column {column}")


def test_messages_without_times_are_read_by_their_ids(tmp_path: Path) -> None:
    path = loose(tmp_path / "x.db", ("ALTER TABLE message DROP COLUMN time_created", ()))
    assert the_row(path).stop == "Done."
    assert load(the_row(path).path).messages[0].text == "Fix it"


def test_a_database_that_is_cut_off_or_overwritten_is_listed_with_the_reason(
    tmp_path: Path,
) -> None:
    whole = oc.database(tmp_path / "opencode.db", healthy()).parent.read_bytes()
    for n, data in enumerate((whole[:5000], whole[:100], whole[:100] + b"\xff" * 9000)):
        (tmp_path / f"{n}").mkdir()
        path = tmp_path / f"{n}" / "opencode.db"
        path.write_bytes(data)
        (row,) = list_sessions(path.parent)
        assert row.status is None
        assert "cannot be read" in (row.reason or "")
        with pytest.raises(Unreadable, match="cannot be read"):
            load(path / SESSION)


def test_a_damaged_page_costs_what_it_holds(tmp_path: Path) -> None:
    messages = [user(1, "Fix it"), *(answer(n, "y" * 3000) for n in range(2, 40))]
    place = oc.database(tmp_path / "opencode.db", messages)
    data = bytearray(place.parent.read_bytes())
    with closing(sqlite3.connect(place.parent)) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'part'").fetchone()
    child = struct.unpack_from(">H", data, (root - 1) * 4096 + 12 + 2 * 15)[0]
    page = struct.unpack_from(">I", data, (root - 1) * 4096 + child)[0]
    data[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    place.parent.write_bytes(data)
    read = load(place)
    assert read.messages[0].text == "Fix it"
    assert len(read.messages) > 5
    assert [damage.why for damage in read.damages] == ["not JSON"]


def test_a_generated_column_is_left_out(tmp_path: Path) -> None:
    made = "cost, huge AS (hex(zeroblob(450000000))), model AS (hex(zeroblob(450000000))),"
    path = loose(tmp_path / "x.db", schema=LOOSE.replace("cost, model,", made))
    assert the_row(path).stop == "Done."
    sizes = "data AS (hex(zeroblob(500000)))"
    path = loose(tmp_path / "y.db", schema=LOOSE.replace("time_updated, data", f"x, {sizes}"))
    assert "has no column data" in (the_row(path).reason or "")


def test_rows_that_are_more_than_the_file_can_hold_are_refused(tmp_path: Path) -> None:
    """A column that came later is stored once, and stands in every row before it."""
    head, _, part = LOOSE.rpartition("CREATE")
    schema = f"{head}CREATE{part.replace(', data', '')}"
    put = "INSERT INTO part (message_id, session_id) VALUES ('m', ?)"
    more = f"ALTER TABLE part ADD COLUMN data DEFAULT '{'x' * 100_000}'"
    changes = [(put, (SESSION,))] * 50
    path = loose(tmp_path / "x.db", *changes, (more, ()), schema=schema)
    with pytest.raises(Unreadable, match="more than the file can hold"):
        load(path / SESSION)


LOCKS = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
for asked in sys.argv[2:]:
    db.execute(asked)
print("ready", flush=True)
sys.stdin.read()
"""
"""A writer that has the database for itself."""
WRITES, ALONE = "UPDATE session SET title = 'b'", "PRAGMA locking_mode = EXCLUSIVE"


@contextmanager
def locked(path: Path, *asked: str) -> Iterator[None]:
    argv = [sys.executable, "-c", LOCKS, str(path), *asked]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        before = sorted(os.listdir(path.parent))
        yield
        assert sorted(os.listdir(path.parent)) == before
        process.kill()


def test_a_database_that_its_writer_locks_says_so(tmp_path: Path) -> None:
    place = oc.database(tmp_path / "opencode.db", healthy())
    with locked(place.parent, WRITES, ALONE, WRITES):
        (row,) = list_sessions(tmp_path)
        assert (row.status, row.path) == (None, str(place.parent))
        assert "locked by the program that writes it; try again" in (row.reason or "")
        assert "locked" in (find(str(place), []).reason or "")
    assert list_sessions(tmp_path)[0].title == "b"


def test_beside_a_writer_that_shares_nothing_nothing_is_made(tmp_path: Path) -> None:
    place = oc.database(tmp_path / "opencode.db", healthy())
    with locked(place.parent, ALONE, WRITES):
        assert list_sessions(tmp_path)[0].title == "b"


def test_parts_whose_message_is_gone_are_kept_and_end_nothing(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    oc.database(path, healthy())
    with closing(sqlite3.connect(path)) as db:
        lost = answer(9, text("Left over", 900), "broken")
        oc.put_message(db, SESSION, lost)
        id = lost["info"]["id"]
        db.execute("DELETE FROM message WHERE id = ?", (id,))
        db.execute(
            "UPDATE part SET data = '{' WHERE message_id = ? AND data LIKE '%broken%'", (id,)
        )
        db.commit()
    row, read = the_row(path), load(path / SESSION)
    assert (row.status, row.stop, row.task) == (read.status, read.ending.text, read.meta.task)
    assert row.stop == "Done."
    assert "Left over" in [message.text for message in (n.message for n in read.history)]
    assert "Left over" not in [message.text for message in read.messages]
    assert [damage.why for damage in read.damages] == ["not JSON"]


def test_a_path_that_is_no_text_can_be_opened(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/a\xff.db"
    os.rename(oc.database(tmp_path / "opencode.db", healthy()).parent, path)
    (name,) = sessions_in(os.fsdecode(path))
    assert find(name, []).stop == "Done."


def test_a_numbered_message_may_have_any_number(tmp_path: Path) -> None:
    place = oc.database(tmp_path / "opencode.db", [])
    with closing(sqlite3.connect(place.parent)) as db:
        db.execute("CREATE TABLE session_message (id, session_id, type, seq, time_created, data)")
        for seq in (1, "2", b"3", None, 4.5):
            body = json.dumps({"text": f"{seq!r}", "time": {"created": oc.ms(1)}})
            row = (f"msg_{seq!r}", SESSION, "user", seq, oc.ms(1), body)
            db.execute("INSERT INTO session_message VALUES (?,?,?,?,?,?)", row)
        db.commit()
    said = [message.text for message in load(place).messages]
    assert sorted(said) == sorted(["1", "'2'", "b'3'", "None", "4.5"])
