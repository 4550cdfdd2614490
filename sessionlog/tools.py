"""The one name that a tool has in what a person reads: short enough for a column of seven.

What agents call alike is alike. The name as the log has it stands in a row's detail, in the raw
record and in every JSON object; what asks for a tool takes either.
"""

from __future__ import annotations

from sessionlog.text import one_line

_SHORT = {
    "exec_command": "exec", "write_stdin": "stdin", "apply_patch": "patch",
    "update_plan": "plan", "view_image": "image", "shell_command": "shell",
    "run_shell_command": "shell", "local_shell_call": "shell", "container.exec": "shell",
    "read_file": "read", "read_many_files": "read", "write_file": "write", "edit_file": "edit",
    "str_replace_editor": "edit", "str_replace_based_edit_tool": "edit", "replace": "edit",
    "list_directory": "ls", "list_dir": "ls", "search_file_content": "grep",
    "grep_search": "grep", "web_search": "search", "web_fetch": "fetch",
    "google_web_search": "search", "web_search_call": "search",
    "todowrite": "todo", "todo_write": "todo", "todoread": "todo", "multiedit": "edit",
    "notebookedit": "edit", "bashoutput": "output", "killbash": "kill", "killshell": "kill",
    "webfetch": "fetch", "websearch": "search", "exitplanmode": "plan", "agent": "task",
}  # fmt: skip


def label_of(name: str) -> str:
    """Its name, visible text; "" for a tool without one. A tool of a server
    (``mcp__server__tool``) has its own."""
    own = name.rpartition("__")[2] or name
    label = one_line(own)
    plain = label.isalpha() and label.istitle()
    return _SHORT.get(label.lower(), label.lower() if plain else label)
