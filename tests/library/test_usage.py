"""Tokens and cost: each answer counts once, however often a log, or several, tell of it."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import build

from sessionlog.commands.stats import of_stats
from sessionlog.figures import Stats, total
from sessionlog.listing import glance
from sessionlog.measure import Unmeasured, measure, measure_all
from sessionlog.records import Tokens, Usage
from sessionlog.usage import Meter, Seen


def counted(*paths: Path) -> list[Stats]:
    found = list(measure_all([glance(str(path)) for path in paths]))
    assert not any(isinstance(stats, Unmeasured) for stats in found)
    return [stats for stats in found if isinstance(stats, Stats)]


def alone(path: Path) -> Stats:
    stats = measure(glance(str(path)))
    assert stats is not None
    return stats


def claude(
    id: str, output: int, seconds: float, text: str = "x", cached: int = 0, **more: Any
) -> bytes:
    usage = {"input_tokens": 10, "output_tokens": output, "cache_read_input_tokens": cached,
             "cache_creation_input_tokens": 1}  # fmt: skip
    return build.claude_said(text, id=id, seconds=seconds, usage=usage, **more)


def codex_count(total: int, step: int, seconds: float) -> bytes:
    def amounts(tokens: int) -> dict[str, int]:
        return {"input_tokens": tokens, "cached_input_tokens": tokens // 2,
                "output_tokens": tokens // 10, "reasoning_output_tokens": 1,
                "total_tokens": tokens + tokens // 10}  # fmt: skip

    info = {"total_token_usage": amounts(total), "last_token_usage": amounts(step)}
    return build.codex_event("token_count", seconds, info=info)


# -- Claude Code -----------------------------------------------------------------------------------


def test_the_lines_of_one_answer_tell_of_the_same_tokens(tmp_path: Path) -> None:
    log = build.log(tmp_path / build.CLAUDE_FILE, [
        build.claude_user("Fix it"),
        claude("a", 50, 2, cached=100),
        build.claude_call("c1", id="a", seconds=3, usage={"input_tokens": 10, "output_tokens": 50,
                          "cache_read_input_tokens": 100, "cache_creation_input_tokens": 1}),
        build.claude_result("c1", seconds=4),
        claude("a", 50, 5, cached=100),  # behind a result: lines of an answer are no neighbours
        claude("b", 7, 6),
    ])  # fmt: skip
    assert alone(log).tokens == Tokens(20, 57, 100, 2)


def test_of_an_answer_that_grows_while_it_is_streamed_the_last_count_holds(tmp_path: Path) -> None:
    lines = [claude("a", output, output) for output in (1, 4, 4, 90)]
    log = build.log(tmp_path / build.CLAUDE_FILE, [build.claude_user("Fix it", 0), *lines])
    assert alone(log).tokens == Tokens(10, 90, 0, 1)


def test_an_answer_that_comes_again_after_many_others_counts_once(tmp_path: Path) -> None:
    lines = [claude(f"a{i}", 1, i) for i in range(200)]
    log = build.log(
        tmp_path / build.CLAUDE_FILE, [build.claude_user("Fix it", 0), *lines, *lines[:50]]
    )
    assert alone(log).tokens == Tokens(2000, 200, 0, 200)


def test_subagents_are_named_apart_and_once_in_the_total(tmp_path: Path) -> None:
    inside = claude("s", 5, 3, isSidechain=True, agentId="ab1")
    log = build.log(tmp_path / build.CLAUDE_FILE, [
        build.claude_user("Fix it"),
        claude("a", 50, 2),
        inside,
        build.claude_line("progress", 4, data={"type": "agent_progress", "agentId": "ab1",
            "message": {"type": "assistant", "message": {
                "id": "t", "model": "m", "usage": {"input_tokens": 1, "output_tokens": 2}}}}),
    ])  # fmt: skip
    beside = tmp_path / build.CLAUDE_ID / "subagents" / "agent-ab1.jsonl"
    build.log(beside, [
        build.claude_user("Look", 2, isSidechain=True, agentId="ab1"),
        inside,
        claude("t", 2, 4, isSidechain=True, agentId="ab1"),
        claude("u", 3, 5, isSidechain=True, agentId="ab1"),
    ])  # fmt: skip
    stats = alone(log)
    assert stats.tokens is not None
    assert stats.side_tokens is not None
    assert stats.tokens.output == 50 + 5 + 2 + 3
    assert stats.side_tokens.output == 5 + 2 + 3
    own = alone(beside)  # by itself it is a run like any
    assert (own.tokens, own.side_tokens) == (Tokens(30, 10, 0, 3), None)
    assert own.side.messages == 0
    assert (own.counts.messages, own.counts.users, own.counts.assistants) == (4, 1, 3)


def test_the_clients_own_words_are_no_model(tmp_path: Path) -> None:
    log = build.log(tmp_path / build.CLAUDE_FILE, [
        build.claude_user("Fix it"), claude("a", 5, 2), claude("b", 0, 3, model="<synthetic>"),
    ])  # fmt: skip
    assert alone(log).ranked_models == ["claude-sonnet-4-5"]


def test_the_cost_is_the_last_that_the_log_tells(tmp_path: Path) -> None:
    def cost(dollars: float) -> bytes:
        return build.claude_note("cost-state", totalCostUSD=dollars)

    log = build.log(tmp_path / build.CLAUDE_FILE, [
        build.claude_user("Fix it"), claude("a", 5, 2), cost(0.5), cost(1.25), cost(1.25),
    ])  # fmt: skip
    assert alone(log).cost == 1.25
    again = build.log(tmp_path / "x" / build.CLAUDE_FILE, [
        build.claude_user("Fix it"), claude("a", 5, 2), cost(0.5), cost(0.25),
    ])  # fmt: skip
    assert alone(again).cost == 0.75  # the total began anew


# -- Codex, native, chat, pi -----------------------------------------------------------------------


def test_a_running_total_is_not_summed(tmp_path: Path) -> None:
    log = build.log(tmp_path / build.CODEX_FILE, [
        build.codex_meta(), build.codex_said("user", "Fix it"),
        build.codex_event("token_count", 2, info=None),
        codex_count(100, 100, 3), codex_count(100, 100, 3), codex_count(300, 200, 4),
    ])  # fmt: skip
    assert alone(log).tokens == Tokens(150, 30, 150, 0, 1)


def test_of_two_running_totals_the_one_that_lost_less_counts(tmp_path: Path) -> None:
    # seen with 0.171: a client that is killed has written its usage record, not its token_count
    def record(total: int, seconds: float) -> bytes:
        return build.codex_line("token_usage_record", {
            "usage": {"input_tokens": 100, "output_tokens": 10},
            "thread_token_usage": {"input_tokens": total, "output_tokens": total // 10},
        }, seconds)  # fmt: skip

    log = build.log(tmp_path / build.CODEX_FILE, [
        build.codex_meta(), build.codex_said("user", "Fix it"), record(100, 2),
        codex_count(100, 100, 2), record(200, 3), record(300, 4), codex_count(200, 100, 4),
    ])  # fmt: skip
    assert alone(log).tokens == Tokens(300, 30)


def test_a_fork_that_goes_on_from_its_parents_total_counts_its_own_steps(tmp_path: Path) -> None:
    log = build.log(tmp_path / build.CODEX_FILE, [
        build.codex_meta(forked_from_id="01a22748-0000-7db0-b19d-c1d5f7c6dafa"),
        build.codex_said("user", "Go on"), codex_count(500, 100, 3), codex_count(700, 200, 4),
    ])  # fmt: skip
    assert alone(log).tokens == Tokens(150, 30, 150, 0, 1)


def test_a_total_that_fell_began_anew(tmp_path: Path) -> None:
    log = build.log(tmp_path / build.CODEX_FILE, [
        build.codex_meta(), build.codex_said("user", "Fix it"),
        codex_count(300, 300, 3), codex_count(100, 100, 4), codex_count(200, 100, 5),
    ])  # fmt: skip
    tokens = alone(log).tokens
    assert tokens is not None
    assert tokens.input + tokens.cache_read == 500


def test_a_native_log_tells_the_runs_total_as_text(tmp_path: Path) -> None:
    log = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.message("user", "Begin."),
        build.event("usage", 2, text=""), build.event("usage", 3, text="input 100 output 10"),
        build.event("usage", 4, text="input 250 output 30"),
        build.event("usage", 5, text="input 999"),
    ])  # fmt: skip
    assert alone(log).tokens == Tokens(250, 30)


def test_a_log_that_tells_no_tokens_has_none(tmp_path: Path) -> None:
    assert alone(build.log(tmp_path / "20261127-220000.jsonl", build.healthy())).tokens is None


def test_a_line_of_plain_chat_tells_once_however_many_blocks_it_has(tmp_path: Path) -> None:
    openai = {"prompt_tokens": 30, "completion_tokens": 8,
              "prompt_tokens_details": {"cached_tokens": 20},
              "completion_tokens_details": {"reasoning_tokens": 3}}  # fmt: skip
    anthropic = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 7}
    log = build.log(tmp_path / "talk.jsonl", [
        build.chat("user", "Fix it"),
        build.chat("assistant", "On it.", usage=openai, model="m1",
                   tool_calls=[build.chat_call("c1"), build.chat_call("c2")]),
        build.chat("assistant", "Done.", usage=anthropic),
        build.chat("assistant", "Odd.", usage={"prompt_tokens": "many", "completion_tokens": -1}),
    ])  # fmt: skip
    stats = alone(log)
    assert stats.tokens == Tokens(15, 10, 27, 0, 3)
    assert stats.ranked_models == ["m1"]


def pi_answer(id: str, output: int, seconds: float, cost: float = 0.25) -> bytes:
    usage = {"input": 10, "output": output, "cacheRead": 3, "cacheWrite": 2,
             "cost": {"total": cost}}  # fmt: skip
    body = {"role": "assistant", "content": [{"type": "text", "text": "a"},
            {"type": "text", "text": "b"}], "model": "m", "usage": usage,
            "stopReason": "stop"}  # fmt: skip
    return build.line({"type": "message", "id": id, "parentId": None,
                       "timestamp": build.at(seconds), "message": body})  # fmt: skip


def test_pi_forks_share_tokens_and_cost(tmp_path: Path) -> None:
    def head(id: str) -> bytes:
        return build.line({"type": "session", "version": 3, "id": id, "timestamp": build.at(0),
                           "cwd": "/srv"})  # fmt: skip

    ids = [f"01a22748-f798-7db0-b19d-c1d5f7c6daf{i}" for i in (1, 2)]
    parent = build.log(tmp_path / f"a_{ids[0]}.jsonl", [head(ids[0]), pi_answer("11111111", 5, 1),
                       pi_answer("22222222", 5, 2)])  # fmt: skip
    fork = build.log(tmp_path / f"b_{ids[1]}.jsonl", [head(ids[1]), pi_answer("11111111", 5, 1),
                     pi_answer("33333333", 7, 3)])  # fmt: skip
    assert alone(fork).tokens == Tokens(20, 12, 6, 4)
    whole = total(counted(parent, fork))
    assert whole.tokens == Tokens(30, 17, 9, 6)
    assert whole.cost == 0.75


# -- several logs ----------------------------------------------------------------------------------


def test_a_claude_fork_and_a_resumed_copy_share_answers_with_their_parent(tmp_path: Path) -> None:
    # the client copies lines with their uuids and message ids, under another session id
    common = [build.claude_user("Fix it", 1), claude("a", 50, 2), claude("b", 5, 3)]
    parent = build.log(tmp_path / build.CLAUDE_FILE, [*common, claude("c", 7, 9)])
    fork_id = "6d222f59-9870-426c-8147-f79f0e365247"
    fork = build.log(tmp_path / f"{fork_id}.jsonl", [
        *(line.replace(build.CLAUDE_ID.encode(), fork_id.encode()) for line in common),
        build.claude_user("Try again", 20, sessionId=fork_id),
        claude("d", 11, 21, sessionId=fork_id),
    ])  # fmt: skip
    one, other = counted(parent, fork)
    assert (one.tokens, other.tokens) == (Tokens(30, 62, 0, 3), Tokens(30, 66, 0, 3))
    whole = total([one, other])
    assert whole.tokens == Tokens(40, 73, 0, 4)
    assert (whole.counts.messages, whole.counts.users, whole.counts.assistants) == (6, 2, 4)


def test_copies_of_one_session_give_one_sum_in_whatever_order_they_come(tmp_path: Path) -> None:
    common = [build.claude_user("Go"), build.claude_call("c1", seconds=2)]
    rest = ([], [], [build.claude_result("c1", seconds=400), claude("b", 7, 401)],
            [build.claude_result("c1", seconds=9, failed=True)])  # fmt: skip
    paths = [
        build.log(tmp_path / str(n) / build.CLAUDE_FILE, [*common, *more])
        for n, more in enumerate(rest)
    ]
    sums = [total(counted(*order)) for order in permutations(paths)]
    assert all(of_stats(one) == of_stats(sums[0]) for one in sums)
    assert sums[0].counts.calls == 1
    assert [call.call_id for call in sums[0].in_flight] == ["c1"]
    assert sums[0].counts.open == 1


def test_the_cost_of_a_fork_begins_with_its_parents(tmp_path: Path) -> None:
    def cost(dollars: float) -> bytes:
        return build.claude_note("cost-state", totalCostUSD=dollars)

    common = [build.claude_user("Fix it", 1), claude("a", 50, 2)]
    parent = build.log(tmp_path / build.CLAUDE_FILE, [*common, cost(1.0)])
    fork = build.log(tmp_path / "6d222f59-9870-426c-8147-f79f0e365247.jsonl",
                     [*common, claude("b", 1, 9), cost(1.5)])  # fmt: skip
    assert total(counted(parent, fork)).cost == 1.5


def test_a_native_fork_its_parent_and_its_resumed_log_count_once(tmp_path: Path) -> None:
    def usage(seconds: float, tokens: int) -> bytes:
        return build.event("usage", seconds, text=f"input {tokens} output {tokens // 10}")

    common = [
        build.message("user", "Begin.", 1), usage(2, 100), build.request("c1", seconds=3),
        build.response("c1", seconds=4),
    ]  # fmt: skip
    parent = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), *common, usage(5, 300), build.message("bot", "Done.", 6), build.result(),
    ])  # fmt: skip
    fork = build.log(tmp_path / "20261127-230000.jsonl", [
        build.meta("20261127-230000", forkedFrom={"id": "20261127-220000", "at": 3}), *common,
        build.message("user", "Try again.", 3700),
    ])  # fmt: skip
    resumed = build.log(tmp_path / "20261127-231000.jsonl", [
        build.meta("20261127-231000", resumedFrom="20261127-230000", seconds=4200),
        build.message("user", "Go on.", 4201), usage(4202, 50),
    ])  # fmt: skip
    stats = counted(resumed, fork, parent)  # in whatever order they are named
    assert sum(s.tokens.input for s in stats if s.tokens) == 300 + 100 + 50
    whole = total(stats)
    assert whole.tokens == Tokens(350, 35)
    assert (whole.counts.messages, whole.counts.calls) == (4 + 1 + 1, 1)
    alone_fork = total(counted(fork))
    assert (alone_fork.counts.messages, alone_fork.tokens) == (4, Tokens(100, 10))


def test_a_codex_fork_that_replays_its_parent_counts_only_what_is_new(tmp_path: Path) -> None:
    # before 0.149: the parent's records, its head included, under new times
    other = "01a22748-0000-7db0-b19d-c1d5f7c6dafa"

    def run(shift: float) -> list[bytes]:
        return [
            build.codex_said("user", "Fix it", seconds=1 + shift),
            build.codex_call("c1", seconds=2 + shift), codex_count(100, 100, 3 + shift),
            build.codex_output("c1", seconds=4 + shift),
            build.codex_said("assistant", "Done.", seconds=5 + shift),
            codex_count(300, 200, 6 + shift),
        ]  # fmt: skip

    parent = build.log(tmp_path / build.CODEX_FILE, [build.codex_meta(), *run(0)])
    fork = build.log(tmp_path / f"rollout-2026-11-27T23-00-00-{other}.jsonl", [
        build.codex_meta(other, 3600, forked_from_id=build.CODEX_ID),
        build.codex_meta(seconds=3600),
        *run(3600), build.codex_said("user", "More", seconds=3700), codex_count(400, 100, 3710),
    ])  # fmt: skip
    whole = total(counted(parent, fork)).tokens
    assert whole is not None
    assert whole.input + whole.cache_read == 400


def test_two_runs_that_happen_to_use_alike_are_both_counted(tmp_path: Path) -> None:
    paths = []
    for i in (0, 1):
        id = f"20261127-22000{i}"
        paths.append(build.log(tmp_path / f"{id}.jsonl", [
            build.meta(id), build.message("user", "Begin."),
            build.event("usage", 3 + i, text="input 100 output 10"),
        ]))  # fmt: skip
    assert total(counted(*paths)).tokens == Tokens(200, 20)


def test_seen_is_asked_once_for_each_answer_and_log() -> None:
    seen = Seen()
    for expected in (Tokens(1, 2), Tokens()):
        meter = Meter(seen)
        for _ in range(3):
            meter.take(Usage(Tokens(1, 2), answer="a"))
        assert meter.close().fresh == expected
