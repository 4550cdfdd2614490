"""Lines that stand twice, in each other's place, or say nothing: a new log is none the worse."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import build
import pytest
import qwen_logs as qwen

from sessionlog.forks import apply_fork, plan_fork
from sessionlog.formats.base import Birth, Fate, Format, Part
from sessionlog.formats.table import formats
from sessionlog.marks import Marks
from sessionlog.plan import INTERRUPTED
from sessionlog.reader import load
from sessionlog.records import Record
from sessionlog.repairs import apply_repair, plan_repair, repair
from sessionlog.repeats import Repeats, units
from sessionlog.session import Session

NOW = datetime(2026, 11, 30, 6, 5, 4, tzinfo=UTC)


class Log(NamedTuple):
    """A run that was killed in two calls, after one that was answered."""

    file: str
    lines: list[bytes]
    asks: tuple[int, ...]
    """Its lines with calls."""


LOGS = {
    "pi": Log(
        build.PI_FILE,
        build.pi_chain(
            lambda id, up: build.pi_user("Fix it", id, up),
            lambda id, up: build.pi_said(build.pi_call("c1"), id=id, parent=up, stop="toolUse"),
            lambda id, up: build.pi_result("c1", "found", id, up),
            lambda id, up: build.pi_said("I see.", id=id, parent=up, seconds=4),
            lambda id, up: build.pi_user("Go on", id, up, 5),
            lambda id, up: build.pi_said(
                build.pi_call("c2"), build.pi_call("c3"), id=id, parent=up, stop="toolUse",
                seconds=6,
            ),
        ),
        (2, 6),
    ),
    "qwen": Log(
        qwen.FILE,
        [
            qwen.user("Fix it", "u1"), qwen.said(qwen.call("c1"), id="a1", parent="u1"),
            qwen.telemetry("tool_call", "t1", "a1"), qwen.result("c1", "found", "r1", "t1"),
            qwen.said("I see.", id="a2", parent="r1", seconds=4),
            qwen.user("Go on", "u2", "a2", 5),
            qwen.said(qwen.call("c2"), qwen.call("c3"), id="a3", parent="u2", seconds=6),
        ],
        (1, 6),
    ),
    "claude": Log(
        build.CLAUDE_FILE,
        [
            build.claude_user("Fix it", 1),
            build.claude_call("c1", seconds=2, parentUuid="u1"),
            build.claude_result("c1", "found", seconds=3, parentUuid="u2"),
            build.claude_said("I see.", id="msg_2", seconds=4, parentUuid="u3"),
            build.claude_user("Go on", 5, parentUuid="u4"),
            build.claude_call("c2", id="msg_3", seconds=6, parentUuid="u5"),
            build.claude_call("c3", id="msg_3", seconds=7, parentUuid="u6"),
        ],
        (1, 5, 6),
    ),
    "codex": Log(
        build.CODEX_FILE,
        [
            build.codex_meta(), build.codex_said("user", "Fix it"), build.codex_call("c1"),
            build.codex_output("c1"), build.codex_call("c2", seconds=5),
            build.codex_call("c3", seconds=6),
        ],
        (2, 4, 5),
    ),
    "native": Log(
        "20261127-220000.jsonl",
        [
            build.meta(), build.message("user", "Fix it"), build.request("c1"),
            build.response("c1"), build.request("c2", seconds=5), build.request("c3", seconds=6),
        ],
        (2, 4, 5),
    ),
    "chat": Log(
        "run.jsonl",
        [
            build.chat("user", "Fix it"),
            build.chat("assistant", tool_calls=[build.chat_call("c1")]),
            build.chat("tool", "found", tool_call_id="c1"),
            build.chat("assistant", tool_calls=[build.chat_call("c2"), build.chat_call("c3")],
                       seconds=5),
        ],
        (1, 3),
    ),
}  # fmt: skip
TREES = ("pi", "qwen")
KEYED = ("pi", "qwen", "claude")


def told(session: Session) -> list[tuple[str, str, str]]:
    """What the agent knows: type, call and words of each message."""
    return [
        (m.type, f"{m.activity.kind} {m.activity.id}" if m.activity else "",
         str(m.activity.failure or m.activity.result or "") if m.activity else m.text)
        for m in session.context
    ]  # fmt: skip


def repaired(folder: Path, file: str, lines: Sequence[bytes]) -> Session:
    """The repair by both ways: of a session at hand, and straight from the file."""
    path = build.log(folder / file, lines)
    plan = plan_repair(load(path), now=NOW)
    one = apply_repair(plan, folder / "one" / Path(plan.path).name)
    two = repair(path, folder / "two" / one.name, now=NOW)
    assert one.read_bytes() == two.read_bytes()
    new = load(one)
    assert (len(new.history), new.open_calls, new.orphan_results) == (plan.messages, (), ())
    assert not plan_repair(new).needed
    return new


def folders(folder: Path, name: str) -> Path:
    made = folder / name
    for below in ("one", "two"):
        (made / below).mkdir(parents=True)
    return made


def doubled(lines: list[bytes], i: int, at: int) -> list[bytes]:
    return [*lines[:at], lines[i], *lines[at:]]


@pytest.mark.parametrize("name", KEYED)
def test_a_record_that_stands_twice_is_one(name: str, tmp_path: Path) -> None:
    log = LOGS[name]
    whole = repaired(folders(tmp_path, "whole"), log.file, log.lines)
    first = 1 if name == "pi" else 0  # what a second head is, is another matter
    for i in range(first, len(log.lines)):
        for at in {i + 1, len(log.lines)}:
            lines = doubled(log.lines, i, at)
            new = repaired(folders(tmp_path, f"{i}-{at}"), log.file, lines)
            assert told(new) == told(whole), (i, at)


@pytest.mark.parametrize("name", LOGS)
def test_a_call_whose_line_stands_twice_is_asked_and_answered_once(
    name: str, tmp_path: Path
) -> None:
    log = LOGS[name]
    whole = repaired(folders(tmp_path, "whole"), log.file, log.lines)
    for i in log.asks:
        lines = doubled(log.lines, i, i + 1)
        session = load(build.log(tmp_path / log.file, lines))
        assert told(session) == told(load(build.log(tmp_path / f"x{log.file}", log.lines)))
        plan = plan_repair(session)
        assert [call.call_id for call in plan.closed] == ["c2", "c3"]
        assert [call.call_id for call in session.open_calls] == ["c2", "c3"]
        assert [damage.span.line for damage in plan.dropped] == [i + 2]
        assert plan.refused is None
        assert told(repaired(folders(tmp_path, str(i)), log.file, lines)) == told(whole)


@pytest.mark.parametrize("name", LOGS)
def test_a_fork_takes_a_line_that_stands_twice_once(name: str, tmp_path: Path) -> None:
    log = LOGS[name]
    source = load(build.log(tmp_path / log.file, doubled(log.lines, log.asks[0], log.asks[0] + 1)))
    plan = plan_fork(source, len(source.history))
    new = load(apply_fork(plan, tmp_path / f"new-{log.file}"))
    assert len(new.history) == plan.messages
    calls = [m.activity.id for m in new.messages if m.activity and m.activity.kind == "request"]
    assert calls == ["c1", "c2", "c3"]


def test_one_id_in_other_words_is_another_record(tmp_path: Path) -> None:
    lines = LOGS["pi"].lines
    other = build.pi_user("Fix something else", "e0", None, 1)
    session = load(build.log(tmp_path / build.PI_FILE, [*lines[:2], other, *lines[2:]]))
    assert not plan_repair(session).dropped
    assert [step.again for step in session.history[:2]] == [False, False]


def test_calls_without_times_may_be_made_again_in_the_same_words(tmp_path: Path) -> None:
    asks = build.line({"role": "assistant", "tool_calls": [build.chat_call("call_0")]})
    answer = build.line({"role": "tool", "tool_call_id": "call_0", "content": "x"})
    lines = [build.line({"role": "user", "content": "Go"}), asks, answer, asks, answer]
    session = load(build.log(tmp_path / "run.jsonl", lines))
    assert not plan_repair(session).needed
    assert len(session.context) == 5


def test_old_records_are_forgotten_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessionlog.repeats._MOST", 4)
    session = load_records(build.pi_chain(
        *(lambda id, up, n=n: build.pi_user(f"{n}", id, up) for n in range(9))))  # fmt: skip
    repeats = Repeats(lambda offset, span: True)
    found = list(units(session))
    assert not any(map(repeats.is_again, found))
    assert repeats.is_again(found[-1])
    assert not repeats.is_again(found[1])


def load_records(lines: Sequence[bytes]) -> list[Record]:
    from sessionlog.formats.pi import Pi
    from sessionlog.framing import split
    from sessionlog.source import decode

    return list(chain.from_iterable(decode(Pi(), line)[0] for line in split(b"".join(lines))))


@pytest.mark.parametrize("name", TREES)
def test_neighbours_in_each_others_place_cost_nothing(name: str, tmp_path: Path) -> None:
    log = LOGS[name]
    whole = repaired(folders(tmp_path, "whole"), log.file, log.lines)
    for i in range(1, len(log.lines) - 1):
        lines = log.lines.copy()
        lines[i], lines[i + 1] = lines[i + 1], lines[i]
        new = repaired(folders(tmp_path, str(i)), log.file, lines)
        assert told(new) == told(whole), i
        source = load(tmp_path / str(i) / log.file)
        assert [call.call_id for call in source.open_calls] == ["c2", "c3"]
        assert sorted(told(source)) == sorted(t for t in told(whole) if t[2] != INTERRUPTED)


@pytest.mark.parametrize("name", TREES)
def test_a_result_whose_call_never_comes_is_left_out(name: str, tmp_path: Path) -> None:
    log = LOGS[name]
    lines = [*log.lines[: log.asks[0]], *log.lines[log.asks[0] + 1 :]]
    session = load(build.log(tmp_path / log.file, lines))
    assert [orphan.call_id for orphan in session.orphan_results] == ["c1"]
    assert [orphan.call_id for orphan in plan_repair(session).orphans] == ["c1"]
    new = repaired(folders(tmp_path, "new"), log.file, lines)
    assert ("c1" in str(told(new)), INTERRUPTED in str(told(new))) == (False, True)


def test_an_early_line_once_more_is_no_step_back_on_the_screen(tmp_path: Path) -> None:
    log = LOGS["pi"]
    for lines, turns in ((doubled(log.lines, 2, 7), 0), ([*log.lines, log.lines[2][:-1].replace(
            b'"e1"', b'"x1"') + b"\n"], 1)):  # fmt: skip
        path = build.log(tmp_path / log.file, lines)
        assert len(marked(path).left) == turns


def marked(path: Path) -> Marks:
    from sessionlog.formats.pi import Pi
    from sessionlog.window import Strip

    with path.open("rb") as file:
        strip = Strip(file.fileno())
        marks = Marks(Pi())
        marks.scan(strip)
        return marks


NOTHING = (b"\n", b"   \n", b"\r\n", b"\t\n\n")


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("nothing", NOTHING)
def test_lines_that_say_nothing_stay_behind(name: str, nothing: bytes, tmp_path: Path) -> None:
    log = LOGS[name]
    whole = repaired(folders(tmp_path, "whole"), log.file, log.lines)
    for i in range(1, len(log.lines) + 1):
        lines = [*log.lines[:i], nothing, *log.lines[i:]]
        new = repaired(folders(tmp_path, str(i)), log.file, lines)
        assert told(new) == told(whole)
        assert all(line.strip() for line in Path(new.path).read_bytes().splitlines())


@pytest.mark.parametrize("name", LOGS)
def test_a_byte_order_mark_stays_behind(name: str, tmp_path: Path) -> None:
    log = LOGS[name]
    marked = [b"\xef\xbb\xbf" + line for line in log.lines]
    new = repaired(folders(tmp_path, "new"), log.file, marked)
    assert told(new) == told(repaired(folders(tmp_path, "whole"), log.file, log.lines))
    assert b"\xef\xbb\xbf" not in Path(new.path).read_bytes()


JUNK = (b"", b"  ", b"\r", b"\0\0\0", b"null", b"[]", b"[{}]", b"1", b'"x"', b"{}", b"{", b"NaN",
        b'{"broken', b"\xff\xfe", b'{"type":"session"', b'"compaction"', b'["sessionId"]',
        b'{"a":"\\ud800"}', b'{"info":{}}', b'{"message":7,"parentUuid":[],"uuid":{}}')  # fmt: skip


@pytest.mark.parametrize("form", [f for f in formats() if f.actor], ids=lambda form: form.name)
def test_no_line_makes_an_actor_raise(form: Format) -> None:
    assert form.actor is not None
    lines = LOGS[form.name].lines if form.name in LOGS else []
    birth = Birth("49546487-039f-4144-a2b9-4167b4b43ece", "parent", None,
                  "2026-11-30T06:05:04Z", "Go on.", "/srv/app")  # fmt: skip
    for fate in (Fate.KEPT, Fate.DROPPED):
        parts = [Part(line[:-1]) for line in lines]
        for i in range(len(parts) + 1):
            junk = [Part(data, fate) for data in JUNK]
            made = b"\n".join(form.actor.renew([*parts[:i], *junk, *parts[i:]], birth))
            assert b"Go on." in made


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("name", KEYED)
def test_bytes_that_are_no_text_cost_no_message(name: str, ending: bytes, tmp_path: Path) -> None:
    log = LOGS[name]
    lines = [line[:-1].replace(b"Fix it", b"Fix \xff") + ending for line in log.lines]
    assert "Fix \ufffd" in str(told(repaired(folders(tmp_path, "new"), log.file, lines)))
