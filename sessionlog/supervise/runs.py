"""The journal of runs: what was handed over, whether it runs still, and how it ended.

One file a run, written by its supervisor when the command has started and when it has ended, for
whoever was not there: `sessionlog stop`, or the viewer of tomorrow. It is looked at and never
relied on by the supervisor itself: a journal that cannot be written stops no stop.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from sessionlog.errors import SessionNotFound
from sessionlog.paths import private_folder, runs_folder
from sessionlog.secrets import mask, mask_value
from sessionlog.supervise import system
from sessionlog.supervise.order import COMMAND, Order, Outcome, of_outcome, read_outcome, stamp
from sessionlog.supervise.system import Process
from sessionlog.supervise.tree import sweep

VERSION = 1
KEPT = 1_000
"""Files that are kept; runs that run are kept in any case."""
_LIVE = ".live"
_SLOW = 5.0
"""Seconds that a supervisor is given to end before it is killed and its run swept."""


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


# -- what the supervisor writes ---------------------------------------------------------------


def begin(order: Order, environ: Mapping[str, str] = os.environ) -> str:
    """Write that a run has begun, by this process; gives what stood in the way, or ""."""
    me = system.identity(os.getpid()) or Process(os.getpid(), "")
    begun = {
        "v": VERSION, "run": order.run, "session": order.session, "log": order.log,
        "source": order.source, "agent": order.agent, "argv": mask_value(list(order.argv)),
        "cwd": order.cwd, "screen": order.screen, "supervisor": me._asdict(),
        "began": stamp(), "ended": None,
    }  # fmt: skip
    path = path_of(order.run, environ)
    problem = _written(path, begun)
    if not problem:
        with suppress(OSError):
            os.close(os.open(_mark(path), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    return problem


def end(order: Order, outcome: Outcome, environ: Mapping[str, str] = os.environ) -> str:
    """Write how a run ended, and let go of the oldest files; as `begin`."""
    path = path_of(order.run, environ)
    problem = _ended(path, outcome)
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


def _ended(path: str, outcome: Outcome) -> str:
    with suppress(OSError):
        os.unlink(_mark(path))
    fields = _fields(path)
    if fields is None:
        return ""  # its beginning could not be written either: that is told already
    ended = of_outcome(outcome)
    return _written(path, {**fields, "ended": {**ended, "tail": mask(str(ended["tail"]))}})


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
    names = sorted(name for name in os.listdir(where) if name.endswith(".json"))
    for name in names[:-KEPT]:
        run = _read(os.path.join(where, name))
        if run is None or not _runs(run):
            os.unlink(os.path.join(where, name))


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

    Its supervisor does it, which is known by number and start; where that is gone or does not
    answer, what carries the run's marker is killed from here, and the outcome says so.
    """
    if run.ended is not None:
        return None
    held = system.pin_process(run.supervisor)
    if held is not None:
        system.send(held, signal.SIGUSR1 if gentle else signal.SIGTERM)
        if not held.wait(_SLOW + (2 * gentle)):
            system.send(held, signal.SIGKILL)
            held.wait(_SLOW)
        held.close()
    now = _read(run.path)
    if now is not None and now.ended is not None:
        return now.ended if held is not None else None
    return lost(run.run, run.path, run.began, COMMAND)


def lost(run: str, path: str, began: str, stopped: str = "") -> Outcome:
    """Kill what is left of a run whose supervisor ended without a word, and write that down."""
    killed = sweep(run)
    outcome = Outcome(
        stopped=stopped, killed=killed, left_over=killed, began=began, ended=stamp(),
        problem="its supervisor was killed; what carried its marker was killed from outside",
    )  # fmt: skip
    _ended(path, outcome)
    return outcome


def _runs(run: Run) -> bool:
    return run.ended is None and system.look.started(run.supervisor.pid) == run.supervisor.started


def _is(run: Run, ref: str) -> bool:
    paths = (run.log, run.source)
    return ref in (run.run, run.session, "last") or ref in paths or os.path.abspath(ref) in paths


def _begins(run: Run, ref: str) -> bool:
    return bool(ref) and (run.run.startswith(ref) or run.session.startswith(ref))


def _named(runs: Iterable[Run]) -> str:
    return ", ".join(f"{run.run} ({run.session})" for run in runs)


def _fields(path: str) -> dict[str, Any] | None:
    try:
        with open(path, "rb") as file:
            fields = json.loads(file.read(1 << 20))
    except (OSError, ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) and fields.get("v") == VERSION else None


def _read(path: str) -> Run | None:
    fields = _fields(path)
    try:
        if fields is None:
            return None
        ended, supervisor = fields["ended"], fields["supervisor"]
        return Run(
            run=str(fields["run"]), session=str(fields["session"]), log=str(fields["log"]),
            source=str(fields["source"]), agent=str(fields["agent"]),
            argv=tuple(map(str, fields["argv"])), cwd=str(fields["cwd"]),
            screen=bool(fields["screen"]),
            supervisor=Process(int(supervisor["pid"]), str(supervisor["started"])),
            began=str(fields["began"]), ended=read_outcome(ended) if ended else None, path=path,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError):
        return None
