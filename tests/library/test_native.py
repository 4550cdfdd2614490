"""The native format to its last edge: what is read."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import Any

import build
import pytest

from sessionlog import blobs
from sessionlog.formats.native import Native
from sessionlog.formats.native_encode import encode
from sessionlog.framing import split
from sessionlog.listing import glance, list_sessions
from sessionlog.reader import load
from sessionlog.records import (
    Activity,
    Event,
    Image,
    Message,
    Meta,
    Origin,
    Other,
    Payload,
    Reset,
    Result,
    Status,
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


# -- reading -----------------------------------------------------------------------------------

EVERY_FIELD: list[tuple[bytes, Payload]] = [
    (
        b'{"kind":"meta","at":"2026-11-27T22:00:00.00000025Z","meta":{"id":"a","task":"t","model":"m",'
        b'"provider":"p","driver":"d","workdir":"/w","resumedFrom":"b"}}\n',
        Meta("a", "t", "m", "p", "d", "/w", resumed_from="b", extra={}),
    ),
    (
        b'{"kind":"meta","at":"2026-11-27T22:00:00.00000025Z","meta":{"id":"a","task":"","model":"",'
        b'"provider":"","driver":"","workdir":"","forkedFrom":{"id":"b","at":7}}}\n',
        Meta("a", forked_from=Origin("b", 7), extra={}),
    ),
    (
        b'{"kind":"message","at":"2026-11-27T22:00:00.00000025Z","message":{"type":"user","text":""}}\n',
        Message("user", extra={}),
    ),
    (
        b'{"kind":"message","at":"2026-11-27T22:00:00.00000025Z","message":{"type":"activity","text":"",'
        b'"activity":{"kind":"request","id":"c","name":"sh","arguments":"{\\"a\\": 1",'
        b'"reasoning_items":[{"id":"r","summary":[],"encrypted_content":"x"}],"reasoning_details":{"b":[1]}}}}\n',
        Message(
            "activity",
            "",
            Activity(
                "request",
                "c",
                "sh",
                '{"a": 1',
                extra={
                    "reasoning_items": [{"id": "r", "summary": [], "encrypted_content": "x"}],
                    "reasoning_details": {"b": [1]},
                },
            ),
            extra={},
        ),
    ),
    (
        b'{"kind":"message","at":"2026-11-27T22:00:00.00000025Z","message":{"type":"activity","text":"[1]",'
        b'"activity":{"kind":"response","id":"c","name":"sh","arguments":"{}","result":[1]}}}\n',
        Message("activity", "[1]", Activity("response", "c", "sh", "{}", [1], extra={}), extra={}),
    ),
    (
        b'{"kind":"message","at":"2026-11-27T22:00:00.00000025Z","message":{"type":"activity",'
        b'"text":"{\\"error\\":\\"no\\"}","activity":{"kind":"response","id":"c","failure":"no"}}}\n',
        Message(
            "activity",
            '{"error":"no"}',
            Activity("response", "c", failure="no", extra={}),
            extra={},
        ),
    ),
    (
        b'{"kind":"message","at":"2026-11-27T22:00:00.00000025Z","message":{"type":"attachment","text":"a",'
        b'"images":[{"media_type":"image/png","digest":"sha256:00","width":2,"height":3,"size":70,'
        b'"tokens":85,"origin":"/a.png","detail":"high","source":"blob"}]}}\n',
        Message(
            "attachment",
            "a",
            images=(
                Image(
                    "image/png",
                    "sha256:00",
                    2,
                    3,
                    70,
                    "blob",
                    extra={"tokens": 85, "origin": "/a.png", "detail": "high"},
                ),
            ),
            extra={},
        ),
    ),
    (
        b'{"kind":"event","at":"2026-11-27T22:00:00.00000025Z","event":{"kind":"iteration","iteration":3}}\n',
        Event("iteration", iteration=3, extra={}),
    ),
    (
        b'{"kind":"event","at":"2026-11-27T22:00:00.00000025Z","event":{"kind":"toolCallError","tool":"sh",'
        b'"text":"no"}}\n',
        Event("toolCallError", "sh", "no", ok=False, extra={}),
    ),
    (
        b'{"kind":"result","at":"2026-11-27T22:00:00.00000025Z","result":{"reason":"error","message":"m",'
        b'"error":"e","failure":{"status":401,"response_body":"b","request_bytes":9},"code":1,'
        b'"iterations":2,"calls":3,"continuations":4,"cycles":5,"settles":6}}\n',
        Result(
            "error",
            "m",
            "e",
            {"status": 401, "response_body": "b", "request_bytes": 9},
            1,
            2,
            3,
            4,
            5,
            6,
            {},
        ),
    ),
    (
        b'{"kind":"result","at":"2026-11-27T22:00:00.00000025Z","result":{"reason":"settled","code":0,'
        b'"iterations":0,"calls":0,"continuations":0,"cycles":0,"settles":0}}\n',
        Result("settled", extra={}),
    ),
    (b'{"kind":"reset","at":"2026-11-27T22:00:00.00000025Z"}\n', Reset()),
]


@pytest.mark.parametrize(("data", "payload"), EVERY_FIELD)
def test_every_field_is_read_and_written_back_byte_for_byte(data: bytes, payload: Payload) -> None:
    assert payload_of(data) == payload
    assert encode(payload, AT) == data


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "novel", "novel": {"x": 1}, "at": AT},
        {"kind": "message"},
        {"kind": "meta", "meta": None},
        {"kind": "event", "event": "words"},
        {"kind": "result", "result": [1]},
        {"kind": 7, "at": AT},
        {"no": "kind"},
    ],
)
def test_unknown_kinds_and_records_without_payload_are_kept_as_they_stand(value: Any) -> None:
    found = payload_of(build.line(value))
    assert isinstance(found, Other)
    assert found.data == value


@pytest.mark.parametrize(
    ("kind", "body", "kept"),
    [
        (
            "message",
            {"type": "user", "text": ["a", "b"], "mood": 1},
            {"text": ["a", "b"], "mood": 1},
        ),
        (
            "message",
            {"type": "user", "text": "t", "activity": "x", "images": {"a": 1}},
            {"activity": "x", "images": {"a": 1}},
        ),
        (
            "meta",
            {"id": 7, "task": "t", "resumedFrom": ["a"], "forkedFrom": "b"},
            {"id": 7, "resumedFrom": ["a"], "forkedFrom": "b"},
        ),
        ("event", {"kind": "usage", "iteration": "3", "text": None}, {"iteration": "3"}),
        (
            "result",
            {"reason": "error", "code": True, "calls": 1.5, "failure": "no"},
            {"code": True, "calls": 1.5, "failure": "no"},
        ),
    ],
)
def test_fields_of_an_unexpected_type_are_kept_beside_the_known_ones(
    kind: str, body: dict[str, Any], kept: dict[str, Any]
) -> None:
    found: Any = payload_of(build.line({"kind": kind, "at": AT, kind: body}))
    assert dict(found.extra) == kept


def test_an_activity_of_an_unknown_kind_and_odd_fields_survives() -> None:
    body = {"kind": "gesture", "id": 4, "arguments": {"a": 1}, "result": None, "failure": ["x"]}
    found: Any = payload_of(build.message("activity", activity=body))
    assert found.activity.kind == "gesture"
    assert dict(found.activity.extra) == {"id": 4, "arguments": {"a": 1}, "failure": ["x"]}


@pytest.mark.parametrize(
    "type",
    [
        "user",
        "bot",
        "reasoning",
        "instructions",
        "checkpoint",
        "attachment",
        "assistant",
        "tool",
        "context",
        "",
        "novel",
    ],
)
def test_no_type_of_message_is_refused(type: str, tmp_path: Path) -> None:
    session = loaded(tmp_path, build.meta(), build.message(type, "text"))
    assert [(m.type, m.text) for m in session.messages] == [(type, "text")]


def test_blank_lines_are_no_damage_and_count_as_lines(tmp_path: Path) -> None:
    session = loaded(
        tmp_path, b"\n", b" \t\r\n", build.meta(), b"\n", build.message("user", "a"), b"\n"
    )
    assert not session.damages
    assert [r.span.line for r in session.records] == [3, 5]


def test_a_log_without_a_meta_reads_as_an_empty_one_named_by_its_file(tmp_path: Path) -> None:
    session = loaded(tmp_path, build.message("user", "Do it"), build.result())
    assert session.meta == Meta(id="20261127-220000")
    assert (session.title, session.status) == ("Do it", Status.COMPLETE)


def test_a_meta_behind_a_damaged_head_is_still_the_sessions(tmp_path: Path) -> None:
    session = loaded(
        tmp_path, b"junk\n", build.message("user", "Begin."), build.meta(task="Fix it")
    )
    assert (session.meta.task, session.title) == ("Fix it", "Fix it")


def test_the_file_name_is_the_identity(tmp_path: Path) -> None:
    path = build.log(tmp_path / "copied.jsonl", [build.meta("20261127-220000")])
    assert load(path).id == glance(str(path)).id == "copied"


def test_a_reset_keeps_the_events_and_undoes_no_result(tmp_path: Path) -> None:
    session = loaded(
        tmp_path,
        build.meta(),
        build.message("user", "a"),
        build.event("usage"),
        build.result("failed", 1),
        build.reset(),
    )
    assert not session.messages
    assert [e.kind for e in session.events] == ["usage"]
    assert (session.status, session.reason, session.ok) == (Status.COMPLETE, "failed", False)


def test_a_log_is_readable_while_it_is_written(tmp_path: Path) -> None:
    lines = build.healthy()
    for count in range(1, len(lines)):
        session = loaded(tmp_path, *lines[:count], tail=lines[count][:20])
        assert len(session.records) == count
        assert session.status is Status.TRUNCATED


@pytest.mark.parametrize("size", [512 * 1024, 20 << 20])
def test_a_line_of_any_length_is_read_and_listed(size: int, tmp_path: Path) -> None:
    session = loaded(tmp_path, build.meta(), build.message("bot", "x" * size), build.result())
    assert [len(m.text) for m in session.messages] == [size]
    assert [e.status for e in list_sessions(tmp_path)] == [Status.COMPLETE]


@pytest.mark.parametrize("reason", ["settled", "stop"])
def test_settled_and_stop_went_well(reason: str, tmp_path: Path) -> None:
    assert loaded(tmp_path, build.meta(), build.result(reason)).ok is True


@pytest.mark.parametrize(
    "reason",
    [
        "failed",
        "iterations",
        "calls",
        "continuations",
        "cycle",
        "time",
        "empty",
        "unsettled",
        "aborted",
        "error",
    ],
)
def test_every_other_reason_did_not(reason: str, tmp_path: Path) -> None:
    session = loaded(tmp_path, build.meta(), build.result(reason, 1))
    assert (session.complete, session.reason, session.ok) == (True, reason, False)


def test_calls_that_stand_only_in_events_are_in_flight_until_a_message_follows(
    tmp_path: Path,
) -> None:
    started = [
        build.meta(),
        build.message("user", "go"),
        build.event("iteration", iteration=1),
        build.event("toolCallStart", tool="read", text='{"path":"a"}'),
        build.event("toolCallError", tool="read", text="no such file"),
        build.event("toolCallStart", tool="shell", text='{"command":"make"}'),
        build.event("toolCallEnd", tool="shell"),
        build.event("toolCallStart", tool="shell", text='{"command":"sleep 60"}'),
    ]
    session = loaded(tmp_path, *started)
    assert [(c.tool, c.arguments, c.n) for c in session.in_flight] == [
        ("shell", '{"command":"sleep 60"}', None)
    ]
    assert not session.open_calls
    assert not loaded(tmp_path, *started, build.message("bot", "on")).in_flight
    assert not loaded(tmp_path, *started, build.result("aborted", 1)).in_flight


# -- pictures ----------------------------------------------------------------------------------


def pictured(tmp_path: Path, png: bytes, **more: Any) -> tuple[Session, Image]:
    digest = "sha256:" + hashlib.sha256(png).hexdigest()
    image = {
        "media_type": "image/png",
        "digest": digest,
        "size": len(png),
        "source": "blob",
        **more,
    }
    session = loaded(tmp_path, build.meta(), build.message("attachment", "see", images=[image]))
    [found] = session.messages[0].images
    return session, found


def test_the_bytes_of_a_picture_come_from_the_folder_beside_the_log(tmp_path: Path) -> None:
    session, image = pictured(tmp_path, b"PNG")
    assert blobs.fetch(session.path, image) is None  # missing: the text stands alone
    folder = tmp_path / "20261127-220000.blobs"
    folder.mkdir()
    file = folder / (image.digest.removeprefix("sha256:") + ".png")
    file.write_bytes(b"PNG")
    assert blobs.fetch(session.path, image) == b"PNG"
    file.write_bytes(b"GNP")
    assert blobs.fetch(session.path, image) is None  # other bytes than the digest says
    file.unlink()
    os.mkfifo(file)
    assert blobs.fetch(session.path, image) is None


def test_inline_bytes_come_from_the_line(tmp_path: Path) -> None:
    session, image = pictured(
        tmp_path, b"PNG", source="inline", data=base64.b64encode(b"PNG").decode()
    )
    assert blobs.fetch(session.path, image) == b"PNG"
    session, image = pictured(tmp_path, b"PNG", source="inline", data="%%%")
    assert blobs.fetch(session.path, image) is None


@pytest.mark.parametrize(
    "digest", ["sha256:../../x", "", "sha256:" + "g" * 64, "sha256:" + "é" * 64]
)
def test_a_digest_never_leads_out_of_the_folder(digest: str, tmp_path: Path) -> None:
    session, image = pictured(tmp_path, b"PNG", digest=digest)
    assert blobs.fetch(session.path, image) is None


def test_pictures_of_an_odd_shape_are_no_reason_to_fail(tmp_path: Path) -> None:
    images = ["x", 7, {}, {"media_type": 1, "width": "wide"}]
    session = loaded(tmp_path, build.meta(), build.message("attachment", images=images))
    found = session.messages[0].images
    assert len(found) == 2
    assert dict(found[1].extra) == {"media_type": 1, "width": "wide"}
