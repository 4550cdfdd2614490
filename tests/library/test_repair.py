"""Repairing: every call answered in its turn, in a new log, and the old one untouched."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import build
import pytest

from sessionlog.errors import DamagedLog, LogInUse, NotPossible, SessionExists
from sessionlog.reader import load
from sessionlog.records import Message
from sessionlog.repairs import apply_repair, plan_repair, repair
from sessionlog.session import Session

NOW = datetime(2026, 11, 29, 8, 0, 0, tzinfo=UTC)
ID = "20261127-220000"


def made(folder: Path, *lines: bytes, tail: bytes = b"") -> Path:
    return build.log(folder / f"{ID}.jsonl", lines, tail)


def mended(path: Path, force: bool = False) -> Session:
    return load(repair(path, now=NOW, force=force))


def shape(session: Session) -> list[str]:
    """The history in short: `c1?` asks, `c1=` answers, `c1!` answers with an error."""
    return [_short(step.message) for step in session.history]


def _short(message: Message) -> str:
    activity = message.activity
    if activity is None:
        return message.type
    if activity.kind == "request":
        return activity.id + "?"
    return activity.id + ("!" if activity.failure else "=")


USER, BOT = build.message("user", "go"), build.message("bot", "so", 4)


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ([USER, build.request("c1")], "user c1? c1!"),
        ([USER, build.request("c1"), USER, BOT], "user c1? c1! user bot"),
        ([USER, build.request("c1"), BOT], "user c1? c1! bot"),
        ([build.request("c1"), build.request("c2")], "c1? c2? c1! c2!"),
        (
            [build.request("c1"), build.request("c2"), build.response("c2"), USER],
            "c1? c2? c2= c1! user",
        ),
        (
            [
                build.request("c1"),
                build.request("c2"),
                build.response("c1"),
                build.message("attachment"),
            ],
            "c1? c2? c1= c2! attachment",
        ),
        # a new request behind a result is a new turn
        (
            [build.request("c1"), build.request("c2"), build.response("c2"), build.request("c3")],
            "c1? c2? c2= c1! c3? c3!",
        ),
        # so is one behind a new iteration
        (
            [
                build.request("c1"),
                build.event("iteration"),
                build.request("c2"),
                build.response("c2"),
            ],
            "c1? c1! c2? c2=",
        ),
        # and what was answered late goes before it, once another call is closed there
        (
            [
                build.request("c1"),
                build.request("c2"),
                build.event("iteration"),
                build.request("c3"),
                build.response("c1"),
            ],
            "c1? c2? c1= c2! c3? c3!",
        ),
        # a result right behind a new iteration stays, and the closing line goes behind it
        (
            [
                build.request("c1"),
                build.request("c2"),
                build.event("iteration"),
                build.response("c1"),
            ],
            "c1? c2? c1= c2!",
        ),
        ([build.request("c1"), build.reset(), USER], "c1? c1! user"),
        ([build.reset(), build.request("c1"), USER], "c1? c1! user"),
        # the conversation is said again after a reset: each half is of its own time
        (
            [build.request("c1"), build.reset(), build.request("c1"), build.response("c1")],
            "c1? c1! c1? c1=",
        ),
        ([build.request("c1"), USER, build.response("c1"), BOT], "c1? c1= user bot"),
        (
            [
                build.request("c1"),
                build.request("c2"),
                USER,
                build.response("c2"),
                build.response("c1"),
            ],
            "c1? c2? c1= c2= user",
        ),
        ([build.request("c1"), build.reset(), build.response("c1")], "c1? c1="),
        ([USER, build.response("c9"), BOT], "user bot"),
        ([build.response("c1"), build.request("c1")], "c1? c1!"),
        ([build.request(""), USER], "? ! user"),
        # the same id twice: the later one was answered
        (
            [build.request("c1"), build.request("c1", seconds=4), build.response("c1")],
            "c1? c1? c1= c1!",
        ),
        # the same line twice: there was one call
        ([build.request("c1"), build.request("c1"), USER], "c1? c1! user"),
        ([build.request("c1"), build.response("c1"), build.request("c1"), USER], "c1? c1= user"),
    ],
)
def test_every_call_is_answered_right_behind_its_turn(
    tmp_path: Path, lines: list[bytes], wanted: str
) -> None:
    path = made(tmp_path, build.meta(), *lines)
    session = mended(path)
    assert shape(session) == wanted.split()
    assert not session.open_calls
    assert not session.orphan_results


def test_a_closing_line_is_what_the_engine_writes_for_a_failed_call(tmp_path: Path) -> None:
    arguments = '{"n": 1180591620717411303424, "x": "\\ud83d<é>"}'
    asked = build.request("c1", arguments=arguments, seconds=7)
    path = made(tmp_path, build.meta(), asked)
    new = repair(path, now=NOW)
    closing = new.read_bytes().splitlines()[-1]
    raw = asked[asked.index(b'"id"') : asked.rindex(b"}}}")]
    assert closing == (
        b'{"kind":"message","at":"2026-11-27T22:00:07Z","message":{"type":"activity",'
        b'"text":"{\\"error\\":\\"Interrupted by the user.\\"}","activity":{"kind":"response",'
        + raw
        + b',"failure":"Interrupted by the user."}}}'
    )
    step = load(new).history[-1]
    assert step.message.activity is not None
    assert step.message.activity.arguments == arguments


def test_times_keep_their_order(tmp_path: Path) -> None:
    path = made(
        tmp_path, build.meta(), build.request("c1", seconds=1), build.request("c2", seconds=2),
        build.response("c2", seconds=30), build.message("user", "on", 60),
    )  # fmt: skip
    times = [record.at for record in mended(path).records]
    assert times == sorted(times)


def test_the_meta_names_the_log_and_its_parent_and_no_more_changes(tmp_path: Path) -> None:
    odd = (
        b'  {"at" : "2026-11-27T22:00:00Z", "meta":{"x":NaN,"id":"first",'
        b'"big":1180591620717411303424,'
        b'"id" : "'
        + ID.encode()
        + b'", "x":"\\u003c", "nested":{"id":"stays"}} ,"kind":"meta" }\r\n'
    )
    path = made(tmp_path, odd, build.request("c1"))
    first = repair(path, now=NOW).read_bytes().split(b"\n")[0]
    assert first == odd.rstrip(b"\n").replace(ID.encode(), b"20261129-080000").replace(
        b'{"id":"stays"}', b'{"id":"stays"},"resumedFrom":"' + ID.encode() + b'"'
    )


def test_of_two_metas_the_first_is_the_sessions(tmp_path: Path) -> None:
    second = build.meta("other", "Another task")
    path = made(tmp_path, build.meta(), build.request("c1"), second)
    session = mended(path)
    assert (session.meta.resumed_from, session.meta.task) == (ID, "Fix it")
    assert second in Path(session.path).read_bytes()


def test_a_log_without_a_meta_gets_one_for_its_origin(tmp_path: Path) -> None:
    path = made(tmp_path, USER, build.request("c1"))
    session = mended(path)
    assert session.meta.resumed_from == ID
    assert session.started == "2026-11-29T08:00:00Z"
    assert shape(session) == ["user", "c1?", "c1!"]


def test_a_byte_order_mark_and_blank_lines_stay_behind(tmp_path: Path) -> None:
    lines = [
        b"\xef\xbb\xbf" + build.meta(),
        USER.replace(b"\n", b"\r\n"),
        b"\n",
        build.request("c1"),
    ]
    path = made(tmp_path, *lines)
    new = repair(path, now=NOW).read_bytes()
    assert new.startswith(b"{")
    assert USER.replace(b"\n", b"\r\n") + build.request("c1") in new


def test_a_last_line_without_line_feed_is_a_line(tmp_path: Path) -> None:
    path = made(tmp_path, build.meta(), USER, tail=build.request("c1").rstrip(b"\n"))
    assert shape(mended(path)) == ["user", "c1?", "c1!"]


def test_a_torn_tail_is_left_out_without_being_forced(tmp_path: Path) -> None:
    path = made(tmp_path, build.meta(), USER, tail=b'{"kind":"message","mess')
    plan = plan_repair(load(path), now=NOW)
    assert [damage.torn for damage in plan.dropped] == [True]
    session = mended(path)
    assert not session.damages
    assert shape(session) == ["user"]


@pytest.mark.parametrize(
    "damaged",
    [
        b'{"kind":"message","mess' + build.request("c1"),
        b"\0\0\0\0" + build.request("c1"),
        build.request("c1").rstrip(b"\n") + b"\0\0\0\n",
        build.request("c1").rstrip(b"\n") + b'{"kind":"mess\n',
        b"gibberish\n" + build.request("c1"),
    ],
)
def test_damage_before_the_end_stops_it_and_what_was_salvaged_becomes_a_line(
    tmp_path: Path, damaged: bytes
) -> None:
    path = made(tmp_path, build.meta(), damaged, USER)
    with pytest.raises(DamagedLog, match="line 2"):
        repair(path, now=NOW)
    with pytest.raises(DamagedLog):
        apply_repair(plan_repair(load(path)))
    session = mended(path, force=True)
    assert not session.damages
    assert shape(session) == ["c1?", "c1!", "user"]
    assert build.request("c1") in Path(session.path).read_bytes()


def test_replaced_text_is_no_damage_to_repair(tmp_path: Path) -> None:
    bad = build.message("user", "caf?").replace(b"?", b"\xe9")
    path = made(tmp_path, build.meta(), bad, USER)
    assert not plan_repair(load(path)).needed
    with path.open("ab") as file:
        file.write(build.request("c1"))
    assert bad in repair(path, now=NOW).read_bytes()


def test_a_byte_order_mark_alone_is_no_line(tmp_path: Path) -> None:
    path = made(tmp_path, b"\xef\xbb\xbf\0\0\n", build.meta(), USER)
    assert repair(path, now=NOW, force=True).read_bytes().startswith(b'{"kind":"meta"')


def test_glued_records_stay_glued_unless_something_goes_between_them(tmp_path: Path) -> None:
    glued = USER.rstrip(b"\n") + BOT
    path = made(tmp_path, build.meta(), glued, build.request("c1").rstrip(b"\n") + USER)
    new = repair(path, now=NOW)
    assert glued in new.read_bytes()
    assert shape(load(new)) == ["user", "bot", "c1?", "c1!", "user"]


def test_an_ending_stays(tmp_path: Path) -> None:
    path = made(tmp_path, build.meta(), build.request("c1"), build.result("aborted", 1))
    session = mended(path)
    assert session.reason == "aborted"
    assert shape(session) == ["c1?", "c1!"]


def test_a_healthy_log_needs_nothing_and_nothing_is_written(tmp_path: Path) -> None:
    path = made(tmp_path, *build.healthy())
    assert not plan_repair(load(path)).needed
    assert repair(path) == path
    assert os.listdir(tmp_path) == [path.name]


def test_a_healthy_log_with_a_place_is_copied_byte_by_byte(tmp_path: Path) -> None:
    path = made(tmp_path, *build.healthy(), tail=b"\n \n")
    out = repair(path, tmp_path / "copy.jsonl")
    assert out.read_bytes() == path.read_bytes()
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_a_running_log_is_not_repaired(tmp_path: Path) -> None:
    path = made(tmp_path, build.meta(), build.request("c1"))
    with path.open("ab") as writer:  # a process of ours that has it open for writing
        session = load(path)
        if session.alive is None:
            pytest.skip("this system does not tell who has a file open")
        with pytest.raises(LogInUse, match="alive"):
            repair(path)
        writer.close()
    assert repair(path) != path


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = made(tmp_path, build.meta(), build.request("c1"))
    taken = tmp_path / "taken.jsonl"
    taken.write_text("mine")
    for out in (taken, path):
        with pytest.raises(SessionExists, match=out.name):
            repair(path, out)
    assert taken.read_text() == "mine"
    dangling = tmp_path / "link.jsonl"
    dangling.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SessionExists):
        repair(path, dangling)
    assert not (tmp_path / "elsewhere").exists()


def test_a_missing_folder_is_told_in_one_line(tmp_path: Path) -> None:
    path = made(tmp_path, build.meta(), build.request("c1"))
    with pytest.raises(NotPossible, match="cannot be written: No such file"):
        repair(path, tmp_path / "no" / "where.jsonl")


def test_an_id_that_is_taken_meanwhile_gives_way_to_the_next(tmp_path: Path) -> None:
    path = made(tmp_path, build.meta(), build.request("c1"))
    plan = plan_repair(load(path), now=NOW)
    Path(plan.path).write_text("quicker")
    new = apply_repair(plan)
    assert new.name == "20261129-080000-2.jsonl"
    assert load(new).meta.id == new.stem
    assert b'"id":"20261129-080000-2"' in new.read_bytes()
    assert Path(plan.path).read_text() == "quicker"


@pytest.mark.parametrize("seed", range(60))
def test_any_tangle_of_calls_comes_out_closed_ordered_and_stays_so(
    tmp_path: Path, seed: int
) -> None:
    path = made(tmp_path, *build.scrambled(seed))
    before = (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
    plan = plan_repair(load(path), now=NOW)
    new = apply_repair(plan) if plan.needed else path
    session = load(new, strict=True)
    assert not session.open_calls
    assert not session.orphan_results
    assert len(session.history) == plan.messages
    assert not plan_repair(session).needed
    assert_answers_follow(session)
    if plan.needed:
        assert plan == plan_repair(load(path), now=NOW, taken=lambda path: False)
        assert repair(path, now=NOW).read_bytes() == new.read_bytes().replace(
            b'"id":"20261129-080000"', b'"id":"20261129-080000-2"'
        )
        kept = path.read_bytes().splitlines()[1:]
        added = [line for line in new.read_bytes().splitlines()[1:] if line not in kept]
        assert len(added) <= len(plan.closed)
        assert all(b"Interrupted by the user." in line for line in added)
    assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) == before


def tangle(seed: int) -> list[bytes]:
    """Few ids and much of everything: events, resets, results late, twice, of none or nameless."""
    random = Random(seed)
    ids = random.choice([("A", "B", "C"), ("A", ""), ("A",)])
    lines = [build.meta()]
    for i in range(random.randrange(2, 12)):
        what, id = random.choice("qqqqrrrrreetux"), random.choice(ids)
        arguments = random.choice(["1", "1", "2"])
        lines.append(
            {
                "q": build.request(id, arguments=arguments, seconds=i),
                "r": build.response(id, arguments=arguments, result=i, seconds=i),
                "e": build.event("iteration", i),
                "t": build.event("toolCallStart", i),
                "u": build.message("user", "on", i),
                "x": build.reset(i),
            }[what]
        )
    return lines


@pytest.mark.parametrize("seed", [330, 1426, 2045, 2264, *range(100)])
def test_a_repaired_log_never_needs_repair_again(tmp_path: Path, seed: int) -> None:
    session = mended(made(tmp_path, *tangle(seed)))
    again = plan_repair(session)
    assert not again.needed, again.changes
    assert not session.open_calls
    assert not session.orphan_results
    assert_answers_follow(session)


BAD = [b"\xb0", b"\xed\xa0\x80", b"\xff", b"\xf0\x9f", b'"', b"\\", b"{", b"}", b",", b"\n", b""]


@pytest.mark.parametrize("bad", BAD)
def test_whatever_bytes_a_request_holds_its_call_is_closed(tmp_path: Path, bad: bytes) -> None:
    asked = build.request("c1")
    for i in range(len(asked) - 1):
        path = made(tmp_path, build.meta(), asked[:i] + bad + asked[i + 1 :], USER)
        if load(path).open_calls:
            new = repair(path, tmp_path / f"{i}.jsonl", now=NOW, force=True)
            assert not load(new).open_calls, asked[:i] + bad
            assert not plan_repair(load(new)).needed


def test_a_closing_line_holds_no_bad_bytes(tmp_path: Path) -> None:
    asked = build.request("c1", name="na?e").replace(b"na?e", b"na\xb0e")
    new = repair(made(tmp_path, build.meta(), asked), now=NOW)
    assert "na\ufffde" in new.read_bytes().splitlines()[-1].decode()
    assert not load(new).open_calls


def test_bad_bytes_in_a_chat_log_stop_no_repair(tmp_path: Path) -> None:
    call = build.chat("assistant", tool_calls=[build.chat_call("c1")], nxte=1)
    lines = [
        build.chat("user", "hi"),
        call.replace(b"nxte", b"n\xb0te").replace(b"2026", b"20\xff6"),
    ]
    path = build.log(tmp_path / "chat.jsonl", lines)
    assert len(load(path).open_calls) == 1
    new = load(repair(path, now=NOW))
    assert not new.open_calls
    assert not plan_repair(new).needed


def test_an_empty_path_is_no_place(tmp_path: Path) -> None:
    for lines in ([build.request("c1")], build.healthy()[1:]):
        path = made(tmp_path, build.meta(), *lines)
        with pytest.raises(NotPossible, match="path of the new log is empty"):
            repair(path, "")


def assert_answers_follow(session: Session) -> None:
    """Between a call and its answer stand only calls, then only answers: services insist."""
    steps = session.history
    for step in steps:
        if step.pair is not None and step.pair > step.n:
            between = [_short(s.message)[-1] for s in steps[step.n : step.pair - 1]]
            assert all(sign in "?=!" for sign in between), shape(session)
            signs = "".join("?" if sign == "?" else "=" for sign in between)
            assert "=?" not in signs, shape(session)
