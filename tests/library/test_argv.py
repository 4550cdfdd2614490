"""Hostile ids, paths and prompts, really started: what was meant arrives, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import hostile
import pytest

ROOT = Path(__file__).parent.parent.parent


def test_what_is_meant_arrives_byte_for_byte_and_no_option_with_it(tmp_path: Path) -> None:
    dump = hostile.Dump(tmp_path)
    found = []
    for case in hostile.cases(600):
        made = hostile.filled(case)
        assert (made is None) == (case.meant is None), case
        if made is not None:
            assert hostile.options(case, made) == []
            found.append((case, made))
    for batch in hostile.batches(found):
        meant = [word for case, _ in batch for word in case.meant or ()]
        assert dump.run([word for _, made in batch for word in made]) == meant
    assert dump.harm() == []


def test_a_supervisor_passes_them_on_as_they_are(tmp_path: Path) -> None:
    dump = hostile.Dump(tmp_path)
    for case in hostile.cases(6, seed=1000):
        made = hostile.filled(case)
        if made is not None:
            assert dump.supervise(made[1:]) == case.meant
    assert dump.harm() == []


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not there")
def test_no_shell_is_started(tmp_path: Path) -> None:
    out = tmp_path / "trace"
    script = [sys.executable, str(ROOT / "tests" / "torture" / "argv.py"), "--count", "0"]
    trace = ["strace", "-f", "-qq", "-e", "trace=execve", "-o", str(out)]
    done = subprocess.run(
        [*trace, *script, "--alone", "4", "--supervised", "2"], capture_output=True, check=False,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    if b"PTRACE" in done.stderr or b"attach" in done.stderr:
        pytest.skip("this system lets nobody trace")
    assert done.returncode == 0, done.stderr
    programs, shells = hostile.executions(out.read_text(errors="replace"))
    assert programs > 5
    assert shells == []
