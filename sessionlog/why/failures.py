"""What kind of failure a call's output tells of: no leave, no space, no program, no time. Pure.

The words are those of shells (sh, bash, zsh, fish, cmd, PowerShell), of the programs that start
others (env, make, Go, Node, Rust), and of the clients: Claude Code 2.1, Codex 0.171, Gemini CLI
0.61, Qwen Code 0.24, OpenCode 1.18, pi 0.73. What a call that went well only shows (a README, a
log, the hits of a search) tells of nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from sessionlog.why.errors import alternatives

_AGENTS = r"""
    ^(?:task|agent|sub_?agent|spawn_agent|wait|wait_agent|new_task|run_agent|dispatch_agent)$
    ^(?:delegate\w*|codebase_investigator|\w+_(?:sub)?agent)$
"""
"""Tools that let another agent work: Claude Code's Task and Agent, Codex's spawn_agent and wait,
OpenCode's and Qwen's task, Gemini's agents."""
_AGENT_FAILED = r"""
    terminated early
    "(?:errored|failed)"\s*:
    "status"\s*:\s*"(?:failed|errored?|crashed|killed|timed_out)"
    (?:sub-?agent|agent|task) (?:\w+ ){0,3}(?:failed|crashed|errored|died|was cut off)
"""
_REFUSED = r"""
    user (?:doesn't|does not|did not) want to|tool use was rejected
    requested permissions?|haven't granted
    permission to use .{0,80}denied
    (?:user|you) (?:has |have )?(?:rejected|denied|declined|refused|dismissed)
    (?:rejected|denied|declined|blocked) by (?:the |a )?(?:user|policy|approval|hook|rule)
    (?:requires?|needs?) (?:your |user )?(?:approval|confirmation|permission)
    approval policy|not (?:been )?approved
    rule which prevents you
    outside of the (?:allowed|sandbox)|sandbox (?:denied|blocked|error: denied)
    not allowed (?:by|in) (?:the |this )?(?:policy|sandbox|mode|permission)
"""
_NO_SPACE = r"""
    no space left on device|\b(?:ENOSPC|EDQUOT)\b|disk quota exceeded
    not enough space on the disk
    (?:disk|device) is full|disk[ _]?full\b
"""
_NO_TIME = r"""
    (?:command|tool|request|execution|call|script|process|bash|shell) (?:\w+ )?timed out
    timed out after \d|automatically cancelled because it exceeded|\[exit: time
    timeout (?:of|after|limit) .{0,20}(?:reached|exceeded|\d)
    exceed(?:ed|ing) (?:the |its )?(?:timeout|time limit)
    killed after \d+ ?(?:ms|s|m)\b|no output for \d+|deadline exceeded
    \bexit(?:ed)?(?: \w+){0,2}:? 124\b|"exit_?code":\s*124\b
"""
_CLASSES = (("permission", _REFUSED), ("disk_full", _NO_SPACE), ("tool_timeout", _NO_TIME))
_NAME = r"(\w[\w.+@/-]{0,60})"
_MISSING = r"""
    command not found: NAME
    (?:^|[:;\s])NAME: (?:command )?not found\b
    unknown command:? ['"`]?NAME
    ['"]NAME['"] is not recognized as
    exec\w*: "?NAME"?: executable file not found
    \bspawn NAME ENOENT
    \benv: ['‘"]?NAME['’"]?: no such file
    make(?:\[\d+\])?: NAME: no such file or directory
    which: no NAME in \(
    no such command: [`'"]?NAME
    '?NAME'? is not a (?:git|docker|kubectl|npm) command
    linker [`'"]NAME[`'"] not found
    ^(?:\w+: )?(?:error: |fatal: )?[`'"]?NAME[`'"]? (?:is|was) not installed\b
    program [`'"]?NAME[`'"]? not found
    executable (?:doesn't exist|not found) (?:at|in) NAME
"""
_NO_PROGRAM = r"module|package|crate|library|import|image|branch|remote|page|header|symbol"
_ASKED_FOR = r"^\s*(?:which|command -v|type|hash) ([\w.+-]+)\s*$"
"""Commands that ask whether a program is there; they fail without a word when it is not."""
_HINTS = ("not found", "no such", "not recognized", "enoent", "not a ", "not installed",
          "unknown command", "no ", "doesn't exist")  # fmt: skip
_SHOWING = r"""
    ^\s*(?:rg|grep|egrep|ag|cat|head|tail|less|awk|bat|nl|ls|find|tree|strings|man|echo|printf|jq)\b
    ^\s*(?:sed -n|git (?:log|diff|show|grep|blame))\b
"""
"""Commands that show what stands somewhere: their output is not about themselves."""
_READERS = r"read|grep|glob|search|view|list|cat\b|fetch|web|lsp|symbol"
"""Tools that show what stands somewhere."""


def cause_of(tool: str, said: str, text: str, failed: bool) -> tuple[str, str]:
    """(cause, its subject) that a call's output tells of; ("", "") for none that is known here.

    `said` is the call's telling argument, `text` its output. The subject of a missing program is
    its name.
    """
    if is_agent(tool):
        failed = failed or bool(alternatives(_AGENT_FAILED).search(text))
        refused = failed and alternatives(_REFUSED).search(text)
        return ("permission" if refused else "subagent_failed" if failed else ""), ""
    if not failed:
        return ("", "") if shows(tool, said) else _hidden(text)
    if shows(tool, said):
        return ("permission" if alternatives(_REFUSED).search(text[:600]) else ""), ""
    for cause, block in _CLASSES:
        if alternatives(block).search(text):
            return cause, ""
    program = asked_for(said) or missing(text)
    return ("missing_program", program) if program else ("", "")


def line_of(cause: str, text: str) -> str:
    """The first line of an output that tells of the cause, as it stands there; "" for none."""
    block = dict(_CLASSES).get(cause, "")
    for line in text.split("\n") if cause else ():
        if alternatives(block).search(line) if block else missing(line):
            return line.strip()
    return ""


def asked_for(said: str) -> str:
    """The program that a command asks about: is it there? "" where it does something else."""
    asked = alternatives(_ASKED_FOR).search(said)
    return asked[1] if asked else ""


def is_agent(tool: str) -> bool:
    """Does the tool let another agent work?"""
    return bool(alternatives(_AGENTS).search(tool))


def shows(tool: str, said: str) -> bool:
    """Does the call only show what stands somewhere?"""
    if alternatives(_READERS).search(tool):
        return True
    return bool(alternatives(_SHOWING).search(said)) and not re.search(r"[^2&]>\s*\S|\btee\b", said)


def missing(text: str) -> str:
    """The program that an output says is not there; "" for none. Modules and packages are none."""
    low = text.lower()
    if not any(hint in low for hint in _HINTS):
        return ""
    for pattern in _missing():
        for found in pattern.finditer(text):
            start = text.rfind("\n", 0, found.start() + 1) + 1
            line = text[start : found.end() + 40].lstrip().partition("\n")[0]
            if not alternatives(_NO_PROGRAM).search(line):
                return found[1].rpartition("/")[2] or found[1]
    return ""


@cache
def _missing() -> list[re.Pattern[str]]:
    return list(_patterns())


def _patterns() -> Iterator[re.Pattern[str]]:
    for line in _MISSING.strip().splitlines():
        yield re.compile(line.strip().replace("NAME", _NAME), re.M | re.I)


def _hidden(text: str) -> tuple[str, str]:
    """A failure behind `| tail` or `|| true`: only the last lines of an output tell of one."""
    tail = "\n".join(text.rstrip().split("\n")[-4:])
    if alternatives(_NO_SPACE).search(tail):
        return "disk_full", ""
    program = missing(tail)
    return ("missing_program", program) if program else ("", "")
