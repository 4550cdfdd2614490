"""Which of a pi log's entries the agent is still told of: compactions, branches, lost entries."""

from __future__ import annotations

from pathlib import Path

import build
import pytest
from build import pi_entry as entry
from build import pi_head as head
from build import pi_said as said
from build import pi_user as user

from sessionlog.formats.pi import Pi
from sessionlog.marks import Marks
from sessionlog.reader import load
from sessionlog.records import Reset, shown_type
from sessionlog.session import Session
from sessionlog.window import Log

FORMAT = Pi()


def session(folder: Path, *lines: bytes) -> Session:
    return load(build.log(folder / build.PI_FILE, lines))


def texts(read: Session) -> list[str]:
    return [m.text for m in read.messages]


def inside(read: Session) -> list[str]:
    return [step.message.text for step in read.history if step.in_context]


def test_a_compaction_keeps_its_summary_first_and_then_what_it_names(tmp_path: Path) -> None:
    read = session(
        tmp_path,
        *build.pi_chain(
            lambda id, up: user("one", id, up),
            lambda id, up: said("two", id=id, parent=up),
            lambda id, up: entry("thinking_level_change", id, up, thinkingLevel="high"),
            lambda id, up: user("three", id, up),
            lambda id, up: entry("compaction", id, up, summary="S", firstKeptEntryId="e2"),
            lambda id, up: said("four", id=id, parent=up),
        ),
    )
    assert texts(read) == ["S", "three", "four"]
    assert next(shown_type(m) for m in read.messages) == "summary"
    assert [s.n for s in read.history if not s.in_context] == [1, 2]


def test_a_first_kept_entry_that_is_not_there_keeps_nothing(tmp_path: Path) -> None:
    compaction = entry("compaction", "b", "a", summary="S", firstKeptEntryId="gone")
    read = session(tmp_path, head(), user("one", "a"), compaction, user("two", "c", "b"))
    assert texts(read) == ["S", "two"]


def test_version_1_counts_the_entries_that_a_compaction_keeps(tmp_path: Path) -> None:
    compaction = entry("compaction", summary="S", firstKeptEntryIndex=2, tokensBefore=9)
    lines = [head(version=None), user("one"), user("two"), said("three"), compaction, user("four")]
    read = session(tmp_path, *lines)
    assert texts(read) == ["S", "two", "three", "four"]
    assert [r.payload for r in read.records if isinstance(r.payload, Reset)] == [
        Reset("compaction", keep_line=3)
    ]


def test_only_the_branch_of_the_last_entry_is_in_context(tmp_path: Path) -> None:
    read = session(
        tmp_path,
        head(),
        user("one", "a"),
        said("wrong", id="b", parent="a"),
        user("worse", "c", "b"),
        entry("compaction", "d", "c", summary="lost", firstKeptEntryId="c"),
        entry("branch_summary", "e", "a", fromId="a", summary="Tried and left"),
        said("right", id="f", parent="e"),
    )
    assert inside(read) == texts(read) == ["one", "Tried and left", "right"]
    assert len(read.history) == 6


def test_a_second_root_starts_the_conversation_anew(tmp_path: Path) -> None:
    read = session(
        tmp_path, head(), user("one", "a"), user("again", "b"), said("x", id="c", parent="b")
    )
    assert texts(read) == ["again", "x"]


def test_the_client_loses_what_stands_before_a_lost_entry(tmp_path: Path) -> None:
    # tried with 0.73.1: a prompt written onto a torn line is lost, and so is all before it
    lines = build.pi_healthy()
    torn = lines[3][:-60]
    read = session(
        tmp_path, *lines[:3], torn + user("lost", "b1", "a1"), said("x", id="b2", parent="b1")
    )
    assert texts(read) == ["x"]
    assert [s.message.text for s in read.history] == ["Fix it", "lost", "x"]
    assert [d.why for d in read.damages] == ["a torn record, with another written onto it"]


def test_links_that_go_round_end_somewhere(tmp_path: Path) -> None:
    read = session(tmp_path, head(), user("one", "a", "b"), user("two", "b", "a"))
    assert texts(read) == ["one", "two"]


def left_lines(log: Log) -> set[int]:
    """Offsets of the lines that the marks say are left behind."""
    marks = Marks(log.form)
    marks.scan(log.strip, rest=lambda: None)
    limit, left = 1 << 60, set()
    for start, turn in reversed(marks.left):
        if turn < limit:
            limit = start
            left |= {o for n in range(log.chunks) for o in log.chunk(n).starts if start <= o < turn}
    return left


@pytest.mark.parametrize("pad", [0, 9_000])
@pytest.mark.parametrize("seed", range(12))
def test_a_look_at_raw_lines_finds_the_branch_of_the_whole_log(
    tmp_path: Path, seed: int, pad: int
) -> None:
    lines = build.pi_tree(seed, pad=pad)
    read = session(tmp_path, *lines)
    log = Log(read.path, FORMAT)
    left = left_lines(log)
    resets = [r for r in read.records if isinstance(r.payload, Reset)]
    for step in read.history:
        if not step.message.unsent and not resets:
            assert step.in_context == (step.record.span.offset not in left)
        if step.in_context:
            assert step.record.span.offset not in left
    log.close()
