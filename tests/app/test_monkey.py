"""A sample of the long run of tests/torture/monkey.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_the_screen_outlives_any_keys(seed: int) -> None:
    argv = [sys.executable, str(TESTS / "torture" / "monkey.py"), "--count", "1"]
    done = subprocess.run([*argv, "--seed", str(seed)], capture_output=True, text=True, timeout=200,
                          cwd=TESTS.parent)  # fmt: skip
    assert done.stdout == "1 runs, 120 keys, 0 faults\n", done.stderr
