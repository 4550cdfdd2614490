"""Where an agent of JavaScript looks for the sessions of a folder, whatever it is called."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import build
import pytest

from sessionlog.errors import NotPossible
from sessionlog.forks import apply_fork, plan_fork
from sessionlog.handover import prepare
from sessionlog.paths import dashed, name_too_long, real
from sessionlog.reader import load
from sessionlog.repairs import apply_repair, plan_repair
from sessionlog.resume import Resume, plan_resume

NOW = datetime(2026, 11, 30, 22, 0, 10, tzinfo=UTC)


def planned(folder: Path, cwd: str, agent: str) -> Resume:
    session = load(build.log(folder / "20261127-220000.jsonl", build.healthy()))
    environ = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    return plan_resume(session, now=NOW, environ=environ, agent=agent, cwd=cwd, screen=False)


@pytest.mark.parametrize("agent", ["qwen", "pi", "claude"])
def test_a_link_to_a_folder_is_the_folder(tmp_path: Path, agent: str) -> None:
    # a process that is started there asks the system, which knows no links
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    plan = planned(tmp_path, f"{tmp_path}/link", agent)
    assert plan.cwd == str(tmp_path / "there")
    assert "there" in plan.log


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/srv/my_app.v2", "-srv-my-app-v2"),
        ("/a\U0001f600b", "-a--b"),  # two units of UTF-16
        ("/e\u0301\u00e9", "-e--"),
        ("/bad\udcff", "-bad-"),
    ],
)
def test_a_folders_name_is_counted_in_units_of_utf16(path: str, name: str) -> None:
    assert dashed(path) == name


@pytest.mark.parametrize("agent", ["qwen", "claude"])
def test_the_new_log_lies_under_that_name(tmp_path: Path, agent: str) -> None:
    (tmp_path / "a\U0001f600b").mkdir()
    assert (
        f"{dashed(str(tmp_path))}-a--b" in planned(tmp_path, f"{tmp_path}/a\U0001f600b", agent).log
    )


@pytest.mark.parametrize("agent", ["qwen", "pi"])
def test_a_folder_whose_path_makes_no_name_is_said_before_anything_is_written(
    tmp_path: Path, agent: str
) -> None:
    folder = tmp_path / ("l" * 120) / ("m" * 120)
    folder.mkdir(parents=True)
    plan = planned(tmp_path, str(folder), agent)
    assert sum("too long a name" in line for line in plan.missing) == 1
    with pytest.raises(NotPossible, match="too long a name"):
        prepare(load(plan.log) if plan.plan else load(tmp_path / "20261127-220000.jsonl"), plan)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["20261127-220000.jsonl", "l" * 120]
    assert not [line for line in planned(tmp_path, str(tmp_path), agent).missing if "name" in line]


def test_a_name_is_too_long_wherever_it_stands(tmp_path: Path) -> None:
    long = "x" * 256
    assert name_too_long(f"{tmp_path}/not/there/{long}/log") == long
    assert name_too_long(f"{tmp_path}/not/there/log") == ""
    assert name_too_long(f"{tmp_path}/nul\0here/log") == ""
    assert real("/nul\0here/../x") == "/x"


def test_a_log_that_names_no_provider_gets_the_one_that_its_agent_is_set_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "elsewhere"))
    (tmp_path / "config.toml").write_text('model_provider = "mine"')
    environ = {"CODEX_HOME": str(tmp_path)}
    head = build.codex_meta(model_provider=None)
    lines = [head, build.codex_said("user", "go"), build.codex_call("c1")]
    session = load(build.log(tmp_path / build.CODEX_FILE, lines))
    new = [
        apply_fork(plan_fork(session, 2, now=NOW), environ=environ),
        apply_repair(plan_repair(session, now=NOW), environ=environ),
    ]
    heads = [json.loads(path.read_bytes().splitlines()[0])["payload"] for path in new]
    assert [head["model_provider"] for head in heads] == ["mine", "mine"]
