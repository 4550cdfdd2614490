"""Every sample log: no exception, nothing dropped, and the counts that its README gives.

The right counts stand in the README of the folder of samples and are read from there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sessionlog.formats.base import decoded_bits
from sessionlog.formats.table import named
from sessionlog.framing import Line
from sessionlog.listing import glance, logs_in
from sessionlog.logfile import open_log, sessions_in
from sessionlog.reader import load
from sessionlog.records import Damage, Record, Span
from sessionlog.session import fold
from sessionlog.shown import json_line, of_check, of_session
from sessionlog.source import decode, format_of, lines_of

FOLDER = os.environ.get("SESSIONLOG_CASES", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="SESSIONLOG_CASES names no folder of samples")
_SIDE = re.compile(
    r"(README\.md|\.py|\.png|\.meta\.json|/labels\.json|/migration|/(message|part)/.*\.json)$"
)
"""Files that hold no session: what explains the samples, and pieces of sessions."""
_CUT = ("claude",)
"""Agents of whose samples whole lines of bookkeeping were taken out after they were counted."""


def files() -> list[str]:
    """Every file of a session."""
    found = sorted(str(path) for path in Path(FOLDER).rglob("*") if path.is_file())
    return [path for path in found if not _SIDE.search(path) and os.path.getsize(path)]


def sessions() -> list[str]:
    return [session for path in files() for session in sessions_in(path)] if FOLDER else []


def short(path: str) -> str:
    return os.path.relpath(path, FOLDER)


# -- nothing raises, nothing is dropped ------------------------------------------------------------


@pytest.mark.parametrize("path", sessions(), ids=short)
def test_every_line_gives_records_or_a_damage(path: str) -> None:
    fd = open_log(path)
    try:
        form = format_of(path, fd)
        for line in lines_of(fd):
            records, damages = decode(form, line)
            assert not left_over(line, records, damages), line
            assert [r.part for r in records] == parts(records)
            if line.ended:
                assert form.classify(line.data) == decoded_bits(form, line.data)
    finally:
        os.close(fd)


def left_over(line: Line, records: list[Record], damages: list[Damage]) -> bytes:
    """The bytes of a line of which nothing tells."""
    spans = {record.span for record in records} | {damage.span for damage in damages}
    left = bytearray(line.data)
    for span in sorted(spans, key=lambda span: span.offset, reverse=True):
        start = span.offset - line.offset
        left[start : start + span.length] = b""
    return bytes(left).strip(b" \t\r\0\xef\xbb\xbf")


def parts(records: list[Record]) -> list[int]:
    """The records of each object, counted from 0."""
    counted: list[int] = []
    last: Span | None = None
    for record in records:
        counted.append(counted[-1] + 1 if record.span == last else 0)
        last = record.span
    return counted


@pytest.mark.parametrize("path", sessions(), ids=short)
def test_all_that_reads_a_session_takes_it(path: str) -> None:
    read = load(path)
    row = glance(path)
    assert (row.id, row.format) == (read.id, read.format)
    assert row.status is not None
    form = named(read.format)
    assert form is not None
    for record in read.records:
        form.usage(record)
    assert read.conversation() or not read.messages
    for shown in (of_check(read), *of_session(read)):
        json_line(shown)


def test_a_listing_of_the_folder_has_every_session() -> None:
    subagents = {path for path in sessions() if "/subagents/" in path}
    assert set(sessions()) - subagents <= set(logs_in([FOLDER]))


# -- the right counts ------------------------------------------------------------------------------


class Row(NamedTuple):
    """A line of a table of the README."""

    path: str
    wanted: dict[str, int]


def rows() -> Iterator[Row]:
    """The lines of the tables of logs that real clients wrote."""
    agent, columns = "", []
    for line in Path(FOLDER, "README.md").read_text().splitlines():
        if line.startswith("#"):
            agent, columns = line.lstrip("# ").strip(), []
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if not line.startswith("|") or set(line) <= set("|-: "):
            continue
        if not columns:
            columns = cells
        elif "lines" in columns and os.path.isdir(os.path.join(FOLDER, "made", agent)):
            row = dict(zip(columns, cells, strict=True))
            path = place(agent, row["case"], row.get("file", ""))
            numbers = {key: int(text) for key, text in row.items() if text.isdigit()}
            if agent in _CUT:
                del numbers["lines"]
            yield Row(path, numbers)


def place(agent: str, case: str, file: str) -> str:
    """A long name stands there without its beginning."""
    folder = Path(FOLDER, "made", agent, case)
    end = file.lstrip("…").lstrip("/")
    found = [p for p in folder.rglob("*.json*") if str(p).endswith(end) and ".meta." not in p.name]
    assert len(found) == 1, (agent, case, file, found)
    return str(found[0])


def counted(path: str) -> dict[str, int]:
    """What the columns of the tables count: that of whole lines, as the clients read them. What
    is salvaged from a broken line comes on top."""
    fd = open_log(path)
    try:
        form = format_of(path, fd)
        found = [decode(form, line) for line in lines_of(fd)]
    finally:
        os.close(fd)
    records = [record for records, damages in found if not damages for record in records]
    read = fold(records, (), form=form, path=path)
    open_calls = sum(step.open for step in read.history)
    return {
        "lines": sum(bool(records) and not damages for records, damages in found),
        "bad": sum(bool(damages) for _, damages in found),
        "user": read.users,
        "asst": read.assistants,
        "calls": read.calls,
        "open": open_calls,
        "messages": len(read.history),
        "events": len(read.events),
        "open calls in messages": open_calls,
    }


@pytest.mark.parametrize("row", list(rows()) if FOLDER else [], ids=lambda row: short(row.path))
def test_the_counts_are_those_of_the_readme(row: Row) -> None:
    found = counted(row.path)
    assert {key: found[key] for key in row.wanted} == row.wanted


def test_the_readme_tells_of_many_logs() -> None:
    assert len(list(rows())) > 40
