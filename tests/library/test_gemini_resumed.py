"""Copies of Gemini CLI's logs that it goes on with, again and again, and what stands beside them.

How the client goes on is told by its own rules (`gemini_logs.resume`); tests/clients runs it.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import build
import pytest
from build import line
from gemini_logs import (
    CONTEXT,
    FILE,
    ID,
    answer,
    call,
    conversation,
    head,
    healthy,
    history,
    model,
    resume,
    sent,
    start,
    turn,
    update,
    user,
)

from sessionlog.errors import NotPossible
from sessionlog.forks import fork
from sessionlog.formats.base import Birth, Said
from sessionlog.formats.gemini_actor import GeminiActor
from sessionlog.listing import list_sessions
from sessionlog.lookup import find
from sessionlog.reader import load
from sessionlog.records import Status
from sessionlog.repairs import plan_repair

NOW = datetime(2026, 11, 28, 9, 30, tzinfo=UTC)


def log(folder: Path, *lines: bytes, name: str = FILE) -> Path:
    return build.log(folder / name, lines)


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_results_are_sent_once_in_every_generation(tmp_path: Path, calls: int) -> None:
    made = [[call(f"c{n}{i}", f"r{n}{i}") for i in range(calls)] for n in range(2)]
    path = log(tmp_path, *start(), line(user("u1", "Fix it")), *turn("m1", "Look.", *made[0]),
               *turn("m2", "", *made[1]), line(model("m3", "Done.")))  # fmt: skip
    expected = sent(fork(path, len(load(path).history), now=NOW))
    results = [one for one in expected if isinstance(one, tuple)]
    assert [id for id, _ in results] == [one["id"] for turns in made for one in turns]
    for n in range(3):
        path = fork(path, len(load(path).history), tmp_path / f"{n}.jsonl", now=NOW)
        assert sent(path) == expected
        expected += [f"go {n}", f"reply {n}"]
        resume(path, f"go {n}", f"reply {n}")
        read = load(path)
        assert (read.calls, read.open_calls, read.orphan_results) == (2 * calls, (), ())


def test_a_log_that_the_client_itself_went_on_with_is_sent_once(tmp_path: Path) -> None:
    path = log(tmp_path, *healthy())
    resume(path, "go", "reply")
    resume(path, "go on", "so")
    assert sent(path).count(("c2", {"output": "two"})) > 1
    new = fork(path, len(load(path).history), now=NOW)
    again = [("c1", {"output": "one"}), ("c2", {"output": "two"}), ("c3", {"output": "three"})]
    assert [one for one in sent(new) if isinstance(one, tuple)] == again
    assert sent(new)[-5:] == ["Done.", "go", "reply", "go on", "so"]


def test_a_picture_beside_a_result_stays_and_does_not_grow(tmp_path: Path) -> None:
    parts = [answer("c1", {"output": "ok"}), {"inlineData": {"mimeType": "image/png", "data": ""}}]
    one = call("c1", None, result=parts)
    path = log(tmp_path, *start(), line(user("u1", "Look")), line(model("m1", "", one)),
               line(user("m1-results", parts)), line(model("m2", "Seen.")))  # fmt: skip
    pictures = []
    for n in range(4):
        path = fork(path, len(load(path).history), tmp_path / f"{n}.jsonl", now=NOW)
        told = [part for _, _, parts in history(path) for part in parts]
        pictures.append(sum("inlineData" in part for part in told))
        assert [one for one in sent(path) if isinstance(one, tuple)] == [("c1", {"output": "ok"})]
        resume(path, "go", "reply")
    assert pictures == [2, 2, 2, 2]  # the client itself has it in both places, and sends both


PROMPTS = ["/srv/app/a.py fails", "? why", " \n/srv", "?"]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_that_the_client_would_leave_out_is_told_in_a_copy(
    tmp_path: Path, prompt: str
) -> None:
    lines = [*start(), line(user("u1", prompt, new=1.50)), line(model("m1", "Yes."))]
    path = log(tmp_path, *lines)
    read = load(path)
    assert (read.title, read.users) == (prompt.strip(), 1)
    assert prompt in [m.text for m in read.messages]
    new = fork(path, 2, now=NOW)
    assert sent(new) == [f"[the user said] {prompt}"]
    text = json.dumps(prompt).encode()[1:-1]
    assert lines[2].replace(text, b"[the user said] " + text) in new.read_bytes()
    again = fork(new, 2, tmp_path / "again.jsonl", now=NOW)
    assert sent(again) == sent(new)


SHAPES = [
    "/x",
    {"text": "/x"},
    ["/x"],
    [{"text": " "}, {"text": "/x"}],
    [answer("c1", {"output": "ok"}), {"text": "/x"}],
]


@pytest.mark.parametrize("content", SHAPES)
def test_such_a_prompt_is_told_in_every_shape_of_content(tmp_path: Path, content: object) -> None:
    asked = model("m1", "", call("c1"))
    prompt = {**user("u1", ""), "content": content}
    path = log(tmp_path, *start(), line(asked), line(prompt))
    new = fork(path, len(load(path).history), now=NOW)
    kept = conversation_text(new)
    assert kept == "[the user said] /x"
    listed = log(tmp_path, *start(), update(messages=[user("ctx", CONTEXT), asked, prompt]))
    assert conversation_text(fork(listed, len(load(listed).history), now=NOW)) == kept


def conversation_text(path: Path) -> str:
    """The user's last message in a log."""
    content = conversation(path)["u1"]["content"]
    parts = content if isinstance(content, list) else [content]
    return "".join(p if isinstance(p, str) else p.get("text", "") for p in parts).strip()


def test_what_begins_otherwise_keeps_its_bytes(tmp_path: Path) -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": ""}}
    kept = [line(user("u1", [picture, {"text": "/x"}])), line(user("u2", "a /b"))]
    new = fork(log(tmp_path, *start(), *kept), 3, now=NOW)
    assert new.read_bytes().endswith(b"".join(kept))


def test_a_prompt_that_the_client_left_out_when_it_went_on_is_not_in_the_context(
    tmp_path: Path,
) -> None:
    path = log(tmp_path, *start(), line(user("u1", "Fix it")), line(model("m1", "Yes.")),
               line(user("u2", "/srv/app too")), line(model("m2", "That, too.")))  # fmt: skip
    assert "/srv/app too" in [m.text for m in load(path).messages]
    resume(path, "go", "reply")
    read = load(path)
    assert [s.message.text for s in read.history if s.in_context][-4:] == sent(path)[-4:]
    assert "/srv/app too" in [s.message.text for s in read.history]
    assert "/srv/app too" not in [m.text for m in read.messages]
    assert sent(fork(path, len(read.history), now=NOW)) == sent(path)


def test_a_log_that_ends_with_such_a_prompt_waits_for_its_answer(tmp_path: Path) -> None:
    path = log(tmp_path, *healthy(), line(user("u2", "/srv/app too")))
    assert load(path).status is Status.UNFINISHED


# -- folders -----------------------------------------------------------------------------------


def project(home: Path, workdir: Path | str) -> str:
    _, path = GeminiActor().home(str(workdir), NOW, {"HOME": str(home)}, os.path.lexists)
    return Path(path).parents[1].name


def registered(home: Path, known: dict[str, str]) -> None:
    own = home / ".gemini"
    own.mkdir(exist_ok=True)
    (own / "projects.json").write_text(json.dumps({"projects": known}))


def owned(home: Path, place: str, name: str, root: str) -> None:
    folder = home / ".gemini" / place / name
    folder.mkdir(parents=True)
    (folder / ".project_root").write_text(root)


def test_a_folder_behind_a_link_is_the_one_that_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    registered(tmp_path, {str(tmp_path / "real"): "shop"})
    assert project(tmp_path, tmp_path / "link") == "shop"
    assert project(tmp_path, tmp_path / "link/../real/") == "shop"


def test_a_folder_whose_name_ends_in_a_blank_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotPossible, match="ends in a blank"):
        project(tmp_path, "/srv/app ")


def test_the_name_of_a_project_is_the_one_that_the_client_takes(tmp_path: Path) -> None:
    owned(tmp_path, "history", "old", "/srv/app")
    assert project(tmp_path, "/srv/app") == "old"
    registered(tmp_path, {"/srv/app": "shop", "/srv/lib": "lib"})
    assert project(tmp_path, "/srv/app") == "shop"
    owned(tmp_path, "tmp", "shop", "/somebody/else")
    assert project(tmp_path, "/srv/app") == "old"
    owned(tmp_path, "history", "new", "/somebody/new")
    assert project(tmp_path, "/srv/new") == "new-1"
    registered(tmp_path, {"/srv/lib": "Lib"})  # it takes none where one is not its own
    assert project(tmp_path, "/srv/lib") == "lib"


def test_the_folder_of_a_session_is_told_whole(tmp_path: Path) -> None:
    path = log(tmp_path / "chats", *healthy())
    (tmp_path / ".project_root").write_text("/srv/a\nb ")
    assert load(path).meta.workdir == "/srv/a\nb "


# -- logs that a resume leaves behind ----------------------------------------------------------


def test_what_a_resume_leaves_behind_is_not_listed_beside_its_session(tmp_path: Path) -> None:
    other = "f00dfeed-0000-4000-8000-000000000002"
    log(tmp_path, *healthy())
    log(tmp_path, *start(), name="session-2026-11-28T08-00-f00dfeed.jsonl")
    log(tmp_path, head(), name="session-2026-11-28T09-00-f00dfeed.jsonl")
    fresh = log(tmp_path, head(other), name="session-2026-11-28T10-00-f00dfeed.jsonl")
    names = [os.path.basename(entry.path) for entry in list_sessions(tmp_path)]
    assert sorted(names) == sorted([FILE, fresh.name])
    assert find(ID, [str(tmp_path)]).path == str(tmp_path / FILE)


def test_a_session_in_which_nothing_was_asked_is_listed(tmp_path: Path) -> None:
    log(tmp_path, *start())
    log(tmp_path, *start(), name="session-2026-11-28T08-00-f00dfeed.jsonl")
    assert len(list_sessions(tmp_path)) == 2


def test_a_session_of_one_log_that_says_something_is_never_left_out(tmp_path: Path) -> None:
    """Two logs of one session that both hold a conversation are both there."""
    log(tmp_path, *healthy())
    log(tmp_path, head(), update(messages=[user("ctx", CONTEXT), user("u1", "Fix it")]),
        name="session-2026-11-28T08-00-f00dfeed.jsonl")  # fmt: skip
    assert len(list_sessions(tmp_path)) == 2


def test_a_composed_prompt_is_left_as_it_is_by_a_fork(tmp_path: Path) -> None:
    birth = Birth("id-1", "old", None, build.at(9), workdir="/srv/app")
    made = GeminiActor().compose([Said("user", "/x"), Said("assistant", "Yes.")], birth)
    path = log(tmp_path, *(data + b"\n" for data in made))
    assert not plan_repair(load(path)).needed
    assert sent(fork(path, 2, now=NOW)) == ["[the user said] /x", "Yes."]
