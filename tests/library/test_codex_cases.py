"""Codex's logs of the sample folder: the right reading of each, and no line of one lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sessionlog.forks import fork
from sessionlog.formats.base import decoded_bits
from sessionlog.formats.codex import Codex
from sessionlog.framing import split
from sessionlog.listing import glance
from sessionlog.reader import load

CASES = os.environ.get("SESSIONLOG_CASES", "")
FORMAT = Codex()
cases = pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES names no folder of sample logs")

MADE = {
    "1-normal": (1, 3, 3, 0, 0, "complete", True),
    "2-kill": (1, 2, 3, 1, 0, "unfinished", None),
    "3-int": (1, 2, 2, 0, 0, "complete", False),
    "4-resume-killed": (2, 4, 4, 1, 0, "complete", True),
    "7a-cut-last-line/after.jsonl": (2, 4, 4, 2, 1, "complete", True),
    "7a-cut-last-line/before.jsonl": (1, 2, 3, 2, 1, "truncated", None),
    "8-own-fork": (1, 2, 1, 0, 0, "complete", True),
}
"""users, assistants, calls, open calls, damages, status, ok: as the samples' own table says."""


@cases
@pytest.mark.parametrize("name", MADE)
def test_the_clients_own_logs_give_the_right_reading(name: str) -> None:
    path = Path(CASES, "made", "codex", name)
    path = path if path.is_file() else next(path.glob("*.jsonl"))
    read = load(path)
    assert (read.users, read.assistants, read.calls, len(read.open_calls), len(read.damages),
            str(read.status), read.ok) == MADE[name]  # fmt: skip
    row = glance(str(path))
    assert (row.status, row.ok, row.reason, row.id) == (read.status, read.ok, read.reason, read.id)


@cases
def test_labelled_logs_give_the_right_reading() -> None:
    labels = json.loads(Path(CASES, "why", "labels.json").read_bytes())["logs"]
    seen = 0
    for label in labels:
        if label["format"] != "codex":
            continue
        read = load(Path(CASES, "why", label["file"]))
        oks = [label["ok"], *label.get("ok_accept", [])]
        assert (read.status, len(read.open_calls)) == (label["status"], label["open_calls"]), label
        assert read.ok in oks, label
        assert read.reason == label["reason"], label
        assert len(read.damages) == label["damages"], label
        flying = [(call["tool"], call["call_id"]) for call in label["in_flight"]]
        assert [(call.tool, call.call_id) for call in read.in_flight] == flying, label
        seen += 1
    assert seen


@cases
def test_lines_of_sample_logs_are_classified_as_they_decode() -> None:
    for path in samples():
        for line in split(path.read_bytes()):
            bits = decoded_bits(FORMAT, line.data)
            assert FORMAT.classify(line.data) == bits, (path, line.number)


@cases
def test_every_line_is_accounted_for() -> None:
    for path in samples():
        read = load(path)
        told = {record.span.line for record in read.records}
        told |= {damage.span.line for damage in read.damages}
        lines = {line.number for line in split(path.read_bytes()) if line.data.strip()}
        assert told == lines, path


@cases
def test_a_fork_at_the_end_holds_every_message_with_every_call_closed(tmp_path: Path) -> None:
    for n, path in enumerate(samples()):
        read = load(path)
        before = path.read_bytes()
        new = load(fork(path, len(read.history), tmp_path / f"{n}.jsonl", force=True))
        assert (new.open_calls, new.orphan_results, new.damages) == ((), (), ()), path
        assert len(new.history) == (
            len(read.history) + len(read.open_calls) - len(read.orphan_results)
        ), path
        assert path.read_bytes() == before


def samples() -> list[Path]:
    paths = [path for path in Path(CASES).rglob("*.jsonl") if "codex" in path.parts]
    assert paths
    return paths
