"""What a person types to look for something."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from sessionlog.matcher import sieve_of
from sessionlog.query import BadQuery, Query, compiled, filters, parse_query, parse_time
from sessionlog.records import Entry, Status

ZONE = timezone(timedelta(hours=2))
NOW = datetime(2026, 11, 28, 7, 48, tzinfo=ZONE)  # a Saturday


def day(number: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(2026, 11, number, hour, minute, tzinfo=ZONE)


@pytest.mark.parametrize(("line", "query"), [
    ("advisory lock", Query("advisory lock")),
    ("advisory lock tool:Bash,edit tool:x", Query("advisory lock", tools=("bash", "edit", "x"))),
    ("is:error panic agent:codex", Query("panic", errors=True, agents=("codex",))),
    ("status:failed kind:user", Query("", kinds=("user",), status=("failed",))),
    ('"two  spaces" tool:"my tool"', Query("two  spaces", tools=("my tool",))),
    ('"say \\"hi\\" is:error"', Query('say "hi" is:error')),
    ('"name": x', Query('"name": x')),
    ("http://x foo:bar this:that", Query("http://x foo:bar this:that")),
    ("half tool: is:", Query("half")),
    ("after:fri", Query("", after=day(27))),
    ("x before:2026-11-27", Query("x", before=day(27))),
])  # fmt: skip
def test_a_line_is_words_and_filters(line: str, query: Query) -> None:
    assert parse_query(line, NOW) == query


@pytest.mark.parametrize(("text", "when"), [
    ("sat", day(28)), ("Friday", day(27)), ("sun", day(22)), ("today", day(28)),
    ("yesterday", day(27)), ("03:00", day(28, 3)), ("23:10", day(27, 23, 10)),
    ("2h", day(28, 5, 48)), ("7d", day(21, 7, 48)), ("2026-11-27T03:30", day(27, 3, 30)),
    ("2026-11-27T03:30:00Z", datetime(2026, 11, 27, 3, 30, tzinfo=UTC)),
])  # fmt: skip
def test_times_are_meant_in_the_zone_of_the_person(text: str, when: datetime) -> None:
    assert parse_time(text, NOW) == when


@pytest.mark.parametrize("line", [
    "is:open", "status:bad", "after:soon", "before:25:00", "after:2026-13-40", "after:9h9",
])  # fmt: skip
def test_a_word_that_is_not_understood_is_named(line: str) -> None:
    with pytest.raises(BadQuery, match=line.partition(":")[2]):
        parse_query(line, NOW)


@pytest.mark.parametrize("pattern", ["(", "[a", "a**", "(?P<x>a)(?P<x>b)", "*", "(" * 5000])
def test_a_pattern_that_is_none_is_refused_in_one_line(pattern: str) -> None:
    with pytest.raises(BadQuery) as refused:
        parse_query(pattern, NOW, regex=True)
    assert "\n" not in str(refused.value)
    assert parse_query(pattern, NOW).text == pattern


@pytest.mark.parametrize("way", ["(a|", "(?:", "(?=", "(?P<g%d>"])
def test_groups_that_nest_too_deep_are_refused_before_they_fill_the_stack(way: str) -> None:
    def nested(times: int) -> str:
        return "".join(way % n if "%" in way else way for n in range(times)) + "b" + ")" * times

    assert sieve_of(compiled(nested(100), ignore_case=True))
    with pytest.raises(BadQuery, match="too deep"):
        compiled(nested(101), ignore_case=True)


def test_brackets_that_open_no_group_are_not_counted() -> None:
    assert compiled(r"\(" * 300 + "[(]" * 300 + "[](]" * 300 + r"[^](\]]" * 300, ignore_case=False)


@pytest.mark.parametrize("at", ["2026-11-27T22:20:00Z", "2026-11-27t22:20:00z",
                                "2026-11-28T00:20:00+02:00"])  # fmt: skip
def test_a_time_may_name_its_zone(at: str) -> None:
    assert parse_query(f"after:{at}", NOW).after == datetime(2026, 11, 27, 22, 20, tzinfo=UTC)


def test_the_filters_can_be_said_again() -> None:
    line = "is:error status:failed tool:bash,edit after:2026-11-27T03:00"
    query = parse_query(f"x {line}", NOW)
    assert parse_query(" ".join(("x", *filters(query))), NOW) == query


def test_a_session_may_hold_a_hit_by_status_agent_and_last_time() -> None:
    entry = Entry("a", "a", "native", "zot", status=Status.COMPLETE, ok=False,
                  updated="2026-11-27T01:00:00Z")  # fmt: skip
    assert Query(status=("failed",)).admits(entry)
    assert Query(status=("complete", "running")).admits(entry)
    assert not Query(status=("running",)).admits(entry)
    assert Query(agents=("zot",)).admits(entry)
    assert Query(agents=("native",)).admits(entry)
    assert not Query(agents=("codex",)).admits(entry)
    assert not Query(after=day(27, 4)).admits(entry)
    assert Query(after=day(27, 2)).admits(entry)
    assert Query(after=day(27, 4)).admits(entry._replace(status=Status.RUNNING))
