"""Acting on pi's logs: what a fork and a repair are for the client that goes on with them.

`walked` reads a log as the client does (0.73.1): whole lines that are JSON, the first one the
header, from the last entry to the root.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import build
import pytest
from build import pi_call as call
from build import pi_entry as entry
from build import pi_head as head
from build import pi_result as result
from build import pi_said as said
from build import pi_user as user

from sessionlog.errors import DamagedLog
from sessionlog.forks import apply_fork, fork, plan_fork
from sessionlog.formats.base import Birth, Composer, Said
from sessionlog.formats.pi import Pi
from sessionlog.formats.pi_actor import PiActor
from sessionlog.plan import INTERRUPTED
from sessionlog.reader import load
from sessionlog.repairs import repair

NOW = datetime(2026, 11, 30, 6, 5, 4, 321_000, UTC)
ACTOR = PiActor()


def values(path: Path) -> list[dict[str, Any]]:
    found = []
    for line in path.read_bytes().split(b"\n"):
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def walked(path: Path) -> list[dict[str, Any]]:
    first, *entries = values(path)
    assert first["type"] == "session"
    by_id = {e["id"]: e for e in entries}
    assert len(by_id) == len(entries)
    way, at = [], entries[-1]["id"]
    while at is not None and at in by_id:
        way.append(by_id[at])
        at = by_id[at]["parentId"]
    return way[::-1]


def words(way: list[dict[str, Any]]) -> list[str]:
    """What stands on the way, in short: u:text, a:text or a:call ids, r:id:text."""
    told = []
    for message in (e["message"] for e in way if e["type"] == "message"):
        text = "".join(b.get("text", "") for b in message["content"])
        ids = [b["id"] for b in message["content"] if b["type"] == "toolCall"]
        if message["role"] == "toolResult":
            told.append(f"r:{message['toolCallId']}:{text}")
        else:
            told.append(f"{message['role'][0]}:{text}{'+'.join(ids)}")
    return told


def log(folder: Path, *lines: bytes, tail: bytes = b"") -> Path:
    return build.log(folder / build.PI_FILE, lines, tail)


def killed() -> list[bytes]:
    """Killed in two calls."""
    return [
        head(), entry("model_change", "a0", None, 0, provider="p", modelId="m"),
        user("Fix it", "a1", "a0"),
        said(call("c1"), call("c2"), id="a2", parent="a1", stop="toolUse"),
    ]  # fmt: skip


def test_open_calls_are_closed_in_a_chain_behind_their_answer(tmp_path: Path) -> None:
    source = log(tmp_path, *killed())
    before = source.read_bytes()
    made = repair(source, now=NOW)
    assert words(walked(made)) == ["u:Fix it", "a:c1+c2", f"r:c1:{INTERRUPTED}",
                                   f"r:c2:{INTERRUPTED}"]  # fmt: skip
    last = walked(made)[-1]["message"]
    assert (last["toolName"], last["isError"], type(last["timestamp"])) == ("bash", True, int)
    assert source.read_bytes() == before
    assert made.read_bytes().split(b"\n")[1:4] == before.split(b"\n")[1:4]
    read = load(made)
    assert (read.open_calls, read.orphan_results) == ((), ())


def test_the_new_log_has_an_id_of_its_own_and_names_its_parent(tmp_path: Path) -> None:
    source = log(tmp_path, *killed())
    made = repair(source, now=NOW)
    first = values(made)[0]
    assert made.name == f"2026-11-30T06-05-04-321Z_{first['id']}.jsonl"
    assert first["parentSession"] == str(source)
    assert first["id"] != build.PI_ID
    assert first["cwd"] == "/srv/app"
    read = load(made)
    assert read.id == first["id"]
    assert read.meta.forked_from is not None
    assert read.meta.forked_from.id == build.PI_ID


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    session = load(log(tmp_path, *killed()))
    plans = [plan_fork(session, 2, now=NOW) for _ in range(2)]
    assert (plans[0].id, plans[0].path) == (plans[1].id, plans[1].path)
    first = apply_fork(plans[0])
    data = first.read_bytes()
    first.unlink()
    assert apply_fork(plans[1]).read_bytes() == data


def test_what_followed_an_open_call_follows_its_closing_line(tmp_path: Path) -> None:
    later = [user("Go on", "a3", "a2"), said("Done.", id="a4", parent="a3")]
    made = repair(log(tmp_path, *killed(), *later), now=NOW)
    assert words(walked(made)) == ["u:Fix it", "a:c1+c2", f"r:c1:{INTERRUPTED}",
                                   f"r:c2:{INTERRUPTED}", "u:Go on", "a:Done."]  # fmt: skip
    assert [e["id"] for e in walked(made)[-2:]] == ["a3", "a4"]


@pytest.mark.parametrize("n", range(1, 5))
def test_a_cut_at_any_message_leaves_a_way_to_the_root(tmp_path: Path, n: int) -> None:
    made = fork(log(tmp_path, *build.pi_healthy()), n, now=NOW)
    whole = ["u:Fix it", "a:c1", "r:c1:done", "a:Done."]
    told = words(walked(made))
    assert told[:n] == whole[:n]
    assert told[n:] == ([f"r:c1:{INTERRUPTED}"] if n == 2 else [])


def test_a_late_result_goes_to_its_call_and_its_follower_keeps_its_way(tmp_path: Path) -> None:
    lines = [*killed(), result("c1", id="a3", parent="a2"), user("Go on", "a4", "a3"),
             result("c2", "late", "a5", "a4"), said("Done.", id="a6", parent="a5")]  # fmt: skip
    made = repair(log(tmp_path, *lines), now=NOW)
    assert words(walked(made)) == ["u:Fix it", "a:c1+c2", "r:c1:done", "r:c2:late", "u:Go on",
                                   "a:Done."]  # fmt: skip


def test_a_result_of_no_call_is_left_out_and_bridged(tmp_path: Path) -> None:
    lines = [*build.pi_healthy(), result("nobody", id="b1", parent="a4"), user("On", "b2", "b1")]
    made = repair(log(tmp_path, *lines), now=NOW)
    assert words(walked(made)) == ["u:Fix it", "a:c1", "r:c1:done", "a:Done.", "u:On"]


def test_calls_of_an_answer_that_broke_off_are_not_closed(tmp_path: Path) -> None:
    # the client hands such an answer over to nobody: a result of its calls would answer none
    lines = [head(), user("one", "a1"), said(call("c1"), id="a2", parent="a1", stop="aborted"),
             user("two", "a3", "a2")]  # fmt: skip
    source = log(tmp_path, *lines)
    assert repair(source, now=NOW) == source
    assert words(walked(fork(source, 3, now=NOW))) == ["u:one", "a:c1", "u:two"]


def test_a_torn_tail_is_left_out_and_the_log_ends_with_a_line_feed(tmp_path: Path) -> None:
    lines = build.pi_healthy()
    made = repair(log(tmp_path, *lines[:-1], tail=lines[-1][:60]), now=NOW)
    assert words(walked(made)) == ["u:Fix it", "a:c1", "r:c1:done"]
    assert made.read_bytes().endswith(b"}\n")


def test_what_the_client_glued_onto_a_torn_line_is_found_again(tmp_path: Path) -> None:
    lines = build.pi_healthy()
    glued = lines[3][:-60] + user("Go on", "b1", "a1")
    source = log(tmp_path, *lines[:3], glued, said("Done.", id="b2", parent="b1"))
    with pytest.raises(DamagedLog):
        repair(source)
    made = repair(source, force=True, now=NOW)
    assert words(walked(made)) == ["u:Fix it", "u:Go on", "a:Done."]


def test_a_lost_line_in_the_middle_is_bridged(tmp_path: Path) -> None:
    lines = build.pi_healthy()
    lines[4] = b"\0" * 40 + b"\n"
    made = repair(log(tmp_path, *lines), force=True, now=NOW)
    assert words(walked(made)) == ["u:Fix it", "a:c1", f"r:c1:{INTERRUPTED}", "a:Done."]


def test_a_garbage_line_costs_nothing(tmp_path: Path) -> None:
    lines = build.pi_healthy()
    made = repair(log(tmp_path, *lines[:3], b'{"broken\n', *lines[3:]), force=True, now=NOW)
    assert words(walked(made)) == ["u:Fix it", "a:c1", "r:c1:done", "a:Done."]


def branched() -> list[bytes]:
    return [
        *killed(),
        user("Other way", "b1", "a1"),
        said("Done.", id="b2", parent="b1"),
    ]


def test_a_fork_on_a_branch_that_was_left_goes_on_there(tmp_path: Path) -> None:
    source = log(tmp_path, *branched())
    left = fork(source, 3, now=NOW)
    assert words(walked(left)) == ["u:Fix it", "a:c1+c2", f"r:c1:{INTERRUPTED}",
                                   f"r:c2:{INTERRUPTED}"]  # fmt: skip
    assert words(walked(fork(source, 5, now=NOW))) == ["u:Fix it", "u:Other way", "a:Done."]


def test_closing_a_branch_that_was_left_does_not_touch_the_one_that_counts(tmp_path: Path) -> None:
    made = repair(log(tmp_path, *branched()), now=NOW)
    assert words(walked(made)) == ["u:Fix it", "u:Other way", "a:Done."]
    assert load(made).open_calls == ()


def test_a_compaction_still_finds_the_first_entry_that_it_keeps(tmp_path: Path) -> None:
    orphan = result("nobody", id="a3", parent="a2")
    lines = [head(), user("one", "a1"), said("two", id="a2", parent="a1"), orphan,
             user("three", "a4", "a3"),
             entry("compaction", "a5", "a4", summary="S", firstKeptEntryId="a3"),
             said("four", id="a6", parent="a5")]  # fmt: skip
    made = repair(log(tmp_path, *lines), now=NOW)
    assert [m.text for m in load(made).messages] == ["S", "three", "four"]


def test_version_1_stays_a_list_and_counts_the_entries_of_the_new_log(tmp_path: Path) -> None:
    lines = [head(version=None), user("one"), said(call("c1"), stop="toolUse"), user("two"),
             user("three"), entry("compaction", summary="S", firstKeptEntryIndex=4),
             said("four")]  # fmt: skip
    made = repair(log(tmp_path, *lines), now=NOW)
    assert all("parentId" not in value for value in values(made))
    assert [v["message"]["role"] for v in values(made)[2:4]] == ["assistant", "toolResult"]
    assert [m.text for m in load(made).messages] == ["S", "three", "four"]


def test_version_2_stays_version_2(tmp_path: Path) -> None:
    first, *rest = killed()
    made = repair(log(tmp_path, head(version=2), *rest), now=NOW)
    assert first != head(version=2)
    assert values(made)[0]["version"] == 2


def test_a_lost_header_is_made_anew(tmp_path: Path) -> None:
    made = repair(log(tmp_path, b"{torn\n", *killed()[1:]), force=True, now=NOW)
    assert (values(made)[0]["version"], values(made)[0]["id"]) == (3, load(made).id)
    assert len(words(walked(made))) == 4


def test_what_the_agent_is_told_is_the_last_entry(tmp_path: Path) -> None:
    plan = plan_fork(load(log(tmp_path, *killed())), 3, now=NOW)
    made = apply_fork(plan, told="You were stopped.\ud800")
    assert words(walked(made))[-1].startswith("u:You were stopped.")


def test_a_call_without_an_id_is_left_out_of_its_answer(tmp_path: Path) -> None:
    lines = [head(), user("one", "a1"),
             said("I look", call(""), id="a2", parent="a1", stop="toolUse")]  # fmt: skip
    made = repair(log(tmp_path, *lines), now=NOW)
    assert words(walked(made)) == ["u:one", "a:I look"]


def test_a_session_is_composed_of_plain_messages_where_the_client_looks(tmp_path: Path) -> None:
    assert isinstance(ACTOR, Composer)
    taken: set[str] = set()
    id, path = ACTOR.home("/srv/my app", NOW, {"HOME": str(tmp_path)}, taken.__contains__)
    folder = tmp_path / ".pi" / "agent" / "sessions" / "--srv-my app--"
    assert path == str(folder / f"2026-11-30T06-05-04-321Z_{id}.jsonl")
    assert ACTOR.home("/srv/my app", NOW, {"HOME": str(tmp_path)}, {path}.__contains__)[0] != id
    own = ACTOR.home("/srv", NOW, {"PI_CODING_AGENT_SESSION_DIR": "/logs"}, taken.__contains__)[1]
    assert own.rpartition("/")[0] == "/logs"
    birth = Birth(id, "p", None, build.at(9), "Go on.", "/srv/my app", "The greeting")
    talk = [Said("user", "Fix it", build.at(1)), Said("assistant", "Half done.")]
    made = build.log(tmp_path / "x.jsonl", (line + b"\n" for line in ACTOR.compose(talk, birth)))
    assert words(walked(made)) == ["u:Fix it", "a:Half done.", "u:Go on."]
    read = load(made)
    assert (read.format, read.id, read.title) == ("pi", id, "The greeting")
    assert read.meta.workdir == "/srv/my app"


@pytest.mark.parametrize("seed", range(20))
def test_any_tree_can_be_repaired_and_then_needs_nothing(tmp_path: Path, seed: int) -> None:
    source = log(tmp_path, *build.pi_tree(seed))
    before = source.read_bytes()
    made = repair(source, force=True, now=NOW)
    assert source.read_bytes() == before
    read = load(made)
    assert (read.open_calls, read.orphan_results, read.damages) == ((), (), ())
    assert repair(made) == made
    assert Pi().actor is not None
    if made != source:
        _first, *entries = values(made)
        known = {None}
        for value in entries:
            assert value["parentId"] in known
            known.add(value["id"])
