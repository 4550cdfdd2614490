"""One line taken apart: exact values, salvage of intact objects, every loss named."""

from __future__ import annotations

import random

import pytest

from sessionlog import codec
from sessionlog.framing import Line, LineBuffer, split


def parsed(data: bytes, ended: bool = True) -> codec.Parsed:
    return codec.parse(Line(7, 100, data, ended))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"n":1180591620717411303424}', 2**70),
        (b'{"n":-9223372036854775809}', -(2**63) - 1),
        (b'{"n":"\\ud83d"}', "\ud83d"),
        (b'\xef\xbb\xbf{"n":1}', 1),
        (b'{"n":1}\r', 1),
        (b'{"n":9007199254740993}', 9007199254740993),
    ],
)
def test_values_that_a_fast_parser_would_change_come_back_exactly(
    text: bytes, value: object
) -> None:
    assert codec.loads(text)["n"] == value


def test_nan_and_infinity_are_read() -> None:
    value = codec.loads(b'{"a":NaN,"b":-Infinity}')
    assert value["a"] != value["a"]
    assert value["b"] == float("-inf")


def test_nesting_is_cut_off_at_one_depth_on_both_paths() -> None:
    fine = b"[" * codec.MAX_DEPTH + b"]" * codec.MAX_DEPTH
    deep = b"[" + fine + b"]"
    nan = b"[" * (codec.MAX_DEPTH + 1) + b"NaN" + b"]" * (codec.MAX_DEPTH + 1)
    assert codec.loads(fine)
    with pytest.raises(ValueError, match="nested"):
        codec.loads(deep)
    with pytest.raises(ValueError, match="nested"):
        codec.loads(nan)
    assert codec.loads(b'{"code":"' + b"[{" * 500 + b'"}')


def test_a_million_brackets_are_one_damage_and_no_crash() -> None:
    found = parsed(b"[" * 1_000_000)
    assert not found.objects
    assert [d.why for d in found.damages] == [f"nested deeper than {codec.MAX_DEPTH} levels"]


@pytest.mark.parametrize(
    ("data", "ended", "objects", "whys"),
    [
        (b'{"a":1}{"b":2}', True, [{"a": 1}, {"b": 2}], []),
        (b'{"a":1}{"b":2}', False, [{"a": 1}, {"b": 2}], []),
        (b'{"a":"he{"b":2}', True, [{"b": 2}], ["a torn record, with another written onto it"]),
        (b'{"a":tru{"b":2}', True, [{"b": 2}], ["a torn record, with another written onto it"]),
        (
            b'{"a":{"x":1},{"b":2}',
            True,
            [{"b": 2}],
            ["a torn record, with another written onto it"],
        ),
        (b'{"a":1}{"b":', True, [{"a": 1}], ["a second record on the line, cut"]),
        (b'{"a":1}{"b":', False, [{"a": 1}], ["torn last line"]),
        (b'{"a":1}\0\0\0', True, [{"a": 1}], ["NUL bytes"]),
        (b'\0\0{"a":1}', True, [{"a": 1}], ["NUL bytes"]),
        (b'{"a":', False, [], ["torn last line"]),
        (b'{"a":', True, [], ["not JSON"]),
        (b"not json", True, [], ["not JSON"]),
        (b"{x", True, [], ["not JSON"]),
        (b" {x", True, [], ["not JSON"]),
        (b"{\0\0", True, [], ["not JSON"]),
        (b"\0\0", True, [], ["NUL bytes"]),
        (b"\xef\xbb\xbf{x", True, [], ["not JSON"]),
        (b"\xef\xbb\xbf", True, [], []),
        (b"[" * 201, True, [], ["nested deeper than 200 levels"]),
        (b"{" * 201, True, [], ["nested deeper than 200 levels"]),
        (b"12", True, [], ["a JSON value that is no record"]),
        (b"", True, [], []),
        (b" \t\r", True, [], []),
    ],
)
def test_what_a_line_gives(
    data: bytes, ended: bool, objects: list[object], whys: list[str]
) -> None:
    found = parsed(data, ended)
    assert [value for value, _ in found.objects] == objects
    assert [damage.why for damage in found.damages] == whys
    assert all(damage.torn == (not ended) for damage in found.damages if "torn last" in damage.why)


def test_salvaged_objects_and_losses_name_their_bytes() -> None:
    data = b'{"a":"h\xc3\xa9{"b":2}\0\0{"c":3}'
    found = parsed(data)
    for value, span in found.objects:
        assert codec.loads(data[span.offset - 100 : span.end - 100]) == value
    taken = {i for _, s in found.objects for i in range(s.offset, s.end)}
    lost = {i for d in found.damages for i in range(d.span.offset, d.span.end)}
    assert not taken & lost
    assert taken | lost == set(range(100, 100 + len(data)))


def test_bad_utf8_inside_a_record_is_a_mild_damage() -> None:
    found = parsed(b'{"text":"a\xffb"}')
    assert found.objects[0][0] == {"text": "a�b"}
    assert [(d.mild, d.torn) for d in found.damages] == [(True, False)]


def test_a_piece_inside_a_broken_record_is_not_taken_for_one() -> None:
    data = b'{"kind":"message","at":X,"message":{"type":"user","text":"hi"}}'
    found = codec.parse(Line(1, 0, data, True), lambda value: "kind" in value)
    assert not found.objects
    assert len(found.damages) == 1


def test_no_bytes_make_it_raise_and_every_byte_is_accounted_for() -> None:
    rng = random.Random(5)
    parts = [
        b'{"a":1}',
        b'{"k":"v',
        b"\0\0",
        b"\xff",
        b"[",
        b"NaN",
        b'"',
        b"\\",
        b"}",
        b" ",
        b"1e999",
    ]
    for _ in range(3000):
        data = b"".join(rng.choice(parts) for _ in range(rng.randrange(9)))
        found = parsed(data, rng.random() < 0.5)
        covered = set()
        for _, span in found.objects:
            covered |= set(range(span.offset - 100, span.end - 100))
        for damage in found.damages:
            covered |= set(range(damage.span.offset - 100, damage.span.end - 100))
        left = bytes(byte for i, byte in enumerate(data) if i not in covered)
        assert not left.strip(b" \t\r"), data


def test_dumps_writes_what_loads_reads() -> None:
    for value in ({"n": 2**70}, {"s": "\ud800"}, {"x": [1.5, None, True, "é"]}, {}):
        assert codec.loads(codec.dumps(value)) == value
    assert codec.dumps({"x": float("nan")}) == b'{"x":null}'
    assert codec.dumps({"x": float("nan"), "n": 2**70}) == b'{"x":null,"n":1180591620717411303424}'
    with pytest.raises(ValueError, match="JSON"):
        codec.dumps({"x": object()})


def test_lines_end_at_lf_only_and_know_their_offsets() -> None:
    data = "a\u2028b\x0bc\x85\r\n\nlast".encode()
    lines = split(data, offset=10, number=3)
    assert [line.number for line in lines] == [3, 4, 5]
    assert [line.ended for line in lines] == [True, True, False]
    for line in lines:
        assert data[line.offset - 10 :].startswith(line.data)


def test_chunks_of_any_size_give_the_same_lines() -> None:
    rng = random.Random(2)
    data = b"".join(bytes([rng.choice(b"ab\n")]) * rng.randrange(1, 5) for _ in range(300))
    whole = split(data)
    for _ in range(50):
        buffer, lines, start = LineBuffer(), [], 0
        while start < len(data):
            size = rng.randrange(1, 40)
            lines += buffer.feed(data[start : start + size])
            start += size
        rest = buffer.rest()
        assert lines + ([rest] if rest else []) == whole


def test_a_line_of_countless_records_takes_bounded_memory_and_says_so() -> None:
    found = parsed(b'{"k":1}' * (codec._MOST + 5) + b'{"torn')
    assert len(found.objects) == codec._MOST
    assert [d.why for d in found.damages] == [f"more than {codec._MOST:,} records on one line"]
