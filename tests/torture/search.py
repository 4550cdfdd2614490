"""The long run of the search tests: random texts in logs of all formats, spelled as different
writers spell them, looked for by random parts of them.

``python tests/torture/search.py --count 20000 [--seed N]`` prints one line of counts and exits 1
when a record was missed, found falsely, or numbered wrongly.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

import build
import wanted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="logs")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong: list[str] = []
    queries = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.count):
            random = Random(options.seed * 1_000_000 + number)
            log = wanted.made(random)
            path = build.log(Path(folder) / log.name, log.lines)
            for _ in range(5):
                query = wanted.a_query(random, log.texts)
                wrong += [f"log {number}: {f}" for f in wanted.faults(path, query)]
                queries += 1
    print(f"{options.count} logs, {queries} queries, {len(wrong)} faults")
    for fault in wrong[:20]:
        print(fault, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
