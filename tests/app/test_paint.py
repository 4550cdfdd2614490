"""Lines to strips, and the themes they are painted in."""

from __future__ import annotations

import pytest

from sessionlog.text import width
from tui import themes
from tui.lines import Line
from tui.paint import PLAIN_SIGNS, painter
from tui.signs import SIGNS

WORDS = ("fg-1", "fg", "fg-2", "fg-3", "accent", "ok", "fail", "run", "open", "bytes", "line",
         "line-2", "diff-add", "diff-del")  # fmt: skip
TINTS = ("surface", "panel", "sel", "sel-off", "tint-fail", "tint-open", "tint-bytes", "tint-run",
         "tint-add", "tint-del")  # fmt: skip


@pytest.mark.parametrize("columns", [1, 5, 20, 80])
def test_a_strip_is_exactly_as_wide_as_the_pane(columns: int) -> None:
    line = Line([("▌", "accent"), ("日本語 and more text", "fg")], [("12h ", "fg-3")])
    strip = painter("night").strip(line, columns)
    assert strip.cell_length == columns
    assert sum(width(segment.text) for segment in strip) == columns


@pytest.mark.parametrize("name", themes.NAMES)
def test_every_theme_knows_every_word_and_tint(name: str) -> None:
    table = themes.colours(name)
    assert {*WORDS, *TINTS, "background", "faded"} <= set(table)
    for word in WORDS:
        for tint in ("", *TINTS):
            assert painter(name).style(f"{word} bold", tint).bold


def test_the_third_grey_becomes_the_second_on_a_tint() -> None:
    paint = painter("night")
    assert paint.style("fg-3", "sel").color == paint.style("fg-2", "").color
    assert paint.style("fg-3", "").color != paint.style("fg-2", "").color


def test_behind_a_dialog_everything_has_one_tone() -> None:
    faded = painter("night", faded=True)
    styles = {str(faded.style(word, tint)) for word in WORDS for tint in ("", "sel", "tint-fail")}
    assert len(styles) == 1


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["night", "day", "mono"])
def test_text_can_be_read_on_the_page_and_on_every_tint(name: str) -> None:
    table = themes.colours(name)
    for word in WORDS:
        if word.startswith("line"):
            continue
        assert contrast(table[word], table["background"]) >= 4.4, word
    for tint in TINTS:
        assert contrast(table["fg-2"], table[tint]) >= 4.4, tint
        assert contrast(table["fg"], table[tint]) >= 4.5, tint


def test_without_our_signs_everything_is_ascii_of_the_same_width() -> None:
    line = Line([*SIGNS.values(), ("日本 ├ ▌ …", "fg")])
    strip = painter("night", plain=True).strip(line, 40)
    assert strip.text.isascii()
    assert len(strip.text) == 40
    assert all(chr(code).isascii() for code in PLAIN_SIGNS.values())


def test_textuals_theme_is_made_for_each_of_ours() -> None:
    for name in themes.NAMES:
        made = themes.theme(name)
        assert made.name == name
        assert "st-fail" in made.variables
        assert made.ansi == (name == "ansi")
