"""No key reaches the disk: not in pieces, nor in arguments, a cut-off text, or a head of HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import streams
from keys import BEFORE, KEYS
from streams import Stream

from sessionlog.masked import masked_cut, masked_json
from sessionlog.reader import load
from sessionlog.recording import Recording
from sessionlog.secrets import MASKED
from sessionlog.writer import create

LEFT = 8
"""So many characters of a key in a row are too many."""
SHAPES = [maker for name, maker in streams.MAKERS.items() if name != "chat"]


def on_disk(folder: Path, data: bytes, dialect: str, how: str = "") -> str:
    """The text of the log that a stream leaves."""
    path = folder / "log.jsonl"
    path.unlink(missing_ok=True)
    with create(folder, "log", {}, sync="none") as writer:
        recording = Recording(dialect, writer)
        recording.feed(data)
        recording.stderr(data if dialect == "text" else b"")
        recording.end(how)
    return path.read_text()


def leaks(text: str, rest: str) -> bool:
    return any(rest[at : at + LEFT] in text for at in range(len(rest) - LEFT + 1))


def holding(make: Callable[..., Stream], key: str) -> Stream:
    """A stream with a key in each of its blocks, a character a piece."""
    blocks = [("reasoning", f"I saw {key}."), ("text", f"It is {key}"),
              ("call", f"curl -H 'x: {key}' https://h/")]  # fmt: skip
    return make([blocks])


@pytest.mark.parametrize(("head", "rest"), KEYS)
def test_a_key_in_pieces_is_masked_in_the_whole_block(head: str, rest: str, tmp_path: Path) -> None:
    for make in SHAPES:
        stream = holding(make, BEFORE.get(head, "") + head + rest)
        text = on_disk(tmp_path, stream.data, stream.dialect)
        assert not leaks(text, rest)
        assert text.count(MASKED) >= 2
        assert not load(tmp_path / "log.jsonl", strict=True).damages


@pytest.mark.parametrize(("head", "rest"), KEYS)
def test_a_key_that_is_cut_off_leaves_nothing_to_go_by(
    head: str, rest: str, tmp_path: Path
) -> None:
    make = SHAPES[len(rest) % len(SHAPES)]
    stream = holding(make, BEFORE.get(head, "") + head + rest)
    for at in stream.deltas[:: 1 + len(stream.deltas) // 40]:
        for size in (at, at - 20):
            assert not leaks(on_disk(tmp_path, stream.data[:size], stream.dialect), rest)


def test_arguments_are_json_still_when_they_are_masked() -> None:
    head, rest = KEYS[0]
    plain = '{"command": "ls",  "n": 12345678901234567890123}'
    assert masked_json(plain) == plain
    escaped = json.dumps({"api_key": "short", "command": f"X={head}{rest}"})
    escaped = escaped.replace("sk-ant", "\\u0073k-ant")
    value = json.loads(masked_json(escaped))
    assert value == {"api_key": MASKED, "command": f"X={head}{MASKED}"}
    twice = f'{{"a": "{head}{rest}", "a": "x"}}'
    assert not leaks(masked_json(twice), rest)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("All tests pass", "All tests pass"),
        ("It took 12.5s", "It took 12.5s"),
        ("in conversation_repair", "in conversation_repair"),
        ("the key is ghp_1234567890abcdef", "the key is ghp_" + MASKED),
        ('{"password": "hunter2', '{"password": "' + MASKED),
        ("TOKEN=abcdef1234567890abcd", "TOKEN=" + MASKED),
    ],
)
def test_the_last_word_of_a_text_that_was_cut_goes_when_it_may_be_a_key(
    text: str, left: str
) -> None:
    assert masked_cut(text) == left


def test_a_head_of_http_is_one_event_with_its_secrets_masked(tmp_path: Path) -> None:
    secrets = {"Authorization": "Bearer opensesame", "x-api-key": "letmein", "api-key": "letmein",
               "Cookie": "sid=alibaba", "set-cookie": "sid=alibaba; Path=/",
               "X-Goog-Api-Key": "letmein", "x-amz-security-token": "letmein",
               "openai-organization": "org-alibaba", "anthropic-organization-id": "alibaba",
               }  # fmt: skip
    head = "".join(f"{name}: {value}\r\n" for name, value in secrets.items())
    for start, mark in (("HTTP/1.1 200 OK", ""), ("POST /v1/messages HTTP/1.1", "> ")):
        lines = f"{start}\r\ncontent-type: text/event-stream\r\n{head}\r\n"
        marked = "".join(f"{mark}{line}\r\n" for line in lines.removesuffix("\r\n").split("\r\n"))
        stream = streams.anthropic([[("text", "Hello.")]])
        text = on_disk(tmp_path, marked.encode() + stream.data, "")
        for secret in ("opensesame", "letmein", "alibaba"):
            assert secret not in text
        session = load(tmp_path / "log.jsonl")
        [event] = [event for event in session.events if event.kind == "http"]
        assert event.text.count(MASKED) == len(secrets)
        assert "content-type: text/event-stream" in event.text
        assert [message.text for message in session.messages] == ["Hello."]
        assert not [event for event in session.events if event.kind == "output"]


def test_the_lines_of_a_private_key_are_masked_one_by_one(tmp_path: Path) -> None:
    body = ["MIIEpAIBAAKCAQEA7v" + "q8Zk3x" * 7, "Zt9" + "Yw4Lm2" * 10, "aa=="]
    for prefix in ("", "   12→", "> "):
        key = ["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"]
        printed = "\n".join(["$ cat id_rsa", *(prefix + line for line in key), "$ echo done"])
        for data in (printed + "\n", printed[: printed.index("Yw4Lm2Yw4Lm2Yw4Lm2Yw4")]):
            text = on_disk(tmp_path, data.encode(), "text")
            assert not any(leaks(text, line) for line in body)
            assert "cat id_rsa" in text
    assert "echo done" in on_disk(tmp_path, printed.encode(), "text")
