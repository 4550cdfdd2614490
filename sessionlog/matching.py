"""The other process of a `Matcher`: runs one regex over texts, and dies when it takes too long.

Run as a file, with nothing of the library imported, so that it is there in a few milliseconds.
A request is a batch of (seconds, text), an answer the places in one text; both are a length in
eight bytes and that much of `marshal`. Each answer goes out at once, so that those before a death
count. The kernel's alarm ends a match that Python's `re` cannot be talked out of, also when
nobody is left to wait for it.
"""

import io
import marshal
import re
import signal
import sys
import warnings

_MOST = 100_000
"""Places that are told of one text."""


def main() -> None:
    stdin, stdout = sys.stdin.buffer, io.FileIO(1, "w")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    source, flags = marshal.loads(stdin.read(int.from_bytes(stdin.read(8), "big")))
    pattern = re.compile(source, flags)
    while head := stdin.read(8):
        for seconds, text in marshal.loads(stdin.read(int.from_bytes(head, "big"))):
            signal.setitimer(signal.ITIMER_REAL, seconds)
            found = marshal.dumps(_places(pattern, text))
            signal.setitimer(signal.ITIMER_REAL, 0)
            stdout.write(len(found).to_bytes(8, "big") + found)


def _places(pattern: "re.Pattern[str]", text: str) -> "list[tuple[int, int]]":
    """Where it matches; a match of nothing is none."""
    places = []
    for match in pattern.finditer(text):
        if match.end() > match.start():
            places.append(match.span())
            if len(places) == _MOST:
                break
    return places


if __name__ == "__main__":
    main()
