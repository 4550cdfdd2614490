"""How each agent is told to go on with a session: argument lists, never a shell line.

The built-in ones are how the clients themselves resume by their documentation and as tried out
(claude 2.1, codex 0.171, gemini 0.61, qwen 0.24, opencode 1.18, pi 0.73, zot at 0777c1b). A file
`agents.toml` in `$XDG_CONFIG_HOME/sessionlog` (else `~/.config/sessionlog`) adds to them or
replaces them::

    [agents.mine]
    argv = ["my-agent", "--log", "{log}", "{prompt}"]

`{log}`, `{id}`, `{workdir}` and `{prompt}` are filled in, each within its argument: what they hold
is never split again. An argument that an empty prompt leaves empty is left out.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessionlog.errors import NotPossible

_HOLE = re.compile(r"\{(\w*)\}")
_NAMES = ("log", "id", "workdir", "prompt")


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent and the command that resumes a session with it."""

    name: str
    argv: tuple[str, ...]
    built_in: bool = False

    def uses(self, name: str) -> bool:
        """Does the command have a place for {name}?"""
        return any(f"{{{name}}}" in argument for argument in self.argv)


BUILT_IN = {
    name: Agent(name, tuple(argv.split()), True)
    for name, argv in {
        "zot": "zot --resume {log}",
        "claude": "claude --resume {id} {prompt}",
        "codex": "codex resume {id} {prompt}",
        "gemini": "gemini --resume {id} -p {prompt}",
        "qwen": "qwen --resume {id} -p {prompt}",
        "opencode": "opencode run -s {id} {prompt}",
        "pi": "pi -p --session {log} {prompt}",
    }.items()
}


def known(environ: Mapping[str, str] = os.environ) -> dict[str, Agent]:
    """The built-in agents and those of the person's file, by name.

    Raises NotPossible, with file and key, for a file that cannot be understood.
    """
    path = config_path(environ)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return dict(BUILT_IN)
    except OSError as error:
        raise NotPossible(f"{path}: {error.strerror}") from None
    return BUILT_IN | parse(data, path)


def config_path(environ: Mapping[str, str]) -> str:
    """Where the person's agents are described."""
    base = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # the specification: a relative one is not valid
        base = os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".config")
    return os.path.join(base, "sessionlog", "agents.toml")


def parse(data: bytes, where: str) -> dict[str, Agent]:
    """The agents that a file describes. Raises NotPossible, naming `where` and the key."""
    try:
        tables = tomllib.loads(data.decode())
    except ValueError as error:
        raise NotPossible(f"{where}: no TOML: {error}") from None
    for key in tables.keys() - {"agents"}:
        raise NotPossible(f"{where}: {key}: unknown; write [agents.NAME] with argv = [...]")
    agents = tables.get("agents", {})
    if not isinstance(agents, dict):
        raise NotPossible(f"{where}: agents: not a table; write [agents.NAME] with argv = [...]")
    return {name: Agent(name, _argv(table, name, where)) for name, table in agents.items()}


def fill(agent: Agent, values: Mapping[str, str]) -> tuple[str, ...]:
    """The command for these values of log, id, workdir and prompt.

    Raises NotPossible for a value that a program would take for an option, or that no argument
    can hold (a NUL).
    """
    filled = []
    for template in agent.argv:
        argument = _HOLE.sub(lambda hole: values[hole[1]], template)
        if "\0" in argument:
            raise NotPossible(f"{agent.name}: {template} would hold a NUL byte")
        if argument.startswith("-") and not template.startswith("-"):
            raise NotPossible(
                f"{agent.name}: {template} would be {argument[:40]!r}, which reads as an option"
            )
        if argument or template != "{prompt}":
            filled.append(argument)
    return tuple(filled)


def _argv(table: Any, name: str, where: str) -> tuple[str, ...]:
    key = f"{where}: agents.{name}"
    if not isinstance(table, dict):
        raise NotPossible(f'{key}: not a table; write argv = ["program", ...] in it')
    for other in table.keys() - {"argv"}:
        raise NotPossible(f"{key}.{other}: unknown; only argv is")
    argv = table.get("argv")
    if not isinstance(argv, list) or not argv or not all(isinstance(a, str) for a in argv):
        raise NotPossible(f"{key}.argv: has to be a list of strings, the program first")
    if not argv[0] or _HOLE.search(argv[0]) or any("\0" in a for a in argv):
        raise NotPossible(f"{key}.argv: the first has to be a program, and none may hold a NUL")
    for hole in (hole for argument in argv for hole in _HOLE.findall(argument)):
        if hole not in _NAMES:
            raise NotPossible(
                f"{key}.argv: {{{hole}}} is unknown; there are "
                "{log} {id} {workdir} {prompt}"
            )
    return tuple(argv)
