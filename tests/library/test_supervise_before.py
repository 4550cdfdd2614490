"""A command that has to run first: in the same place, under the same watch, or nothing runs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from handed import environment, order

from sessionlog.agent import Agent, fill_before
from sessionlog.agentfile import parse
from sessionlog.errors import NotPossible
from sessionlog.supervise.handle import Handle, Outcome, start
from sessionlog.supervise.order import of_order, read_order

SOON = 20.0
SAYS = "import os, sys; print(sys.argv[1], os.getcwd(), os.environ['OWN'])"

Starts = Callable[..., Handle]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Starts]:
    """Starts a command behind another; what the test leaves running is let go of."""
    handles = []
    log = tmp_path / "log.jsonl"

    def begin(before: list[str], argv: list[str], **more: Any) -> Handle:
        log.touch()
        wanted = order(argv, log, before=tuple(before), cwd=str(tmp_path),
                       env={"OWN": "mine"}, **more)  # fmt: skip
        handles.append(start(wanted, environment(tmp_path)))
        return handles[-1]

    yield begin
    for handle in handles:
        handle.close()


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def ended(handle: Handle) -> Outcome:
    outcome = handle.wait(SOON)
    assert outcome is not None
    return outcome


def test_it_runs_first_in_the_same_place(begin: Starts, tmp_path: Path) -> None:
    outcome = ended(begin(python(SAYS, "one"), python(SAYS, "two")))
    assert outcome.tail.decode() == f"one {tmp_path} mine\ntwo {tmp_path} mine\n"
    assert outcome.code == 0


def test_where_it_fails_the_other_is_not_started(begin: Starts) -> None:
    fails = python("import sys; print('no such session'); sys.exit(3)")
    outcome = ended(begin(fails, python(SAYS, "two")))
    assert outcome.code == 3
    said, why = outcome.tail.decode().splitlines()
    assert said == "no such session"
    assert why == f"{sys.executable}: ended with exit code 3, so {sys.executable} was not started"


def test_where_a_signal_ends_it_the_other_is_not_started(begin: Starts) -> None:
    dies = python("import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
    outcome = ended(begin(dies, python(SAYS, "two")))
    assert outcome.code == 128 + 15
    assert b"was ended by signal 15" in outcome.tail
    assert b"two" not in outcome.tail


def test_where_it_ends_well_and_brings_no_log_the_other_is_not_started(
    begin: Starts, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    forgets = python("import os, sys; os.unlink(sys.argv[1])", str(log))
    outcome = ended(begin(forgets, python(SAYS, "two")))
    assert outcome.code == 1
    assert outcome.tail.decode() == (
        f"{sys.executable}: ended well, but brought nothing, so {sys.executable} was not started: "
        f"{log} is not there\n"
    )


def test_it_has_begun_before_that_is_over_and_a_stop_starts_nothing(
    begin: Starts, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    waits = "import sys, time; open(sys.argv[1], 'w').write('here'); time.sleep(600)"
    handle = begin(python(waits, str(fifo)), python(SAYS, "two"))
    assert fifo.read_text() == "here"
    handle.stop()
    outcome = ended(handle)
    assert outcome.stopped == "person"
    assert b"two" not in outcome.tail


def test_a_program_that_is_not_there_is_told_before_anything_starts(begin: Starts) -> None:
    with pytest.raises(NotPossible, match="no-such-program"):
        begin(["no-such-program"], python(SAYS, "two"))
    with pytest.raises(NotPossible, match="no-such-program"):
        begin(python(SAYS, "one"), ["no-such-program"])


def test_an_order_takes_it_along(tmp_path: Path) -> None:
    wanted = order(["b"], tmp_path / "x", before=("a", "{x}"))
    assert read_order(json.dumps(of_order(wanted)).encode()) == wanted


def test_an_agents_own_file_can_name_one() -> None:
    data = b'[agents.mine]\nargv = ["mine", "{id}"]\nbefore = ["mine", "import", "{log}"]\n'
    agent = parse(data, "agents.toml")["mine"]
    assert fill_before(agent, {"log": "/x.json"}) == ("mine", "import", "/x.json")
    assert fill_before(Agent("bare", ("bare",)), {}) == ()
    with pytest.raises(NotPossible, match=r"before: \{lock\} is unknown"):
        parse(data.replace(b"{log}", b"{lock}"), "agents.toml")
