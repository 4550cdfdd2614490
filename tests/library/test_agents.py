"""Commands of agents: filled argument by argument, described by a file that is checked."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from sessionlog import agents, dialects
from sessionlog.agent import LONGEST, OUTPUTS
from sessionlog.agentfile import EXAMPLE, parse
from sessionlog.agents import Agent, Way
from sessionlog.cli import main
from sessionlog.errors import NotPossible

VALUES = {"log": "/l/a b.jsonl", "id": "x1", "workdir": "/srv/a", "prompt": "go on; rm -rf $HOME",
          "messages": "/t/m.json", "messages_openai": "/t/o.json"}  # fmt: skip


def own(*argv: str, **more: Any) -> Agent:
    return Agent("a", ("run", *argv), **more)


def described(folder: Path, text: str) -> dict[str, str]:
    """An environment whose person has this file."""
    path = folder / "sessionlog" / "agents.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return {"XDG_CONFIG_HOME": str(folder), "PATH": str(folder / "bin")}


def program(folder: Path, name: str) -> None:
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"")
    path.chmod(0o700)


def test_a_value_stays_within_its_argument() -> None:
    agent = own("--log={log}", "{id}@{workdir}", "{prompt}")
    assert agents.fill(agent, VALUES) == (
        "run", "--log=/l/a b.jsonl", "x1@/srv/a", "go on; rm -rf $HOME",
    )  # fmt: skip


def test_a_value_is_not_filled_again() -> None:
    assert agents.fill(own("{prompt}"), {**VALUES, "prompt": "{id} {log}"}) == ("run", "{id} {log}")


def test_an_argument_that_an_empty_prompt_leaves_empty_is_left_out() -> None:
    agent = own("{prompt}", "", "-p={prompt}")
    assert agents.fill(agent, {**VALUES, "prompt": ""}) == ("run", "", "-p=")


def test_a_prompt_that_begins_with_a_dash_gets_a_space_in_front() -> None:
    values = {**VALUES, "prompt": "--help"}
    assert agents.fill(own("-p", "{prompt}"), values) == ("run", "-p", " --help")
    assert agents.fill(own("--", "{prompt}"), values) == ("run", "--", "--help")
    assert agents.fill(own("-p={prompt}"), values) == ("run", "-p=--help")


def test_a_prompt_that_reads_as_a_file_or_a_command_gets_a_space_in_front() -> None:
    for prompt in ("@all go on", "/clear now"):
        values = {**VALUES, "prompt": prompt}
        assert agents.fill(own("{prompt}"), values) == ("run", f" {prompt}")
        assert agents.fill(own("-p={prompt}"), values) == ("run", f"-p={prompt}")


def test_an_id_that_begins_with_a_dash_is_refused_where_it_would_be_an_option() -> None:
    values = {**VALUES, "id": "-rf"}
    with pytest.raises(NotPossible, match=r"reads as an option; .*--option=\{id\}"):
        agents.fill(own("--resume", "{id}"), values)
    assert agents.fill(own("--resume={id}"), values) == ("run", "--resume=-rf")
    assert agents.fill(own("--", "{id}"), values) == ("run", "--", "-rf")


def test_a_path_is_absolute_because_the_agent_runs_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    values = {**VALUES, "log": "-rf.jsonl", "messages": "m.json"}
    assert agents.fill(own("{log}", "{messages}"), values) == (
        "run", f"{tmp_path}/-rf.jsonl", f"{tmp_path}/m.json",
    )  # fmt: skip


def test_files_that_are_not_made_yet_leave_their_places() -> None:
    values = {name: VALUES[name] for name in ("log", "id", "workdir", "prompt")}
    assert agents.fill(agents.BUILT_IN["json"], values)[1] == "{messages}"


@pytest.mark.parametrize("name", ["log", "id", "workdir"])
def test_a_place_without_a_value_is_an_error(name: str) -> None:
    with pytest.raises(NotPossible, match=rf"a: nothing to put in the place of \{{{name}\}}"):
        agents.fill(own(f"{{{name}}}"), {**VALUES, name: ""})


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("log", "/a\0b", "NUL"), ("prompt", "a\0b", "NUL"), ("id", "\ud800", "no bytes"),
        ("prompt", "x" * (LONGEST + 1), "131,072 bytes, and one argument holds 131,071"),
        ("prompt", "é" * (LONGEST // 2 + 1), "131,072 bytes"),
    ],
)  # fmt: skip
def test_what_no_argument_can_hold_is_told_before_anything_starts(
    name: str, value: str, says: str
) -> None:
    with pytest.raises(NotPossible, match=says):
        agents.fill(own(f"{{{name}}}"), {**VALUES, name: value})


def test_what_an_argument_can_just_hold_goes() -> None:
    text = "x" * LONGEST
    assert agents.fill(own("{prompt}"), {**VALUES, "prompt": text})[1] == text


def test_bytes_that_are_no_text_go_through_and_half_characters_do_not() -> None:
    made = agents.fill(own("{prompt}"), {**VALUES, "prompt": "a\udcff\ud800"})
    assert os.fsencode(made[1]) == b"a\xff\xef\xbf\xbd"


def test_without_a_terminal_another_command_may_run() -> None:
    agent = own("{id}", headless=("run", "-p", "{prompt}"))
    assert agents.fill(agent, VALUES, screen=False) == ("run", "-p", VALUES["prompt"])
    assert (agent.uses("prompt"), agent.uses("prompt", screen=False)) == (False, True)
    assert own("{id}").argv_for(screen=False) == ("run", "{id}")


def test_the_built_in_ones_all_take_the_session() -> None:
    for agent in agents.BUILT_IN.values():
        for screen in (True, False):
            assert any(agent.uses(name, screen) for name in ("log", "id", "messages"))
            agents.fill(agent, VALUES, screen)
    assert agents.fill(agents.BUILT_IN["claude"], VALUES, screen=False) == (
        "claude", "-p", "--resume", VALUES["log"], VALUES["prompt"],
    )  # fmt: skip


def test_a_file_adds_and_replaces(tmp_path: Path) -> None:
    environ = described(
        tmp_path,
        '[agents.zot]\nargv = ["zot2", "{log}"]\n[agents.mine]\nargv = ["mine"]\n'
        'headless = ["mine", "-p"]\noutput = "text"\nappends = true\nnamespace = true\n',
    )
    known = agents.known(environ)
    assert known["zot"].argv == ("zot2", "{log}")
    assert known["mine"] == Agent(
        "mine", ("mine",), False, ("mine", "-p"), "text", appends=True, namespace=True
    )
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
        ("[agent.a]\nargv=['x']\n", r"f.toml: agent: unknown, did you mean agents\?"),
        ("agents = 1\n", "f.toml: agents: not a table"),
        ("[agents]\na = 1\n", "f.toml: agents.a: not a table"),
        ("[agents.'']\nargv=['x']\n", "needs a name"),
        ("[agents.a]\n", r"agents.a.argv: has to be a list"),
        ("[agents.a]\nargv = 'x {log}'\n", r"agents.a.argv: has to be a list"),
        ("[agents.a]\nargv = []\n", r"agents.a.argv"),
        ("[agents.a]\nargv = ['x', 1]\n", r"agents.a.argv"),
        ("[agents.a]\nargv = ['x']\nheadless = []\n", r"agents.a.headless: has to be a list"),
        ("[agents.a]\nargv = ['{log}']\n", r"agents.a.argv: the first has to be a program"),
        ("[agents.a]\nargv = ['x', '{path}']\n", r"agents.a.argv: \{path\} is unknown; there are"),
        ("[agents.a]\nargv = ['x', '{promt}']\n", r"\{promt\} is unknown, did you mean prompt\?"),
        ("[agents.a]\nargv = ['x', '{}']\n", r"agents.a.argv: \{\} is unknown"),
        ("[agents.a]\nargv = ['x', '--{id}']\n", r"agents.a.argv: --\{id\} would make an option"),
        ("[agents.a]\nargv = ['x']\nshell = true\n", r"agents.a.shell: unknown; there are argv"),
        ("[agents.a]\nargv = ['x']\nheadles = ['x']\n", r"unknown, did you mean headless\?"),
        ("[agents.a]\nargv = ['x']\nappends = 'yes'\n", r"appends: has to be true or false"),
        ("[agents.a]\nargv = ['x']\noutput = 'claude-json'\n", r"output: unknown, did you mean"),
        ("[agents.a]\nargv = ['x']\noutput = 1\n", r"output: unknown; there are anthropic-sse"),
    ],
)
def test_a_file_that_cannot_be_understood_is_told_with_its_key(text: str, says: str) -> None:
    with pytest.raises(NotPossible, match=says) as caught:
        parse(text.encode("latin-1"), "f.toml")
    assert str(caught.value).startswith("f.toml: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_wrong_hides_only_the_agents_that_it_speaks_of(tmp_path: Path) -> None:
    environ = described(tmp_path, "[agents.claude]\nargv = ['x'\n")
    assert agents.named("codex", environ) == agents.BUILT_IN["codex"]
    for name in ("claude", "mine"):
        with pytest.raises(NotPossible, match="no TOML"):
            agents.named(name, environ)
    with pytest.raises(NotPossible, match="no TOML"):
        agents.known(environ)


def test_an_agent_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(NotPossible, match=r"no agent 'cluade', did you mean claude\?; there are "):
        agents.named("cluade", {"HOME": str(tmp_path)})


def test_an_agent_gets_its_own_log_a_native_one_or_plain_messages(tmp_path: Path) -> None:
    environ = described(
        tmp_path,
        '[agents.codex]\nargv = ["my-codex", "{id}"]\n[agents.pi]\nargv = ["p", "{messages}"]\n'
        '[agents.mine]\nargv = ["m", "{log}"]\n',
    )
    ways = {name: agents.way(agent, "claude") for name, agent in agents.known(environ).items()}
    some = {name: ways[name] for name in ("claude", "codex", "zot", "json", "pi", "mine", "demo")}
    assert some == {
        "claude": Way.LOG, "codex": Way.PLAIN, "zot": Way.CALLS, "json": Way.CALLS,
        "pi": Way.LOG, "mine": Way.LOG, "demo": None,
    }  # fmt: skip
    for name in ("zot", "demo", "json"):
        assert agents.way(agents.BUILT_IN[name], "native") is Way.LOG
    assert agents.way(own("{id}", format="unread"), "native") is None
    assert agents.way(own("{id}", format="unread"), "native", own="a") is Way.LOG


def test_choices_begin_with_those_that_can_be_chosen_and_say_how(tmp_path: Path) -> None:
    environ = described(tmp_path, '[agents.mine]\nargv = ["m", "{log}"]\n')
    for name in ("m", "codex", "zot"):
        program(tmp_path, name)
    found = agents.choices(environ, "claude")
    assert [(c.agent.name, c.how) for c in found if c.ready] == [
        ("zot", "a native log, with its calls"), ("codex", "as plain messages"),
        ("mine", "the log"),
    ]  # fmt: skip
    why = {c.agent.name: (c.how, c.why) for c in found}
    assert why["mine"] == ("the log", "")
    assert why["claude"] == ("its own log", "claude: no such program on PATH")
    assert why["json"] == ("a transcript in JSON", "json: no program sessionlog-agent on PATH")
    assert why["demo"] == ("", "demo: goes on with native logs only, not with claude logs")


def test_who_cannot_be_chosen_is_told_with_those_who_can(tmp_path: Path) -> None:
    environ = described(tmp_path, "")
    with pytest.raises(NotPossible, match=r"no such program on PATH; none .* zot \(a native log,"):
        agents.ready(agents.BUILT_IN["claude"], environ, "claude")
    program(tmp_path, "sessionlog-agent")
    says = r"^claude: no such program on PATH; there are: json \(a transcript in JSON\)$"
    with pytest.raises(NotPossible, match=says):
        agents.ready(agents.BUILT_IN["claude"], environ, "claude")
    agents.ready(agents.BUILT_IN["json"], environ, "claude")


def test_the_example_is_a_file_that_works_with_all_its_fields() -> None:
    assert parse(EXAMPLE.encode(), "f")["mine"].argv[0] == "my-agent"
    agent = parse(re.sub(r"(?m)^# (\w+ = )", r"\1", EXAMPLE).encode(), "f")["mine"]
    assert agent.headless[1] == "--batch"
    assert (agent.output, agent.appends, agent.namespace) == ("text", True, True)


def test_an_output_is_a_dialect_that_can_be_recorded() -> None:
    assert OUTPUTS == dialects.NAMES


def test_the_command_lists_them_and_tells_what_is_wrong_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in described(tmp_path, "[agents.m]\n").items():
        monkeypatch.setenv(name, value)
    assert main(["agents"]) == 2
    out = capsys.readouterr()
    assert "claude -p --resume '{log}' '{prompt}'" in out.out
    assert "agents.m.argv: has to be a list" in out.err
    assert main(["agents", "--example"]) == 0
    assert EXAMPLE in capsys.readouterr().out
