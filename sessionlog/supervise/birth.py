"""From the supervisor to the command: a session of its own, its terminal or pipes, then exec.

A fork is safe here, for the supervisor has one thread; in the viewer, which has many, it is not.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import termios
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn

from sessionlog.supervise.order import MARKER, Order
from sessionlog.supervise.system import look

UNSHARE = ("unshare", "--user", "--map-current-user", "--pid", "--fork", "--kill-child=SIGKILL")
"""util-linux 2.36 and later: a process namespace, and the kernel ends it with this process."""
_HEARD = ("SIGCHLD", "SIGHUP", "SIGINT", "SIGPIPE", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGXFSZ")
"""What a supervisor, or Python, does something of its own with."""


class NotStarted(Exception):
    """The command could not be started; in words."""


class Child(NamedTuple):
    """A command that runs, and the ends of its pipes that are ours; -1 where there is none."""

    pid: int
    out: int
    err: int


def start(
    order: Order, environ: Mapping[str, str], slave: int, has_log: Callable[[str], bool]
) -> Child:
    """Start the command of an order; `slave` is its end of a terminal, or -1: it is closed here.

    `has_log`: are there lines under a path? What runs first may end well and have done nothing.

    Raises NotStarted, in words, when the system refuses; nothing runs then.
    """
    out = err = told_out = told_err = -1
    if slave < 0:
        out, told_out = os.pipe()
        # one pipe for both keeps their order; a recording has to tell them apart
        err, told_err = os.pipe() if order.output else (-1, told_out)
        standard = (os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), told_out, told_err)
    else:
        standard = (slave, slave, slave)
    said, say = os.pipe()
    supervisor = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(order, environ, standard, say, supervisor, has_log)
    for fd in {*standard, say}:
        os.close(fd)
    refused = _heard(said)
    if refused:
        os.waitpid(pid, 0)
        raise NotStarted(refused)
    return Child(pid, out, err)


def _heard(fd: int) -> str:
    """What the child says before it becomes the command; "" once it has: the pipe closes then."""
    parts = []
    while part := os.read(fd, 4096):
        parts.append(part)
    os.close(fd)
    return str(json.loads(b"".join(parts))) if parts else ""


def _become(
    order: Order, environ: Mapping[str, str], standard: tuple[int, ...], say: int, parent: int,
    has_log: Callable[[str], bool],
) -> None:  # fmt: skip
    """In the child: become the command. Does not come back."""
    step = "cannot be started"
    try:
        signal.set_wakeup_fd(-1)
        for name in _HEARD:
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        os.setsid()
        if standard[0] == standard[1]:
            fcntl.ioctl(standard[0], termios.TIOCSCTTY, 0)
        for number, fd in enumerate(standard):
            os.dup2(fd, number)
        look.die_with_parent()
        if os.getppid() != parent:  # it ended before it was asked for
            os._exit(127)
        step = f"{order.cwd}: not a working directory"
        os.chdir(order.cwd)
        if order.before:
            _run_first(order, environ, say, has_log)
            say = -1
        step = f"{order.argv[0]}: cannot be run"
        _execute(order, order.argv, environ)
    except (OSError, ValueError) as error:
        words = f"{step}: {_words(error)}"
        os.write(*((say, json.dumps(words).encode()) if say >= 0 else (2, f"{words}\n".encode())))
    finally:
        os._exit(127)


def _execute(order: Order, argv: tuple[str, ...], environ: Mapping[str, str]) -> None:
    argv = (*UNSHARE, *argv) if order.namespace else argv
    os.execvpe(argv[0], argv, {**environ, **order.env, MARKER: order.run})


def _run_first(
    order: Order, environ: Mapping[str, str], say: int, has_log: Callable[[str], bool]
) -> None:
    """Run what has to run first, here and with the same output; ends this process where it fails.

    Whoever waits for the command hears that it has begun: this may take its time.
    """
    os.close(say)
    me = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            look.die_with_parent()
            if os.getppid() == me:
                _execute(order, order.before, environ)
        except (OSError, ValueError) as error:
            os.write(2, f"{order.before[0]}: cannot be run: {_words(error)}\n".encode())
        finally:
            os._exit(127)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
        _not_started(order, how, code if code > 0 else 128 - code)
    if order.log and not has_log(order.log):
        _not_started(order, "ended well, but brought nothing", 1, f": {order.log} is not there")


def _not_started(order: Order, why: str, code: int, more: str = "") -> NoReturn:
    words = f"{order.before[0]}: {why}, so {order.argv[0]} was not started{more}\n"
    os.write(2, words.encode(errors="surrogateescape"))
    os._exit(code)


def _words(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file, or the program that its first line names is missing"
    return getattr(error, "strerror", "") or str(error)
