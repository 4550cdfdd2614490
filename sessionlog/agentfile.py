"""The person's own agents: a TOML file that adds to the built-in ones, or replaces them.

`EXAMPLE` is such a file, with what each field means.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from sessionlog.agent import HOLE, HOLES, OUTPUTS, Agent
from sessionlog.errors import NotPossible

FIELDS = ("argv", "headless", "before", "output", "appends", "namespace")
EXAMPLE = """\
# Agents that a session can be handed to, besides the built-in ones (`sessionlog agents` lists all).
# A table with the name of a built-in one takes its place.

[agents.mine]
# The command with a terminal: a list, the program first; no shell reads it. Places to fill in:
#   {log}       path of the log to go on with         {id}      its id
#   {workdir}   the session's working directory       {prompt}  what the agent is told
#   {messages}  path of a JSON file: the conversation as Anthropic's Messages API takes it
#   {messages_openai}           the same as OpenAI's chat completions take it
# What a place holds stays within its argument. Put "--" before an {id} that may begin with "-".
argv = ["my-agent", "--resume", "{log}", "--", "{prompt}"]

# The command without a terminal. Default: argv.
# headless = ["my-agent", "--batch", "--resume", "{log}", "--", "{prompt}"]

# A command that has to run first, in the same place: where it fails, the other is not started.
# before = ["my-agent", "import", "{log}"]

# The program writes no log of its own: what it prints is recorded. One of: text, anthropic-sse,
# openai-sse, claude-stream-json, codex-exec-json.
# output = "text"

# It goes on in the very log that it is given: it is given a new one, and the old one stays.
# appends = true

# Run it in a PID namespace of its own (Linux): nothing that it starts can outlive it.
# namespace = true
"""
_OPTION = re.compile(r"-+\{")
_WRITE = 'write [agents.NAME] with argv = ["program", ...]'


def config_path(environ: Mapping[str, str]) -> str:
    """Where the person's agents are described: `$XDG_CONFIG_HOME/sessionlog/agents.toml`, else
    `~/.config/sessionlog/agents.toml`."""
    base = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # the specification: a relative one is not valid
        base = os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".config")
    return os.path.join(base, "sessionlog", "agents.toml")


def parse(data: bytes, where: str) -> dict[str, Agent]:
    """The agents that a file describes. Raises NotPossible, naming `where` and the key."""
    import tomllib  # only who has a file needs it

    try:
        tables = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise NotPossible(f"{where}: no TOML: {error}") from None
    for key in tables:
        if key != "agents":
            raise NotPossible(f"{where}: {key}: unknown{like(key, ['agents'])}; {_WRITE}")
    agents = tables.get("agents", {})
    if not isinstance(agents, dict):
        raise NotPossible(f"{where}: agents: not a table; {_WRITE}")
    return {name: _agent(table, name, f"{where}: agents.{name}") for name, table in agents.items()}


def like(word: str, words: Iterable[str]) -> str:
    """ ", did you mean ...?" where one of the words is near; else ""."""
    from difflib import get_close_matches  # only a mistake needs it

    near = get_close_matches(word, list(words), 1)
    return f", did you mean {near[0]}?" if near else ""


def _agent(table: Any, name: str, key: str) -> Agent:
    if not isinstance(table, dict):
        raise NotPossible(f'{key}: not a table; write argv = ["program", ...] in it')
    if not name:
        raise NotPossible(f"{key}: an agent needs a name; {_WRITE}")
    for other in table:
        if other not in FIELDS:
            said = like(other, FIELDS) or f"; there are {', '.join(FIELDS)}"
            raise NotPossible(f"{key}.{other}: unknown{said}")
    output = table.get("output", "")
    if output not in ("", *OUTPUTS):
        near = like(output, OUTPUTS) if isinstance(output, str) else ""
        raise NotPossible(f"{key}.output: unknown{near or '; there are ' + ', '.join(OUTPUTS)}")
    return Agent(
        name,
        _argv(table.get("argv"), f"{key}.argv"),
        headless=_argv(table["headless"], f"{key}.headless") if "headless" in table else (),
        before=_argv(table["before"], f"{key}.before") if "before" in table else (),
        output=output,
        appends=_truth(table, "appends", key),
        namespace=_truth(table, "namespace", key),
    )


def _truth(table: Mapping[str, Any], name: str, key: str) -> bool:
    value = table.get(name, False)
    if not isinstance(value, bool):
        raise NotPossible(f"{key}.{name}: has to be true or false")
    return value


def _argv(argv: Any, key: str) -> tuple[str, ...]:
    if not isinstance(argv, list) or not argv or not all(isinstance(a, str) for a in argv):
        raise NotPossible(f"{key}: has to be a list of strings, the program first")
    if not argv[0] or HOLE.search(argv[0]) or any("\0" in a for a in argv):
        raise NotPossible(f"{key}: the first has to be a program, and none may hold a NUL")
    for argument in argv:
        if _OPTION.match(argument):
            raise NotPossible(
                f"{key}: {argument} would make an option of what it is given; write --name={{...}}"
            )
        for hole in HOLE.findall(argument):
            if hole not in HOLES:
                there = " ".join(f"{{{name}}}" for name in HOLES)
                said = like(hole, HOLES) or f"; there are {there}"
                raise NotPossible(f"{key}: {{{hole}}} is unknown{said}")
    return tuple(argv)
