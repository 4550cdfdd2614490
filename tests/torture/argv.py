"""The long run of the commands: hostile ids, paths and prompts, filled and really started.

``python tests/torture/argv.py --count 10000 [--seed N] [--supervised 100] [--alone 200]`` prints
one line of counts and exits 1 when an argument arrived otherwise than it was meant, an option was
injected or a shell was started. Commands are started many at a time; `--alone` one by one,
`--supervised` under a supervisor. With strace there, those are counted by their execve calls.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import hostile
from hostile import Case


def check(case: Case, arrived: Sequence[bytes]) -> list[str]:
    """What is wrong with what arrived."""
    if list(arrived) == case.meant:
        return []
    return [f"{case.agent.argv_for(case.screen)}: {case.meant!r:.300} became {arrived!r:.300}"]


def launched(
    found: Sequence[tuple[Case, tuple[str, ...]]], dump: hostile.Dump
) -> list[str]:  # fmt: skip
    """Start all of them, many at a time."""
    wrong = []
    for batch in hostile.batches(found):
        arrived = dump.run([argument for _, made in batch for argument in made])
        for case, made in batch:
            mine, arrived = arrived[: len(made)], arrived[len(made) :]
            wrong += check(case, mine)
        wrong += [f"{len(arrived)} arguments too many"] if arrived else []
    return wrong


def traced(options: argparse.Namespace, folder: Path) -> tuple[int, list[str]]:
    """Programs and shells that the run of the single ones starts, by strace."""
    out = folder / "trace"
    again = [sys.executable, __file__, "--count", "0", "--seed", str(options.seed), "--alone",
             str(options.alone), "--supervised", str(options.supervised)]  # fmt: skip
    tracer = ["strace", "-f", "-qq", "-s", "512", "-e", "trace=execve", "-o", str(out)]
    subprocess.run([*tracer, *again], check=True, stdout=subprocess.DEVNULL)
    return hostile.executions(out.read_text(errors="replace"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--alone", type=int, default=200)
    parser.add_argument("--supervised", type=int, default=100)
    options = parser.parse_args()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        dump = hostile.Dump(Path(name))
        few = list(hostile.cases(options.alone + options.supervised, options.seed))
        many = list(hostile.cases(options.count, options.seed))
        injected = 0
        found: list[tuple[Case, tuple[str, ...]]] = []
        for case in many:
            made = hostile.filled(case)
            if (made is None) != (case.meant is None):
                wrong.append(
                    f"{case.agent.argv_for(case.screen)}: {case.values!r:.300}: {made!r:.99}"
                )
            if made is not None:
                injected += len(hostile.options(case, made))
                found.append((case, made))
        wrong += launched(found, dump)
        for number, case in enumerate(few):
            made = hostile.filled(case)
            start = dump.run if number < options.alone else dump.supervise
            wrong += check(case, start(made[1:])) if made else []
        wrong += dump.harm()
        told = f"{len(many)} commands, {len(many) - len(found)} refused, {len(found)} started"
        if options.count and shutil.which("strace"):
            count, shells = traced(options, Path(name))
            told += f"; {len(few)} alone: {count} programs, {len(shells)} shells"
            wrong += shells
    print(f"{told}; {injected} options injected, {len(wrong)} faults")
    for fault in wrong[:20]:
        print(fault, file=sys.stderr)
    return 1 if wrong or injected else 0


if __name__ == "__main__":
    sys.exit(main())
