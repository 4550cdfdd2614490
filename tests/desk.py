"""A person at a terminal whose screen was handed to a program."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from emulator import Emulator

from sessionlog.relay import Running, relay

RAW = "import os, sys, tty; tty.setraw(0); "
"""How a program in Python begins that wants every byte as it is."""
PATIENCE = 30.0
"""Seconds after which what was waited for does not come any more."""


class Launched:
    """A program in a pseudo-terminal and session of its own; the least that `relay` needs."""

    def __init__(self, *argv: str) -> None:
        self.master, slave = pty.openpty()
        self._told, telling = os.pipe()
        takes = 'exec "$@" <"$0" >"$0" 2>&1'  # opening it makes it the controlling terminal
        self.process = subprocess.Popen(
            ["sh", "-c", takes, os.ttyname(slave), *argv], start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=[telling],
        )  # fmt: skip
        self._slave = slave
        os.close(telling)
        self.sizes: list[tuple[int, int]] = []
        self.stops: list[str] = []
        self.looks = 0
        """How often somebody asked for its end."""

    def fileno(self) -> int:
        return self._told

    def poll(self) -> int | None:
        self.looks += 1
        if self._slave >= 0 and self.sizes:  # kept until its size is known
            os.close(self._slave)
            self._slave = -1
        return self.process.poll()

    def stop(self) -> None:
        self.stops.append("stop")
        os.killpg(self.process.pid, signal.SIGKILL)

    def leave(self) -> None:
        self.stops.append("leave")
        os.killpg(self.process.pid, signal.SIGKILL)

    def stop_gently(self) -> None:
        self.stops.append("gentle")
        os.killpg(self.process.pid, signal.SIGINT)

    def resize(self, rows: int, columns: int) -> None:
        self.sizes.append((rows, columns))
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def close(self) -> None:
        """Nothing stays."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for fd in (self.master, self._told, self._slave):
            if fd >= 0:
                os.close(fd)


class Desk:
    """The real terminal, and the relay in a thread; use with `with`.

    `type` and `until` are the person: what is typed goes out while what is written is taken in.
    """

    def __init__(
        self, running: Running[Any], *, title: str = "agent", rows: int = 24, columns: int = 80
    ) -> None:
        self.running = running
        self.title = title
        self.master, self.slave = pty.openpty()
        os.set_blocking(self.master, False)
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.slave)
        self.emulator = Emulator(columns, rows)
        self.output = bytearray()
        self.typed = bytearray()
        self.seen = True
        """Does the emulator take part? Not where only the bytes count."""
        self.outcome: object = None
        self.leave, self.leaving = os.pipe()
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._relay, daemon=True)

    def _relay(self) -> None:
        try:
            self.outcome = relay(
                self.running, self.slave, self.slave, title=self.title, leave=self.leave
            )
        except BaseException as error:
            self.error = error
            raise

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.write(self.leaving, b"x")
        self._thread.join(PATIENCE)
        for fd in (self.master, self.slave, self.leave, self.leaving):
            if fd >= 0:
                os.close(fd)

    def resize(self, rows: int, columns: int) -> None:
        """The window has another size."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def type(self, data: bytes) -> None:
        """Keys, which go out as the terminal takes them."""
        self.typed += data

    def look(self, seconds: float = 0.02) -> None:
        """Type what is to be typed and take what is there."""
        wants = [self.master] if self.typed else []
        ready, free, _ = select.select([self.master], wants, [], seconds)
        if ready:
            data = os.read(self.master, 1 << 16)
            self.output += data
            if self.seen:
                self.emulator.feed(data)
        if free:
            with contextlib.suppress(BlockingIOError):
                del self.typed[: os.write(self.master, self.typed)]

    def until(self, true: Callable[[], object]) -> None:
        """Look until it is so."""
        end = time.monotonic() + PATIENCE
        while not true():
            assert self.error is None, self.error
            assert time.monotonic() < end, "\n".join(self.emulator.rows)
            self.look()

    def shows(self, text: str) -> Callable[[], bool]:
        """Is it on the screen?"""
        return lambda: any(text in row for row in self.emulator.rows)

    @property
    def is_over(self) -> bool:
        """Has the relay ended?"""
        return not self._thread.is_alive()

    def ended(self) -> object:
        """How it ended, and everything that was written is taken in."""
        self.until(lambda: self.is_over)
        while select.select([self.master], [], [], 0.05)[0]:
            self.look()
        return self.outcome

    def faults(self) -> list[str]:
        """Why the terminal is not as it was."""
        now = termios.tcgetattr(self.slave)
        changed = [str(i) for i, was in enumerate(self.before) if now[i] != was]
        return self.emulator.faults() + [f"termios {', '.join(changed)}"] * bool(changed)

    def hang_up(self) -> None:
        """The window is closed."""
        os.close(self.master)
        self.master = -1


def sh(text: str) -> Launched:
    """A shell's commands."""
    return Launched("sh", "-c", text)


def python(code: str, *words: str) -> Launched:
    """A program in Python, raw from its start."""
    return Launched(sys.executable, "-S", "-c", RAW + code, *words)


def state(pid: int) -> str:
    """How Linux says a process is: R, S, T (stopped), Z."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
