"""Which logs an agent goes on with that leaves no trace at them: real processes, harmless ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import build
import gemini_logs as gemini
import pytest
import qwen_logs as qwen

from sessionlog.cli import main
from sessionlog.clients import Clients
from sessionlog.errors import LogInUse
from sessionlog.forks import fork
from sessionlog.formats.base import Composer
from sessionlog.formats.table import named
from sessionlog.listing import glance, with_life
from sessionlog.reader import load
from sessionlog.records import Entry, Status
from sessionlog.repairs import repair
from sessionlog.resume import plan_resume
from sessionlog.status import HIDDEN
from sessionlog.vigil import Vigil
from sessionlog.why.look import look

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no process can be seen there")

AGENTS = ["pi", "qwen", "gemini"]
PACKAGES = {
    "pi": "@mariozechner/pi-coding-agent/dist/cli.js",
    "qwen": "@qwen-code/qwen-code/cli.js",
    "gemini": "@google/gemini-cli/bundle/gemini.js",
}
WAITS = "echo ready; read line\n"
"""What a client's script does here."""


class Place:
    """A HOME, a working directory, and a runtime that is none."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work, self.node = folder / "home", folder / "work", folder / "node"
        self.work.mkdir()
        shutil.copy(os.path.realpath("/bin/sh"), self.node)
        owner = self.home / ".gemini" / "tmp" / "work" / ".project_root"
        owner.parent.mkdir(parents=True)
        owner.write_text(str(self.work))

    def log(self, agent: str, name: str = "", *, done: bool = False) -> Path:
        """A log where the agent keeps those of the working directory, cut off inside a call."""
        form = named(agent)
        assert form is not None
        assert isinstance(form.actor, Composer)
        environ = {"HOME": str(self.home)}
        _, path = form.actor.home(str(self.work), datetime.now(UTC), environ, lambda _: False)
        file, lines = LOGS[agent](str(self.work), done)
        return build.log(Path(path).parent / (f"{name}.jsonl" if name else file), lines)

    @contextmanager
    def runs(
        self, script: str, *, cwd: Path | None = None, home: Path | None = None,
        node: Path | None = None, title: str = "", does: str = WAITS, **environ: str,
    ) -> Iterator[int]:  # fmt: skip
        """A process whose runtime runs that script, until the block ends."""
        program = self.node.parent / script
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(does)
        with subprocess.Popen(
            [title or "node", str(program)], executable=node or self.node, cwd=cwd or self.work,
            env={"HOME": str(home or self.home), "PATH": os.environ["PATH"], **environ},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield process.pid
            process.communicate()


def _pi(cwd: str, done: bool) -> tuple[str, list[bytes]]:
    said = build.pi_said("Done.", id="b", parent="a")
    asks = build.pi_said(build.pi_call("c1"), id="b", parent="a", stop="toolUse")
    return build.PI_FILE, [
        build.pi_head(cwd=cwd), build.pi_user("go", "a"), said if done else asks,
    ]  # fmt: skip


def _qwen(cwd: str, done: bool) -> tuple[str, list[bytes]]:
    part = "Done." if done else qwen.call("c1")
    return qwen.FILE, [qwen.user("go", "a", cwd=cwd), qwen.said(part, id="b", parent="a", cwd=cwd)]


def _gemini(cwd: str, done: bool) -> tuple[str, list[bytes]]:
    said = [build.line(gemini.model("m1", "Done."))] if done else []
    start = [gemini.head(), build.line(gemini.user("u1", "go"))]
    return gemini.FILE, [*start, *said]


LOGS: dict[str, Callable[[str, bool], tuple[str, list[bytes]]]] = {
    "pi": _pi, "qwen": _qwen, "gemini": _gemini,
}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def row(path: Path) -> Entry:
    return with_life([glance(str(path))])[0]


def lives(*paths: Path) -> list[bool]:
    return [e.status is Status.RUNNING for e in with_life([glance(str(path)) for path in paths])]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_client_that_works_in_the_folder_goes_on_with_its_log(place: Place, agent: str) -> None:
    with place.runs(PACKAGES[agent]) as pid:
        log = place.log(agent)
        read = load(log)
        assert read.status is Status.RUNNING
        assert f"a {agent} process (pid {pid}) works in its folder since " in (read.alive or "")
        assert row(log).status is Status.RUNNING
        assert look(str(log)).why.status is Status.RUNNING
        with pytest.raises(LogInUse, match=f"pid {pid}"):
            repair(log)
        with pytest.raises(LogInUse, match=f"pid {pid}"):
            plan_resume(read)
    assert load(log).status is row(log).status is Status.UNFINISHED


@pytest.mark.parametrize("agent", AGENTS)
def test_a_client_is_known_by_its_name_on_path_and_by_its_title(place: Place, agent: str) -> None:
    for more in ({"script": f"bin/{agent}"}, {"script": "x.js", "title": agent}):
        with place.runs(**cast(Any, more)):
            assert lives(place.log(agent)) == [True]


def test_a_client_without_a_runtime_is_one(place: Place) -> None:
    own = place.node.with_name("pi")
    shutil.copy(place.node, own)
    with place.runs("x", node=own, title="pi"):
        assert lives(place.log("pi")) == [True]


@pytest.mark.parametrize("agent", AGENTS)
def test_other_processes_are_no_evidence(place: Place, agent: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    not_its = next(a for a in AGENTS if a != agent)
    for more in (
        {"script": f"bin/{agent}-not"}, {"script": PACKAGES[not_its]},
        {"script": PACKAGES[agent], "cwd": other}, {"script": PACKAGES[agent], "home": other},
        {"script": PACKAGES[agent], "node": Path("/bin/sh")},
    ):  # fmt: skip
        with place.runs(**cast(Any, more)):
            assert lives(place.log(agent)) == [False], more


def test_one_folder_for_all_sessions_is_told_apart_by_the_working_directory(
    place: Place, tmp_path: Path
) -> None:
    every, other = tmp_path / "every", tmp_path / "other"
    other.mkdir()
    for cwd, is_its in ((place.work, True), (other, False)):
        with place.runs("bin/pi", cwd=cwd, PI_CODING_AGENT_SESSION_DIR=str(every)):
            _, lines = LOGS["pi"](str(place.work), False)
            assert lives(build.log(every / build.PI_FILE, lines)) == [is_its]


def test_what_changed_last_before_the_client_began_is_not_its(place: Place) -> None:
    with place.runs(PACKAGES["pi"]):
        log = place.log("pi")
        form, seen = named("pi"), log.stat()
        assert form is not None
        log.unlink()  # nothing there was written to later
        for back, is_its in ((0, True), (3600 * 10**9, False)):
            time = seen.st_mtime_ns - back
            stat = cast(os.stat_result, SimpleNamespace(st_mtime_ns=time, st_ctime_ns=time))
            found = Clients().evidence(form, str(log), str(place.work), stat)
            assert (found is not None) is is_its


def test_as_many_logs_as_clients_have_a_writer_those_that_changed_last(place: Place) -> None:
    with place.runs(PACKAGES["pi"]):
        logs = [place.log("pi", name) for name in "abc"]
        for before, after in pairwise(logs):
            later(after, before)
        assert lives(*logs) == [False, False, True]
        with place.runs("bin/pi"):
            for before, after in pairwise([logs[-1], *logs]):
                later(after, before)
            assert lives(*logs) == [False, True, True]


def later(log: Path, than: Path) -> None:
    """Write the log, as a client does, at a time that is another."""
    data = log.read_bytes()
    while log.stat().st_mtime_ns <= than.stat().st_mtime_ns:
        log.write_bytes(data)
    log.write_bytes(data)


def test_a_client_that_started_itself_anew_is_one(place: Place) -> None:
    again = f'"{place.node}" "{place.node.parent}/{PACKAGES["qwen"]}"\n:\n'
    (place.node.parent / PACKAGES["qwen"]).parent.mkdir(parents=True)
    child = place.node.parent / PACKAGES["qwen"]
    child.write_text(WAITS)
    with place.runs("bin/qwen", does=again):
        logs = [place.log("qwen", name) for name in "ab"]
        later(logs[1], logs[0])
        assert lives(*logs) == [False, True]


@pytest.mark.parametrize("agent", ["pi", "qwen"])
def test_a_fork_beside_it_is_not_what_the_client_works_on(place: Place, agent: str) -> None:
    with place.runs(PACKAGES[agent]):
        log = place.log(agent)
        made = fork(log, 1)
        assert made.parent == log.parent
        assert lives(log, made) == [True, False]


def test_a_copy_that_kept_its_time_is_nobodys(place: Place) -> None:
    with place.runs(PACKAGES["pi"]):
        log = place.log("pi")
        copy = Path(shutil.copy2(log, log.with_name("copy.jsonl")))
        log.unlink()
        assert lives(copy) == [False]


@pytest.mark.parametrize("agent", ["pi", "qwen"])
def test_a_client_at_its_prompt_leaves_an_ended_log_ended(place: Place, agent: str) -> None:
    with place.runs(PACKAGES[agent]):
        log = place.log(agent, done=True)
        assert load(log).status is row(log).status is Status.COMPLETE


def test_what_nobody_can_know_is_said_before_a_handing_over(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    for agent, done, is_unsure in (
        ("pi", False, True), ("pi", True, False), ("gemini", True, True), ("qwen", False, True),
    ):  # fmt: skip
        log = place.log(agent, done=done)
        assert plan_resume(load(log)).unsure is is_unsure, agent
        assert main(["resume", str(log), "--dry-run"]) == 0
        assert ("whether its agent still runs" in capsys.readouterr().out) is is_unsure


def test_a_log_that_hides_its_calls_may_go_on_while_its_client_is_there(place: Place) -> None:
    with place.runs(PACKAGES["gemini"]):
        log = place.log("gemini", done=True)
        read, entry = load(log), row(log)
        assert (read.status, read.ok, read.ending.text) == (Status.RUNNING, None, HIDDEN)
        assert (entry.status, entry.ok, entry.stop) == (Status.RUNNING, None, HIDDEN)
        assert "or waits at its prompt: the log cannot tell" in (read.alive or "")
        assert look(str(log)).why.status is Status.RUNNING
        with pytest.raises(LogInUse):
            repair(log)
        vigil = Vigil(str(log), False, 0.0)
        for now in (100.0, 200.0, 9000.0):
            vigil.see(True, now)
            assert not vigil.over(now + 5)
    assert load(log).status is row(log).status is Status.COMPLETE
    vigil.see(False, 9100.0)
    assert vigil.over(9100.0)
