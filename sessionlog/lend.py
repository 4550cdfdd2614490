"""Give this terminal to an agent until it has ended, and have it back whole."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

from sessionlog.relay import relay
from sessionlog.supervise.handle import Handle, Order, start
from sessionlog.supervise.order import Outcome
from sessionlog.text import visible

_LEAVING = ("SIGTERM", "SIGHUP")
_PATIENCE = 10.0
"""Seconds to wait for the outcome of a run that has ended: its log may have to be closed."""


def lend(order: Order, title: str, tty_in: int = 0, tty_out: int = 1) -> Outcome:
    """Run the order on this terminal; gives how it ended.

    `title` says in the line of the reserved key what runs. A signal that ends us stops the run
    first, and is acted on after it. Raises NotPossible when the program cannot be started.
    """
    with _leaving() as leave, contextlib.closing(start(order, size=_size(tty_out))) as handle:
        with contextlib.suppress(OSError):  # a terminal that is gone: the relay sees it, and stops
            os.write(tty_out, _announced(title))
        relay(handle, tty_in, tty_out, title=title, leave=leave)
        return handle.wait(_PATIENCE) or _unheard(handle)


def _unheard(handle: Handle) -> Outcome:
    """What is known of a run whose outcome does not come in time."""
    if handle.gone:
        return Outcome(problem="nothing of it runs any more; its log is still being closed")
    return Outcome(problem="its supervisor does not answer")


def _announced(title: str) -> bytes:
    """What stands on the terminal before the program writes."""
    said = f"{visible(title)} has this terminal; ctrl+] brings up: stop, gentle stop, go on"
    return said.encode() + b"\r\n"


def _size(tty: int) -> tuple[int, int]:
    """Rows and columns."""
    columns, rows = os.get_terminal_size(tty)
    return rows, columns


@contextlib.contextmanager
def _leaving() -> Iterator[int]:
    """A descriptor that can be read once a signal asks us to end. The handlers that were there
    are put back, and called then."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    came: list[int] = []

    def tell(number: int, _: object) -> None:
        came.append(number)
        with contextlib.suppress(OSError):
            os.write(write, b"x")

    before = {
        number: signal.signal(number, tell)
        for name in _LEAVING
        if (number := getattr(signal, name, None)) is not None
    }
    try:
        yield read
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(read)
        os.close(write)
        for number in came:
            signal.raise_signal(number)
