"""Streams of agents and of models' services, one file a dialect.

`NAMES` are what `record --from` and an agent's own description take. Adding a dialect is adding a
file here and a line in `table`.
"""

NAMES = ("anthropic-sse", "openai-sse", "claude-stream-json", "codex-exec-json", "text")
