"""An error that nobody foresaw, in a thread: the screen says so, and can be used on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import build
import pytest
import sheets
from screens import opened, shown, until
from sheets import sheet
from terminals import ROOT
from terminals import shown as at_terminal

from sessionlog.formats.native import Native
from sessionlog.formats.native_actor import NativeActor
from tui.screens.fork import ForkDialog
from tui.screens.handover import HandoverSheet
from tui.widgets.status_line import StatusLine

anyio = pytest.mark.anyio
FAULT = "ValueError: no such luck"
STUCK = """
import sys, threading
if "tui" in sys.orig_argv:
    from sessionlog.formats.native_actor import NativeActor
    NativeActor.renew = lambda *_: threading.Event().wait()
"""
"""Run when a Python starts: to write a native log takes for ever."""


class Broken(NativeActor):
    """Of a format whose new logs cannot be written."""

    def renew(self, *_: Any) -> NoReturn:
        raise ValueError("no such luck")


class Unplanned(NativeActor):
    """Of a format whose plans cannot be made."""

    def place(self, *_: Any) -> NoReturn:
        raise ValueError("no such luck")


class Stuck(NativeActor):
    """Of a format whose writing goes on until it is told to end."""

    end = threading.Event()

    def renew(self, *_: Any) -> Iterator[bytes]:
        self.end.wait(60)
        return iter(())


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return sheets.programs(tmp_path, monkeypatch)


def left_open(folder: Path) -> Path:
    return build.log(
        folder / "logs" / "20261127-220000.jsonl",
        [build.meta(workdir=str(folder)), build.message("user", "go"), build.request("c1")],
    )


@anyio
async def test_what_goes_wrong_while_an_agent_is_started_is_said_and_the_folders_are_watched_on(
    tmp_path: Path, programs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs("zot")
    monkeypatch.setattr(Native, "actor", Broken())
    log = left_open(tmp_path)
    async with opened(log.parent) as (pilot, browser):
        await sheet(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: f"handing over ended: {FAULT}" in shown(pilot), "it is said")
        page = shown(pilot)
        assert "writing" not in page
        assert "not watching" not in page
        await pilot.press("escape")
        assert browser.status.warnings == ()
        await pilot.press("q")
        assert pilot.app.return_code == 0
    assert list(log.parent.iterdir()) == [log]


@anyio
async def test_what_goes_wrong_while_a_log_is_written_is_said_and_the_sheet_goes_on(
    tmp_path: Path, programs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs("zot")
    log = left_open(tmp_path)
    async with opened(log.parent) as (pilot, browser):
        await sheet(pilot)
        monkeypatch.setattr(Native, "actor", Broken())
        await pilot.press("W")
        await until(pilot, lambda: f"writing the new log: {FAULT}" in shown(pilot), "it is said")
        assert "writing …" not in shown(pilot)
        await pilot.press("enter")
        assert "enter waits: writing the new log" in shown(pilot)
        monkeypatch.undo()
        await pilot.press("W")
        await until(pilot, lambda: pilot.app.screen is browser, "it is written after all")
    assert len(list(log.parent.iterdir())) == 2


@anyio
async def test_what_goes_wrong_while_it_is_planned_is_said_and_another_choice_plans_anew(
    tmp_path: Path, programs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs("zot")
    monkeypatch.setattr(Native, "actor", Unplanned())
    async with opened(left_open(tmp_path).parent) as (pilot, _):
        await pilot.press("r")
        await until(pilot, lambda: f"planning: {FAULT}" in shown(pilot), "it is said")
        assert "thinking" not in shown(pilot)
        monkeypatch.setattr(Native, "actor", NativeActor())
        await pilot.press("o")
        await until(pilot, lambda: "closed" in shown(pilot), "a plan")
        assert FAULT not in shown(pilot).replace(f"planning ended: {FAULT}", "")


@anyio
async def test_what_goes_wrong_while_a_fork_is_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Native, "actor", Broken())
    async with opened(left_open(tmp_path).parent) as (pilot, browser):
        await pilot.press("f")
        await until(pilot, lambda: isinstance(pilot.app.screen, ForkDialog))
        await until(pilot, lambda: "holds" in shown(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: f"writing the fork: {FAULT}" in shown(pilot), "it is said")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is browser)


@anyio
async def test_what_a_worker_came_to_does_not_end_the_program(
    tmp_path: Path, programs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs("zot")
    async with opened(left_open(tmp_path).parent) as (pilot, browser):

        def fault(_: object) -> NoReturn:
            raise ValueError("no such luck")

        monkeypatch.setattr(browser.hands, "_begin", fault)
        await sheet(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: f"handing over ended: {FAULT}" in shown(pilot), "it is said")


@anyio
async def test_a_sheet_is_left_while_a_thread_of_its_writes(
    tmp_path: Path, programs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs("zot")
    async with opened(left_open(tmp_path).parent) as (pilot, _):
        await sheet(pilot)
        monkeypatch.setattr(Native, "actor", Stuck())
        try:
            await pilot.press("W", "escape")
            await until(pilot, lambda: not isinstance(pilot.app.screen, HandoverSheet))
            await pilot.press("q")
            assert pilot.app.return_code == 0
        finally:
            Stuck.end.set()


def test_a_warning_is_seen_before_what_was_answered_earlier() -> None:
    line = StatusLine(id="status")
    line.answer("writing …")
    line.warn("it went wrong")
    assert "it went wrong" in said(line)
    line.answer("a later key")
    assert "a later key" in said(line)


def said(line: StatusLine) -> str:
    return "".join(text for text, _ in line.lines(80, 1)[0].left)


@pytest.mark.parametrize("keys", [b"q", b"\x03"])
def test_a_thread_that_never_ends_keeps_nobody_from_leaving(tmp_path: Path, keys: bytes) -> None:
    terminal = stuck(tmp_path)
    try:
        terminal.send(b"\x1b[27u", 0.5)
        terminal.send(keys)
        assert terminal.ended() == {b"q": 0, b"\x03": 130}[keys]
        assert terminal.now == terminal.before
    finally:
        terminal.close()


def test_a_thread_that_never_ends_does_not_outlive_the_terminal(tmp_path: Path) -> None:
    terminal = stuck(tmp_path)
    try:
        terminal.send(b"\x1b[27uq", 0.2)
        terminal.hang_up()
        assert terminal.process.wait(timeout=20) in (0, 129)
    finally:
        terminal.process.kill()


def stuck(folder: Path) -> Any:
    """At a terminal, the fork dialog whose thread writes for ever."""
    (folder / "hook").mkdir()
    (folder / "hook" / "sitecustomize.py").write_text(STUCK)
    environ = {"PYTHONPATH": f"{folder}/hook:{ROOT}", "XDG_STATE_HOME": f"{folder}/state"}
    terminal = at_terminal(str(left_open(folder).parent), environ=environ)
    terminal.send(b"f", 0.1)
    terminal.wait(lambda: b"holds" in terminal.output, "the plan")
    terminal.send(b"\r", 0.1)
    terminal.wait(lambda: b"writing" in terminal.output, "it is written")
    return terminal
