"""The list's filter finds what a row says."""

from __future__ import annotations

from pathlib import Path

import pytest
from screens import night, opened, shown

from sessionlog.records import Entry, Status
from tui.entries import lines_of
from tui.list_filter import Filter, hints
from tui.signs import SIGNS, WORDS, is_troubled, state_of

pytestmark = pytest.mark.anyio

_PLAIN = Entry("20261127-230000", "/logs/a.jsonl", "native", agent="zot", title="Fix it",
               updated="2026-11-27T23:00:00Z", started="2026-11-27T22:00:00Z")  # fmt: skip
FOUND = [
    _PLAIN._replace(id="well", status=Status.COMPLETE, ok=True),
    _PLAIN._replace(id="bad", status=Status.COMPLETE, ok=False, stop="iteration limit"),
    _PLAIN._replace(id="amiss", status=Status.COMPLETE, ok=True, failure="protoc is missing"),
    _PLAIN._replace(id="none", status=Status.COMPLETE),
    _PLAIN._replace(id="open", status=Status.UNFINISHED, stop="in bash: go test"),
    _PLAIN._replace(id="torn", status=Status.TRUNCATED, stop="in bash: go vet"),
    _PLAIN._replace(id="live", status=Status.RUNNING, agent="codex", stop="in bash: ls"),
    _PLAIN._replace(id="nolog", reason="/logs/a.jsonl: is empty"),
]


def ids(text: str = "", state: str = "") -> list[str]:
    return [entry.id for entry in FOUND if Filter(state=state, text=text)(entry)]


@pytest.mark.parametrize("entry", FOUND, ids=lambda entry: entry.id)
def test_every_word_of_a_row_finds_it(entry: Entry) -> None:
    row = lines_of(entry, 200, 0, False, False)[0]
    for word in "".join(text for text, _ in row.left).split():
        assert Filter(text=word)(entry), word


def test_a_sign_finds_those_that_carry_it() -> None:
    for entry in FOUND:
        sign = SIGNS[state_of(entry)][0]
        assert [e for e in FOUND if Filter(text=sign)(e)] == [
            e for e in FOUND if state_of(e) == state_of(entry)
        ]


def test_the_word_of_a_state_finds_what_its_key_shows() -> None:
    for state in ("fail", "open", "run", "torn"):
        assert ids(WORDS[state]) == ids(state=state), state
        assert ids(f"status:{WORDS[state]}") == ids(state=state), state
    assert ids("failed") == ["bad", "amiss"]
    assert ids("torn line") == ["torn"]
    assert ids("protoc") == ["amiss"]


def test_filters_of_the_search_mean_the_same() -> None:
    assert ids("agent:codex") == ["live"]
    assert ids("agent:zot,codex fix") == ids("fix")
    assert ids("status:failed,unfinished agent:zot") == ["bad", "amiss", "open"]
    assert ids("agent:cod") == ["live"], "as far as it is typed"
    assert ids("status:") == ids()
    assert ids('agent:"co') == ["live"]
    assert ids("tool:bash") == []


def test_a_filter_that_finds_nothing_says_what_to_type() -> None:
    said = "\n".join(
        "".join(text for text, _ in line.left)
        for line in hints("status:broken tool:bash agent:nobody", 80)
    )
    assert "status: failed" in said
    assert "tool: is for the rows of logs: s searches them" in said
    assert "agent: an agent" in said
    assert hints("status and agent", 80) == []


async def test_the_empty_list_says_that_the_search_knows_the_filter(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("slash", *"tool:shell", "enter")
        await pilot.pause()
        assert "is for the rows" in shown(pilot)
        assert "searches them" in shown(pilot)
        await pilot.press("slash", *"status:failed", "enter")
        assert browser.sessions.selected is not None
        assert browser.sessions.place.startswith("1 of 1")


async def test_esc_takes_one_half_of_the_filter_away_and_then_the_other(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("o", "f", "slash", *"bisect", "enter")
        assert browser.sessions.filter == Filter("fail", "bisect")
        await pilot.press("escape")
        assert browser.sessions.filter == Filter("fail")
        await pilot.press("escape")
        assert browser.sessions.filter == Filter()


async def test_a_new_log_leaves_the_filter_that_lets_it_through(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        path = str(tmp_path / "20261127-223000.jsonl")
        await pilot.press("slash", *"migrate", "enter")
        browser.show(path)
        assert browser.sessions.filter.text == "migrate"
        await pilot.press("o", "f")
        browser.show(path)
        assert browser.sessions.filter == Filter(text="migrate"), "only what hides it goes"
        assert browser.sessions.selected is not None
        assert browser.sessions.selected.path == path


def test_troubled_rows_are_those_with_a_second_line() -> None:
    for entry in filter(is_troubled, FOUND):
        second = lines_of(entry, 40, 0, False, False)[1]
        words = "".join(text for text, _ in second.left).strip()
        assert Filter(text=words)(entry), words
