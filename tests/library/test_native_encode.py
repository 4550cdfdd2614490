"""What a record looks like on disk, and that it comes back as it was."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import build
import pytest
from disks import Failing, lines, says, texts

from sessionlog.errors import NotPossible
from sessionlog.formats.native_encode import encode, stamp
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
)
from sessionlog.writer import Writer, create, reopen

NOW = datetime(2026, 11, 27, 22, 0, 0, tzinfo=UTC)
META = Meta(task="Fix it", model="m", provider="p", driver="d", workdir="/srv/app")


@pytest.fixture
def disk() -> Failing:
    return Failing()


@pytest.fixture
def writer(tmp_path: Path, disk: Failing) -> Iterator[Writer]:
    with create(tmp_path, "run", META, now=NOW, disk=disk.disk()) as made:
        yield made


@pytest.mark.parametrize(
    ("payload", "body"),
    [
        (Meta("a"), '{"kind":"meta","at":"T","meta":{"id":"a","task":"","model":"","provider":"",'
                    '"driver":"","workdir":""}}'),
        (Meta("a", resumed_from="b", forked_from=Origin("c", 7), extra={"x": [1]}),
         '{"kind":"meta","at":"T","meta":{"id":"a","task":"","model":"","provider":"","driver":"",'
         '"workdir":"","resumedFrom":"b","forkedFrom":{"id":"c","at":7},"x":[1]}}'),
        (Message("bot"), '{"kind":"message","at":"T","message":{"type":"bot","text":""}}'),
        (Message("activity", "", Activity("request", "c", "sh", "{")),
         '{"kind":"message","at":"T","message":{"type":"activity","text":"","activity":'
         '{"kind":"request","id":"c","name":"sh","arguments":"{"}}}'),
        (Message("activity", "", Activity("response", failure="no")),
         '{"kind":"message","at":"T","message":{"type":"activity","text":"","activity":'
         '{"kind":"response","failure":"no"}}}'),
        (Event("iteration", iteration=2),
         '{"kind":"event","at":"T","event":{"kind":"iteration","iteration":2}}'),
        (Event("usage"), '{"kind":"event","at":"T","event":{"kind":"usage"}}'),
        (Result("stop"), '{"kind":"result","at":"T","result":{"reason":"stop","code":0,'
         '"iterations":0,"calls":0,"continuations":0,"cycles":0,"settles":0}}'),
        (Reset(), '{"kind":"reset","at":"T"}'),
    ],
)  # fmt: skip
def test_a_record_is_written_as_the_engine_writes_it(payload: Payload, body: str) -> None:
    assert encode(payload, "T") == body.encode() + b"\n"


def test_angle_brackets_ampersands_and_line_separators_are_escaped_and_nothing_else() -> None:
    data = encode(Message("bot", "<a> & \u2028\u2029 é \U0001f600 \x7f \\u003c"), "T")
    assert rb"\u003ca\u003e \u0026 \u2028\u2029" + " é \U0001f600 \x7f ".encode() in data
    assert json.loads(data)["message"]["text"] == "<a> & \u2028\u2029 é \U0001f600 \x7f \\u003c"


@pytest.mark.parametrize(
    ("text", "time"),
    [("2026-11-27T22:00:00", "2026-11-27T22:00:00Z"),
     ("2026-11-27T22:00:00.500", "2026-11-27T22:00:00.5Z"),
     ("2026-11-27T22:00:10.000001", "2026-11-27T22:00:10.000001Z"),
     ("1969-12-31T23:59:59.25", "1969-12-31T23:59:59.25Z")],
)  # fmt: skip
def test_times_are_utc_with_their_trailing_zeros_cut(text: str, time: str) -> None:
    assert stamp(datetime.fromisoformat(text).replace(tzinfo=UTC)) == time


def test_the_clock_gives_a_time_that_can_be_read_back() -> None:
    before = datetime.now(UTC)
    now = stamp()
    assert now.endswith("Z")
    assert before <= datetime.fromisoformat(now) <= datetime.now(UTC)


@pytest.mark.parametrize(
    ("value", "read"),
    [(2**70, 2**70), (-(10**30), -(10**30)), (math.nan, None), (math.inf, None),
     ("\ud83d", "\ud83d"), ({"\ud83d": 1}, {"\ud83d": 1}), ({1: 2}, {"1": 2}), ((1, 2), [1, 2])],
)  # fmt: skip
def test_what_json_has_trouble_with_comes_back(writer: Writer, value: Any, read: Any) -> None:
    writer.message(Message("activity", "", Activity("response", result=value)))
    assert lines(writer.path)[-1]["message"]["activity"]["result"] == read
    assert not load(writer.path, strict=True).damages


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [nested(190), nested(10)])
def test_what_is_written_can_be_read_back_however_deep(writer: Writer, value: Any) -> None:
    writer.message(Message("bot", extra={"deep": value}))
    assert not load(writer.path, strict=True).damages


@pytest.mark.parametrize("value", [nested(230), nested(2000), b"bytes", {1, 2}, object()])
def test_a_value_that_cannot_be_read_back_is_refused_before_anything_is_written(
    writer: Writer, value: Any
) -> None:
    before = Path(writer.path).read_bytes()
    for payload in (Message("activity", "", Activity("response", result=value)),
                    Message("bot", extra={"x": value}), Result(failure={"x": value})):  # fmt: skip
        with pytest.raises(NotPossible, match="cannot be written as a record"):
            writer.write(payload)
    assert Path(writer.path).read_bytes() == before
    writer.message(says("and on"))


def test_a_payload_of_another_format_is_refused(writer: Writer) -> None:
    with pytest.raises(NotPossible, match="Other is no record"):
        writer.write(Other("x", {}))


def test_fields_that_we_do_not_name_are_written_back(tmp_path: Path) -> None:
    source = build.log(
        tmp_path / "a.jsonl",
        [build.meta(later=1), build.message("bot", "x", mood="calm"), build.event("notice", n=3),
         build.result(cost=0.25)],
    )  # fmt: skip
    session = load(source)
    with create(tmp_path, "b", session.meta) as writer:
        writer.message(session.messages[0])
        writer.event(session.events[0])
        assert session.result is not None
        writer.result(session.result)
    meta, message, event, result = lines(writer.path)
    assert meta["meta"]["later"] == 1
    assert message["message"]["mood"] == "calm"
    assert event["event"]["n"] == 3
    assert result["result"]["cost"] == 0.25


def test_a_meta_may_be_a_dict_of_fields(tmp_path: Path) -> None:
    fields = {"task": "t", "resumedFrom": "old", "workdir": None, "team": "x", "id": "ignored"}
    with create(tmp_path, "run", fields) as writer:
        meta = load(writer.path).meta
    assert meta == Meta("run", "t", resumed_from="old", extra={"team": "x"})


def test_a_meta_whose_text_is_none_is_refused_and_leaves_no_log(tmp_path: Path) -> None:
    with pytest.raises(NotPossible, match="task must be text"):
        create(tmp_path, "run", {"task": 7})
    assert os.listdir(tmp_path) == []


def test_a_key_in_the_meta_never_reaches_the_disk(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "Zq7" * 30
    meta = META._replace(
        task=f"use {key}", workdir=f"/srv/{key}", extra={"env": [{"deep": f"K={key}"}]}
    )
    with create(tmp_path, "run", meta) as writer:
        writer.message(says("x"))
        data = Path(writer.path).read_bytes()
        assert b"Zq7" not in data
        assert data.count(b"masked") == 3
    assert load(writer.path).meta.task.startswith("use sk-ant-")


def test_a_message_of_half_a_megabyte_is_one_line(writer: Writer, disk: Failing) -> None:
    before = disk.turns["write"]
    writer.message(says("x" * (512 << 10)))
    assert disk.turns["write"] == before + 1
    assert texts(writer.path) == ["x" * (512 << 10)]


def test_a_picture_goes_beside_the_log_and_is_named_in_the_line(writer: Writer) -> None:
    image = Image("image/png", width=1, height=2, data=b"pixels")
    writer.message(Message("attachment", "a picture", images=(image, image)))
    line = Path(writer.path).read_bytes().splitlines()[-1]
    assert b"cGl4ZWxz" not in line
    assert b"pixels" not in line
    first = json.loads(line)["message"]["images"][0]
    assert (first["source"], first["size"], first["digest"][:7]) == ("blob", 6, "sha256:")
    assert len(os.listdir(writer.path.removesuffix(".jsonl") + ".blobs")) == 1


def test_a_log_of_another_ending_keeps_its_pictures_in_the_line(tmp_path: Path) -> None:
    path = build.log(tmp_path / "run.log", [build.meta()])
    with reopen(path) as writer:
        writer.message(Message("attachment", images=(Image("image/png", data=b"pixels"),)))
    image = lines(path)[-1]["message"]["images"][0]
    assert (image["source"], image["data"]) == ("inline", "cGl4ZWxz")
    assert os.listdir(tmp_path) == ["run.log"]
