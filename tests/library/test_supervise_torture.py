"""Samples of the long runs of tests/torture/stop.py, and what only a process of its own can try."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trees
from handed import TESTS, environment, order

from sessionlog.supervise import elsewhere, linux
from sessionlog.supervise.handle import start
from sessionlog.supervise.place import namespace_problem

ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{TESTS.parent}:{TESTS}"}


@pytest.mark.parametrize(
    ("kind", "count"), [("trees", 2), ("viewer", 4), ("watchers", 8), ("races", 200), ("logs", 10)]
)
def test_nothing_is_left_and_nobody_else_is_hit(kind: str, count: int) -> None:
    argv = [sys.executable, str(TESTS / "torture" / "stop.py"), kind, "--count", str(count),
            "--json", "--seed", str(os.getpid())]  # fmt: skip
    done = subprocess.run(argv, capture_output=True, text=True, env=ENVIRONMENT)
    tally = json.loads(done.stdout)
    assert (tally["wrong"], done.returncode) == ([], 0)
    assert tally["stops"] == count * (len(trees.SHAPES) if kind == "trees" else 1)
    assert tally["killed"] > 0 or kind in ("viewer", "watchers")


def child(code: str) -> Any:
    """What a process of its own prints, as JSON."""
    argv = [sys.executable, "-c", code]
    done = subprocess.run(argv, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


REFUSED = """
import json, os, signal
from sessionlog.supervise import system
from sessionlog.supervise.tree import Tree
from sessionlog.supervise.system import look
look.become_reaper()
leader = os.fork()
if leader == 0:
    os.execvp("sleep", ["sleep", "1000"])
tended = Tree(leader, "r", lambda pin, number: False, lambda leader, number: None)
tended.end()
told = [tended.killed, list(tended.stays) == [leader]]
os.kill(leader, signal.SIGKILL)
print(json.dumps(told))
"""


def test_what_may_not_be_killed_is_told_and_not_waited_for() -> None:
    assert child(REFUSED) == [0, True]


SLOW = """
import json, os, signal, time
from sessionlog.supervise import system, tree
from sessionlog.supervise.system import look
look.become_reaper()
forks = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1000 & done; echo; exec sleep 1000"
said, say = os.pipe()
leader = os.fork()
if leader == 0:
    os.dup2(say, 1)
    os.execvp("sh", ["sh", "-c", forks])
os.read(said, 1)
allowed = 0
def one_a_round(pin, number):
    global allowed
    if number == signal.SIGSTOP:
        allowed = 1
        return True
    allowed -= 1
    return system.send(pin, number) if allowed == 0 else True
heard = []
tended = tree.Tree(leader, "r", one_a_round, lambda leader, number: None)
began = time.monotonic()
tended.end(tree._ROUND * 3, heard.append)
took = time.monotonic() - began
print(json.dumps([tended.killed, list(tended.stays), took > tree._ROUND * 6, 5 in heard]))
"""


def test_a_tree_is_killed_to_its_end_however_long_it_takes() -> None:
    assert child(SLOW) == [13, [], True, True]


@pytest.mark.skipif(namespace_problem() != "", reason="no process namespaces here")
def test_in_a_namespace_the_kernel_ends_all_of_it(tmp_path: Path) -> None:
    # also what has its own session and a parent that is gone, when nobody is left to look for it
    fifo = trees.Fifo(tmp_path / "fifo")
    wanted = order(trees.command("orphans", fifo.path), tmp_path / "log", namespace=True)
    handle = start(wanted, environment(tmp_path))
    fifo.told(trees.SHAPES["orphans"])
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in reversed(handle._watchers):
            os.kill(process.pid, number)
    assert fifo.ended()
    handle.close()
    fifo.close()


def test_children_are_found_where_the_kernel_lists_none() -> None:
    ours = subprocess.Popen(["sleep", "1000"])
    try:
        assert ours.pid in linux.children(os.getpid())
        assert ours.pid in linux._looked_up(os.getpid())
    finally:
        ours.kill()
        ours.wait()


@pytest.mark.skipif(shutil.which("ps") is None, reason="no ps here")
def test_ps_tells_what_proc_does() -> None:
    me = os.getpid()
    assert elsewhere.parent(me) == linux.parent(me) == os.getppid()
    assert elsewhere.group(me) == linux.group(me) == os.getpgrp()
    assert elsewhere.started(me) == elsewhere.started(me) != ""
    assert me in elsewhere.everyone()
    assert me in elsewhere.children(os.getppid())
    assert elsewhere.dead_child(me) == 0
