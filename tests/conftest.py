"""What tests share: UTC, no animations, no colours asked for by the environment."""

from __future__ import annotations

import os
import time

import pytest

os.environ.update(TZ="UTC", TEXTUAL_ANIMATIONS="none", COLORTERM="truecolor")
os.environ.pop("NO_COLOR", None)
time.tzset()


@pytest.fixture
def anyio_backend() -> str:
    """Textual is asyncio's; without this anyio would run each test on trio, too."""
    return "asyncio"
