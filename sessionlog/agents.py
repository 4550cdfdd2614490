"""The agents that a session can be handed to: those built in and those of the person's file.

The built-in ones are how the clients themselves resume by their documentation and as tried out
(claude 2.1, codex 0.171, gemini 0.61, qwen 0.24, opencode 1.18, pi 0.73, zot at 0777c1b). All but
zot and opencode take a prompt on the screen, too: opencode leaves its `--prompt` aside where `-s`
names a session. claude and pi are given the log's place, so that it may be anywhere; the others
look an id up. `json` is any program that takes a conversation as the services have it, under the
name `sessionlog-agent`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from sessionlog.agent import FILES, Agent, fill, fill_before
from sessionlog.agentfile import EXAMPLE, config_path, like, parse
from sessionlog.errors import NotPossible
from sessionlog.formats.base import Composer
from sessionlog.formats.table import named as form_named

__all__ = [
    "BUILT_IN", "DEMO", "EXAMPLE", "FILES", "Agent", "Choice", "Way", "at_hand", "choices",
    "config_path", "fill", "fill_before", "found", "known", "named", "others", "ready", "way",
]  # fmt: skip


def _client(
    name: str, screen: str, headless: str, format: str = "", *, appends: bool = False,
    before: str = "",
) -> Agent:  # fmt: skip
    return Agent(
        name, tuple(screen.split()), True, tuple(headless.split()), appends=appends,
        format=format or name, before=tuple(before.split()),
    )  # fmt: skip


DEMO = "demo"
"""The scripted agent that goes on with the demo's logs, and with native ones alone."""
BUILT_IN = {
    agent.name: agent
    for agent in (
        _client("zot", "zot --resume {log}", "", "native"),
        _client(
            "claude", "claude --resume {log} {prompt}", "claude -p --resume {log} {prompt}",
            appends=True,
        ),
        _client(
            "codex", "codex resume {id} {prompt}", "codex exec resume {id} {prompt}", appends=True
        ),
        _client(
            "gemini", "gemini --resume {id} -i {prompt}", "gemini --resume {id} -p {prompt}",
            appends=True,
        ),
        _client(
            "qwen", "qwen --resume {id} -i {prompt}", "qwen --resume {id} -p {prompt}",
            appends=True,
        ),
        _client(
            "opencode", "opencode -s {id}", "opencode run -s {id} {prompt}", appends=True,
            before="opencode import {log}",
        ),
        _client(
            "pi", "pi --session {log} {prompt}", "pi -p --session {log} {prompt}", appends=True
        ),
        Agent(
            DEMO,
            (sys.executable or "python3", "-m", "sessionlog.demo.agent",
             "--resume", "{log}", "{prompt}"),
            True, appends=True, format="native",
        ),
        Agent("json", ("sessionlog-agent", "{messages}", "{prompt}"), True, output="text"),
    )
}  # fmt: skip


class Way(StrEnum):
    """How an agent gets a session of some format."""

    LOG = "log"
    """The log itself, or a repair or a fork of it."""
    CALLS = "calls"
    """A new native log with the same conversation, calls and results as such."""
    PLAIN = "plain"
    """A new log of the agent's own, in which calls are told in words."""


class Choice(NamedTuple):
    """An agent as it stands in a list to choose from."""

    agent: Agent
    found: bool
    """Its program is on PATH."""
    way: Way | None
    """How it gets a log of this format; None: it cannot."""
    why: str
    """Why it cannot be chosen; "" when it can."""

    @property
    def takes(self) -> bool:
        return self.way is not None

    @property
    def ready(self) -> bool:
        return self.found and self.takes

    @property
    def how(self) -> str:
        """How it would go on, in a few words; "" where it cannot."""
        if self.way is None or self.way is Way.PLAIN:
            return "as plain messages" if self.way else ""
        if any(self.agent.uses(name, screen) for name in FILES for screen in (True, False)):
            return "a transcript in JSON"
        if self.way is Way.CALLS:
            return "a native log, with its calls"
        return "its own log" if self.agent.format else "the log"


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


def way(agent: Agent, format: str, own: str = "") -> Way | None:
    """How it gets a log of this format, whose own agent is `own`; None: it cannot go on with it."""
    if agent.format in ("", format) or agent.name == own:
        return Way.CALLS if agent.output and format != "native" else Way.LOG
    if agent.format == "native":
        return Way.CALLS if agent.name != DEMO else None
    form = form_named(agent.format)
    return Way.PLAIN if form is not None and isinstance(form.actor, Composer) else None


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
    if not choice.ready:
        raise NotPossible(f"{choice.why}; {others(environ, format, screen)}")


def others(environ: Mapping[str, str], format: str, screen: bool = True) -> str:
    """Who could go on with such a log, and how, in words: for when somebody cannot."""
    able = [choice for choice in choices(environ, format, screen) if choice.takes]
    there = [choice for choice in able if choice.found]
    said = ", ".join(f"{choice.agent.name} ({choice.how})" for choice in there or able)
    if there:
        return f"there are: {said}"
    return (
        f"none of those that can is on PATH: {said}; install one, or describe one in "
        f"{config_path(environ)}"
    )


def _choice(agent: Agent, environ: Mapping[str, str], format: str, screen: bool) -> Choice:
    program = agent.argv_for(screen)[0]
    there, how, why = found(agent, environ, screen), way(agent, format), ""
    if how is None:
        why = f"{agent.name}: goes on with {agent.format} logs only, not with {format} logs"
    elif not there:
        other = "such program" if program == agent.name else f"program {program}"
        why = f"{agent.name}: no {other} on PATH"
    return Choice(agent, there, how, why)


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
