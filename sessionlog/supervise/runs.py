"""The journal of runs: what was handed over, whether it runs still, and how it ended.

One file a run, written by its supervisor when the command has started and when it has ended, for
whoever was not there: `sessionlog stop`, or the viewer of tomorrow. It is looked at and never
relied on by the supervisor itself: a journal that cannot be written stops no stop.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from sessionlog.errors import NotPossible, SessionNotFound, Unreadable
from sessionlog.paths import open_regular, private_folder, runs_folder
from sessionlog.secrets import mask, mask_value
from sessionlog.supervise import system
from sessionlog.supervise.order import (
    COMMAND,
    Order,
    Outcome,
    number,
    of_outcome,
    read_outcome,
    stamp,
    text,
)
from sessionlog.supervise.system import Pin, Process
from sessionlog.supervise.tree import sweep, uproot

VERSION = 1
KEPT = 1_000
"""Files that are kept; runs that run are kept in any case."""
_LIVE = ".live"
_LOOK = 0.01
_ASKED = 0.5
"""Seconds that a supervisor is given to begin with the killing before its guard is told."""
_SLOW = 5.0
"""Seconds that both are given to kill everything before it is done without them."""
_LAST = 2.0
"""Seconds that a guard is given to reap what is dead and to write that down."""
_CLOSING = 1.0
"""Seconds that a log's closing is waited for once nothing runs any more."""
_LONGEST, _MOST_WORDS = 1_024, 64
"""Characters of a text, and arguments, that are written: a command may have megabytes of them."""
_LARGEST = 1 << 20
"""Bytes of a file that are read: more than the bounds above let through, in JSON."""


class Run(NamedTuple):
    """A run as it stands in the journal. Its texts are masked; they may be hostile."""

    run: str
    session: str
    log: str
    source: str
    agent: str
    argv: tuple[str, ...]
    cwd: str
    screen: bool
    supervisor: Process
    began: str
    ended: Outcome | None
    """None: it runs, or its supervisor ended without a word."""
    path: str
    """Its file."""
    guard: Process | None = None
    """Who watches the supervisor."""
    space: str = ""
    """Where the numbers of its processes mean something, as `look.space` says it; "": anywhere."""
    gone: Outcome | None = None
    """Nothing of it runs any more, while its log is closed still."""

    @property
    def here(self) -> bool:
        """Can its processes be seen from here? Not from another machine or process namespace."""
        return self.space in ("", system.look.space())


# -- what the supervisor writes ---------------------------------------------------------------


def begin(
    order: Order, environ: Mapping[str, str] = os.environ, guard: Process | None = None
) -> str:
    """Write that a run has begun, by this process; gives what stood in the way, or ""."""
    me = system.identity(os.getpid()) or Process(os.getpid(), "")
    argv = [_clipped(str(word)) for word in mask_value(list(order.argv[:_MOST_WORDS]))]
    begun = {
        "v": VERSION, "run": order.run, "session": _clipped(order.session), "log": order.log,
        "source": order.source, "agent": _clipped(order.agent), "argv": argv,
        "cwd": order.cwd, "screen": order.screen, "supervisor": me._asdict(),
        "guard": guard._asdict() if guard is not None else None, "space": system.look.space(),
        "began": stamp(), "gone": None, "ended": None,
    }  # fmt: skip
    path = path_of(order.run, environ)
    problem = _written(path, begun)
    if not problem:
        with suppress(OSError):
            os.close(os.open(_mark(path), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    return problem


def gone(order: Order, outcome: Outcome, environ: Mapping[str, str] = os.environ) -> str:
    """Write that nothing of a run runs any more; its log is closed next. As `begin`."""
    return _over(path_of(order.run, environ), "gone", outcome)


def end(order: Order, outcome: Outcome, environ: Mapping[str, str] = os.environ) -> str:
    """Write how a run ended, and let go of the oldest files; as `begin`."""
    path = path_of(order.run, environ)
    problem = _over(path, "ended", outcome)
    with suppress(OSError):
        _forget(os.path.dirname(path))
    return problem


def path_of(run: str, environ: Mapping[str, str] = os.environ) -> str:
    """The file of a run."""
    return os.path.join(runs_folder(environ), f"{run}.json")


def _mark(path: str) -> str:
    """The empty file that stands beside a run's while it runs: who asks what runs, and that is
    asked often, does not read the whole journal."""
    return path.removesuffix(".json") + _LIVE


def _over(path: str, what: str, outcome: Outcome) -> str:
    """Write an outcome as what is `gone`, or `ended`."""
    with suppress(OSError):
        os.unlink(_mark(path))
    fields = _fields(path)
    if fields is None:
        return ""  # its beginning could not be written either: that is told already
    told = of_outcome(outcome)
    told |= {"tail": mask(str(told["tail"])), "problem": _clipped(outcome.problem)}
    return _written(path, {**fields, what: told})


def _clipped(text: str) -> str:
    """As much of a text as is written, without what no file can hold."""
    text = text[:_LONGEST]
    return text.encode("utf-8", "surrogateescape" if _whole(text) else "replace").decode(
        "utf-8", "surrogateescape"
    )


def _whole(text: str) -> bool:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _written(path: str, fields: Mapping[str, Any]) -> str:
    """Write a file whole or not at all, its owner's alone."""
    beside = f"{path}.{os.getpid()}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        private_folder(os.path.dirname(path))
        fd = os.open(beside, flags, 0o600)
        try:
            os.fchmod(fd, 0o600)
            with open(fd, "wb", closefd=False) as file:
                file.write(json.dumps(fields).encode() + b"\n")
            os.replace(beside, path)
        except OSError:
            os.unlink(beside)
            raise
        finally:
            os.close(fd)
    except OSError as error:
        return f"{path}: the journal is not written: {error.strerror or error}"
    return ""


def _forget(where: str) -> None:
    """Let go of the oldest files, and of the marks of what was killed with all who watched it."""
    names = sorted(os.listdir(where))
    files = [name for name in names if name.endswith(".json")]
    for name in files[:-KEPT]:
        run = _read(os.path.join(where, name))
        if run is None or not _runs(run):
            os.unlink(os.path.join(where, name))
    for name in names:
        path = os.path.join(where, name)
        if name.endswith(_LIVE):
            run = _read(path.removesuffix(_LIVE) + ".json")
            if run is None or (run.here and not _runs(run)):
                os.unlink(path)


# -- what everybody reads ---------------------------------------------------------------------


def known(environ: Mapping[str, str] = os.environ, limit: int = KEPT) -> list[Run]:
    """The runs in the journal, newest first; a file that is none of ours is passed over."""
    where = runs_folder(environ)
    try:
        names = sorted((n for n in os.listdir(where) if n.endswith(".json")), reverse=True)
    except OSError:
        return []
    found = (_read(os.path.join(where, name)) for name in names[:limit])
    return [run for run in found if run is not None]


def live(environ: Mapping[str, str] = os.environ) -> list[Run]:
    """The runs whose supervisor lives, newest first."""
    where = runs_folder(environ)
    try:
        names = sorted((n for n in os.listdir(where) if n.endswith(_LIVE)), reverse=True)
    except OSError:
        return []
    found = (_read(os.path.join(where, name.removesuffix(_LIVE) + ".json")) for name in names)
    return [run for run in found if run is not None and _runs(run)]


def find(ref: str, environ: Mapping[str, str] = os.environ) -> Run:
    """The run that a reference means: its token, its session's id, a unique head of one of them,
    the path of its log or of the log it came from, or `last`.

    Runs that run come first; of those that have ended the newest. Raises SessionNotFound, with
    what runs, when there is none or several that run.
    """
    every = known(environ)
    running = live(environ)
    for means in (_is, _begins):
        found = [run for run in running if means(run, ref)]
        if len(found) > 1 and ref != "last":
            raise SessionNotFound(f"{ref}: {len(found)} runs are that; name one of {_named(found)}")
        found = found or [run for run in every if means(run, ref)]
        if found:
            return found[0]
    said = f"running: {_named(running)}" if running else "nothing is running"
    raise SessionNotFound(f"{ref}: nothing was handed over under that id; {said}")


def stop(run: Run, gentle: bool = False) -> Outcome | None:
    """Stop a run from outside; None when it had ended already.

    Its supervisor does it, else its guard; both are known by number and start. Where neither does
    it, it is done from here. What is waited for is the end of its processes; of its log's closing
    only the beginning. Raises NotPossible for a run whose processes cannot be seen from here:
    nothing is known of them, and nothing is written.
    """
    if run.ended is not None or run.gone is not None:
        return None
    if not run.here:
        raise NotPossible(
            f"{run.run}: its processes cannot be seen from here: it was started on another machine,"
            " before this one was started again, or in another process namespace; stop it there"
        )
    held = [pin for pin in map(_held, (run.supervisor, run.guard)) if pin is not None]
    try:
        _asked(run, held, gentle)
    finally:
        for pin in held:
            pin.close()
    now = _read(run.path)
    if now is not None and now.ended is not None:
        return now.ended if held else None
    if now is not None and now.gone is not None and held:
        return now.gone._replace(problem="its log is still being closed")
    return lost(run.run, run.path, run.began, COMMAND)


def _held(process: Process | None) -> Pin | None:
    return system.pin_process(process) if process is not None else None


def _asked(run: Run, held: list[Pin], gentle: bool) -> None:
    """Have the supervisor do it, then its guard, then do it."""
    grace = 2.0 if gentle else 0.0
    for pin in held:
        if pin.process == run.supervisor:
            system.send(pin, signal.SIGUSR1 if gentle else signal.SIGTERM)
        system.send(pin, signal.SIGCONT)
    if _came(run, held, grace + _ASKED):
        return
    for pin in held:
        if pin.process == run.guard:
            system.send(pin, signal.SIGTERM)
        system.send(pin, signal.SIGCONT)
    if _came(run, held, _SLOW):
        return
    for pin in held:  # the supervisor first: what is left of it is its guard's
        uproot(pin)
        if _came(run, held, _LAST):
            return


def _came(run: Run, held: list[Pin], seconds: float) -> bool:
    """Wait for the end of its processes, and a little for that of its log's closing."""
    until = time.monotonic() + seconds
    closing = False
    while any(pin.alive() for pin in held):
        now = _read(run.path)
        if now is not None and now.ended is not None:
            return True
        if now is not None and now.gone is not None and not closing:
            closing, until = True, time.monotonic() + _CLOSING
        if time.monotonic() > until:
            return closing
        time.sleep(_LOOK)
    return True


def lost(run: str, path: str, began: str, stopped: str = "") -> Outcome:
    """Kill what is left of a run whose supervisor ended without a word, and write that down."""
    killed = sweep(run)
    outcome = Outcome(
        stopped=stopped, killed=killed, left_over=killed, began=began, ended=stamp(),
        problem="its supervisor was killed; what carried its marker was killed from outside",
    )  # fmt: skip
    _over(path, "ended", outcome)
    return outcome


def _runs(run: Run) -> bool:
    if run.ended is not None or run.gone is not None or not run.here:
        return False
    return any(map(_lives, (run.supervisor, run.guard)))


def _lives(process: Process | None) -> bool:
    return process is not None and system.look.started(process.pid) == process.started != ""


def _is(run: Run, ref: str) -> bool:
    paths = (run.log, run.source)
    return ref in (run.run, run.session, "last") or ref in paths or os.path.abspath(ref) in paths


def _begins(run: Run, ref: str) -> bool:
    return bool(ref) and (run.run.startswith(ref) or run.session.startswith(ref))


def _named(runs: Iterable[Run]) -> str:
    return ", ".join(f"{run.run} ({run.session})" for run in runs)


def _fields(path: str) -> dict[str, Any] | None:
    """The object in a file; None for what is no file, and for what is too large to be ours."""
    try:
        fd = open_regular(path)
    except Unreadable:
        return None
    try:
        with open(fd, "rb") as file:
            fields = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) and fields.get("v") == VERSION else None


def _read(path: str) -> Run | None:
    """The run in a file; None for what is none. Whoever may write to the folder may have made it,
    so every field is looked at here."""
    fields = _fields(path)
    try:
        return _run(fields, path) if fields is not None else None
    except (KeyError, TypeError, ValueError):
        return None


def _run(fields: Mapping[str, Any], path: str) -> Run:
    """Raises KeyError, TypeError or ValueError for what is none."""
    if fields["run"] != os.path.basename(path).removesuffix(".json"):
        raise ValueError("it tells of another run")
    if not isinstance(fields["screen"], bool) or not isinstance(fields["argv"], list):
        raise ValueError("screen or argv")
    guard, over, ended = fields.get("guard"), fields.get("gone"), fields["ended"]
    return Run(
        run=text(fields["run"]), session=text(fields["session"]), log=text(fields["log"]),
        source=text(fields["source"]), agent=text(fields["agent"]),
        argv=tuple(map(text, fields["argv"])), cwd=text(fields["cwd"]),
        screen=fields["screen"], supervisor=_process(fields["supervisor"]),
        began=text(fields["began"]), ended=None if ended is None else read_outcome(ended),
        path=path, guard=None if guard is None else _process(guard),
        space=text(fields.get("space", "")), gone=None if over is None else read_outcome(over),
    )  # fmt: skip


def _process(fields: Mapping[str, Any]) -> Process:
    """Everybody's first process is no supervisor, and no number means a process without a start."""
    return Process(number(fields["pid"], least=2), text(fields["started"]))
