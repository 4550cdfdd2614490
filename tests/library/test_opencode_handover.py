"""Handing a session to OpenCode: the new log is imported first, and the run is the imported one."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import opencode_logs as oc
import pytest

from sessionlog.formats.base import Birth, Said
from sessionlog.formats.opencode_actor import OpenCodeActor
from sessionlog.handover import prepare
from sessionlog.onward import Onward, nothing_of
from sessionlog.reader import load
from sessionlog.resume import Resume, plan_resume
from sessionlog.supervise.handle import start

SOON = 20.0
CLIENT = """#!{python}
import json, sqlite3, sys
from pathlib import Path
sys.path[:0] = [{tests!r}]
import opencode_logs as oc
db = sqlite3.connect({db!r})
if sys.argv[1] == "import":
    document = json.loads(Path(sys.argv[2]).read_text())
    oc.put_session(db, document["info"] | {{"model": {{}}}})
    for message in document["messages"]:
        oc.put_message(db, document["info"]["id"], message)
    print("Imported session:", document["info"]["id"])
else:
    oc.put_message(db, sys.argv[3], oc.user(900, sys.argv[4]))
db.commit()
"""
"""What the client does with its database, for as much as matters here."""


class Place:
    """A database, and a client that is found on PATH."""

    def __init__(self, folder: Path) -> None:
        data = folder / "data" / "opencode"
        data.mkdir(parents=True)
        self.db = data / "opencode.db"
        self.environ = {
            "PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder),
            "XDG_DATA_HOME": f"{folder}/data", "XDG_STATE_HOME": f"{folder}/state",
        }  # fmt: skip
        client = folder / "bin" / "opencode"
        client.parent.mkdir()
        tests = str(Path(__file__).parent.parent)
        client.write_text(CLIENT.format(python=sys.executable, tests=tests, db=str(self.db)))
        client.chmod(0o755)
        self.folder = folder

    def session(self) -> Path:
        head = oc.info(directory=str(self.folder))
        return oc.database(self.db, oc.killed(), head)

    def rows(self, session: str) -> list[Any]:
        db = sqlite3.connect(self.db)
        found = [
            db.execute(
                f"SELECT * FROM {table} WHERE {column} = ? ORDER BY id", (session,)
            ).fetchall()
            for table, column in (
                ("session", "id"),
                ("message", "session_id"),
                ("part", "session_id"),
            )
        ]
        db.close()
        return found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    place = Place(tmp_path)
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, place.environ[name])
    return place


def planned(place: Place, path: Path) -> Resume:
    session = load(path)
    return plan_resume(session, prompt="Go on", screen=False, environ=place.environ)


def test_the_plan_says_what_runs_first(place: Place) -> None:
    plan = planned(place, place.session())
    assert plan.before == ("opencode", "import", plan.log)
    assert plan.argv == ("opencode", "run", "-s", plan.id, "Go on")
    assert plan.log == f"{place.folder}/state/sessionlog/opencode/{plan.id}.json"


def test_the_run_is_written_down_as_the_session_in_the_database(place: Place) -> None:
    path = place.session()
    handed = prepare(load(path), planned(place, path), environ=place.environ)
    assert handed.order.log == f"{place.db}/{handed.order.session}"
    assert handed.made == handed.resume.log
    assert handed.order.before == ("opencode", "import", handed.made)


def test_the_imported_session_goes_on_and_the_source_stays(place: Place) -> None:
    path = place.session()
    before = place.rows(oc.SESSION)
    handed = prepare(load(path), planned(place, path), environ=place.environ)
    order = handed.order
    onward = Onward(order.log, order.session, handed.made)
    assert onward.where() is None
    handle = start(order, place.environ)
    outcome = handle.wait(SOON)
    handle.close()
    assert outcome is not None
    assert (outcome.code, outcome.tail) == (0, f"Imported session: {order.session}\n".encode())
    assert onward.where() == order.log
    read = load(order.log)
    assert [m.text for m in read.messages][-2:] == ["Interrupted by the user.", "Go on"]
    assert onward.before(order.log) == len({r.span.line for r in read.records}) - 1
    assert place.rows(oc.SESSION) == before


def test_an_import_that_brought_nothing_starts_no_agent(place: Place) -> None:
    path = place.session()
    (place.folder / "bin" / "opencode").write_text("#!/bin/sh\necho did $1\n")
    handed = prepare(load(path), planned(place, path), environ=place.environ)
    handle = start(handed.order, place.environ)
    outcome = handle.wait(SOON)
    handle.close()
    assert outcome is not None
    assert outcome.code == 1
    did, why = outcome.tail.decode().splitlines()
    assert (did, "brought nothing" in why) == ("did import", True)
    said = f"nothing was brought to opencode: {place.db}/{handed.order.session} is not there"
    assert nothing_of(handed.order) == said


def test_what_was_taken_back_does_not_come_back(place: Place) -> None:
    head = oc.info(directory=str(place.folder), revert={"messageID": oc.ident("msg", 3)})
    path = oc.database(place.db, [*oc.healthy(), oc.user(4, "More")], head)
    handed = prepare(load(path), planned(place, path), environ=place.environ)
    assert handed.made is not None
    assert [message.text for message in load(handed.made).messages] == ["Fix it", "", "done"]


def test_a_session_of_another_agent_goes_to_the_model_of_this_one(place: Place) -> None:
    place.session()
    actor = OpenCodeActor()
    assert actor.model(place.environ) == "p/m"
    elsewhere = {"HOME": str(place.folder / "home")}
    assert actor.model(elsewhere) == ""
    config = place.folder / "home" / ".config" / "opencode" / "opencode.jsonc"
    config.parent.mkdir(parents=True)
    config.write_text('{ // mine\n  "model": "local/small/1",\n}')
    assert actor.model(elsewhere) == "local/small/1"
    birth = Birth("ses_1", "x", None, "2026-11-28T07:00:00Z", model="local/small/1")
    document = json.loads(b"".join(actor.compose([Said("user", "Go")], birth)))
    assert document["messages"][0]["info"]["model"] == {
        "providerID": "local", "modelID": "small/1",
    }  # fmt: skip
