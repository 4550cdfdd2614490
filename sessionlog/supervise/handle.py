"""The viewer's end of a run: start a supervisor, tell it to stop, hear how it ended.

Between the two is one socket. Whatever ends the viewer ends its side of it, and the supervisor
kills everything, or its guard does: no run outlives who watches it. Nothing in here waits for a
run, but `wait`.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sessionlog.errors import NotPossible, words_of
from sessionlog.supervise import order as words
from sessionlog.supervise import runs, system
from sessionlog.supervise.order import Order, Outcome, new_run
from sessionlog.supervise.place import not_possible
from sessionlog.supervise.system import Process
from sessionlog.supervise.tree import uproot

__all__ = ["Handle", "Order", "Outcome", "new_run", "start"]

_SOON = 15.0
"""Seconds in which a supervisor says that its command runs, on the busiest machine."""
_HOME = os.path.join(os.path.dirname(__file__), "..", "..")
"""Where this package is imported from, whatever finds it here."""
_LAST = 5.0
"""Seconds without a word after which a stop is made from here."""
_BOOT = "import sys; sys.path[:] = sys.argv[3:]; from sessionlog.supervise.guard import main; \
sys.exit(main(sys.argv[1:3]))"
"""Isolated and without site: it starts faster, nothing of the environment acts on it, and it
imports from where the viewer does."""


def start(
    order: Order,
    environ: Mapping[str, str] = os.environ,
    size: tuple[int, int] | None = None,
) -> Handle:
    """Start the command of an order under a supervisor of its own.

    `environ` is the environment of the command, but for what is added; `size` (rows, columns) that
    of its terminal, where it gets one. Raises NotPossible, in words, before anything starts: no
    such program, one that may not be run, no such folder, no namespaces here; and when the system
    refuses to run the program after all.
    """
    why = not_possible(order, environ)
    if why:
        raise NotPossible(why)
    order = order._replace(
        argv=tuple(order.argv), before=tuple(order.before), cwd=os.path.abspath(order.cwd),
        log=_absolute(order.log), source=_absolute(order.source),
    )  # fmt: skip
    master, slave = os.openpty() if order.screen else (-1, -1)
    handle = None
    try:
        if size is not None and master >= 0:
            _resize(master, *size)
        control, process = _launched(environ, slave)
        handle = Handle(order, process, control, master, runs.path_of(order.run, environ))
        handle._begin()
    except BaseException:
        if handle is not None:
            handle.close()
        elif master >= 0:
            os.close(master)
        raise
    finally:
        if slave >= 0:
            os.close(slave)
    return handle


def _absolute(path: str) -> str:
    return os.path.abspath(path) if path else ""


def _launched(
    environ: Mapping[str, str], slave: int
) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """A guard that waits for the order it is to have supervised, and the socket to it."""
    ours, theirs = socket.socketpair()
    passed = [fd for fd in (theirs.fileno(), slave) if fd >= 0]
    path = [os.path.abspath(place) for place in (_HOME, *sys.path)]
    argv = [sys.executable, "-I", "-S", "-c", _BOOT, str(theirs.fileno()), str(slave), *path]
    try:
        process = subprocess.Popen(
            argv, env=dict(environ), cwd="/", pass_fds=passed, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        ours.close()
        why = words_of(error)
        raise NotPossible(f"{sys.executable}: no supervisor can be started: {why}") from None
    finally:
        theirs.close()
    return ours, process


def _resize(master: int, rows: int, columns: int) -> None:
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Handle:
    """A run that was started. Its methods may be called from any thread."""

    def __init__(
        self,
        order: Order,
        process: subprocess.Popen[bytes],
        control: socket.socket,
        master: int,
        journal: str,
    ) -> None:
        self.order = order
        self.master: int | None = master if master >= 0 else None
        """The viewer's end of the command's terminal."""
        self.command = 0
        """The number of the command's first process."""
        self.gone = False
        """Nothing of it runs any more; its log is closed meanwhile, then the outcome comes."""
        self.killed = 0
        """While it is stopped: how many of its processes are dead."""
        self._process = process
        self._watchers: tuple[Process, ...] = ()
        """The supervisor and its guard."""
        self._control = control
        self._journal = journal
        self._began = words.stamp()
        self._outcome: Outcome | None = None
        self._lock = threading.Lock()
        self._waiting = threading.Lock()
        self._closed = False
        self._sweeping: threading.Thread | None = None
        self._insisting = False
        self._said = b""
        self._heard = 0

    @property
    def pid(self) -> int:
        """The supervisor's number."""
        return self._watchers[0].pid if self._watchers else 0

    def fileno(self) -> int:
        """A descriptor that is readable when `poll` has something to hear; -1 when closed."""
        return self._control.fileno()

    def poll(self) -> Outcome | None:
        """How it ended; None while it runs. Never blocks."""
        with self._lock:
            if self._outcome is None and not self._closed:
                self._hear()
            if self._outcome is not None:
                self._process.poll()
            return self._outcome

    def wait(self, timeout: float | None = None) -> Outcome | None:
        """Wait so many seconds for its end; None when it has not come, or after `close`."""
        until = None if timeout is None else time.monotonic() + timeout
        if not self._waiting.acquire(timeout=-1 if timeout is None else timeout):
            return self.poll()
        try:
            while (outcome := self.poll()) is None and not self._closed:
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    break
                if self._sweeping is not None:
                    self._sweeping.join(left)
                else:
                    select.select([self._control], [], [], left)
            return outcome
        finally:
            self._waiting.release()

    def stop(self) -> None:
        """Kill all of it at once. Nothing happens when it has ended.

        The supervisor does it; where it does not, its guard; where neither does, we do.
        """
        self._say(words.STOP)
        self._see(signal.SIGUSR2)
        with self._lock:
            if self._insisting or self._outcome is not None or self._closed:
                return
            self._insisting = True
        threading.Thread(target=self._insist, daemon=True).start()

    def stop_gently(self) -> None:
        """Interrupt it, as ctrl+c does; what has not ended after two seconds is killed."""
        self._say(words.GENTLE)
        self._see()

    def leave(self) -> None:
        """The viewer goes away: all of it is killed, as by `close`; its end can still be heard."""
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        self._see()

    def resize(self, rows: int, columns: int) -> None:
        """Tell its terminal the size; the program hears of it. Nothing without a terminal."""
        with self._lock:
            if self.master is not None:
                _resize(self.master, rows, columns)

    def close(self) -> None:
        """Let go of it: what runs still is killed by its supervisor. Does not wait for that."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            with suppress(OSError):  # wakes who waits
                self._control.shutdown(socket.SHUT_RDWR)
            if self.master is not None:
                os.close(self.master)
                self.master = None
        with self._waiting:
            self._control.close()
        self._see()
        if self._process.poll() is None:
            threading.Thread(target=self._process.wait, daemon=True).start()

    def _begin(self) -> None:
        """Give the order, and hear that the command runs. Raises NotPossible when it does not."""
        self._control.settimeout(_SOON)
        try:
            self._control.sendall(words.line(words.of_order(self.order)))
            while not self._said.endswith(b"\n"):
                part = self._control.recv(1)  # what follows the line is for `poll`
                if not part:
                    raise ConnectionResetError("it ended without a word")
                self._said += part
        except OSError as error:
            raise NotPossible(f"no supervisor could be started: {words_of(error)}") from None
        self._control.setblocking(False)
        told, self._said = words.read(self._said), b""
        if "failed" in told:
            raise NotPossible(str(told["failed"]))
        self.command = int(told["started"])
        self._watchers = tuple(Process(**told[who]) for who in ("supervisor", "guard"))

    def _say(self, word: bytes) -> None:
        with suppress(OSError):  # it has ended: there is nothing to stop
            self._control.send(word + b"\n")

    def _see(self, number: int = signal.SIGCONT) -> None:
        """Tell the guard to see that it is stopped; somebody may have stopped the two of them."""
        for process, signals in zip(
            self._watchers, ((signal.SIGCONT,), (number, signal.SIGCONT)), strict=False
        ):
            held = system.pin_process(process)
            if held is not None:
                for each in signals:
                    system.send(held, each)
                held.close()

    def _insist(self) -> None:
        """See to a stop: what neither the supervisor nor its guard does is done here."""
        for process in (*self._watchers, None):
            before, until = -1, 0.0
            while (heard := self._progress()) is not None:
                if heard != before:
                    before, until = heard, time.monotonic() + _LAST
                elif time.monotonic() > until:
                    break
                time.sleep(0.05)
            held = system.pin_process(process) if process and heard is not None else None
            if held is not None:
                uproot(held)
                held.close()

    def _progress(self) -> int | None:
        """How much was told so far, heard or not; None when there is nothing to insist on."""
        with self._lock:
            if self.gone or self._closed or self._outcome is not None or self._sweeping:
                return None
            try:
                said = self._control.recv(1 << 16, socket.MSG_PEEK)
            except BlockingIOError:
                return self._heard
            except OSError:
                return None
        over = not said or b'"gone"' in said or b'"ended"' in said
        return None if over else self._heard + len(said)

    def _hear(self) -> None:
        """Take what the supervisor has said."""
        if self._sweeping is not None:
            return
        try:
            while part := self._control.recv(1 << 16):
                self._said += part
                self._heard += len(part)
            ended = True
        except BlockingIOError:
            ended = False
        except OSError:
            ended = True
        *lines, self._said = self._said.split(b"\n")
        for told in map(words.read, lines):
            self._take(told)
        if ended and self._outcome is None:
            self._sweeping = threading.Thread(target=self._sweep, daemon=True)
            self._sweeping.start()

    def _take(self, told: Mapping[str, Any]) -> None:
        self.killed = told.get("killing", self.killed)
        if "gone" in told:
            self.gone = True
        if "ended" in told:
            self.gone = True
            self._outcome = words.read_outcome(told["ended"])

    def _sweep(self) -> None:
        """The supervisor has ended without a word: kill what it left, from here."""
        outcome = Outcome(began=self._began, problem="its supervisor was killed")
        try:
            outcome = runs.lost(self.order.run, self._journal, self._began)
        finally:
            with self._lock:
                self.gone = True
                self._outcome = outcome
