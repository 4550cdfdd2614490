"""The README says what is true: its commands, its keys, its public names, its pictures."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import sessionlog
from sessionlog import cli
from sessionlog.commands import COMMANDS
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


def examples() -> list[list[str]]:
    block = README.partition("## On your own logs\n\n")[2].partition("\n\n")[0]
    return [shlex.split(re.split(r"  +", line.strip())[0]) for line in block.splitlines()]


def test_the_examples_begin_with_what_makes_them_callable() -> None:
    first, *others = examples()
    assert first == [".", ".venv/bin/activate"]
    assert {words[0] for words in others} == {"sessionlog"}
    names = {words[1] for words in others if len(words) > 1 and words[1].isalpha()}
    assert names <= COMMANDS.keys()


def test_the_example_of_a_search_finds_something_in_the_demo(tmp_path: Path) -> None:
    [search] = [words[1:] for words in examples() if words[1:2] == ["search"]]
    assert cli.main(["demo", "--json", "--dir", str(tmp_path / "demo")]) == 0
    assert cli.main([*search, str(tmp_path / "demo")]) == 0


def test_public_names_are_sorted_and_all_there() -> None:
    assert sessionlog.__all__ == sorted(sessionlog.__all__)
    for name in sessionlog.__all__:
        assert getattr(sessionlog, name) is not None
