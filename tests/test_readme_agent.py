"""An agent is added as the README says: one file, one line."""

from __future__ import annotations

import re
from pathlib import Path

import acorn
import pytest

from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Status
from sessionlog.resume import plan_resume
from sessionlog.why.look import look


def shown(folder: Path, *without: str) -> Path:
    """The log that the README shows, without the lines that say one of these."""
    indented = re.findall(r"^    (\{.*\})$", acorn.README.partition("## Adding an agent")[2], re.M)
    path = folder / "a1.jsonl"
    lines = [line for line in indented if not any(f'"{word}"' in line for word in without)]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    acorn.add(monkeypatch)


def test_the_log_that_it_shows_is_read_whole(tmp_path: Path) -> None:
    session = load(shown(tmp_path), strict=True)
    assert (session.format, session.id, session.meta.workdir) == ("acorn", "a1", "/srv/app")
    assert [step.message.type for step in session.history] == ["user", "activity", "activity"]
    assert session.open_calls == ()
    assert (session.status, session.ok) == (Status.COMPLETE, True)


def test_it_is_listed_with_its_title_and_where_it_stopped(tmp_path: Path) -> None:
    entry = glance(str(shown(tmp_path, "output", "done")))
    assert (entry.agent, entry.title, entry.status) == (
        "acorn", "Fix the build.", Status.UNFINISHED,
    )  # fmt: skip
    assert entry.stop == "in sh: make"


def test_it_is_told_why_it_stopped(tmp_path: Path) -> None:
    found = look(str(shown(tmp_path, "output", "done"))).why
    assert [call.tool for call in found.in_flight] == ["sh"]


def test_its_session_can_be_handed_to_another_agent(tmp_path: Path) -> None:
    path = shown(tmp_path)
    plan = plan_resume(load(path), agent="pi", environ={"HOME": str(tmp_path)}, screen=False)
    assert plan.plain is not None
    assert [said.text for said in plan.plain.said] == [
        "Fix the build.", '[called sh: {"command":"make"}]', "[result of sh] ok",
    ]  # fmt: skip


def test_a_line_that_it_does_not_know_is_kept(tmp_path: Path) -> None:
    path = acorn.log(tmp_path / "a1.jsonl", {"mood": "fine"}, {"say": "nobody", "text": 1})
    session = load(path, strict=True)
    assert [record.kind for record in session.records] == ["meta", "other", "other"]
