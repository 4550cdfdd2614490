"""What `stale` says of random runs in real folders, against what truly happened to the files."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from scripted import AGENTS, Scripted, stamp

from sessionlog.stale import stale

LATER = 90000.0


class Story:
    """A random run, and what happens to its files behind its back."""

    def __init__(self, agent: str, folder: Path, seed: int) -> None:
        self.random = Random(seed)
        self.run = Scripted(agent, folder)
        self.names = [f"src/f{i}.py" for i in range(5)]
        self.seen: dict[str, bytes | None] = {}
        """Each touched file's bytes at its last touch."""

    def text(self) -> str:
        kinds = ["", "    return x", "def f():", "x = 1"]
        count = self.random.randrange(1, 30)
        lines = [self.random.choice([*kinds, f"y{self.random.random()}"]) for _ in range(count)]
        end = self.random.choice(["\n", "\n", "\n", ""])
        return "\n".join([*lines, f"last {self.random.random()}"]) + end

    def prepare(self) -> None:
        for name in self.names[:3]:
            path = self.run.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.text().encode())
            stamp(path, -1000)

    def act(self) -> None:
        random, run = self.random, self.run
        name = random.choice(self.names)
        path = run.folder / name
        what = random.choice("rrrpwweeesdc")
        if what == "r":
            run.read(name)
        elif what == "p" and path.exists():
            run.read(name, 2, 4)
        elif what == "w":
            run.write(name, self.text())
        elif what == "e" and path.exists():
            text = path.read_text()
            line = random.choice([s for s in text.split("\n") if s] or ["none"])
            if text.count(line) != 1:
                return
            run.edit(name, line, f"edited {random.random()}")
        elif what == "s" and path.exists():
            run.shell(f"sed -i 's/x/z/' {name}")
        elif what == "c":
            run.shell(f"cat > {name} <<'EOF'\n{self.text().strip()}\nEOF")
        elif what == "d" and path.exists():
            run.remove(name)
        else:
            return
        self.seen[name] = path.read_bytes() if path.exists() else None

    def tamper(self) -> None:
        """What others do afterwards."""
        for name in self.names:
            path = self.run.folder / name
            before = path.read_bytes() if path.exists() else None
            what = self.random.choice("......ccakdtx")
            if what == "c":
                path.write_bytes(self.text().encode())
            elif what == "a" and before is not None:
                path.write_bytes(before + b"# by another\n")
            elif what == "k" and before is not None:  # changed, but its time was kept
                old = path.stat().st_mtime_ns
                path.write_bytes(before.replace(b"\n", b"\n#", 1) + b"!")
                os.utime(path, ns=(old, old))
                continue
            elif what == "d" and before is not None:
                path.unlink()
            elif what == "x" and before:
                path.write_bytes(before[: len(before) // 2])
            elif what != "t":
                continue
            if path.exists():
                stamp(path, LATER)

    def judged(self) -> Counter[str]:
        """Verdicts against the truth; a wrong one by content raises."""
        verdicts: Counter[str] = Counter()
        found = {file.shown: file for file in stale(self.run.session()).files}
        assert found.keys() == self.seen.keys()
        for name, then in self.seen.items():
            path = self.run.folder / name
            now = path.read_bytes() if path.exists() else None
            file = found[name]
            if now == then:
                right = "unchanged"
            elif now is None:
                right = "deleted"
            else:
                right = "new" if then is None else "changed"
            verdict = "right" if file.how == right else f"{right} told as {file.how}"
            verdicts[f"{verdict} by {file.by}"] += 1
            if file.by != "time":
                assert file.how == right, (self.run.agent, name, then, now, file)
        return verdicts


def story(agent: str, folder: Path, seed: int) -> Counter[str]:
    told = Story(agent, folder, seed)
    told.prepare()
    for _ in range(told.random.randrange(3, 25)):
        told.act()
    told.tamper()
    return told.judged()


@pytest.mark.parametrize("agent", AGENTS)
def test_a_verdict_by_content_is_the_truth(agent: str, tmp_path: Path) -> None:
    verdicts: Counter[str] = Counter()
    for seed in range(12):
        verdicts += story(agent, tmp_path / str(seed) / "work", seed)
    assert verdicts["right by content"] > verdicts.total() * 0.6, verdicts
