"""A folder of telling sessions: every status, several agents, and one run that is alive.

The finished runs are written as their agents would have left them last night; the live one is a
scripted agent that really runs harmless commands and records them through `Recorder`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from sessionlog.demo.night import make_night
from sessionlog.demo.work import make_work
from sessionlog.errors import NotPossible


def make(folder: str | os.PathLike[str] | None = None, now: datetime | None = None) -> Path:
    """Write the night's logs; gives the folder (a new temporary one when none is named).

    Raises NotPossible when the folder holds something already: nothing is overwritten.
    """
    if folder is not None and not os.fspath(folder):
        raise NotPossible("--dir is empty: name a folder, or leave --dir out")
    try:
        place = Path(folder or tempfile.mkdtemp(prefix="sessionlog-demo-"))
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise NotPossible(f"{place}: not empty; name a new folder, or leave --dir out")
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        morning = now or datetime.now(UTC)
        make_work(place / "home", morning)
        make_night(place, morning, str((place / "home").absolute()))
    except OSError as error:
        where = error.filename or folder
        raise NotPossible(f"{where}: the demo cannot be made there: {error.strerror}") from None
    return place


def start_live(folder: Path) -> subprocess.Popen[bytes]:
    """Start the scripted agent; it records into the folder and ends by itself in a few minutes."""
    return subprocess.Popen(
        [sys.executable, "-m", "sessionlog.demo.agent", str(folder / "zot")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
