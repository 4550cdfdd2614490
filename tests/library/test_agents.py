"""Commands of agents: filled argument by argument, described by a file that is checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessionlog import agents
from sessionlog.agents import Agent
from sessionlog.errors import NotPossible

VALUES = {"log": "/l/a b.jsonl", "id": "x1", "workdir": "/srv/a", "prompt": "go on; rm -rf $HOME"}


def test_a_value_stays_within_its_argument() -> None:
    agent = Agent("a", ("run", "--log={log}", "{id}@{workdir}", "{prompt}"))
    assert agents.fill(agent, VALUES) == (
        "run", "--log=/l/a b.jsonl", "x1@/srv/a", "go on; rm -rf $HOME",
    )  # fmt: skip


def test_a_value_is_not_filled_again() -> None:
    agent = Agent("a", ("run", "{prompt}"))
    assert agents.fill(agent, {**VALUES, "prompt": "{id} {log}"}) == ("run", "{id} {log}")


def test_an_argument_that_an_empty_prompt_leaves_empty_is_left_out() -> None:
    agent = Agent("a", ("run", "{prompt}", "", "-p={prompt}"))
    assert agents.fill(agent, {**VALUES, "prompt": ""}) == ("run", "", "-p=")


@pytest.mark.parametrize(("name", "value"), [("id", "-rf"), ("prompt", "--help"), ("log", "a\0b")])
def test_a_value_never_becomes_an_option_or_ends_an_argument(name: str, value: str) -> None:
    agent = Agent("a", ("run", "{log}", "{id}", "{prompt}"))
    with pytest.raises(NotPossible, match=r"option|NUL"):
        agents.fill(agent, {**VALUES, name: value})


def test_the_built_in_ones_all_take_the_session() -> None:
    for agent in agents.BUILT_IN.values():
        assert agent.uses("log") or agent.uses("id")
        assert agent.argv[0] == agent.name
        agents.fill(agent, VALUES)


def test_a_file_adds_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "sessionlog" / "agents.toml"
    path.parent.mkdir()
    path.write_text('[agents.zot]\nargv = ["zot2", "{log}"]\n[agents.mine]\nargv = ["mine"]\n')
    known = agents.known({"XDG_CONFIG_HOME": str(tmp_path)})
    assert known["zot"].argv == ("zot2", "{log}")
    assert known["mine"].argv == ("mine",)
    assert known["claude"] == agents.BUILT_IN["claude"]


def test_without_a_file_there_are_the_built_in_ones(tmp_path: Path) -> None:
    assert agents.known({"HOME": str(tmp_path)}) == agents.BUILT_IN
    # a relative XDG_CONFIG_HOME is not valid
    assert agents.config_path({"HOME": "/h", "XDG_CONFIG_HOME": "conf"}).startswith("/h/.config/")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[agents.a\n", "no TOML"),
        ("\xff", "no TOML"),
        ("[agent.a]\nargv=['x']\n", "f.toml: agent: unknown"),
        ("agents = 1\n", "f.toml: agents: not a table"),
        ("[agents]\na = 1\n", "f.toml: agents.a: not a table"),
        ("[agents.a]\n", r"agents.a.argv: has to be a list"),
        ("[agents.a]\nargv = 'x {log}'\n", r"agents.a.argv: has to be a list"),
        ("[agents.a]\nargv = []\n", r"agents.a.argv"),
        ("[agents.a]\nargv = ['x', 1]\n", r"agents.a.argv"),
        ("[agents.a]\nargv = ['{log}']\n", r"agents.a.argv: the first has to be a program"),
        ("[agents.a]\nargv = ['x', '{path}']\n", r"agents.a.argv: {path} is unknown"),
        ("[agents.a]\nargv = ['x', '{}']\n", r"agents.a.argv: {} is unknown"),
        ("[agents.a]\nargv = ['x']\nshell = true\n", r"agents.a.shell: unknown"),
    ],
)
def test_a_file_that_cannot_be_understood_is_told_with_its_key(text: str, says: str) -> None:
    with pytest.raises(NotPossible, match=says) as caught:
        agents.parse(text.encode("latin-1"), "f.toml")
    assert str(caught.value).startswith("f.toml: ")
    assert "\n" not in str(caught.value)
