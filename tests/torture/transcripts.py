"""The long run of the transcripts: wild and damaged sessions as messages for each service.

``python tests/torture/transcripts.py --count 10000 [--seed N]`` prints one line of counts and
exits 1 when a service would refuse one, or a call was lost.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import wild


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong: list[str] = []
    done = messages = calls = 0
    for seed in range(options.seed, options.seed + options.count):
        made = wild.session(seed)
        if made is None:
            continue
        done += 1
        messages += len(made.context)
        calls += sum(map(wild.asks, made.context))
        wrong += [
            f"seed {seed}: {fault}" for fault in wild.faults(made, "Go on, please." * (seed % 2))
        ]
    print(f"{done} sessions, {messages} messages, {calls} calls: {len(wrong)} faults")
    for fault in wrong[:20]:
        print(fault, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
