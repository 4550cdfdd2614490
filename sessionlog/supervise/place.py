"""Can a command be run at all? Asked before anything starts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from sessionlog.supervise.birth import UNSHARE
from sessionlog.supervise.order import Order

_PROBE = 5.0
"""Seconds that the probe for process namespaces may take."""


def not_possible(order: Order, environ: Mapping[str, str]) -> str:
    """Why the command of an order cannot be run, in words; "" when it can."""
    if not order.argv or not order.argv[0]:
        return "there is no program to run: the command is empty"
    try:
        texts = (*order.argv, *order.before, *order.env, *order.env.values(), order.cwd)
        if any(b"\0" in os.fsencode(text) for text in texts):
            return f"{order.argv[0]}: an argument holds a NUL byte, which none can"
    except UnicodeEncodeError:
        return f"{order.argv[0]}: an argument holds a lone surrogate, which is no text"
    if not os.path.isdir(order.cwd):
        return f"{order.cwd}: no such working directory; make it, or choose another"
    firsts = [*order.before[:1], order.argv[0]]
    found = (program(name, order.cwd, {**environ, **order.env}) for name in firsts)
    return (
        next(filter(None, found), "")
        or (namespace_problem() if order.namespace else "")
    )  # fmt: skip


def program(name: str, cwd: str, environ: Mapping[str, str]) -> str:
    """Why a program cannot be run from a folder, in words; "" when it can.

    Looked up as execvp(3) does it: a name with a slash is a path, any other is looked for in PATH.
    """
    if "/" in name:
        paths = [os.path.join(cwd, name)]
    else:
        places = environ.get("PATH", os.defpath).split(os.pathsep)
        paths = [os.path.join(cwd, place, name) for place in places]
    there = [path for path in paths if os.path.exists(path)]
    if any(os.path.isfile(path) and os.access(path, os.X_OK) for path in there):
        return ""
    if there:
        return f"{there[0]}: may not be run; make it executable, or name another program"
    where = "no such program" if "/" in name else "no such program in PATH"
    return f"{name}: {where}; install it, or name it by its path"


def namespace_problem() -> str:
    """Why there are no process namespaces here, in words; "" when there are."""
    if sys.platform != "linux":
        return "process namespaces are Linux's; go on without one"
    try:
        done = subprocess.run(
            [*UNSHARE, "true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, timeout=_PROBE, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"no process namespace: {error}; go on without one"
    if done.returncode == 0:
        return ""
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return f"no process namespace: {said[-1] if said else 'refused'}; go on without one"
