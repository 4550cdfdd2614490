"""The native format to its last edge: what is written, and where its logs stand."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import build
import pytest

from sessionlog.errors import NotPossible, SessionNotFound
from sessionlog.formats.native import Native
from sessionlog.formats.native_encode import encode, stamp
from sessionlog.framing import split
from sessionlog.listing import glance, list_sessions
from sessionlog.lookup import resolve
from sessionlog.reader import load
from sessionlog.records import (
    Activity,
    Message,
    Origin,
    Payload,
)
from sessionlog.session import Session
from sessionlog.source import decode

AT = "2026-11-27T22:00:00.00000025Z"


def payload_of(data: bytes) -> Payload:
    [line] = split(data)
    [record] = decode(Native(), line)[0]
    return record.payload


def loaded(tmp_path: Path, *lines: bytes, tail: bytes = b"") -> Session:
    return load(build.log(tmp_path / "20261127-220000.jsonl", lines, tail))


# -- writing -----------------------------------------------------------------------------------


def test_text_is_escaped_as_the_engine_escapes_it() -> None:
    text = '<a>&\u2028\u2029\n\t"\\\x00\x1b\x7fé日🚀'
    assert encode(Message("user", text), AT) == (
        b'{"kind":"message","at":"2026-11-27T22:00:00.00000025Z","message":{"type":"user","text":"'
        b'\\u003ca\\u003e\\u0026\\u2028\\u2029\\n\\t\\"\\\\\\u0000\\u001b\x7f'
        + "é日🚀".encode()
        + b'"}}\n'
    )


def test_a_lone_surrogate_is_the_only_thing_that_its_line_escapes() -> None:
    line = encode(Message("bot", "é\ud83d<"), AT)
    assert line.endswith(b'"text":"\xc3\xa9\\ud83d\\u003c"}}\n')
    assert payload_of(line) == Message("bot", "é\ud83d<", extra={})


@pytest.mark.parametrize(
    ("now", "text"),
    [
        (datetime(2026, 11, 27, 22, 0, 0, 0, UTC), "2026-11-27T22:00:00Z"),
        (datetime(2026, 11, 27, 22, 0, 0, 120000, UTC), "2026-11-27T22:00:00.12Z"),
        (datetime(2026, 11, 27, 22, 0, 10, 100, UTC), "2026-11-27T22:00:10.0001Z"),
        (datetime.fromisoformat("2026-11-28T00:30:00.000001+02:30"), "2026-11-27T22:00:00.000001Z"),
    ],
)
def test_times_are_utc_with_the_zeros_of_the_fraction_cut(now: datetime, text: str) -> None:
    assert stamp(now) == text


@pytest.mark.parametrize("result", [False, 0, "", [], {}, 2**70, {"a": [None]}])
def test_results_that_look_empty_are_written_and_nothing_is_not(result: Any) -> None:
    found: Any = payload_of(
        encode(Message("activity", "", Activity("response", "c", result=result)), AT)
    )
    assert found.activity.result == result
    assert type(found.activity.result) is type(result)
    assert b"result" not in encode(Message("activity", "", Activity("response", "c")), AT)


def test_a_failure_without_words_stays_a_failure() -> None:
    line = encode(Message("activity", "", Activity("response", "c", failure="")), AT)
    found: Any = payload_of(line)
    assert found.activity.failure


def test_fields_that_are_not_known_are_written_behind_the_known_ones() -> None:
    line = encode(Message("user", "a", extra={"mood": {"x": 1}, "text": "not this"}), AT)
    assert line.endswith(b'"message":{"type":"user","text":"a","mood":{"x":1}}}\n')


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes"])
def test_what_json_has_no_word_for_is_refused_before_it_is_written(value: Any) -> None:
    with pytest.raises(NotPossible):
        encode(Message("activity", "", Activity("response", "c", result=value)), AT)


# -- folders and references --------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for i, id in enumerate(("20261127-220000", "20261127-220000-2", "20261128-090000")):
        build.log(tmp_path / f"{id}.jsonl", [build.meta(id, seconds=i * 3600), build.result()])
    return tmp_path


@pytest.mark.parametrize(
    "ref",
    [
        "last",
        " last\n",
        "20261128-090000",
        "20261128-090000.jsonl",
        "  20261128-090000 ",
        "20261128",
        "{}/20261128-090000.jsonl",
    ],
)
def test_a_reference_resolves(ref: str, folder: Path) -> None:
    assert resolve(folder, ref.format(folder)) == folder / "20261128-090000.jsonl"


def test_an_id_is_not_taken_for_the_head_of_another(folder: Path) -> None:
    assert resolve(folder, "20261127-220000").name == "20261127-220000.jsonl"
    with pytest.raises(NotPossible, match="2 sessions"):
        resolve(folder, "20261127")


@pytest.mark.parametrize("ref", ["", "  ", "nobody", "20261128-090000.txt", "{}/nobody.jsonl"])
def test_a_reference_to_nothing_is_refused(ref: str, folder: Path) -> None:
    with pytest.raises(SessionNotFound):
        resolve(folder, ref.format(folder))


def test_there_is_no_last_session_of_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(SessionNotFound):
        resolve(tmp_path, "last")


def test_a_listing_says_what_a_session_was_resumed_and_forked_from(tmp_path: Path) -> None:
    build.log(
        tmp_path / "a.jsonl", [build.meta("a", resumedFrom="b"), build.result("iterations", 1)]
    )
    build.log(tmp_path / "b.jsonl", [build.meta("b", seconds=-60, forkedFrom={"id": "c", "at": 4})])
    first, second = list_sessions(tmp_path)
    assert (first.id, first.resumed_from, first.reason) == ("a", "b", "iterations")
    assert first.complete
    assert (second.id, second.forked_from) == ("b", Origin("c", 4))


def test_a_row_tells_the_time_of_the_last_line_and_not_of_something_in_it(tmp_path: Path) -> None:
    result = {"a": "b", "at": "2001-01-01T00:00:00Z"}
    build.log(tmp_path / "a.jsonl", [build.meta(), build.response("c", result=result, seconds=50)])
    for closely in (True, False):
        assert glance(str(tmp_path / "a.jsonl"), closely).updated == build.at(50)
