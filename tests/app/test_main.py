"""The console script, before there is a screen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import build
import pytest

ROOT = Path(__file__).parent.parent.parent


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "tui", *words], capture_output=True, text=True, cwd=ROOT, check=False
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("/no/such/place",), "no such file"),
        (("--theme", "pink"), "--theme pink: one of night"),
        (("--colour",), "no such option"),
        (("lst",), "no such file or folder; `sessionlog --help` lists the commands"),
    ],
)
def test_an_error_before_the_screen_is_one_line_and_exit_2(
    words: tuple[str, ...], said: str
) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_where_output_is_no_terminal_it_lists(tmp_path: Path) -> None:
    build.log(tmp_path / "20261127-220000.jsonl", build.healthy())
    done = run(str(tmp_path))
    assert done.returncode == 0
    assert "20261127-220000" in done.stdout


def test_a_word_that_is_a_command_is_one(tmp_path: Path) -> None:
    build.log(tmp_path / "20261127-220000.jsonl", build.healthy())
    done = run("check", "last", "--in", str(tmp_path))
    assert done.returncode == 0
    assert "complete" in done.stdout


def test_help_and_version_are_told() -> None:
    assert "usage: sessionlog" in run("--help").stdout
    assert run("--version").stdout.startswith("sessionlog")


@pytest.mark.parametrize("words", [["list", "."], ["--help"], ["."], ["--nonsense"]])
def test_what_needs_no_screen_never_loads_textual(words: list[str]) -> None:
    code = f"""
import sys
from tui.__main__ import main
main({words!r})
print("loaded" if "textual" in sys.modules or "rich" in sys.modules else "clean")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT,
                          check=True)  # fmt: skip
    assert done.stdout.splitlines()[-1] == "clean"


def test_what_the_screen_does_not_need_at_first_is_not_loaded() -> None:
    code = """
import sys
import tui.app, tui.workers
late = ("watchfiles", "sessionlog.forks", "sessionlog.repairs", "sessionlog.secrets",
        "textual.widgets._markdown", "textual.widgets._data_table", "tui.screens.fork",
        "tui.screens.help", "tui.widgets.prompt")
print([name for name in late if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT,
                          check=True)  # fmt: skip
    assert done.stdout.strip() == "[]"
