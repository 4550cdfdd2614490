"""The task inside the prompts that SWE-agent and mini-swe-agent make of it, for a title.

Both wrap it in a template, so that the first line of every prompt is the same. The marks are those
of the templates that come with the agents; a prompt without them is the task.
"""

from __future__ import annotations

import re

_MARKED = re.compile(
    r"<(pr_description|uploaded_files|task)>\s*(?:Consider the following PR description:\s*)?"
    r"(?P<inside>\S.*?)\s*</\1>"
    r"|^ISSUE:[ \t]*\n(?P<behind>.*?)(?:\n\s*\n|\Z)"
    r"|^Please solve this issue:\s*(?P<asked>\S.*?)(?:\n\s*\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_LOOK = 16_384
"""Characters of a prompt in which the marks are looked for."""
_PATH = re.compile(r"/\S*")


def task_of(prompt: str) -> str:
    """The task in a prompt, from its first words on; the whole prompt where nothing marks it."""
    for found in _MARKED.finditer(prompt, 0, _LOOK):
        said = found["inside"] or found["behind"] or found["asked"] or ""
        if said and not _PATH.fullmatch(said):
            return said.strip()
    return prompt.strip()
