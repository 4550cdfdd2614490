"""Ids, paths and prompts that want to be an option, a shell's line or two arguments, and what of
them has to arrive. The same seed makes the same case."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from sessionlog import agents
from sessionlog.agents import Agent
from sessionlog.errors import NotPossible

PIECES = (
    "'", '"', " ", "\n", "\t", "\r", "$(touch owned)", "`touch owned`", ";touch owned;",
    "|touch owned", "&", "&&", "*", "?", "[a-z]", "{a,b}", "~", "$HOME", "${IFS}", "%s", "!!", "#",
    "<", ">owned", "(", ")", "\\", "\\n", "-", "--", "-rf", "--help", "--evil=1", "-c", "{log}",
    "{id}", "{prompt}", "{messages}", "{}", "{0}", "@file", "=", "\x1b[31m", "\x07", "\x9b", "é",
    "日本", "\u202e", "\u2066", "\udcff", "\udc80\udcfe", "\ud800", "\0", "..", "/", "x", "go on",
)  # fmt: skip
LENGTHS = (100_000, 131_070, 131_071, 131_072, 200_000)
"""Around what one argument holds."""
OWN = (
    ("--log={log}", "-C", "{workdir}", "{id}@{prompt}"), ("--", "{id}", "{prompt}", "{log}"),
    ("{prompt}", "{messages}"), ("--resume={id}", "{prompt}{id}", "-p{prompt}"), ("{prompt}",),
    ("a", "", "{messages_openai}", "-p", "{prompt}", "--", "{prompt}"),
    ("{log}{prompt}", "{id}{id}"),
)  # fmt: skip
"""Templates of a person's file, without the program."""
LONGEST = 131_071
"""Bytes that Linux lets one argument have."""
_DUMP = """\
import sys, os
said = open("/proc/self/cmdline", "rb").read() if os.path.exists("/proc/self/cmdline") else b""
if not said:
    said = b"".join(os.fsencode(word) + b"\\0" for word in sys.argv)
at = said.index(os.fsencode(__file__) + b"\\0")
with open(os.environ["DUMP"], "wb") as file:
    file.write(said[at:].partition(b"\\0")[2])
"""


class Case(NamedTuple):
    """A command that is to be filled, and what has to come of it."""

    agent: Agent
    screen: bool
    values: Mapping[str, str]
    meant: list[bytes] | None
    """The arguments behind the program; None: it has to be refused."""


def cases(count: int, seed: int = 0) -> Iterator[Case]:
    for number in range(seed, seed + count):
        random = Random(number)
        values = {name: _word(random) for name in ("id", "log", "workdir", "prompt", *agents.FILES)}
        if random.random() < 0.01:
            values["prompt"] = _word(random) + "y" * random.choice(LENGTHS)
        if random.random() < 0.5:  # a value that spoils everything would hide what the others do
            values |= {"id": f"x{number}", "log": f"/l/{number}", "workdir": "/w"}
        agent, screen = _agent(random), random.random() < 0.5
        yield Case(agent, screen, values, meant(agent.argv_for(screen)[1:], values))


def _agent(random: Random) -> Agent:
    if random.random() < 0.5:
        return random.choice(list(agents.BUILT_IN.values()))
    return Agent("own", ("own", *random.choice(OWN)))


def _word(random: Random) -> str:
    return "".join(random.choice(PIECES) for _ in range(random.choice((0, 1, 1, 1, 2, 2, 3, 5))))


def meant(template: Sequence[str], values: Mapping[str, str]) -> list[bytes] | None:
    """What `fill` promises, worked out another way."""
    made: list[bytes] = []
    for at, argument in enumerate(template):
        pieces = re.split(r"\{(id|log|workdir|prompt|messages|messages_openai)\}", argument)
        given: list[str] = []
        for i, piece in enumerate(pieces):
            given.append(_given(piece, values[piece]) if i % 2 else piece)
            if piece in ("id", "log", "workdir") and i % 2 and not values[piece]:
                return None
        text = "".join(given)
        if argument == "{prompt}" and text == "":
            continue
        if text[:1] == "-" and pieces[0] == "" and "--" not in template[:at] and len(pieces) > 1:
            if pieces[1] != "prompt":
                return None
            text = " " + text
        if text[:1] in ("@", "/") and argument == "{prompt}":
            text = " " + text
        try:
            data = os.fsencode(text)
        except UnicodeEncodeError:
            return None
        if b"\0" in data or len(data) > LONGEST:
            return None
        made.append(data)
    return made


def _given(name: str, value: str) -> str:
    if name == "prompt":
        return "".join(
            "\ufffd" if 0xD800 <= ord(c) < 0xE000 and not 0xDC80 <= ord(c) < 0xDD00 else c
            for c in value
        )
    if name in agents.FILES and not value:
        return f"{{{name}}}"
    if name == "id" or (name in agents.FILES and value == f"{{{name}}}"):
        return value
    return value if value.startswith("/") else f"{os.getcwd()}/{value}"


def options(case: Case, made: Sequence[str]) -> list[str]:
    """Arguments that a program would take for an option and that no template wrote."""
    wrote = [a for a in case.agent.argv_for(case.screen)[1:] if a.startswith("-")]
    found, heads = [], [a.partition("{")[0] for a in wrote]
    for argument in made[1:]:
        if argument == "--":
            break
        if argument.startswith("-") and not any(
            argument == head if "{" not in whole else argument.startswith(head)
            for head, whole in zip(heads, wrote, strict=True)
        ):
            found.append(argument)
    return found


def filled(case: Case) -> tuple[str, ...] | None:
    """What the library makes of it; None when it refuses."""
    try:
        return agents.fill(case.agent, case.values, case.screen)
    except NotPossible:
        return None


class Dump:
    """A tiny program that writes down the arguments that it was given, byte for byte."""

    def __init__(self, folder: Path) -> None:
        self.script = folder / "dump.py"
        self.script.write_text(_DUMP)
        self.out = folder / "dumped"
        self.work = folder / "work"
        self.work.mkdir()
        self.traps = folder / "traps"
        self.traps.mkdir()
        for shell in ("sh", "bash", "dash", "zsh"):
            trap = self.traps / shell
            trap.write_text(
                f"#!{sys.executable}\nopen({str(folder / 'shell')!r}, 'a').write('x')\n"
            )
            trap.chmod(0o700)
        self.environ = {**os.environ, "DUMP": str(self.out), "XDG_STATE_HOME": str(folder),
                        "PATH": f"{self.traps}:{os.environ.get('PATH', os.defpath)}"}  # fmt: skip

    def argv(self, arguments: Sequence[str]) -> tuple[str, ...]:
        return (sys.executable, "-I", "-S", str(self.script), *arguments)

    def run(self, arguments: Sequence[str]) -> list[bytes]:
        """What arrives when it is started with these arguments."""
        subprocess.run(self.argv(arguments), env=self.environ, cwd=self.work, check=True)
        return self.arrived()

    def supervise(self, arguments: Sequence[str]) -> list[bytes]:
        """The same, started by a supervisor."""
        from sessionlog.supervise.handle import Order, new_run, start

        log = str(self.work.parent / "log.jsonl")
        order = Order(
            self.argv(arguments), str(self.work), new_run(), "id", log, log, "dump", screen=False
        )
        handle = start(order, self.environ)
        try:
            outcome = handle.wait(60)
        finally:
            handle.close()
        assert outcome is not None
        assert outcome.code == 0, outcome
        return self.arrived()

    def arrived(self) -> list[bytes]:
        data = self.out.read_bytes()
        self.out.unlink()
        return data.split(b"\0")[:-1]

    def harm(self) -> list[str]:
        """What was done besides: files that were made, shells that were started."""
        made = [f"made {name}" for name in os.listdir(self.work)]
        shell = self.work.parent / "shell"
        return made + (["a shell of PATH was started"] if shell.exists() else [])


def batches(
    found: Sequence[tuple[Case, tuple[str, ...]]],
) -> Iterator[list[tuple[Case, list[str]]]]:
    """Commands together, as many as one start can pass on."""
    batch: list[tuple[Case, list[str]]] = []
    size = 0
    for case, made in found:
        needs = sum(len(os.fsencode(a)) + 9 for a in made)
        if batch and (size + needs > 1_000_000 or len(batch) == 200):
            yield batch
            batch, size = [], 0
        batch.append((case, list(made[1:])))
        size += needs
    if batch:
        yield batch


def executions(trace: str) -> tuple[int, list[str]]:
    """Programs started by a trace of strace, and the shells among them."""
    started = re.findall(r'execve\("([^"]*)".* = 0', trace)
    return len(started), [p for p in started if re.fullmatch(r"(.*/)?(ba|da|z|k|c)?sh", p)]
