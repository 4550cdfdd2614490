"""The agent that the README adds, as its own text has it: read, and never acted on."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import build
import pytest

from sessionlog.formats import table

README = (Path(__file__).parent.parent / "README.md").read_text()


def source() -> str:
    """The example as it stands in the README."""
    part = README.partition("<!-- agent-example -->")[2].partition("<!-- /agent-example -->")[0]
    return part.strip().removeprefix("```python\n").removesuffix("```")


def add(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put it into the table, as the line that the README tells of does."""
    module = types.ModuleType("acorn")
    exec(compile(source(), "README.md", "exec"), module.__dict__)
    others = table.formats()
    monkeypatch.setattr(table, "formats", lambda: (module.Acorn(), *others))


def log(path: Path, *lines: dict[str, Any], workdir: str = "/srv/app") -> Path:
    """A log of these lines behind its head; each gets its time."""
    head = {"acorn": 1, "session": "a1", "cwd": workdir}
    made = [build.line({**line, "at": build.at(i)}) for i, line in enumerate((head, *lines))]
    return build.log(path, made)
