"""Changing members inside the bytes of a JSON object, and nothing else."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from sessionlog import splice
from sessionlog.codec import loads

SPACES = ["", " ", "\t", "  "]


def spaced(value: Any, random: Random) -> str:
    """JSON with odd spacing."""
    pad = random.choice(SPACES)
    if isinstance(value, dict):
        items = (f"{pad}{json.dumps(k)}{pad}:{pad}{spaced(v, random)}" for k, v in value.items())
        return "{" + (pad + ",").join(items) + pad + "}"
    if isinstance(value, list):
        return "[" + ",".join(pad + spaced(item, random) for item in value) + pad + "]"
    return json.dumps(value, ensure_ascii=random.random() < 0.5)


def anything(random: Random, depth: int = 0) -> Any:
    plain = ["", 'q"\\{[,:', "é\u2028", 0, -1.5e10, 2**70, True, None, "\\", "}"]
    what = random.randrange(4)
    if depth > 3 or what > 1:
        return random.choice(plain)
    items = [anything(random, depth + 1) for _ in range(random.randrange(4))]
    return items if what else {f'k{i}\\"': item for i, item in enumerate(items)}


@pytest.mark.parametrize("seed", range(100))
def test_putting_members_changes_these_values_alone(seed: int) -> None:
    random = Random(seed)
    value = {f"m{i}": anything(random) for i in range(random.randrange(5))}
    data = spaced(value, random).encode()
    new = splice.put(data, 0, {"m1": b'"new"', "m9": b'{"a":1}'})
    assert loads(new) == value | {"m1": "new", "m9": {"a": 1}}
    for member in splice.members(data):
        assert loads(data[member.start : member.end]) == value[member.key]
        if member.key != "m1":
            assert data[member.begin : member.end] in new
    assert splice.put(data, 0, {}) == data


def test_of_doubled_keys_the_last_counts_also_when_it_is_escaped() -> None:
    data = b'{"id":1,"\\u0069d" : 2, "x":{"id":3}}'
    assert splice.put(data, 0, {"id": b"9"}) == b'{"id":1,"\\u0069d" : 9, "x":{"id":3}}'
    assert splice.value(data, ("id",)) == b"2"
    assert splice.value(data, ("x", "id")) == b"3"


def test_what_is_not_there_is_nothing() -> None:
    assert splice.value(b'{"a":[1]}', ("b",)) == b""
    assert splice.value(b'{"a":[1]}', ("a", "b")) == b""
    assert splice.put(b"{ }", 0, {"a": b"1"}) == b'{"a":1 }'


def test_an_array_keeps_the_chosen_items() -> None:
    data = b' [ 1 , {"a":[2]},"]" ] '
    assert splice.only(data, 0, [True, True, False]) == b' [1,{"a":[2]}] '
    assert splice.only(data, 0, [False, False, False]) == b" [] "


@pytest.mark.parametrize("bad", [b"\xb0", b"\xed\xa0\x80", b"\xf0\x9f"])
def test_bad_bytes_in_a_key_read_as_replaced_and_stay(bad: bytes) -> None:
    data = b'{"a' + bad + b'":1,"id":2}'
    assert splice.value(data, ("id",)) == b"2"
    assert splice.value(data, ((b"a" + bad).decode("utf-8", "replace"),)) == b"1"
    assert splice.put(data, 0, {"id": b"3"}) == data.replace(b"2", b"3")
