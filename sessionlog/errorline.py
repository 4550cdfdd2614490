"""The line of an output that tells of an error. Pure.

What a compiler, a test runner, a shell or a traceback writes when something goes wrong; prose
about errors, and counts of none of them, are not meant.
"""

from __future__ import annotations

import re
from functools import cache

from sessionlog.text import ELLIPSIS, visible

_LOOK = 32 * 1024

_ERRNO = "ENOENT|EACCES|EPERM|ECONN[A-Z]+|ETIMEDOUT|ENOSPC|ENOTFOUND|EADDRINUSE|ENOMEM|EPIPE"
_ERROR = rf"""
    ^\W{{0,6}}(?:FAIL|FAILED|FAILURE|ERROR|ERRORS|FATAL|CRITICAL|PANIC)\b(?!\w*\s*[=-])
  | ^\W{{0,4}}\[error\]
  | ^E\s{{2,}}\S                                            # pytest
  | ^\s*[✗✘✖×●]\s+\S
  | \b[A-Z]\w*(?:Error|Exception|Failure)\b(?:\s\[\w+\])?:  # ValueError: ...
  | (?:^|[:\])]\s|^\S{{1,40}}:\s)\s*(?:fatal\ |internal\ |syntax\ )?
    [Ee]rror(?:\ [A-Z]{{1,4}}\d+)?:\s?\S               # file.c:3:5: error: ...
  | ^\s*[Ee]rror:\s
  | \berror\[\w+\]
  | ^\s*(?:error|fatal|panic|abort(?:ed)?):\s
  | ^Traceback\ \(most\ recent
  | \bpanicked\ at\b
  | ^npm\ (?:ERR!|error)
  | \b(?:exit\ (?:status|code)|exited\ with\ (?:code|status)|returned\ non-zero)\D{{0,12}}[1-9]
  | \b(?:Segmentation\ fault|Bus\ error|core\ dumped|Out\ of\ memory|OOM)\b
  | \b(?:command\ not\ found|[Nn]o\ such\ file\ or\ directory|[Pp]ermission\ denied
      |[Nn]o\ space\ left\ on\ device|[Cc]onnection\ (?:refused|reset)|command\ timed\ out)\b
  | \b(?:{_ERRNO})\b
  | \b(?:level|severity|lvl)["']?\s*[=:]\s*["']?(?:error|fatal|critical)\b
  | \bgot\b.{{1,120}}?\bwant\b | \bexpected\b.{{1,120}}?\b(?:got|but|received|actual)\b
  | ^\S+\.\w+:\d+(?::\d+)?:\s(?:undefined|cannot|undeclared|invalid|missing|unknown|expected)\b
    """
_NONE = re.compile(
    r"\b(?:0|no|zero|without)\s(?:errors?|fail(?:ures?|ed)?|problems?)\b"
    r"|\b(?:errors?|fail(?:ures?|ed)?)\s*[:=]?\s*0\b",
    re.IGNORECASE,
)
_HINTS = (
    "err", "fail", "fatal", "panic", "exception", "traceback", "exit", "critical", "abort",
    "not found", "no such", "denied", "no space", "refused", "reset", "timed out", "non-zero",
    "fault", "core dumped", "memory", "oom", "want", "expected", "undefined", "cannot",
    "undeclared", "invalid", "missing", "unknown", "e  ", "enoent", "eacces", "eperm", "econn",
    "etime", "enospc", "enotf", "eaddr", "enomem", "epipe", "✗", "✘", "✖", "×", "●",
)  # fmt: skip
"""One of these is in every line that `_ERROR` finds: most lines are decided by that alone."""
_HEADING = re.compile(r"^[=_~*-]{3,}[^a-z]*[=_~*-]{3,}\s*$|^\s*[A-Za-z ]+:\s*$|^[A-Z]+\s*$")
_DIAGNOSTIC = re.compile(r"^\S+?(?::\d+:\d+:?|\(\d+,\d+\):?|:\d+:)\s+\S")
_WRAPPER = re.compile(
    r"^(?:(?:Process exited with|Exit) code:? -?\d+|Wall time.*|Output:?|Chunk ID.*|#\s.*"
    r"|\[exit: [^\]]*\]|Original token count.*|Total output lines.*|Warning: truncated.*)\s*$"
)
_EXIT = re.compile(r"exit(?:ed with|:)? (?:status|code)", re.I)
"""A line that tells of the exit status: all there is to say of a failure without output."""
_TRACEBACK = re.compile(r"^Traceback \(most recent.*\n(?:[ \t].*\n|\n)*(\S.*)", re.MULTILINE)
_TAG = re.compile(r"</?(?:tool_use_error|error|stderr)>")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@cache
def _error() -> re.Pattern[str]:
    """Compiled when a first line is doubted: it takes milliseconds that the first paint lacks."""
    return re.compile(_ERROR, re.VERBOSE)


def looks_like_error(line: str) -> bool:
    """Does this line of output tell of an error? "0 errors" and prose about errors do not."""
    line = line[:500]
    low = line.lower()
    if not any(hint in low for hint in _HINTS):
        return False
    return bool(_error().search(line)) and not _NONE.search(line)


def telling_line(text: str) -> str:
    """The line of a failure's text that tells most, visible, without its indent; "" for none.

    The exception of a traceback; else the first line that looks like an error; else a compiler's
    file:line: message; else the first line that is no wrapping ("Exit code 1", "Output:").
    Very long texts are looked at from both ends only.
    """
    if len(text) > 2 * _LOOK:
        text = f"{text[:_LOOK]}\n{text[-_LOOK:]}"
    text = _COLOUR.sub("", _TAG.sub("", text)).replace("\r\n", "\n")
    if tracebacks := _TRACEBACK.findall(text):
        return _shown(tracebacks[-1])
    lines = [line for line in text.split("\n") if line.strip()]
    loud = [line for line in lines if looks_like_error(line) and not _wraps(line)]
    for found in (loud, filter(_DIAGNOSTIC.match, lines), (s for s in lines if not _wraps(s))):
        for line in found:
            return _shown(line)
    bare = [line for line in lines if _EXIT.search(line)] or lines
    return _shown(bare[0]) if bare else ""


def _wraps(line: str) -> bool:
    return bool(_WRAPPER.match(line) or _HEADING.match(line))


def _shown(line: str) -> str:
    line = line.strip()
    return visible(line if len(line) <= 500 else line[:500] + ELLIPSIS)
