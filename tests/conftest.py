"""What tests share: UTC, no animations, no colours asked for by the environment, and no settings,
agents or runs of the person's own."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time

import pytest

os.environ.update(TZ="UTC", TEXTUAL_ANIMATIONS="none", COLORTERM="truecolor")
os.environ.pop("NO_COLOR", None)
_PLACE = tempfile.mkdtemp(prefix="sessionlog-tests-")
atexit.register(shutil.rmtree, _PLACE, ignore_errors=True)
os.environ.update(XDG_STATE_HOME=f"{_PLACE}/state", XDG_CONFIG_HOME=f"{_PLACE}/config")
time.tzset()


@pytest.fixture
def anyio_backend() -> str:
    """Textual is asyncio's; without this anyio would run each test on trio, too."""
    return "asyncio"
