"""The house: a module imports only lower floors, and the library never loads the screen."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = [
    "append commands conversation crew density dialects dialects.lines diffs displays errors "
    "formats framing hit index keypress matching notice outflow pace plainshell records "
    "seal secrets sieve spread steps supervise supervise.elsewhere supervise.linux supervise.order "
    "terminal text through why why.errors why.prose",
    "acts agent alarm answers branch codec errorline family figures formats.tokens pairing "
    "paths query status stopline stores.base supervise.system usage",
    "agentfile blobs demo.script demo.work dialects.base formats.claude_life "
    "formats.claude_subagents formats.native_encode formats.parts gitfiles knowing masked relay "
    "shellfiles splice stats_page stream supervise.birth supervise.tree telling why.failures",
    "agents demo.night dialects.blocks dialects.plain dialects.table formats.base outcome "
    "ended supervise.place supervise.runs uncommitted why.facts",
    "edits life supervise.beside",
    "stores.table writer",
    "logfile",
    "compare contrast demo dialects.guess dialects.sse dialects.text filecalls "
    "formats.chat_actor formats.claude_blocks formats.claude_usage formats.codex_items "
    "formats.native_actor formats.pi_entries formats.pi_usage needle plan recorder session "
    "stats supervise.handle why.calls why.work window",
    "dialects.answers note recording repository touched ways why.judge",
    "dialects.anthropic_sse dialects.claude_stream_json dialects.codex_exec_json "
    "dialects.openai_sse facing formats.chat formats.claude_events formats.codex_events "
    "formats.native marks matcher numbering regions stale why.reading",
    "finders formats.claude_ends formats.codex formats.pi shown why.answer",
    "formats.claude stretched why.said",
    "formats.table",
    "source",
    "counting halves intake listing measure newlog reader sides why.look",
    "facts follower numbers onward pictures survey vigil",
    "carry closing demo.agent follow forks repairs search turns",
    "lend resume transcript wide",
    "handover",
    "commands.common supervise.output",
    "commands.rows supervise.run supervise.tape",
    "commands.agents commands.check commands.compare commands.demo commands.follow "
    "commands.fork commands.list commands.record commands.repair commands.replay "
    "commands.resume commands.search commands.show commands.stale commands.stats "
    "commands.stop commands.why supervise.guard",
    "cli",
    "__main__",
]
"""A module imports from lines above its own, never from its own."""


def modules(package: str) -> dict[str, Path]:
    root = ROOT / package
    names = {}
    for path in root.rglob("*.py"):
        parts = list(path.relative_to(root).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        names[".".join(parts)] = path
    return names


def imported(path: Path, package: str) -> set[str]:
    """Modules of the package that a file imports at all, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                found.add(f"{node.module}.{alias.name}")
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {
        name.removeprefix(package).lstrip(".")
        for name in found
        if name == package or name.startswith(package + ".")
    }


def floor(name: str) -> int:
    for number, names in enumerate(FLOORS):
        if name in names.split():
            return number
    raise AssertionError(f"sessionlog.{name} stands on no floor: give it one in this test")


def test_a_module_of_the_library_imports_only_lower_floors() -> None:
    known = modules("sessionlog")
    wrong = [
        f"{name} imports {other}"
        for name, path in known.items()
        if name  # the package itself names what is public and imports it when it is asked for
        for other in imported(path, "sessionlog")
        if other in known and other not in ("", name) and floor(other) >= floor(name)
    ]
    assert not wrong


def test_the_library_never_imports_the_screen_or_its_packages() -> None:
    for path in modules("sessionlog").values():
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                top = name.partition(".")[0]
                assert top not in ("tui", "textual", "rich"), path
                assert top != "watchfiles" or path.name == "follow.py", path


@pytest.mark.parametrize("code", ["import sessionlog", "import sessionlog.cli"])
def test_commands_start_without_the_screen(code: str) -> None:
    heavy = ("textual", "rich", "watchfiles", "tui")
    code += f"; import sys; print([m for m in sys.modules if m in {heavy}])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


def test_pure_parts_of_the_screen_do_not_import_textual() -> None:
    for name in ("lines", "rows", "timeline", "detail", "stop", "highlight", "commands"):
        path = ROOT / "tui" / f"{name}.py"
        assert "textual" not in {
            (node.module or "").partition(".")[0]
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom)
        }, path


def test_files_stay_short() -> None:
    for package in ("sessionlog", "tui"):
        for name, path in modules(package).items():
            assert len(path.read_text().splitlines()) <= 450, f"{package}.{name}"
