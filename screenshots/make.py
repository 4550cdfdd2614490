"""Make the pictures of the README: the real app over the demo's night, with keys pressed.

`python screenshots/make.py` writes the SVG files beside this script, `--check` fails when one of
them is not what the app draws now. Clock, time zone, sizes and themes are fixed, so the same
program gives the same bytes.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
    comes: int = 0
    """Lines of the live run that are written after the keys were pressed."""
    at_home: bool = False
    """The machine that it is drawn on has the run's folder and its agent."""

    @property
    def path(self) -> Path:
        return HERE / f"{self.name}-{self.size}-{self.theme}.svg"


RACE = ("slash", *"pgx", "enter")
"""To the run that stopped inside its race test."""
LIVE = ("slash", *"flaky", "enter")
FORK = ("slash", *"pgx", "enter", "k")
REPLAY = ("p", "space", "colon", *"67", "enter")

PICTURES = [
    *(Picture("browser", size, "night") for size in SIZES),
    Picture("browser", "120x36", "day"),
    Picture("browser", "120x36", "mono"),
    Picture("timeline", "80x24", "night", ("enter",)),
    Picture("detail", "80x24", "night", ("enter", "E", "enter")),
    Picture("detail", "200x50", "night", ("enter", "k", "k", "k", "k", "k")),
    Picture("fork", "120x36", "night", ("enter", "k", "k", "f")),
    *(Picture("handover", size, "night", (*RACE, "r"), at_home=True) for size in SIZES),
    Picture("handover", "120x36", "day", (*RACE, "r", "exclamation_mark"), at_home=True),
    *(Picture("why", size, "night", (*RACE, "w")) for size in SIZES),
    Picture("why", "120x36", "day", (*RACE, "w")),
    Picture("live", "120x36", "night", (*LIVE, "enter"), comes=4),
    Picture("live", "80x24", "night", (*LIVE, "enter"), comes=4),
    *(Picture("replay", size, "night", (*RACE, "enter", *REPLAY)) for size in SIZES),
    *(Picture("search", size, "night", ("s", *"advisory", "enter")) for size in SIZES),
    *(Picture("stats", size, "night", (*RACE, "number_sign")) for size in ("80x24", "120x36")),
    *(Picture("compare", size, "night", (*FORK, "c")) for size in SIZES),
    Picture("help", "120x36", "night", ("question_mark",)),
]


def live_run(folder: Path) -> Path:
    """The Claude Code log that has a writer while a picture is drawn."""
    return next(folder.glob("claude/*shop/*.jsonl"))


@contextmanager
def alive(folder: Path) -> Iterator[None]:
    """The client's own evidence that it lives: its pid file. Process 1 is always there, and the
    same number on every machine."""
    config = Path("config").absolute()
    start = Path("/proc/1/stat").read_text().rpartition(")")[2].split()[19]
    claim = {"pid": 1, "sessionId": live_run(folder).stem, "procStart": start}
    (config / "sessions").mkdir(parents=True, exist_ok=True)
    (config / "sessions" / "1.json").write_text(json.dumps(claim))
    os.environ["CLAUDE_CONFIG_DIR"] = str(config)
    try:
        yield
    finally:
        del os.environ["CLAUDE_CONFIG_DIR"]


RACE_LOG = "zot/20261128-020000.jsonl"
AGENT = """[agents.zot]
argv = ["zot", "--resume", "{id}", "--max-iterations", "200"]
"""
FILES = ("replay", "dunning", "export", "ledger", "refund", "invoice", "pool")
AS_LEFT = "pgx.BeginTxFunc(ctx, tx)\npgxpool.New(ctx, dsn)\nNewWithConfig\n"


@contextmanager
def home_of(folder: Path) -> Iterator[None]:
    """A home where the race run worked: two of its files were changed at 07:12."""
    home, log = folder.parent.absolute(), folder / RACE_LOG
    environ, whole = dict(os.environ), log.read_bytes()
    work = home / "src/billing"
    for name in FILES:
        changed = name in ("replay", "pool")
        written(work / f"internal/billing/{name}.go", "" if changed else AS_LEFT, 7 * changed)
    written(work / ".github/workflows/test.yml", "go-version: 1.23\n", 0)
    written(work / ".git/HEAD", "ref: refs/heads/pgx5\n", 0)
    for name in ("objects", "refs"):  # without them it is no repository
        (work / ".git" / name).mkdir(exist_ok=True)
    written(home / "config/sessionlog/agents.toml", AGENT, 0)
    written(home / "bin/zot", "#!/bin/sh\n", 0).chmod(0o755)
    os.environ.update(HOME=str(home), PATH=str(home / "bin"), XDG_CONFIG_HOME=str(home / "config"))
    log.write_bytes(whole.replace(b"/home/ana", str(home).encode()).replace(b'"demo"', b'"zot"'))
    try:
        yield
    finally:
        log.write_bytes(whole)
        os.environ.clear()
        os.environ.update(environ)


def written(path: Path, text: str, hour: int) -> Path:
    """A file, last written to twelve minutes past an hour of the picture's morning."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    at = MORNING.replace(hour=hour, minute=12).timestamp()
    os.utime(path, (at, at))
    return path


async def drawn_live(picture: Picture, folder: Path, patience: float) -> str:
    """The SVG of a picture in which a run goes on: its last lines come when the keys are done."""
    log = live_run(folder)
    whole = log.read_bytes()
    lines = whole.splitlines(keepends=True)
    log.write_bytes(b"".join(lines[: -picture.comes]))
    try:
        with alive(folder):
            return await draw(picture, folder, patience, b"".join(lines[-picture.comes :]))
    finally:
        log.write_bytes(whole)


async def draw(picture: Picture, folder: Path, patience: float = 0.3, more: bytes = b"") -> str:
    """The SVG of one picture; `patience`: seconds for workers to answer each key. `more` is
    written to the live run at the end."""
    catalogue = Catalogue((folder.name,))
    catalogue.begin(10)  # seconds: everything is read before the first paint
    app = InspectorApp(catalogue, theme=picture.theme, clock=lambda: MORNING.timestamp())
    async with app.run_test(size=SIZES[picture.size]) as pilot:
        await pilot.pause(patience)
        for key in picture.keys:
            await pilot.press(key)
            await pilot.pause(patience if len(key) > 1 else patience / 4)
        if more:
            with live_run(folder).open("ab") as log:
                log.write(more)
        await pilot.pause(3 * patience)
        return app.export_screenshot(title="sessionlog")


def is_as_drawn(picture: Picture, folder: Path) -> bool:
    """Does the app still draw this picture? A slow machine gets more time before it counts."""
    shown = picture.path.read_text() if picture.path.exists() else ""
    return any(asyncio.run(made(picture, folder, wait)) == shown for wait in (0.3, 1, 2))


async def made(picture: Picture, folder: Path, patience: float = 0.3) -> str:
    """The SVG of one picture."""
    if picture.comes:
        return await drawn_live(picture, folder, patience)
    if picture.at_home:
        with home_of(folder):
            return await draw(picture, folder, 2 * patience)
    return await draw(picture, folder, patience)


def main(argv: list[str]) -> int:
    check = "--check" in argv
    only = [word for word in argv if not word.startswith("-")]
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "night"
        make_night(folder, MORNING)
        os.chdir(scratch)  # so that no path of the machine is in a picture
        for picture in PICTURES:
            if only and picture.name not in only:
                continue
            if check:
                if not is_as_drawn(picture, folder):
                    wrong.append(picture.path.name)
            else:
                picture.path.write_text(asyncio.run(made(picture, folder)))
                print(picture.path.name)
    for name in wrong:
        print(f"screenshots/{name} is not what the app draws; run python screenshots/make.py")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
