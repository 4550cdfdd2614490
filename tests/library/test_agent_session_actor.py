"""Acting on Agent Session logs: entries are linked again, and all other bytes stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agentsession import ID, Tree

from sessionlog.errors import NotPossible
from sessionlog.forks import apply_fork, fork, plan_fork
from sessionlog.reader import load
from sessionlog.repairs import plan_repair, repair


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def sound(path: Path) -> None:
    """What a reader has to refuse: a parent that is not before its child, an id that is taken."""
    seen: set[str] = set()
    for entry in entries(path)[1:]:
        assert entry["parent"] is None or entry["parent"] in seen
        assert entry["id"] not in seen
        seen.add(entry["id"])


def written(tree: Tree, folder: Path) -> Path:
    tree.read(folder)
    return folder / "x.jsonl"


def test_an_open_call_is_closed_in_its_turn_and_what_followed_follows_that(tmp_path: Path) -> None:
    tree = Tree().said("user", "Q").call("c1").said("user", "go on", "later").said("assistant", "A")
    path = written(tree, tmp_path)
    before = path.read_bytes()
    made = repair(path)
    session = load(made)
    sound(made)
    assert path.read_bytes() == before
    assert session.open_calls == session.orphan_results == ()
    assert [m.text for m in session.messages] == ["Q", "", "Interrupted by the user.", "go on", "A"]
    head = entries(made)[0]
    assert (head["id"], head["parent_session"]) == (made.stem, ID)
    assert session.meta.forked_from is not None
    assert session.meta.forked_from.id == ID
    assert repair(made) == made  # nothing is left to do


def test_two_open_calls_are_both_closed(tmp_path: Path) -> None:
    tree = Tree().said("user", "Q").call("c1", response="r").call("c2", response="r")
    made = repair(written(tree, tmp_path))
    sound(made)
    assert load(made).open_calls == ()
    assert [e["item"]["call_id"] for e in entries(made)[-2:]] == ["c1", "c2"]


def test_a_late_output_goes_to_its_call_and_one_of_no_call_is_left_out(tmp_path: Path) -> None:
    tree = Tree().said("user", "Q").call("c1").said("user", "wait", "w").output("c1", "late", "o")
    tree.output("c9", "of none", "lost").said("assistant", "A")
    made = repair(written(tree, tmp_path))
    sound(made)
    assert [m.text for m in load(made).messages] == ["Q", "", "late", "wait", "A"]


def test_a_compaction_names_what_is_still_there(tmp_path: Path) -> None:
    tree = Tree().said("user", "Q").output("c9", "of none", "lost").said("user", "kept", "k")
    tree.add("compaction", first_kept="lost", summary={"type": "message", "content": "S"})
    made = repair(written(tree.said("assistant", "A"), tmp_path))
    assert [m.text for m in load(made).messages] == ["S", "kept", "A"]


def test_a_branch_that_was_left_is_closed_and_linked_too(tmp_path: Path) -> None:
    tree = Tree().said("user", "Q", "q").call("c1").said("user", "other", parent="q")
    made = repair(written(tree.said("assistant", "A"), tmp_path))
    sound(made)
    assert [m.text for m in load(made).messages] == ["Q", "other", "A"]


def test_a_fork_at_every_message_holds_the_conversation_as_it_stood(tmp_path: Path) -> None:
    tree = Tree().add("config", model="m").said("user", "Q").call("c1").call("c2")
    path = written(tree.output("c2", "2").output("c1", "1").said("assistant", "A"), tmp_path)
    whole = load(path)
    for at in range(1, len(whole.history) + 1):
        made = fork(path, at)
        sound(made)
        session = load(made)
        assert session.open_calls == session.orphan_results == ()
        told = [m.text for m in session.messages if m.text != "Interrupted by the user."]
        assert told == [step.message.text for step in whole.history[:at]]


def test_the_note_is_the_last_message_and_the_same_plan_gives_the_same_bytes(
    tmp_path: Path,
) -> None:
    path = written(Tree().said("user", "Q").call("c1"), tmp_path)
    plan = plan_fork(load(path), 2)
    one = apply_fork(plan, tmp_path / "one.jsonl", told="Go on.")
    (tmp_path / "sub").mkdir()
    two = apply_fork(plan, tmp_path / "sub" / "one.jsonl", told="Go on.")
    assert one.read_bytes() == two.read_bytes()
    sound(one)
    assert [m.text for m in load(one).messages][-2:] == ["Interrupted by the user.", "Go on."]


def test_kept_entries_keep_every_byte(tmp_path: Path) -> None:
    tree = Tree(acme="kept").said("user", "Q", "q").call("c1").said("user", "on", "o")
    odd = b'{"n":1180591620717411303424, "type":"acme:x","parent":"o","id":"z","ts":"t","n":1e3}\n'
    tree.lines.append(odd)
    path = written(tree, tmp_path)
    old, new = path.read_bytes().splitlines(), repair(path).read_bytes().splitlines()
    assert old[1] == new[1]
    assert old[2] == new[2]
    assert old[-1] == new[-1]
    assert b'"acme":"kept"' in new[0]


def test_a_log_whose_ids_are_hashes_is_refused_with_what_can_be_done(tmp_path: Path) -> None:
    for version in ("0.5", "0.10", "1.0"):
        path = written(Tree(version=version).said("user", "Q").call("c1"), tmp_path)
        assert plan_repair(load(path)).needed
        with pytest.raises(NotPossible, match=r"hashes.*--agent"):
            repair(path)
        assert [p.name for p in tmp_path.iterdir()] == ["x.jsonl"]
