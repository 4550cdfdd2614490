"""Codex's items: calls of every kind, and outputs of every shape."""

from __future__ import annotations

from typing import Any

import pytest
from build import codex_item, codex_line
from decoding import Decoding

from sessionlog.formats.codex import Codex
from sessionlog.records import Message

FORMAT = Codex()
READ = Decoding(FORMAT)
decoded, one, message, activity = READ.decoded, READ.one, READ.message, READ.activity


def output(value: Any, **more: Any) -> bytes:
    return codex_item("function_call_output", call_id="c1", output=value, **more)


@pytest.mark.parametrize(
    ("item", "name", "arguments", "id"),
    [
        ({"type": "function_call", "name": "shell", "arguments": '{"a": 1}', "call_id": "c"},
         "shell", '{"a": 1}', "c"),
        ({"type": "function_call", "name": "get", "namespace": "mcp__x", "arguments": "{",
          "call_id": "c"}, "mcp__x.get", "{", "c"),
        ({"type": "function_call", "name": "get", "arguments": None, "call_id": "c"},
         "get", "", "c"),
        ({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch",
          "call_id": "c"}, "apply_patch", "*** Begin Patch", "c"),
        ({"type": "local_shell_call", "id": "ls_1", "call_id": None,
          "action": {"type": "exec", "command": ["ls"]}},
         "local_shell", '{"type":"exec","command":["ls"]}', "ls_1"),
        ({"type": "tool_search_call", "id": "ts_1", "call_id": None, "arguments": {"query": "x"}},
         "tool_search", '{"query":"x"}', "tool_search"),
        ({"type": "brand_new_call", "call_id": "c", "arguments": "{}"}, "brand_new", "{}", "c"),
    ],
)  # fmt: skip
def test_a_call_of_any_kind_is_a_request(item: Any, name: str, arguments: str, id: str) -> None:
    asked = activity(codex_line("response_item", item))
    assert (asked.kind, asked.name, asked.arguments, asked.id) == ("request", name, arguments, id)


def test_a_search_of_the_provider_is_answered_where_it_stands() -> None:
    # it has no output item: left as a request alone it would be an open call for ever
    for item in ({"id": "ws_1"}, {}):
        asked, answered = decoded(
            codex_item("web_search_call", status="completed", action={"query": "x"}, **item)
        )
        assert isinstance(asked.payload, Message)
        assert isinstance(answered.payload, Message)
        assert asked.payload.activity is not None
        assert answered.payload.activity is not None
        assert asked.payload.activity.id == answered.payload.activity.id != ""
        assert (asked.part, answered.part) == (0, 1)


HEAD = "Chunk ID: a1\nWall time: 0.1 seconds\n"


@pytest.mark.parametrize(
    ("value", "text", "failed"),
    [
        ("Plan updated", "Plan updated", False),
        ("Process exited with code 1 is what it said", None, False),
        (f"{HEAD}Process exited with code 0\nOutput:\nExit code: 1", None, False),
        (f"{HEAD}Process exited with code 101\nOutput:\nerror", None, True),
        ("Exit code: 2\nWall time: 0 seconds\nOutput:\nno", None, True),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 1", None, False),
        ("Wall time: 3.0 seconds\naborted by user", None, True),
        ("aborted", None, True),
        ("aborted landings: 3", None, False),
        ("failed in sandbox LinuxSeccomp with execution error: denied", None, True),
        ("apply_patch verification failed: no such line", None, True),
        ('{"output": "fine", "metadata": {"exit_code": 0}}', "fine", False),
        ('{"output": "bad", "metadata": {"exit_code": 124}}', "bad", True),
        ('{"output": "", "metadata": {"exit_code": 1}}', "exit code 1", True),
        ('{"output": torn', '{"output": torn', False),
        ('[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]', "a\nb", False),
        ([{"type": "input_text", "text": "a"}], "a", False),
        ({"content": "no such file", "success": False}, "no such file", True),
        ({"content": [{"type": "text", "text": "x"}], "is_error": True}, "x", True),
        ({"Err": "gone"}, "", True),
        (None, "", False),
        (7, "", False),
    ],
)  # fmt: skip
def test_an_output_of_any_shape_says_whether_the_call_failed(
    value: Any, text: str | None, failed: bool
) -> None:
    told = message(output(value))
    text = value if text is None else text
    assert told.activity is not None
    assert (told.activity.kind, told.activity.id, told.text) == ("response", "c1", text)
    assert told.activity.failure == ((text or "failed without a word") if failed else None)
    if not failed and not text and value is not None:
        assert told.activity.result == value  # nothing dropped


def test_an_output_may_hold_pictures() -> None:
    told = message(output([{"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]))
    assert [image.media_type for image in told.images] == ["image/png"]


def test_success_that_is_told_counts_more_than_the_text() -> None:
    assert activity(output("Exit code: 1\nno hits", success=True)).failure is None
    assert activity(output("all gone", success=False)).failure == "all gone"
