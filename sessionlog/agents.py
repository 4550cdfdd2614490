"""The agents that a session can be handed to: those built in and those of the person's file.

The built-in ones are how the clients themselves resume by their documentation and as tried out
(claude 2.1, codex 0.171, gemini 0.61, qwen 0.24, opencode 1.18, pi 0.73, zot at 0777c1b). `json`
is any program that takes a conversation as the services have it, under the name `sessionlog-agent`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from sessionlog.agent import FILES, Agent, fill
from sessionlog.agentfile import EXAMPLE, config_path, like, parse
from sessionlog.errors import NotPossible

__all__ = [
    "BUILT_IN", "EXAMPLE", "FILES", "Agent", "Choice", "at_hand", "choices", "config_path", "fill",
    "found", "known", "named", "ready", "takes",
]  # fmt: skip


def _client(name: str, screen: str, headless: str, format: str = "") -> Agent:
    return Agent(
        name, tuple(screen.split()), True, tuple(headless.split()), format=format or name
    )  # fmt: skip


BUILT_IN = {
    agent.name: agent
    for agent in (
        _client("zot", "zot --resume {log}", "", "native"),
        _client("claude", "claude --resume {id} {prompt}", "claude -p --resume {id} {prompt}"),
        _client("codex", "codex resume {id} {prompt}", "codex exec resume {id} {prompt}"),
        _client("gemini", "gemini --resume {id}", "gemini --resume {id} -p {prompt}"),
        _client("qwen", "qwen --resume {id}", "qwen --resume {id} -p {prompt}"),
        _client("opencode", "opencode -s {id}", "opencode run -s {id} {prompt}"),
        _client("pi", "pi --session {log}", "pi -p --session {log} {prompt}"),
        Agent(
            "demo",
            (sys.executable or "python3", "-m", "sessionlog.demo.agent",
             "--resume", "{log}", "{prompt}"),
            True, appends=True, format="native",
        ),
        Agent("json", ("sessionlog-agent", "{messages}", "{prompt}"), True, output="text"),
    )
}  # fmt: skip


class Choice(NamedTuple):
    """An agent as it stands in a list to choose from."""

    agent: Agent
    found: bool
    """Its program is on PATH."""
    takes: bool
    """It can go on with a log of this format."""
    why: str
    """Why it cannot be chosen; "" when it can."""

    @property
    def ready(self) -> bool:
        return self.found and self.takes


def at_hand(environ: Mapping[str, str] = os.environ) -> tuple[dict[str, Agent], str]:
    """The agents by name, and what is wrong with the person's file ("": nothing).

    A file that is wrong takes away no built-in agent but those that it speaks of: what it wants
    of these is not known.
    """
    path = config_path(environ)
    data = b""
    try:
        with open(path, "rb") as file:
            data = file.read()
        return BUILT_IN | {n: _in_place(agent) for n, agent in parse(data, path).items()}, ""
    except (FileNotFoundError, NotADirectoryError):
        return dict(BUILT_IN), ""
    except OSError as error:
        problem = f"{path}: {error.strerror}"
    except NotPossible as error:
        problem = str(error)
    return {n: a for n, a in BUILT_IN.items() if not _speaks_of(data, n)}, problem


def known(environ: Mapping[str, str] = os.environ) -> dict[str, Agent]:
    """The built-in agents and those of the person's file, by name.

    Raises NotPossible, with file and key, for a file that cannot be understood.
    """
    agents, problem = at_hand(environ)
    if problem:
        raise NotPossible(problem)
    return agents


def named(name: str, environ: Mapping[str, str] = os.environ) -> Agent:
    """The agent of that name. Raises NotPossible, with what there is or what hides it."""
    agents, problem = at_hand(environ)
    if name in agents:
        return agents[name]
    if problem:
        raise NotPossible(problem)
    raise NotPossible(
        f"no agent {name!r}{like(name, agents)}; there are {', '.join(sorted(agents))}; "
        f"{config_path(environ)} can describe more"
    )


def takes(agent: Agent, format: str, own: str = "") -> bool:
    """Can it go on with a log of this format, whose own agent is `own`?"""
    return agent.format in ("", format) or agent.name == own


def found(agent: Agent, environ: Mapping[str, str] = os.environ, screen: bool = True) -> bool:
    """Is its program there, on PATH where it has no folder?"""
    from shutil import which  # brings compression modules along

    program = agent.argv_for(screen)[0]
    return which(program, path=environ.get("PATH", os.defpath)) is not None


def choices(
    environ: Mapping[str, str], format: str, screen: bool = True
) -> list[Choice]:  # fmt: skip
    """All agents at hand for a log of this format: first those that can be chosen."""
    agents, _ = at_hand(environ)
    all = [_choice(agent, environ, format, screen) for agent in agents.values()]
    return sorted(all, key=lambda choice: (not choice.ready, not choice.takes))


def ready(agent: Agent, environ: Mapping[str, str], format: str, screen: bool = True) -> None:
    """Raises NotPossible, naming those that could, when the agent cannot go on with such a log."""
    choice = _choice(agent, environ, format, screen)
    if choice.ready:
        return
    others = ", ".join(c.agent.name for c in choices(environ, format, screen) if c.ready)
    raise NotPossible(
        f"{choice.why}; there are: {others}" if others else
        f"{choice.why}, and there is no other for this log; install one, or describe one in "
        f"{config_path(environ)}"
    )  # fmt: skip


def _choice(agent: Agent, environ: Mapping[str, str], format: str, screen: bool) -> Choice:
    program = agent.argv_for(screen)[0]
    there, fits, why = found(agent, environ, screen), takes(agent, format), ""
    if not fits:
        why = f"{agent.name}: goes on with {agent.format} logs only, and this is a {format} log"
    elif not there:
        other = "such program" if program == agent.name else f"program {program}"
        why = f"{agent.name}: no {other} on PATH"
    return Choice(agent, there, fits, why)


def _speaks_of(data: bytes, name: str) -> bool:
    """Does a file that cannot be understood hold this word?"""
    return re.search(rb"\b%s\b" % re.escape(name.encode()), data) is not None


def _in_place(agent: Agent) -> Agent:
    """An agent of the file in place of a built-in one goes on with the same logs, unless it is
    given the conversation itself."""
    own = BUILT_IN.get(agent.name)
    asked = "".join((*agent.argv, *agent.headless))
    if own is None or "{messages" in asked:
        return agent
    return replace(agent, format=own.format)
