"""Acting on Claude Code's logs: what the client reaches in the new log, and what stays as it was.

`sent` walks a log as the client does when it resumes (2.1.332): from the last record by
`parentUuid` to the root, with the other blocks of each answer, and the results of its calls.
"""

from __future__ import annotations

import json
import os
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import build
import pytest
from build import claude_call as call
from build import claude_line, claude_note, claude_system
from build import claude_result as result
from build import claude_said as said
from build import claude_user as user

from sessionlog.forks import apply_fork, fork, plan_fork
from sessionlog.formats.base import Birth, Said
from sessionlog.formats.claude_actor import ClaudeActor
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Origin, shown_type
from sessionlog.repairs import plan_repair, repair

CASES = os.environ.get("SESSIONLOG_CASES", "")
TEXT = "Interrupted by the user."
NOW = datetime(2026, 11, 29, 8, tzinfo=UTC)


def values(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def chain(*lines: bytes) -> list[bytes]:
    """The lines as the client links them: a record on the one before it, a result on its call."""
    made, last, calls = [], None, {}
    for number, line in enumerate(lines):
        value = json.loads(line)
        if "uuid" in value:
            value["uuid"] = f"u{number}"
            blocks = value.get("message", {}).get("content")
            for block in blocks if isinstance(blocks, list) else []:
                if block["type"] == "tool_use":
                    calls[block["id"]] = value["uuid"]
                if block["type"] == "tool_result":
                    last = value["sourceToolAssistantUUID"] = calls.get(block["tool_use_id"], last)
            root = value.get("subtype") == "compact_boundary"
            value["parentUuid"] = None if root else last
            last = value["uuid"]
        made.append(build.line(value))
    return made


def sent(path: Path) -> set[str]:
    """uuids of the records that the client gathers when it resumes the log."""
    rows = {row["uuid"]: row for row in values(path) if "uuid" in row}
    main = [row for row in rows.values() if not row["isSidechain"]]
    at: str | None = [r for r in main if r["type"] in ("user", "assistant")][-1]["uuid"]
    way: set[str] = set()
    while at in rows and at not in way:
        way.add(at)
        kept = rows[at].get("compactMetadata", {}).get("preservedSegment", {})
        at = rows[at]["parentUuid"] or kept.get("tailUuid")
    answers = {rows[key]["message"]["id"] for key in way if rows[key]["type"] == "assistant"}
    way |= {r["uuid"] for r in main if r["type"] == "assistant" and r["message"]["id"] in answers}
    return way | {r["uuid"] for r in main if r.get("sourceToolAssistantUUID") in way}


def reaches_all(path: Path) -> None:
    """Everything in the context is sent, every call answered; a repair has nothing to do."""
    read = load(path)
    assert not read.damages
    assert not read.open_calls
    assert not read.orphan_results
    assert not plan_repair(read).needed
    missing = [s.record.key for s in read.history if s.in_context and s.record.key]
    assert set(missing) <= sent(path)


RUN = chain(
    claude_note("queue-operation", operation="enqueue", content="Fix it"),
    user("Fix it", 1),
    claude_line("attachment", 2, attachment={"type": "date"}),
    said("Two at once.", seconds=3),
    call("c1", "ls", seconds=4),
    call("c2", "make", seconds=5),
    result("c1", seconds=6),
    claude_note("last-prompt", lastPrompt="Fix it", leafUuid="u6"),
    result("c2", seconds=8),
    said("Next.", id="msg_2", seconds=9),
    call("c3", "make", id="msg_2", seconds=10),
    result("c3", seconds=11),
    said("Done.", id="msg_3", seconds=12),
    user("And the docs", 13),
    said("They too.", id="msg_4", seconds=14),
)  # fmt: skip


def test_a_closing_line_is_what_the_client_itself_would_have_written(tmp_path: Path) -> None:
    path = build.log(tmp_path / build.CLAUDE_FILE, RUN[:7])
    made = values(repair(path, now=NOW))
    asked, closing = made[5], made[-1]
    block = {"type": "tool_result", "tool_use_id": "c2", "content": TEXT, "is_error": True}
    assert closing["message"] == {"role": "user", "content": [block]}
    assert closing["toolUseResult"] == f"Error: {TEXT}"
    assert closing["parentUuid"] == closing["sourceToolAssistantUUID"] == asked["uuid"]
    same = ("cwd", "version", "gitBranch", "userType", "isSidechain", "sessionId")
    assert [closing[key] for key in same] == [asked[key] for key in same]
    assert uuid.UUID(closing["uuid"])
    assert closing["timestamp"] == made[6]["timestamp"]


def test_the_new_log_has_the_new_id_on_every_line_and_all_else_as_it_was(tmp_path: Path) -> None:
    odd = (b'{"sessionId" : "' + build.CLAUDE_ID.encode() + b'", "type":"mode", "n":1e400,'
           b' "n":99999999999999999999}\n')  # fmt: skip
    spoken = user(
        f'the text "sessionId":"{build.CLAUDE_ID}" stays', 20, brandNew={"sessionId": "x"}
    )
    path = build.log(tmp_path / build.CLAUDE_FILE, [*RUN[:7], odd, spoken])
    new = repair(path, now=NOW)
    id = new.stem
    assert uuid.UUID(id)
    assert new.parent == path.parent
    lines = new.read_bytes().splitlines()
    assert {json.loads(line)["sessionId"] for line in lines} == {id}
    assert lines[-2] == odd.strip().replace(build.CLAUDE_ID.encode(), id.encode())
    assert json.loads(lines[-1])["message"] == json.loads(spoken)["message"]
    assert json.loads(lines[-1])["brandNew"] == {"sessionId": "x"}
    for old, line in zip(RUN[2:7], lines[2:7], strict=True):
        assert line + b"\n" == old.replace(build.CLAUDE_ID.encode(), id.encode())


def test_a_fork_says_where_it_was_taken_from_and_so_does_its_row(tmp_path: Path) -> None:
    path = build.log(tmp_path / build.CLAUDE_FILE, RUN)
    before = path.read_bytes()
    new = fork(path, 5, now=NOW)
    assert load(new).meta.forked_from == Origin(build.CLAUDE_ID, 5)
    row = glance(str(new))
    assert (row.forked_from, row.started, row.id) == (
        Origin(build.CLAUDE_ID, 5), "2026-11-29T08:00:00Z", new.stem)  # fmt: skip
    marked = [value["forkedFrom"] for value in values(new) if "forkedFrom" in value]
    assert [(m["sessionId"], m["messageUuid"]) for m in marked] == [(build.CLAUDE_ID, "u1")]
    assert load(fork(new, 2, now=NOW)).meta.forked_from == Origin(new.stem, 2)
    assert path.read_bytes() == before


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    path = build.log(tmp_path / build.CLAUDE_FILE, RUN)
    plan = plan_fork(load(path), 5, now=NOW)
    again = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        again.append(apply_fork(plan, tmp_path / name / "x.jsonl", told="Go on"))
    assert again[0].read_bytes() == again[1].read_bytes()


@pytest.mark.parametrize("n", range(1, len(RUN)))
def test_a_fork_at_every_message_reaches_all_that_stands_before(tmp_path: Path, n: int) -> None:
    path = build.log(tmp_path / build.CLAUDE_FILE, RUN)
    if n > len(load(path).history):
        return
    new = fork(path, n, now=NOW)
    reaches_all(new)
    old = load(path).history[: load(new).history[-1].n]
    kept = [step.message.text for step in load(new).history if step.message.text != TEXT]
    assert kept == [step.message.text for step in old][: len(kept)]


@pytest.mark.parametrize("gone", [i for i, line in enumerate(RUN) if b"uuid" in line and i > 1])
@pytest.mark.parametrize("damage", [b"", b'{"torn', b"\0\0\0"])
def test_a_lost_line_costs_nothing_but_itself(tmp_path: Path, gone: int, damage: bytes) -> None:
    lines = [*RUN[:gone], *([damage + b"\n"] if damage else []), *RUN[gone + 1 :]]
    path = build.log(tmp_path / build.CLAUDE_FILE, lines)
    reaches_all(fork(path, len(load(path).history), force=True, now=NOW))


def test_what_hung_on_an_open_call_leads_through_the_line_that_closes_it(tmp_path: Path) -> None:
    lines = [line for line in RUN if b'"tool_use_id":"c3"' not in line]
    lines = [line.replace(b'"parentUuid":"u11"', b'"parentUuid":"u10"') for line in lines]
    new = repair(build.log(tmp_path / build.CLAUDE_FILE, lines), now=NOW)
    rows = values(new)
    closing = next(row for row in rows if row.get("toolUseResult") == f"Error: {TEXT}")
    after = next(row for row in rows if row["uuid" if "uuid" in row else "type"] == "u12")
    assert after["parentUuid"] == closing["uuid"]
    reaches_all(new)


def test_a_late_result_moves_to_its_call_and_the_rest_keeps_together(tmp_path: Path) -> None:
    late = json.loads(RUN[11])
    for parent in ("u10", "u13"):
        moved = build.line({**late, "parentUuid": parent})
        tail = [RUN[14].replace(b'"parentUuid":"u13"', b'"parentUuid":"u11"')]
        hung = RUN[12].replace(b'"parentUuid":"u11"', b'"parentUuid":"u10"')
        path = build.log(tmp_path / parent / build.CLAUDE_FILE,
                         [*RUN[:11], hung, RUN[13], moved, *tail])  # fmt: skip
        new = repair(path, now=NOW)
        keys = [row["uuid"] for row in values(new) if "uuid" in row]
        assert keys.index("u11") == keys.index("u10") + 1
        reaches_all(new)


def test_results_that_share_a_line_part_without_sharing_an_id(tmp_path: Path) -> None:
    both = json.loads(RUN[6])
    both["message"]["content"] += json.loads(RUN[11])["message"]["content"]
    lines = [*RUN[:6], RUN[8], *RUN[9:11], RUN[12], build.line({**both, "parentUuid": "u12"})]
    new = repair(build.log(tmp_path / build.CLAUDE_FILE, lines), now=NOW)
    keys = [row["uuid"] for row in values(new) if "uuid" in row]
    assert len(keys) == len(set(keys))
    reaches_all(new)


def test_a_result_of_no_call_goes_and_what_followed_it_stays(tmp_path: Path) -> None:
    lines = chain(*RUN[:4], result("nobody", seconds=4), said("On.", id="b", seconds=5))
    new = repair(build.log(tmp_path / build.CLAUDE_FILE, lines), now=NOW)
    assert [row["parentUuid"] for row in values(new) if row.get("uuid") == "u5"] == ["u3"]
    reaches_all(new)


def test_a_record_that_stands_before_its_parent_keeps_its_link(tmp_path: Path) -> None:
    early = claude_line("attachment", 30, attachment={"type": "date"}, parentUuid="u1")
    path = build.log(tmp_path / build.CLAUDE_FILE, [RUN[0], early, *RUN[1:7]])
    rows = values(repair(path, now=NOW))
    assert [row["parentUuid"] for row in rows if row.get("uuid") == "u30"] == ["u1"]


def test_two_records_on_a_line_become_two_lines_with_the_new_id(tmp_path: Path) -> None:
    lines = [*RUN[:3], RUN[3].strip() + RUN[4], *RUN[5:7]]
    new = repair(build.log(tmp_path / build.CLAUDE_FILE, lines), now=NOW)
    assert {row["sessionId"] for row in values(new)} == {new.stem}
    reaches_all(new)


def test_a_torn_tail_stays_behind(tmp_path: Path) -> None:
    path = build.log(tmp_path / build.CLAUDE_FILE, RUN[:7], tail=RUN[8][:-40])
    new = repair(path, now=NOW)
    assert len(values(new)) == 8
    reaches_all(new)


def test_a_compaction_and_side_chains_keep_their_links(tmp_path: Path) -> None:
    more = chain(
        *RUN, claude_system("compact_boundary", 20, compactMetadata={"trigger": "auto"}),
        user("Summary", 21, isCompactSummary=True), call("c9", id="m9", seconds=22),
    )  # fmt: skip
    side = [user("Count", 40, isSidechain=True), call("s1", id="s", seconds=41, isSidechain=True)]
    path = build.log(tmp_path / build.CLAUDE_FILE, [*more, *side])
    new = repair(path, now=NOW)
    rows = values(new)
    links = {row["uuid"]: row["parentUuid"] for row in rows if "uuid" in row}
    assert (links["u15"], links["u16"], links["u40"], links["u41"]) == (None, "u15", None, None)
    assert [row["message"]["content"][0]["tool_use_id"] for row in rows
            if row.get("toolUseResult") == f"Error: {TEXT}"] == ["c9"]  # fmt: skip
    reaches_all(new)


def test_what_the_user_says_at_the_end_follows_the_last_record(tmp_path: Path) -> None:
    path = build.log(tmp_path / build.CLAUDE_FILE, RUN[:7])
    new = apply_fork(plan_fork(load(path), 4, now=NOW), told="Go on")
    rows = values(new)
    assert (rows[-1]["parentUuid"], rows[-1]["cwd"]) == (rows[-2]["uuid"], "/srv/app")
    last = load(new).messages[-1]
    assert (last.type, last.text) == ("user", "Go on")
    reaches_all(new)


def test_a_composed_session_is_one_that_the_format_reads(tmp_path: Path) -> None:
    taken: list[str] = []

    def first_is_taken(path: str) -> bool:
        taken.append(path)
        return len(taken) == 1

    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path)}
    id, path = ClaudeActor().home("/srv/my app.v2", NOW, environ, first_is_taken)
    assert len(taken) == 2
    assert path == str(tmp_path / "projects" / "-srv-my-app-v2" / f"{id}.jsonl")
    words = [Said("user", "Port it"), Said("assistant", "I began."), Said("user", "And?"),
             Said("assistant", "Done.", build.at(9))]  # fmt: skip
    birth = Birth(id, "p", None, build.at(5), "Go on", "/srv/my app.v2", "Ported")
    new = build.log(Path(path), [line + b"\n" for line in ClaudeActor().compose(words, birth)])
    read = load(new)
    assert [(shown_type(m), m.text) for m in read.messages] == [
        *((w.role, w.text) for w in words), ("user", "Go on")]  # fmt: skip
    assert (read.format, read.id, read.title) == ("claude", id, "Ported")
    assert (read.meta.workdir, read.meta.resumed_from) == ("/srv/my app.v2", "p")
    assert read.assistants == 2
    reaches_all(new)
    assert len(os.path.basename(os.path.dirname(ClaudeActor().home(
        "/x" * 300, NOW, environ, lambda p: False)[1]))) < 255  # fmt: skip


@pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES is not set")
def test_every_sample_is_closed_and_its_context_is_reached(tmp_path: Path) -> None:
    paths = [path for path in sorted(Path(CASES).rglob("*.jsonl")) if "claude" in path.parts]
    for path in paths:
        read = load(path)
        if not any(s.in_context for s in read.history) or "subagents" in path.parts:
            continue
        new = fork(path, len(read.history), tmp_path / f"{path.stem}.jsonl", force=True, now=NOW)
        copy = load(new)
        assert (copy.open_calls, copy.orphan_results, copy.damages) == ((), (), ())
        inside = {s.record.key for s in copy.history if s.in_context and s.record.key}
        lost = inside - sent(new)
        assert len(lost) <= len(inside) // 50, path
        new.unlink()
