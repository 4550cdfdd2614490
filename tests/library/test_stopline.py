"""The line that the reserved key brings up."""

from __future__ import annotations

import pytest
from emulator import Emulator

from sessionlog import stopline
from sessionlog.text import width


def place(terminal: Emulator) -> tuple[object, ...]:
    """Where the cursor is, and what it would write."""
    cursor = terminal.screen.cursor
    return cursor.x, cursor.y, cursor.attrs, terminal.screen.margins


@pytest.mark.parametrize("columns", [1, 10, 39, 45, 60, 80, 120, 200])
@pytest.mark.parametrize("title", ["claude", "x" * 300, "日本語" * 30, ""])
def test_it_fits_and_the_keys_stay(columns: int, title: str) -> None:
    said = stopline.said(title, 3725, columns)
    assert width(said) <= max(columns - 1, 0)
    if columns >= 45:
        assert "stop (S)  gentle stop (i)  go on (esc)" in said
    if columns >= 60:
        assert "1h02m" in said


@pytest.mark.parametrize("above", [0, 3, 22, 23, 40])
def test_it_comes_and_goes_and_the_program_goes_on_where_it_was(above: int) -> None:
    terminal, plain = Emulator(), Emulator()
    begun, more = b"row\r\n" * above + b"\x1b[31;1mhalf", b" a row\r\nnext\x1b[m"
    terminal.feed(begun + stopline.raised("line", 24, alternate=False))
    assert terminal.rows[-1] == "line"
    assert "half" in terminal.rows
    terminal.feed(stopline.again("another", 24) + stopline.lowered(24) + more)
    plain.feed(begun + more)
    seen = [row for row in terminal.rows if row]
    assert seen[-22:] == [row for row in plain.rows if row][-22:]
    assert seen[-2:] == ["half a row", "next"]


def test_the_alternate_screen_does_not_scroll() -> None:
    terminal = Emulator()
    begun = b"\x1b[?1049h" + b"row\r\n" * 10 + b"\x1b[2;5r\x1b[?6h\x1b[24;1H\x1b[31mhalf"
    terminal.feed(begun)
    before, cursor = terminal.rows, place(terminal)
    terminal.feed(stopline.raised("line", 24, alternate=True))
    assert terminal.rows == [*before[:-1], "line"]
    terminal.feed(stopline.lowered(24))
    assert terminal.rows == before
    assert place(terminal) == cursor
