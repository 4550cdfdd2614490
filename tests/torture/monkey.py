"""The long run of the screen: keys at random and at any speed, while logs grow, are cut, come and
go and the window changes its size.

``PYTHONPATH=.:tests python tests/torture/monkey.py --count 100 [--seed N]`` prints one line of
counts, and exits 1 when the screen died, told of an error of its own, or could not be left by
escape. Each fault names its seed and the last keys. tests/app/test_monkey.py runs a small sample.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import traceback
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))

import build
import claude_logs
import gemini_logs
import wild
from screens import SIZES, night, opened, shown
from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from tui.commands import COMMANDS

PRESSES = 120
LEAVES = {"q", "ctrl+p"}
"""Keys that end the program; any command may be chosen in the palette."""
TYPED = [*"abcxyz019/:.-+ $*[", *("enter", "escape") * 2, "backspace", "up", "down", "tab"]
WINDOWS = [*SIZES, (20, 6), (60, 10), (300, 80)]


def keys() -> list[str]:
    """Every key that does something somewhere."""
    every = {key for command in COMMANDS for keys in command.keys for key in keys.split()}
    return sorted(every - LEAVES)


def logs(folder: Path, random: Random) -> list[Path]:
    """Sessions of several agents, some of them broken off."""
    seed = random.randrange(1000)
    return [
        *sorted(night(folder).iterdir()),
        build.log(folder / "wild.jsonl", wild.native(seed)),
        build.log(folder / "claude.jsonl", claude_logs.wandering(seed)),
        build.log(folder / gemini_logs.FILE, gemini_logs.healthy()),
    ]


def happen(random: Random, paths: list[Path]) -> str:
    """Something that another program does to the logs."""
    path = random.choice(paths)
    what = random.choice(("grow", "grow", "grow", "cut", "vanish", "come", "replace"))
    if what == "come" or not path.exists():
        build.log(path if what != "come" else path.with_stem(f"new-{path.stem}"), build.healthy())
    elif what == "vanish":
        path.unlink()
    elif what == "cut":
        os.truncate(path, random.randrange(path.stat().st_size + 1))
    elif what == "replace":
        build.log(path.with_suffix(".tmp"), wild.native(random.randrange(1000))).replace(path)
    else:
        with open(path, "ab") as file:
            file.write(build.message("bot", "More.", 9000) * random.randrange(1, 4))
    return f"<{what} {path.name}>"


def press(pilot: Pilot[None], key: str) -> None:
    """A key, without waiting for what it does."""
    if len(key) == 1:
        event = events.Key(_character_to_key(key), key)
    else:
        event = events.Key(key, {"space": " ", "tab": "\t", "enter": "\r"}.get(key))
    pilot.app.post_message(event)


async def play(seed: int, folder: Path) -> str:
    """One run; what went wrong, or ""."""
    random = Random(seed)
    paths, every, done = logs(folder, random), keys(), [f"seed {seed}:"]
    slowest = random.choice((0.0, 0.002, 0.02, 0.1))  # seconds between two keys
    async with opened(folder, size=random.choice(SIZES)) as (pilot, browser):
        for _ in range(PRESSES):
            kind = random.random()
            if kind < 0.05:
                done.append(happen(random, paths))
            elif kind < 0.08:
                done.append("<resize>")
                await pilot.resize_terminal(*random.choice(WINDOWS))
            else:
                done.append(random.choice(every if kind < 0.8 else TYPED))
                press(pilot, done[-1])
            if random.random() < 0.5:
                await asyncio.sleep(random.random() * slowest)
        await pilot.pause()
        for _ in range(30):
            if pilot.app.screen is browser and not browser.view.asks:
                break
            await pilot.press("escape")
        else:
            return f"{' '.join(done)}\nno way back\n{shown(pilot)}"
        ours = [text for text in browser.status.warnings if "Error: " in text]
        return f"{' '.join(done)}\n{ours}" if ours else ""


def alone(home: Path) -> None:
    """No agent of this machine is found: the keys that hand a session over are pressed, too."""
    home.mkdir()
    os.environ.update(PATH=str(home), HOME=str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"):
        os.environ[name] = str(home)


def fault(seed: int, folder: Path) -> str:
    """What went wrong in one run, or ""; what the screen died of comes out as it ends."""
    try:
        return asyncio.run(play(seed, folder))
    except Exception:
        return f"seed {seed}: {traceback.format_exc()}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="runs")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong = 0
    for seed in range(options.seed, options.seed + options.count):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            alone(Path(place) / "home")
            if found := fault(seed, Path(place) / "logs"):
                print(found, file=sys.stderr, flush=True)
                wrong += 1
    print(f"{options.count} runs, {options.count * PRESSES} keys, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
