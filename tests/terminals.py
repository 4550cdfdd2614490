"""The program at a terminal, as a person has it: keys go in, bytes come out."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

fcntl = pytest.importorskip("fcntl")
pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")

ROOT = Path(__file__).parent.parent
PATIENCE = 30.0
"""Seconds after which what was waited for does not come any more."""


class Terminal:
    """A process with a pseudo-terminal of its own."""

    def __init__(self, *words: str, environ: dict[str, str] | None = None) -> None:
        self._master, slave = pty.openpty()
        self._slave = slave
        fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x24\x00\x78\x00" + bytes(4))
        self.before: list[Any] = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tui", *words], cwd=ROOT, stdin=slave, stdout=slave,
            stderr=slave, start_new_session=True,
            env={name: value for name, value in os.environ.items()
                 if name not in ("COLUMNS", "LINES")}  # the size is the terminal's own
            | {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT), **(environ or {})},
        )  # fmt: skip
        self.output = b""

    def read(self, seconds: float, until: bytes = b"") -> None:
        """Take what is written, until something was."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not (until and until in self.output):
            if select.select([self._master], [], [], min(left, 0.05))[0]:
                self.output += os.read(self._master, 1 << 16)

    def send(self, keys: bytes, rest: float = 0.15) -> None:
        """All keys in one write."""
        os.write(self._master, keys)
        self.read(rest)

    def wait(self, holds: Callable[[], object], what: str) -> None:
        """Read until something holds."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, f"{what}: never; {self.output[-2000:]!r}"
            self.read(0.05)

    def ended(self) -> int:
        """The exit code, once it is there."""
        end = time.monotonic() + 20
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        self.read(0.1)
        assert self.process.poll() is not None, "still running"
        return self.process.returncode

    def hang_up(self) -> None:
        """The window is closed. No signal is sent: the terminal is not the process's own."""
        os.close(self._master)
        os.close(self._slave)

    @property
    def now(self) -> list[Any]:
        """How the terminal is set."""
        found: list[Any] = termios.tcgetattr(self._slave)
        return found

    def close(self) -> None:
        """Nothing stays."""
        self.process.kill()
        self.process.wait()
        os.close(self._master)
        os.close(self._slave)


def shown(*words: str, environ: dict[str, str] | None = None) -> Terminal:
    """The program, once it has painted and takes keys."""
    terminal = Terminal(*words, environ=environ)
    terminal.read(20, until=b"help")
    terminal.read(0.5)
    return terminal
