"""Nothing a terminal obeys or hides gets through, and ordinary text does, whatever its script."""

from __future__ import annotations

import random
import sys
import unicodedata

import pytest

from sessionlog.text import (
    LINE_MARK,
    ago,
    clip,
    one_line,
    pad,
    size,
    took,
    visible,
    width,
    wrap,
)

ZWNJ, ZWJ, VS16 = "\u200c", "\u200d", "\ufe0f"
FAMILY = ZWJ.join("\U0001f468\U0001f469\U0001f467\U0001f466")
KISS = f"\U0001f469\U0001f3fb{ZWJ}\u2764{VS16}{ZWJ}\U0001f48b{ZWJ}\U0001f468\U0001f3fc"
PERSIAN = f"می{ZWNJ}خواهم PDF{ZWNJ}ها را ببینم"
HINDI = f"क्{ZWJ}ष और र्{ZWNJ}य हिन्दी"

ORDINARY = (
    "go test ./internal/billing/... exit 1 (2.31s)",
    "Größe, naïveté, “quotes” – dash — ellipsis…",
    "Пересобрать воркер биллинга",
    "请修复结账流程的端到端测试，分片二。",
    "日本語のログ、カタカナとﾊﾝｶｸ",
    "한국어 로그를 읽습니다",
    "שלום עולם, שָׁלוֹם",
    "مرحبا بالعالم، مُحَمَّد ١٢٣",
    PERSIAN,
    HINDI,
    "สวัสดีชาวโลก",
    f"done ✓ failed ✗ {VS16.join('⚠ ')} 🎉 🇩🇪 👍🏽 {FAMILY} {KISS}",
    "┌──┐ │ ▒▒ ≈ ► ■ ○ ═══",
    "∑ x² ≤ √2 → ∞",
    "e\u0301 decomposed, a\u0323\u0302 twice",
    "\ue0b0 a glyph for private use",
)

# What must never be in the result, said independently of how the module says it.
UNSEEN = {
    0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x3164, 0xFEFF, 0xFFA0, 0x115F, 0x1160,
    *range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFFF0, 0xFFFC), *range(0xFDD0, 0xFDF0),
    *range(0xD800, 0xE000), *range(0xE0000, 0xE0100), *range(0x7F, 0xA0), *range(0x20),
    *(plane << 16 | low for plane in range(17) for low in (0xFFFE, 0xFFFF)),
}  # fmt: skip
DRAWN_CF = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}


def leaks(shown: str, *, newlines: bool = False) -> list[str]:
    """What is in `shown` and should not be."""
    found = []
    marks = 0
    for at, char in enumerate(shown):
        code, category = ord(char), unicodedata.category(char)
        if char == "\n" and newlines:
            continue
        if code in UNSEEN or (category == "Cf" and code not in DRAWN_CF and char not in ZWNJ + ZWJ):
            found.append(f"U+{code:04X} at {at}")
        marks = marks + 1 if category[0] == "M" else 0
        if marks > 8:
            found.append(f"mark {marks} at {at}")
        if char in ZWNJ + ZWJ and (at in (0, len(shown) - 1) or shown[at + 1].isspace()):
            found.append(f"joiner that joins nothing at {at}")
    return found


HOSTILE = (
    *map(chr, range(0xA0)), "\u009b", "\u009d", "\u061c", "\u200b", ZWNJ, ZWJ, "\u200e", "\u200f",
    "\u202a", "\u202e", "\u2028", "\u2029", "\u2060", "\u2066", "\u2069", "\ufeff", "\ufff9",
    "\ufffe", "\uffff", "\ud800", "\udfff", "\U000e0001", "\U000e0041", "\U0010ffff", "\u00ad",
    "\u3164", "\u115f", VS16, "\U000e0100", "\u0301", "\u0301" * 9, "\u20dd", "\u0488", "\u0903",
    "\U0001f469", "\u2764", "\U0001f3fd", "\u2192", "a", "é", "漢", "ب", "ی", "क", "\u094d", "1",
    "<", ">", "\r\n", "\x1b[31m", "\x1b]52;c;aGk=\x07", "\x1bP+q\x1b\\", "<U+202E>", "␛", "\u0897",
)  # fmt: skip


def hostile(seed: int, count: int = 400, longest: int = 24) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices(HOSTILE, k=rng.randrange(longest))) for _ in range(count)]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_of_any_script_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert visible(text, newlines=True) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "␛[2J"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("nul \x00 del \x7f", "nul ␀ del ␡"),
        ("shift \x0e\x0f", "shift ␎␏"),
        ("\u009b31m", "<U+009B>31m"),
        ("é\x1b", "é␛"),
        ("user\u202etxt.exe", "user<U+202E>txt.exe"),
        ("\u2066a\u2069", "<U+2066>a<U+2069>"),
        ("pass\u200bword", "pass<U+200B>word"),
        (f"pass{ZWJ}word", "pass<U+200D>word"),
        (f"pass{ZWNJ}word", "pass<U+200C>word"),
        (f"{ZWJ}\U0001f469{ZWJ}", "<U+200D>\U0001f469<U+200D>"),
        (f"ب{ZWJ}ب", "ب<U+200D>ب"),
        (f"می{ZWNJ}{ZWNJ}خ", "می<U+200C><U+200C>خ"),
        (f"می{ZWNJ}", "می<U+200C>"),
        ("\ufeff{", "<U+FEFF>{"),
        ("hi\U000e0068\U000e0069", "hi<U+E0068><U+E0069>"),
        ("a\u2028b\u2029c", "a<U+2028>b<U+2029>c"),
        ("\ufff9a\ufffab\ufffb", "<U+FFF9>a<U+FFFA>b<U+FFFB>"),
        ("\ud83d!", "<U+D83D>!"),
        ("\ufdd0\uffff\U0010ffff", "<U+FDD0><U+FFFF><U+10FFFF>"),
        ("soft\u00adhyphen", "soft<U+00AD>hyphen"),
        ("a\u3164b\u034fc", "a<U+3164>b<U+034F>c"),
    ],
)
def test_what_a_terminal_obeys_or_hides_becomes_a_mark(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(text, newlines=True) == shown


@pytest.mark.parametrize(
    ("text", "one", "many"),
    [
        ("a\nb", f"a{LINE_MARK}b", "a\nb"),
        ("a\r\nb", f"a{LINE_MARK}b", "a\nb"),
        ("10%\r20%", "10%␍20%", "10%␍20%"),  # alone it would write over its own line
        ("a\r\r\nb", f"a␍{LINE_MARK}b", "a␍\nb"),
        ("a\tb", "a b", "a   b"),
        ("abcd\te\n\tf", f"abcd e{LINE_MARK} f", "abcd    e\n    f"),
        ("漢\tb", "漢 b", "漢  b"),  # a stop counts columns, not characters
        ("é\té\t\té", "é é  é", "é   é       é"),
    ],
)
def test_line_breaks_and_tabs_are_one_column_signs_or_layout(
    text: str, one: str, many: str
) -> None:
    assert visible(text) == one
    assert visible(text, newlines=True) == many


def test_no_code_point_gets_through_that_should_not() -> None:
    everything = "x".join(map(chr, range(sys.maxunicode + 1)))
    assert leaks(visible(everything, newlines=True), newlines=True) == []


def test_every_single_character_is_safe_by_itself_too() -> None:
    # Alone a character takes other ways through the code than in company.
    for code in (*range(0x3000), *range(0xD7F0, 0xE010), *range(0xFDC0, 0x10010), 0xE0001, 0xE0100):
        assert leaks(visible(chr(code))) == []


@pytest.mark.parametrize("seed", range(8))
def test_random_hostile_text_never_leaks_and_showing_twice_changes_nothing(seed: int) -> None:
    for text in hostile(seed):
        one, many = visible(text), visible(text, newlines=True)
        assert leaks(one) == [], ascii(text)
        assert leaks(many, newlines=True) == [], ascii(text)
        assert visible(one) == one, ascii(text)
        assert visible(many, newlines=True) == many, ascii(text)
        assert visible(one, newlines=True) == one, ascii(text)


def test_a_sequence_split_over_pieces_is_as_harmless_as_in_one() -> None:
    text = "a\x1b]52;c;aGk=\x1b\\b\u009b31m"
    assert "".join(map(visible, text)) == visible(text)


@pytest.mark.parametrize("mark", ["\u0301", "\u20dd", "\u0903", "\u0897", VS16, "\U000e0101"])
def test_a_base_carries_at_most_eight_marks_and_the_rest_is_shown_apart(mark: str) -> None:
    assert visible("e" + mark * 8) == "e" + mark * 8
    assert visible("e" + mark * 10) == "e" + mark * 8 + f"<U+{ord(mark):04X}>" * 2
    assert visible(("e" + mark * 8) * 5) == ("e" + mark * 8) * 5


def test_joiners_between_marks_count_as_marks() -> None:
    shown = visible("क" + f"\u094d{ZWJ}" * 20 + "ष")
    assert shown.startswith("क" + f"\u094d{ZWJ}" * 3)
    assert shown.count("\u094d") == 4


def test_an_emoji_sequence_has_at_most_four_parts() -> None:
    # A chain without end is two columns to us and a whole line to many terminals.
    chain = ZWJ.join("\U0001f431" * 5)
    assert visible(FAMILY) == FAMILY
    assert visible(chain) == ZWJ.join("\U0001f431" * 4) + "<U+200D>\U0001f431"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("", 0),
        ("plain", 5),
        ("naïve…", 6),
        ("漢字", 4),
        ("ﾊﾝ", 2),
        ("e\u0301", 1),
        ("🎉", 2),
        ("👍🏽", 2),
        ("🇩🇪", 2),
        (FAMILY, 2),
        (KISS, 2),
        (f"⚠{VS16}", 2),
        ("⚠", 1),
        (f"1{VS16}\u20e3", 2),
        ("►○■≈▒│✓✗↵␛", 10),
        ("한", 2),
        ("\u1112\u1161\u11ab", 2),
    ],
)
def test_width_is_what_a_terminal_takes(text: str, columns: int) -> None:
    assert width(text) == columns


def test_width_agrees_with_rich() -> None:
    cells = pytest.importorskip("rich.cells")
    for text in (*ORDINARY, *map(visible, hostile(99, 1000))):
        # What this Python has no entry for may be newer than its tables.
        if all(unicodedata.category(char) != "Cn" for char in text):
            assert width(text) == cells.cell_len(text), ascii(text)
    for code in (*range(0x20, 0x3400), *range(0xA000, 0xAC00), *range(0xD700, 0x20010)):
        char = chr(code)
        if unicodedata.category(char) not in ("Cn", "Cs") and visible(char) == char:
            assert width(char) == cells.cell_len(char), hex(code)


@pytest.mark.parametrize(
    ("text", "columns", "cut"),
    [
        ("Migrate billing", 15, "Migrate billing"),
        ("Migrate billing", 14, "Migrate billi…"),
        ("Migrate billing", 9, "Migrate…"),  # no space before the ellipsis
        ("Migrate", 1, "…"),
        ("Migrate", 0, ""),
        ("Migrate", -3, ""),
        ("", 5, ""),
        ("漢字漢字", 8, "漢字漢字"),
        ("漢字漢字", 7, "漢字漢…"),
        ("漢字漢字", 6, "漢字…"),  # a wide sign is never halved
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        (f"ab{FAMILY}c", 4, "ab…"),
        (f"ab{FAMILY}c", 5, f"ab{FAMILY}c"),
        (f"می{ZWNJ}خواهم", 3, "می…"),
    ],
)
def test_clip_cuts_by_columns_between_whole_signs(text: str, columns: int, cut: str) -> None:
    assert clip(text, columns) == cut


def test_clip_takes_another_ellipsis_and_leaves_out_one_that_does_not_fit() -> None:
    assert clip("abcdef", 4, "..") == "ab.."
    assert clip("abcdef", 4, "") == "abcd"
    assert clip("abcdef", 2, "...") == "ab"


@pytest.mark.parametrize("seed", range(4))
def test_clip_and_pad_keep_to_their_columns_and_stay_visible(seed: int) -> None:
    rng = random.Random(seed)
    for raw in (*hostile(seed, 200), *ORDINARY):
        text = visible(raw)
        for columns in (0, 1, 2, rng.randrange(40), width(text), width(text) - 1):
            cut = clip(text, columns)
            assert width(cut) <= max(columns, 0)
            assert visible(cut) == cut, ascii(text)
            assert cut == text or width(text) > columns or columns <= 0
            for align in "<>^":
                assert width(pad(text, columns, align)) == max(columns, 0), ascii(text)


def test_pad_fills_on_the_side_that_is_asked_for() -> None:
    assert pad("漢", 5) == "漢   "
    assert pad("漢", 5, ">") == "   漢"
    assert pad("漢", 5, "^") == " 漢  "
    assert pad("abcdef", 4, ">") == "abc…"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Fix the bug", "Fix the bug"),
        ("\n\n  Fix\tthe   bug  \nand more", "Fix the bug"),
        ("Fix\r\nmore", "Fix"),
        ("\u00a0 Fix\u3000it", "Fix it"),
        ("\x1b[1mFix\x1b[0m", "␛[1mFix␛[0m"),
        ("", ""),
        (" \n\t ", ""),
        ("x" * 1000, "x" * 1000),
        ("x" * 1001, "x" * 1000 + "…"),
        ("x" * 1000 + "\ny", "x" * 1000),
    ],
)
def test_a_title_is_the_first_line_that_says_something(text: str, title: str) -> None:
    assert one_line(text) == title
    assert one_line(title) == title


@pytest.mark.parametrize(
    ("text", "columns", "lines", "wrapped"),
    [
        ("one two three", 20, 3, ["one two three"]),
        ("one two three", 7, 3, ["one two", "three"]),
        ("one two three", 7, 1, ["one tw…"]),
        ("one two three", 8, 1, ["one two…"]),
        ("one\n\ntwo", 9, 3, ["one", "two"]),
        ("one\ntwo\nthree", 9, 2, ["one", "two…"]),
        ("a path/that/is/longer", 8, 4, ["a path/t", "hat/is/l", "onger"]),
        ("漢字漢字漢", 4, 2, ["漢字", "漢…"]),
        ("漢字 漢字 漢", 5, 3, ["漢字", "漢字", "漢"]),
        ("    indented  code", 20, 2, ["    indented  code"]),
        (" " * 50 + "x", 10, 2, ["x"]),
        ("trailing   ", 10, 2, ["trailing"]),
        (f"a می{ZWNJ}خواهم", 4, 9, ["a می", "خواه", "م"]),
        (f"می{ZWNJ}خواهم", 2, 9, ["می", "خو", "اه", "م"]),
        ("", 10, 3, []),
        (" \n ", 10, 3, []),
        ("word", 0, 3, []),
        ("word", 3, 0, []),
    ],
)
def test_wrap_breaks_between_words_and_says_when_more_is_there(
    text: str, columns: int, lines: int, wrapped: list[str]
) -> None:
    assert wrap(text, columns, lines) == wrapped


@pytest.mark.parametrize("seed", range(4))
def test_wrapped_lines_fit_and_stay_visible(seed: int) -> None:
    rng = random.Random(seed)
    for raw in (*hostile(seed, 200, 60), *ORDINARY):
        text = visible(raw, newlines=True)
        columns, lines = rng.randrange(1, 30), rng.randrange(1, 6)
        wrapped = wrap(text, columns, lines)
        assert len(wrapped) <= lines
        for line in wrapped:
            assert width(line) <= columns, ascii(text)
            assert visible(line) == line, ascii(text)


def test_a_sign_too_wide_for_any_line_is_an_ellipsis() -> None:
    assert wrap("漢字ab", 1, 5) == ["…", "…", "a", "b"]


@pytest.mark.parametrize("text", [t for t in ORDINARY if ZWNJ not in t])
def test_wrapping_loses_nothing_but_the_spaces_between_lines(text: str) -> None:
    for columns in range(2, 40):
        assert "".join(wrap(text, columns, 1000)).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0s"),
        (0, "0s"),
        (12.9, "12s"),
        (60, "1m"),
        (3599, "59m"),
        (3600, "1h"),
        (13 * 3600, "13h"),
        (3 * 86400, "3d"),
        (13.9 * 86400, "13d"),
        (5 * 604800, "5w"),
        (103 * 604800, "103w"),
        (1e8, "3y"),
        (1e300, "999y"),
        (float("nan"), "?"),
        (float("inf"), "?"),
    ],
)
def test_an_age_is_said_in_four_columns(seconds: float, said: str) -> None:
    assert ago(seconds) == said
    assert len(said) <= 4


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-1, "0.0s"),
        (0, "0.0s"),
        (0.24, "0.2s"),
        (1.9, "1.9s"),
        (9.94, "9.9s"),
        (9.96, "10s"),
        (38, "38s"),
        (59.4, "59s"),
        (59.6, "1m"),
        (64, "1m04s"),
        (104, "1m44s"),
        (480, "8m"),
        (3599.7, "1h"),
        (7680, "2h08m"),
        (16140, "4h29m"),
        (86399, "23h59m"),
        (3 * 86400 + 4 * 3600, "3d04h"),
        (400 * 86400, "400d"),
        (1e300, "99999d"),
        (float("nan"), "?"),
        (float("-inf"), "?"),
    ],
)
def test_a_length_of_time_is_said_in_six_columns(seconds: float, said: str) -> None:
    assert took(seconds) == said
    assert len(said) <= 6


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KB"),
        (9_100, "9.1 KB"),
        (9_949, "9.9 KB"),
        (9_951, "10 KB"),
        (48_000, "48 KB"),
        (999_499, "999 KB"),
        (999_500, "1.0 MB"),
        (1_204_331, "1.2 MB"),
        (74_994_000_000, "75 GB"),
        (3_000_000_000_000, "3.0 TB"),
    ],
)
def test_a_size_is_said_with_two_digits_that_matter(count: int, said: str) -> None:
    assert size(count) == said
