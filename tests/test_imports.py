"""The house: a module imports only lower floors, and the library never loads the screen."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = [
    "errors records text secrets framing conversation spread append index life formats "
    "commands diffs why why.errors why.prose seal notice density pace sieve hit crew matching displays plainshell "
    "supervise supervise.order supervise.linux supervise.elsewhere "
    "dialects through dialects.lines "
    "terminal outflow keypress",
    "supervise.system stopline acts codec paths pairing family branch agent status errorline alarm usage figures answers "
    "formats.tokens query",
    "supervise.tree supervise.birth relay agentfile knowing shellfiles telling stream splice blobs why.failures formats.native_encode formats.parts "
    "formats.claude_life formats.claude_subagents demo.script demo.work stats_page "
    "masked dialects.base",
    "supervise.runs supervise.place agents formats.base writer demo.night outcome why.facts "
    "dialects.table dialects.plain dialects.blocks",
    "supervise.handle supervise.beside filecalls session compare contrast window plan recorder formats.native_actor formats.chat_actor "
    "formats.claude_blocks formats.codex_items formats.claude_usage formats.pi_usage "
    "formats.pi_entries stats demo why.calls why.work needle "
    "dialects.sse dialects.text dialects.guess",
    "note touched repository ways why.judge recording dialects.answers",
    "stale marks facing numbering regions matcher why.reading formats.native formats.chat "
    "formats.claude_events formats.codex_events dialects.anthropic_sse dialects.openai_sse "
    "dialects.claude_stream_json dialects.codex_exec_json",
    "shown why.answer finders formats.claude_ends formats.codex formats.pi",
    "formats.claude why.said stretched",
    "formats.table",
    "source",
    "listing sides newlog counting halves reader why.look intake measure",
    "onward pictures survey facts numbers follower vigil",
    "turns closing carry demo.agent follow forks repairs search",
    "transcript resume lend ended wide",
    "handover",
    "supervise.output commands.common",
    "supervise.run commands.rows",
    "commands.list commands.show commands.check commands.fork commands.repair commands.resume "
    "commands.agents commands.demo commands.why commands.search commands.follow commands.replay commands.stats "
    "commands.compare commands.stop commands.stale commands.record",
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
