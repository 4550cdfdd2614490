"""A session is handed over from the screen, at a terminal: it goes on, or it is stopped."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import build
import pytest
from emulator import Emulator
from screens import opened
from screens import shown as screen
from terminals import ROOT, Terminal, shown

from sessionlog.demo import make
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Status
from sessionlog.supervise import runs

termios = pytest.importorskip("termios")

ID = "20261127-220000"
STUBBORN = """
trap '' TERM INT HUP
sh -c 'trap "" TERM INT HUP; echo $$ > {pids}; sleep 600 & echo $! >> {pids}; wait; sleep 600'
sleep 600
"""
"""An agent that heeds no signal, its shell that heeds none, and a long command."""


def environ(folder: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": f"{folder}/state", "XDG_CONFIG_HOME": f"{folder}/config",
            "PYTHONPATH": str(ROOT)}  # fmt: skip


def stubborn(folder: Path) -> Path:
    """An agent "zot" that does not want to end; gives the file in which it writes its pids."""
    pids, program = folder / "pids", folder / "stubborn.sh"
    program.write_text(STUBBORN.format(pids=pids))
    config = folder / "config" / "sessionlog" / "agents.toml"
    config.parent.mkdir(parents=True)
    config.write_text(
        f"[agents.zot]\nargv = ['/bin/sh', '{program}', '{{log}}', '{{prompt}}']\nappends = true\n"
    )
    return pids


def failed(folder: Path) -> Path:
    """A log whose run was cut off inside a call."""
    return build.log(
        folder / "logs" / f"{ID}.jsonl",
        [build.meta(workdir=str(folder)), build.message("user", "go"), build.request("c1")],
    )


def started(pids: Path) -> list[int]:
    try:
        return [int(word) for word in pids.read_text().split()]
    except (OSError, ValueError):
        return []


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return not Path("/proc").exists() or not Path(f"/proc/{pid}").exists()


def pressed(terminal: Terminal, keys: list[tuple[bytes, bytes]]) -> None:
    """Press each key, and wait for what it shows."""
    for key, shows in keys:
        at = len(terminal.output)
        terminal.send(key, 0.1)
        terminal.wait(
            lambda at=at, shows=shows: shows in terminal.output[at:], f"{key!r}: {shows!r}"
        )


ON_SCREEN = [(b"r", b"hands over to"), (b"\r", b"has this terminal")]
HEADLESS = [(b"r", b"hands over to"), (b"o", b"headless"), (b"\r", b"S S stops it")]
WAYS = pytest.mark.parametrize("keys", [ON_SCREEN, HEADLESS], ids=["on the screen", "headless"])


def handed_over(folder: Path, keys: list[tuple[bytes, bytes]]) -> tuple[Terminal, list[int]]:
    """The screen whose session was handed to the stubborn agent by these keys."""
    pids = stubborn(folder)
    failed(folder)
    terminal = shown(str(folder / "logs"), environ=environ(folder))
    pressed(terminal, keys)
    terminal.wait(lambda: len(started(pids)) == 2, "the agent has begun")
    return terminal, started(pids)


def test_the_demos_failed_run_is_forked_handed_over_and_finished_in_four_keys(
    tmp_path: Path,
) -> None:
    folder = make(tmp_path / "demo")
    before = {path: path.read_bytes() for path in folder.rglob("*.jsonl")}
    terminal = shown(str(folder), environ=environ(tmp_path))
    try:  # the list opens another one while it is still being read
        terminal.wait(lambda: b"Stopped inside bash" in terminal.output, "the failed run")
        pressed(terminal, [
            (b"f", b"Fork at"), (b"r", b"Damage before the end"), (b"!", b"hands over to"),
            (b"\r", b"has this terminal"),
        ])  # fmt: skip
        terminal.wait(lambda: b"ended well" in terminal.output, "back on the screen")
        terminal.send(b"q")
        assert terminal.ended() == 0
    finally:
        terminal.close()
    (new,) = set(folder.rglob("*.jsonl")) - set(before)
    entry, session = glance(str(new)), load(new)
    assert (entry.status, entry.ok, entry.reason) == (Status.COMPLETE, True, "settled")
    assert entry.forked_from is not None
    assert entry.forked_from.id in {path.stem for path in before}
    assert session.open_calls == ()
    assert session.orphan_results == ()
    assert {path: path.read_bytes() for path in before} == before


@WAYS
def test_a_long_command_that_heeds_no_signal_is_stopped_from_the_screen(
    tmp_path: Path, keys: list[tuple[bytes, bytes]]
) -> None:
    terminal, pids = handed_over(tmp_path, keys)
    try:
        if keys is HEADLESS:
            terminal.send(b"SS")
        else:
            terminal.send(b"\x1d", 0.5)
            terminal.send(b"S")
        terminal.wait(lambda: b"stopped by you" in terminal.output, "the screen says so")
        assert all(map(gone, pids))
        terminal.send(b"q")
        assert terminal.ended() == 0
        assert terminal.now == terminal.before
    finally:
        terminal.close()
    new = next(path for path in (tmp_path / "logs").iterdir() if path.stem != ID)
    session = load(new)
    assert (session.status, session.reason, session.open_calls) == (Status.COMPLETE, "aborted", ())


class Person:
    """Who looks at a terminal."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal, self._eyes, self._seen = terminal, Emulator(120, 36), 0

    def sees(self, *words: str) -> bool:
        """Does each stand somewhere on the screen?"""
        self._eyes.feed(self._terminal.output[self._seen :])
        self._seen = len(self._terminal.output)
        return all(any(word in row for row in self._eyes.rows) for word in words)


def test_a_run_that_was_handed_over_runs_from_its_first_moment_on(tmp_path: Path) -> None:
    terminal, _ = handed_over(tmp_path, HEADLESS)
    person = Person(terminal)
    try:
        terminal.wait(lambda: person.sees("► 1", "writer alive, handed over to zot"), "it runs")
    finally:
        terminal.close()


def test_a_run_whose_program_failed_is_a_failed_one(tmp_path: Path) -> None:
    config = tmp_path / "config" / "sessionlog" / "agents.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[agents.zot]\nargv = ['/bin/sh', '-c', 'exit 3', '{log}', '{prompt}']\n")
    failed(tmp_path)
    terminal = shown(str(tmp_path / "logs"), environ=environ(tmp_path))
    person = Person(terminal)
    try:
        pressed(terminal, HEADLESS[:2])
        terminal.send(b"\r")
        terminal.wait(lambda: person.sees("✗ 1", "exit status 3", "writer gone"), "it failed")
    finally:
        terminal.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_screen_ends_the_agent_that_has_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    terminal, pids = handed_over(tmp_path, ON_SCREEN)
    try:
        terminal.process.send_signal(number)
        assert terminal.ended() == 128 + number
        terminal.wait(lambda: all(map(gone, pids)), "the agent is gone")
        assert terminal.now == terminal.before
    finally:
        terminal.close()


@WAYS
def test_a_screen_that_is_killed_takes_the_agent_along(
    tmp_path: Path, keys: list[tuple[bytes, bytes]]
) -> None:
    terminal, pids = handed_over(tmp_path, keys)
    try:
        terminal.process.kill()
        terminal.wait(lambda: all(map(gone, pids)), "the agent is gone")
        terminal.wait(lambda: runs.known(environ(tmp_path))[0].ended, "it is written down")
    finally:
        terminal.close()
    stopped = [run.ended and run.ended.stopped for run in runs.known(environ(tmp_path))]
    assert stopped == ["viewer gone"]


def test_leaving_while_a_run_goes_on_is_asked_and_then_stops_it(tmp_path: Path) -> None:
    terminal, pids = handed_over(tmp_path, HEADLESS)
    try:
        terminal.send(b"q", 0.5)
        assert terminal.process.poll() is None
        assert b"q again stops it and leaves" in terminal.output
        assert not any(map(gone, pids))
        terminal.send(b"q")
        assert terminal.ended() == 0
        terminal.wait(lambda: all(map(gone, pids)), "the agent is gone")
    finally:
        terminal.close()


def test_a_relative_folder_lists_the_new_log_once(tmp_path: Path) -> None:
    pids = stubborn(tmp_path)
    failed(tmp_path)
    relative = os.path.relpath(tmp_path / "logs", ROOT)
    terminal = shown(relative, environ=environ(tmp_path))
    try:
        pressed(terminal, HEADLESS)
        terminal.wait(lambda: len(started(pids)) == 2, "the agent has begun")
        terminal.read(2)  # seconds: the watch has seen the folder
        terminal.send(b"SS")
        terminal.wait(lambda: b"stopped by you" in terminal.output, "the screen says so")
        person = Emulator(120, 36)
        person.feed(terminal.output)
        assert "✗ 1  ○ 1" in person.screen.display[0]
    finally:
        terminal.close()


@pytest.mark.anyio
async def test_nothing_to_stop_is_said(tmp_path: Path) -> None:
    failed(tmp_path)
    async with opened(tmp_path / "logs") as (pilot, _):
        await pilot.press("S", "S")
        assert "nothing that was handed over runs" in screen(pilot)
