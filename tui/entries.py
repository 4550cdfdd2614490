"""The list of sessions as lines: what stands where, and how each session looks. Pure.

A session that ended well has one line, a troubled or live one two (the second says how it stands,
in its colour), so trouble takes the room. From `TABLE` columns on each has one line of a table.
Heights depend on the sessions only, never on the cursor.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable
from datetime import datetime

from sessionlog.records import Entry, Status, moment
from sessionlog.status import ALIVE
from sessionlog.text import ago, clip, one_line, pad, visible, width, wrap
from tui.lines import Line, Piece
from tui.orders import Order, heading
from tui.signs import COLOURS, SIGNS, badge, is_troubled, state_of

TABLE = 60
"""Columns from which on the list is a table."""
WIDE = 44
"""Columns from which on a one-line row names its agent."""
ROOMY = 100
"""Columns from which on a table has room for every agent's whole name."""
_GUIDE = 8
"""Columns of a guide that are shown: its end, with the turn to the session."""
NAMED = 36
"""Columns from which on it does so in a list of several agents' sessions."""
_SEEN = 200
"""Characters of a log's text that are looked at for a row."""


class Rows:
    """Sessions laid out under each other, with a rule before each day, or before each project.
    O(sessions) to make."""

    def __init__(self, order: Order, *, table: bool, now: float) -> None:
        """A session below its parent has no rule of its own day above it."""
        self.entries = order.entries
        self.guides = order.guides or ("",) * len(self.entries)
        self.rules: list[str] = []
        """The rule above each session; "" where the day or the project goes on."""
        self.tops: list[int] = []
        """The first line of each session, its rule included."""
        y, last = 0, ""
        today = datetime.fromtimestamp(now).astimezone().date().isoformat()
        date_of, own = _Dates(), os.path.expanduser("~")
        for i, (entry, guide) in enumerate(zip(self.entries, self.guides, strict=True)):
            if order.projects:
                group = order.projects[i]
                rule = heading(group, own) if i == 0 or group != last else ""
            else:
                group = last if guide else date_of(entry.started or entry.updated)
                rule = _day(group, today) if group != last else ""
            last = group
            self.rules.append(rule)
            self.tops.append(y)
            y += (1 if table or not is_troubled(entry) else 2) + bool(rule)
        self.height = y

    def at(self, y: int) -> tuple[int, int]:
        """(index of the session, line of it: 0 is its first, -1 the rule above it) at line y."""
        index = bisect_right(self.tops, y) - 1
        return index, y - self.tops[index] - bool(self.rules[index])

    def span(self, index: int) -> tuple[int, int]:
        """First line of a session (its rule included) and the line after its last."""
        after = self.tops[index + 1] if index + 1 < len(self.tops) else self.height
        return self.tops[index], after


class _Dates:
    """Local dates of RFC 3339 times; those of one hour are looked up once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, at: str) -> str:
        key = f"{at[:13]}{at[19:]}"
        date = self._known.get(key)
        if date is None:
            time = moment(at)
            date = self._known[key] = time.astimezone().date().isoformat() if time else ""
        return date


def _day(date: str, today: str) -> str:
    if not date:
        return "no date"
    if date == today:
        return "today"
    day = datetime.fromisoformat(date)
    return day.strftime("%a %-d %b" if date[:4] == today[:4] else "%a %-d %b %Y")


def lines_of(
    entry: Entry, columns: int, now: float, selected: bool, focused: bool, guide: str = "",
    mixed: bool = False,
) -> list[Line]:  # fmt: skip
    """How a session looks in the list: one or two lines; `guide` leads to its parent, `mixed`: the
    list has sessions of several agents."""
    tint = "" if not selected else "sel" if focused else "sel-off"
    gutter = ("▌", "accent" if focused else "fg-3") if selected else (" ", "")
    state = state_of(entry)
    guide = guide[-_GUIDE:]
    head = [gutter, *_guided(guide), SIGNS[state], (" ", "")]
    title = _titled(entry, state, selected)
    age = (f"{_age(entry, now):>4} ", "fg-3")
    if columns >= TABLE:
        return [_table(entry, columns, now, head, title, age, tint)]
    marks = _spaced(badge(entry.damage))
    if not is_troubled(entry):
        named = columns >= (NAMED if mixed else WIDE)
        agent = [(f" {_agent(entry)}", "fg-3")] if named else []
        return [Line([*head, *title], [*marks, *agent, (" ", ""), age], tint)]
    behind = guide.replace("├", "│").replace("└", " ")
    reason = (reason_of(entry), COLOURS.get(state, "fg-2"))
    second: list[Piece] = [gutter, *_guided(behind), ("  ", ""), reason]
    told = (f" {_agent(entry).strip()} {_ran(entry, now):>5} ", "fg-3")
    return [Line([*head, *title], [(" ", ""), age], tint), Line(second, [*marks, told], tint)]


def _guided(guide: str) -> list[Piece]:
    return [(guide, "line-2")] if guide else []


def _table(
    entry: Entry, columns: int, now: float, head: list[Piece], title: list[Piece], age: Piece,
    tint: str,
) -> Line:  # fmt: skip
    room = columns * 42 // 100 + 1 - sum(width(text) for text, _ in head)
    used, cells = 0, []
    for text, style in title:
        text = clip(text, room - used)
        used += width(text)
        cells.append((text, style))
    reason = (reason_of(entry), COLOURS.get(state_of(entry), "fg-3"))
    marks = _spaced(badge(entry.damage))
    names = 8 if columns >= ROOMY else 6
    told = f" {_agent(entry, names):>{names}} {_ran(entry, now):>5} "
    right: list[Piece] = [(" ", ""), *marks, (told, "fg-3"), age]
    return Line([*head, *cells, (" " * (room - used + 1), ""), reason], right, tint)


def _titled(entry: Entry, state: str, selected: bool) -> list[Piece]:
    text = one_line(entry.title[:_SEEN])
    style = "fg-1 bold" if selected else "fg" if is_troubled(entry) else "fg-2"
    if not text:
        text, style = visible(entry.id[:_SEEN]), style if selected else "fg-3"
    if state == "nolog" and not selected:
        style = "fg-3"
    origin = entry.forked_from
    if origin is not None:
        at = "end" if origin.at is None else str(origin.at)
        return [(f"@{at} ", "accent"), (text, style)]
    return [("@end ", "accent"), (text, style)] if entry.resumed_from else [(text, style)]


def reason_of(entry: Entry) -> str:
    """How it stands, in a few words."""
    if entry.failure:
        return entry.failure[:_SEEN]
    stop = ALIVE.get(entry.stop, entry.stop) if entry.status is Status.RUNNING else entry.stop
    text = one_line((stop if entry.status else entry.reason or "")[:_SEEN])
    state = state_of(entry)
    if state == "torn" and "torn" not in text:
        return f"torn line, {text}" if text else "torn line"
    if state == "nolog":  # the library's sentence names the path first; the row has it already
        return text.rpartition(": ")[2] or text
    return text or ("done" if state == "ok" else "no verdict recorded" if state == "ended" else "")


def _agent(entry: Entry, most: int = 6) -> str:
    return clip(visible(entry.agent or (entry.format if entry.status else "")), most)


def _age(entry: Entry, now: float) -> str:
    time = moment(entry.started or entry.updated)
    return ago(now - time.timestamp()) if time else ""


def _ran(entry: Entry, now: float) -> str:
    """How long it ran, in at most five columns; of a live run: so far. What it took along from
    another log is older than its start, so of that nothing is told."""
    start, end = moment(entry.started), moment(entry.updated)
    if start is None:
        return ""
    if state_of(entry) == "run":
        return span(now - start.timestamp())
    if end is None or end <= start or entry.forked_from or entry.resumed_from:
        return ""
    return span((end - start).total_seconds())


def span(seconds: float) -> str:
    """A run's length in at most five columns: 3s, 18m, 4h29m, 3d04h, 40d."""
    left = int(max(seconds, 0))
    if left < 60:
        return f"{left}s"
    if left < 3600:
        return f"{left // 60}m"
    if left < 86400:
        return f"{left // 3600}h{left % 3600 // 60:02}m"
    days = left // 86400
    return f"{days}d{left % 86400 // 3600:02}h" if days < 100 else f"{min(days, 9999)}d"


def _spaced(pieces: list[Piece]) -> list[Piece]:
    return [(" ", ""), *pieces] if pieces else []


def rule(label: str, columns: int) -> Line:
    """`today ────`"""
    label = clip(label, max(columns - 6, 1))
    return Line([(f" {label} ", "fg-3"), ("─" * (columns - width(label) - 3), "line"), (" ", "")])


def title(columns: int, focused: bool, right: str) -> Line:
    """The pane's title."""
    gutter = ("▌", "accent") if focused else (" ", "")
    style = "fg-1 bold" if focused else "fg-2"
    right = clip(right, max(columns - 12, 1))
    return Line([gutter, ("Sessions", style)], [(f" {right} ", "fg-3")], "surface")


def empty(looked: Iterable[tuple[str, str]], columns: int) -> list[Line]:
    """Nothing found: where it looked, and how to get something."""
    indent = " " * max(1, (columns - 70) // 4)
    lines = [Line([]), Line([]), Line([(f"{indent}No sessions yet.", "fg-1 bold")]), Line([])]
    lines.append(Line([(f"{indent}Looked in", "fg-2")]))
    for path, finding in looked:
        style = "open" if "read" in finding else "fg-3"
        path = pad(path, min(44, max(columns - len(indent) - 22, 8)))
        lines.append(Line([(f"{indent}  {path}  ", "fg"), (finding, style)]))
    watching = ("watching: the first log to appear shows here", "fg-2")
    lines.append(Line([(f"{indent}  ► ", "run"), watching]))
    lines += [Line([]), Line([(f"{indent}From a shell", "fg-2")])]
    for command, what in (
        ("sessionlog demo", "a night of telling sessions, one of them live"),
        ("sessionlog ~/some/folder", "another folder, or a single log"),
    ):
        lines.append(Line([(f"{indent}  $ ", "fg-3"), (f"{command:26}", "fg"), (what, "fg-2")]))
    lines += [Line([]), Line([(f"{indent}Signs", "fg-2")])]
    return [*lines, *legend(f"{indent}  ", columns)]


def legend(indent: str, columns: int) -> list[Line]:
    """The signs in words, as many beside each other as there is room for."""
    lines: list[Line] = []
    for told in _LEGEND:
        line: list[Piece] = []
        for name, word in told:
            first, *rest = wrap(word, max(columns - len(indent) - 2, 8), _LONGEST)
            item = [SIGNS[name], (f" {first}", "fg")]
            if line and sum(width(text) for text, _ in line) + width(word) + 5 <= columns:
                line += [("   ", ""), *item]
            else:
                line = [(indent, ""), *item]
                lines.append(Line(line))
            lines += [Line([(f"{indent}  {text}", "fg")]) for text in rest]
            line = lines[-1].left
    return lines


def marks(indent: str, columns: int) -> list[Line]:
    """What else stands before or behind a title, a row or a number, in words."""
    lines = []
    for sign, words in _MARKS:
        first, *rest = wrap(words, max(columns - len(indent) - 9, 8), _LONGEST)
        lines.append(Line([(f"{indent}{pad(sign, 8)} ", "fg-1"), (first, "fg")]))
        lines += [Line([(f"{indent}{'':8} {text}", "fg")]) for text in rest]
    return lines


_LONGEST = 12
"""Lines that the words of one sign may take."""
_LEGEND = (
    (("ok", "ok"), ("fail", "failed"), ("ended", "ended, no verdict"), ("run", "running")),
    (("amiss", "ended by itself, but something failed: the row says what, w why"),),
    (("open", "unfinished, or a call without a result"), ("torn", "truncated")),
    (("bytes", "damaged bytes"), ("user", "user turn"), ("summary", "summary of a reset")),
)
_MARKS = (
    ("·", "no session log; in a log, an event"),
    ("@7 @end", "made from another session: at its message 7, or at its end"),
    ("▒2", "2 damages"), ("├ └", "in the order by family: made from the one above"),
    ("│", "left of a row: the model does not know it any more"),
    ("=20", "failed as the call of message 20 did"),
    ("18 L60", "message 18; line 60 of the log, where there is no message"),
    ("┊", "the line above goes on"), ("◂ ▸", "left and right, of two runs compared"),
)  # fmt: skip


def project_of(entry: Entry) -> str:
    """The heading that the session stands under by project."""
    return heading(entry.workdir if entry.status else "", os.path.expanduser("~"))


def home(path: str) -> str:
    """A path with ~ for the home folder."""
    own = os.path.expanduser("~")
    return "~" + path[len(own) :] if path == own or path.startswith(own + os.sep) else path


Clock = Callable[[], float]
"""Seconds since the epoch; tests give a frozen one."""
