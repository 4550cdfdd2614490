"""Claude Code's logs with links, as the client writes them, and random ones."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import build
from build import claude_call, claude_line, claude_note, claude_said, claude_system, claude_user

NOWHERE = "00000000-0000-0000-0000-000000000000"


class Chat:
    """A log in the making: each record follows the one before it, unless it says otherwise."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.last: str | None = None
        self.n = 0

    def add(self, line: bytes, after: str | None = "") -> str:
        """A record behind the last one, or after that of another uuid; gives its own."""
        value = json.loads(line)
        self.n += 1
        value["uuid"] = f"k{self.n}"
        value["parentUuid"] = self.last if after == "" else after
        self.lines.append(build.line(value))
        self.last = value["uuid"]
        return value["uuid"]

    def user(self, text: str, after: str | None = "", **more: Any) -> str:
        return self.add(claude_user(text, self.n, **more), after)

    def said(self, text: str) -> str:
        """An answer of its own."""
        return self.add(claude_said(text, id=f"m{self.n}", seconds=self.n))

    def call(self, id: str, answer: str = "") -> str:
        return self.add(claude_call(id, id=answer or f"m{self.n}", seconds=self.n))

    def result(self, id: str, after: str | None = "") -> str:
        return self.add(build.claude_result(id, f"result {id}", seconds=self.n), after)

    def compaction(self, keep: tuple[str, str] | None = None) -> str:
        about: dict[str, Any] = {"trigger": "manual"}
        if keep:
            about["preservedSegment"] = {"headUuid": keep[0], "tailUuid": keep[1]}
        at = self.add(claude_system("compact_boundary", self.n, compactMetadata=about), None)
        self.user("The story so far", isCompactSummary=True)
        return at

    def mark(self, leaf: str) -> None:
        """The client's note of the leaf that it goes on from."""
        self.lines.append(claude_note("last-prompt", leafUuid=leaf, explicit=True))

    def log(self, folder: Path, name: str = build.CLAUDE_FILE) -> Path:
        return build.log(folder / name, self.lines)


def wandering(seed: int, length: int = 70, pad: int = 0) -> list[bytes]:
    """A log whose person goes back again and again, among compactions, parallel calls, side
    chains, marks and torn lines. `pad`: characters that each text is longer."""
    random, chat, keys, fresh = Random(seed), Chat(), ["gone"], 1
    for i in range(length):
        what = random.choice("uuuuaaapqrrsmlbxkdt" if len(keys) > 1 else "u")
        text = f"text {i} " + "x" * pad
        back = random.random() < 0.4
        after: str | None = random.choice(keys[-25:]) if back else ""
        after = None if back and random.random() < 0.15 else after
        if what == "u":
            keys.append(chat.user(text, after))
        elif what == "a":
            keys.append(chat.said(text))
        elif what == "p":  # two blocks of one answer, and their results beside each other
            first, second = chat.call(f"c{i}", f"p{i}"), chat.call(f"d{i}", f"p{i}")
            keys += [first, second, chat.result(f"c{i}", first)]
            keys.append(chat.result(f"d{i}", second))
        elif what == "q":
            keys.append(chat.call(f"c{i}"))
        elif what == "r":
            keys.append(chat.result(f"c{i - 1}"))
        elif what == "s":
            last = chat.last
            chat.add(claude_user(text, i, isSidechain=True, agentId="a1"))
            chat.last = last
        elif what == "m":
            keys.append(chat.user("<local-command-caveat>x", after, isMeta=True))
        elif what == "l":
            keys.append(chat.add(claude_system("local_command", i, content=text), after))
        elif what == "b":
            keys.append(chat.user(f"<bash-input>{text}</bash-input>", after))
        elif what == "x":  # what it keeps stands behind the compaction before it
            kept = (
                sorted(random.choices(range(fresh, len(keys)), k=2))
                if random.random() < 0.6
                else []
            )
            keep = (keys[kept[0]], keys[kept[1]]) if kept else None
            fresh = len(keys)
            keys.append(chat.compaction(keep))
        elif what == "k":
            chat.mark(random.choice([NOWHERE, *keys[-9:]]))
        elif what == "d":
            keys.append(chat.add(claude_line("attachment", i, attachment={"type": "date"})))
        else:
            chat.lines.append(claude_user(text, i)[:90] + b"\n")
    return chat.lines
