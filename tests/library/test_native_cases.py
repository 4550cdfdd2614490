"""Sample logs of the native engine get their right reading."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

import pytest

from sessionlog import blobs
from sessionlog.errors import NotALog
from sessionlog.formats.native import Native
from sessionlog.formats.native_encode import encode
from sessionlog.framing import split
from sessionlog.listing import glance, list_sessions
from sessionlog.reader import load
from sessionlog.records import (
    Kind,
    Other,
    Status,
)
from sessionlog.source import decode

CASES = os.environ.get("SESSIONLOG_CASES", "")
needs_cases = pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES is not set")


MADE: dict[str, tuple[Status, str | None, bool | None, int, int, list[str]]] = {
    "made/zot/normal/20261129-131540": (Status.COMPLETE, "settled", True, 10, 17, []),
    "made/zot/failure/20261129-131540": (Status.COMPLETE, "failed", False, 7, 12, []),
    "made/zot/loop/20261129-131541": (Status.COMPLETE, "unsettled", False, 135, 233, []),
    "made/zot/auth/20261129-131715": (Status.COMPLETE, "error", False, 4, 6, []),
    "made/zot/kill/20261129-131715": (Status.UNFINISHED, None, None, 4, 11, ["shell"]),
    "openzot/20260805-101500": (Status.COMPLETE, "settled", True, 19, 28, []),
    "openzot/20260805-101500-2": (Status.TRUNCATED, None, None, 4, 6, ["shell"]),
    "openzot/20260805-120000": (Status.COMPLETE, "error", False, 3, 1, []),
    "openzot/20260806-000000": (Status.UNFINISHED, None, None, 0, 0, []),
    "openzot/20260807-000000-old-and-odd": (Status.COMPLETE, "stop", True, 1, 1, []),
}


@needs_cases
@pytest.mark.parametrize("name", MADE)
def test_a_sample_gets_its_right_reading(name: str) -> None:
    path = Path(CASES, name + ".jsonl")
    session, entry = load(path), glance(str(path))
    status, reason, ok, messages, events, flying = MADE[name]
    assert (session.status, session.reason, session.ok) == (status, reason, ok)
    assert (entry.status, entry.reason, entry.ok) == (status, reason, ok)
    assert (len(session.history), len(session.events)) == (messages, events)
    assert [call.tool for call in session.in_flight] == flying
    assert not session.open_calls
    assert not session.orphan_results


@needs_cases
@pytest.mark.parametrize("name", [name for name in MADE if name.startswith("made")])
def test_what_the_engine_wrote_is_what_we_would_write(name: str) -> None:
    for data in Path(CASES, name + ".jsonl").read_bytes().splitlines(keepends=True):
        [record] = decode(Native(), split(data)[0])[0]
        assert encode(record.payload, record.at) == data


@needs_cases
def test_the_samples_with_something_special_about_them() -> None:
    whole = load(Path(CASES, "openzot/20260805-101500.jsonl"))
    assert whole.messages[0].type == "checkpoint"
    assert sum(not step.in_context for step in whole.history) == 11
    [image] = next(m for m in whole.messages if m.images).images
    assert len(blobs.fetch(whole.path, image) or b"") == image.size == 70
    resumed = load(Path(CASES, "openzot/20260805-120000.jsonl"))
    assert resumed.meta.resumed_from == "20260805-101500-2"
    torn = load(Path(CASES, "openzot/20260805-101500-2.jsonl"))
    assert [(d.torn, d.span.line) for d in torn.damages] == [(True, 12)]
    odd = load(Path(CASES, "openzot/20260807-000000-old-and-odd.jsonl"))
    assert [(d.span.line, d.span.offset) for d in odd.damages] == [(6, 93)]
    assert [
        r.payload.name for r in odd.records if r.kind is Kind.OTHER and isinstance(r.payload, Other)
    ] == ["meta", "message", "unknown"]
    auth = load(Path(CASES, "made/zot/auth/20261129-131715.jsonl")).result
    assert auth
    assert auth.failure
    assert auth.failure["status"] == 401


def labels() -> list[dict[str, Any]]:
    if not CASES:
        return []
    found = json.loads(Path(CASES, "why/labels.json").read_text())["logs"]
    return [label for label in found if label["file"].startswith("native/")]


@needs_cases
@pytest.mark.parametrize("label", labels(), ids=lambda label: label["kind"])
def test_a_labelled_log_reads_as_its_label_says(label: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / Path(label["file"]).name
    path.write_bytes(Path(CASES, "why", label["file"]).read_bytes())
    if label.get("may_refuse"):
        with pytest.raises(NotALog):
            load(path)
        return
    with open(path, "rb+") as holder:
        if label.get("live") == "flock":
            assert load(path).status is Status.RUNNING  # open for writing is evidence, too
            fcntl.flock(holder, fcntl.LOCK_EX)
            session, entry = load(path), glance(str(path))
            assert "lock" in (session.alive or "")
            assert [e.status for e in list_sessions(tmp_path)] == [Status.RUNNING]
    if label.get("live"):
        assert load(path).status is entry.status is Status.UNFINISHED
    else:
        session, entry = load(path), glance(str(path))
        assert entry.status == label["status"]

    def right(field: str, value: Any) -> None:
        assert value in (label[field], *label.get(f"{field}_accept", ())), field

    right("status", session.status)
    right("ok", session.ok)
    right("open_calls", len(session.open_calls))
    right("damages", len(session.damages))
    if label["messages"] is not None:
        right("messages", len(session.history))
    right(
        "in_flight",
        [{"tool": call.tool, "call_id": call.call_id or None} for call in session.in_flight],
    )
