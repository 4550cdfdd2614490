"""A terminal is whole again, whatever a program left."""

from __future__ import annotations

import os
import termios
from contextlib import suppress

import pytest

pytest.importorskip("pty")

from desk import Desk, sh
from emulator import Emulator
from ways import WAYS, Way

from sessionlog.terminal import Terminal, reset


@pytest.mark.parametrize("way", WAYS, ids=[way.name for way in WAYS])
def test_a_terminal_is_whole_after(way: Way) -> None:
    running = sh(way.script)
    with Desk(running) as desk:
        desk.emulator.feed(b"$ sessionlog resume last\r\n")
        if way.typed:
            desk.until(desk.shows(way.shown))
            desk.type(way.typed)
        desk.ended()
        assert desk.faults() == []
        assert desk.emulator.rows[0] == "$ sessionlog resume last"
    running.close()


def test_the_prompt_comes_where_the_main_screen_was_left() -> None:
    terminal = Emulator()
    terminal.feed(b"$ one\r\n$ resume\r\n\x1b[?1049h\x1b[2J\x1b[12;40Hpainted")
    terminal.feed(reset(80, alternate=True) + b"$ ")
    assert terminal.rows[:4] == ["$ one", "$ resume", "$", ""]


def test_the_cursor_of_a_program_before_does_not_come_back() -> None:
    # leaving a screen that nobody is on would restore the cursor of whoever was there last
    terminal = Emulator()
    terminal.feed(b"$ one\r\n\x1b7$ resume\r\nsaid\r\n" + reset(80) + b"$ ")
    assert terminal.rows[:4] == ["$ one", "$ resume", "said", "$"]


@pytest.mark.parametrize("said", ["whole row\r\n", "half a row", "x" * 80, "x" * 200])
def test_the_prompt_has_a_row_of_its_own(said: str) -> None:
    terminal = Emulator()
    terminal.feed(said.encode() + reset(80) + b"$ ")
    rows = [row for row in terminal.rows if row]
    assert "".join(rows[:-1]) == said.strip()
    assert rows[-1] == "$"


def test_the_terminal_is_restored_when_the_block_raises() -> None:
    master, slave = os.openpty()
    before = termios.tcgetattr(slave)
    with suppress(ZeroDivisionError), Terminal(slave, slave):
        assert termios.tcgetattr(slave) != before
        os.write(master, b"\x1b[?62;c")  # an answer that comes late
        raise ZeroDivisionError
    assert termios.tcgetattr(slave) == before
    os.set_blocking(slave, False)
    with pytest.raises(BlockingIOError):
        os.read(slave, 1)
    os.close(slave)
    os.close(master)


def test_a_terminal_that_is_gone_is_left_quietly() -> None:
    master, slave = os.openpty()
    with Terminal(slave, slave) as terminal:
        os.close(master)
        assert terminal.size() == (0, 0)
    os.close(slave)


def test_what_is_no_terminal_is_said_before_anything_is_set() -> None:
    with open(os.devnull) as nothing, pytest.raises(termios.error):
        Terminal(nothing.fileno(), nothing.fileno()).__enter__()
