"""Processes that are killed while they write, and disks that are really full."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import build

from sessionlog.reader import load
from sessionlog.records import Message
from sessionlog.writer import reopen

TESTS = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(TESTS.parent)}


def child(code: str, *arguments: object) -> Any:
    """What a process of its own prints, as JSON."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_killed_writer_loses_at_most_the_record_it_was_writing(tmp_path: Path) -> None:
    # kills.py proves each time that the kill landed, that every record acknowledged is there
    # without a gap, and that the next writer never glues its first record to a torn tail
    command = [sys.executable, str(TESTS / "torture" / "kills.py"), "--count", "60", "--json",
               "--dir", str(tmp_path), "--seed", str(os.getpid())]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    tally = json.loads(done.stdout)
    assert (tally["wrong"], done.returncode) == ([], 0)
    assert tally["kills"] == 60
    assert tally["acknowledged"] > 60


FILL = """
import json, os, resource, sys
from sessionlog.records import Message
from sessionlog.writer import create
limit, hard = 20_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]
writer = create(sys.argv[1], "run", {"task": "t"})
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
done, size, codes = 0, 0, []
while len(codes) < 3:
    try:
        writer.message(Message("bot", f"{done} " + "x" * 3000))
        done += 1
    except OSError as error:
        codes.append(error.errno)
        size = os.path.getsize(writer.path)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
writer.message(Message("bot", f"{done} and on"))
print(json.dumps({"done": done, "size": size, "codes": codes, "limit": limit}))
"""


def test_a_full_disk_leaves_no_half_record_and_the_next_goes_through(tmp_path: Path) -> None:
    told = child(FILL, tmp_path)
    assert told["codes"] == [errno.EFBIG] * 3
    assert told["limit"] - 3100 < told["size"] < told["limit"]  # what was written short is gone
    messages = [m.text for m in load(tmp_path / "run.jsonl", strict=True).messages]
    assert [text.split()[0] for text in messages] == [str(n) for n in range(told["done"] + 1)]
    assert messages[-1].endswith("and on")


RECORD = """
import json, resource, sys
from sessionlog.records import Image, Message
from sessionlog.recorder import Recorder
from sessionlog.writer import create
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
recorder = Recorder(create(sys.argv[1], "run", {"task": "t"}))
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, hard))
problems = []
for n in range(9):
    image = Image("image/png", data=bytes([n]) * 9_000)
    recorder.message(Message("bot", f"{n} " + "x" * 900, images=(image,) if n == 7 else ()))
    problems.append(recorder.problem)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
recorder.event("notice")
print(json.dumps([problems, recorder.problem]))
"""


def test_a_recorder_goes_on_by_itself_when_there_is_space_again(tmp_path: Path) -> None:
    problems, after = child(RECORD, tmp_path)
    assert problems[0] is None
    assert "File too large" in problems[-1]
    assert after is None
    texts = [m.text for m in load(tmp_path / "run.jsonl", strict=True).messages]
    assert [text.split()[0] for text in texts] == [str(n) for n in range(9)]
    assert [path.stat().st_size for path in (tmp_path / "run.blobs").iterdir()] == [9_000]


def test_a_log_cut_at_any_byte_is_gone_on_with_and_only_the_cut_record_is_lost(
    tmp_path: Path,
) -> None:
    texts = ["eins \u00e9", "two", "three"]
    lines = [build.message("bot", text) for text in texts]
    data = build.meta() + b"".join(lines)
    ends = [len(build.meta()) + sum(map(len, lines[:n])) for n in range(len(lines) + 1)]
    for cut in range(len(build.meta()), len(data) + 1):
        path = build.log(tmp_path / "run.jsonl", [data[:cut]])
        with reopen(path, sync="none") as writer:
            writer.message(Message("bot", "new"))
        whole = sum(end - 1 <= cut for end in ends[1:])  # only the line feed may be missing
        session = load(path)
        assert [m.text for m in session.messages] == [*texts[:whole], "new"]
        assert len(session.damages) == (cut not in ends and cut + 1 not in ends)
        assert not session.truncated
