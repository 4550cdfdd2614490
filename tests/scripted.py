"""Runs that really work on a folder, told in each agent's own tools and displays.

A `Scripted` run reads, writes, edits, patches and removes files of a folder; its log says what the
agent would have logged. Times are of a clock of its own: files get theirs from it too.
"""

from __future__ import annotations

import json
import os
import subprocess
from difflib import unified_diff
from pathlib import Path
from typing import Any

import build

from sessionlog.reader import load
from sessionlog.session import Session

AGENTS = ("native", "claude", "claude-1.0", "codex", "pi")


class Scripted:
    """A run in the making."""

    def __init__(self, agent: str, folder: Path) -> None:
        self.agent, self.folder = agent, folder
        self.lines: list[bytes] = []
        self.now = 0.0
        self._calls = 0
        folder.mkdir(parents=True, exist_ok=True)
        if agent == "native":
            self.lines.append(build.meta(workdir=str(folder)))
            self.lines.append(build.message("user", "Begin."))
        elif agent == "codex":
            self.lines.append(build.codex_meta(cwd=str(folder)))
            self.lines.append(build.codex_said("user", "Begin."))
        elif agent == "pi":
            self.lines.append(build.pi_head(cwd=str(folder)))
            self.lines.append(build.pi_user("Begin."))
        else:
            self.lines.append(build.claude_user("Begin.", cwd=str(folder)))

    # -- what the agent does -------------------------------------------------------------------

    def read(self, name: str, first: int = 0, last: int = 0) -> None:
        """Read a file, or some of its lines."""
        path = self.folder / name
        try:
            text = path.read_bytes().decode()
        except FileNotFoundError:
            self._missing(name)
            return
        lines = text.split("\n")
        start, end = first or 1, min(last or len(lines), len(lines))
        if self.agent == "codex":
            command = f"sed -n '{first},{last}p' {name}" if first else f"cat {name}"
            self.shell(command)
        elif self.agent == "native":
            body = "".join(f"{i}\t{lines[i - 1]}\n" for i in range(start, end + 1))
            shown = f"[{path} lines {start}-{end} of {len(lines)}]\n{body}"
            self._call("read", {"path": str(path), "startLine": start, "endLine": end}, shown)
        elif self.agent == "pi":
            ranged = {"offset": first, "limit": last - first + 1} if first else {}
            shown = "\n".join(lines[start - 1 : end])
            left = len(lines) - end
            if left > 0:
                shown += f"\n\n[{left} more lines in file. Use offset={end + 1} to continue.]"
            self._call("read", {"path": str(path), **ranged}, shown)
        else:
            ranged = {"offset": first, "limit": last - first + 1} if first else {}
            self._call("Read", {"file_path": str(path), **ranged}, self._numbered(text, start, end))

    def _numbered(self, text: str, start: int, end: int) -> str:
        """As Claude Code shows a file; it hides carriage returns."""
        lines = text.replace("\r\n", "\n").split("\n")
        if self.agent == "claude-1.0":
            lines = lines[:-1] if lines[-1] == "" else lines
            shown = "\n".join(
                f"{i:>6}→{lines[i - 1]}" for i in range(start, min(end, len(lines)) + 1)
            )
            return shown + "\n\n<system-reminder>\nBe careful with it.\n</system-reminder>\n"
        return "\n".join(f"{i}\t{lines[i - 1]}" for i in range(start, end + 1))

    def _missing(self, name: str) -> None:
        path = str(self.folder / name)
        if self.agent == "codex":
            self.shell(f"cat {name}")
        elif self.agent == "native":
            asked = {"path": path, "startLine": 1, "endLine": 9}
            self._call("read", asked, f"open {path}: no such file or directory", failed=True)
        elif self.agent == "pi":
            text = f"ENOENT: no such file or directory, access '{path}'"
            self._call("read", {"path": path}, text, failed=True)
        else:
            text = "<tool_use_error>File does not exist.</tool_use_error>"
            self._call("Read", {"file_path": path}, text, failed=True)

    def write(self, name: str, text: str) -> None:
        """Make a file or replace all of it."""
        path = self.folder / name
        if self.agent == "codex":
            there = path.exists()
            body = "".join(f"+{line}\n" for line in text.removesuffix("\n").split("\n"))
            text = text.removesuffix("\n") + "\n"
            gone = f"*** Delete File: {name}\n" if there else ""
            self._put(path, text)
            self._patch(f"{gone}*** Add File: {name}\n{body}")
            return
        self._put(path, text)
        if self.agent.startswith("claude"):
            more = {"type": "create", "filePath": str(path), "structuredPatch": []}
            asked = {"file_path": str(path), "content": text}
            self._call("Write", asked, f"File created successfully at: {path}", structured=more)
        else:
            asked = {"path": str(path), "content": text}
            self._call("write", asked, f"wrote {len(text)} bytes to {path}")

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands once in a file."""
        path = self.folder / name
        before = path.read_bytes().decode()
        assert before.count(old) == 1
        after = before.replace(old, new)
        if self.agent == "codex" and not after.endswith("\n"):
            after += "\n"  # it ends each file that it patches so
        self._put(path, after)
        if self.agent == "codex":
            self._patch(f"*** Update File: {name}\n" + _hunk(before, after))
        elif self.agent == "native":
            asked = {"path": str(path), "old_string": old, "new_string": new}
            self._call("edit", asked, "edited")
        elif self.agent == "pi":
            asked = {"path": str(path), "edits": [{"oldText": old, "newText": new}]}
            self._call("edit", asked, f"Successfully replaced 1 block(s) in {path}.")
        else:
            asked = {"file_path": str(path), "old_string": old, "new_string": new}
            more = {"filePath": str(path), "originalFile": before,
                    "structuredPatch": _structured(before, after)}  # fmt: skip
            self._call("Edit", asked, f"The file {path} has been updated.", structured=more)

    def remove(self, name: str) -> None:
        path = self.folder / name
        if self.agent == "codex":
            path.unlink()
            self._patch(f"*** Delete File: {name}\n")
        else:
            self.shell(f"rm {name}")

    def shell(self, command: str) -> None:
        """Run a command in the folder."""
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.folder, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        self._settle()
        text, failed = done.stdout.decode(), done.returncode != 0
        if self.agent == "codex":
            text = (
                f"Chunk ID: e7411d\nWall time: 0.0000 seconds\nProcess exited with code "
                f"{done.returncode}\nOriginal token count: 9\nOutput:\n{text}"
            )
            asked = {"cmd": command, "workdir": str(self.folder)}
            self._call("exec_command", asked, text)
        elif self.agent.startswith("claude"):
            head = f"Exit code {done.returncode}\n" if failed else ""
            self._call("Bash", {"command": command}, head + text.strip("\n"), failed=failed)
        elif self.agent == "pi":
            self._call("bash", {"command": command}, text, failed=failed)
        else:
            note = f"\n[exit: exit status {done.returncode}]" if failed else ""
            self._call("shell", {"command": command}, text + note)

    # -- what the log says ---------------------------------------------------------------------

    def _patch(self, body: str) -> None:
        text = f"*** Begin Patch\n{body}*** End Patch\n"
        self._call("apply_patch", text, "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.")

    def _call(
        self, name: str, asked: Any, shown: str, *, failed: bool = False, structured: Any = None
    ) -> None:
        self._calls += 1
        self.now += 5
        id, start, end = f"c{self._calls}", self.now, self.now + 1
        if self.agent == "native":
            text = json.dumps(asked)
            self.lines.append(build.request(id, name, text, start))
            more = {"failure": shown} if failed else {"result": shown}
            self.lines.append(build.response(id, name, text, seconds=end, **more))
        elif self.agent == "codex":
            kind = "custom_tool_call" if isinstance(asked, str) else "function_call"
            given = {"input": asked} if isinstance(asked, str) else {"arguments": json.dumps(asked)}
            self.lines.append(build.codex_item(kind, start, name=name, call_id=id, **given))
            self.lines.append(build.codex_item(f"{kind}_output", end, call_id=id, output=shown))
        elif self.agent == "pi":
            block = {"type": "toolCall", "id": id, "name": name, "arguments": asked}
            self.lines.append(build.pi_said(block, stop="toolUse", seconds=start))
            self.lines.append(build.pi_result(id, shown, failed=failed, seconds=end))
        else:
            block = {"type": "tool_use", "id": id, "name": name, "input": asked}
            where = {"cwd": str(self.folder)}
            self.lines.append(build.claude_said(block, id=f"m{id}", seconds=start, **where))
            self.lines.append(build.claude_result(id, shown, failed, end, structured, **where))

    def _put(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        self._settle()

    def _settle(self) -> None:
        """Files written just now get the time of this run's clock."""
        for path in self.folder.rglob("*"):
            if path.is_file() and path.stat().st_mtime > build.START.timestamp() + self.now + 6:
                stamp(path, self.now + 5.5)

    def session(self) -> Session:
        name = {"codex": build.CODEX_FILE, "pi": build.PI_FILE}.get(self.agent, "20261127.jsonl")
        logs = self.folder.parent / f"{self.folder.name}-logs"
        return load(build.log(logs / name, self.lines))


def stamp(path: Path, seconds: float) -> None:
    """Give a file a time of the run's clock."""
    os.utime(path, (build.START.timestamp() + seconds,) * 2)


def _hunk(before: str, after: str) -> str:
    """The change in apply_patch's words, with three lines around it."""
    lines = [*unified_diff(before.splitlines(), after.splitlines(), lineterm="")][2:]
    return "".join("@@\n" if line.startswith("@@") else f"{line}\n" for line in lines)


def _structured(before: str, after: str) -> list[dict[str, Any]]:
    """The change as Claude Code keeps it beside its result."""
    old, new = (text.replace("\r\n", "\n").splitlines() for text in (before, after))
    hunks: list[dict[str, Any]] = []
    for line in [*unified_diff(old, new, lineterm="")][2:]:
        if line.startswith("@@"):
            _, was, now, *_ = line.split(" ")
            at = [int(part[1:].partition(",")[0]) for part in (was, now)]
            hunks.append({"oldStart": at[0], "newStart": at[1], "lines": []})
        else:
            hunks[-1]["lines"].append(line)
    return hunks
