"""The orders of the list: newest first, by family, by project."""

from __future__ import annotations

from pathlib import Path

import pytest
from build import log, message, meta
from screens import opened, shown

from sessionlog.records import Entry, Status
from tui.entries import Rows
from tui.orders import FAMILY, NEWEST, PROJECT, arranged, heading

pytestmark = pytest.mark.anyio


def entry(name: str, workdir: str, status: Status | None = Status.COMPLETE) -> Entry:
    return Entry(name, f"/logs/{name}", "native", workdir=workdir, status=status)


FOUND = [
    entry("d", "/src/shop"), entry("c", ""), entry("b", "/src/mail"), entry("a", "/src/shop"),
    entry("x", "", None),
]  # fmt: skip


def test_projects_stand_together_the_one_with_the_newest_session_first() -> None:
    order = arranged(FOUND, PROJECT)
    assert [e.id for e in order.entries] == ["d", "a", "b", "c", "x"]
    rules = Rows(order, table=True, now=0).rules
    assert rules == ["/src/shop", "", "/src/mail", "no folder", ""]


def test_no_order_loses_or_doubles_a_session() -> None:
    for order in (NEWEST, FAMILY, PROJECT):
        assert sorted(e.id for e in arranged(FOUND, order).entries) == ["a", "b", "c", "d", "x"]


def test_a_project_in_the_home_folder_is_named_from_there_and_is_safe_to_show() -> None:
    assert heading("/home/me/src", "/home/me") == "~/src"
    assert heading("/home/metoo/src", "/home/me") == "/home/metoo/src"
    assert "\x1b" not in heading("/tmp/\x1b[31mred", "/home/me")


async def test_v_twice_groups_the_list_by_project_under_rules(tmp_path: Path) -> None:
    for n, workdir in enumerate(["/src/shop", "/src/mail", "/src/shop"]):
        id = f"20261127-21000{n}"
        log(tmp_path / f"{id}.jsonl", [meta(id, workdir=workdir), message("user", "go")])
    async with opened(tmp_path) as (pilot, browser):
        await pilot.press("v", "v")
        await pilot.pause()
        text = shown(pilot)
        assert "by project" in text
        assert text.index("/src/shop ──") < text.index("/src/mail ──")
        assert text.count("/src/shop ──") == 1
        assert browser.sessions.order == PROJECT
