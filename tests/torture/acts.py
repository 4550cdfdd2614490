"""The long run of the acts: random sessions of every client, whole and damaged, are repaired and
forked, and what comes out is read as the client does.

``python tests/torture/acts.py --count 10000 [--seed N]`` prints one line of counts and exits 1 when
a client would refuse what was made, or something was lost; each fault tells the seed to get it
again.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

import acted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="sessions")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    kinds: Counter[str] = Counter()
    wrong: list[list[str]] = []
    for seed in range(options.seed, options.seed + options.count):
        found = acted.faults(seed, kinds)
        wrong += [found] if found else []
    told = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
    print(f"{options.count} sessions ({told}), {len(wrong)} with faults")
    for found in wrong[:20]:
        print(found[0], file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
