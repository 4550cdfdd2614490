"""The transport of a replay: what comes when, and that nothing is lost, doubled or stalled."""

from __future__ import annotations

import random
from pathlib import Path

import build
import pytest

from sessionlog.formats.base import RESET, TROUBLE, USER
from sessionlog.formats.native import Native
from sessionlog.marks import Marks
from sessionlog.pace import IDLES, SPEEDS, TINY, UNTIMED, Pace
from sessionlog.window import CHUNK, Log
from tui import ahead
from tui.knew import Full, Knowledge
from tui.looking import Look
from tui.moments import Moments
from tui.outlook import Outlook
from tui.replay import Transport
from tui.row_lines import Clock
from tui.tempo import Tempo
from tui.timeline import Seeking, Timeline
from tui.track import Beat, Track

FRAME = 1 / 30


def opened(folder: Path, lines: list[bytes]) -> Log:
    return Log(str(build.log(folder / "20261127-220000.jsonl", lines)), Native())


def counted(log: Log) -> Marks:
    marks = Marks(log.form)
    marks.scan(log.strip, rest=lambda: None)
    return marks


def said(*seconds: float) -> list[bytes]:
    return [build.message("bot", f"at {at}", at) for at in seconds]


def transport(log: Log, pace: Pace | None = None) -> Transport:
    track = Track(log)
    assert track.first is not None
    made = Transport(track, track.first, pace)
    made.playing = True
    return made


def beats(log: Log) -> list[Beat]:
    track = Track(log)
    return [beat for number in range(log.chunks) for beat in track.beats(number)]


def since(made: Transport) -> float:
    """The run's clock, in seconds after the common start."""
    assert made.clock is not None
    return round(made.clock - build.START.timestamp(), 3)


# -- the track ---------------------------------------------------------------------------------


def test_every_line_is_one_moment_both_ways(tmp_path: Path) -> None:
    lines = [build.message("bot", "x" * random.Random(i).choice((9, 900, 70_000, 140_000)), i)
             for i in range(60)]  # fmt: skip
    log = opened(tmp_path, [*lines, b"\n", b"{bad\n"])
    track = Track(log)
    forward, beat = [], track.first
    while beat is not None:
        forward.append(beat)
        beat = track.after(beat)
    backward, beat = [], track.last
    while beat is not None:
        backward.append(beat)
        beat = track.before(beat)
    assert forward == backward[::-1] == beats(log)
    assert [beat.end for beat in forward][-1] == log.size
    assert [a.end for a in forward[:-1]] == [b.start for b in forward[1:]]
    assert all(track.holding(beat.start) == track.holding(beat.end - 1) == beat for beat in forward)
    assert [beat.loud for beat in forward[-2:]] == [False, True]


def test_a_time_leads_to_the_last_line_not_after_it(tmp_path: Path) -> None:
    log = opened(tmp_path, [build.message("bot", "x" * 30_000, i * 10) for i in range(40)])
    track, start = Track(log), build.START.timestamp()
    for seconds, n in ((0, 0), (9, 0), (10, 1), (205, 20), (389, 38), (9999, 39)):
        beat = track.at_time(start + seconds)
        assert beat is not None
        assert beat == beats(log)[n]
    assert track.at_time(start - 5) == track.first


def test_the_run_begins_with_its_earliest_line(tmp_path: Path) -> None:
    log = opened(tmp_path, [build.meta(seconds=9000), *said(1, 2), *said(9001)])
    assert Track(log).begins == build.START.timestamp() + 1


# -- playing -----------------------------------------------------------------------------------


def test_lines_come_when_their_time_has_come(tmp_path: Path) -> None:
    made = transport(opened(tmp_path, said(0, 1, 3)), Pace(1, None))
    seen = []
    for _ in range(13):
        made.advance(0.25)
        seen.append(made.beat.nth)
    assert seen == [0] * 3 + [1] * 8 + [2] * 2


def test_the_clock_runs_through_a_cut_silence_only_faster(tmp_path: Path) -> None:
    made = transport(opened(tmp_path, said(0, 1000, 1001)), Pace(1, 2.0))
    clocks = []
    for _ in range(12):
        made.advance(0.25)
        clocks.append(since(made))
    assert clocks[:8] == [125.0 * i for i in range(1, 9)]
    assert clocks[8:] == [1000.25, 1000.5, 1000.75, 1001.0]


def test_a_change_of_the_idle_cap_or_the_speed_leaves_the_clock_where_it_is(tmp_path: Path) -> None:
    made = transport(opened(tmp_path, said(0, 100)), Pace(1, 2.0))
    made.advance(0.25)
    before = since(made)
    for pace in (Pace(1, None), Pace(64, 10.0)):
        made.set_pace(pace)
        assert since(made) == before


@pytest.mark.parametrize("seed", range(6))
def test_no_line_is_lost_or_doubled_whatever_the_speed(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    at, lines = 0.0, []
    for i in range(400):
        at += dice.choice((0, 0, 0.01, 0.5, 3, 700, -20))
        timed = dice.random() < 0.9
        body = {"type": "bot", "text": "x" * dice.choice((5, 3000))}
        time = {"at": build.at(at)} if timed else {}
        lines.append(
            build.line({"kind": "message", **time, "message": body}) if i else build.meta()
        )
    log = opened(tmp_path, lines)
    made, track = transport(log, Pace(dice.choice(SPEEDS))), Track(log)
    seen = [made.beat]
    for _ in range(200_000):
        if dice.random() < 0.02:
            made.set_pace(Pace(dice.choice(SPEEDS), dice.choice(IDLES)))
        before = made.beat
        made.advance(dice.choice((FRAME, FRAME, 0.2, 0.0)))
        while before != made.beat:
            following = track.after(before)
            assert following is not None
            seen.append(before := following)
        if made.following is None:
            break
        if made.pace.idle is None:
            made.set_pace(Pace(64, 2.0))
    assert seen == beats(log)


def test_a_log_of_one_instant_plays_on_and_not_all_at_once(tmp_path: Path) -> None:
    made = transport(opened(tmp_path, said(*[5] * 50)))
    made.advance(FRAME)
    first = made.beat.nth
    assert first == int(FRAME / TINY)
    for _ in range(40):
        made.advance(FRAME)
    assert made.following is None


def test_a_program_that_slept_does_not_catch_up(tmp_path: Path) -> None:
    made = transport(opened(tmp_path, said(*range(100))))
    made.advance(3600)
    assert since(made) <= 0.25


def test_a_paused_transport_does_not_move(tmp_path: Path) -> None:
    made = transport(opened(tmp_path, said(0, 1)))
    made.playing = False
    assert not made.advance(0.2)
    assert since(made) == 0


def test_steps_stop_at_lines_that_show_something(tmp_path: Path) -> None:
    log = opened(tmp_path, [*said(0), build.event("usage", 1), build.event("usage", 2), *said(3)])
    made = transport(log)
    made.step()
    assert (made.beat.nth, made.playing) == (3, False)
    made.step(forward=False)
    assert made.beat.nth == 0
    made.step(forward=False)
    assert made.beat.nth == 0


@pytest.mark.parametrize("idle", [None, 2.0])
def test_a_skip_back_undoes_a_skip(tmp_path: Path, idle: float | None) -> None:
    log = opened(tmp_path, said(0, 0.5, 3, 3, 17, 500, 501, 530, 531))
    made = transport(log, Pace(1, idle))
    dice = random.Random(2)
    for seconds in [dice.uniform(0.1, 2) for _ in range(12)]:
        before = since(made)
        made.skip(seconds)
        if made.following is None:
            break
        after = since(made)
        made.skip(-seconds)
        assert since(made) == pytest.approx(before, abs=0.01)
        made.skip(seconds)
        assert since(made) == pytest.approx(after, abs=0.01)
    made.skip(-1e6)
    assert (made.beat.nth, made.share) == (0, 0.0)


# -- what is left ------------------------------------------------------------------------------


@pytest.mark.parametrize("idle", IDLES)
def test_what_is_left_is_what_then_plays(tmp_path: Path, idle: float | None) -> None:
    lines = [build.message("bot", "x" * 9000, at) for at in (0, 1, 1, 90, 91, 400, 402.5, 402, 410)]
    log = opened(tmp_path, lines * 3)
    tempo = Tempo()
    assert tempo.fill(Track(log))
    assert tempo.complete(log.size)
    made = transport(log, Pace(1, idle))
    made.advance(0.2)
    for _ in range(5):
        made.step()
        made.playing = True
        made.advance(0.1)
        left, played = tempo.left(made), 0.0
        twin = Transport(made.track, made.beat, made.pace)
        twin.share, twin.playing = made.share, True
        while twin.following is not None:
            twin.advance(0.05)
            played += 0.05
        assert played == pytest.approx(left, abs=0.06)


def test_the_cap_saves_what_it_cuts(tmp_path: Path) -> None:
    log = opened(tmp_path, said(0, 1000, 1001, 1009))
    tempo = Tempo(idle=5.0)
    tempo.fill(Track(log))
    assert [tempo.saved(cap) for cap in (None, 2.0, 10.0, 5.0)] == [0, 998 + 6, 990, 995 + 3]
    tempo.restart(0)
    assert not tempo.complete(log.size)


def test_counting_the_time_stops_when_it_is_told_to(tmp_path: Path) -> None:
    log = opened(tmp_path, [build.message("bot", "x" * CHUNK, i) for i in range(9)])
    tempo, ticks = Tempo(), iter(range(1000))
    done = tempo.fill(Track(log), lambda: True, lambda: None, lambda: next(ticks))
    assert (done, len(tempo)) == (False, 1)


# -- where things are --------------------------------------------------------------------------

STORY = [
    build.meta(),
    build.message("user", "Begin.", 1),
    build.request("c1", seconds=2),
    build.message("bot", "meanwhile", 3),
    build.response("c1", failure="no", seconds=10),
    build.request("c2", seconds=11),
    build.response("c2", seconds=12),
    build.reset(13),
    build.message("user", "Again.", 14),
    b"{bad\n",
    build.request("c3", seconds=16),
]


def looked_for(seeking: Seeking) -> int | None:
    look = Look(seeking, "")
    while not look.work(1.0):
        pass
    return look.found[0] if look.found else None


def test_errors_turns_and_resets_are_found_at_the_moments_they_are_known(tmp_path: Path) -> None:
    log = opened(tmp_path, STORY)
    timeline, all_beats = Timeline(log, counted(log)), beats(log)
    starts = [beat.start for beat in all_beats]

    def there(wanted: ahead.Wanted, bits: int) -> tuple[list[int], list[int]]:
        onward, at = [], 0
        while (found := looked_for(ahead.later(timeline, at, wanted, bits))) is not None:
            onward.append(starts.index(found))
            at = all_beats[onward[-1]].end
        back, at = [], log.size
        while (found := looked_for(ahead.earlier(timeline, at, wanted, bits))) is not None:
            back.append(starts.index(found))
            at = found
        return onward, back[::-1]

    assert there(ahead.is_trouble, TROUBLE) == ([4, 9, 10], [4, 9, 10])
    assert there(ahead.is_turn, USER) == ([1, 8], [1, 8])
    assert there(ahead.is_reset, RESET) == ([7], [7])


def test_a_failure_is_found_though_its_call_is_chunks_before(tmp_path: Path) -> None:
    quiet = [build.message("bot", "x" * 2000, 5) for _ in range(40)]
    lines = [build.message("bot", "x" * 2000) for _ in range(700)]  # more chunks than calls span
    log = opened(tmp_path, [*lines, build.request("c1"), *quiet, build.response("c1", failure="no"),
                            *lines])  # fmt: skip
    timeline = Timeline(log, counted(log))
    failed = beats(log)[741].start
    assert looked_for(ahead.later(timeline, 0, ahead.is_trouble, TROUBLE)) == failed
    assert looked_for(ahead.earlier(timeline, log.size, ahead.is_trouble, TROUBLE)) == failed


def test_the_outlook_tells_the_time_to_the_next_error(tmp_path: Path) -> None:
    log = opened(tmp_path, STORY)
    made = transport(log, Pace(1, None))
    outlook = Outlook(Moments(made.track, Timeline(log, counted(log))), made)
    told = []
    for _ in range(len(STORY)):
        assert outlook.look(10.0)
        told.append(outlook.seconds)
        made.step()
    # the failure at 10, the damage a moment after 14, the open call at 16, as steps go to them
    assert told[:4] == [10.0, 9.0, 8.0, 7.0]
    assert told[8] == UNTIMED
    assert told[-1] is None


def test_rows_numbers_times_and_shares_lead_to_moments(tmp_path: Path) -> None:
    log = opened(tmp_path, STORY)
    track = Track(log)
    timeline = Timeline(log, counted(log))
    moments, all_beats = Moments(track, timeline), beats(log)
    row = timeline.row(timeline.find_place((all_beats[2].start, 0)) or (0, 0))
    where = {text: moments.goto(text, all_beats[2], row, Clock("utc"))
             for text in ("4", "22:00:10", "+9s", "0%", "100%", "99", "x")}  # fmt: skip
    assert where["4"] == all_beats[4]  # message 4 is the result: it is there
    assert where["22:00:10"] == all_beats[4]
    assert where["+9s"] == all_beats[5]
    assert where["100%"] == all_beats[-1]
    assert where["99"] == "no message 99: the last is 8"
    assert "no place like" in str(where["x"])
    assert moments.rows_on(all_beats[2], row, 1) == all_beats[3]
    assert moments.rows_on(all_beats[2], row, 2) == all_beats[5]  # the result is no row
    assert moments.rows_on(all_beats[2], row, -1) == all_beats[1]
    assert moments.rows_on(all_beats[2], row, 99) == all_beats[-1]


# -- what the agent knew -----------------------------------------------------------------------


def test_what_was_known_is_what_a_session_of_the_lines_before_has_in_context(
    tmp_path: Path,
) -> None:
    from sessionlog.reader import load

    dice = random.Random(1)
    lines = []
    for line in build.scrambled(4, 70):
        lines += [line, build.message("bot", "x" * 30_000)][: dice.choice((1, 1, 2))]
    log = opened(tmp_path, lines)
    knowledge = Knowledge(log, counted(log))
    for beat in dice.sample(beats(log), 30):
        cut = tmp_path / "cut.jsonl"
        cut.write_bytes(b"".join(lines)[: beat.start] or b"\n")
        held = [s.n for s in load(cut).history if s.in_context] if beat.start else []
        knew = knowledge.before(beat.start)
        assert (knew.messages, knew.first, knew.last) == (
            len(held), held[0] if held else None, held[-1] if held else None)  # fmt: skip


def test_since_when_what_was_before_is_out_of_context(tmp_path: Path) -> None:
    log = opened(tmp_path, STORY)
    knew = Knowledge(log, counted(log)).before(beats(log)[10].start)
    assert (knew.messages, knew.first, knew.last, knew.since) == (1, 7, 7, build.at(13))


def test_tokens_are_those_of_the_last_step_not_of_the_run(tmp_path: Path) -> None:
    from sessionlog.formats.codex import Codex

    info = {"total_token_usage": {"input_tokens": 90_000, "output_tokens": 900},
            "last_token_usage": {"input_tokens": 41_000, "output_tokens": 100},
            "model_context_window": 200_000}  # fmt: skip
    lines = [build.codex_meta(), build.codex_said("user", "Fix it"),
             build.codex_event("token_count", info=info), build.codex_call("c1")]  # fmt: skip
    log = Log(str(build.log(tmp_path / build.CODEX_FILE, lines)), Codex())
    knowledge = Knowledge(log, counted(log))
    all_beats = beats(log)
    assert knowledge.before(all_beats[3].start).tokens == Full(41_100, 200_000)
    assert knowledge.before(all_beats[2].start).tokens is None
