"""The hand-over screen, driven: what it shows, what its keys answer, what it writes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import build
import pytest
import sheets
from screens import SIZES, opened, shown, until
from sheets import planned, sheet

from sessionlog.reader import load
from tui.handover import Answer, Go, Look, Wrote
from tui.screens.browser import Browser
from tui.screens.handover import HandoverSheet

pytestmark = pytest.mark.anyio

SECRET = "sk-ant-api03-" + "a1B2" * 12


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return sheets.programs(tmp_path, monkeypatch)


def broken(workdir: Path) -> list[bytes]:
    """A run that stopped inside a call, in a folder with a file that it read."""
    workdir.mkdir(parents=True, exist_ok=True)
    (workdir / "replay.go").write_text("package now")
    return [
        build.meta("20261127-223000", "Migrate billing", workdir=str(workdir)),
        build.message("user", "Begin."),
        build.request("c0", "read", '{"path":"replay.go"}'),
        build.response("c0", "read", '{"path":"replay.go"}', "package then"),
        build.request("c1", arguments='{"command":"go test -race"}', seconds=9),
    ]  # fmt: skip


def left_open(tmp_path: Path) -> Path:
    return build.log(tmp_path / "logs" / "20261127-223000.jsonl", broken(tmp_path / "work"))


def damaged(tmp_path: Path) -> Path:
    lines = broken(tmp_path / "work")
    lines.insert(2, b'{"kind":"mess\n')
    return build.log(tmp_path / "logs" / "20261127-223000.jsonl", lines)


class Answers(list["Answer | None"]):
    """What the browser was answered."""


def listen(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> Answers:
    answers = Answers()
    took = lambda entry, answer, again: answers.append(answer)  # noqa: E731
    monkeypatch.setattr(browser.sheets, "_handed", took)
    return answers


@pytest.mark.parametrize("size", SIZES)
async def test_it_shows_what_is_added_what_runs_and_what_changed(
    tmp_path: Path, programs: Callable[[str], None], size: tuple[int, int]
) -> None:
    programs("zot")
    async with opened(left_open(tmp_path).parent, size=size) as (pilot, _):
        await sheet(pilot)
        await until(pilot, lambda: "--resume" in shown(pilot))
        page = shown(pilot)
    assert re.search(r"Hand over to zot +○ Migrate billing", page)
    assert "1 closed  0 moved  0 left out" in page
    assert re.search(r"\+ +5 +✗ result +Interrupted by the user\.  \(error\)", page)
    assert re.search(r"\+ +6 +» user +what the agent is told:", page)
    assert re.search(r"~ replay\.go +changed", page)
    assert "the one it touched" in page
    assert "whether its agent still runs" not in page  # it would hold its log
    assert "enter hands over to zot" in page
    assert "0 written, 0 started" in page


async def test_enter_answers_with_the_plan_and_writes_nothing_itself(
    tmp_path: Path, programs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs("zot")
    log = left_open(tmp_path)
    async with opened(log.parent) as (pilot, browser):
        answers = listen(browser, monkeypatch)
        await sheet(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: answers)
        [go] = answers
    assert isinstance(go, Go)
    assert not go.force
    assert go.resume.argv[0] == "zot"
    assert go.session.path == str(log)
    assert list(log.parent.iterdir()) == [log]


async def test_leaving_writes_nothing(
    tmp_path: Path, programs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = left_open(tmp_path)
    async with opened(log.parent) as (pilot, browser):
        answers = listen(browser, monkeypatch)
        await sheet(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is browser)
    assert answers == []
    assert list(log.parent.iterdir()) == [log]


async def test_a_missing_program_waits_with_the_choice_beside_it(
    tmp_path: Path, programs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(left_open(tmp_path).parent) as (pilot, browser):
        answers = listen(browser, monkeypatch)
        found = await sheet(pilot)
        assert "zot: no such program on PATH" in shown(pilot)
        assert "a other agent" in shown(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert "enter waits: zot: no such program on PATH" in shown(pilot)
        assert pilot.app.screen is found
    assert not answers


@pytest.mark.parametrize("more", range(0, 40, 8))  # the path leaves room for a word, or does not
async def test_a_missing_folder_waits_until_another_is_named(
    tmp_path: Path, programs: Callable[[str], None], more: int
) -> None:
    programs("zot")
    log = left_open(tmp_path)
    work = tmp_path / "work"
    elsewhere = work.rename(tmp_path / f"elsewhere{more * 'x'}")
    async with opened(log.parent) as (pilot, _):
        await sheet(pilot)
        assert "✗ not there" in shown(pilot)
        assert "enter waits: the working directory is not there" in shown(pilot)
        await pilot.press("c", "ctrl+u", *str(elsewhere), "enter")
        await until(pilot, lambda: "enter hands over to zot" in shown(pilot))
        assert "✓ there" in shown(pilot)


async def test_damage_before_the_end_is_looked_at_first(
    tmp_path: Path, programs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs("zot")
    log = damaged(tmp_path)
    async with opened(log.parent) as (pilot, browser):
        answers = listen(browser, monkeypatch)
        await sheet(pilot)
        assert "Damage before the end, line 3:" in shown(pilot)
        assert "enter waits: damage before the end" in shown(pilot)
        await pilot.press("W")
        await pilot.pause()
        assert "! accepts it" in shown(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: answers)
    assert isinstance(answers[0], Look)
    assert log.read_bytes()[answers[0].offset :].startswith(b'{"kind":"mess\n')
    assert list(log.parent.iterdir()) == [log]


async def test_accepted_damage_is_left_out(
    tmp_path: Path, programs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs("zot")
    async with opened(damaged(tmp_path).parent) as (pilot, browser):
        answers = listen(browser, monkeypatch)
        await sheet(pilot)
        assert "1 left out" in shown(pilot)
        await pilot.press("exclamation_mark")
        await until(pilot, lambda: "accepted: left out" in shown(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: answers)
    assert isinstance(answers[0], Go)
    assert answers[0].force


async def test_the_row_of_the_damage_is_shown_in_the_timeline(
    tmp_path: Path, programs: Callable[[str], None]
) -> None:
    async with opened(damaged(tmp_path).parent) as (pilot, browser):
        await sheet(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is browser)
        await until(pilot, lambda: browser.timeline.row and browser.timeline.row.sort == "damage")


async def test_the_new_log_can_be_written_without_starting_anything(
    tmp_path: Path, programs: Callable[[str], None]
) -> None:
    log = left_open(tmp_path)  # no program is needed for it
    async with opened(log.parent) as (pilot, browser):
        await sheet(pilot)
        await pilot.press("W")
        await until(pilot, lambda: pilot.app.screen is browser)
        await until(pilot, lambda: browser.entry and browser.entry.path != str(log))
        assert browser.entry
        made = load(browser.entry.path)
    assert made.open_calls == ()
    assert made.messages[-1].text.startswith("You go on with an earlier session")


async def test_a_log_that_needs_nothing_is_not_written(
    tmp_path: Path, programs: Callable[[str], None]
) -> None:
    path = build.log(tmp_path / "logs" / "20261127-220000.jsonl", build.healthy())
    config = tmp_path / "config" / "sessionlog" / "agents.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[agents.zot]\nargv = ["zot", "{log}", "{prompt}"]\n')
    programs("zot")
    async with opened(path.parent) as (pilot, _):
        await sheet(pilot)
        assert "as it stands" in shown(pilot)
        await pilot.press("W")
        await pilot.pause()
        assert "nothing to repair" in shown(pilot)
    assert list(path.parent.iterdir()) == [path]


async def test_another_agent_is_chosen_or_said_why_not(
    tmp_path: Path, programs: Callable[[str], None]
) -> None:
    programs("zot")
    programs("sessionlog-agent")
    (tmp_path / "work").mkdir()
    path = build.log(tmp_path / "logs" / "rollout.jsonl", [
        build.codex_meta(cwd=str(tmp_path / "work")), build.codex_said("user", "Begin."),
    ])  # fmt: skip
    async with opened(path.parent) as (pilot, _):
        await sheet(pilot)
        await pilot.press("a", "G", "enter")
        await until(pilot, lambda: "no such program on PATH" in shown(pilot))
        await pilot.press("a", "g")
        await pilot.pause()
        for _ in range(20):
            if re.search(r"▌✓ json", shown(pilot)):
                break
            await pilot.press("j")
            await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: "enter hands over to json" in shown(pilot))
        assert "sessionlog-agent" in shown(pilot)
        assert "followed here" in shown(pilot)


async def test_a_log_without_an_agent_of_its_own_is_no_dead_end(
    tmp_path: Path, programs: Callable[[str], None]
) -> None:
    path = build.log(tmp_path / "logs" / "chat.jsonl", [
        build.line({"role": "user", "content": "Begin."}),
        build.line({"role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}]}),
        build.line({"role": "user", "content": "And?"}),
    ])  # fmt: skip
    programs("sessionlog-agent")
    async with opened(path.parent) as (pilot, browser):
        await sheet(pilot)
        assert "many programs write chat logs" in shown(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert "enter waits: " in shown(pilot)
        await pilot.press("W")  # a plain repair
        await until(pilot, lambda: pilot.app.screen is browser)
    assert len(list(path.parent.iterdir())) == 2


async def test_the_note_is_edited_kept_or_left(
    tmp_path: Path, programs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs("zot")
    async with opened(left_open(tmp_path).parent) as (pilot, browser):
        answers = listen(browser, monkeypatch)
        found = await sheet(pilot)
        await pilot.press("m", "escape")  # unchanged: nothing is asked
        await until(pilot, lambda: pilot.app.screen is found)
        await pilot.press("m", "X", "escape")
        await until(pilot, lambda: "leave it as it was" in shown(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is found)
        await pilot.press("m", "f7", "S", "t", "o", "p", "enter", "q", "left", "Q", "ctrl+s")
        await until(pilot, lambda: pilot.app.screen is found)
        await planned(pilot)
        await until(pilot, lambda: re.search(r"\+ +Stop", shown(pilot)))
        await pilot.press("enter")
        await until(pilot, lambda: answers)
    assert isinstance(answers[0], Go)
    assert answers[0].resume.note == "Stop\nQq"


async def test_an_empty_note_is_the_one_made_from_the_log(
    tmp_path: Path, programs: Callable[[str], None]
) -> None:
    async with opened(left_open(tmp_path).parent) as (pilot, _):
        await sheet(pilot)
        for keys in (("X",), ()):
            await pilot.press("m", "f7", "backspace", *keys, "ctrl+s")
            words = "X" if keys else "You go on with"
            await until(pilot, lambda w=words: re.search(rf"\+ +{w}", shown(pilot)))  # type: ignore[misc]


async def test_secrets_are_masked_until_they_are_asked_for(
    tmp_path: Path, programs: Callable[[str], None]
) -> None:
    config = tmp_path / "config" / "sessionlog"
    config.mkdir(parents=True)
    (config / "agents.toml").write_text(
        f'[agents.zot]\nargv = ["mine", "--key", "{SECRET}", "{{log}}", "{{prompt}}"]\n'
    )
    programs("mine")
    async with opened(left_open(tmp_path).parent, size=(200, 50)) as (pilot, _):
        await sheet(pilot)
        await pilot.press("y")
        await pilot.pause()
        assert SECRET not in shown(pilot)
        assert "…masked" in shown(pilot)
        assert "…masked" in pilot.app.clipboard
        assert "told on its command line" in shown(pilot)
        await pilot.press("b", "y")
        await pilot.pause()
        assert "…masked" not in shown(pilot)
        assert SECRET in pilot.app.clipboard


async def test_the_full_diff_shows_what_is_added_and_what_is_left_out(
    tmp_path: Path, programs: Callable[[str], None]
) -> None:
    async with opened(damaged(tmp_path).parent, size=(120, 50)) as (pilot, _):
        found = await sheet(pilot)
        await pilot.press("d")
        await until(pilot, lambda: "closes a call" in shown(pilot))
        page = shown(pilot)
        assert re.search(r'\+ +"forkedFrom"', page)
        assert re.search(r'- +"kind": ?"mess|- \{', page)
        assert "left out here" in page
        assert "what the agent is told" in page
        await pilot.press("escape")
        await until(pilot, lambda: "The transcript" in shown(pilot))
        assert pilot.app.screen is found


async def test_a_fork_hands_over_at_its_cut(
    tmp_path: Path, programs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs("zot")
    async with opened(left_open(tmp_path).parent) as (pilot, browser):
        answers = listen(browser, monkeypatch)
        await pilot.press("f")
        await until(pilot, lambda: "r hand over" in shown(pilot))
        await pilot.press("k", "r")
        await until(pilot, lambda: "forked at 3" in shown(pilot))
        await until(pilot, lambda: "enter hands over" in shown(pilot))
        assert re.search(r"to zot +○ @3 Migrate billing", shown(pilot))
        assert "go test -race" not in shown(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: answers)
    assert isinstance(answers[0], Go)
    assert answers[0].resume.at == 3


async def test_why_leads_to_it(tmp_path: Path, programs: Callable[[str], None]) -> None:
    async with opened(left_open(tmp_path).parent) as (pilot, _):
        await pilot.press("w")
        await until(pilot, lambda: "hand over to an agent" in shown(pilot))
        await pilot.press("r")
        await until(pilot, lambda: "Hand over" in shown(pilot))


async def test_the_facts_fit_below_twenty_rows(
    tmp_path: Path, programs: Callable[[str], None]
) -> None:
    programs("zot")
    async with opened(left_open(tmp_path).parent, size=(60, 15)) as (pilot, _):
        await sheet(pilot)
        for words in ("to zot", "Interrupted by", "argv", "cwd", "log", "enter hands over"):
            assert words in shown(pilot), words
        for size in ((59, 14), (200, 50), (80, 24), (120, 36)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        assert "What comes back" in shown(pilot)


async def test_a_path_is_answered_when_it_was_written(
    tmp_path: Path, programs: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = left_open(tmp_path)
    async with opened(log.parent) as (pilot, browser):
        answers = listen(browser, monkeypatch)
        await sheet(pilot)
        await pilot.press("W")
        await until(pilot, lambda: answers)
    assert isinstance(answers[0], Wrote)
    assert Path(answers[0].path) in log.parent.iterdir()


async def test_a_run_goes_on_headless_when_it_is_asked_to(
    tmp_path: Path, programs: Callable[[str], None]
) -> None:
    path = build.log(tmp_path / "logs" / "rollout.jsonl", [
        build.codex_meta(), build.codex_said("user", "Begin."), build.codex_said("assistant", "Ok"),
    ])  # fmt: skip
    programs("codex")
    async with opened(path.parent) as (pilot, _):
        found = await sheet(pilot)
        before = found._stands.planned
        assert before is not None
        await pilot.press("o")
        await until(pilot, lambda: "runs without a terminal" in shown(pilot))
        assert " exec" in shown(pilot)
        found.post_message(HandoverSheet.Thought(before))  # an older choice's plan comes late
        await pilot.pause()
        assert " exec" in shown(pilot)


async def test_the_full_diff_masks_secrets(tmp_path: Path, programs: Callable[[str], None]) -> None:
    lines = broken(tmp_path / "work")
    lines.append(build.request("c2", arguments=f'{{"command":"curl -H {SECRET}"}}', seconds=9))
    path = build.log(tmp_path / "logs" / "20261127-223000.jsonl", lines)
    async with opened(path.parent, size=(200, 90)) as (pilot, _):
        await sheet(pilot)
        await pilot.press("d")
        await until(pilot, lambda: "closes a call" in shown(pilot))
        assert "curl -H" in shown(pilot)
        assert SECRET not in shown(pilot)
        await pilot.press("b")
        await until(pilot, lambda: SECRET in shown(pilot))
