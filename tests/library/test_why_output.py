"""Commands answer in every locale, and no name of a file or session reaches the terminal raw."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import build
import pytest
from stories import Native

EVIL = b"a\x1b]0;own\x07\x1b[31m\xff.jsonl"


def ran(encoding: str, *words: str | bytes) -> tuple[int, bytes, bytes]:
    env = {**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C", "PYTHONUTF8": "0",
           "PYTHONCOERCECLOCALE": "0"}  # fmt: skip
    if not encoding:
        del env["PYTHONIOENCODING"]
    done = subprocess.run(
        [sys.executable, "-m", "sessionlog", *words], env=env, capture_output=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def path(tmp_path: Path) -> Path:
    story = Native("Größe prüfen ✗ 😀").work().call("make", "Fehler: größer ✗", True)
    return build.log(tmp_path / "a.jsonl", story.open("make fuzz").lines)


@pytest.mark.parametrize("encoding", ["", "ascii", "latin-1", "utf-8:strict"])
@pytest.mark.parametrize("command", ["list", "why", "show"])
def test_an_output_that_lacks_our_signs_gets_an_answer(
    path: Path, encoding: str, command: str
) -> None:
    code, out, err = ran(encoding, command, str(path))
    assert (code, err) == (int(command == "why"), b"")
    assert b"make fuzz" in out or command == "list"
    code, out, err = ran(encoding, command, str(path), "--json")
    assert (code, err) == (int(command == "why"), b"")
    told = [
        json.loads(line)
        for line in out.decode(encoding.partition(":")[0] or "ascii").split("\n")
        if line
    ]
    assert "Größe prüfen ✗ 😀" in json.dumps(told, ensure_ascii=False)


def test_our_signs_have_stand_ins_there(path: Path) -> None:
    assert b"\no in flight" in ran("ascii", "why", str(path))[1]
    assert "\n○ in flight".encode() in ran("utf-8", "why", str(path))[1]


@pytest.mark.parametrize("encoding", ["", "ascii", "latin-1", "utf-8:strict", "utf-8"])
@pytest.mark.parametrize("command", ["list", "why", "show", "check"])
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_name_of_a_file_never_reaches_the_terminal_raw(
    tmp_path: Path, encoding: str, command: str, more: tuple[str, ...]
) -> None:
    lines = [line for line in Native("x").work().lines if b'"meta"' not in line]
    name = os.path.join(os.fsencode(tmp_path), EVIL)
    with open(name, "wb") as file:
        file.writelines([build.meta(id=EVIL.decode("utf-8", "replace")), *lines])
    code, out, err = ran(encoding, command, name, *more)
    assert code in (0, 1)
    assert not set(out + err) & {*range(10), *range(11, 32), 127}
    if encoding.startswith("utf-8"):
        assert out.decode("utf-8")


@pytest.mark.parametrize("encoding", ["ascii", "utf-8:strict"])
def test_an_error_is_told_in_every_locale(tmp_path: Path, encoding: str) -> None:
    missing = os.path.join(os.fsencode(tmp_path), "größe".encode() + EVIL)
    code, out, err = ran(encoding, "why", missing)
    assert (code, out) == (2, b"")
    assert err.startswith(b"sessionlog: ")
    assert err.count(b"\n") == 1
    assert b"\x1b" not in err
