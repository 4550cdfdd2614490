"""Texts in their spellings: the sieve passes every line that holds them, the needle decides."""

from __future__ import annotations

import json
import sys

import build
import pytest

from sessionlog.formats.native import Native
from sessionlog.framing import split
from sessionlog.needle import Needle, lines_of, shown
from sessionlog.sieve import Sieve, folded, pieces_of
from sessionlog.text import width

NATIVE = Native()


def passed(sieve: Sieve, data: bytes) -> list[bytes]:
    return [data[start:end] for start, end in sieve.lines(data, len(data))]


@pytest.mark.parametrize("text", [
    'say "hi"', "C:\\new", "a\nb\tc", "é", "naïve", "日本語", "👍🏽", "</b>&amp;", "a/b",
    "\x1b[31m", "it's", "no such file", "e\u0301", "Σίσυφος",
])  # fmt: skip
@pytest.mark.parametrize("deep", [0, 1, 2])
def test_every_spelling_passes_also_inside_json_strings(text: str, deep: int) -> None:
    value = text
    for _ in range(deep):
        value = json.dumps({"x": value})
    ascii_only = json.dumps(value)
    for spelled in (
        ascii_only,
        json.dumps(value, ensure_ascii=False),
        ascii_only.replace("/", "\\/"),
        "".join(f"\\u{ord(c):04X}" if c in "<>&'" else c for c in ascii_only),
    ):
        line = f'{{"text":{spelled}}}'.encode()
        for any_case in (False, True):
            assert passed(Sieve((text,), any_case), b"{}\n" + line + b"\n[]\n") == [line]


def test_hex_digits_of_escapes_may_have_any_case() -> None:
    for spelled in (b"\\u65E5\\u672c", b"\\u65e5\\u672C"):
        assert Sieve(("日本",)).may_hold(b'"' + spelled + b'"')


def test_an_escape_of_arguments_as_they_stand_may_be_another_in_the_log() -> None:
    assert Sieve(("\\bfoo",)).may_hold(b'{"input":{"command":"\\u0008foo"}}')


def test_few_lines_pass_that_do_not_hold_the_text() -> None:
    data = b'{"a":"lock held"}\n{"a":"held"}\n{"a":"lock: held"}\n{"a":"no lock"}\n'
    assert passed(Sieve(("lock held",)), data) == [b'{"a":"lock held"}']
    assert passed(Sieve(("lock: held",)), data) == [b'{"a":"lock held"}', b'{"a":"lock: held"}']
    assert passed(Sieve(("nowhere", "no lock")), data) == [b'{"a":"no lock"}']


def test_a_text_without_a_sure_spelling_lets_every_line_pass() -> None:
    for text in ("", '"', "\\", "\n", "\ud800", "{ }", "\u2028", "\x7f"):
        assert Sieve((text,)).open
        assert not [piece for piece in pieces_of(text) if not piece.text.strip()]


def test_letters_equal_their_other_case_and_nothing_else() -> None:
    for a, b in ("éÉ", "ßẞ", "σς", "ΣΣ", "ǆǅ", "жЖ", "kK"):
        assert folded(a) == folded(b)
    for a, b in ("k\u212a", "sſ", "iİ", "iı", "å\u212b"):  # kelvin, long s, ångström
        assert folded(a) != folded(b)
    assert folded("STRASSE") != folded("straße")


def test_text_keeps_its_length_where_case_does_not_count_so_places_are_right() -> None:
    for code in range(0, sys.maxunicode + 1):
        assert len(folded(chr(code))) == 1
    needle = Needle("ärger", True)
    text = "İİ ÄRGER und ärger"
    assert [text[a:b] for a, b in needle.spans(text)] == ["ÄRGER", "ärger"]


def test_lower_case_is_found_in_any_case_unless_told() -> None:
    assert Needle("two").in_text("TWO")
    assert not Needle("Two").in_text("two")
    assert not Needle("two", False).in_text("TWO")
    assert Needle("Two", True).in_text("two")


# -- what a record says ------------------------------------------------------------------------


def held(line: bytes, text: str) -> int:
    return Needle(text, False).count(NATIVE, split(line)[0])


def test_keys_ids_and_times_are_no_hits() -> None:
    line = build.request("call_77", arguments='{"command":"ls\\nnew"}')
    for text in ("kind", "activity", "call_77", "2026"):
        assert held(line, text) == 0, text
    assert held(line, "ls") == held(line, "ls\nnew") == 1


def test_arguments_are_found_decoded_and_as_they_stand_once() -> None:
    line = build.request("c", arguments=json.dumps({"command": 'echo "é"', "n": 8080}))
    for text in ('echo "é"', "é", "echo", '"command"', 'echo \\"', "8080", "\\u00e9"):
        assert held(line, text) == 1, text


def test_a_result_that_stands_twice_on_its_line_counts_once() -> None:
    assert held(build.response("c", result="one lock"), "lock") == 1
    assert held(build.response("c", failure="no lock"), "lock") == 1
    assert held(build.response("c", result={"output": "a lock\nb"}), "a lock\nb") == 1


def test_each_line_of_text_counts_once() -> None:
    assert held(build.message("bot", "lock lock\nno\nlock"), "lock") == 2


def test_damaged_bytes_count_as_they_stand() -> None:
    line = build.message("bot", "the lock é")[:-6]
    assert held(line, "lock") == 1
    assert held(line, '"text"') == 1


def test_a_place_over_several_lines_is_one_hit_with_all_of_them() -> None:
    text = "first a\nb second\nthird a\nb"
    found = list(lines_of(text, Needle("a\nb").spans(text)))
    assert [shown(one)[0] for one in found] == ["first a↵b second", "third a↵b"]


@pytest.mark.parametrize("before", ["", "x" * 5000, "日本" * 300, "\x1b" * 500, "\t" * 300])
def test_a_hit_is_shown_with_its_place_wherever_it_stands(before: str) -> None:
    text = f"{before}Needle{'y' * 5000}"
    [found] = lines_of(text, Needle("Needle").spans(text))
    line, spans = shown(found)
    assert width(line) <= 400
    assert [line[a:b] for a, b in spans] == ["Needle"]
    assert "\x1b" not in line


@pytest.mark.parametrize("mark", ["\u202e", "\x1b", "\U0001f469\u200d", "日"])
def test_what_stands_before_a_hit_does_not_push_it_out_of_its_line(mark: str) -> None:
    [found] = lines_of(text := f"{mark * 200}Needle", Needle("Needle").spans(text))
    line, spans = shown(found)
    assert width(line) <= 400
    assert [line[a:b] for a, b in spans] == ["Needle"]


def test_of_a_later_hit_that_does_not_fit_no_half_is_shown() -> None:
    for between in range(360, 400):
        text = f"Needle{'y' * between}Needle{'z' * 500}"
        [found] = lines_of(text, Needle("Needle").spans(text))
        line, spans = shown(found)
        assert width(line) <= 400
        assert {line[a:b] for a, b in spans} == {"Needle"}
        assert line.count("N") == len(spans)
