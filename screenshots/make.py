"""Make the pictures of the README: the real app over the demo's night, with keys pressed.

`python screenshots/make.py` writes the SVG files beside this script, `--check` fails when one of
them is not what the app draws now. Clock, time zone, sizes and themes are fixed, so the same
program gives the same bytes.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
os.environ.update(TZ="UTC", TEXTUAL_ANIMATIONS="none", COLORTERM="truecolor", LC_ALL="C.UTF-8")
os.environ.pop("NO_COLOR", None)
time.tzset()

from sessionlog.demo.night import make_night  # noqa: E402 - the environment comes first
from tui.app import InspectorApp  # noqa: E402
from tui.workers import Catalogue  # noqa: E402

MORNING = datetime(2026, 11, 28, 7, 48, tzinfo=UTC)
SIZES = {"80x24": (80, 24), "120x36": (120, 36), "200x50": (200, 50)}


@dataclass(frozen=True)
class Picture:
    """One picture: how it is called and what is pressed to get there."""

    name: str
    size: str
    theme: str
    keys: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return HERE / f"{self.name}-{self.size}-{self.theme}.svg"


PICTURES = [
    *(Picture("browser", size, "night") for size in SIZES),
    Picture("browser", "120x36", "day"),
    Picture("browser", "120x36", "mono"),
    Picture("timeline", "80x24", "night", ("enter",)),
    Picture("detail", "80x24", "night", ("enter", "E", "enter")),
    Picture("detail", "200x50", "night", ("enter", "k", "k", "k", "k", "k")),
    Picture("fork", "120x36", "night", ("enter", "k", "k", "f")),
    Picture("repair", "120x36", "night", ("r",)),
    Picture("help", "120x36", "night", ("question_mark",)),
]


async def draw(picture: Picture, folder: Path, patience: float = 0.3) -> str:
    """The SVG of one picture; `patience`: seconds for workers to answer each key."""
    catalogue = Catalogue((folder.name,))
    catalogue.begin(10)  # seconds: everything is read before the first paint
    app = InspectorApp(catalogue, theme=picture.theme, clock=lambda: MORNING.timestamp())
    async with app.run_test(size=SIZES[picture.size]) as pilot:
        await pilot.pause(patience)
        for key in picture.keys:
            await pilot.press(key)
            await pilot.pause(patience)
        return app.export_screenshot(title="sessionlog")


def is_as_drawn(picture: Picture, folder: Path) -> bool:
    """Does the app still draw this picture? A slow machine gets more time before it counts."""
    shown = picture.path.read_text() if picture.path.exists() else ""
    return any(asyncio.run(draw(picture, folder, wait)) == shown for wait in (0.3, 1, 2))


def main(argv: list[str]) -> int:
    check = "--check" in argv
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "night"
        make_night(folder, MORNING)
        os.chdir(scratch)  # so that no path of the machine is in a picture
        for picture in PICTURES:
            if check:
                if not is_as_drawn(picture, folder):
                    wrong.append(picture.path.name)
            else:
                picture.path.write_text(asyncio.run(draw(picture, folder)))
                print(picture.path.name)
    for name in wrong:
        print(f"screenshots/{name} is not what the app draws; run python screenshots/make.py")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
