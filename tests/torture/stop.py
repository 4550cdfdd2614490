#!/usr/bin/env python3
"""Stop handed-over commands in every way there is, and look at what is left.

    PYTHONPATH=.:tests python tests/torture/stop.py trees --count 100     # of each shape
    PYTHONPATH=.:tests python tests/torture/stop.py viewer --count 200    # killed; terminal closed
    PYTHONPATH=.:tests python tests/torture/stop.py watchers --count 200  # stopped or killed
    PYTHONPATH=.:tests python tests/torture/stop.py races --count 10000   # with the natural end
    PYTHONPATH=.:tests python tests/torture/stop.py logs --count 1000     # what the log says then

trees    hard shapes (trees.py) under a real supervisor: nothing lives on, no zombie, and how long
         it takes from the request to the last one's end, as their FIFO tells it
viewer   the process that watches is killed, or its terminal goes: its command's tree has to follow
watchers the supervisor, its guard or both are stopped or killed, then everything is stopped or the
         viewer leaves: the tree has to follow
races    in one process that is the reaper: small trees that end by themselves while they are
         stopped. In a process namespace of its own, where a neighbour takes every number that
         becomes free at once: who signals by number hits it. Each signal is looked at, too
logs     an agent that appends to a native log is stopped at a random byte of it

tests/library/test_supervise_torture.py runs a small sample of each.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import build
import trees
from crowd import Neighbour, small_tree
from handed import environment, order, viewer

from sessionlog.reader import load
from sessionlog.repairs import plan_repair
from sessionlog.supervise import system, tree
from sessionlog.supervise.handle import new_run, start
from sessionlog.supervise.runs import live
from sessionlog.supervise.system import Pin, look


@dataclass
class Tally:
    """What many stops came to."""

    stops: int = 0
    killed: int = 0
    wrong: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)


def spread(seconds: list[float]) -> dict[str, float]:
    """In milliseconds."""
    ranked = sorted(seconds)
    at = {"median": 0.5, "p95": 0.95, "max": 1.0}
    pick = {
        name: ranked[min(int(len(ranked) * part), len(ranked) - 1)] for name, part in at.items()
    }
    return {name: round(1000 * value, 1) for name, value in pick.items()}


# -- trees -------------------------------------------------------------------------------------


def stop_trees(count: int, rng: random.Random, place: Path, tally: Tally) -> None:
    for shape in trees.SHAPES:
        gone, told = [], []
        for _ in range(count):
            fifo = trees.Fifo(place / "fifo")
            wanted = order(trees.command(shape, fifo.path), place / "x", screen=shape == "terminal")
            handle = start(wanted, environment(place))
            fifo.told(trees.SHAPES[shape])
            asked = time.monotonic()
            handle.stop()
            if not fifo.ended():
                tally.wrong.append(f"{shape}: still there: {fifo.left()}")
            gone.append(time.monotonic() - asked)
            outcome = handle.wait(20)
            told.append(time.monotonic() - asked)
            if outcome is None or outcome.stopped != "person" or outcome.problem:
                tally.wrong.append(f"{shape}: {outcome}")
            elif outcome.killed < 2:
                tally.wrong.append(f"{shape}: nothing was killed: {outcome}")
            else:
                tally.killed += outcome.killed
            tally.wrong += [f"{shape}: {left}" for left in fifo.left()]
            handle.close()
            fifo.close()
            tally.stops += 1
        tally.figures[shape] = {"gone": spread(gone), "told": spread(told)}


# -- the viewer --------------------------------------------------------------------------------


def lose_viewers(count: int, rng: random.Random, place: Path, tally: Tally) -> None:
    """The FIFO's end says when the last process of the tree was gone."""
    gone: dict[str, list[float]] = {"killed": [], "closed": []}
    shapes = list(trees.SHAPES)
    for turn in range(count):
        shape, how = shapes[turn // 2 % len(shapes)], ("killed", "closed")[turn % 2]
        fifo = trees.Fifo(place / "fifo")
        argv = viewer(shape, fifo.path, place / "log")
        watcher, master = pty.fork()
        if watcher == 0:
            os.execve(argv[0], argv, environment(place))
        fifo.told(trees.SHAPES[shape])
        asked = time.monotonic()
        if how == "killed":
            os.kill(watcher, signal.SIGKILL)
        else:
            os.close(master)
        if not fifo.ended():
            tally.wrong.append(f"{how}, {shape}: still there: {fifo.left()}")
        gone[how].append(time.monotonic() - asked)
        if how == "killed":
            os.close(master)
        status = os.waitpid(watcher, 0)[1]
        if not os.WIFSIGNALED(status):
            tally.wrong.append(f"{how}, {shape}: the viewer was not lost: {status}")
        tally.wrong += [f"{how}, {shape}: {left}" for left in fifo.left() if "lives" in left]
        fifo.close()
        tally.stops += 1
    tally.figures |= {how: spread(seconds) for how, seconds in gone.items() if seconds}


# -- who watches -------------------------------------------------------------------------------

HARMS = {
    "supervisor stopped": [(0, signal.SIGSTOP)],
    "supervisor killed": [(0, signal.SIGKILL)],
    "guard stopped": [(1, signal.SIGSTOP)],
    "guard killed": [(1, signal.SIGKILL)],
    "both stopped": [(1, signal.SIGSTOP), (0, signal.SIGSTOP)],
}
"""Whom a signal goes to: the supervisor, or its guard."""


def harm_watchers(count: int, rng: random.Random, place: Path, tally: Tally) -> None:
    """Each harm in turn, on each shape; then a stop, or the viewer leaves."""
    gone: dict[str, list[float]] = {name: [] for name in HARMS}
    for turn in range(count):
        name, shape = list(HARMS)[turn % len(HARMS)], rng.choice(list(trees.SHAPES))
        fifo = trees.Fifo(place / "fifo")
        wanted = order(trees.command(shape, fifo.path), place / "x", screen=shape == "terminal")
        handle = start(wanted, environment(place))
        fifo.told(trees.SHAPES[shape])
        asked = time.monotonic()
        for whom, number in HARMS[name]:
            os.kill(handle._watchers[whom].pid, number)
        time.sleep(rng.random() * 0.01)
        rng.choice((handle.stop, handle.leave, handle.close))()
        if not fifo.ended():
            tally.wrong.append(f"{name}, {shape}: still there: {fifo.left()}")
        gone[name].append(time.monotonic() - asked)
        handle.wait(20)
        tally.wrong += [f"{name}, {shape}: {left}" for left in fifo.left() if "lives" in left]
        handle.close()
        fifo.close()
        tally.stops += 1
    tally.figures |= {name: spread(seconds) for name, seconds in gone.items() if seconds}


# -- races -------------------------------------------------------------------------------------


class Spy:
    """The doors of signals, with a look at each that goes through."""

    def __init__(self) -> None:
        self.sent = 0
        self.wrong: list[str] = []

    def send(self, pin: Pin, number: int) -> bool:
        self.sent += 1
        pid, me = pin.process.pid, os.getpid()
        above = pid
        for _ in range(20):
            if above in (0, me):
                break
            above = look.parent(above)
        if above != me and pin.alive():
            self.wrong.append(f"signal {number} to {pid}, which is none of ours")
        return system.send(pin, number)

    def send_group(self, leader: int, number: int) -> None:
        self.sent += 1
        if look.parent(leader) != os.getpid() or look.group(leader) != leader:
            self.wrong.append(f"signal {number} to group {leader}, which is none of ours")
        system.send_group(leader, number)


def race(count: int, rng: random.Random, place: Path, tally: Tally) -> None:
    """In a process that becomes the reaper; the neighbour is not below it."""
    neighbour = Neighbour() if os.getpid() == 1 else None
    said, say = os.pipe()
    worker = os.fork()
    if worker == 0:
        found = Tally()
        try:
            race_as_reaper(count, rng, neighbour, found)
        except BaseException as error:
            found.wrong.append(repr(error))
        os.write(say, json.dumps(asdict(found)).encode())
        os._exit(0)
    os.close(say)
    with open(said, "rb") as file:
        vars(tally).update(json.loads(file.read() or b'{"wrong": ["the reaper is gone"]}'))
    os.waitpid(worker, 0)
    taken, hit = neighbour.end() if neighbour is not None else (0, 0)
    tally.figures["numbers used again"] = taken
    if hit:
        tally.wrong.append(f"{hit} processes of a neighbour were hit")


def race_as_reaper(
    count: int, rng: random.Random, neighbour: Neighbour | None, tally: Tally
) -> None:
    look.become_reaper()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    spy, itself = Spy(), 0
    for _ in range(count):
        leader = small_tree(rng)
        if neighbour is not None:
            neighbour.want(leader)
        tended = tree.Tree(leader, new_run(), spy.send, spy.send_group)
        until = time.monotonic() + rng.random() * 0.004
        while time.monotonic() < until and not tended.ended():
            time.sleep(0.0002)
        if rng.random() < 0.3:
            tended.interrupt()
        tended.end()
        if tended.status is None or tended.stays:
            tally.wrong.append(f"leader {leader} is not reaped, or {tended.stays} stay")
        itself += tended.status == 0
        tally.killed += tended.killed
        tally.stops += 1
    tally.figures["signals"] = spy.sent
    tally.wrong += spy.wrong
    tally.figures["ended by themselves"] = itself


def in_a_namespace(argv: list[str]) -> int | None:
    """Run again as the first process of a namespace; None where that cannot be."""
    apart = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    with suppress(OSError):
        if subprocess.run([*apart, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            again = [*apart, sys.executable, __file__, *argv]
            return subprocess.run(again, check=False).returncode
    return None


# -- logs --------------------------------------------------------------------------------------

APPENDER = """
import os, random, sys, time
rng, log = random.Random(int(sys.argv[3])), os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND)
with open(sys.argv[1], "rb") as file:
    data = file.read()
while data:
    size = rng.choice((1, 7, 50, 300, 900))
    os.write(log, data[:size])
    data = data[size:]
    time.sleep(rng.random() * 0.002)
time.sleep(60)
"""
"""An agent that writes its log in pieces that end anywhere."""


def stop_logs(count: int, rng: random.Random, place: Path, tally: Tally) -> None:
    torn = opened = 0
    for turn in range(count):
        log, script = place / f"log-{turn}.jsonl", place / "script"
        begun = [build.meta(), build.message("user", "go")]
        build.log(log, begun)
        script.write_bytes(b"".join(work(rng)))
        argv = [sys.executable, "-I", "-S", "-c", APPENDER, str(script), str(log), str(turn)]
        handle = start(order(argv, log, closes=True), environment(place))
        time.sleep(rng.random() * 0.12)
        handle.stop()
        outcome = handle.wait(30)
        handle.close()
        if outcome is None or outcome.problem or outcome.signal != signal.SIGKILL:
            tally.wrong.append(f"{turn}: {outcome}")
        else:
            tally.killed += outcome.killed
        tally.wrong += [f"{turn}: {fault}" for fault in faults(log)]
        data = log.read_bytes()
        torn += b'"sealed"' in data
        opened += b"Interrupted by the user." in data
        tally.stops += 1
        log.unlink()
    tally.figures |= {"in the middle of a line": torn, "with an open call": opened}


def work(rng: random.Random) -> list[bytes]:
    """What an agent appends: turns with one call or some, each answered before it goes on."""
    lines = []
    for turn in range(12):
        lines.append(build.message("bot", f"step {turn} " + "x" * rng.randrange(300)))
        calls = [f"call_{turn}_{i}" for i in range(rng.randrange(4))]
        lines += [build.event("toolCallStart", tool="shell") for _ in calls]
        lines += [build.request(call) for call in calls]
        lines += [build.response(call, result="y" * rng.randrange(600)) for call in calls]
    return lines


def faults(log: Path) -> list[str]:
    """What is wrong with the log of a run that was stopped."""
    session = load(log)
    found = []
    if not (session.complete and session.result is not None):
        found.append(f"not complete: {session.status}")
    if session.open_calls or session.orphan_results:
        found.append(f"{session.open_calls} open, {session.orphan_results} without a call")
    plan = plan_repair(session)
    if [*plan.closed, *plan.moved] or (plan.dropped and b'"sealed"' not in log.read_bytes()):
        found.append(f"a repair is needed: {plan}")
    return found


# -- all ---------------------------------------------------------------------------------------

KINDS: dict[str, Callable[[int, random.Random, Path, Tally], None]] = {
    "trees": stop_trees,
    "viewer": lose_viewers,
    "watchers": harm_watchers,
    "races": race,
    "logs": stop_logs,
}


def settle(place: Path, tally: Tally) -> None:
    """Wait for supervisors that still write how their run ended; their folder is to go."""
    until = time.monotonic() + 20
    while (runs := live(environment(place))) and time.monotonic() < until:
        time.sleep(0.005)
    tally.wrong += [f"still watching: {run}" for run in runs]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    if options.kind == "races" and os.getpid() != 1:
        code = in_a_namespace(argv)
        if code is not None:
            return code
    tally = Tally()
    with tempfile.TemporaryDirectory() as place:
        KINDS[options.kind](options.count, random.Random(options.seed), Path(place), tally)
        settle(Path(place), tally)
    if options.json:
        print(json.dumps(asdict(tally)))
    else:
        counts = f"{tally.stops} stops, {tally.killed} processes killed"
        print(f"{counts}, {len(tally.wrong)} wrong")
        for name, figure in tally.figures.items():
            print(f"  {name}: {figure}")
        for fault in tally.wrong[:20]:
            print(fault, file=sys.stderr)
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
