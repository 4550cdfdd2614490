"""What the proof on the real clients shares, and the matrix at its end."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from clients.arena import namespaces
from clients.matrix import Cell, table
from clients.programs import PROGRAMS, Program, missing

_CELL = "cell"


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run of the tests share."""
    if why := _unable():
        pytest.skip(why)
    base = tmp_path_factory.getbasetemp()
    parent = base.parent if base.name.startswith("popen-") else base
    return parent / "clients"


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> Program:
    """Each of the clients."""
    return PROGRAMS[request.param]


@pytest.fixture
def cell(
    program: Program, record_property: Callable[[str, object], None]
) -> Callable[..., None]:  # fmt: skip
    """Tells the matrix what this test is about: an act, and what is to be noted of it."""

    def tell(act: str, note: str = "") -> None:
        record_property(_CELL, [act, program.name, note])

    return tell


@cache
def _unable() -> str:
    """Why nothing can be proven here; "" when it can."""
    if why := missing():
        return why
    try:
        done = subprocess.run((*namespaces(), "true"), capture_output=True, check=False)
    except FileNotFoundError:
        return "no program unshare, which makes a network of loopback alone"
    words = done.stderr.decode().strip()
    return f"no network of its own can be made here: {words}" if done.returncode else ""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the matrix, when there is one."""
    cells = [
        Cell(act, client, outcome, note)
        for outcome in ("passed", "failed", "skipped")
        for report in terminalreporter.stats.get(outcome, ())
        for act, client, note in _cells(report)
    ]
    if not cells:
        return
    versions = {name: program.version for name, program in PROGRAMS.items()}
    terminalreporter.section("acts on the logs of real clients")
    for line in table(cells, versions):
        terminalreporter.write_line(line)
    terminalreporter.write_line(
        "\nzot: by its format, which is the library's own (the tests that always run)"
    )


def _cells(report: object) -> Iterator[list[str]]:
    """The cells that a test told of, the last word last."""
    yield from (value for key, value in getattr(report, "user_properties", ()) if key == _CELL)
