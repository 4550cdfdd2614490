"""The README says what is true: its commands, its keys, its public names, its pictures."""

from __future__ import annotations

import re
from pathlib import Path

import sessionlog
from tui import commands

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_table_of_keys_is_that_of_the_program() -> None:
    shown = README.partition("<!-- keys -->")[2].partition("<!-- /keys -->")[0]
    assert shown.strip() == commands.markdown().strip(), "paste `python -m tui.commands`"


def test_every_picture_it_shows_is_there_and_made_by_the_script() -> None:
    names = re.findall(r"\(screenshots/([\w-]+\.svg)\)", README)
    assert names
    for name in names:
        assert (ROOT / "screenshots" / name).exists(), name


def test_both_commands_stand_on_a_line_of_their_own() -> None:
    lines = [line.strip() for line in README.splitlines() if line.startswith("    python3 -m venv")]
    assert len(lines) == 2
    assert lines[0].endswith("sessionlog demo")
    assert lines[1].endswith("pytest")


def test_public_names_are_sorted_and_all_there() -> None:
    assert sessionlog.__all__ == sorted(sessionlog.__all__)
    for name in sessionlog.__all__:
        assert getattr(sessionlog, name) is not None
