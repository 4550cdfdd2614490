"""What a log can do to whoever asks how its files stand: nothing, in bounded time and space."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted, stamp

from sessionlog import stale as module
from sessionlog.acts import Act, Swap
from sessionlog.diffs import Change, Hunk
from sessionlog.displays import view_of
from sessionlog.filecalls import acts_of
from sessionlog.knowing import MOST, Known, Work, known_of, patched, swapped
from sessionlog.plainshell import steps_of
from sessionlog.reader import load
from sessionlog.records import Activity, Image, Message
from sessionlog.shellfiles import shell_acts
from sessionlog.stale import Look, judged, stale
from sessionlog.touched import Chain, Touch, _Folder, touched

WRITTEN = Act("/w/a", "write", "a" * 1000)


@pytest.fixture
def run(tmp_path: Path) -> Scripted:
    return Scripted("native", tmp_path / "work")


def edit(old: str, new: str, every: bool = False) -> Act:
    return Act("/w/a", "edit", swaps=(Swap(old, new, every),))


def test_edits_that_multiply_a_content_end_what_is_known_of_it() -> None:
    acts = [WRITTEN, *[edit("a", "a" * 16, every=True)] * 12]
    known = known_of(acts, Work())
    assert known.whole is None
    assert max(map(len, known.parts)) <= MOST
    assert swapped("a" * 1000, [Swap("a", "b" * (MOST // 1000), True)], Work()) is not None
    assert swapped("a" * 1000, [Swap("a", "b" * (MOST // 1000 + 1), True)], Work()) is None


def test_a_part_does_not_multiply_either() -> None:
    acts = [edit("x", "a" * 1000), *[edit("a", "a" * 16, every=True)] * 12]
    assert sum(map(len, known_of(acts, Work()).parts)) <= 20 << 20


def test_a_content_that_was_edited_too_often_is_known_by_its_latest_edits() -> None:
    work = Work(4_000_000)
    acts = [WRITTEN._replace(text="x" * 100_000 + "a0b")]
    acts += [edit(f"a{i}b", f"a{i + 1}b") for i in range(100)]
    assert known_of(acts[:5], Work(4_000_000)).whole is not None
    known = known_of(acts, work)
    assert (known.there, known.whole) == (True, None)
    assert "a100b" in known.parts
    assert work.left > 2_000_000  # something is left for the other files


def test_without_work_left_only_the_last_act_is_known() -> None:
    assert known_of([WRITTEN, edit("a", "b")], Work(100)) == Known()
    touch = Touch("/w/a", 1, "", Chain(Act("/w/a", "remove"), Chain(WRITTEN)))
    assert touch.known_by(Work(0)) == Known(there=False)
    assert touch.known_by(Work()) == Known(there=False)


def test_a_patch_that_fits_nearly_everywhere_is_given_up() -> None:
    old = [Change("-", "x")] * 999 + [Change("-", "y")]
    work = Work(1 << 24)
    assert patched("x\n" * 60_000, [Hunk(tuple(old))], work) is None
    assert work.left < 0


def test_files_that_are_past_the_bound_are_judged_by_their_time(
    run: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.py", "b.py", "c.py"):
        path = run.folder / name
        path.write_text("x" * 100)
        run.read(name)
        stamp(path, -100)
    session = run.session()
    assert [file.by for file in stale(session).files] == ["content"] * 3
    monkeypatch.setattr(module, "_COMPARED", 150)
    assert [file.by for file in stale(session).files] == ["content", "content", "time"]
    monkeypatch.setattr(module, "_COMPARED", 1 << 20)
    monkeypatch.setattr(module, "Work", lambda left=0: Work(left))
    assert [file.by for file in stale(session).files] == ["time"] * 3


def test_displays_of_many_lines_that_nearly_are_something_are_read_once() -> None:
    lines = "\n" * 2_000_000
    assert view_of(f"<file>\n{lines}x") is not None
    view = view_of(f"<file>\na\n{lines}</file>\n" + "<file>\n" * 1000)
    assert view is not None
    assert view.text == "a"
    assert view_of(("[" + "1" * 199 + "\n") * 50_000) is not None


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("[3 more lines in file. Use offset=5 to continue.]", "a"),
        ("[Truncated: 12 lines]", "a"), ("(omitted 12 lines)", "a"), ("... 5 more lines", "a"),
        ("IMPORTANT: The file content has been truncated.", "a"), ("  <truncated]", "a"),
        ("b…120 tokens truncated…c", "a\nb"), ("it was truncated 3 times", None),
        ("(truncated", None), ("[" + "x" * 300 + " 1 truncated]", None),
    ],
)  # fmt: skip
def test_a_note_that_there_is_more_ends_what_is_shown(note: str, shown: str | None) -> None:
    view = view_of(f"a\n{note}\nz\n")
    assert view is not None
    assert (view.text, view.whole) == ((shown, False) if shown else (f"a\n{note}\nz\n", True))


def test_a_long_command_is_read_once() -> None:
    room = 256 * 1024 - 100
    [step] = steps_of("cat " + "\\a" * (room // 2))
    assert len(step.words[1].text) == room // 2
    [step] = steps_of("cat <<A\n" + "\n" * (room - 10) + "A\n")
    assert step.here == "\n" * (room - 10)


def test_names_that_a_command_did_not_find() -> None:
    command = "cat a.py b.py 'c d.py' ba.py x.py y.py"
    said = ("cat: ba.py: No such file or directory\ntail: cannot open 'c d.py' for reading: No such"
            " file or directory\nsed: can't read x.py: No such file or directory\n"
            "ls: cannot access ‘y.py’: No such file or directory\n")  # fmt: skip
    acts = {act.path: act.how for act in shell_acts(command, "/w", said)}
    assert [path for path, how in acts.items() if how == "absent"] == [
        "/w/c d.py", "/w/ba.py", "/w/x.py", "/w/y.py",
    ]  # fmt: skip
    assert (acts["/w/a.py"], acts["/w/b.py"]) == ("read", "read")


def test_a_folder_that_goes_again_and_again_costs_its_files_once(run: Scripted) -> None:
    files = [f"d/f{i}" for i in range(300)]

    def ran(command: str) -> dict[str, Touch]:
        run._call("bash", {"command": command}, "x")
        return {os.path.relpath(touch.path, run.folder): touch for touch in touched(run.session())}

    ran("; ".join(f"echo a > {name}" for name in files))
    for _ in range(3):
        found = ran("rm -r d " + "d " * 50)
    assert {found[name].known.there for name in files} == {False}
    assert len({found[name].n for name in files}) == 1
    assert ran("echo b > d/f1")["d/f1"].known.there
    found = ran("rm -r d")
    assert not found["d/f1"].known.there
    assert found["d/f1"].n > found["d/f2"].n


def test_files_are_found_by_the_folders_above_them() -> None:
    folders = _Folder()
    for path in ("/w/a/b.py", "/w/a/c/d.py", "/w/ab.py", "/w/a", "/" + "x/" * 100 + "y"):
        folders.add(path)
    assert folders.take("/w/a") == {"/w/a/b.py", "/w/a/c/d.py"}
    assert folders.take("/w/a") == set()
    folders.add("/w/a/b.py")
    assert folders.take("/w") == {"/w/a/b.py", "/w/ab.py", "/w/a"}
    assert folders.take("/x") == {"/" + "x/" * 100 + "y"}


NAMES = ["a\0b", "a" * 5000, "a/" * 3000 + "b", "\ud800", "\udc80", "file://[x", "file://a\u2100b/x",
         "//", "/", "..", "/proc/self/mem", "~x", "\n"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_no_path_of_a_log_raises(name: str, run: Scripted) -> None:
    call = f'cat "{name}"'
    for field, value in (("path", name), ("path", f"/{name}"), ("command", call)):
        run._call("read", {field: value}, "x")
        run._call("write", {field: value, "content": "x"}, "x")
    run._call("read", {"path": "a.py", "cwd": name}, "x")
    session = run.session()
    stale(session)
    stale(replace(session, meta=session.meta._replace(workdir=name)))
    stale(replace(session, meta=session.meta._replace(workdir=f"/{name}")))


@pytest.mark.parametrize(
    ("tool", "arguments", "result"),
    [
        ("bash", {"command": f"head -n {'1' * 5000} a"}, "x\n"),
        ("bash", {"command": f"sed -n 1,{'1' * 5000}p a"}, "x\n"),
        ("bash", {"command": "cat a"}, "[exit: " * 50_000),
        ("bash", {"command": "sha256sum a"}, "0" * 64 + "  a\n"),
        ("edit", {"path": "a", "edits": [1, None, {"old": 1}]}, "x"),
        ("read", {"paths": [1, None, {"path": 3}, "a"]}, "x"),
    ],
)
def test_no_argument_of_a_log_raises(tool: str, arguments: Any, result: str, run: Scripted) -> None:
    run._call(tool, arguments, result)
    stale(run.session())


@pytest.mark.parametrize("digest", ["", "x", ":", "md4:00", "shake_128:00", "blob:x", "sha256:zz"])
def test_no_hash_of_a_log_raises(digest: str) -> None:
    answer = Message("activity", "x", Activity("response", "c", "read", '{"path":"/w/a"}', "x"),
                     images=(Image("image/png", digest=digest),))  # fmt: skip
    assert answer.activity is not None
    [act] = acts_of(answer.activity, answer, "/w")
    touch = Touch("/w/a", 1, "2026-11-29T20:00:00Z", Chain(act))
    for made in (act.digest, digest):
        known = Known(digest=made)
        how, by, _ = judged(touch, known, Look("file", 0.0, 1, b"x"))
        assert (how, by) in (("unchanged", "time"), ("changed", "hash"))


def test_a_log_whose_folder_is_no_name_is_told_all_the_same(tmp_path: Path) -> None:
    run = Scripted("native", tmp_path / "work")
    (run.folder / "a.py").write_text("x")
    run.read("a.py")
    session = run.session()
    data = Path(session.path).read_bytes()
    made = data.replace(os.fsencode(run.folder) + b'"', b'/h\\u0000ome"')
    assert made != data
    path = tmp_path / "20261127-220000.jsonl"
    path.write_bytes(made)
    found = stale(load(path))
    assert (load(path).meta.workdir, found.now) == ("/h\0ome", None)
