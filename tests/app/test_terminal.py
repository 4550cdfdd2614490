"""The program at a terminal: bursts of keys, and signals."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest
from screens import night
from terminals import shown

fcntl = pytest.importorskip("fcntl")
pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")

ROOT = Path(__file__).parent.parent.parent
ESC = b"\x1b[27u"
"""Escape as a key of its own, however soon another follows."""
BURSTS = [
    b"rr", b"rrr", b"r?", b"?r", b"?" + ESC, b"???", b"?" + ESC * 2, b"\rfff", ESC * 3,
    b"f?\x10r", ESC * 2, b"\x10\x10\x10", ESC * 2, b"\x10" + ESC * 3, b"\x10fork\r\r\r", ESC * 3,
    b"\x10rr", ESC * 3, b"/ab\r\r" + ESC, b":5\r\r", b"f\x1b", b"r" + ESC + b"r" + ESC + b"r",
]  # fmt: skip


def test_keys_that_come_together_never_end_it(tmp_path: Path) -> None:
    terminal = shown(str(night(tmp_path)))
    try:
        for burst in BURSTS:
            terminal.send(burst)
            assert terminal.process.poll() is None, (burst, terminal.output[-2000:])
        assert b"Traceback" not in terminal.output
    finally:
        terminal.close()


def test_random_bursts_never_end_it(tmp_path: Path) -> None:
    terminal = shown(str(night(tmp_path)))
    chance = random.Random(20261129)
    # without the palette: what it finds for random letters may well be `quit`
    keys = [b"r", b"f", b"?", b"\r", ESC, b"j", b"k", b"/", b":", b"h", b"l", b"\t", b"!"]
    try:
        for _ in range(80):
            burst = b"".join(chance.choices(keys, k=chance.randint(2, 9)))
            terminal.send(burst, chance.choice([0.01, 0.05, 0.1]))
            assert terminal.process.poll() is None, (burst, terminal.output[-2000:])
        for keys_ in (ESC * 2, ESC, b"qrr"):
            terminal.send(keys_, 0.5)
        assert terminal.ended() == 0
    finally:
        terminal.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(tmp_path: Path, number: signal.Signals) -> None:
    terminal = shown(str(night(tmp_path)))
    try:
        assert terminal.now != terminal.before
        terminal.process.send_signal(number)
        assert terminal.ended() == 128 + number
        assert b"\x1b[?1049l" in terminal.output
        assert b"\x1b[?1000l" in terminal.output
        assert terminal.now == terminal.before
    finally:
        terminal.close()


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_agent_of_the_demo(tmp_path: Path, number: signal.Signals) -> None:
    folder = tmp_path / "night"
    terminal = shown("demo", "--dir", str(folder))
    try:
        assert _agents(folder) == 1
        terminal.process.send_signal(number)
        assert terminal.ended() == 128 + number
        assert _agents(folder) == 0
    finally:
        terminal.close()


def _agents(folder: Path) -> int:
    """How many agents write into the folder."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        found += b"sessionlog.demo.agent" in words and os.fsencode(folder) in words
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="poll does not tell of terminals there")
@pytest.mark.parametrize("keys", [b"", b"\rp", b"s."])
def test_a_terminal_that_is_closed_ends_it_and_the_agent(tmp_path: Path, keys: bytes) -> None:
    folder = tmp_path / "night"
    terminal = shown("demo", "--dir", str(folder))
    try:
        terminal.send(keys)
        terminal.hang_up()
        assert terminal.process.wait(timeout=20) == 129
        end = time.monotonic() + 20
        while _agents(folder) and time.monotonic() < end:
            terminal.process.poll()
        assert _agents(folder) == 0
    finally:
        terminal.process.kill()
