"""Two runs compared: what is common, what differs, and that the order of naming changes nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from random import Random

import build
import pytest

from sessionlog import compare as module
from sessionlog.compare import Comparison, Part, Side, compare, side_of
from sessionlog.contrast import contrast
from sessionlog.facing import facing
from sessionlog.forks import fork
from sessionlog.reader import load
from sessionlog.records import Message
from sessionlog.sides import SideLog, summary

CASES = os.environ.get("SESSIONLOG_CASES", "")


def side(path: Path) -> Side:
    return side_of(load(path).records)


def made(path: Path, *lines: bytes) -> Side:
    return side(build.log(path, [build.meta(path.stem), *lines]))


def kinds(found: Comparison) -> list[tuple[str, list[int], list[int]]]:
    return [(part.kind, list(part.left), list(part.right)) for part in found.parts]


def mirrored(found: Comparison) -> Comparison:
    return Comparison(tuple(Part(part.kind, part.right, part.left) for part in found.parts))


def held_once(found: Comparison, left: Side, right: Side) -> None:
    assert [n for part in found.parts for n in part.left] == list(range(1, len(left) + 1))
    assert [n for part in found.parts for n in part.right] == list(range(1, len(right) + 1))


def of_keys(keys: Sequence[int], kinds: Sequence[int] = ()) -> Side:
    """A Side of messages that say these numbers."""
    made = Side()
    made.keys.extend(keys)
    made.kinds.extend(kinds or keys)
    made.pairs.extend([0] * len(keys))
    return made


# -- what counts as the same -----------------------------------------------------------------------


def test_a_run_is_the_same_as_itself(tmp_path: Path) -> None:
    one = side(build.log(tmp_path / "a.jsonl", build.scrambled(3)))
    found = compare(one, one)
    assert found.common == len(one)
    assert found.first_difference is None
    assert len(found.parts) == 1


def test_ids_and_times_are_no_difference(tmp_path: Path) -> None:
    one = made(tmp_path / "a.jsonl", build.request("c1"), build.response("c1", seconds=5))
    other = made(tmp_path / "b.jsonl", build.request("x9", seconds=900),
                 build.response("x9", seconds=950))  # fmt: skip
    assert compare(one, other).first_difference is None


@pytest.mark.parametrize("seed", range(12))
def test_a_fork_has_its_messages_in_common_with_its_parent(tmp_path: Path, seed: int) -> None:
    parent = build.log(tmp_path / "20261127-220000.jsonl", build.scrambled(seed))
    count = len(load(parent).history)
    at = Random(seed).randint(1, count)
    child = fork(parent, at, tmp_path / "child.jsonl", repair=False)
    left, right = side(parent), side(child)
    found = compare(left, right)
    assert found.common == at
    assert found.first_difference == (at + 1 if at < count else None)
    held_once(found, left, right)


def test_the_calls_that_a_fork_closed_are_its_own(tmp_path: Path) -> None:
    parent = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.message("user", "go"), build.request("c1"), build.response("c1"),
    ])  # fmt: skip
    child = fork(parent, 2, tmp_path / "child.jsonl")
    found = compare(side(parent), side(child))
    assert kinds(found) == [("common", [1, 2], [1, 2]), ("changed", [3], [3])]


def test_whitespace_is_a_difference(tmp_path: Path) -> None:
    one = made(tmp_path / "a.jsonl", build.message("bot", "done "))
    assert compare(one, made(tmp_path / "b.jsonl", build.message("bot", "done"))).common == 0


def test_the_same_result_of_another_call_is_not_common(tmp_path: Path) -> None:
    # else every "ok" of one run would be matched with every "ok" of the other
    one = made(tmp_path / "a.jsonl", build.request("c1", arguments='{"command":"ls"}'),
               build.response("c1", arguments='{"command":"ls"}'))  # fmt: skip
    other = made(tmp_path / "b.jsonl", build.request("c1", arguments='{"command":"pwd"}'),
                 build.response("c1", arguments='{"command":"pwd"}'))  # fmt: skip
    assert compare(one, other).common == 0


def test_runs_of_different_agents_compare(tmp_path: Path) -> None:
    native = made(
        tmp_path / "a.jsonl", build.message("user", "Fix it"), build.message("bot", "Done.")
    )
    codex = side(build.log(tmp_path / build.CODEX_FILE, build.codex_healthy()))
    found = compare(native, codex)
    assert found.common == 2
    held_once(found, native, codex)


# -- alignment -------------------------------------------------------------------------------------


def test_later_stretches_are_common_too() -> None:
    found = compare(of_keys([1, 2, 3, 4, 5, 6]), of_keys([1, 9, 3, 4, 5, 7, 6]))
    assert [(p.kind, len(p.left), len(p.right)) for p in found.parts if p.kind == "common"] == [
        ("common", 1, 1), ("common", 3, 3), ("common", 1, 1),
    ]  # fmt: skip
    assert found.first_difference == 2


def test_repeated_messages_align_in_the_longest_order() -> None:
    found = compare(of_keys([1, 2, 1, 2, 1, 2]), of_keys([2, 2, 1, 1, 2]))
    assert found.common == 4


def test_the_order_of_naming_changes_nothing() -> None:
    random = Random(7)
    for _ in range(300):
        size = random.choice((3, 8, 40))
        one, other = (
            of_keys([random.randrange(size) for _ in range(random.randrange(size))])
            for _ in range(2)
        )
        found = compare(one, other)
        held_once(found, one, other)
        assert compare(other, one) == mirrored(found)
        for part in found.parts:
            if part.kind == "common":
                assert [one.keys[n - 1] for n in part.left] == [
                    other.keys[n - 1] for n in part.right
                ]
            if part.kind == "changed":
                pairs = zip(part.left, part.right, strict=True)
                assert all(one.kinds[a - 1] == other.kinds[b - 1] for a, b in pairs)


def test_the_same_tool_with_other_arguments_is_changed(tmp_path: Path) -> None:
    left, right = (
        made(tmp_path / f"{name}.jsonl", build.message("user", "go"),
             build.request("c1", arguments=f'{{"command":"{command}"}}'),
             build.response("c1", arguments=f'{{"command":"{command}"}}', result=result),
             build.message("bot", "Done."))
        for name, command, result in (("a", "ls", "1"), ("b", "ls -a", "2"))
    )  # fmt: skip
    assert kinds(compare(left, right)) == [
        ("common", [1], [1]), ("changed", [2, 3], [2, 3]), ("common", [4], [4]),
    ]  # fmt: skip


def test_runs_that_went_their_own_ways_are_not_paired() -> None:
    one, other = of_keys(range(100), [1] * 100), of_keys(range(200, 500), [1] * 300)
    assert [part.kind for part in compare(one, other).parts] == ["apart"]


def test_hard_cases_end(monkeypatch: pytest.MonkeyPatch) -> None:
    # no work is left: what is not aligned by then counts as different, on both sides
    monkeypatch.setattr(module, "WORK", 100)
    random = Random(1)
    one, other = (of_keys([random.randrange(9) for _ in range(2000)]) for _ in range(2))
    found = compare(one, other)
    held_once(found, one, other)
    assert compare(other, one) == mirrored(found)


def test_many_edits_in_a_long_run_are_found() -> None:
    random = Random(2)
    keys = [random.getrandbits(40) for _ in range(30_000)]
    edited = list(keys)
    places = random.sample(range(30_000), 300)
    for place in places:
        edited[place] = random.getrandbits(40)
    assert compare(of_keys(keys), of_keys(edited)).common == 30_000 - 300


# -- rows that face each other ---------------------------------------------------------------------


def test_a_result_has_a_row_of_its_own_only_where_its_call_is_common(tmp_path: Path) -> None:
    same = build.request("c1"), build.message("user", "and then?")
    left = made(tmp_path / "a.jsonl", same[0], build.response("c1", result="1"), same[1])
    right = made(tmp_path / "b.jsonl", same[0], build.response("c1", result="2"), same[1])
    rows = [(s.part.kind, list(s.left), list(s.right)) for s in
            facing(compare(left, right), left, right)]  # fmt: skip
    assert rows == [("common", [1], [1]), ("changed", [2], [2]), ("common", [3], [3])]


def test_every_message_but_a_calls_result_has_one_row(tmp_path: Path) -> None:
    for seed in range(20):
        one = side(build.log(tmp_path / "a.jsonl", build.scrambled(seed)))
        other = side(build.log(tmp_path / "b.jsonl", build.scrambled(seed + 1)))
        sections = list(facing(compare(one, other), one, other))
        for which, log in enumerate((one, other)):
            shown = [n for section in sections for n in (section.left, section.right)[which]]
            assert shown == sorted(set(shown))
            assert set(shown) >= {n for n in range(1, len(log) + 1) if not log.call_of(n)}


# -- logs on disk ----------------------------------------------------------------------------------


def test_a_message_is_read_again_where_it_stands(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.scrambled(5))
    log = SideLog(str(path))
    assert log.read()
    for step in load(path).history:
        found = log.numbered(step.n)
        assert found is not None
        assert (found.record, found.pair) == (step.record, step.pair)
        if log.knows_context(step.n):
            assert found.in_context == step.in_context
    log.close()


def test_reading_can_be_stopped(tmp_path: Path) -> None:
    texts = [build.message("bot", "x" * 1000) for _ in range(2000)]
    path = build.log(tmp_path / "a.jsonl", [build.meta(), *texts])
    log = SideLog(str(path))
    assert not log.read(lambda done: False)
    assert 0 < len(log.side) < 2000
    log.close()


def test_a_log_that_was_cut_since_gives_no_message(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy())
    log = SideLog(str(path))
    log.read()
    path.write_bytes(b"")
    assert log.record(2) is None
    assert "another one" in log.words(2).body
    log.close()


def test_the_summary_names_the_first_difference(tmp_path: Path) -> None:
    start = [build.message("user", "go"), build.message("bot", "Looking.")]
    for name, more in (("a", build.request("c1")), ("b", build.message("user", "no\x1b[31m"))):
        build.log(tmp_path / f"{name}.jsonl", [build.meta(name), *start, more])
    logs = SideLog(str(tmp_path / "a.jsonl")), SideLog(str(tmp_path / "b.jsonl"))
    for log in logs:
        log.read()
    said = summary(compare(logs[0].side, logs[1].side), logs)
    assert said.startswith(
        "2 messages in common, 1 to 2; first difference at 3: shell, ls | user, no"
    )
    assert "\x1b" not in said
    for log in logs:
        log.close()


@pytest.mark.parametrize(("left", "right", "said"), [
    ("x c", "y z w c", "1 message in common, further on; first difference at 1:"),
    ("a x c d", "a y z w c d",
     "3 messages in common, 1 to 1 and 2 further on; first difference at 2:"),
    ("x", "y", "0 messages in common; first difference at 1:"),
    ("a b", "a b", "2 messages in common, no difference"),
])  # fmt: skip
def test_what_is_common_behind_the_first_difference_is_told_apart(
    tmp_path: Path, left: str, right: str, said: str
) -> None:
    logs = []
    for name, texts in (("l", left), ("r", right)):
        lines = [build.message("user", text) for text in texts.split()]
        logs.append(SideLog(str(build.log(tmp_path / f"{name}.jsonl", [build.meta(name), *lines]))))
        logs[-1].read()
    assert summary(compare(logs[0].side, logs[1].side), (logs[0], logs[1])).startswith(said)
    for log in logs:
        log.close()


def test_alike_messages_are_told_by_what_is_not_the_same() -> None:
    assert contrast(Message("bot", "a\nb\nc"), Message("bot", "a\nx\nc")) == ("b", "x")
    assert contrast(Message("bot", "a"), Message("bot", "a\nmore")) == ("", "more")


@pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES is unset")
def test_a_resumed_log_begins_with_the_killed_one() -> None:
    for agent in ("claude", "codex"):
        killed = next(Path(CASES, "made", agent, "2-kill").glob("*.jsonl"))
        resumed = next(Path(CASES, "made", agent, "4-resume-killed").glob("*.jsonl"))
        left, right = side(killed), side(resumed)
        found = compare(left, right)
        assert found.common == len(left)
        assert found.first_difference == len(left) + 1
        held_once(found, left, right)


@pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES is unset")
def test_any_two_logs_compare() -> None:
    from sessionlog.errors import NotALog

    sides = []
    for path in sorted(Path(CASES).rglob("*.jsonl")):
        try:
            sides.append(side(path))
        except NotALog:
            continue
    random = Random(3)
    for _ in range(200):
        one, other = random.choice(sides), random.choice(sides)
        found = compare(one, other)
        held_once(found, one, other)
        assert compare(other, one) == mirrored(found)
