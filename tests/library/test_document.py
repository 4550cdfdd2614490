"""One JSON document taken apart: its own bytes, as far as it is whole."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sessionlog.forks import fork
from sessionlog.logfile import kept_in, open_log
from sessionlog.reader import load
from sessionlog.stores.document import opening, walk
from sessionlog.stores.trajectory import Trajectories

TALK = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]


def pieces(data: bytes, *arrays: str) -> list[tuple[str, bytes, bool, bool]]:
    return [tuple(piece) for piece in walk(data, arrays)]


def test_members_and_items_come_as_their_own_bytes() -> None:
    data = b'{"a": 1180591620717411303424, "b": [ {"x" :1}, "]" ], "c":{"d":[1,2]}}'
    assert pieces(data, "b") == [
        ("a", b"1180591620717411303424", False, True), ("b", b"[]", False, True),
        ("b", b'{"x" :1}', True, True), ("b", b'"]"', True, True),
        ("c", b'{"d":[1,2]}', False, True),
    ]  # fmt: skip
    assert pieces(b"\xef\xbb\xbf [1, [2]]") == [("", b"1", True, True), ("", b"[2]", True, True)]


def test_a_value_on_many_lines_becomes_one_line() -> None:
    value = {"text": "two\nlines", "list": [1, {"x": None}]}
    (piece,) = walk(json.dumps({"v": value}, indent=4).encode())
    assert b"\n" not in piece.data
    assert json.loads(piece.data) == value


def test_any_document_gives_what_it_holds() -> None:
    for seed in range(300):
        random = Random(seed)
        value = {f"k{i}": _any(random, 3) for i in range(random.randrange(5))}
        text = json.dumps(value, indent=random.choice([None, 1, 4])).encode()
        found: dict[str, Any] = {}
        for piece in walk(text, ("k1", "k2")):
            assert piece.whole
            if piece.item:
                found[piece.key].append(json.loads(piece.data))
            else:
                found[piece.key] = json.loads(piece.data)
        assert found == value


def test_wherever_a_document_is_cut_the_rest_is_told() -> None:
    text = json.dumps({"info": {"a": "]}"}, "messages": TALK, "n": 17}, indent=1).encode()
    whole = list(walk(text, ("messages",)))
    for end in range(len(text)):
        found = list(walk(text[:end], ("messages",)))
        assert [piece.whole for piece in found] == [True] * (len(found) - 1) + [False]
        for piece, of_whole in zip(found[:-1], whole, strict=False):
            assert piece == of_whole or piece.data == b"1"
        assert found[-1].data.strip() or not text[:end].strip()


def test_what_stands_behind_a_document_or_in_place_of_one_is_told() -> None:
    assert pieces(b'{"a":1} tail')[-1] == ("", b" tail", False, False)
    assert pieces(b"no document") == [("", b"no document", False, False)]
    assert [piece.whole for piece in walk(b'{"a":1 "b":2}')] == [True, False]


def test_the_opening_of_a_long_document_tells_its_first_members() -> None:
    head = json.dumps({"info": {"model_stats": {}, "config": "x" * 9000}, "messages": []}).encode()
    found = opening(head[:4096])
    assert list(found) == ["info"]
    assert b'"model_stats"' in found["info"]


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("package.json", {"name": "x", "version": "1", "history": []}),
        ("export.json", {"info": {"id": "ses_1"}, "messages": [{"info": {"role": "user"}}]}),
        ("eval.json", {"eval": {}, "messages": TALK}),
        ("session.json", {"sessionId": "a", "projectHash": "b", "messages": TALK}),
        ("list.json", [1, 2]), ("objects.json", [{"a": 1}]), ("empty.json", {}),
        ("turns.jsonl", {"messages": TALK}),
    ],
)  # fmt: skip
def test_other_documents_are_left_alone(tmp_path: Path, name: str, document: Any) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(document))
    assert not Trajectories().keeps(str(path), path.read_bytes()[:4096])


def test_a_conversation_that_is_one_document_is_a_chat_to_read_and_to_fork(tmp_path: Path) -> None:
    for name, document in (("a.json", TALK), ("b.json", {"model": "m", "messages": TALK})):
        path = tmp_path / name
        path.write_text(json.dumps(document, indent=2))
        assert kept_in(str(path)) is not None
        session = load(path)
        assert (session.format, session.id) == ("chat", path.stem)
        assert [m.text for m in session.messages] == ["Hi", "Ho"]
        made = fork(path, 1)
        assert made.name == f"{path.stem}-fork-1.jsonl"
        assert [m.text for m in load(made).messages] == ["Hi"]


def test_a_document_that_grew_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(TALK[:1]))
    assert len(load(path).messages) == 1
    path.write_text(json.dumps(TALK, indent=1))
    assert len(load(path).messages) == 2
    assert open_log(str(path)) >= 0


def _any(random: Random, depth: int) -> Any:
    kind = random.randrange(7 if depth else 5)
    if kind == 5:
        return [_any(random, depth - 1) for _ in range(random.randrange(4))]
    if kind == 6:
        return {f'{i}"]': _any(random, depth - 1) for i in range(random.randrange(4))}
    return (None, 1.5, True, 'a "quoted" ] }\n', "é")[kind]
