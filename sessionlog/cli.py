"""Every key of the screen as a command: `sessionlog list`, `show`, `check`, `fork`, ...

Standard output carries only the answer; an error is one line on standard error that says what,
where, and what to do. Exit codes: 0 done, 1 looked and found something, 2 cannot, 3 refused
because of damage or a living writer, 130 interrupted.
"""

from __future__ import annotations

import argparse
import codecs
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn

from sessionlog.commands import COMMANDS
from sessionlog.commands.common import CANNOT, DONE, INTERRUPTED, REFUSED
from sessionlog.errors import Ambiguous, DamagedLog, LogInUse, SessionLogError, words_of
from sessionlog.text import visible

Run = Callable[[argparse.Namespace], int]
_PLAIN = str.maketrans("✗✓○►≈▒║·…−", "xvo>~#|.~-")
"""Signs of ours, and what stands for them where the output's encoding does not have them."""
_CHOICES = 20
"""Logs that an error names where several answer."""


def main(argv: list[str], instead: Run | None = None) -> int:
    """Run one command (`instead`: what runs in its place); gives the exit code."""
    if sys.stdout is None and argv[:1] != ["record"]:  # closed
        return _tell("standard output is closed: there is nowhere to answer", CANNOT)
    _say_anyway("sessionlog.plain", _plain)
    try:
        options = _read(_parser(argv[:1]), argv)
        if options.json:
            _say_anyway("sessionlog.escaped", _escaped)
        code: int = (instead or options.run)(options)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except (DamagedLog, LogInUse) as error:
        return _fail(error, REFUSED)
    except Ambiguous as error:
        return _ask(error)
    except SessionLogError as error:
        return _fail(error, CANNOT)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader went away (`| head`)
        _hush()
        return DONE
    except OSError as error:
        _hush()
        return _fail(error, CANNOT)


def _read(parser: argparse.ArgumentParser, argv: Sequence[str]) -> argparse.Namespace:
    """The options; paths may stand behind them as well, which argparse alone does not take."""
    options, rest = parser.parse_known_args(argv)
    paths = getattr(options, "paths", None)
    if rest and (not isinstance(paths, list) or any(word.startswith("-") for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if isinstance(paths, list):
        paths += rest
    return options


Replaced = Callable[[UnicodeError], tuple[str, int]]


def _say_anyway(name: str, replaced: Replaced) -> None:
    """What the encoding of an output does not have is replaced; a locale never ends an answer."""
    codecs.register_error(name, replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=name)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Signs of ours by their stand-ins, all else escaped."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text, end = error.object[error.start : error.end].translate(_PLAIN), error.end
    return "".join(char if char.isascii() else _escape(char) for char in text), end


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """As JSON escapes it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_escape, error.object[error.start : error.end])), error.end


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def _hush() -> None:
    """Standard output takes no more: say nothing at exit either."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _ask(error: Ambiguous) -> int:
    """The error, and below it the choices, one a line."""
    code = _fail(error, CANNOT)
    more = len(error.choices) - _CHOICES
    if sys.stderr is not None:
        for path in error.choices[:_CHOICES]:
            print(f"  {visible(path)}", file=sys.stderr)
        if more > 0:
            print(f"  and {more:,} more", file=sys.stderr)
    return code


def _fail(error: Exception, code: int) -> int:
    return _tell(words_of(error), code)


def _tell(words: str, code: int) -> int:
    if sys.stderr is not None:  # without one print() would say it on standard output
        print(f"sessionlog: {visible(words)}", file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    """Usage errors as one line, like every other error."""

    def error(self, message: str) -> NoReturn:
        self.exit(CANNOT, f"{self.prog}: {visible(message)}; see `{self.prog} --help`\n")


def _parser(wanted: Sequence[str]) -> argparse.ArgumentParser:
    """Knows all names, and what the command that is wanted takes."""
    parser = _Parser(
        prog="sessionlog",
        description="Inspect, fork and repair the session logs of coding agents: the commands "
        "alone. The screen is the installed `sessionlog` without one.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    for name, help in COMMANDS.items():
        sub = commands.add_parser(name, help=help, description=help)
        if name in wanted:
            command = import_module(f"sessionlog.commands.{name}")
            sub.set_defaults(run=command.run)
            sub.add_argument("--json", action="store_true", help="one JSON object a line")
            command.arguments(sub)
    return parser
