"""A session by what a person calls it: what is meant is never guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import build
import gemini_logs
import opencode_logs
import pytest

from sessionlog import cli
from sessionlog.errors import Ambiguous, NotPossible, SessionNotFound
from sessionlog.lookup import find, resolve

NAME = "20261127-220000"


def test_a_reference_is_an_id_a_head_of_one_a_name_a_path_or_last(tmp_path: Path) -> None:
    for day in (5, 6):
        build.log(tmp_path / f"2026110{day}-000000.jsonl", [build.meta(seconds=day * 86400)])
    old = tmp_path / "20261105-000000.jsonl"
    for ref in ("20261105-000000", "20261105-000000.jsonl", " 20261105 ", str(old)):
        assert resolve(tmp_path, ref) == old
    assert resolve(tmp_path, "last").name == "20261106-000000.jsonl"
    for ref in ("", "2027", str(tmp_path / "none.jsonl")):
        with pytest.raises(SessionNotFound):
            resolve(tmp_path, ref)
    with pytest.raises(NotPossible, match="2 sessions"):
        resolve(tmp_path, "2026110")
    with pytest.raises(SessionNotFound):
        find("last", [str(tmp_path / "nowhere")])


def test_of_two_logs_of_one_session_the_id_names_the_one_with_something_said(
    tmp_path: Path,
) -> None:
    stub = "session-2026-11-28T10-00-f00dfeed.jsonl"
    build.log(tmp_path / gemini_logs.FILE, gemini_logs.healthy())
    build.log(tmp_path / stub, [gemini_logs.head(lastUpdated="2026-11-28T10:00:00.000Z")])
    found = find(gemini_logs.ID, [str(tmp_path)])
    assert found.path == str(tmp_path / gemini_logs.FILE)


def three_logs(folder: Path) -> list[Path]:
    """One session in three logs that differ: the id's head names one, the others hold it inside,
    and in the last nothing was said."""
    names = gemini_logs.FILE, "kept.jsonl", "stub.jsonl"
    lines = gemini_logs.healthy()
    logs = lines, lines[:-1], [gemini_logs.head(lastUpdated="2026-11-28T10:00:00.000Z")]
    return [build.log(folder / name, log) for name, log in zip(names, logs, strict=True)]


@pytest.mark.parametrize("command", ["why", "check", "fork --at 1 --dry-run", "resume --dry-run"])
@pytest.mark.parametrize("ref", [gemini_logs.ID, gemini_logs.ID[:8], gemini_logs.ID[:12], "last"])
def test_a_name_that_holds_the_id_hides_no_log_that_holds_it_inside(
    tmp_path: Path, capsys: Any, command: str, ref: str
) -> None:
    paths = three_logs(tmp_path)
    name, *rest = command.split()
    assert cli.main([name, *rest, ref, "--in", str(tmp_path)]) == 2
    told = capsys.readouterr()
    error, *choices = told.err.splitlines()
    assert error == f"sessionlog: {ref}: 3 logs have this id, and they differ: give a path"
    assert (told.out, choices) == ("", sorted(f"  {path}" for path in paths))
    for path in paths:  # a whole name is that file's alone
        assert find(path.name, [str(tmp_path)]).path == str(path)


def test_a_head_is_asked_back_with_every_log_whose_name_or_id_begins_so(tmp_path: Path) -> None:
    build.log(tmp_path / "f00.jsonl", build.healthy())
    build.log(tmp_path / gemini_logs.FILE, gemini_logs.healthy())
    with pytest.raises(Ambiguous, match="2 sessions answer to it") as refused:
        find("f0", [str(tmp_path)])
    assert len(refused.value.choices) == 2
    assert find("f00", [str(tmp_path)]).path == str(tmp_path / "f00.jsonl")  # all of it


def test_that_nothing_was_said_in_a_log_of_the_id_is_told(tmp_path: Path) -> None:
    taken, again, stub = three_logs(tmp_path)
    again.unlink()
    for ref in (gemini_logs.ID, "last"):
        said: list[str] = []
        assert find(ref, [str(tmp_path)], said.append).path == str(taken)
        assert said == [f"{ref}: {taken}; nothing was said in {stub}"]


def test_a_database_of_several_sessions_asks_which(tmp_path: Path) -> None:
    place = tmp_path / "opencode.db"
    opencode_logs.database(place, opencode_logs.healthy())
    other = opencode_logs.info(opencode_logs.SESSION[:-1] + "2")
    opencode_logs.database(place, [], other)
    with pytest.raises(Ambiguous, match="it holds 2 sessions; name one of them") as refused:
        find(str(place), [])
    assert all(find(path, []).path == path for path in refused.value.choices)


def two_logs(folder: Path, second: bytes = b"") -> tuple[Path, Path]:
    """The same id in two folders; the second log goes on with so much more."""
    paths = folder / "one" / f"{NAME}.jsonl", folder / "two" / f"{NAME}.jsonl"
    for path in paths:
        build.log(path, build.healthy())
    paths[1].write_bytes(paths[1].read_bytes() + second)
    return paths


@pytest.mark.parametrize("ref", [NAME, NAME[:8], f"{NAME}.jsonl"])
def test_one_id_in_two_logs_that_differ_is_asked_back_with_both_paths(
    tmp_path: Path, ref: str
) -> None:
    paths = two_logs(tmp_path, build.message("user", "And now?"))
    with pytest.raises(Ambiguous, match="2 logs have this id, and they differ") as refused:
        find(ref, [str(tmp_path)])
    assert sorted(refused.value.choices) == sorted(map(str, paths))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("command", [
    "why", "show", "check", "repair", "fork --at 1", "stale", "stats", "follow", "replay",
    "resume --dry-run", "compare last",
])  # fmt: skip
def test_no_command_takes_one_of_two_logs_in_silence(
    tmp_path: Path, capsys: Any, command: str
) -> None:
    paths = two_logs(tmp_path, build.message("user", "And now?"))
    name, *rest = command.split()
    assert cli.main([name, *rest, NAME, "--in", str(tmp_path)]) == 2
    told = capsys.readouterr()
    error, *choices = told.err.splitlines()
    assert (told.out, error.count("give a path")) == ("", 1)
    assert sorted(choices) == sorted(f"  {path}" for path in paths)


def test_the_same_bytes_under_one_id_are_one_session_and_that_is_said(tmp_path: Path) -> None:
    paths = list(map(str, two_logs(tmp_path)))
    said: list[str] = []
    assert find(NAME, [str(tmp_path)], said.append).path in paths
    assert len(said) == 1
    assert all(path in said[0] for path in paths)


def test_a_folder_that_is_looked_in_twice_holds_each_session_once(tmp_path: Path) -> None:
    path = build.log(tmp_path / f"{NAME}.jsonl", build.healthy())
    (tmp_path / "again").symlink_to(tmp_path)
    assert (
        find(NAME, [str(tmp_path), str(tmp_path), str(tmp_path / "again")]).path[-20:]
        == (str(path)[-20:])
    )


def test_a_name_that_is_here_and_there_is_asked_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = two_logs(tmp_path, build.message("user", "And now?"))
    monkeypatch.chdir(paths[1].parent)
    with pytest.raises(Ambiguous) as refused:
        find(f"{NAME}.jsonl", [str(paths[0].parent)])
    assert refused.value.choices == (str(paths[0]), f"./{NAME}.jsonl")
    assert find(NAME, [str(paths[0].parent)]).path == str(paths[0])  # an id is no file's name


def test_many_that_answer_stand_on_a_line_each_and_not_all_of_a_thousand(
    tmp_path: Path, capsys: Any
) -> None:
    for number in range(30):
        build.log(tmp_path / f"2026{number:04}-220000.jsonl", [build.meta()])
    assert cli.main(["why", "2026", "--in", str(tmp_path)]) == 2
    error, *choices = capsys.readouterr().err.splitlines()
    assert error == "sessionlog: 2026: 30 sessions answer to it: give more of the id, or a path"
    assert len(choices) == 21
    assert choices[0].startswith(f"  {tmp_path}/")
    assert choices[-1] == "  and 10 more"


def test_an_id_as_a_narrow_list_cuts_it_names_its_session(tmp_path: Path) -> None:
    path = build.log(tmp_path / f"{NAME}.jsonl", build.healthy())
    assert find(f"{NAME[:11]}…", [str(tmp_path)]).path == str(path)


def test_what_is_not_there_is_no_file_and_a_folder_is_no_log(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "why").mkdir()
    folder = "a folder, not a log"
    build.log(tmp_path / "a.b.jsonl", build.healthy())
    for ref, words in (("nope.jsonl", "no session and no file of that name"), ("why", folder),
                       (".", folder), ("..", folder), ("why/", folder),
                       ("./nope.jsonl", "no such file or folder")):  # fmt: skip
        assert cli.main(["why", ref, "--in", str(tmp_path)]) == 2
        assert f"{ref}: {words}" in capsys.readouterr().err
