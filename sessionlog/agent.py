"""One agent, and the command that goes on with a session: an argument list, never a shell line.

Places in the arguments are filled in, each within its argument: what they hold is never split
again, never filled again, and never becomes an option. Pure.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sessionlog.errors import NotPossible

HOLE = re.compile(r"\{(\w*)\}")
FILES = ("messages", "messages_openai")
"""The conversation as Anthropic's and OpenAI's services take it, made for commands that use it."""
_PATHS = ("log", "workdir", *FILES)
HOLES = ("id", "prompt", *_PATHS)
"""What a template may ask for."""
OUTPUTS = ("anthropic-sse", "openai-sse", "claude-stream-json", "codex-exec-json", "text")
"""What a program without a log of its own may print, to be recorded: the names of the dialects."""
LONGEST = 128 * 1024 - 1
"""Bytes of one argument: Linux refuses longer ones (MAX_ARG_STRLEN, with the NUL at the end)."""
_TEXT = re.compile(r"[\ud800-\udc7f\udd00-\udfff]")
"""Surrogates that stand for no byte (Python's are U+DC80 to U+DCFF)."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent and the commands that resume a session with it."""

    name: str
    argv: tuple[str, ...]
    """On the screen: the agent has the terminal."""
    built_in: bool = False
    headless: tuple[str, ...] = ()
    """Without a terminal; empty: as on the screen."""
    output: str = ""
    """One of OUTPUTS: it writes no log, what it prints is recorded. "": it writes its own."""
    appends: bool = False
    """It goes on in the very log that it is given: it is given a new one."""
    namespace: bool = False
    """Run it in a PID namespace, which ends everything in it with its first process."""
    format: str = ""
    """The only format of logs that it goes on with; "" for any."""
    before: tuple[str, ...] = ()
    """A command that has to have run before the other one, to bring the log to the agent; empty:
    none."""

    def argv_for(self, screen: bool) -> tuple[str, ...]:
        """The template with a terminal, or the one without."""
        return self.argv if screen or not self.headless else self.headless

    def uses(self, name: str, screen: bool = True) -> bool:
        """Does the command have a place for {name}?"""
        return any(f"{{{name}}}" in argument for argument in self.argv_for(screen))


def fill(agent: Agent, values: Mapping[str, str], screen: bool = True) -> tuple[str, ...]:
    """The command for these values of `HOLES`; those that the template asks for have to be there,
    except `FILES`, whose places stay as they are until the files are made.

    Paths become absolute, because the agent runs elsewhere. An argument that begins with a prompt
    that begins with "-" gets a space in front: nobody's options begin with one, and no model
    minds. So does a prompt that begins with "@", which pi 0.73 takes for the name of a file (its
    cli/args.js), or with "/", which claude and qwen take for a command of their own and tell the
    model nothing. An argument that is nothing but an empty prompt is left out. Raises NotPossible
    for an id that a program would take for an option (unless the template has "--" before it, or
    the id's place is behind other text: ``--resume={id}``), for a value that is missing, and for
    what no argument can hold: a NUL, a text that has no bytes, more than `LONGEST` bytes.
    """
    return _filled(agent, agent.argv_for(screen), values)


def fill_before(agent: Agent, values: Mapping[str, str]) -> tuple[str, ...]:
    """The command that has to run first, empty for none; as `fill`."""
    return _filled(agent, agent.before, values)


def _filled(agent: Agent, template: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    filled = []
    for at, argument in enumerate(template):
        made = HOLE.sub(lambda hole: _value(agent, hole[1], values), argument)
        if argument == "{prompt}" and not made:
            continue
        if made.startswith("-") and argument.startswith("{") and "--" not in template[:at]:
            made = _no_option(agent, argument, made)
        if made.startswith(("@", "/")) and argument == "{prompt}":
            made = f" {made}"
        filled.append(made)
        _check(agent, argument, made)
    return tuple(filled)


def _value(agent: Agent, name: str, values: Mapping[str, str]) -> str:
    value = values.get(name, "")
    if name == "prompt":
        return _TEXT.sub("\ufffd", value)
    hole = f"{{{name}}}"
    if name in FILES and value in ("", hole):
        return hole
    if not value:
        raise NotPossible(
            f"{agent.name}: nothing to put in the place of {hole}; choose another agent"
        )
    if name in _PATHS and not os.path.isabs(value):
        try:
            return os.path.join(os.getcwd(), value)
        except OSError as error:
            raise NotPossible(f"{agent.name}: {value!r}: {error.strerror}") from None
    return value


def _no_option(agent: Agent, argument: str, made: str) -> str:
    if argument.startswith("{prompt}"):
        return f" {made}"
    raise NotPossible(
        f"{agent.name}: {argument} would be {made[:40]!r}, which reads as an option; describe the "
        f'agent in agents.toml with "--" before {argument}, or with --option={argument}'
    )


def _check(agent: Agent, argument: str, made: str) -> None:
    """Can the system pass the argument on?"""
    if "\0" in made:
        raise NotPossible(
            f"{agent.name}: {argument} would hold a NUL byte, which no command line can; leave it "
            "out"
        )
    try:
        size = len(os.fsencode(made))
    except UnicodeEncodeError:
        raise NotPossible(
            f"{agent.name}: {argument} would be {made[:40]!r}, which has no bytes on this system"
        ) from None
    if size > LONGEST:
        raise NotPossible(
            f"{agent.name}: {argument} would have {size:,} bytes, and one argument holds "
            f"{LONGEST:,}; say less, or put it into a file and name that in the prompt"
        )
