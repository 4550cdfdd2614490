"""The one table of commands: keys, key line, palette, help screen and README all come from it.

A key may be a sequence ("g g", "o e"): after its head the key line shows what may follow.
`python -m tui.commands` prints the README's table. No Textual here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

LIST, TIMELINE, DETAIL = "list", "timeline", "detail"
PANES = (LIST, TIMELINE, DETAIL)
WHY, SEARCH, REPLAY, STATS, COMPARE = "why", "search", "replay", "stats", "compare"
HANDOVER = "handover"
SHEETS = (WHY, SEARCH, REPLAY, STATS, COMPARE, HANDOVER)
"""Screens of their own in front of the panes."""
EVERYWHERE = PANES + SHEETS
_LOG = (TIMELINE, DETAIL)
_CHOSEN = tuple(where for where in EVERYWHERE if where != HANDOVER)
"""Where there is a row under a cursor."""


class Command(NamedTuple):
    """One thing a person can ask for."""

    id: str
    """Name of the method that does it: the focused pane's, else the screen's."""
    keys: tuple[str, ...]
    title: str
    """One or two words for the key line."""
    help: str
    group: str
    where: tuple[str, ...] = PANES
    """The panes (or sheets) that must have the focus for its keys to mean this."""


class Found(NamedTuple):
    """What a key means: a command, or that more keys must follow (`open`)."""

    command: Command | None
    open: bool = False


def _commands() -> Iterator[Command]:
    move, panes, trouble, find = "Move", "Panes", "Jump", "Find"
    look, act, screen = "Look", "Act", "Program"
    yield Command("cursor_down", ("j", "down"), "down", "Next row", move, EVERYWHERE)
    yield Command("cursor_up", ("k", "up"), "up", "Previous row", move, EVERYWHERE)
    yield Command("half_page_down", ("ctrl+d",), "half down", "Half a page down", move, EVERYWHERE)
    yield Command("half_page_up", ("ctrl+u",), "half up", "Half a page up", move, EVERYWHERE)
    yield Command("page_down", ("pagedown", "ctrl+f"), "page down", "A page down", move, EVERYWHERE)
    yield Command("page_up", ("pageup", "ctrl+b"), "page up", "A page up", move, EVERYWHERE)
    yield Command("home", ("g g", "home"), "first", "First row", move, EVERYWHERE)
    yield Command(
        "end", ("G", "end"), "last", "Last row; of a live log: stay there", move, EVERYWHERE
    )

    yield Command(
        "open", ("enter",), "open", "Into the row: list, timeline, detail", panes, _CHOSEN
    )
    yield Command("leave", ("escape",), "back", "One step back, to what led here; never quits",
                  panes, EVERYWHERE)  # fmt: skip
    yield Command("pane_left", ("h", "left"), "left", "Pane to the left", panes)
    yield Command("pane_right", ("l", "right"), "right", "Pane to the right", panes)
    yield Command("pane_next", ("tab",), "pane", "Next pane", panes)
    yield Command("pane_previous", ("shift+tab",), "pane", "Previous pane", panes)
    yield Command("zoom", ("z",), "zoom", "The pane alone, and back", panes, (*PANES, REPLAY))

    yield Command("next_trouble", ("e",), "error", "Next error, damage or open call", trouble, _LOG)
    yield Command("prev_trouble", ("E",), "error above", "Previous error, damage or open call",
                  trouble, _LOG)  # fmt: skip
    yield Command("next_session", ("e",), "trouble", "Next session that did not end well",
                  trouble, (LIST,))  # fmt: skip
    yield Command("prev_session", ("E",), "trouble above", "Previous session that did not end well",
                  trouble, (LIST,))  # fmt: skip
    yield Command("to_parent", ("(",), "parent", "Session that this one was made from", trouble,
                  (LIST,))  # fmt: skip
    yield Command("to_kin", (")",), "made of it",
                  "First session made from this, else its next sibling", trouble,
                  (LIST,))  # fmt: skip
    yield Command("into_subagent", (")",), "subagent", "Log of the subagent that this call started",
                  trouble, _LOG)  # fmt: skip
    yield Command("out_of_subagent", ("(",), "parent",
                  "Back to the call that started a subagent; of a fork, to its parent",
                  trouble, _LOG)  # fmt: skip
    yield Command("next_user", ("u",), "turn", "Next user turn", trouble, _LOG)
    yield Command("prev_user", ("U",), "turn above", "Previous user turn", trouble, _LOG)
    yield Command("next_reset", ("]",), "reset", "Next context reset", trouble, _LOG)
    yield Command("prev_reset", ("[",), "reset above", "Previous context reset", trouble, _LOG)
    yield Command("goto", (":",), "go to", "To a message, time or share: 143, 03:31, +5m, 50%",
                  trouble, _LOG)  # fmt: skip

    yield Command("filter", ("/",), "filter",
                  "Only the sessions whose rows say this; also status:failed, agent:codex", find,
                  (LIST,))  # fmt: skip
    yield Command("find", ("/",), "find", "Find text in the log", find, _LOG)
    yield Command("find_next", ("n",), "next hit", "Next hit", find, _LOG)
    yield Command("find_prev", ("N",), "previous hit", "Previous hit", find, _LOG)
    for key, name, what in (
        ("e", "errors", "Only errors, damage and open calls"), ("u", "user", "Only user turns"),
        ("c", "calls", "Only calls"), ("m", "messages", "Only messages"),
        ("t", "tool", "Only the calls of one tool"), ("q", "quiet", "All rows, quiet ones too"),
        ("a", "all", "All rows again"),
    ):  # fmt: skip
        yield Command(f"only_{name}", (f"o {key}",), name, what, find, _LOG)
    for key, id, name in (
        ("f", "failed", "failed"), ("o", "open", "unfinished"), ("r", "running", "running"),
        ("t", "truncated", "truncated"),
    ):  # fmt: skip
        yield Command(f"only_{id}", (f"o {key}",), name, f"Only {name} sessions", find, (LIST,))
    yield Command("only_every", ("o a",), "all", "All sessions again", find, (LIST,))

    yield Command("next_order", ("v",), "order", "By family, by project, newest first", look,
                  (LIST,))  # fmt: skip
    yield Command("toggle_fold", ("space",), "fold", "Fold or unfold the row", look, _LOG)
    yield Command("less", ("-",), "less", "Less of everything: folds", look, _LOG)
    yield Command("more", ("+", "="), "more", "More of everything: unfolds", look, _LOG)
    yield Command("detail_down", ("J",), "detail down", "Scroll the detail down", look,
                  (*_LOG, SEARCH, HANDOVER))  # fmt: skip
    yield Command("detail_up", ("K",), "detail up", "Scroll the detail up", look,
                  (*_LOG, SEARCH, HANDOVER))  # fmt: skip
    yield Command("toggle_raw", ("x",), "raw", "The record as it stands in the log", look, _LOG)
    for key, name, what in (
        ("1", "shown", "The row as it reads"), ("2", "raw", "The record as it stands in the log"),
        ("3", "knew", "What the agent knew at the row"),
    ):  # fmt: skip
        yield Command(f"view_{name}", (key,), name, what, look, (*_LOG, REPLAY))
    yield Command("toggle_clock", ("t",), "time", "Clock: local, since the start, UTC", look)
    yield Command("toggle_follow", ("F",), "follow", "Stay at the end of a live log, or not",
                  look, _LOG)  # fmt: skip

    yield Command("why", ("w",), "why", "Why the run stopped", look)
    yield Command("replay", ("p",), "replay", "Play the log as it happened", look)
    yield Command("search", ("s",), "search all", "A text in all logs", find)
    yield Command("compare", ("c",), "compare", "Beside its parent, or another run", look)
    yield Command("stats", ("#",), "stats", "Messages, calls, failures, time, tokens", look)
    yield Command("turn_bell", ("B",), "bell", "Ring when this run stops; again: notify, off", look)

    yield Command("fork", ("f",), "fork", "A new log that ends at this row", act)
    yield Command("hand_over", ("r",), "hand over",
                  "An agent goes on, from a repaired log; or only repair it", act)  # fmt: skip
    yield Command("stop_now", ("S S",), "stop at once",
                  "Kill what was handed over, and all that it started", act)  # fmt: skip
    yield Command("stop_gently", ("S i",), "interrupt", "Interrupt it; killed after 2 s", act)
    for key, name, what in (
        ("y", "row", "the row"), ("c", "command", "the command of the call"),
        ("j", "JSON", "the record's JSON"), ("i", "id", "the session's id"),
        ("p", "path", "the log's path"),
    ):  # fmt: skip
        where = PANES if key in "ip" else _LOG
        yield Command(f"copy_{name.lower()}", (f"y {key}",), name,
                      f"Copy {what}, secrets masked", act, where)  # fmt: skip

    yield Command("theme", ("T",), "theme", "Next theme", screen, EVERYWHERE)
    yield Command("palette", ("ctrl+p",), "palette", "Every command by name", screen)
    yield Command("help", ("?",), "help", "What the signs mean, and every key", screen, EVERYWHERE)
    yield Command("quit", ("q",), "quit", "Leave the program", screen)


def _sheet_commands() -> Iterator[Command]:
    move, trouble, look, act, find = "Move", "Jump", "Look", "Act", "Find"
    play, meet = "Replay", "Compare"

    yield Command("next_row", ("tab",), "next", "Next statement with a row", move, (WHY,))
    yield Command("fork", ("f",), "fork", "Fork before what went wrong", act, (WHY,))
    yield Command("hand_over", ("r",), "hand over", "An agent goes on, from a repaired log", act,
                  (WHY,))  # fmt: skip
    yield Command("replay", ("p",), "replay", "Replay the last ten minutes", act, (WHY,))

    yield Command("play", ("space",), "play", "Play or pause", play, (REPLAY,))
    yield Command("step", (".",), "step", "One row on", play, (REPLAY,))
    yield Command("step_back", (",",), "step back", "One row back", play, (REPLAY,))
    yield Command("faster", (">",), "faster", "Twice as fast, up to 64x", play, (REPLAY,))
    yield Command("slower", ("<",), "slower", "Half as fast, down to 0.25x", play, (REPLAY,))
    yield Command("skip", ("right", "l"), "+10s", "Ten seconds of the run on", play, (REPLAY,))
    yield Command("skip_back", ("left", "h"), "-10s", "Ten seconds of the run back", play,
                  (REPLAY,))  # fmt: skip
    yield Command("idle", ("i",), "idle cap", "Longest silence: off, 2 s, 10 s", play, (REPLAY,))

    yield Command("next_trouble", ("e",), "error", "Next error", trouble, (WHY, REPLAY))
    yield Command("prev_trouble", ("E",), "error above", "Previous error", trouble, (WHY, REPLAY))
    yield Command("next_user", ("u",), "turn", "Next user turn", trouble, (REPLAY,))
    yield Command("prev_user", ("U",), "turn above", "Previous user turn", trouble, (REPLAY,))
    yield Command("next_reset", ("]",), "reset", "Next context reset", trouble, (REPLAY,))
    yield Command("prev_reset", ("[",), "reset above", "Previous context reset", trouble, (REPLAY,))
    yield Command("goto", (":",), "go to", "To a message, time or share: 143, 03:31, +5m, 50%",
                  trouble, (REPLAY,))  # fmt: skip
    yield Command("fork", ("f",), "fork here", "Fork at this moment", act, (REPLAY,))
    yield Command("why", ("w",), "why", "Why the run stopped", look, (REPLAY,))
    yield Command("toggle_raw", ("x",), "raw", "The record as it stands in the log", look,
                  (REPLAY, SEARCH))  # fmt: skip
    yield Command("toggle_clock", ("t",), "time", "Clock: local, since the start, UTC", look,
                  (REPLAY,))  # fmt: skip

    yield Command("to_query", ("/", "tab", "s"), "query", "To the line with the query", find,
                  (SEARCH,))  # fmt: skip
    yield Command("next_log", ("n",), "next log", "Next log with hits", find, (SEARCH,))
    yield Command("prev_log", ("N",), "previous log", "Previous log with hits", find, (SEARCH,))
    yield Command("any_case", ("ctrl+t",), "case", "Ignore case, or not", find, (SEARCH,))
    yield Command("regex", ("ctrl+r",), "regex", "A regular expression, or a text", find,
                  (SEARCH,))  # fmt: skip
    yield Command("toggle_fold", ("space",), "fold", "Show more of this log's hits, or fewer",
                  look, (SEARCH,))  # fmt: skip

    yield Command("sum_all", ("a",), "all", "The sum over all listed sessions, or one", look,
                  (STATS,))  # fmt: skip

    yield Command("next_difference", ("e", "]"), "difference", "Next difference", meet, (COMPARE,))
    yield Command("prev_difference", ("E", "["), "difference above", "Previous difference", meet,
                  (COMPARE,))  # fmt: skip
    yield Command("other_side", ("tab",), "side", "The other side", meet, (COMPARE,))
    yield Command("choose", ("c",), "other run", "Choose another run to compare with", meet,
                  (COMPARE,))  # fmt: skip
    yield Command("filter", ("/",), "by name", "Only the runs with this text", find,
                  (COMPARE,))  # fmt: skip
    yield Command("toggle_fold", ("space",), "fold", "Show what both share, or fold it", look,
                  (COMPARE,))  # fmt: skip

    yield from _handover_commands()

    yield Command("copy", ("y",), "copy", "Copy what is selected, secrets masked", act,
                  tuple(where for where in SHEETS if where != HANDOVER))  # fmt: skip


def _handover_commands() -> Iterator[Command]:
    hand = "Hand over"
    for id, key, name, what in (
        ("go", "enter", "go", "Write the new log and start the agent; look at damage that waits"),
        ("accept", "!", "accept damage", "Go on without the damaged lines"),
        ("note", "m", "note", "Edit what the agent is told"),
        ("agent", "a", "agent", "Choose another agent"),
        ("write", "W", "log only", "Repair only: write the new log, and start nothing"),
        ("diff", "d", "diff", "Every changed record of the new log, and back"),
        ("copy", "y", "copy", "Copy the command, secrets masked"),
        ("bare", "b", "bare", "Show and copy secrets as they are, or masked"),
        ("screen_or_not", "o", "headless", "On this screen, or without a terminal"),
        ("folder", "c", "folder", "Another working directory"),
    ):
        yield Command(id, (key,), name, what, hand, (HANDOVER,))


COMMANDS = (*_commands(), *_sheet_commands())

HEADS = {"S": "stop", "g": "first", "o": "only", "y": "copy"}
"""Names of the sequences' heads, for the key line."""

KEY_LINE = {
    LIST: ("S", "open", "why", "filter", "search", "o", "next_session", "hand_over", "fork",
           "replay", "compare", "stats", "next_order", "y", "zoom", "theme", "quit"),
    TIMELINE: ("S", "open", "next_trouble", "why", "next_user", "find", "search", "hand_over",
               "fork", "replay", "o", "toggle_fold", "toggle_raw", "y", "goto", "toggle_follow",
               "toggle_clock", "next_reset", "zoom", "leave"),
    DETAIL: ("S", "leave", "toggle_raw", "toggle_fold", "next_trouble", "next_user", "fork", "y",
             "zoom"),
    WHY: ("open", "next_trouble", "hand_over", "fork", "replay", "copy", "leave"),
    SEARCH: ("open", "next_log", "to_query", "any_case", "regex", "toggle_fold", "copy", "leave"),
    REPLAY: ("play", "step", "faster", "skip", "next_trouble", "next_user", "idle", "goto", "fork",
             "leave"),
    STATS: ("open", "sum_all", "copy", "leave"),
    COMPARE: ("open", "next_difference", "other_side", "toggle_fold", "choose", "filter", "copy",
              "leave"),
    HANDOVER: ("accept", "go", "note", "agent", "screen_or_not", "write", "diff", "folder", "bare",
               "copy", "leave"),
}  # fmt: skip
"""The most useful commands (or sequence heads) of each focus, first things first."""

_NAMES = {
    "pagedown": "PgDn", "pageup": "PgUp", "escape": "esc", "down": "↓", "up": "↑",
    "left": "←", "right": "→", "home": "Home", "end": "End",
}  # fmt: skip


def find(keys: str, where: str) -> Found:
    """What the keys pressed so far mean in a pane: "g" is open, "g g" a command."""
    for command in COMMANDS:
        if keys in command.keys and where in command.where:
            return Found(command)
    return Found(None, bool(following(keys, where)))


def following(head: str, where: str) -> list[tuple[str, Command]]:
    """The keys that may follow the head of a sequence, with what they do."""
    return [
        (key.removeprefix(head + " "), command)
        for command in COMMANDS
        if where in command.where
        for key in command.keys
        if key.startswith(head + " ")
    ]


def elsewhere(keys: str) -> tuple[str, ...]:
    """The panes in which keys mean something, or begin to."""
    found = [c for c in COMMANDS if any(f"{key} ".startswith(f"{keys} ") for key in c.keys)]
    return tuple(pane for pane in PANES if any(pane in command.where for command in found))


def is_known(keys: str) -> bool:
    """Do the keys mean something anywhere, or begin to?"""
    return any(f"{key} ".startswith(f"{keys} ") for c in COMMANDS for key in c.keys)


def by_id(id: str, where: str) -> Command:
    """The command of that id; KeyError when there is none."""
    for command in COMMANDS:
        if command.id == id and where in command.where:
            return command
    raise KeyError(id)


def hint(name: str, where: str) -> tuple[str, str]:
    """(key, title) of an entry of KEY_LINE."""
    if name in HEADS:
        return name, HEADS[name]
    command = by_id(name, where)
    return shown(command.keys[0]), command.title


def shown(keys: str) -> str:
    """Keys as people read them: "y c" is typed y, then c."""
    return " ".join(_NAMES.get(key, key) for key in keys.split())


def groups() -> dict[str, list[Command]]:
    """The commands by group, in the table's order."""
    found: dict[str, list[Command]] = {}
    for command in COMMANDS:
        found.setdefault(command.group, []).append(command)
    return found


def places(command: Command, panes: str = ", ".join(PANES), log: str = ", ".join(_LOG)) -> str:
    """Where its keys mean this; `panes` and `log` are the words for all panes, and for those of a
    log."""
    where = set(command.where)
    missing = [name for name in EVERYWHERE if name not in where]
    if len(missing) < 2:
        return " but in ".join(["anywhere", *missing])
    found = [name for name in command.where if name in SHEETS]
    if where >= set(PANES):
        return ", ".join([panes, *found])
    if where >= set(_LOG):
        return ", ".join([log, *found])
    return ", ".join(command.where)


def markdown() -> str:
    """The README's table."""
    rows = ["| keys | where | does |", "| --- | --- | --- |"]
    for command in COMMANDS:
        keys = " ".join(f"`{shown(key)}`" for key in command.keys)
        rows.append(f"| {keys} | {places(command)} | {command.help} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(markdown())
