"""The house: a module imports only lower floors, and the library never loads the screen."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = [
    "append children commands conversation density dialects dialects.lines diffs displays errors "
    "formats formats.ids framing hit index keypress matching notice outflow pace plainshell "
    "processes records seal secrets sieve steps supervise supervise.elsewhere supervise.linux "
    "supervise.order terminal text through why why.errors why.prose",
    "acts agent alarm answers codec context crew errorline family figures formats.tokens pairing "
    "paths query repeats spread status stopline stores.base supervise.system tools usage",
    "agentfile blobs branch demo.script demo.work dialects.base formats.claude_life "
    "formats.claude_subagents formats.codex_place formats.gemini_parts formats.gemini_subagents "
    "formats.issue formats.native_encode formats.parts gitfiles knowing masked relay shellfiles "
    "splice stats_page stores.document stores.zstd stream supervise.birth supervise.tree telling "
    "why.failures",
    "demo.night dialects.blocks dialects.plain dialects.table ended formats.base "
    "formats.codex_files formats.codex_lines outcome stores.gemini_fold supervise.place "
    "supervise.runs trunk uncommitted why.facts",
    "clients edits formats.claude_turns formats.codex_compose formats.codex_renew "
    "formats.gemini_compose formats.gemini_items formats.gemini_leftover "
    "formats.gemini_lines formats.mini_commands formats.opencode_ids "
    "formats.opencode_lines formats.opencode_parts formats.opencode_shape "
    "formats.opencode_usage life stores.codex_fork stores.opencode_ask stores.sqlite "
    "supervise.beside",
    "evidence formats.gemini_actor formats.opencode_copy formats.opencode_life "
    "formats.opencode_model formats.opencode_subagents formats.opencode_v2 stores.opencode_export "
    "stores.opencode_tables stores.opencode_tree",
    "formats.gemini formats.opencode_actor",
    "formats.opencode stores.gemini_glimpse",
    "stores.gemini_json stores.opencode_rows stores.trajectory",
    "stores.opencode_db",
    "formats.codex_actor rolls stores.table writer",
    "logfile",
    "compare contrast demo dialects.guess dialects.sse dialects.text filecalls "
    "formats.agent_session_entries formats.chat_actor formats.claude_blocks "
    "formats.claude_compose formats.claude_links formats.claude_usage "
    "formats.codex_exec formats.codex_head formats.codex_items formats.links formats.native_actor "
    "formats.pi_entries formats.pi_usage formats.qwen_life formats.qwen_parts "
    "formats.qwen_subagents formats.qwen_usage formats.swe_agent mend needle plan recorder "
    "session stats supervise.handle why.calls why.work window",
    "dialects.answers formats.agent_session_actor formats.claude_actor formats.mini_swe "
    "formats.pi_actor formats.qwen_events note recording repository rewinds touched ways "
    "why.judge",
    "dialects.anthropic_sse dialects.claude_stream_json dialects.codex_exec_json "
    "dialects.openai_sse facing formats.agent_session formats.chat formats.claude_events "
    "formats.codex_events formats.native formats.qwen_ends formats.qwen_links marks matcher "
    "numbering regions stale why.reading",
    "finders history formats.claude_ends formats.claude_facts formats.codex_glimpse formats.pi "
    "formats.qwen_actor shown why.answer",
    "formats.claude_glimpse formats.claude_stream",
    "formats.claude formats.codex formats.qwen stretched why.said",
    "formats.table",
    "agents source",
    "counting halves intake listing measure newlog reader sides why.look",
    "amiss facts follower lookup numbers onward pictures survey vigil",
    "closing demo.agent earlier follow forks repairs search turns",
    "plain",
    "carry lend transcript wide",
    "resume",
    "handover",
    "commands.common supervise.output",
    "commands.rows supervise.run supervise.tape",
    "commands.agents commands.check commands.compare commands.demo commands.follow commands.fork "
    "commands.list commands.record commands.repair commands.replay commands.resume "
    "commands.search commands.show commands.stale commands.stats commands.stop commands.why "
    "supervise.guard",
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
