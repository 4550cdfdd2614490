"""Keys on their way to a program: which are ours, and that none is lost."""

from __future__ import annotations

import pytest

from sessionlog.keypress import RESERVED, Keys, Press

FORMS = {
    b"\x1d": RESERVED,
    b"\x1b[93;5u": RESERVED,
    b"\x1b[93:125;5u": RESERVED,
    b"\x1b[93;5:1u": RESERVED,
    b"\x1b[93;5:2u": RESERVED,
    b"\x1b[93;69u": RESERVED,
    b"\x1b[93;133u": RESERVED,
    b"\x1b[27;5;93~": RESERVED,
    b"\x1b": "esc",
    b"\x1b[27u": "esc",
    b"\x1b[27;1:1u": "esc",
    b"\x1b[27;129u": "esc",
    b"S": "S",
    b"\x1b[115;2u": "S",
    b"\x1b[115:83;2;83u": "S",
    b"\x1b[27;2;83~": "S",
    b"i": "i",
    b"\x1b[105u": "i",
    b"\x1b[105;;105u": "i",
    b"\x1b[93u": "",
    b"\x1b[93;5:3u": "",
    b"\x1b[93;6u": "",
    b"\x1b[115;1u": "",
    b"\x1b[105;5u": "",
    b"\x1b[A": "",
    b"\x1bOS": "",
    b"\x1bS": "",
    b"\x1b[MS!S": "",
    b"\x1b[<35;83;105M": "",
}
ANSWERS = [
    b"\x1b[?62;22c",
    b"\x1b[12;40R",
    b"\x1b]11;rgb:1/1/1\x07",
    b"\x1bP>|Si\x1b\\",
    b"\x1b[?1u",
]
PASTE = b"\x1b[200~S\x1b[27u\x1d i\x1b[201~"


def taken(*reads: bytes, letters: bool = True) -> list[Press]:
    """What comes out, the last part after a wait."""
    keys, found = Keys(), []
    for data in reads:
        keys.feed(data)
        while press := keys.take(letters=letters):
            found.append(press)
    while press := keys.take(letters=letters, waited=True):
        found.append(press)
    assert not keys.waiting
    return found


@pytest.mark.parametrize("data", FORMS)
def test_a_key_has_one_name_in_every_form(data: bytes) -> None:
    assert [press.key for press in taken(data)] == [FORMS[data]]
    if len(data) > 1:  # and in text
        assert [press.key for press in taken(b"a" + data + b"b")] == ["", FORMS[data], ""]


@pytest.mark.parametrize("data", [data for data in FORMS if len(data) > 2])
def test_a_key_that_comes_in_two_reads_is_the_same_key(data: bytes) -> None:
    for at in range(2, len(data)):  # an escape alone is a key at once
        assert [press.key for press in taken(data[:at], data[at:])] == [FORMS[data]]


@pytest.mark.parametrize("data", [*ANSWERS, PASTE])
def test_what_a_terminal_says_by_itself_is_no_key(data: bytes) -> None:
    for at in range(2, len(data)):
        found = taken(data[:at], data[at:])
        assert not any(press.key for press in found)
        assert all(press.answer for press in found)


def test_nothing_is_lost_however_it_is_cut() -> None:
    data = b"".join([*FORMS, *ANSWERS, PASTE, "naïve 日本".encode()])
    for letters in (True, False):
        for at in range(len(data)):
            found = taken(data[:at], data[at:], letters=letters)
            assert b"".join(press.data for press in found) == data


def test_a_paste_without_an_end_does_not_disarm_the_key() -> None:
    found = taken(b"\x1b[200~pasted", b" more", b"\x1d", b"S")
    assert [press.key for press in found if press.key] == [RESERVED, "S"]


def test_what_begins_and_never_ends_is_not_kept_for_ever() -> None:
    keys = Keys()
    keys.feed(b"\x1b]" + b"x" * 5000)
    assert keys.take() == Press(b"\x1b", "esc")
