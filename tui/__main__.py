"""The console script: a command that needs no screen never loads Textual; anything else is the
screen, which paints first and imports the rest when it is asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sessionlog.commands import COMMANDS

if TYPE_CHECKING:
    from argparse import Namespace

    from sessionlog.cli import Run
    from sessionlog.pace import Pace
    from tui.app import InspectorApp

THEMES = ("night", "day", "mono", "ansi")
FIRST_LOOK = 0.01
"""Seconds that reading the list may take before the first paint."""

USAGE = """\
usage: sessionlog [--theme night|day|mono|ansi] [PATH ...]
       sessionlog COMMAND ...

Opens the screen on folders or logs; without PATH, on every agent's own folders.

commands (sessionlog COMMAND --help tells more):
{commands}

options:
  --theme NAME   night, day, mono (also by NO_COLOR) or ansi (the terminal's own colours)
  --mono         the same as --theme mono
  --version      the version
  --help         this text; on the screen, ? shows the keys
"""


def _usage() -> str:
    width = max(map(len, COMMANDS))
    told = "\n".join(f"  {name.ljust(width)}  {help}" for name, help in COMMANDS.items())
    return USAGE.format(commands=told).rstrip()


def main(argv: Sequence[str] | None = None) -> int:
    """Run; gives the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in COMMANDS:
        if words[0] == "demo" and _has_screen() and not {"-h", "--help", "--json"} & set(words):
            return _demo(words[1:])
        if words[0] == "replay" and _has_screen() and "--json" not in words:
            return _command(words, _replay)
        return _command(words)
    paths, theme, problem = _options(words)
    if problem in ("--help", "--version"):
        print(_usage() if problem == "--help" else _version())
        return 0
    if problem:
        return _wrong(problem)
    if not _has_screen():
        return _command(["list", *paths])
    return _screen(paths, theme)


def _options(words: Sequence[str]) -> tuple[list[str], str, str]:
    """(paths, theme, what is wrong or asked for instead)"""
    paths: list[str] = []
    theme = ""
    rest = iter(words)
    for word in rest:
        name, given, value = word.partition("=")
        if word == "--":
            paths += rest
        elif word in ("-h", "--help", "--version"):
            return paths, theme, "--version" if word == "--version" else "--help"
        elif word == "--mono":
            theme = "mono"
        elif name == "--theme":
            theme = value if given else next(rest, "")
            if theme not in THEMES:
                return paths, theme, f"--theme {theme}: one of {', '.join(THEMES)}"
        elif word.startswith("-") and len(word) > 1:
            return paths, theme, f"{word}: no such option; see `sessionlog --help`"
        else:
            paths.append(word)
    missing = next((path for path in paths if not _there(path)), None)
    if missing is not None:
        hint = "" if os.sep in missing else "; `sessionlog --help` lists the commands"
        return paths, theme, f"{missing}: no such file or folder{hint}"
    return paths, theme, ""


def _there(path: str) -> bool:
    if os.path.lexists(path):
        return True
    from sessionlog.logfile import there  # only a session in a database has no file of its own

    return there(path)


def _wrong(problem: str) -> int:
    from sessionlog.text import visible

    print(f"sessionlog: {visible(problem)}", file=sys.stderr)
    return 2


def _has_screen() -> bool:
    return sys.stdout.isatty() and sys.stdin.isatty()


def _command(words: list[str], instead: Run | None = None) -> int:
    from sessionlog.cli import main as command

    return command(words, instead)


def _replay(options: Namespace) -> int:
    """One log, played on the screen."""
    from sessionlog.commands.common import found
    from sessionlog.commands.replay import pace_of

    return _screen([found(options, options.ref).path], "", pace_of(options))


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"sessionlog {version('sessionlog')}"
    except PackageNotFoundError:
        return "sessionlog, not installed: run from its source"


def _demo(words: list[str]) -> int:
    """A made-up night with one live run, on the screen."""
    import signal

    from sessionlog import demo
    from sessionlog.errors import SessionLogError
    from tui import hangup

    folder = words[1] if len(words) == 2 and words[0] == "--dir" else None
    if words and folder is None:
        return _wrong(f"demo {' '.join(words)}: only --dir FOLDER is known")
    try:
        made = demo.make(folder)
    except SessionLogError as error:
        return _wrong(str(error))
    for name in ("SIGTERM", "SIGHUP"):  # before the screen takes them: the agent must not stay
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    live = demo.start_live(made)
    hangup.before_the_end(live.kill)
    try:
        return _screen([str(made)], "")
    finally:
        live.terminate()
        live.wait()
        if folder is None:
            print(f"the demo's logs stay in {made}")


def _screen(paths: Sequence[str], theme: str, pace: Pace | None = None) -> int:
    """The screen; with a pace it plays the log that it opens."""
    # a collection while modules are loaded only walks over what will stay anyway; the app turns
    # it on when it has painted
    import gc

    gc.disable()
    from tui.orders import NEWEST, PROJECT
    from tui.workers import Catalogue

    order = NEWEST
    if not paths:
        from sessionlog.paths import agent_folders

        # those that are not there yet are watched too
        paths = [folder for folders in agent_folders().values() for folder in folders]
        order = PROJECT  # of many agents and folders
    catalogue = Catalogue(tuple(paths))
    catalogue.begin(FIRST_LOOK)
    import asyncio

    from tui.app import InspectorApp

    app = InspectorApp(catalogue, theme=theme, plain=_is_plain(), pace=pace, order=order)
    asyncio.run(_shown(app))
    return app.return_code or 0


async def _shown(app: InspectorApp) -> None:
    from tui import hangup

    await app.run_async()
    hangup.after_leaving(app.return_code or 0)


def _is_plain() -> bool:
    """Can the locale not write our signs?"""
    return "utf" not in (sys.stdout.encoding or "").lower()


if __name__ == "__main__":
    sys.exit(main())
