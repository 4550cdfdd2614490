"""Where OpenCode keeps its sessions: all ways give the same lines, and none is touched."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import opencode_logs as oc
import pytest
from opencode_logs import answer, document, export, healthy, info, killed, part, tool, tree, user

from sessionlog.formats.opencode import OpenCode
from sessionlog.listing import glance
from sessionlog.logfile import open_log, sessions_in
from sessionlog.reader import load
from sessionlog.records import Status
from sessionlog.session import Session
from sessionlog.stores.opencode_db import OpenCodeDatabase
from sessionlog.stores.opencode_export import OpenCodeExport
from sessionlog.stores.opencode_tree import OpenCodeTree

DB = OpenCodeDatabase()
WRITER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA wal_autocheckpoint = 0")
db.execute("UPDATE session SET title = 'Written', time_updated = ?", (int(sys.argv[2]),))
db.commit()
print("ready", flush=True)
sys.stdin.read()
"""
"""A process that has written to a database and has it open."""


def said(read: Session) -> list[str]:
    return [message.text for message in read.messages]


def state(folder: Path, head: str = "") -> dict[str, tuple[bytes, int]]:
    """Every file of a folder whose name begins so, with its content and time."""
    files = sorted(p for p in folder.iterdir() if p.name.startswith(head))
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in files}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A database with one session."""
    return oc.database(tmp_path / "opencode.db", healthy())


@pytest.fixture
def writer(place: Path) -> Iterator[subprocess.Popen[str]]:
    """A living writer, whose last words stand in the -wal alone."""
    argv = [sys.executable, "-c", WRITER, str(place.parent), str(oc.ms(10**9))]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


# -- one document -----------------------------------------------------------------------------


def test_all_ways_of_keeping_a_session_read_alike(tmp_path: Path, place: Path) -> None:
    pretty = export(tmp_path / "pretty.json", healthy())
    flat = tmp_path / "flat.json"
    flat.write_text(json.dumps({"info": info(), "messages": healthy()}))
    files = tree(tmp_path / "storage", healthy())
    reads = [load(path, strict=True) for path in (pretty, flat, files, place)]
    assert [said(read) for read in reads] == [["Fix it", "", "done", "Done."]] * 4
    assert {(read.id, read.title, read.started) for read in reads} == {
        (oc.SESSION, "Fix it", "2026-11-27T22:00:00Z")
    }
    assert {tuple(r.key for r in read.records[1:]) for read in reads} == {
        tuple(r.key for r in reads[0].records[1:])
    }


def test_a_document_keeps_numbers_and_members_that_nobody_knows(tmp_path: Path) -> None:
    data = document(healthy(), **{"extra": {"n": 0}}).replace(b'"n": 0', b'"n": 1e400')
    (tmp_path / "x.json").write_bytes(data)
    head = next(OpenCodeExport().lines(str(tmp_path / "x.json"), ""))
    assert b'"extra":{' in head
    assert b"1e400" in head


def test_a_document_that_is_cut_off_gives_all_that_is_whole(tmp_path: Path) -> None:
    data = document(killed())
    path = tmp_path / "x.json"
    path.write_bytes(data[:-150])
    read = load(path)
    assert said(read) == ["Fix it", "Two things.", "", "done"]
    assert [damage.torn for damage in read.damages] == [True]
    assert read.status is Status.TRUNCATED


def test_a_document_that_is_cut_off_between_messages_is_truncated(tmp_path: Path) -> None:
    data, path = document(killed()).rstrip(), tmp_path / "x.json"
    whole = 0
    for cut in range(1, 60):
        path.write_bytes(data[:-cut])
        read = load(path)
        assert [damage.torn for damage in read.damages] == [True], data[-cut - 20 : -cut]
        whole += len(read.messages) == 5
    assert whole


def test_garbage_in_a_document_costs_what_it_hits(tmp_path: Path) -> None:
    first, second = document(healthy()).split(b'"text": "Done."')
    path = tmp_path / "x.json"
    path.write_bytes(first + b'"text": "Done." {"broken' + second)
    read = load(path)
    assert said(read)[:3] == ["Fix it", "", "done"]
    assert read.damages
    begun = document(healthy()).index(b'"messages"')
    path.write_bytes(document(healthy())[: begun - 20] + b"@" + document(healthy())[begun - 20 :])
    assert said(load(path)) == ["Fix it", "", "done", "Done."]


def test_other_documents_are_none_of_opencode(tmp_path: Path) -> None:
    for head in (
        b'{"info": {"exit_status": "submitted"}, "messages": []}', b'{"id": "x"}', b"[1]", b"",
    ):  # fmt: skip
        assert not OpenCodeExport().keeps("/x.json", head)


# -- a tree of files --------------------------------------------------------------------------


def test_the_first_tree_reads_alike(tmp_path: Path) -> None:
    root, (first, *rest) = tmp_path / "storage" / "session", healthy()
    for message in (first, *rest):
        own = message["info"]
        oc._json(root / "message" / oc.SESSION / f"{own['id']}.json", own)
        for one in message["parts"]:
            oc._json(root / "part" / oc.SESSION / own["id"] / f"{one['id']}.json", one)
    oc._json(root / "info" / f"{oc.SESSION}.json", info())
    read = load(root / "info" / f"{oc.SESSION}.json", strict=True)
    assert said(read) == ["Fix it", "", "done", "Done."]


def test_messages_of_a_tree_come_in_the_order_of_their_times(tmp_path: Path) -> None:
    messages = healthy()
    messages[0]["info"]["id"], messages[2]["info"]["id"] = "msg_z", "msg_a"
    assert said(load(tree(tmp_path, messages))) == ["Fix it", "", "done", "Done."]


def test_a_damaged_file_of_a_tree_costs_itself(tmp_path: Path) -> None:
    path = tree(tmp_path, healthy())
    (broken,) = (tmp_path / "part" / oc.ident("msg", 1)).iterdir()
    broken.write_bytes(b'{"type":"text","te')
    read = load(path)
    assert said(read) == ["", "done", "Done."]
    assert [damage.why for damage in read.damages] == ["not JSON"]


def test_a_tree_is_marked_anew_when_its_last_message_grows(tmp_path: Path) -> None:
    path = tree(tmp_path, killed())
    store = OpenCodeTree()
    before = store.mark(str(path), "")
    grown = tool(202, "running", metadata={"output": "started\nmore\n"})
    oc._json(tmp_path / "part" / oc.ident("msg", 2) / f"{grown['id']}.json", grown)
    assert store.mark(str(path), "") != before


# -- a database -------------------------------------------------------------------------------


def test_a_database_without_a_writer_is_read_where_it_is(place: Path) -> None:
    before = state(place.parent.parent)
    assert said(load(place)) == ["Fix it", "", "done", "Done."]
    assert glance(str(place)).title == "Fix it"
    assert state(place.parent.parent) == before
    assert list(before) == ["opencode.db"]


def test_a_database_is_read_beside_its_writer(place: Path, writer: object) -> None:
    before = state(place.parent.parent)
    assert load(place).title == "Written"
    assert sessions_in(str(place.parent)) == [str(place)]
    after = state(place.parent.parent)
    shared = {"opencode.db-shm"}  # the lock table that readers and writers have in common
    assert after.keys() == before.keys()
    assert {k: v for k, v in after.items() if k not in shared} == {
        k: v for k, v in before.items() if k not in shared
    }


def test_what_a_killed_writer_left_is_read_from_a_copy(
    place: Path, writer: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    writer.kill()
    writer.wait()
    before = state(place.parent.parent, "opencode")
    assert before["opencode.db-wal"][0]
    assert load(place).title == "Written"
    assert state(place.parent.parent, "opencode") == before
    assert list(temporary.iterdir()) == []


def test_a_session_is_running_while_who_wrote_it_lives(
    place: Path, writer: subprocess.Popen[str]
) -> None:
    form = OpenCode()
    alive = form.alive(str(place), oc.SESSION)
    assert alive is not None
    assert f"pid {writer.pid}" in alive
    older = place.parent.with_name("older.db")
    shutil.copy(place.parent, older)
    assert form.alive(f"{older}/{oc.SESSION}", oc.SESSION) is None
    assert form.alive(str(export(place.parent.parent / "x.json", killed())), oc.SESSION) is None


def test_a_session_that_was_over_before_the_client_began_is_not_running(place: Path) -> None:
    argv = [sys.executable, "-c", WRITER, str(place.parent), "1000"]
    with sqlite3.connect(place.parent) as db:
        db.execute("UPDATE message SET time_updated = 1000")
        db.execute("UPDATE part SET time_updated = 1000")
    db.close()
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert OpenCode().alive(str(place), oc.SESSION) is None
        process.kill()


def test_a_listing_has_the_sessions_that_a_person_began_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    for n in (1, 2, 3):
        oc.database(path, [], info(f"ses_{n}", time={"created": oc.ms(n), "updated": oc.ms(n)}))
    oc.database(path, [], info("ses_child", parentID="ses_2"))
    oc.database(path, [], info("ses_lost", parentID="ses_gone"))
    assert DB.sessions(str(path)) == ["ses_3", "ses_2", "ses_1", "ses_lost"]
    form = OpenCode()
    assert form.subagents(f"{path}/ses_2") == [f"{path}/ses_child"]


def test_a_row_of_a_database_says_what_reading_it_says(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    oc.database(path, healthy())
    row, read = DB.glimpse(str(path), oc.SESSION), load(path / oc.SESSION)
    assert row is not None
    assert (row.id, row.path, row.title, row.model) == (
        read.id, f"{path}/{oc.SESSION}", read.title, "m",
    )  # fmt: skip
    assert (row.status, row.ok, row.reason, row.stop) == (
        read.status, read.ok, read.reason, read.ending.text,
    )  # fmt: skip
    assert (row.started, row.task, row.workdir) == (read.started, "Fix it", "/srv/app")


def test_a_row_follows_its_session(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    oc.database(path, healthy())
    oc.database(path, [], info("ses_other"))
    assert DB.glimpse(str(path), oc.SESSION) is not None
    db = sqlite3.connect(path)
    oc.put_message(db, oc.SESSION, user(5, "More"))
    oc.put_message(db, oc.SESSION, answer(6, "Yes."))
    db.execute("DELETE FROM session WHERE id = 'ses_other'")
    db.commit()
    db.close()
    row = DB.glimpse(str(path), oc.SESSION)
    assert row is not None
    assert row.stop == "Yes."
    assert DB.sessions(str(path)) == [oc.SESSION]


def test_a_session_in_the_middle_of_something_is_read_whole(tmp_path: Path) -> None:
    open_call = answer(4, tool(401, "running"), finish=None)
    messages = [user(1, "Before"), answer(2, "Yes."), user(3, "Fix it"), open_call]
    oc.database(tmp_path / "opencode.db", messages)
    assert DB.glimpse(str(tmp_path / "opencode.db"), oc.SESSION) is None
    assert glance(str(tmp_path / "opencode.db" / oc.SESSION)).stop == "in bash: ls"


def test_columns_that_are_missing_or_new_do_no_harm(place: Path) -> None:
    db = sqlite3.connect(place.parent)
    db.execute("ALTER TABLE session DROP COLUMN model")
    db.execute("ALTER TABLE session ADD COLUMN surprise text DEFAULT 'x'")
    db.execute("ALTER TABLE message ADD COLUMN surprise text DEFAULT 'x'")
    db.commit()
    db.close()
    assert said(load(place, strict=True)) == ["Fix it", "", "done", "Done."]


def test_a_row_that_is_no_json_is_a_damage_and_costs_itself(place: Path) -> None:
    db = sqlite3.connect(place.parent)
    db.execute("UPDATE part SET data = '{\"type\":' WHERE data LIKE '%Fix it%'")
    db.commit()
    db.close()
    read = load(place)
    assert said(read) == ["", "done", "Done."]
    assert [damage.why for damage in read.damages] == ["not JSON"]


def test_sessions_of_version_2_are_read_from_their_own_table(place: Path) -> None:
    db = sqlite3.connect(place.parent)
    db.execute("CREATE TABLE session_message (id, session_id, type, seq, time_created, data)")
    oc.put_session(db, info("ses_v2"))
    said_by = [("assistant", 2, {"content": [{"type": "text", "text": "Yes"}], "finish": "stop"}),
               ("user", 1, {"text": "Go"})]  # fmt: skip
    for type, seq, data in said_by:
        body = json.dumps({**data, "time": {"created": oc.ms(seq), "completed": oc.ms(seq)}})
        row = (f"msg_{seq}", "ses_v2", type, seq, oc.ms(1), body)
        db.execute("INSERT INTO session_message VALUES (?,?,?,?,?,?)", row)
    db.commit()
    db.close()
    read = load(place.with_name("ses_v2"))
    assert said(read) == ["Go", "Yes"]
    assert (read.status, read.ok) == (Status.COMPLETE, True)


def test_a_call_leads_to_the_session_of_its_subagent_and_to_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    oc.database(path, [], info("ses_child", parentID=oc.SESSION))
    form = OpenCode()
    for child, found in (("ses_child", f"{path}/ses_child"), ("ses_none", None), ("../x", None)):
        call = tool(201, name="task", metadata={"sessionId": child})
        read = load(export(tmp_path / "x.json", [user(1, "Go"), answer(2, call)]))
        half = read.history[1].message.activity
        assert half is not None
        assert form.started(f"{path}/{oc.SESSION}", half) == found


def test_the_lines_of_a_session_grow_with_it(place: Path) -> None:
    fd = open_log(str(place), stays=True)
    size = os.fstat(fd).st_size
    db = sqlite3.connect(place.parent)
    oc.put_message(db, oc.SESSION, user(9, "More", part("agent", 901, name="x")))
    db.commit()
    db.close()
    os.close(open_log(str(place), stays=True))
    assert os.fstat(fd).st_size > size
    os.close(fd)
