"""`sessionlog agents`: the agents that a session can be handed to, and a file to add to them."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterable
from typing import Any

from sessionlog import shown
from sessionlog.agents import DEMO, EXAMPLE, Agent, at_hand, config_path, found
from sessionlog.commands.common import DONE, say
from sessionlog.errors import NotPossible
from sessionlog.text import one_line, pad, visible


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    sub.add_argument("--example", action="store_true",
                     help="print an agents.toml to start from; writes nothing")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """List them. Raises NotPossible, after the list, when the person's file is wrong."""
    path = config_path(os.environ)
    if options.example:
        say([f"# Goes to {visible(path)}", *EXAMPLE.splitlines()])
        return DONE
    agents, problem = at_hand()
    answers = [_answer(agent, path) for agent in agents.values() if agent.name != DEMO]
    if options.json:
        say(map(shown.json_line, answers))
    else:
        say(line for answer in answers for line in _lines(answer))
    if problem:
        raise NotPossible(problem)
    return DONE


def _answer(agent: Agent, path: str) -> dict[str, Any]:
    return {
        "name": agent.name, "argv": list(agent.argv), "headless": list(agent.argv_for(False)),
        "output": agent.output or None, "appends": agent.appends, "namespace": agent.namespace,
        "format": agent.format or None, "from": "built in" if agent.built_in else path,
        "found": found(agent, os.environ),
    }  # fmt: skip


def _lines(answer: dict[str, Any]) -> Iterable[str]:
    there = "on PATH" if answer["found"] else "not found"
    where = "" if answer["from"] == "built in" else "  (agents.toml)"
    argv, headless = answer["argv"], answer["headless"]
    yield f"{pad(one_line(answer['name']), 10)} {there:10} {one_line(shlex.join(argv))}{where}"
    if headless != argv:
        yield f"{'':10} {'headless':10} {one_line(shlex.join(headless))}"
    if answer["output"]:
        yield f"{'':10} {'prints':10} {answer['output']}"
