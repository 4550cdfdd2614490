"""Which files a transcript touched, and what it knows of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import build
import pytest

from sessionlog.filecalls import acts_of
from sessionlog.knowing import Known
from sessionlog.reader import load
from sessionlog.records import Activity, Message
from sessionlog.session import Session
from sessionlog.touched import Touch, absolute, touched

WORK = "/srv/app"


def call(name: str, arguments: Any, result: Any = "ok", failure: str | None = None) -> list[Any]:
    """(path, how) of what one call does."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    answer = Message("activity", "", Activity("response", "c", name, "", result, failure))
    return [(act.path, act.how) for act in acts_of(Activity("request", "c", name, text),
            answer, WORK)]  # fmt: skip


def shell(command: str, output: str = "") -> list[Any]:
    return call("bash", {"command": command}, output)


def native(tmp_path: Path, *lines: bytes) -> Session:
    return load(build.log(tmp_path / "20261127-220000.jsonl", [build.meta(), *lines]))


def pair(id: str, name: str, arguments: dict[str, Any], result: Any = "ok", seconds: float = 2,
         failure: str | None = None) -> list[bytes]:  # fmt: skip
    text = json.dumps(arguments)
    return [
        build.request(id, name, text, seconds),
        build.response(id, name, text, result, failure, seconds + 1),
    ]


def only(session: Session) -> tuple[Touch, Known]:
    [touch] = touched(session)
    return touch, touch.known


def text_of(known: Known) -> str | None:
    return known.whole.text if known.whole else None


@pytest.mark.parametrize(
    ("name", "arguments", "how"),
    [
        ("Read", {"file_path": f"{WORK}/a.py"}, "read"),
        ("read_file", {"absolute_path": f"{WORK}/a.py"}, "read"),
        ("read", {"filePath": "a.py"}, "read"),
        ("view_image", {"path": "a.py"}, "read"),
        ("mcp__fs__get_contents", {"path": "a.py"}, "read"),
        ("str_replace_based_edit_tool", {"command": "view", "path": "a.py"}, "read"),
        ("str_replace_based_edit_tool", {"command": "create", "path": "a.py", "file_text": "x"},
         "write"),
        ("str_replace_editor", {"command": "insert", "path": "a.py", "insert_text": "x"}, "edit"),
        ("Write", {"file_path": "a.py", "content": "x"}, "write"),
        ("write", {"path": "a.py", "content": "x", "startLine": 3, "endLine": 4}, "edit"),
        ("write", {"path": "a.py", "content": "x", "startLine": 0, "endLine": 0}, "write"),
        ("replace", {"file_path": "a.py", "old_string": "x", "new_string": "y"}, "edit"),
        ("edit", {"path": "a.py", "edits": [{"oldText": "x", "newText": "y"}]}, "edit"),
        ("Edit", {"file_path": "a.py", "old_string": "", "new_string": "y"}, "write"),
        ("NotebookEdit", {"notebook_path": "a.py", "new_source": "x"}, "edit"),
        ("delete_file", {"target_file": "a.py"}, "remove"),
        ("read_many_files", {"paths": ["a.py", "src/*.py"]}, "read"),
        ("open_file", {"uri": f"file://{WORK}/a.py"}, "read"),
    ],
)  # fmt: skip
def test_a_tool_is_known_by_the_shape_of_its_arguments(
    name: str, arguments: dict[str, Any], how: str
) -> None:
    assert call(name, arguments) == [(f"{WORK}/a.py", how)]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Grep", {"pattern": "x", "path": "src"}),
        ("list_dir", {"path": "src"}),
        ("WebFetch", {"url": "https://a.example/x", "prompt": "read it"}),
        ("create_issue", {"title": "a", "body": "b"}),
        ("Read", {"file_path": "~/notes.md"}),
        ("Read", {"file_path": "C:\\notes.md"}),
        ("read", {"path": "embedded-skill://x"}),
        ("plan", {"steps": ["read a.py"]}),
    ],
)
def test_what_names_no_file_here_is_left_out(name: str, arguments: dict[str, Any]) -> None:
    assert [path for path, _ in call(name, arguments) if absolute(path)] == []


@pytest.mark.parametrize(
    ("command", "acts"),
    [
        ("cat a.py", [("a.py", "read")]),
        ("cat -n 'a b.py'", [("a b.py", "read")]),
        ("head -n 5 a.py; tail -3 b.py", [("a.py", "read"), ("b.py", "read")]),
        ("sed -n '1,20p' a.py | less", [("a.py", "read")]),
        ("sed -i.bak -e 's/x/y/' a.py", [("a.py", "edit")]),
        ("sed -i '' 's/x/y/' a.py", [("a.py", "edit")]),
        ("make > out.log 2>&1", [("out.log", "write")]),
        ("make 2> err.log", []),
        ("echo x >> a.py", [("a.py", "edit")]),
        ("date | tee -a a.log", [("a.log", "edit")]),
        ("rm -f a.py b.py", [("a.py", "remove"), ("b.py", "remove")]),
        ("git mv a.py b.py", [("b.py", "copy"), ("a.py", "remove")]),
        ("cp a.py b.py src/", [("src/a.py", "copy"), ("src/b.py", "copy")]),
        ("cd src && cat a.py", [("src/a.py", "read")]),
        ("LANG=C cat a.py", [("a.py", "read")]),
        ("cat > a.py <<'EOF'\nrm b.py\n$x\nEOF\ncat c.py", [("a.py", "write"), ("c.py", "read")]),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a.py\n*** End Patch\nEOF",
         [("a.py", "remove")]),
    ],
)  # fmt: skip
def test_a_plain_command_tells_its_files(command: str, acts: list[tuple[str, str]]) -> None:
    assert shell(command) == [(f"{WORK}/{path}", how) for path, how in acts]


@pytest.mark.parametrize(
    "command",
    [
        "cat $FILE", 'cat "$FILE"', 'cat "a`x`"', "cat *.py", "cat ~/a.py", "rm $(cat list)",
        "cat `ls`", "cat {a,b}.py",
        "for f in a.py; do rm $f; done", "if true; then rm a.py; fi", "(cd x; rm a.py)",
        "echo '> a.py' \"rm b.py; cat c.py\" # > d.py", "cd $D && cat a.py", "make || rm a.py",
        "cat 'a.py", "eval rm a.py", "cat <a.py", "git rm --cached a.py",
    ],
)  # fmt: skip
def test_a_command_that_is_not_plain_tells_nothing(command: str) -> None:
    assert shell(command) == []


def test_a_failed_call_touches_nothing_but_what_it_found_missing() -> None:
    asked = {"file_path": "a.py", "old_string": "x", "new_string": "y"}
    assert call("Edit", asked, failure="String to replace not found in file.") == []
    assert call("Read", {"file_path": "a.py"}, failure="File does not exist.") == [
        (f"{WORK}/a.py", "absent")
    ]
    assert call("bash", {"command": "make; cat a.py"}, "[exit: exit status 2]") == []
    missing = "cat: a.py: No such file or directory"
    assert call("bash", {"command": "cat a.py"}, failure=missing) == [(f"{WORK}/a.py", "absent")]
    assert shell("cat a.py; ls", missing) == [(f"{WORK}/a.py", "absent")]


def test_a_call_without_an_answer_touched_nothing(tmp_path: Path) -> None:
    asked = build.request("c1", "read", '{"path":"a.py"}')
    assert touched(native(tmp_path, asked)) == ()


@pytest.mark.parametrize(
    "shown",
    [
        "     1→one\n     2→two",
        "     1→one\n     2→two\n\n<system-reminder>\nCareful.\n</system-reminder>",
        "1\tone\n2\ttwo\n3\t",
        "     1\tone\n     2\ttwo\n",
        "00001| one\n00002| two\n\n(End of file - total 2 lines)",
        "<path>/a</path>\n<type>file</type>\n<content>\n1: one\n2: two\n\n"
        "(End of file - total 2 lines)\n</content>",
        "[/srv/app/a.py lines 1-3 of 3]\n1\tone\n2\ttwo\n3\t\n",
        "one\ntwo\n",
    ],
)
def test_a_display_gives_the_text_without_its_frame(shown: str, tmp_path: Path) -> None:
    _, known = only(native(tmp_path, *pair("c1", "read", {"path": "a.py"}, shown)))
    assert text_of(known) in ("one\ntwo", "one\ntwo\n")


@pytest.mark.parametrize(
    "shown",
    [
        "one\ntwo\n\n[7 more lines in file. Use offset=3 to continue.]",
        "1\tone\n2\ttwo\n(File has more lines. Use 'offset' to read on)",
        "[/srv/app/a.py lines 1-2 of 3]\n1\tone\n2\ttwo\n",
        "one\ntwo\n…417 tokens truncated…\nnine\n",
    ],
)
def test_a_display_that_was_cut_is_a_part(shown: str, tmp_path: Path) -> None:
    _, known = only(native(tmp_path, *pair("c1", "read", {"path": "a.py"}, shown)))
    assert known.whole is None
    assert known.parts == ("one\ntwo",)


def test_an_edit_is_repeated_on_a_known_content(tmp_path: Path) -> None:
    edit = {"path": "a.py", "old_string": "two", "new_string": "2"}
    session = native(
        tmp_path,
        *pair("c1", "read", {"path": "a.py"}, "one\ntwo\n"),
        *pair("c2", "edit", edit, seconds=9),
    )
    touch, known = only(session)
    assert text_of(known) == "one\n2\n"
    assert (touch.path, touch.n, touch.at, touch.wrote) == (f"{WORK}/a.py", 3, build.at(10), True)


def test_an_edit_that_cannot_be_repeated_leaves_what_it_brought(tmp_path: Path) -> None:
    edit = {"path": "a.py", "old_string": "gone", "new_string": "came"}
    session = native(
        tmp_path, *pair("c1", "read", {"path": "a.py"}, "one\n"), *pair("c2", "edit", edit)
    )
    assert only(session)[1] == Known(parts=("came",))


def test_an_edit_whose_place_is_not_the_only_one_is_not_repeated(tmp_path: Path) -> None:
    read = pair("c1", "read", {"path": "a.py"}, "x\ny\nx\n")
    edit = {"path": "a.py", "old_string": "x", "new_string": "new"}
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+new\n*** End Patch"
    for asked in (edit, {"input": patch}):
        session = native(tmp_path, *read, *pair("c2", "edit", asked))
        assert only(session)[1] == Known(parts=("new",))
    every = native(tmp_path, *read, *pair("c2", "edit", {**edit, "replace_all": True}))
    assert text_of(only(every)[1]) == "new\ny\nnew\n"


def test_lines_that_a_known_content_has_not_tell_of_another_file(tmp_path: Path) -> None:
    for shown, parts in (("2\ttwo", ()), ("2\tother", ("other",))):
        ranged = {"path": "a.py", "offset": 2, "limit": 1}
        session = native(
            tmp_path,
            *pair("c1", "read", {"path": "a.py"}, "one\ntwo\n"),
            *pair("c2", "read", ranged, shown),
        )
        known = only(session)[1]
        assert (known.whole is None, known.parts) == (bool(parts), parts)


def test_the_first_lines_are_not_the_whole_where_only_they_were_asked_for(tmp_path: Path) -> None:
    ranged = {"path": "a.py", "offset": 1, "limit": 2}
    session = native(tmp_path, *pair("c1", "read", ranged, "1\tone\n2\ttwo"))
    assert only(session)[1] == Known(parts=("one\ntwo",))


def test_fewer_lines_than_head_asked_for_are_all_unless_the_end_was_stripped(
    tmp_path: Path,
) -> None:
    for output, whole in (("one\ntwo\n", "one\ntwo\n"), ("one\ntwo", None)):
        session = native(tmp_path, *pair("c1", "shell", {"command": "head -5 a.py"}, output))
        assert text_of(only(session)[1]) == whole


def test_a_patch_is_repeated_hunk_by_hunk(tmp_path: Path) -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@ def f():\n one\n-two\n+2\n@@\n-four\n"
        "*** Add File: b.py\n+new\n*** Update File: c.py\n*** Move to: d.py\n@@\n-x\n+y\n"
        "*** End Patch"
    )
    session = native(
        tmp_path,
        *pair("c1", "read", {"path": "a.py"}, "one\ntwo\nthree\nfour\n"),
        *pair("c2", "write", {"path": "c.py", "content": "x\n"}),
        *pair("c3", "apply_patch", {"input": patch}),
    )
    known = {touch.path.rpartition("/")[2]: touch.known for touch in touched(session)}
    assert {name: text_of(k) for name, k in known.items()} == {
        "a.py": "one\n2\nthree\n", "b.py": "new\n", "c.py": None, "d.py": "y\n",
    }  # fmt: skip
    assert not known["c.py"].there


def test_a_folder_that_goes_takes_its_files(tmp_path: Path) -> None:
    session = native(
        tmp_path,
        *pair("c1", "write", {"path": "src/a.py", "content": "x"}),
        *pair("c2", "write", {"path": "srcs.py", "content": "x"}),
        *pair("c3", "shell", {"command": "rm -rf src"}, ""),
    )
    there = {touch.path: touch.known.there for touch in touched(session)}
    assert there == {f"{WORK}/src": False, f"{WORK}/src/a.py": False, f"{WORK}/srcs.py": True}


def test_files_before_a_reset_come_last_and_are_marked(tmp_path: Path) -> None:
    session = native(
        tmp_path,
        *pair("c1", "write", {"path": "old.py", "content": "x"}),
        *pair("c2", "write", {"path": "both.py", "content": "x\n"}),
        build.reset(),
        *pair("c3", "read", {"path": "both.py"}, "x\n", 9),
    )
    assert [(t.path.rpartition("/")[2], t.in_context) for t in touched(session)] == [
        ("both.py", True), ("old.py", False),
    ]  # fmt: skip


def test_only_what_stood_at_a_message_counts(tmp_path: Path) -> None:
    session = native(
        tmp_path,
        *pair("c1", "write", {"path": "a.py", "content": "x"}),
        *pair("c2", "write", {"path": "b.py", "content": "x"}),
    )
    assert [touch.path for touch in touched(session, 3)] == [f"{WORK}/a.py"]


def test_subagents_count_and_left_branches_do_not(tmp_path: Path) -> None:
    def side(path: str, seconds: float, **more: Any) -> list[bytes]:
        block = {"type": "tool_use", "id": f"t{seconds}", "name": "Write",
                 "input": {"file_path": path, "content": "x"}}  # fmt: skip
        return [
            build.claude_said(block, id=f"m{seconds}", seconds=seconds, **more),
            build.claude_result(f"t{seconds}", "ok", seconds=seconds + 1, **more),
        ]

    lines = [build.claude_user("go"), *side("/srv/app/a.py", 3, isSidechain=True, agentId="x")]
    session = load(build.log(tmp_path / build.CLAUDE_FILE, lines))
    assert [touch.path for touch in touched(session)] == ["/srv/app/a.py"]

    asked = {"path": "a.py", "content": "x"}
    block = {"type": "toolCall", "id": "c1", "name": "write", "arguments": asked}
    tree = [
        build.pi_head(), build.pi_user("go", "e0"),
        build.pi_said(block, id="e1", parent="e0", stop="toolUse"),
        build.pi_result("c1", id="e2", parent="e1"),
    ]  # fmt: skip
    assert len(touched(load(build.log(tmp_path / build.PI_FILE, tree)))) == 1
    back = [*tree, build.pi_user("again", "e3", "e0")]
    assert touched(load(build.log(tmp_path / build.PI_FILE, back))) == ()


def test_what_a_rolled_back_turn_did_is_not_known(tmp_path: Path) -> None:
    def run(id: str, command: str, output: str, seconds: float) -> list[bytes]:
        return [build.codex_call(id, command, seconds), build.codex_output(id, output, 0, seconds)]

    write = "cat > a.py <<'EOF'\nnew\nEOF"
    lines = [
        build.codex_meta(), build.codex_said("user", "Look"), *run("c1", "cat a.py", "old\n", 2),
        build.codex_said("user", "Write"), *run("c2", write, "", 4),
        build.codex_event("thread_rolled_back", 5, num_turns=1),
    ]  # fmt: skip
    _, known = only(load(build.log(tmp_path / build.CODEX_FILE, lines)))
    assert text_of(known) == "old\n"


def test_a_folder_that_went_in_a_rolled_back_turn_goes_again(tmp_path: Path) -> None:
    def run(id: str, command: str, seconds: float) -> list[bytes]:
        return [build.codex_call(id, command, seconds), build.codex_output(id, "", 0, seconds)]

    lines = [
        build.codex_meta(), build.codex_said("user", "Look"), *run("c1", "echo a > d/a.py", 2),
        build.codex_said("user", "Clean"), *run("c2", "rm -r d", 4),
        build.codex_event("thread_rolled_back", 5, num_turns=1),
    ]  # fmt: skip
    rest = [build.codex_said("user", "Clean now"), *run("c3", "rm -r d", 7)]
    for more, there in (([], True), (rest, False)):
        session = load(build.log(tmp_path / build.CODEX_FILE, [*lines, *more]))
        [file] = [touch for touch in touched(session) if touch.path.endswith("a.py")]
        assert (file.known.there, file.in_context) == (there, True)


def test_paths_are_made_absolute_and_the_kernels_are_none() -> None:
    assert absolute("//srv/app/./x/../a.py") == "/srv/app/a.py"
    for path in ("/dev/null", "/proc/../proc/self/mem", "/sys/x", "a.py", "/", "/x/", "/x\0y", ""):
        assert absolute(path) == ""
