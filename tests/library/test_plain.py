"""A conversation in plain messages: what is said in words, and what is left."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import build
import pytest

from sessionlog.errors import NotPossible
from sessionlog.plain import BEGINNING, LONGEST, Plain, plain
from sessionlog.reader import load


def of(folder: Path, lines: Iterable[bytes], at: int | None = None) -> Plain:
    return plain(load(build.log(folder / "a.jsonl", lines)), at)


def texts(found: Plain) -> list[tuple[str, str]]:
    return [(said.role, said.text) for said in found.said]


def test_calls_and_their_results_become_words_and_nothing_else_changes(tmp_path: Path) -> None:
    found = of(tmp_path, [
        build.meta(), build.message("user", "Begin."), build.message("bot", "I look."),
        build.request("c1", "bash", '{"command":"ls"}'),
        build.response("c1", "bash", '{"command":"ls"}', "a\nb"), build.message("bot", "Two."),
    ])  # fmt: skip
    assert texts(found) == [
        ("user", "Begin."),
        ("assistant", 'I look.\n\n[called bash: {"command":"ls"}]'),
        ("user", "[result of bash]\na\nb"),
        ("assistant", "Two."),
    ]
    assert (found.left, found.counts) == ((), "3 said, 1 call told in words")


def test_results_stand_behind_the_calls_that_were_made_together(tmp_path: Path) -> None:
    found = of(tmp_path, [
        build.meta(), build.message("user", "Begin."), build.request("c1"),
        build.request("c2", arguments='{"command":"b"}'), build.response("c2", result="two"),
        build.response("c1", result="one"), build.message("bot", "Done."),
    ])  # fmt: skip
    assert [role for role, _ in texts(found)] == ["user", "assistant", "user", "assistant"]
    assert texts(found)[2][1] == "[result of shell] one\n\n[result of shell] two"


def test_an_open_call_is_told_as_interrupted_and_a_late_result_at_its_call(tmp_path: Path) -> None:
    found = of(tmp_path, [
        build.meta(), build.message("user", "Begin."), build.request("c1"),
        build.request("c2", arguments='{"command":"b"}'), build.message("user", "Well?"),
        build.response("c2", arguments='{"command":"b"}', result="late"),
    ])  # fmt: skip
    assert texts(found)[2][1] == (
        "[result of shell] Interrupted by the user.\n\n[result of shell] late\n\nWell?"
    )
    assert len(found.said) == 3


def test_a_failed_call_says_so_and_one_without_output_too(tmp_path: Path) -> None:
    found = of(tmp_path, [
        build.claude_user("Begin."), build.claude_call("t1", "make"),
        build.claude_result("t1", "no rule", failed=True),
        build.claude_call("t2", "true", id="msg_2"), build.claude_result("t2", ""),
    ])  # fmt: skip
    assert texts(found)[2][1] == "[Bash failed] no rule"
    assert texts(found)[4][1] == "[result of Bash] (no output)"


def test_what_cannot_be_carried_is_named_and_counted(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                         "data": "aGVsbG8="}}  # fmt: skip
    found = of(tmp_path, [
        build.chat("system", "You are helpful."),
        build.chat("user", [{"type": "text", "text": "See this."}, image]),
        build.chat("assistant", [{"type": "thinking", "thinking": "hm"},
                                 {"type": "text", "text": "I see."}]),
        build.chat("user", [{"type": "tool_result", "tool_use_id": "nobody", "content": "x"}]),
    ])  # fmt: skip
    assert found.left == (
        "the system prompt", "1 reasoning block", "1 image", "1 result of no call",
    )  # fmt: skip
    assert texts(found) == [
        ("user", "See this.\n[picture: image/png, 5 bytes, not sent]"), ("assistant", "I see."),
    ]  # fmt: skip


def test_the_first_word_is_the_users(tmp_path: Path) -> None:
    found = of(tmp_path, [build.meta(), build.message("bot", "Hello.")])
    assert texts(found) == [("user", BEGINNING), ("assistant", "Hello.")]
    assert of(tmp_path, [build.meta()]).said == ()


def test_a_summary_is_told_by_the_user_and_what_it_replaced_is_not(tmp_path: Path) -> None:
    found = of(tmp_path, [
        build.meta(), build.message("user", "Old."), build.reset(2),
        build.message("checkpoint", "All of it was old.", 3), build.message("bot", "On.", 4),
    ])  # fmt: skip
    assert texts(found) == [
        ("user", "[summary of what came before]\nAll of it was old."), ("assistant", "On."),
    ]  # fmt: skip


def test_a_long_result_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    long = "a" * LONGEST + "the error"
    found = of(tmp_path, [
        build.meta(), build.message("user", "Begin."), build.request("c1"),
        build.response("c1", result=long),
    ])  # fmt: skip
    told = texts(found)[2][1]
    assert len(told) < LONGEST + 100
    assert told.endswith("the error")
    assert "[… 9 characters left out …]" in told
    assert found.left == ("the middle of 1 long result or call",)


def test_it_is_taken_from_an_earlier_message_with_the_call_there_closed(tmp_path: Path) -> None:
    lines = [build.meta(), build.message("user", "Begin."), build.request("c1"),
             build.response("c1"), build.message("bot", "Done.")]  # fmt: skip
    found = of(tmp_path, lines, at=2)
    assert [text for _, text in texts(found)][-1] == "[result of shell] Interrupted by the user."
    with pytest.raises(NotPossible, match="no message 9"):
        of(tmp_path, lines, at=9)


def test_times_are_those_of_the_first_text_and_half_characters_go(tmp_path: Path) -> None:
    found = of(tmp_path, [
        build.meta(), b'{"kind":"message","at":"2026-11-27T22:00:01Z","message":'
        b'{"type":"user","text":"\\ud800 go"}}\n', build.message("user", "on", 7),
    ])  # fmt: skip
    [said] = found.said
    assert (said.at, said.text) == ("2026-11-27T22:00:01Z", "\ufffd go\n\non")


@pytest.mark.parametrize("seed", range(60))
def test_whatever_the_log_the_two_take_turns_and_every_call_is_told_once(
    tmp_path: Path, seed: int
) -> None:
    path = build.log(tmp_path / "a.jsonl", build.scrambled(seed, 60))
    session = load(path)
    found = plain(session)
    roles = [said.role for said in found.said]
    assert all(a != b for a, b in pairwise(roles))
    assert roles[:1] in ([], ["user"])
    asked = sum(m.activity is not None and m.activity.kind == "request" for m in session.context)
    told = "\n".join(said.text for said in found.said)
    assert told.count("[called ") == found.calls == asked
    assert told.count("[result of ") + told.count(" failed] ") == asked
