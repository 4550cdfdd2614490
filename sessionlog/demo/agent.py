"""A scripted agent: it runs harmless commands for real and records them as an agent would.

No model and no network: what it says is written down here, what its commands print is not.
`python -m sessionlog.demo.agent FOLDER [ROUNDS]`
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence

from sessionlog import codec
from sessionlog.recorder import Recorder
from sessionlog.records import Activity, Message, Result
from sessionlog.writer import start

TASK = "Check that this machine is ready for the release build"
STEPS: Sequence[tuple[str, Sequence[str]]] = (
    ("I'll see what machine this is.", ("uname -sm", "date -u")),
    ("Is there room for the build?", ("df -h . | tail -1",)),
    ("Which tools are here?", ("command -v git python3 make tar", "python3 --version")),
    ("A warm-up run of the slowest step.", ("sleep 20; echo warm",)),
    ("The build wants a file that should be here.", ("cat release.toml",)),
    ("It is not here yet; I'll make a first version of it.",
     ("printf 'version = \"4.2\"\\n' > release.toml", "cat release.toml")),
    ("Now the long check.", ("sleep 60; echo all targets answer",)),
)  # fmt: skip


def run(recorder: Recorder, workdir: str, rounds: int) -> None:
    """Say a line, run its commands, record both; as often as asked."""
    recorder.message(Message("user", "Begin. Everything you need is in your instructions."))
    calls = iteration = 0
    for _ in range(rounds):
        for says, commands in STEPS:
            iteration += 1
            recorder.event("iteration", iteration=iteration)
            recorder.event("message", text=says)
            halves: list[Message] = []
            for command in commands:
                calls += 1
                halves += _call(recorder, f"call_{calls:04d}", command, workdir)
            recorder.message(Message("bot", says))
            for half in halves:
                recorder.message(half)
    recorder.result(
        Result(
            "settled", "ready for the release build", iterations=iteration, calls=calls, settles=1
        )
    )


def _call(recorder: Recorder, call_id: str, command: str, workdir: str) -> tuple[Message, Message]:
    """Run one command; its events go out at once, its two messages come back."""
    arguments = codec.dumps({"command": command}).decode()
    recorder.event("toolCallStart", tool="shell", text=arguments)
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=workdir,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    output = done.stdout.decode("utf-8", "replace")
    request = Activity("request", call_id, "shell", arguments)
    if done.returncode:
        failure = f"{output.strip()}\nexit status {done.returncode}"
        recorder.event("toolCallError", tool="shell", text=failure)
        answer = Activity("response", call_id, "shell", arguments, failure=failure)
        text = codec.dumps({"error": failure}).decode()
    else:
        recorder.event("toolCallEnd", tool="shell")
        answer = Activity("response", call_id, "shell", arguments, output)
        text = output
    return Message("activity", "", request), Message("activity", text, answer)


def main(argv: list[str]) -> int:
    folder, rounds = argv[0], int(argv[1]) if len(argv) > 1 else 2
    with tempfile.TemporaryDirectory() as workdir:
        meta = {"task": TASK, "model": "scripted", "provider": "demo", "driver": "demo",
                "workdir": workdir}  # fmt: skip
        with start(folder, meta) as writer:
            run(Recorder(writer), workdir, rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
