"""A row at length: what is said of it, how it is folded, and that nothing of a log acts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import build
import pytest

from sessionlog.codec import parse
from sessionlog.errorline import looks_like_error, telling_line
from sessionlog.formats.native import Native
from sessionlog.framing import split
from sessionlog.records import Damage, Kind, Message, Other, Record, Reset, Span
from sessionlog.text import width
from tui import detail
from tui.highlight import json_lines
from tui.lines import Line, fitted
from tui.markdown import markdown
from tui.rows import Row

HOSTILE = "\x1b]0;owned\x07 \x1b[6n \x9b31m \u202egpj.exe \u2066x [/oops] [@click=app.quit]x \ud800"
ACTS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Lines:
    """A log in memory, as the pane sees one."""

    def __init__(self, *lines: bytes) -> None:
        self.data = b"".join(lines)
        parsed = [parse(line) for line in split(self.data)]
        self.records = [
            r for p in parsed for value, span in p.objects for r in Native().decode(value, span)
        ]

    def raw(self, span: Span) -> bytes:
        return self.data[span.offset : span.end]

    def row(self, sort: str, **more: Any) -> Row:
        return Row((0, 0), sort, records=tuple(self.records), **more)


def body(log: Lines, row: Row, columns: int = 80, **look: Any) -> list[str]:
    made = detail.body(row, log.raw, detail.Look(columns, **look))
    return [shown(line) for line in made]


def shown(line: Line) -> str:
    return "".join(text for text, _ in [*line.left, *line.right]).rstrip()


def call(
    arguments: Any, result: Any = "ok", failure: str | None = None, name: str = "shell"
) -> Lines:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Lines(build.request("c1", name, text), build.response("c1", name, text, result, failure))


def test_a_call_shows_its_telling_argument_first_then_the_others_then_the_result() -> None:
    log = call({"timeout": 60, "cwd": "/srv", "command": "go test ./..."}, "ok")
    assert body(log, log.row("call", label="shell")) == [
        " command  go test ./...", " timeout  60", " cwd      /srv", " result   ok",
    ]  # fmt: skip


def test_a_long_output_keeps_head_tail_and_errors_and_says_what_it_folds() -> None:
    lines = [f"step {i}" for i in range(200)]
    lines[100] = "--- FAIL: TestReplay (2.31s)"
    log = call({"command": "make"}, "\n".join(lines))
    row = log.row("call", outcome_bad=True)
    made = body(log, row)
    assert "   step 0" in made
    assert "   step 199" in made
    assert "   --- FAIL: TestReplay (2.31s)" in made
    folds = [re.search(r"\+ (\d+) lines? space", line) for line in made]
    left_out = sum(int(fold[1]) for fold in folds if fold)
    assert left_out + sum(line.startswith("   ") for line in made) == 200
    assert sum(line.startswith("   ") for line in body(log, row, expanded=True)) == 200


def test_the_errors_of_a_failed_call_are_tinted_and_those_of_a_good_one_are_not() -> None:
    log = call({"command": "make"}, "fine\nError: boom\nmore")
    for bad in (True, False):
        made = list(detail.body(log.row("call", outcome_bad=bad), log.raw, detail.Look(80)))
        assert [line.tint for line in made if "boom" in shown(line)] == ["tint-fail" if bad else ""]


def test_an_edit_is_a_diff_with_its_counts_in_the_head() -> None:
    log = call({"path": "a.go", "old_string": "x\ny", "new_string": "x\nz\nw"}, name="edit")
    row = log.row("call", label="edit", sign="ok")
    head = shown(detail.head(row, log.raw, detail.Look(80)))
    assert head.startswith(" ✓ edit  a.go")
    assert "+2 −1" in head
    tints = [line.tint for line in detail.body(row, log.raw, detail.Look(80))]
    assert tints[:4] == ["", "tint-del", "tint-add", "tint-add"]


def test_a_call_without_a_result_says_so() -> None:
    log = Lines(build.request("c1"))
    assert body(log, log.row("call", sign="open"))[-1] == " result   none in the log"
    assert "running" in body(log, log.row("call", sign="run"))[-1]


def test_an_object_as_result_is_fields_and_blocks() -> None:
    log = call({"command": "ls"}, {"exit_code": 2, "stdout": "a\nb\n", "meta": {"k": [1, 2]}})
    made = body(log, log.row("call"))
    assert " exit_code  2" in made
    assert "   a" in made
    assert any('"k": [1, 2]' in line for line in made)


def test_arguments_that_are_no_json_are_shown_as_they_are() -> None:
    log = call('{"command": "cut of')
    assert any('{"command": "cut of' in line for line in body(log, log.row("call")))


def test_images_are_named_and_never_drawn() -> None:
    image = {"media_type": "image/png", "digest": "sha256:ab12", "size": 70, "source": "blob"}
    log = Lines(build.message("attachment", "here", images=[image]))
    assert body(log, log.row("user"))[-1] == " image    image/png 70 bytes sha256:ab12 blob"


def test_damage_says_why_and_where_and_shows_its_bytes() -> None:
    log = Lines(b'{"kind":"mess', b"\x00\x1b")
    damage = Damage(Span(7, 0, 15), "torn last line", 100, torn=True)
    made = body(log, Row((0, 0), "damage", damage=damage))
    assert made[:2] == [" why      torn last line", " where    line 7, byte 0"]
    assert any("7b 22 6b" in line and '{"kind":"mess··' in line for line in made)
    assert any('"kind"' in line for line in made)


def test_a_reset_says_what_fell_out() -> None:
    record = Record(Kind.RESET, "", Reset("auto compaction", context=(Message("user", "Go on"),)),
                    Span(1, 0, 1))  # fmt: skip
    log = Lines()
    made = body(log, Row((0, 0), "reset", records=(record,)))
    assert " why           auto compaction" in made
    assert "everything before it" in made[1]
    assert made[-1] == " Go on"


def test_a_result_shows_the_error_in_its_own_words() -> None:
    log = Lines(build.result("error", 1, error="Overloaded (529)", failure={"status": 529}))
    made = body(log, log.row("end"))
    assert made[0] == " error       Overloaded (529)"
    assert any("status" in line and "529" in line for line in made)


def test_an_unknown_record_is_shown_as_json() -> None:
    record = Record(Kind.OTHER, "", Other("odd", [{"deep": {"a": 1}}]), Span(1, 0, 1))
    assert any('"a": 1' in line for line in body(Lines(), Row((0, 0), "other", records=(record,))))


def test_the_last_line_says_where_the_bytes_stand() -> None:
    record = Record(Kind.MESSAGE, "", Message("user", "x"), Span(0, 1288019, 1904))
    row = Row((0, 0), "user", records=(record,), line=231)
    assert shown(detail.foot(row, 80)).startswith(
        " line 231 · byte 1,288,019 · 1,904 bytes · in context"
    )
    unknown = Row((0, 0), "user", records=(record,), in_context=False)
    assert shown(detail.foot(unknown, 80)).startswith(
        " byte 1,288,019 · 1,904 bytes · not in context"
    )


def test_the_raw_view_keeps_every_token_as_it_is_written() -> None:
    text = b'{"kind":"message","big":100000000000000000000000,"f":1.50e3,"a":{},"s":"\\u00e9\\n"}'
    log = Lines(text)
    made = body(log, log.row("other"), raw=True)
    assert made[1:6] == [
        '   "kind": "message",', '   "big": 100000000000000000000000,', '   "f": 1.50e3,',
        '   "a": {},', '   "s": "\\u00e9\\n"',
    ]  # fmt: skip
    assert body(log, log.row("other"), columns=200, raw=True, expanded=True) == [
        " " + text.decode()
    ]


def test_of_a_line_of_megabytes_only_what_is_looked_at_is_laid_out() -> None:
    text = "word " * 400_000
    log = Lines(build.message("user", text))
    read: list[int] = []

    def raw(span: Span) -> bytes:
        read.append(span.length)
        return log.raw(span)

    row = log.row("user")
    made = detail.body(row, raw, detail.Look(80, raw=True))
    assert isinstance(made, Iterator)
    assert len(list(islice(made, 10))) >= 8
    assert read == [detail.RAW]
    last = list(detail.body(row, raw, detail.Look(80, raw=True)))
    assert any("1.0 MB of 2.0 MB" in shown(line) for line in last)


def rows_of_all_sorts() -> list[tuple[Lines, Row]]:
    long = HOSTILE * 40
    made = [
        call({"command": HOSTILE, HOSTILE: HOSTILE, "deep": {HOSTILE: [HOSTILE]}}, long),
        call({"path": HOSTILE, "old_string": HOSTILE, "new_string": f"a\n{HOSTILE}\t\r日本"}),
        call(HOSTILE, {HOSTILE: HOSTILE, "text": f"x\n{HOSTILE}"}),
        call({"command": "x"}, failure=f"{HOSTILE}\nError: {HOSTILE}"),
        call({"patch": f"*** Begin Patch\n*** Update File: {HOSTILE}\n@@ {HOSTILE}\n+{HOSTILE}"}),
    ]
    rows = [(log, log.row("call", label="t", outcome_bad=True)) for log in made]
    for type in ("user", "bot", "reasoning", "instructions", "checkpoint", HOSTILE):
        text = f"# {long}\n- {HOSTILE}\n```\n{HOSTILE}\n```\n| {HOSTILE} |"
        log = Lines(build.message(type, text))
        rows.append((log, log.row("agent")))
    events = [build.event(HOSTILE, text=long, tool=HOSTILE), build.meta(task=long)]
    for line in (*events, build.result(HOSTILE, 1, error=HOSTILE), build.line({HOSTILE: HOSTILE})):
        log = Lines(line)
        rows.append((log, log.row("event")))
    log = Lines(HOSTILE.encode("utf-8", "surrogatepass") + b"\xff\x00{")
    damage = Damage(Span(1, 0, len(log.data)), HOSTILE)
    rows.append((log, Row((0, 0), "damage", damage=damage)))
    return rows


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("expanded", [False, True])
@pytest.mark.parametrize("columns", [20, 40, 66, 80, 200])
def test_hostile_text_never_reaches_a_line_and_no_line_is_too_wide(
    raw: bool, expanded: bool, columns: int
) -> None:
    for log, row in rows_of_all_sorts():
        look = detail.Look(columns, raw, expanded)
        lines = [
            detail.head(row, log.raw, look),
            detail.title(row, ("1 shown", "2 raw"), 0, focused=True),
        ]
        lines += [detail.foot(row, 80), *detail.body(row, log.raw, look)]
        for line in lines:
            assert not ACTS.search(shown(line)), (row.sort, shown(line))
            assert sum(width(text) for text, _ in fitted(line, columns)) == columns


@pytest.mark.parametrize(
    "line",
    [
        "--- FAIL: TestX (2.31s)", "FAILED tests/a.py::t - x", "Error: boom", "ValueError: x",
        "error[E0308]: mismatched types", "a.c:3:5: error: expected ';'", "fatal: not a git",
        "src/a.ts(3,5): error TS2322: Type", "bash: protoc: command not found", "panic: nil",
        "E   assert 1 == 2", "npm ERR! code 1", "exit status 2",
        "Traceback (most recent call last):",
        "    replay_test.go:88: got 2 charges, want 1", "ENOSPC: no space left on device, write",
    ],
)  # fmt: skip
def test_a_line_that_tells_of_an_error_is_found(line: str) -> None:
    assert looks_like_error(line)


@pytest.mark.parametrize(
    "line",
    [
        "0 errors", "found 0 errors, 2 warnings", "error handling is done here", "Errors: 0",
        "We handle the error: gracefully", "exit status 0", "# fail 0", "1 passed, 0 failed",
        "--- PASS: TestReplayOrder", "replay_test.go:71: starting 8 workers", "errors.go",
        "test failed_login ... ok", 'return fmt.Errorf("claim %s")', "no problems found",
    ],
)  # fmt: skip
def test_prose_and_counts_of_none_are_no_errors(line: str) -> None:
    assert not looks_like_error(line)


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("Exit code 1\nfoo\nTraceback (most recent call last):\n  File x\n    y\nKeyError: 'a'\nz",
         "KeyError: 'a'"),
        ("Process exited with code 2\nOutput:\nhello", "hello"),
        ("Exit code 1", "Exit code 1"),
        ("", ""),
        ("# pkg\npool.go:41:17: x is odd\nmore", "pool.go:41:17: x is odd"),
        ("ok 1\n  --- FAIL: A\n--- FAIL: B", "--- FAIL: A"),
        ("<tool_use_error>File does not exist.</tool_use_error>", "File does not exist."),
        ("\x1b[31mError: red\x1b[0m", "Error: red"),
        ("\x1b]0;x\x07", "␛]0;x␇"),
    ],
)  # fmt: skip
def test_the_telling_line_of_a_failure(text: str, telling: str) -> None:
    assert telling_line(text) == telling


def test_markdown_shows_what_is_meant_and_keeps_what_is_not_certain() -> None:
    def text(source: str) -> list[str]:
        return ["".join(t for t, _ in line) for line in markdown(source, 40)]

    assert text("# Head\n\nsome **bold** `code`") == ["Head", "", "some bold code"]
    assert text("[here](https://a.b)") == ["here https://a.b"]
    assert text("snake_case_name 2 * 3 * 4 [x] <b>") == ["snake_case_name 2 * 3 * 4 [x] <b>"]
    assert text("- one\n  - two\n3. three") == ["· one", "  · two", "3. three"]
    assert text("```go\n**x**\n```\n**x**") == ["go", "  **x**", "x"]
    assert text("- " + "word " * 12)[1].startswith("  word")
    assert text("| a  | **b** |") == ["| a  | **b** |"]


def test_torn_json_is_shown_as_far_as_it_goes() -> None:
    lines = ["".join(t for t, _ in line) for line in json_lines('{"a":[1,2],"b":{"c":"xy')]
    assert lines == ["{", '  "a": [1, 2],', '  "b": {', '    "c": "xy']


def test_fields_of_one_row_stand_in_one_column() -> None:
    arguments = {"cmd": "ls", "yield_time_ms": 30000, "run_in_background": False}
    log = call(arguments, name="exec_command")
    made = body(log, log.row("call"), 80)[:3]
    assert [line.split() for line in made] == [
        ["cmd", "ls"], ["yield_time_ms", "30000"], ["run_in_background", "false"]]  # fmt: skip
    assert len({line.index(line.split()[1], 5) for line in made}) == 1


def test_a_long_line_goes_on_behind_a_blank_where_one_is_near() -> None:
    log = call({"command": "echo " + "several words in a row " * 6})
    first, second, *_ = body(log, log.row("call"), 60)
    assert first.split()[-1] in ("several", "words", "in", "a", "row")
    assert second.split()[0] == "┊"


def test_a_calls_head_has_the_logs_own_name_of_its_tool_too() -> None:
    log = call({"command": "ls"}, name="run_shell_command")
    row = log.row("call", label="shell")
    assert shown(detail.head(row, log.raw, detail.Look(80))).startswith(" shell run_shell_command")
