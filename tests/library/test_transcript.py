"""A session as messages for any program: closed, clean, and nothing that a service refuses."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import build
import pytest
import services
import wild

from sessionlog import codec
from sessionlog.errors import NotPossible, SessionExists, SessionLogError
from sessionlog.reader import load
from sessionlog.session import Session
from sessionlog.transcript import anthropic_messages, openai_messages, write_messages

PICTURE = base64.b64encode(wild.PIXEL).decode()
INTERRUPTED = "Interrupted by the user."


def session(folder: Path, lines: Iterable[bytes], name: str = "20261127-220000.jsonl") -> Session:
    return load(build.log(folder / name, lines))


def blocks(session: Session, kind: str) -> list[dict[str, Any]]:
    """Blocks of a kind in the messages for Anthropic."""
    messages = anthropic_messages(session)
    assert services.anthropic_faults(messages) == []
    return [block for message in messages for block in message["content"] if block["type"] == kind]


def results(session: Session) -> list[dict[str, Any]]:
    messages = openai_messages(session)
    assert services.openai_faults(messages) == []
    return [message for message in messages if message["role"] == "tool"]


def test_a_run_in_the_words_of_anthropic(tmp_path: Path) -> None:
    assert anthropic_messages(session(tmp_path, build.healthy()), "Carry on.") == [
        {"role": "user", "content": [{"type": "text", "text": "Begin."}]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "c1", "name": "shell", "input": {"command": "ls"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
        {"role": "user", "content": [{"type": "text", "text": "Carry on."}]},
    ]  # fmt: skip


def test_a_run_in_the_words_of_openai(tmp_path: Path) -> None:
    lines = build.healthy()
    lines.insert(1, build.message("instructions", "Be brief."))
    lines.insert(3, build.message("bot", "I look."))
    function = {"name": "shell", "arguments": '{"command":"ls"}'}
    assert openai_messages(session(tmp_path, lines)) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Begin."},
        {"role": "assistant", "content": "I look.", "tool_calls": [
            {"id": "c1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Go on."},
    ]  # fmt: skip


def test_an_open_call_is_closed_and_a_late_result_is_moved_to_it(tmp_path: Path) -> None:
    made = session(tmp_path, [
        build.meta(), build.message("user", "Begin."), build.request("c1"), build.request("c2"),
        build.message("user", "Well?"), build.response("c1", result="late"),
        build.response("nobody"),
    ])  # fmt: skip
    found = {block["tool_use_id"]: block for block in blocks(made, "tool_result")}
    assert found["c1"]["content"] == "late"
    assert found["c2"] == {"type": "tool_result", "tool_use_id": "c2", "content": INTERRUPTED,
                           "is_error": True}  # fmt: skip
    assert len(found) == 2
    assert [m["content"] for m in results(made)] == ["late", INTERRUPTED]
    assert [m["role"] for m in anthropic_messages(made)] == ["user", "assistant", "user"]


def test_calls_one_after_another_stay_one_after_another(tmp_path: Path) -> None:
    made = session(tmp_path, [
        build.meta(), build.message("user"), build.request("c1"), build.response("c1"),
        build.request("c2"), build.response("c2"),
    ])  # fmt: skip
    assert [len(m["content"]) for m in anthropic_messages(made)[1:]] == [1, 1, 1, 2]


def test_ids_become_unique_and_plain_in_both_halves(tmp_path: Path) -> None:
    lines = [build.meta(), build.message("user", "Begin.")]
    ids = ["a b", "c1", "c1", "", "call_1", "x" * 41]
    for n, id in enumerate(ids):
        asking = build.request(id, seconds=2 + n)  # the same line once more would be a repeat
        lines += [asking, build.response(id, result=f"answer {n}", seconds=2 + n)]
    made = session(tmp_path, lines)
    asked = [block["id"] for block in blocks(made, "tool_use")]
    assert (asked[1], asked[4]) == ("c1", "call_1")
    answered = {block["tool_use_id"]: block["content"] for block in blocks(made, "tool_result")}
    assert [answered[id] for id in asked] == [f"answer {n}" for n in range(len(ids))]
    assert asked == [block["id"] for block in blocks(made, "tool_use")]


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ('{"a":1180591620717411303424}', {"a": 2**70}),
        ('{"a":NaN,"b":1e999}', {"a": None, "b": None}),
        ('{"a":"\\ud800"}', {"a": "\ufffd"}),
        ("", {}),
        ("[1]", {"input": "[1]"}),
        ("make {", {"input": "make {"}),
    ],
)
def test_arguments_are_an_object_that_every_service_reads(
    tmp_path: Path, arguments: str, given: dict[str, Any]
) -> None:
    made = session(tmp_path, [build.meta(), build.request("c1", arguments=arguments)])
    assert blocks(made, "tool_use")[0]["input"] == given
    call = next(m for m in openai_messages(made) if "tool_calls" in m)["tool_calls"][0]
    assert json.loads(call["function"]["arguments"]) == given


def test_names_of_tools_become_plain(tmp_path: Path) -> None:
    lines = [build.meta(), build.request("c1", "mcp.x/y é"), build.request("c2", "n" * 200),
             build.request("c3", "")]  # fmt: skip
    made = session(tmp_path, lines)
    assert [b["name"] for b in blocks(made, "tool_use")] == ["mcp_x_y__", "n" * 128, "tool"]
    calls = next(m for m in openai_messages(made) if "tool_calls" in m)["tool_calls"]
    assert calls[1]["function"]["name"] == "n" * 64


def test_reasoning_and_texts_without_words_are_not_sent(tmp_path: Path) -> None:
    made = session(tmp_path, [
        build.meta(), build.message("user", "Begin."), build.message("reasoning", "Hm."),
        build.message("bot", " \n"), build.message("bot", "Yes. \n"), build.message("user", ""),
    ])  # fmt: skip
    assert [block["text"] for block in blocks(made, "text")] == ["Begin.", "Yes. \n", "Go on."]


def test_a_message_that_only_looks_like_half_a_call_keeps_its_words(tmp_path: Path) -> None:
    made = session(tmp_path, [build.meta(), build.message("response", "kept"),
                              build.message("call", "kept too")])  # fmt: skip
    assert [block["text"] for block in blocks(made, "text")] == ["kept", "kept too"]


def test_the_user_has_the_first_and_the_last_word(tmp_path: Path) -> None:
    made = session(tmp_path, [build.meta(), build.message("bot", "So."), build.request("c1")])
    messages = anthropic_messages(made)
    assert [m["role"] for m in messages] == ["user", "assistant", "user"]
    assert messages[-1]["content"][-1]["text"] == "Go on."
    asked = session(tmp_path / "b", [build.meta(), build.message("user", "Begin.")])
    assert anthropic_messages(asked)[-1]["content"] == [{"type": "text", "text": "Begin."}]
    nothing = session(tmp_path / "c", [build.meta()])
    assert openai_messages(nothing) == [{"role": "user", "content": "Go on."}]


def test_what_a_reset_took_out_is_not_handed_over(tmp_path: Path) -> None:
    made = session(tmp_path, [build.meta(), build.message("user", "old"), build.reset(),
                              build.message("checkpoint", "summary")])  # fmt: skip
    assert [block["text"] for block in blocks(made, "text")] == ["summary"]


def test_an_empty_result_says_so_and_a_failed_one_is_marked(tmp_path: Path) -> None:
    made = session(tmp_path, [
        build.meta(), build.request("c1"), build.response("c1", result="  "),
        build.request("c2"), build.response("c2", failure="exit 2"),
    ])  # fmt: skip
    empty, failed = blocks(made, "tool_result")
    assert empty == {"type": "tool_result", "tool_use_id": "c1", "content": "(no output)"}
    assert failed["is_error"]
    assert "exit 2" in failed["content"]


def native(media: str = "image/png", **more: Any) -> list[bytes]:
    image = {"media_type": media, "source": "inline", "data": PICTURE, "size": len(wild.PIXEL)}
    return [build.meta(), build.message("user", "See", images=[image | more])]


CLAUDE = [build.claude_user([
    {"type": "text", "text": "See"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}},
])]  # fmt: skip
PI = [build.pi_head(), build.pi_message("user", content=[
    {"type": "text", "text": "See"}, {"type": "image", "data": PICTURE, "mimeType": "image/png"},
])]  # fmt: skip
CODEX = [build.codex_meta(), build.codex_item("message", role="user", content=[
    {"type": "input_text", "text": "See"},
    {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"},
])]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "name"),
    [(native("image/jpeg"), "a.jsonl"), (CLAUDE, build.CLAUDE_FILE), (PI, build.PI_FILE),
     (CODEX, build.CODEX_FILE)],
)  # fmt: skip
def test_a_picture_goes_along_whatever_the_format(
    tmp_path: Path, lines: list[bytes], name: str
) -> None:
    made = session(tmp_path, lines, name)
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    assert blocks(made, "image") == [{"type": "image", "source": source}]
    messages = openai_messages(made)
    assert services.openai_faults(messages) == []
    url = {"url": f"data:image/png;base64,{PICTURE}"}
    assert messages[0]["content"][1] == {"type": "image_url", "image_url": url}


def test_a_picture_that_a_tool_gave_goes_along(tmp_path: Path) -> None:
    content = [{"type": "text", "text": "shot"}, {"type": "image", "data": PICTURE,
                                                 "mimeType": "image/png"}]  # fmt: skip
    answered = build.pi_message("toolResult", toolCallId="c1", toolName="bash", content=content)
    lines = [build.pi_head(), build.pi_user("Look"), build.pi_said(build.pi_call("c1")), answered]
    made = session(tmp_path, lines, build.PI_FILE)
    assert [b["type"] for b in blocks(made, "tool_result")[0]["content"]] == ["text", "image"]
    answer, shown, last = openai_messages(made)[-3:]
    assert (answer["role"], answer["content"]) == ("tool", "shot")
    assert shown["content"][1]["image_url"]["url"].endswith(PICTURE)
    assert last["content"] == "Go on."


TALL = wild.PIXEL[:20] + (8001).to_bytes(4) + wild.PIXEL[24:]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"source": "blob", "digest": "sha256:" + "0" * 64}, "image/png, 70 bytes, not sent"),
        ({"source": "url", "url": "https://x.invalid/p"}, "at https://x.invalid/p"),
        ({"media_type": "image/svg+xml", "data": base64.b64encode(b"x" * 70).decode()}, "svg"),
        ({"data": base64.b64encode(TALL).decode()}, "not sent"),
        ({"data": "no base64"}, "not sent"),
    ],
)
def test_a_picture_that_no_service_takes_is_named(
    tmp_path: Path, more: dict[str, Any], says: str
) -> None:
    made = session(tmp_path, native(**more))
    assert blocks(made, "image") == []
    assert says in blocks(made, "text")[1]["text"]
    assert says in openai_messages(made)[0]["content"]


def test_only_the_newest_pictures_go_along(tmp_path: Path) -> None:
    lines = [build.meta(), *(line for _ in range(25) for line in native()[1:])]
    made = session(tmp_path, lines)
    assert len(blocks(made, "image")) == 20
    assert "not sent" in anthropic_messages(made)[0]["content"][1]["text"]


def test_messages_are_written_once_and_for_their_owner_alone(tmp_path: Path) -> None:
    made = session(tmp_path, [build.meta(), build.request("c1", arguments=f'{{"a":{2**70}}}')])
    path, before = tmp_path / "m.json", os.umask(0)
    try:
        write_messages(path, anthropic_messages(made))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_bytes()) == anthropic_messages(made)
    with pytest.raises(SessionExists, match="nothing was overwritten"):
        write_messages(path, [])
    with pytest.raises(NotPossible, match="No such file"):
        write_messages(tmp_path / "none" / "m.json", [])


def test_wild_and_damaged_sessions_are_taken_by_both_services() -> None:
    for seed in range(240):
        made = wild.session(seed)
        assert made is None or wild.faults(made, "Go on, please." * (seed % 2)) == [], seed


CASES = os.environ.get("SESSIONLOG_CASES", "")


@pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES is not set")
def test_the_sample_logs_are_taken_by_both_services() -> None:
    read = 0
    for path in sorted(Path(CASES).rglob("*.jsonl")):
        try:
            made = load(path)
        except SessionLogError:
            continue
        read += 1
        assert wild.faults(made) == [], path
    assert read > 50


def test_the_faults_of_a_conversation_are_seen() -> None:
    call = {"type": "tool_use", "id": "a b", "name": "", "input": []}
    bad = [{"role": "assistant", "content": [call]}, {"role": "assistant", "content": ""}]
    assert services.anthropic_faults(bad)
    assert services.anthropic_faults([{"role": "user", "content": [{"type": "text", "text": " "}]}])
    user = {"role": "user", "content": "\ud800"}
    assert services.openai_faults([user])
    assert services.openai_faults([{"role": "tool", "tool_call_id": "x", "content": "x"}, user])
    assert codec.dumps(user)
