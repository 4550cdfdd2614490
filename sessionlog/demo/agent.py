"""A scripted agent: it runs harmless commands for real and records them as an agent would.

No model and no network: what it says is written down here, what its commands print is not.

``python -m sessionlog.demo.agent FOLDER [ROUNDS]`` begins a run of its own;
``python -m sessionlog.demo.agent --resume LOG [PROMPT]`` goes on in the log that it is handed.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from sessionlog import codec
from sessionlog.reader import load
from sessionlog.recorder import Recorder
from sessionlog.records import Activity, Message, Result
from sessionlog.session import Session
from sessionlog.text import one_line
from sessionlog.touched import touched
from sessionlog.writer import reopen, start

TASK = "Check that this machine is ready for the release build"
_READ = 2
"""Files that are read again after a hand over."""


class Step(NamedTuple):
    """Something that is said, and the commands that follow."""

    says: str
    commands: Sequence[str] = ()


Steps = Iterable[Step]
Tell = Callable[[str], object]
"""Where it tells a person what it does: a terminal, or nowhere."""

STEPS = (
    Step("I'll see what machine this is.", ("uname -sm", "date -u")),
    Step("Is there room for the build?", ("df -h . | tail -1",)),
    Step("Which tools are here?", ("command -v git python3 make tar", "python3 --version")),
    Step("A warm-up run of the slowest step.", ("sleep 20; echo warm",)),
    Step("The build wants a file that should be here.", ("cat release.toml",)),
    Step("It is not here yet; I'll make a first version of it.",
         ("printf 'version = \"4.2\"\\n' > release.toml", "cat release.toml")),
    Step("Now the long check.", ("sleep 60; echo all targets answer",)),
)  # fmt: skip


def run(recorder: Recorder, workdir: str, steps: Steps, done: str, tell: Tell, first: int) -> None:
    """Say a line, run its commands, record both; then the result. `first`: number of the first
    call, so that ids are not used twice in one log."""
    calls, iteration = first, 0
    for step in steps:
        iteration += 1
        tell(step.says)
        recorder.event("iteration", iteration=iteration)
        recorder.event("message", text=step.says)
        recorder.message(Message("bot", step.says))
        for command in step.commands:
            calls += 1
            tell(f"  $ {command}")
            _call(recorder, f"call_{calls:04d}", command, workdir, tell)
    tell(done)
    recorder.result(Result("settled", done, iterations=iteration, calls=calls - first, settles=1))
    recorder.close()


def going_on(session: Session) -> Steps:
    """What it does with a session that it is handed: look first, as it was told to."""
    yield Step("Time has passed since I last looked. I read what I worked on before I edit it.",
               [f"cat {shlex.quote(path)}" for path in _files(session)])  # fmt: skip
    yield Step("One command was interrupted, so I see what it left before I repeat it.",
               ("ls -l | head -5", "sleep 1; echo nothing half done is left"))  # fmt: skip
    yield Step("Now the check that failed, twice.",
               ("sleep 1; echo 'run 1: ok'", "sleep 1; echo 'run 2: ok'"))  # fmt: skip


def _files(session: Session) -> list[str]:
    """The files that it touched last."""
    there = [touch for touch in touched(session) if os.path.isfile(touch.path)]
    last = sorted(there, key=lambda touch: touch.n)[-_READ:]
    return [os.path.relpath(touch.path) for touch in last]


def _call(recorder: Recorder, call_id: str, command: str, workdir: str, tell: Tell) -> None:
    """Run one command and record both halves: the request before it runs, so that a stop finds
    it, the response when it has ended."""
    arguments = codec.dumps({"command": command}).decode()
    recorder.event("toolCallStart", tool="shell", text=arguments)
    recorder.message(Message("activity", "", Activity("request", call_id, "shell", arguments)))
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=workdir,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    output = done.stdout.decode("utf-8", "replace")
    for line in output.splitlines():
        tell(f"    {one_line(line)}")
    if done.returncode:
        failure = f"{output.strip()}\nexit status {done.returncode}"
        recorder.event("toolCallError", tool="shell", text=failure)
        answer = Activity("response", call_id, "shell", arguments, failure=failure)
        text = codec.dumps({"error": failure}).decode()
    else:
        recorder.event("toolCallEnd", tool="shell")
        answer = Activity("response", call_id, "shell", arguments, output)
        text = output
    recorder.message(Message("activity", text, answer))


def begin(folder: str, rounds: int) -> None:
    """A run of its own, in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as workdir:
        meta = {"task": TASK, "model": "scripted", "provider": "demo", "driver": "demo",
                "workdir": workdir}  # fmt: skip
        recorder = Recorder(start(folder, meta))
        recorder.message(Message("user", "Begin. Everything you need is in your instructions."))
        run(recorder, workdir, STEPS * rounds, "ready for the release build", _nowhere, 0)


def resume(log: str, prompt: str, tell: Tell) -> None:
    """Go on in a log, as the prompt says. Raises SessionLogError where it cannot be used."""
    session = load(log)
    tell(f"The scripted agent goes on with: {one_line(session.title)}")
    recorder = Recorder(reopen(log))
    recorder.message(Message("user", prompt or "Go on."))
    run(recorder, os.getcwd(), going_on(session), "checked twice after the hand over, both green",
        tell, len(session.history))  # fmt: skip


def _nowhere(_: str) -> None:
    pass


def _aloud(text: str) -> None:
    print(text, flush=True)


def main(argv: list[str]) -> int:
    if argv[0] == "--resume":
        resume(argv[1], "".join(argv[2:3]), _aloud)
    else:
        begin(argv[0], int(argv[1]) if len(argv) > 1 else 2)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
