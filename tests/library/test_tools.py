"""One tool has one name in all that a person reads; the name that the log has is never lost."""

from __future__ import annotations

import json
from pathlib import Path

import build
import pytest

from sessionlog.cli import main
from sessionlog.facts import answers_to
from sessionlog.figures import Counts, Stats
from sessionlog.stats_page import page
from sessionlog.tools import label_of


@pytest.mark.parametrize(
    ("name", "label"),
    [("Bash", "bash"), ("exec_command", "exec"), ("run_shell_command", "shell"),
     ("Agent", "task"), ("mcp__issues__list_all", "list_all"), ("read_file", "read"),
     ("my\x1btool\n", "my␛tool"), ("", "")],
)  # fmt: skip
def test_what_agents_call_alike_is_alike(name: str, label: str) -> None:
    assert label_of(name) == label


def test_a_tool_is_asked_for_by_the_name_that_is_shown_or_by_its_own() -> None:
    assert answers_to("run_shell_command", "shell")
    assert answers_to("Agent", "task")
    assert answers_to("Agent", "agent")
    assert not answers_to("Agent", "bash")


def test_tools_of_one_name_are_one_line_of_the_numbers() -> None:
    counts = Counts()
    for name, calls in (("Bash", 2), ("bash", 3), ("read", 1), ("read_file", 4)):
        counts.tool(name).calls += calls
    lines = ["".join(text for text, _ in said.pieces) for said in page(Stats(counts=counts), 80)]
    found = [line.split()[:2] for line in lines if line.startswith(("  bash", "  read"))]
    assert found == [["bash", "5"], ["read", "5"]]


def test_why_words_it_as_the_list_does_and_json_has_the_name_of_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(build.log(tmp_path / build.CLAUDE_FILE, [
        build.claude_user("Count."), build.claude_call("t1", name="Agent"),
    ]))  # fmt: skip
    main(["why", path])
    assert "Stopped inside task" in capsys.readouterr().out
    main(["list", path])
    assert "in task" in capsys.readouterr().out
    main(["why", path, "--json"])
    assert json.loads(capsys.readouterr().out)["in_flight"][0]["tool"] == "Agent"
