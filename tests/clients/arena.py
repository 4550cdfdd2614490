"""Runs one program against the scripted model, in a network that is nothing but loopback.

`play` starts this file as a program in namespaces of its own: no packet leaves them, the port is
always free, and with the first process everything in them ends. The order comes as JSON on
standard input, the outcome goes as JSON to standard output.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clients.model import Asked, Model
from clients.wire import Call, Heard, Turn

PORT = 8000
"""Where the model listens, in its own network."""
LIMIT = 90
"""Seconds after which a program is taken to hang."""
_SETTLE = 1.5
"""Seconds that a program gets to write its log before it is killed."""
_UP = 0x8914, struct.pack("16sh22x", b"lo", 1)
"""SIOCSIFFLAGS and its argument: the interface is up."""


class Outcome(NamedTuple):
    """How a program's run went."""

    asked: tuple[Asked, ...]
    """The requests with tools, in order."""
    how: str
    """ "exit", "killed" (as it was ordered) or "hangs"."""
    code: int
    output: str
    """What it printed on both streams."""


def namespaces() -> tuple[str, ...]:
    """The command that a program has to be started with to be alone in the network."""
    root = () if os.geteuid() == 0 else ("--map-root-user",)
    return ("unshare", *root, "--net", "--pid", "--fork", "--kill-child", "--mount-proc")


def play(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], turns: Sequence[Turn], *,
    tag: str, kill: str = "",
) -> Outcome:  # fmt: skip
    """Run a program to its end, or until it is killed: "answering" (while the model answers) or
    the name of a file in `cwd` (as soon as that is there, which a tool of its makes)."""
    order = {"argv": argv, "cwd": str(cwd), "env": dict(env), "turns": turns, "tag": tag,
             "kill": kill}  # fmt: skip
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [*namespaces(), sys.executable, "-m", "clients.arena"], input=json.dumps(order).encode(),
        capture_output=True, env={"PYTHONPATH": str(tests), "PATH": os.environ["PATH"]},
        timeout=LIMIT + 30, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    asked, how, code, output = json.loads(done.stdout)
    return Outcome(tuple(map(_asked, asked)), how, code, output)


def _asked(row: list[Any]) -> Asked:
    """A request as it was dumped."""
    path, main, heard, open, orphans, status = row
    pieces = tuple(Heard(*piece) for piece in heard)
    return Asked(path, main, pieces, tuple(open), tuple(orphans), status)


def main() -> None:
    order = json.load(sys.stdin)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any:
        fcntl.ioctl(any, *_UP)
    turns = [Turn(text, tuple(Call(*call) for call in calls), stalls)
             for text, calls, stalls in order["turns"]]  # fmt: skip
    with Model(PORT, turns, order["tag"]) as model, tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            order["argv"], cwd=order["cwd"], env=order["env"], stdin=subprocess.DEVNULL,
            stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
        kill = order["kill"]
        marker = Path(order["cwd"], kill)
        due = model.answering.is_set if kill == "answering" else marker.exists
        how = _wait(process, due if kill else None)
        code = process.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
        json.dump([[row for row in model.asked if row.main], how, code, text], sys.stdout)


def _wait(process: subprocess.Popen[bytes], due: Callable[[], bool] | None) -> str:
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if due is not None and due():
            time.sleep(_SETTLE)
            os.killpg(process.pid, signal.SIGKILL)
            return "killed"
        try:
            process.wait(0.05)
            return "exit"
        except subprocess.TimeoutExpired:
            continue
    os.killpg(process.pid, signal.SIGKILL)
    return "hangs"


if __name__ == "__main__":
    main()
