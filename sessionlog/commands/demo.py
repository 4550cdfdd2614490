"""`sessionlog demo`: a folder of telling sessions, on the screen."""

from __future__ import annotations

import argparse
import sys

from sessionlog import shown
from sessionlog.commands.common import DONE
from sessionlog.demo import make
from sessionlog.text import visible


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    sub.add_argument("--dir", help="where to make it (a new temporary folder)")


def run(options: argparse.Namespace) -> int:
    """Do it."""
    folder = make(options.dir)
    if options.json:
        print(shown.json_line({"folder": str(folder)}))
        return DONE
    print(visible(str(folder)))
    print(f"open it with: sessionlog {visible(str(folder))}", file=sys.stderr)
    return DONE
