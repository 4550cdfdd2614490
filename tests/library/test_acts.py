"""Repairs and forks of random sessions of every client (`acted`), and the kinds that they found."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import acted
import agentsession
import build
import gemini_logs
import opencode_logs
import pytest
import qwen_logs
from build import claude_call, claude_result, claude_said, claude_user, pi_call, pi_result, pi_said
from build import pi_user as user
from claude_logs import Chat

from sessionlog.cli import main
from sessionlog.errors import NotPossible
from sessionlog.plan import INTERRUPTED
from sessionlog.reader import load
from sessionlog.repairs import apply_repair, plan_repair, repair

Values = list[dict[str, Any]]


@pytest.mark.parametrize("seed", range(6 * len(acted.CLIENTS)))
def test_whatever_is_repaired_and_forked_can_be_gone_on_with(seed: int) -> None:
    assert acted.faults(seed) == []


def repaired(folder: Path, lines: Iterable[bytes], name: str) -> Values:
    """The lines of the repaired log, of which nothing is left to repair."""
    path = repair(build.log(folder / name, lines), folder / "new" / name, force=True)
    assert not plan_repair(load(path)).needed
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "new").mkdir()
    return tmp_path


def said(value: dict[str, Any]) -> str:
    return json.dumps(value)


# -- trees -------------------------------------------------------------------------------------


def pi(folder: Path, *lines: bytes) -> Values:
    return repaired(folder, [build.pi_head(), *lines], build.PI_FILE)[1:]


def links(values: Values, key: str = "id", parent: str = "parentId") -> list[tuple[str, str]]:
    return [(value[key], value[parent]) for value in values]


def call(id: str, parent: str | None, *calls: str) -> bytes:
    return pi_said(*(pi_call(one) for one in calls), id=id, parent=parent, stop="toolUse")


def test_a_lost_line_in_a_whole_log_is_bridged(folder: Path) -> None:
    # the client would send the second result without its call, which a service refuses
    made = pi(folder, user("Go", "a"), call("b", "a", "c1", "c2"), pi_result("c2", "two", "d", "c"),
              pi_said("Done.", id="e", parent="d"))  # fmt: skip
    assert [value["parentId"] for value in made[1:]] == [value["id"] for value in made[:-1]]
    assert sum(INTERRUPTED in said(value) for value in made) == 1


def test_a_lost_prompt_alone_makes_a_log_one_to_repair(folder: Path) -> None:
    made = pi(folder, user("Go", "a"), pi_said("Yes.", id="c", parent="b"))
    assert links(made) == [("a", None), ("c", "a")]


def test_swapped_lines_are_read_in_the_order_of_their_links(folder: Path) -> None:
    made = pi(folder, call("b", "a", "c1"), user("Go", "a"), pi_result("c1", "one", "d", "b"),
              pi_said("Done.", id="e", parent="d"))  # fmt: skip
    assert links(made) == [("a", None), ("b", "a"), ("d", "b"), ("e", "d")]


def test_a_result_that_a_branch_alone_has_goes_where_both_have_it(folder: Path) -> None:
    made = pi(folder, user("Go", "a"), call("b", "a", "c1"), pi_result("c1", "one", "d", "b"),
              pi_said("Left.", id="e", parent="d"), user("Anew", "f", "b"))  # fmt: skip
    _, b, moved, left, anew = made
    assert (moved["parentId"], anew["parentId"]) == (b["id"], moved["id"])
    assert left["parentId"] == moved["id"]


def test_a_result_whose_call_stands_on_another_branch_is_one_of_no_call(folder: Path) -> None:
    made = pi(folder, user("Go", "a"), call("b", "a", "c1"), user("Anew", "d", "a"),
              pi_result("c1", "late", "e", "d"), pi_said("Done.", id="f", parent="e"))  # fmt: skip
    assert not any("late" in said(value) for value in made)
    assert made[-1]["parentId"] == "d"


@pytest.mark.parametrize("damaged", [17, "", None])
def test_a_record_whose_own_id_is_damaged_gets_one(folder: Path, damaged: object) -> None:
    broken = build.line({**json.loads(pi_said("Yes.", id="b", parent="a")), "id": damaged})
    made = pi(folder, user("Go", "a"), broken, user("On", "c", "b"))
    assert made[1]["parentId"] == "a"
    assert made[2]["parentId"] == made[1]["id"]
    assert isinstance(made[1]["id"], str)


def test_a_record_whose_link_lost_its_name_follows_the_one_before_it(folder: Path) -> None:
    broken = pi_said("Yes.", id="b", parent="a").replace(b'"parentId"', b'"parenuId"')
    made = pi(folder, user("Go", "a"), broken, user("On", "c", "b"))
    assert links(made) == [("a", None), ("b", "a"), ("c", "b")]


def test_of_two_records_with_an_id_the_later_gets_another(folder: Path) -> None:
    made = pi(folder, user("Go", "c"), pi_said("Yes.", id="b", parent="a"), user("On", "c", "b"),
              pi_said("Done.", id="d", parent="c"))  # fmt: skip
    assert [value["parentId"] for value in made[1:]] == [value["id"] for value in made[:-1]]
    assert len({value["id"] for value in made}) == 4


def test_a_circle_of_links_begins_at_the_one_that_leads_ahead(folder: Path) -> None:
    made = pi(folder, user("Go", "a", "c"), call("b", "a", "c1"), pi_result("c1", "one", "c", "b"))
    assert links(made) == [("a", None), ("b", "a"), ("c", "b")]


def test_calls_of_two_branches_are_closed_each_on_its_own(folder: Path) -> None:
    made = pi(folder, user("Go", "a"), call("b", "a", "c1"), call("d", None, "c2"),
              pi_result("c2", "two", "e", "d"))  # fmt: skip
    _, b, closed, d, e = made
    assert (closed["parentId"], d["parentId"], e["parentId"]) == (b["id"], None, d["id"])
    assert INTERRUPTED in said(closed)


def test_a_result_of_nobody_does_not_answer_a_later_call_of_its_id(folder: Path) -> None:
    lines = [user("Go", "a"), pi_result("c1", "nobody's", "b", "a"), user("On", "c", "b"),
             call("d", "c", "c1")]  # fmt: skip
    assert load(build.log(folder / build.PI_FILE, [build.pi_head(), *lines])).open_calls
    made = pi(folder, *lines)
    assert not any("nobody's" in said(value) for value in made)
    assert INTERRUPTED in said(made[-1])


def test_a_result_of_no_call_at_the_end_does_not_hide_the_branch_before_it(folder: Path) -> None:
    made = pi(folder, user("Go", "a"), call("b", "a", "c1"), pi_result("c9", "lost", "c", None))
    assert [value["id"] for value in made[:2]] == ["a", "b"]
    assert INTERRUPTED in said(made[2])


def test_two_records_on_a_line_are_parted_for_a_client_that_reads_lines(folder: Path) -> None:
    glued = user("Go", "a").rstrip(b"\n") + pi_said("Yes.", id="b", parent="a")
    assert links(pi(folder, glued)) == [("a", None), ("b", "a")]


def test_the_answer_of_a_doubled_line_is_known_again_without_an_id(folder: Path) -> None:
    tree = agentsession.Tree().said("user", "Q").said("assistant", "A")
    session = load(build.log(folder / "x.jsonl", [*tree.lines, tree.lines[-1]]))
    assert [step.again for step in session.history] == [False, False, True]


def qwen(folder: Path, *lines: bytes) -> Values:
    return repaired(folder, lines, qwen_logs.FILE)


def test_two_sessions_in_a_log_become_one(folder: Path) -> None:
    other = qwen_logs.said("Yes.", id="b", parent="a").replace(qwen_logs.ID.encode(), b"other")
    made = qwen(folder, qwen_logs.user("Go", "a"), other)
    assert len({value["sessionId"] for value in made}) == 1


def test_a_note_that_lost_its_session_does_not_end_the_way(folder: Path) -> None:
    note = qwen_logs.telemetry("api_response", "b", "a").replace(b'"sessionId"', b'"sesrionId"')
    lines = [qwen_logs.user("Go", "a"), note, qwen_logs.said(qwen_logs.call("c1"), id="c",
             parent="b")]  # fmt: skip
    made = qwen(folder, *lines)
    assert all("sessionId" in value for value in made)


def test_of_doubled_keys_the_last_is_the_link(folder: Path) -> None:
    twice = (
        qwen_logs.said("Yes.", id="b", parent="a")[:-2] + b',"parentUuid":"gone","sessionId":"x"}\n'
    )
    made = qwen(folder, qwen_logs.user("Go", "a"), twice)
    assert links(made, "uuid", "parentUuid") == [("a", None), ("b", "a")]
    assert made[0]["sessionId"] == made[1]["sessionId"]


# -- Claude Code -------------------------------------------------------------------------------


def claude(folder: Path, lines: Iterable[bytes]) -> Values:
    return repaired(folder, lines, build.CLAUDE_FILE)


def chain(values: Values) -> list[str | None]:
    return [value["parentUuid"] for value in values]


def test_what_followed_a_result_of_no_call_goes_on_from_the_record_before_it(folder: Path) -> None:
    # the result hangs on its call of long ago, and with it all that came since was lost
    chat = Chat()
    chat.user("Go")
    asked = chat.call("c1")
    chat.result("c1")
    last = chat.said("Half")
    chat.result("c1", asked)
    chat.said("Done.")
    assert chain(claude(folder, chat.lines))[-1] == last


@pytest.mark.parametrize("at", [3, 4])
def test_an_answer_or_a_prompt_without_links_follows_what_is_before_it(
    folder: Path, at: int
) -> None:
    chat = Chat()
    chat.user("Go")
    for word in ("one", "two", "three"):
        chat.call(word)
        chat.result(word)
    chat.lines.append(claude_call("open", id="m9"))
    value = json.loads(chat.lines[at])
    chat.lines[at] = build.line({**value, "parentUuid": None})
    made = claude(folder, chat.lines)
    assert chain(made)[at] == made[at - 1]["uuid"]


def test_a_log_without_links_gets_them(folder: Path) -> None:
    lines = [claude_user("Go", 1), claude_said("Yes.", id="a", seconds=2), claude_user("On", 3),
             claude_call("c1", id="b", seconds=4)]  # fmt: skip
    made = claude(folder, lines)
    assert chain(made) == [None, *(value["uuid"] for value in made[:-1])]


def test_a_call_without_a_name_of_its_record_is_closed_behind_it(folder: Path) -> None:
    chat = Chat()
    chat.user("Go")
    chat.call("c1")
    chat.lines[-1] = chat.lines[-1].replace(b'"uuid":"k2"', b'"uuid":7')
    made = claude(folder, chat.lines)
    assert chain(made) == [None, "k1", made[1]["uuid"]]
    assert isinstance(made[1]["uuid"], str)


def test_a_result_of_a_call_that_was_taken_back_is_one_of_no_call(folder: Path) -> None:
    chat = Chat()
    chat.user("Go")
    first = chat.said("First.")
    chat.user("Fix it")
    chat.call("c1")
    chat.user("Anew", first)
    chat.result("c1")
    chat.said("Done.")
    made = claude(folder, chat.lines)
    assert not any("result c1" in said(value) for value in made)


def test_a_second_result_in_what_was_taken_back_is_left_out(folder: Path) -> None:
    # the client sends every result that names a call, wherever it stands
    chat = Chat()
    chat.user("Go")
    asked = chat.call("c1")
    last = chat.result("c1")
    chat.user("Fix it")
    chat.add(claude_result("c1", "again"), asked)
    chat.user("Anew", last)
    made = claude(folder, chat.lines)
    assert not any("again" in said(value) for value in made)


def test_a_uuid_that_is_anothers_is_changed(folder: Path) -> None:
    chat = Chat()
    chat.user("Go")
    chat.call("c1")
    chat.lines.append(claude_result("c1", seconds=1).replace(b'"u1"', b'"k1"'))
    chat.call("c2")
    made = claude(folder, chat.lines)
    assert len({value["uuid"] for value in made}) == 5


# -- other clients -----------------------------------------------------------------------------


def codex(folder: Path, *lines: bytes, head: bytes = b"") -> Values:
    return repaired(folder, [head or build.codex_meta(), *lines], build.CODEX_FILE)


def test_a_call_that_lost_its_id_is_left_out_as_the_client_does_not_read_it(folder: Path) -> None:
    broken = build.codex_call("c1").replace(b'"call_id"', b'"calm_id"')
    made = codex(folder, build.codex_said("user", "Go"), broken)
    assert len(made) == 2


def test_a_line_of_an_unknown_kind_is_no_item(folder: Path) -> None:
    strange = build.line({"type": "unheard", "timestamp": build.at(), "x": [1]})
    made = codex(folder, build.codex_said("user", "Go"), strange, build.codex_call("c1"))
    assert made[2] == json.loads(strange)


def test_a_head_that_lost_its_number_gets_one_where_the_others_have(folder: Path) -> None:
    values = [json.loads(line) for line in (build.codex_said("user", "Go"), build.codex_call("c1"))]
    lines = [build.line({"ordinal": n, **value}) for n, value in enumerate(values, 1)]
    made = codex(folder, *lines, head=build.codex_meta(history_mode="paginated"))
    assert [value["ordinal"] for value in made] == [0, 1, 2, 3]


def gemini(folder: Path, *values: dict[str, Any]) -> Values:
    lines = [*gemini_logs.start(), *map(build.line, values)]
    return repaired(folder, lines, gemini_logs.FILE)


def test_a_result_of_no_call_stays_out_however_often_it_is_told(folder: Path) -> None:
    lost = [gemini_logs.answer("nobody", {"output": "lost"})]
    made = gemini(folder, gemini_logs.user("u1", "Go"), gemini_logs.user("r1", lost),
                  gemini_logs.model("m1", "Yes."), gemini_logs.user("r2", lost))  # fmt: skip
    assert not any("lost" in said(value) for value in made)


def test_a_result_that_a_message_of_the_user_told_first_is_told_there_alone(folder: Path) -> None:
    early = [gemini_logs.answer("c1", {"output": "early"})]
    made = gemini(
        folder, gemini_logs.user("u1", "Go"),
        gemini_logs.model("m1", "", gemini_logs.call("c1", None), gemini_logs.call("c2", None)),
        gemini_logs.user("r1", early),
        gemini_logs.model("m1", "", gemini_logs.call("c1", "late"), gemini_logs.call("c2", "two")),
        gemini_logs.model("m2", "", gemini_logs.call("c3", None)),
    )  # fmt: skip
    told = gemini_logs.sent(folder / "new" / gemini_logs.FILE)
    assert [one[0] for one in told if isinstance(one, tuple)] == ["c2", "c1", "c3"]
    assert not any("late" in said(value) for value in made)


def opencode(folder: Path, tool: dict[str, Any]) -> dict[str, Any]:
    messages = [opencode_logs.user(1, "Go"), opencode_logs.answer(2, tool)]
    source = opencode_logs.export(folder / "x.json", messages)
    path = repair(source, folder / "new" / "x.json", force=True)
    assert not plan_repair(load(path)).needed
    part: dict[str, Any] = json.loads(path.read_bytes())["messages"][1]["parts"][0]
    return part


def test_a_call_in_a_state_that_nobody_knows_is_closed(folder: Path) -> None:
    state = opencode(folder, opencode_logs.tool(201, "cojpleted"))["state"]
    assert (state["status"], state["error"]) == ("error", INTERRUPTED)


def test_a_call_that_lost_its_id_has_that_of_its_part(folder: Path) -> None:
    tool = opencode_logs.tool(201)
    del tool["callID"]
    made = opencode(folder, tool)
    assert (made["callID"], made["state"]["output"]) == (tool["id"], "done")


def test_a_healthy_log_of_another_shape_is_copied_in_the_shape_of_its_client(folder: Path) -> None:
    export = opencode_logs.export(folder / "x.json", opencode_logs.healthy())
    made = json.loads(repair(export, folder / "new" / "x.json").read_bytes())
    assert [message["info"]["role"] for message in made["messages"]] == ["user", *["assistant"] * 2]
    log = build.log(folder / gemini_logs.FILE, gemini_logs.healthy())
    copy = repair(log, folder / "new" / gemini_logs.FILE)
    assert b"$told" not in copy.read_bytes()
    told = gemini_logs.sent(log)
    once = [one for n, one in enumerate(told) if one not in told[:n]]
    assert gemini_logs.sent(copy) == once


def test_a_log_of_which_nothing_is_left_is_refused_in_a_sentence(folder: Path) -> None:
    lines = [qwen_logs.result("c1", id="a")]
    plan = plan_repair(load(build.log(folder / qwen_logs.FILE, lines)))
    with pytest.raises(NotPossible, match="nothing is left of it"):
        apply_repair(plan, folder / "new" / "x.jsonl")


def test_links_alone_are_told_by_the_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [build.pi_head(), user("go", "a"), pi_said("here", id="b", parent="gone")]
    path = build.log(folder / build.PI_FILE, lines)
    assert main(["repair", str(path), "--dry-run"]) == 0
    assert "led on: 1 behind a broken link" in capsys.readouterr().out
    assert main(["repair", str(path), "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unreached"] == 1
