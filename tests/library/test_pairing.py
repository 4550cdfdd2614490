"""One rule tells which response answers which request, streaming or not."""

from __future__ import annotations

from pathlib import Path

import build
import pytest

from sessionlog.pairing import Pairing
from sessionlog.reader import load
from sessionlog.records import Activity


def asked(id: str, text: str = "{}") -> Activity:
    return Activity("request", id, "sh", text)


def test_the_latest_open_request_of_an_id_is_answered_first() -> None:
    pairing = Pairing()
    pairing.request(1, asked("a"))
    pairing.request(2, asked("a"))
    assert [pairing.response(asked("a")) for _ in range(3)] == [2, 1, None]


def test_without_an_id_name_and_arguments_pair() -> None:
    pairing = Pairing()
    pairing.request(1, asked("", "x"))
    pairing.request(2, asked("b", "y"))
    assert pairing.response(asked("", "z")) is None
    assert pairing.response(asked("unknown", "x")) == 1
    assert pairing.response(asked("", "y")) == 2
    assert pairing.response(asked("b", "y")) is None


def test_a_request_without_an_id_is_answered_before_one_that_has_its_own() -> None:
    pairing = Pairing()
    pairing.request(1, asked(""))
    pairing.request(2, asked("b"))
    assert [pairing.response(asked("")), pairing.response(asked("b"))] == [1, 2]


@pytest.mark.parametrize("seed", range(20))
def test_it_pairs_as_a_session_does(tmp_path: Path, seed: int) -> None:
    session = load(build.log(tmp_path / "a.jsonl", build.scrambled(seed, 60)))
    pairing = Pairing()
    for step in session.history:
        activity = step.message.activity
        if activity is not None and activity.kind == "request":
            pairing.request(step.n, activity)
        elif activity is not None:
            assert pairing.response(activity) == step.pair
