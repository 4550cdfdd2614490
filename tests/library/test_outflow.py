"""What a program writes, on its way to the terminal."""

from __future__ import annotations

import pytest

from sessionlog.outflow import Outflow

OUTPUT = (
    b"text \x1b[1;31mred\x1b[0m \x1b]8;;http://example.org\x1b\\link\x1b]8;;\x07 \x1b(B \x1b7"
    b"\x1b[?2026h\x1b[2 q\x1bPq#0~~\x1b\\" + "ï日🙂".encode() + b"\x1b[?1049;6h tail"
)
CUTS = (
    b"text \x1b",
    b"text \x1b[1;3",
    b"\x1b]8;;http",
    b"\x1b]8;;x\x1b",
    b"a\x1b(",
    b"\xf0\x9f\x99",
)


def test_nothing_is_lost_or_changed_however_it_is_cut() -> None:
    for at in range(len(OUTPUT)):
        outflow = Outflow()
        passed = outflow.feed(OUTPUT[:at]) + outflow.feed(OUTPUT[at:])
        assert passed + outflow.rest() == OUTPUT
        assert outflow.alternate
        assert outflow.origin


@pytest.mark.parametrize("data", CUTS)
def test_what_is_not_finished_is_kept_back(data: bytes) -> None:
    outflow = Outflow()
    passed = outflow.feed(data)
    assert outflow.waiting
    assert passed in (b"", b"a", b"text ")
    assert passed + outflow.rest() == data


def test_a_picture_is_not_kept_back() -> None:
    outflow = Outflow()
    assert len(outflow.feed(b"\x1bPq" + b"~" * 10_000)) == 10_003


@pytest.mark.parametrize(
    ("data", "alternate", "origin"),
    [
        (b"\x1b[?1049h\x1b[?1049l", False, False),
        (b"\x1b[?25;1049h\x1b[?6h\x1b[?25l", True, True),
        (b"\x1b[?47h\x1b[?6h\x1b[!p", True, False),
        (b"\x1b[?1049h\x1b[?6h\x1bc", False, False),
        (b"\x1b[?2004h\x1b[?1h\x1b[?16h", False, False),
        (b"\x1b[?2004h\x1b[!p\x1b[?1047h", True, False),
    ],
)
def test_the_modes_that_move_the_cursor_are_known(
    data: bytes, alternate: bool, origin: bool
) -> None:
    outflow = Outflow()
    outflow.feed(data)
    assert (outflow.alternate, outflow.origin) == (alternate, origin)
