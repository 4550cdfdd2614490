"""The screen, driven by keys."""

from __future__ import annotations

from pathlib import Path

import build
import pytest
from screens import SIZES, night, opened, shown, until

from sessionlog.reader import load
from sessionlog.records import Status
from tui.commands import COMMANDS, PANES
from tui.screens.actions import Actions
from tui.screens.browser import Browser
from tui.screens.fork import ForkDialog

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("size", SIZES)
async def test_the_first_screen_shows_every_session_and_why_the_newest_stopped(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with opened(night(tmp_path), size=size) as (pilot, _):
        text = shown(pilot)
    for title in ("Bisect the slow start", "Migrate billing", "Backfill invoices", "Fix it"):
        assert title in text
    assert "context window exceeded" in text
    for sign, count in (("✗", 1), ("○", 1), ("≈", 1), ("✓", 1)):
        assert f"{sign} {count}" in text.splitlines()[0]


@pytest.mark.parametrize("size", SIZES)
async def test_enter_goes_in_and_esc_out_and_never_quits(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with opened(night(tmp_path), size=size) as (pilot, browser):
        for key, focus in (
            ("enter", "timeline"), ("enter", "detail"), ("enter", "detail"), ("escape", "timeline"),
            ("escape", "list"), ("escape", "list"), ("escape", "list"),
        ):  # fmt: skip
            await pilot.press(key)
            await pilot.pause()
            assert browser.view.focus == focus
            assert browser.focused is browser.pane
        assert pilot.app.is_running
        assert "q quits" in shown(pilot)


async def test_tab_and_h_l_lead_through_the_panes(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        for key, focus in (
            ("tab", "timeline"), ("tab", "detail"), ("tab", "list"), ("shift+tab", "detail"),
            ("l", "detail"), ("h", "timeline"), ("left", "list"), ("h", "list"),
        ):  # fmt: skip
            await pilot.press(key)
            await pilot.pause()
            assert browser.view.focus == focus


async def test_moving_in_the_list_opens_what_the_cursor_rests_on(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("j")
        await until(pilot, lambda: browser.entry and "223000" in browser.entry.id)
        await until(pilot, lambda: "go test -race" in shown(pilot))
        assert browser.timeline.row is not None


async def test_the_cursor_starts_on_the_newest_session_that_did_not_end_well(
    tmp_path: Path,
) -> None:
    night(tmp_path)
    build.log(tmp_path / "20261128-010000.jsonl", [
        build.meta("20261128-010000", "All well", 10800), build.result(seconds=10801),
    ])  # fmt: skip
    async with opened(tmp_path) as (pilot, browser):
        assert browser.sessions.selected
        assert browser.sessions.selected.id == "20261127-230000"
        await pilot.press("home")
        await pilot.pause()
        assert browser.sessions.selected.id == "20261128-010000"


async def test_one_log_alone_opens_without_a_list(tmp_path: Path) -> None:
    path = night(tmp_path) / "20261127-223000.jsonl"
    async with opened(path) as (pilot, browser):
        assert browser.view.focus == "timeline"
        assert "Sessions" not in shown(pilot)
        assert "go test -race" in shown(pilot)
        await pilot.press("escape")
        assert pilot.app.is_running


async def test_every_command_is_done_by_something(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (_, browser):
        for command in COMMANDS:
            for where in set(command.where) & set(PANES):
                browser.focus_pane(where)
                assert callable(Actions(browser).method(command.id)), command.id


@pytest.mark.parametrize(("focus", "size"), list(zip(PANES, SIZES, strict=True)))
async def test_every_key_can_be_pressed_everywhere(
    tmp_path: Path, size: tuple[int, int], focus: str
) -> None:
    async with opened(night(tmp_path), size=size) as (pilot, browser):
        for command in COMMANDS:
            if command.id == "quit" or focus not in command.where:
                continue
            for keys in command.keys:
                browser.focus_pane(focus)
                await pilot.press(*keys.split())
                for _ in range(9):
                    if pilot.app.screen is browser and not browser.view.asks:
                        break
                    await pilot.press("escape")
                else:
                    pytest.fail(f"no way back from {keys}\n{shown(pilot)}")
        assert pilot.app.is_running
        assert browser.status.warnings == ()


async def test_a_log_that_cannot_be_read_is_told_and_takes_every_key(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("no json at all\n")
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "folder.jsonl").mkdir()
    async with opened(tmp_path) as (pilot, browser):
        assert "Not a log that can be read" in shown(pilot)
        for focus in ("list", "timeline", "detail"):
            browser.focus_pane(focus)
            for command in COMMANDS:
                if command.id not in ("quit", "palette") and focus in command.where:
                    await pilot.press(*command.keys[0].split())
                    if browser.view.asks or pilot.app.screen is not browser:
                        await pilot.press("escape")
        assert pilot.app.is_running


async def test_filtering_by_text_and_by_state(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("slash", *"pgx", "enter")
        await pilot.pause()
        assert [e.id for e in browser.sessions._rows.entries] == ["20261127-223000"]
        assert "1 of 1 · 4 in all" in shown(pilot)
        await pilot.press("escape", "o", "f")
        await pilot.pause()
        assert browser.sessions.selected
        assert browser.sessions.selected.id == "20261127-230000"
        await pilot.press("o", "r")
        await pilot.pause()
        assert "0 of 4 · only running" in shown(pilot)
        await pilot.press("o", "a")
        assert len(browser.sessions._rows.entries) == 4


async def test_the_first_key_of_two_shows_what_may_follow(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, _):
        await pilot.press("o")
        await pilot.pause()
        assert "only:  f failed  o unfinished  r running" in shown(pilot)
        await pilot.press("escape")
        await pilot.pause()
        assert "enter open" in shown(pilot)
        await pilot.press("y", "z")
        await pilot.pause()
        assert "y z does nothing here" in shown(pilot)


async def test_e_leads_through_the_sessions_that_did_not_end_well(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        seen = []
        for key in ("e", "e", "e", "E"):
            await pilot.press(key)
            assert browser.sessions.selected
            seen.append(browser.sessions.selected.id[9:])
        assert seen == ["223000", "221000", "221000", "223000"]


async def test_zoom_shows_the_pane_alone_and_back(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("enter", "z")
        await pilot.pause()
        assert browser.timeline.size.width == 120
        assert "Sessions" not in shown(pilot)
        await pilot.press("escape")
        await pilot.pause()
        assert browser.view.focus == "timeline"
        assert "Sessions" in shown(pilot)


async def test_fork_is_two_keys_and_the_fork_is_selected(tmp_path: Path) -> None:
    folder = night(tmp_path)
    parent = folder / "20261127-223000.jsonl"
    before = (parent.read_bytes(), parent.stat().st_mtime_ns)
    async with opened(folder) as (pilot, browser):
        await pilot.press("j", "f")
        dialog = pilot.app.screen
        assert isinstance(dialog, ForkDialog)
        await until(pilot, lambda: "the fork ends here" in shown(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is browser)
        await until(pilot, lambda: browser.entry and browser.entry.forked_from)
        assert browser.sessions.selected == browser.entry
        assert "@5" in shown(pilot)
        assert browser.entry
        made = load(browser.entry.path)
    assert made.meta.forked_from
    assert made.meta.forked_from.id == "20261127-223000"
    assert made.open_calls == ()
    assert (parent.read_bytes(), parent.stat().st_mtime_ns) == before


async def test_a_fork_at_a_call_holds_its_result_and_at_an_open_call_what_is_before(
    tmp_path: Path,
) -> None:
    path = night(tmp_path) / "20261127-223000.jsonl"
    async with opened(path) as (pilot, _):
        await pilot.press("f")  # on the open call, message 5
        await until(pilot, lambda: "Fork at 4" in shown(pilot))
        await pilot.press("escape", "k", "k", "f")  # on the call with a result, messages 2 and 3
        await until(pilot, lambda: "Fork at 3" in shown(pilot))


async def test_the_cut_moves_and_stops_at_turns(tmp_path: Path) -> None:
    lines = [build.meta()]
    for i in range(4):
        lines += [
            build.message("user", f"turn {i}"),
            build.request(f"c{i}"),
            build.response(f"c{i}"),
        ]
    path = build.log(tmp_path / "a.jsonl", lines)
    async with opened(path) as (pilot, _):
        await pilot.press("f")
        for key, at in (("", 12), ("k", 10), ("k", 9), ("j", 10), ("u", 9), ("u", 6), ("U", 9),
                        ("g", 1), ("k", 1), ("G", 12)):  # fmt: skip
            await pilot.press(*key)
            await until(pilot, lambda at=at: f"Fork at {at} " in shown(pilot), f"{key} {at}")


async def test_leaving_a_dialog_writes_nothing(tmp_path: Path) -> None:
    folder = night(tmp_path)
    before = sorted(folder.iterdir())
    async with opened(folder) as (pilot, browser):
        await pilot.press("j", "f")
        await until(pilot, lambda: "untouched" in shown(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is browser)
    assert sorted(folder.iterdir()) == before


async def test_a_fork_asks_where_damage_is_before_the_end(tmp_path: Path) -> None:
    lines = build.healthy()
    lines.insert(3, b'{"kind":"mess\n')
    build.log(tmp_path / "a.jsonl", lines[:-1])
    async with opened(tmp_path) as (pilot, browser):
        await pilot.press("f")
        await until(pilot, lambda: "damaged before its end" in shown(pilot))
        await pilot.press("enter")
        await pilot.pause()
        assert pilot.app.screen is not browser
        assert len(list(tmp_path.iterdir())) == 1
        await pilot.press("exclamation_mark", "enter")
        await until(pilot, lambda: pilot.app.screen is browser)
    assert len(list(tmp_path.iterdir())) == 2


async def test_copying_masks_secrets_and_shows_control_bytes(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "a1B2" * 12
    evil = f'{{"command":"curl -H {key} \\u001b[31m"}}'
    path = build.log(tmp_path / "a.jsonl", [build.meta(), build.request("c1", arguments=evil)])
    async with opened(path) as (pilot, browser):
        await pilot.press("k", "y", "c")
        await pilot.pause()
        copied = pilot.app.clipboard
        assert copied.startswith("curl -H sk-ant-")
        assert key not in copied
        assert "\x1b" not in copied
        assert "copied the command, secrets masked" in shown(pilot)
        await pilot.press("y", "j")
        assert key not in pilot.app.clipboard
        assert '"kind":"message"' in pilot.app.clipboard
        await pilot.press("y", "p")
        assert pilot.app.clipboard == str(path)
        await pilot.press("y", "i")
        assert browser.entry
        assert pilot.app.clipboard == browser.entry.id


async def test_find_and_go_to(tmp_path: Path) -> None:
    path = night(tmp_path) / "20261127-223000.jsonl"
    async with opened(path) as (pilot, browser):
        await pilot.press("home", "slash", *"race test", "enter")
        await until(pilot, lambda: browser.timeline.row and browser.timeline.row.n == 4)
        await pilot.press("colon", *"1", "enter")
        await until(pilot, lambda: browser.timeline.row and browser.timeline.row.n == 1)
        await pilot.press("colon", *"999", "enter")
        await until(pilot, lambda: "no message 999" in shown(pilot))


async def test_a_screen_too_small_asks_for_room(tmp_path: Path) -> None:
    async with opened(night(tmp_path), size=(50, 20)) as (pilot, _):
        assert "needs 60 columns and 15 rows" in shown(pilot)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "Sessions" in shown(pilot)


async def test_themes_go_round(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        seen = []
        for _ in range(4):
            await pilot.press("T")
            await pilot.pause()
            seen.append(pilot.app.theme)
            assert "Sessions" in shown(pilot)
        assert sorted(seen) == ["ansi", "day", "mono", "night"]
        assert browser.status.warnings == ()


async def test_no_sessions_says_where_it_looked_and_what_to_do(tmp_path: Path) -> None:
    async with opened(tmp_path, tmp_path / "nowhere") as (pilot, _):
        text = shown(pilot)
        assert "No sessions yet." in text
        assert "no logs in it" in text
        assert "not there" in text
        assert "sessionlog demo" in text
        for command in COMMANDS:
            if command.id not in ("quit", "palette") and "list" in command.where:
                await pilot.press(*command.keys[0].split())
                await pilot.press("escape")
        assert pilot.app.is_running


async def test_warnings_stay_until_they_are_seen(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        browser.status.warn("the disk is full")
        await pilot.press("j", "k", "tab", "tab", "tab")
        await pilot.pause()
        assert " the disk is full" in shown(pilot)
        await pilot.press("escape")
        await pilot.pause()
        assert "the disk is full" not in shown(pilot)


async def test_the_palette_offers_the_commands_of_the_pane(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        names = [command.title for command in pilot.app.get_system_commands(browser)]
        assert "failed: Only failed sessions" in names
        assert "replay: Play the log as it happened" in names
        assert "reset: Next context reset" not in names
        await pilot.press("ctrl+p")
        await pilot.pause()
        assert pilot.app.screen is not browser
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is browser)


async def test_a_click_selects_and_a_second_one_opens(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.click("#list", offset=(10, 4))
        await pilot.pause()
        assert browser.sessions.selected
        assert browser.sessions.selected.id == "20261127-223000"
        assert browser.view.focus == "list"
        await pilot.click("#timeline", offset=(10, 1))
        await pilot.pause()
        assert browser.view.focus == "timeline"


async def test_help_shows_every_command(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("question_mark")
        await pilot.pause()
        seen = shown(pilot)
        for _ in range(6):
            await pilot.press("pagedown")
            await pilot.pause()
            seen += shown(pilot)
        assert all(command.help in seen for command in COMMANDS)
        assert "unfinished, or a call without a result" in seen
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, Browser) and browser.is_current)


async def test_leaving_the_filter_prompt_undoes_what_was_typed(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("slash", *"pgx", "enter", "slash", *"zzz")
        await pilot.pause()
        assert len(browser.sessions._rows.entries) == 0
        await pilot.press("escape")
        await pilot.pause()
        assert browser.sessions.filter.text == "pgx"


@pytest.mark.parametrize(("key", "code"), [("q", 0), ("ctrl+c", 130)])
async def test_q_quits_and_ctrl_c_interrupts(tmp_path: Path, key: str, code: int) -> None:
    async with opened(night(tmp_path)) as (pilot, _):
        await pilot.press(key)
        await pilot.pause()
        assert pilot.app.return_code == code


async def test_a_format_that_cannot_be_acted_on_says_so(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        assert browser.sessions.selected
        strange = browser.sessions.selected._replace(format="papyrus")
        browser.sessions.update([strange])
        await pilot.press("f")
        await pilot.pause()
        assert "fork: papyrus logs cannot be forked yet" in shown(pilot)
        assert pilot.app.screen is browser


async def test_a_running_log_can_be_forked_but_not_handed_over(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        assert browser.sessions.selected
        live = browser.sessions.selected._replace(status=Status.RUNNING)
        browser.sessions.update([live])
        assert browser.actions.refused("fork") == ""
        await pilot.press("r")
        await pilot.pause()
        assert "hand over: its writer is alive" in shown(pilot)
