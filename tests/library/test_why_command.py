"""`sessionlog why`: the page, the JSON object, the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import build
import pytest
from stories import Claude, Codex, Native, Pi, Story

from sessionlog.cli import main
from sessionlog.listing import glance
from sessionlog.why.look import look
from sessionlog.why.said import summary


def asked(capfd: pytest.CaptureFixture[str], path: Path, *more: str) -> tuple[int, str]:
    code = main(["why", str(path), *more])
    return code, capfd.readouterr().out


def log(path: Path, story: Story) -> Path:
    name = build.CLAUDE_FILE if story.form == "claude" else "a.jsonl"
    return build.log(path / name, story.lines)


def told(capfd: pytest.CaptureFixture[str], path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(asked(capfd, path, "--json")[1])
    return value


def test_the_exit_code_tells_whether_a_person_has_to_look(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fine = log(tmp_path / "a", Claude().work().done("All tests pass."))
    open_call = log(tmp_path / "b", Claude().work().open("make"))
    assert asked(capfd, fine)[0] == 0
    assert asked(capfd, open_call)[0] == 1
    assert asked(capfd, build.log(tmp_path / "c.jsonl", []))[0] == 2


def test_the_object_has_the_fields_that_scripts_rely_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    story = Native("Port it.").work().call("make", "boom: error", True).open("make fuzz")
    value = told(capfd, log(tmp_path, story))
    assert value["v"] == 1
    assert (value["status"], value["reason"], value["ok"]) == ("unfinished", None, None)
    assert value["cause"] == "killed_in_tool"
    assert value["evidence"][0]["says"].endswith("make fuzz")
    assert value["evidence"][0]["n"] == value["in_flight"][0]["n"]
    assert value["last_error"]["text"] == "boom: error"
    assert value["last_error"]["overcome"] is False
    call = value["in_flight"][0]
    assert (call["tool"], call["call_id"]) == ("shell", "c5")
    assert call["since"] == build.at(story.clock)
    assert set(value["longest_gaps"][0]) >= {"seconds", "after"}
    assert value["repeated"] == []
    assert "make fuzz" in value["summary"]
    assert value["last"][-1]["says"] == "shell make fuzz"


def test_a_place_in_the_object_is_that_of_the_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = log(tmp_path, Native().work().refused("Overloaded (529)"))
    lines = path.read_bytes().split(b"\n")
    for said in told(capfd, path)["evidence"]:
        assert path.read_bytes()[said["offset"] :].startswith(lines[said["line"] - 1])


def test_the_page_names_rows_and_holds_no_control_character(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    evil = "\x1b[31mred \x07\x9b"
    story = Native(evil).call(evil, f"Error: {evil}", True).open("make fuzz")
    _, page = asked(capfd, log(tmp_path, story))
    first, second, *rest = page.splitlines()
    assert first.endswith("a")
    assert second == "Stopped inside shell"
    assert any(line.startswith("○ in flight") and line.endswith(" 4") for line in rest)
    assert not set(page) & {chr(i) for i in (*range(10), *range(11, 32), *range(127, 160))}
    assert max(map(len, page.splitlines())) <= 120


def test_what_an_event_asks_for_and_an_id_are_shown_visible(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    story = Native().work().open("git push")
    story.lines[0] = build.meta(id="x\x1b]0;own\x07", task="T\x9b1m")
    story.lines.append(build.event("approval_request", 90, text="may I\x1b[2J\x07 push?"))
    _, page = asked(capfd, log(tmp_path, story))
    assert "push?" in page
    assert "no leave" in page.lower()
    assert not set(page) & {chr(i) for i in (*range(10), *range(11, 32), *range(127, 160))}


def test_damage_is_told_with_its_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    story = Native().work()
    story.lines.insert(3, b"{ not JSON\n")
    path = log(tmp_path, story)
    assert told(capfd, path)["damages"][0]["line"] == 4
    assert "L4" in asked(capfd, path)[1]


@pytest.mark.parametrize("story", [Claude, Codex, Native, Pi])
def test_the_list_and_the_answer_word_a_log_that_was_cut_off_alike(
    tmp_path: Path, story: type[Story]
) -> None:
    name = {"claude": build.CLAUDE_FILE, "codex": build.CODEX_FILE, "pi": build.PI_FILE}
    for number, cut in enumerate((
        story().work(), story().work().open("make"), story().open("make").open("make all"),
        story().work().say("Now I build."),
    )):  # fmt: skip
        folder = tmp_path / str(number)
        path = build.log(folder / name.get(cut.form, "a.jsonl"), cut.lines)
        row, found = glance(str(path)), look(str(path)).why
        if found.status != "unfinished":
            continue
        assert row.stop == found.ending.text
        place, _, said = row.stop.removeprefix("in ").partition(":")
        assert place.casefold() in summary(found).casefold()
        assert said in summary(found)


def test_a_log_in_which_nothing_was_asked_says_so_in_the_list_and_in_the_answer(
    tmp_path: Path,
) -> None:
    shell = [build.claude_user("<bash-input>ls</bash-input>", 1),
             build.claude_user("<bash-stdout>a</bash-stdout>", 2)]  # fmt: skip
    path = str(build.log(tmp_path / build.CLAUDE_FILE, shell))
    found = look(path).why
    assert (found.cause, glance(path).stop) == ("never_started", "nothing was asked")
    assert summary(found).startswith("Nothing was asked.")
