"""The real clients: where they are installed, how each is set up to ask our model alone, and how
a session of theirs is begun.

A session is gone on with by the command that the library gives (`sessionlog.agents`), word for
word: what a client needs besides stands in its settings. Each has a HOME of its own and a clean
environment.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from clients.arena import PORT
from clients.install import PACKAGES
from clients.wire import Call

_URL = f"http://127.0.0.1:{PORT}"
_KEY = "sk-test-000"
Files = Mapping[str, str]
"""Settings by their paths in HOME."""


@dataclass(frozen=True)
class Program:
    """One client."""

    name: str
    binary: str
    """Where the program is in its installation; a pattern, as platforms differ."""
    begin: tuple[str, ...]
    """The command that begins a session, the prompt left out."""
    logs: str
    """Pattern of its logs in HOME."""
    shell: Callable[[str], Call]
    """A call that runs a command."""
    read: Callable[[Path], Call]
    """A call that reads a file."""
    settings: Callable[[Path], Files]
    """For sessions in a folder."""
    env: Mapping[str, str]
    sees_running: bool = True
    """Is a call that runs in the log? Where it is not, a killed run shows no open call."""
    closes: bool = False
    """Does it write down, when it resumes, that a call was interrupted?"""
    lines: bool = True
    """Is its log a file of lines, which can be torn?"""
    spoils: bool = False
    """Does it spoil a session by going on with it without a terminal? Gemini CLI 0.61 writes the
    results of calls down once more, and sends each twice from then on; and it leaves a file
    without messages behind, because of which its next start deletes the whole session."""

    @property
    def version(self) -> str:
        package, _ = PACKAGES[self.name]
        found = installed() / self.name / "node_modules" / package / "package.json"
        return str(json.loads(found.read_bytes())["version"])

    def environ(self, home: Path) -> dict[str, str]:
        """A clean environment for a run with this HOME."""
        return {
            "PATH": f"{_links(home)}:{_node()}:/usr/local/bin:/usr/bin:/bin", "HOME": str(home),
            "TERM": "xterm-256color", "LANG": "C.UTF-8", "SHELL": "/bin/bash",
            "DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1", **self.env,
        }  # fmt: skip

    def furnish(self, home: Path, work: Path) -> None:
        """Make a HOME for sessions in the folder `work`."""
        for name, text in self.settings(work).items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def installed() -> Path:
    """The folder with the installed clients."""
    return Path(os.environ["SESSIONLOG_CLIENTS"])


def missing() -> str:
    """Why nothing can be proven here; "" when it can."""
    folder = os.environ.get("SESSIONLOG_CLIENTS", "")
    if not folder:
        return "SESSIONLOG_CLIENTS does not name the folder with the clients (clients/install.py)"
    gone = [p.name for p in PROGRAMS.values() if not any(Path(folder).glob(p.binary))]
    return f"not installed in {folder}: {', '.join(gone)}" if gone else ""


def _links(home: Path) -> Path:
    """A folder for PATH in which the programs have their own names."""
    folder = home.with_name(f"{home.name}-bin")
    if not folder.exists():
        folder.mkdir(parents=True)
        for program in PROGRAMS.values():
            found = sorted(installed().glob(program.binary))
            if found:
                (folder / program.name).symlink_to(found[0])
    return folder


@cache
def _node() -> str:
    return str(next(installed().glob("node22/node_modules/node-*/bin")))


def _codex(work: Path) -> Files:
    return {".codex/config.toml": f"""
model = "gpt-5.1-codex"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "{_URL}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
[otel]
exporter = "none"
[feedback]
enabled = false
[projects."{work}"]
trust_level = "trusted"
"""}  # fmt: skip


def _claude(work: Path) -> Files:
    trust = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    return {".claude.json": json.dumps({
        "hasCompletedOnboarding": True, "projects": {str(work): trust},
        "customApiKeyResponses": {"approved": [_KEY], "rejected": []},
    })}  # fmt: skip


def _pi(_: Path) -> Files:
    provider = {"baseUrl": f"{_URL}/v1", "api": "openai-completions", "apiKey": _KEY,
                "models": [{"id": "scripted"}]}  # fmt: skip
    return {
        ".pi/agent/models.json": json.dumps({"providers": {"scripted": provider}}),
        ".pi/agent/settings.json": json.dumps(
            {"defaultProvider": "scripted", "defaultModel": "scripted"}
        ),
    }


def _opencode(_: Path) -> Files:
    provider = {
        "npm": "@ai-sdk/openai-compatible", "name": "scripted",
        "options": {"baseURL": f"{_URL}/v1", "apiKey": _KEY},
        "models": {"scripted": {"name": "scripted"}},
    }  # fmt: skip
    return {".config/opencode/opencode.json": json.dumps({
        "autoupdate": False, "share": "disabled", "model": "scripted/scripted",
        "small_model": "scripted/scripted", "permission": {"*": "allow"},
        "provider": {"scripted": provider},
    })}  # fmt: skip


def _gemini(_: Path) -> Files:
    return {".gemini/settings.json": json.dumps({
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False}, "model": {"name": "gemini-2.5-flash"},
    })}  # fmt: skip


def _qwen(_: Path) -> Files:
    return {".qwen/settings.json": json.dumps({
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False}, "model": {"name": "scripted"},
    })}  # fmt: skip


_ALL = (
    Program(
        "codex", "codex/node_modules/@openai/codex-*/vendor/*/bin/codex",
        ("codex", "exec"), ".codex/sessions/*/*/*/rollout-*.jsonl",
        lambda command: Call("exec_command", {"cmd": command, "yield_time_ms": 30000}),
        lambda path: Call("exec_command", {"cmd": f"cat {path}", "yield_time_ms": 30000}),
        _codex, {"OPENAI_API_KEY": _KEY, "SCRIPTED_KEY": _KEY},
    ),
    Program(
        "claude", "claude/node_modules/@anthropic-ai/claude-code-*/claude",
        ("claude", "-p", "--allowedTools", "Bash,Read", "--permission-mode", "acceptEdits"),
        ".claude/projects/*/*.jsonl",
        lambda command: Call("Bash", {"command": command}),
        lambda path: Call("Read", {"file_path": str(path)}),
        _claude, {
            "ANTHROPIC_API_KEY": _KEY, "ANTHROPIC_BASE_URL": _URL,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
        }, closes=True,
    ),
    Program(
        "pi", "pi/node_modules/@mariozechner/pi-coding-agent/dist/cli.js",
        ("pi", "-p"), ".pi/agent/sessions/*/*.jsonl",
        lambda command: Call("bash", {"command": command}),
        lambda path: Call("read", {"path": str(path)}),
        _pi, {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"},
    ),
    Program(
        "opencode", "opencode/node_modules/opencode-*/bin/opencode",
        ("opencode", "run"), ".local/share/opencode/opencode*.db",
        lambda command: Call("bash", {"command": command, "description": "A step"}),
        lambda path: Call("read", {"filePath": str(path)}),
        _opencode, {
            "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_SHARE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        }, lines=False,
    ),
    Program(
        "gemini", "gemini/node_modules/@google/gemini-cli/bundle/gemini.js",
        ("gemini", "--approval-mode", "yolo", "-p"), ".gemini/tmp/*/chats/session-*.jsonl",
        lambda command: Call("run_shell_command", {"command": command}),
        lambda path: Call("read_file", {"file_path": str(path)}),
        _gemini, {
            "GEMINI_API_KEY": _KEY, "GOOGLE_GEMINI_BASE_URL": _URL,
            "GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_TELEMETRY_ENABLED": "false",
        }, sees_running=False, spoils=True,
    ),
    Program(
        "qwen", "qwen/node_modules/@qwen-code/qwen-code/cli-entry.js",
        ("qwen", "--approval-mode", "yolo", "-p"), ".qwen/projects/*/chats/*.jsonl",
        lambda command: Call("run_shell_command", {"command": command, "is_background": False}),
        lambda path: Call("read_file", {"file_path": str(path)}),
        _qwen, {
            "OPENAI_API_KEY": _KEY, "OPENAI_BASE_URL": f"{_URL}/v1", "OPENAI_MODEL": "scripted",
            "QWEN_CODE_NO_RELAUNCH": "true",
        },
    ),
)  # fmt: skip
PROGRAMS = {program.name: program for program in _ALL}
