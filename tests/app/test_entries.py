"""How sessions look in the list."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sessionlog.records import Entry, Origin, Status
from sessionlog.text import width
from tui import entries
from tui.entries import Rows
from tui.lines import Line, fitted
from tui.list_filter import Filter
from tui.orders import Order

NOW = datetime(2026, 11, 28, 7, 48, tzinfo=UTC).timestamp()


def entry(
    title: str = "Migrate billing worker to pgx v5", status: Status | None = Status.COMPLETE,
    ok: bool | None = True, **more: object,
) -> Entry:  # fmt: skip
    made = Entry("20261127-230211", "/logs/a.jsonl", "native", agent="zot", title=title,
                 status=status, ok=ok, started="2026-11-27T23:02:11Z",
                 updated="2026-11-28T03:31:11Z")  # fmt: skip
    return made._replace(**more)  # type: ignore[arg-type]


UNFINISHED = entry(status=Status.UNFINISHED, ok=None, stop="in bash: go test -race", damage=1)


def text(line: Line, columns: int) -> str:
    return "".join(piece for piece, _ in fitted(line, columns))


def shown(what: Entry, columns: int) -> list[str]:
    lines = entries.lines_of(what, columns, NOW, False, False)
    return [text(line, columns) for line in lines]


def test_a_session_that_ended_well_has_one_line() -> None:
    assert shown(entry(), 40) == [" ✓ Migrate billing worker to pgx…    8h "]


def test_a_troubled_session_says_how_it_stands_on_a_second_line() -> None:
    assert shown(UNFINISHED, 40) == [
        " ○ Migrate billing worker to pgx…    8h ",
        "   in bash: go test -race  ▒1 zot 4h29m ",
    ]


def test_a_table_has_one_line_for_each() -> None:
    assert shown(UNFINISHED, 80) == [
        " ○ Migrate billing worker to pgx…  in bash: go test -race  ▒1    zot 4h29m   8h "
    ]


def test_a_wider_list_names_the_agent() -> None:
    assert "zot" in shown(entry(), 46)[0]
    assert "zot" not in shown(entry(), 40)[0]


def test_a_fork_names_the_message_it_was_taken_at() -> None:
    assert " ✓ @61 Migrate" in shown(entry(forked_from=Origin("x", 61)), 80)[0]
    assert " ✓ @end Migrate" in shown(entry(resumed_from="x"), 80)[0]


def test_damage_stands_beside_any_status() -> None:
    assert "▒3" in shown(entry(damage=3), 40)[0]
    assert "▒" not in shown(entry(damage=0), 40)[0]
    assert "▒" not in shown(entry(damage=None), 40)[0]


@pytest.mark.parametrize(
    ("status", "ok", "sign", "style"),
    [
        (Status.COMPLETE, True, "✓", "ok"),
        (Status.COMPLETE, False, "✗", "fail bold"),
        (Status.COMPLETE, None, "■", "fg-2"),
        (Status.RUNNING, None, "►", "run bold"),
        (Status.UNFINISHED, None, "○", "open bold"),
        (Status.TRUNCATED, None, "≈", "bytes bold"),
        (None, None, "·", "fg-3"),
    ],
)
def test_one_sign_one_state(status: Status | None, ok: bool | None, sign: str, style: str) -> None:
    line = entries.lines_of(entry(status=status, ok=ok), 80, NOW, False, False)[0]
    assert (sign, style) in line.left


def test_a_live_run_is_as_old_as_now() -> None:
    running = entry(status=Status.RUNNING, ok=None, stop="in bash: npm run e2e")
    assert "8h45m" in shown(running, 80)[0]


@pytest.mark.parametrize("columns", [*range(20, 70), 80, 100, 200])
def test_no_line_is_wider_than_the_pane(columns: int) -> None:
    for what in (entry(), UNFINISHED, entry("日本語" * 40), entry("x" * 5000, agent="a" * 40)):
        for line in shown(what, columns):
            assert width(line) == columns


def test_what_a_log_says_comes_out_visible() -> None:
    evil = "a\x1b]0;x\x07b\x9b31m\u202ec[red]"
    what = entry(evil, status=Status.TRUNCATED, stop=evil, agent=evil, id=evil, reason=evil)
    for columns in (40, 80):
        for line in shown(what, columns):
            assert line.isprintable()


def test_a_log_that_cannot_be_read_says_why_without_its_path() -> None:
    what = entry(
        "", status=None, reason="/logs/a.jsonl: no session log: it does not hold JSON lines"
    )
    assert "it does not hold JSON lines" in shown(what, 120)[0]


def rows(count: int, table: bool = False) -> Rows:
    """Every third is troubled; four a day."""
    found = [
        entry(f"t{i}", Status.UNFINISHED if i % 3 == 0 else Status.COMPLETE, path=f"/logs/{i}",
              started=f"2026-11-{28 - i // 4:02}T0{i % 4}:00:00Z")
        for i in range(count)
    ]  # fmt: skip
    return Rows(Order(tuple(found)), table=table, now=NOW)


@pytest.mark.parametrize("table", [False, True])
def test_every_line_of_the_list_belongs_to_one_session(table: bool) -> None:
    made = rows(30, table)
    seen = []
    for y in range(made.height):
        index, part = made.at(y)
        first, after = made.span(index)
        assert first <= y < after
        assert -1 <= part <= 1
        if part == -1:
            assert made.rules[index]
        seen.append((index, part))
    assert seen == sorted(seen)
    assert len(set(seen)) == made.height
    assert {index for index, _ in seen} == set(range(30))


def test_days_are_ruled_off_once() -> None:
    assert [rule for rule in rows(12).rules if rule] == ["today", "Fri 27 Nov", "Thu 26 Nov"]


def test_a_filter_takes_words_of_anything_a_row_says() -> None:
    assert Filter(text="PGX billing")(entry())
    assert not Filter(text="pgx mailer")(entry())
    assert Filter(text="go test")(UNFINISHED)
    assert Filter(state="open")(UNFINISHED)
    assert not Filter(state="fail")(UNFINISHED)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(3.9, "3s"), (59 * 60, "59m"), (3600, "1h00m"), (16140, "4h29m"), (100 * 86400, "100d"),
     (-5, "0s"), (3 * 86400 + 4 * 3600, "3d04h")],
)  # fmt: skip
def test_a_run_is_told_in_five_columns(seconds: float, said: str) -> None:
    assert entries.span(seconds) == said
    assert len(said) <= 5
