"""The one table of commands."""

from __future__ import annotations

from itertools import combinations

import pytest

from sessionlog.text import width
from tui import commands
from tui.commands import COMMANDS, DETAIL, EVERYWHERE, LIST, SEARCH, TIMELINE
from tui.screens.help import Help

WHERE = (LIST, TIMELINE, DETAIL)


def test_no_key_means_two_things_in_one_pane() -> None:
    for where in WHERE:
        keys = [key for command in COMMANDS if where in command.where for key in command.keys]
        assert len(keys) == len(set(keys)), where


def test_no_key_is_both_a_command_and_the_head_of_a_sequence() -> None:
    # pressed, it would have to wait for what may follow
    for where in WHERE:
        keys = [key for command in COMMANDS if where in command.where for key in command.keys]
        for one, other in combinations(keys, 2):
            assert not other.startswith(one + " ") or one == other, (one, other)


def test_every_command_has_a_title_a_help_and_a_key() -> None:
    for command in COMMANDS:
        assert command.title
        assert command.help
        assert command.keys
        assert command.where


def test_two_commands_of_one_name_are_never_in_one_pane() -> None:
    for one, other in combinations(COMMANDS, 2):
        assert one.id != other.id or not set(one.where) & set(other.where), one.id


@pytest.mark.parametrize("where", WHERE)
def test_the_key_line_names_commands_that_are_there(where: str) -> None:
    for name in commands.KEY_LINE[where]:
        key, title = commands.hint(name, where)
        assert key
        assert title


def test_a_head_leads_to_the_keys_that_may_follow() -> None:
    assert commands.find("o", LIST) == (None, True)
    assert [key for key, _ in commands.following("o", LIST)] == ["f", "o", "r", "t", "a"]
    found = commands.find("o f", LIST).command
    assert found is not None
    assert found.id == "only_failed"


def test_a_key_that_means_nothing_here_is_neither() -> None:
    assert commands.find("]", LIST) == (None, False)
    assert commands.find("o z", TIMELINE) == (None, False)


def test_no_sequence_is_longer_than_three_keys() -> None:
    assert max(len(key.split()) for command in COMMANDS for key in command.keys) <= 3


def test_the_readme_table_has_every_command() -> None:
    table = commands.markdown()
    assert all(command.help in table for command in COMMANDS)
    assert table.count("\n") == len(COMMANDS) + 1


def test_a_key_is_said_to_work_anywhere_only_where_every_screen_has_it() -> None:
    for command in COMMANDS:
        where = commands.places(command)
        assert (where == "anywhere") == (set(command.where) == set(EVERYWHERE)), command
        for name in commands.SHEETS:
            assert where.startswith("anywhere") or (name in command.where) == (name in where)
    assert commands.places(commands.by_id("why", LIST)) == "list, timeline, detail"
    assert commands.places(commands.by_id("open", LIST)) == "anywhere but in handover"
    assert commands.places(commands.by_id("toggle_raw", SEARCH)) == "replay, search"


@pytest.mark.parametrize("columns", [0, 2, 18])
def test_help_is_there_where_nothing_fits(columns: int) -> None:
    assert len(Help().body(columns)) > len(COMMANDS)


@pytest.mark.parametrize("columns", [30, 52, 92])
def test_help_says_everything_in_any_width(columns: int) -> None:
    lines = Help().body(columns)
    texts = ["".join(text for text, _ in line.left + line.right) for line in lines]
    assert all(width(text) <= columns for text in texts)
    said = " ".join(" ".join(texts).split())
    if columns >= 52:
        assert "but something failed: the row says what, w why" in said
    for command in COMMANDS:
        assert all(word in said for word in command.help.split()), command
