"""The terminal while an agent has the screen.

The program runs in a pseudo-terminal of its own, whose master is ours: bytes pass both ways, the
real terminal's size is handed on, and one key is reserved. `ctrl+]` (the byte 0x1D, and the forms
it takes in other keyboard protocols) brings up a line: stop, gentle stop, go on. While it is up
the master is not read: the program waits, and nothing is lost.

Nothing here may wait for one side alone: each is read only while what it sent can be kept, and
written only as much as it takes, so neither a program that does not read nor a slow terminal
stands before the reserved key.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from sessionlog import stopline
from sessionlog.keypress import RESERVED, Keys, Press
from sessionlog.outflow import Outflow
from sessionlog.terminal import Terminal, write_all

TICK = 0.1
"""Seconds between two looks at the terminal's size, which costs one system call: no signal
handler, so that this works in any thread and leaves the caller's own alone."""
_SOON = 0.03
"""Seconds after which the rest of a sequence does not come any more."""
_NUDGE = 0.1
"""Seconds that the program is left with a row less: two changes at once would be none to it."""
_CHUNK = 1 << 16
_MOST_SHOWN = 1 << 15
"""Bytes on their way to the terminal from which on the program waits."""
_MOST_KEYS = 16 << 20
"""Bytes on their way to the program from which on the terminal waits: more than anybody pastes,
for behind what waits there the reserved key would wait, too."""
_MOST_LEFT = 1 << 20
"""Bytes still taken after the end: an orphan may hold the terminal and write for ever."""
_QUIET = 0.05
_FAREWELL = 0.5
"""Seconds in which a stop that we must not wait for may still tell its outcome."""

Ended = TypeVar("Ended", covariant=True)


class Running(Protocol[Ended]):
    """A command that was handed the screen: the viewer's end of it."""

    @property
    def master(self) -> int | None:
        """The pseudo-terminal's master. It is made non-blocking."""

    def fileno(self) -> int:
        """Readable when something is told: the end, say."""

    def poll(self) -> Ended | None:
        """How it ended; None while it runs. Never waits."""

    def stop(self) -> object:
        """Kill all of it at once."""

    def stop_gently(self) -> object:
        """Interrupt it first."""

    def leave(self) -> object:
        """The viewer goes away: kill all of it at once, and say who did."""

    def resize(self, rows: int, columns: int) -> object:
        """The terminal has another size."""


def relay(
    running: Running[Ended],
    tty_in: int,
    tty_out: int,
    *,
    title: str,
    now: Callable[[], float] = time.monotonic,
    leave: int | None = None,
) -> Ended | None:
    """Give the real terminal to `running` until it has ended; the terminal is whole afterwards.

    `title` says what runs. `leave` is a descriptor that becomes readable when the viewer has to
    end. Then, and when the real terminal is gone, the command is stopped at once, and the answer
    is None unless its end is told within half a second. Otherwise it is what `poll` gave.
    Raises OSError or termios.error when `tty_in` or `tty_out` is no terminal.
    """
    master = running.master
    if master is None:
        raise ValueError("the command has no terminal: order it with one")
    os.set_blocking(master, False)
    with Terminal(tty_in, tty_out) as terminal:
        return _Relay(running, master, terminal, title=title, now=now, leave=leave).run()


class _Gone(Exception):
    """The real terminal is gone, or the viewer has to end."""


class _Relay(Generic[Ended]):
    """One command and the terminal it has."""

    def __init__(
        self,
        running: Running[Ended],
        master: int,
        terminal: Terminal,
        *,
        title: str,
        now: Callable[[], float],
        leave: int | None,
    ) -> None:
        self._running, self._master, self._terminal = running, master, terminal
        self._title, self._now, self._leave = title, now, leave
        self._began = now()
        self._keys, self._outflow = Keys(), Outflow()
        self._to_program, self._to_screen = bytearray(), bytearray()
        self._line = ""
        """The line that is up; "" when the program has the keys."""
        size = terminal.size()
        self._size = size if all(size) else (24, 80)
        self._typed_at = self._read_at = self._began
        self._nudged: float | None = None
        """When the row that was taken is given back."""
        self._told = False
        """Was something told, and it was not the end? It may stay readable: one turn without."""
        self._hung_up = False
        """Does nobody hold the program's side? It may be opened again: looked at each tick."""

    def run(self) -> Ended | None:
        """Until the end."""
        self._running.resize(*self._size)
        try:
            while (outcome := self._running.poll()) is None:
                self._turn()
                self._fit()
            self._drain()
        except _Gone:
            outcome = self._farewell()
        except BaseException:  # an interrupt, or a fault of ours: nothing runs on unseen
            self._running.stop()
            raise
        finally:
            self._terminal.alternate = self._outflow.alternate
            self._terminal.origin = self._outflow.origin
        return outcome

    def _turn(self) -> None:
        """Wait until something can pass, and pass it."""
        ready, free = self._ready()
        if self._leave in ready:
            raise _Gone
        if self._terminal.keys in ready:
            self._read_keys()
        self._press()
        if not self._line:  # which may have come up just now
            if self._master in ready or self._hung_up:
                self._read_program()
            elif self._now() - self._read_at >= _SOON:
                self._to_screen += self._outflow.rest()
        if self._master in free:
            self._write_program()
        if self._terminal.screen in free:
            self._write_screen()

    def _ready(self) -> tuple[list[int], list[int]]:
        """What can be read and what takes bytes, of all that we could use now."""
        wanted = [] if self._told else [self._running.fileno()]
        if self._leave is not None:
            wanted.append(self._leave)
        if len(self._to_program) < _MOST_KEYS:
            wanted.append(self._terminal.keys)
        if not (self._line or self._hung_up or len(self._to_screen) >= _MOST_SHOWN):
            wanted.append(self._master)
        full = [self._terminal.screen] if self._to_screen else []
        if self._to_program and not self._hung_up:
            full.append(self._master)
        hurry = self._keys.waiting or self._outflow.waiting
        ready, free, _ = select.select(wanted, full, [], _SOON if hurry else TICK)
        self._told = self._running.fileno() in ready
        return ready, free

    def _read_keys(self) -> None:
        try:
            data = os.read(self._terminal.keys, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            raise _Gone
        self._keys.feed(data)
        self._typed_at = self._now()

    def _press(self) -> None:
        """What was typed goes to the program, or to the line."""
        waited = self._now() - self._typed_at >= _SOON
        while press := self._keys.take(letters=bool(self._line), waited=waited):
            if self._line:
                self._choose(press)
            elif press.key == RESERVED:
                self._raise_line()
            else:
                self._to_program += press.data

    def _choose(self, press: Press) -> None:
        """A key for the line."""
        if press.key == RESERVED or press.answer:
            self._to_program += press.data
        if press.key in (RESERVED, "esc"):
            self._lower_line()
            self._nudge()
        elif press.key == "S":
            self._lower_line()
            self._running.stop()
        elif press.key == "i":
            self._lower_line()
            self._running.stop_gently()

    def _read_program(self) -> None:
        try:
            data = os.read(self._master, _CHUNK)
        except BlockingIOError:
            self._hung_up = False
            return
        except OSError:  # EIO: nobody holds the other side
            data = b""
        self._hung_up = not data
        self._to_screen += self._outflow.feed(data)
        self._read_at = self._now()

    def _write_program(self) -> None:
        try:
            del self._to_program[: os.write(self._master, self._to_program)]
        except BlockingIOError:
            pass
        except OSError:  # nobody will read it
            self._to_program.clear()

    def _write_screen(self) -> None:
        try:
            del self._to_screen[: os.write(self._terminal.screen, self._to_screen)]
        except BlockingIOError:
            pass
        except OSError as error:
            raise _Gone from error

    def _fit(self) -> None:
        """Hand on the terminal's size, give back the row that was taken, keep the line true."""
        size = self._terminal.size()
        moved = size != self._size and all(size)
        if moved or (self._nudged is not None and self._now() >= self._nudged):
            if self._line and moved:
                self._to_screen += stopline.cleared(self._size[0])
            self._size = size if all(size) else self._size
            self._nudged = None
            self._running.resize(*self._size)
        if self._line and (moved or not self._to_screen):
            text = self._said()
            if moved or text != self._line:
                self._line = text
                self._to_screen += stopline.again(text, self._size[0])

    def _said(self) -> str:
        return stopline.said(self._title, self._now() - self._began, self._size[1])

    def _raise_line(self) -> None:
        self._line = self._said()
        self._to_screen += stopline.raised(
            self._line, self._size[0], alternate=self._outflow.alternate
        )

    def _lower_line(self) -> None:
        self._line = ""
        self._to_screen += stopline.lowered(self._size[0])

    def _nudge(self) -> None:
        """Have the program paint again what the line covered."""
        rows, columns = self._size
        self._running.resize(max(rows - 1, 1), columns)
        self._nudged = self._now() + _NUDGE

    def _drain(self) -> None:
        """What the program said last, and no more: an orphan may go on."""
        if self._line:
            self._lower_line()
        left = _MOST_LEFT
        while left > 0 and select.select([self._master], [], [], _QUIET)[0]:
            try:
                data = os.read(self._master, _CHUNK)
            except OSError:
                break
            if not data:
                break
            left -= len(data)
            self._to_screen += self._outflow.feed(data)
            if not write_all(self._terminal.screen, bytes(self._to_screen)):
                return
            self._to_screen.clear()
        write_all(self._terminal.screen, bytes(self._to_screen) + self._outflow.rest())

    def _farewell(self) -> Ended | None:
        """Leave it, which stops it at once, and give the outcome if it is told soon."""
        self._running.leave()
        if self._line:
            self._lower_line()
            write_all(self._terminal.screen, bytes(self._to_screen), _QUIET)
        end = self._now() + _FAREWELL
        while (outcome := self._running.poll()) is None and (left := end - self._now()) > 0:
            select.select([self._running.fileno()], [], [], min(left, TICK))
        return outcome
