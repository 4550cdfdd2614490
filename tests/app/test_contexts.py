"""What the screen says is in context, in logs that are trees: what the session says of them."""

from __future__ import annotations

import os
from pathlib import Path

import build
import gemini_logs as gemini
import pytest
from claude_logs import wandering

from sessionlog.formats.base import Format
from sessionlog.formats.claude import Claude
from sessionlog.formats.gemini import Gemini
from sessionlog.formats.pi import Pi
from sessionlog.marks import Marks
from sessionlog.reader import load
from sessionlog.window import Log
from tui.timeline import Timeline

CASES = os.environ.get("SESSIONLOG_CASES", "")


def differing(path: Path, form: Format | None = None) -> list[int]:
    """Numbers of the messages of which rows and session say something else."""
    log = Log(str(path), form or Pi())
    marks = Marks(log.form)
    marks.scan(log.strip, rest=lambda: None)
    made = Timeline(log, marks)
    made.judge(False)
    rows = {row.place: row for number in range(made.chunks) for row in made.rows(number)}
    found = []
    for step in load(path).history:
        row = rows.get((step.record.span.offset, step.record.part))  # a response is on its call's
        if row is not None and row.in_context != step.in_context:
            found.append(step.n)
    log.close()
    return found


@pytest.mark.parametrize("pad", [0, 9_000])
@pytest.mark.parametrize("seed", range(30))
def test_rows_are_in_context_where_the_session_has_them(
    tmp_path: Path, seed: int, pad: int
) -> None:
    assert differing(build.log(tmp_path / build.PI_FILE, build.pi_tree(seed, pad=pad))) == []


@pytest.mark.parametrize("pad", [0, 9_000])
@pytest.mark.parametrize("seed", range(40))
def test_rows_that_prompts_took_back_are_those_of_the_session(
    tmp_path: Path, seed: int, pad: int
) -> None:
    path = build.log(tmp_path / build.CLAUDE_FILE, wandering(seed, pad=pad))
    assert differing(path, Claude()) == []


def test_what_lists_and_rewinds_of_gemini_took_out_is_out_wherever_it_stands(
    tmp_path: Path,
) -> None:
    one, two = gemini.user("u1", "one"), gemini.model("m1", "first")
    extra = [gemini.user("x1", "of the first list"), gemini.model("x2", "its answer")]
    again = gemini.model("m1", "first", gemini.call("c1"))
    values = [one, two, gemini.user("u2", "two"), again, {"$rewindTo": "u2"},
              {"$set": {"messages": [one, *extra, again]}}, {"$set": {"messages": [one, again]}},
              gemini.model("m2", "Done.")]  # fmt: skip
    lines = [gemini.head(), *map(build.line, values)]
    for end in range(2, len(lines) + 1):
        path = build.log(tmp_path / str(end) / gemini.FILE, lines[:end])
        assert differing(path, Gemini()) == []


def test_a_turn_is_found_behind_long_lines_and_as_the_log_grows(tmp_path: Path) -> None:
    lines = [build.pi_head(), build.pi_user("one", "a")]
    lines += [build.pi_user("x" * 1_500_000, "b", "a"), build.pi_user("c", "c", "b")]
    path = build.log(tmp_path / build.PI_FILE, lines)
    log = Log(str(path), Pi())
    marks = Marks(log.form)
    marks.scan(log.strip, rest=lambda: None)
    assert marks.left == []
    end = len(lines[0]) + len(lines[1])
    for id, parent, turns in (("d", "c", []), ("e", "a", [end]), ("f", "e", [end])):
        with path.open("ab") as file:
            file.write(build.pi_user(id, id, parent))
        marks.restart(log.refresh().first)
        marks.scan(log.strip, rest=lambda: None)
        assert [start for start, _ in marks.left] == turns
    assert differing(path) == []
    log.close()


@pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES names no folder of sample logs")
def test_sample_logs_agree_too() -> None:
    for path in Path(CASES).rglob("*.jsonl"):
        if "pi" in path.parts:
            assert differing(path) == [], path
        elif "claude" in path.parts:
            assert differing(path, Claude()) == [], path
