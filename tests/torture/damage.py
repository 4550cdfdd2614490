"""The long run of the damage tests: prefixes (G2) and harmed images (G3) of native logs.

``python tests/torture/damage.py --count 100000 [--seed N]`` prints one line of
counts and exits 1 when a whole record was lost, or a loss was not told.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import build
import harm


def logs(seed: int) -> list[list[bytes]]:
    """Some native logs, other ones for another seed."""
    return [[*build.scrambled(seed * 1000 + i, 25), build.result()] for i in range(20)]


def prefixes(count: int, seed: int) -> tuple[int, list[str]]:
    """Read byte prefixes of logs; gives how many were read and what went wrong."""
    wrong: list[str] = []
    done = 0
    while done < count:
        seed += 1
        lines = [*build.scrambled(seed, 10), build.result()]
        data = b"".join(lines)
        whole, _ = harm.read(data)
        starts = [data.rfind(b"\n", 0, size) + 1 for size in range(len(data) + 1)]
        for size, start in enumerate(starts):
            records, damages = harm.read(data[:size])
            kept = [record for record in whole if record.span.end <= size]
            torn = size > start and (not kept or kept[-1].span.end < size)
            if records != kept or [d.torn for d in damages] != [True] * torn:
                wrong.append(f"log {seed}, first {size} bytes")
        done += len(starts)
    return done, wrong


def images(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Read harmed logs; gives how many of each kind of harm and what went wrong."""
    kinds: Counter[str] = Counter()
    wrong: list[str] = []
    bases = logs(seed)
    for i in range(count):
        image = harm.harmed(bases[i % len(bases)], seed * count + i)
        kinds.update(image.how.split(", "))
        wrong += [f"image {i} ({image.how}): {fault}" for fault in harm.faults(image)]
    return kinds, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    done, cut = prefixes(options.count, options.seed)
    kinds, lost = images(options.count, options.seed)
    told = ", ".join(f"{kind.strip('_')} {n}" for kind, n in sorted(kinds.items()))
    print(f"{done} prefixes, {len(cut)} wrong; {options.count} images ({told}), {len(lost)} faults")
    for fault in (*cut, *lost)[:20]:
        print(fault, file=sys.stderr)
    return 1 if cut or lost else 0


if __name__ == "__main__":
    sys.exit(main())
