"""What will run, where, which files have moved on, and what comes back, as lines. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from sessionlog.records import moment
from sessionlog.secrets import mask
from sessionlog.status import UNSURE
from sessionlog.text import clip, visible, wrap
from sessionlog.text import width as columns_of
from tui.entries import home
from tui.handover import Planned
from tui.lines import Line, Piece, end_of

if TYPE_CHECKING:
    from sessionlog.resume import Resume
    from sessionlog.stale import FileNow, Staleness

_LABEL = 7
_ARGUMENT = 4
"""Lines that one argument may take."""
_LOWEST = 4
"""Lines of the brief facts without the files, where nothing runs first."""
_GLIMPSE = 30
"""Columns of the note among the arguments: it stands in full above them."""
_FILES = 200
_SIGN = 4
"""Columns of a file's sign."""
_SIGNS = {"changed": ("~", "open bold"), "deleted": ("-", "diff-del bold"),
          "new": ("+", "diff-add bold")}  # fmt: skip
ON_SCREEN = (
    "The agent takes this terminal. ctrl+] brings up stop, gentle stop, go on. When it is done you "
    "are back here on the new log, with its exit status."
)
HEADLESS = "The agent runs without a terminal; its log is followed here. S S stops it."


def facts(planned: Planned, width: int, *, bare: bool, now: datetime | None = None) -> list[Line]:
    """Beside the conversation: all of it."""
    resume = planned.resume
    if resume is None:
        return []
    lines = [_head("What will run", "argv, no shell")]
    lines += [*_first(resume, width, bare), *_numbered(resume, width, bare)]
    lines += [Line([]), *_places(resume, width), Line([])]
    if resume.carried:
        lines += [*_carried(resume, width), Line([])]
    if resume.staleness is not None:
        lines += [*_files(resume.staleness, width, now), Line([])]
    lines.append(_head("What comes back"))
    words = ON_SCREEN if _takes_terminal(resume) else HEADLESS
    return lines + [Line([(f"  {text}", "fg-2")]) for text in wrap(words, width - 4, 12)]


def brief(planned: Planned, width: int, height: int, *, bare: bool) -> list[Line]:
    """Below the conversation, on a narrow terminal: what matters most of it."""
    resume = planned.resume
    if resume is None:
        return []
    mode = "on the screen" if _takes_terminal(resume) else "headless"
    files = list(_files(resume.staleness, width)) if resume.staleness is not None else []
    first = list(_first(resume, width, bare, 2))
    lowest = _LOWEST + len(first) + bool(resume.left) + resume.unsure
    files = files[: min(_file_lines(resume), max(height - lowest - 1, 0))]
    command = list(_on_one_line(resume, width, bare))
    others = lowest - 1 + len(files)
    return [
        _head("What will run", f"{mode} · argv, no shell"),
        *first,
        *command[: min(max(height - others, 1), 2)],
        *_cwd(resume, width, brief=True),
        *_log(resume, width, brief=True),
        *_left(resume, width),
        *_unsure(resume, width),
        *files,
    ]


def brief_height(planned: Planned | None, room: int) -> int:
    """Lines that `brief` takes of `room`."""
    if planned is None or planned.resume is None:
        return 0
    first = 2 if planned.resume.before else 0
    if room < 16:  # below twenty rows: the command and its place, then the conversation
        return _LOWEST + first
    others = bool(planned.resume.left) + planned.resume.unsure + _file_lines(planned.resume)
    return max(min(_LOWEST + 1 + first + others, room // 2), _LOWEST + first)


def _file_lines(resume: Resume) -> int:
    """Lines for the files, in brief: a heading, and the first that changed."""
    if resume.staleness is None or not resume.staleness.files:
        return 0
    return 1 + min(max(len(resume.staleness.changed), 1), 3)


def _head(words: str, right: str = "") -> Line:
    return Line([(f" {words}", "fg-2")], [(f"  {right} ", "fg-3")] if right else [], "surface")


def _field(name: str, *pieces: Piece) -> Line:
    return Line([(f"  {name:{_LABEL}}", "fg-2"), *pieces])


def _takes_terminal(resume: Resume) -> bool:
    return resume.screen and not resume.agent.output


# -- what runs -------------------------------------------------------------------------------


def shown_argument(argument: str, bare: bool) -> str:
    """One argument as it may be seen."""
    return visible(argument if bare else mask(argument), newlines=True)


def _first(resume: Resume, width: int, bare: bool, most: int = _ARGUMENT) -> Iterator[Line]:
    """The command that brings the log to the agent, where there is one."""
    text = " ".join(shown_argument(argument, bare) for argument in resume.before)
    for i, line in enumerate(wrap(text, width - _LABEL - 2, most) if text else ()):
        yield _field("first" if i == 0 else "", (line, "fg-1"))


def _numbered(resume: Resume, width: int, bare: bool) -> Iterator[Line]:
    """One argument a line, so that nobody wonders where one ends."""
    digits = len(str(len(resume.argv) - 1))
    room = width - _LABEL - 2 - digits - 2
    for number, argument in enumerate(resume.argv):
        style = "fg-1 bold" if number == 0 else "fg-1"
        most = 1 if argument == resume.note else _ARGUMENT
        texts = wrap(shown_argument(argument, bare), room, most) or ['""']
        for i, text in enumerate(texts):
            label = "argv" if number == 0 and i == 0 else ""
            shown = f"{number:>{digits}} " if i == 0 else " " * (digits + 1)
            yield _field(label, (shown, "fg-3"), (text, style))
        if argument == resume.note:
            size = f"the note, {len(argument):,} characters"
            yield _field("", (" " * (digits + 1), ""), (size, "fg-3"))


def _on_one_line(resume: Resume, width: int, bare: bool) -> Iterator[Line]:
    """The arguments one behind the other, wrapped between them."""
    room = width - _LABEL - 3
    pieces: list[Piece] = []
    label, used = "argv", 0
    for number, argument in enumerate(resume.argv):
        text = " ".join(shown_argument(argument, bare).split()) or '""'
        if argument == resume.note:
            text = clip(text, _GLIMPSE)
        size = columns_of(text) + 1
        if pieces and used + size > room:
            yield _field(label, *pieces)
            pieces, label, used = [], "", 0
        style = "fg-1 bold" if number == 0 else "fg-2" if argument == resume.note else "fg-1"
        pieces.append((f"{text} ", style))
        used += size
    yield _field(label, *pieces)


def _places(resume: Resume, width: int) -> Iterator[Line]:
    yield from _cwd(resume, width, brief=False)
    repository = _branch(resume)
    if repository:
        yield _field("branch", *repository)
    yield from _log(resume, width, brief=False)
    mode = ("on the screen", ", this terminal") if _takes_terminal(resume) else ("headless", "")
    yield _field("where", (mode[0], "fg"), (mode[1], "fg-3"))
    yield _field("source", ("✓", "ok"), (" not written", "fg-2"))
    yield from _unsure(resume, width)


def _unsure(resume: Resume, width: int) -> Iterator[Line]:
    """Whoever goes on with a log that is still written has two agents in one folder."""
    if resume.unsure:
        texts = wrap(UNSURE, width - _LABEL - 3, 3)
        yield from (_field("" if i else "writer", (t, "open")) for i, t in enumerate(texts))


def _path(
    name: str, path: str, width: int, *more: Piece, style: str = "fg-1", brief: bool = False
) -> Iterator[Line]:
    """A path in full, on more than one line where it has to be, and what is said of it behind it;
    in brief its end, on one line."""
    room = width - _LABEL - 3
    after = sum(columns_of(text) for text, _ in more)
    path = home(visible(path))
    texts = [end_of(path, max(room - after, 2))] if brief else wrap(path, room, _ARGUMENT) or [""]
    for i, text in enumerate(texts):
        is_last = i == len(texts) - 1
        fits = is_last and columns_of(text) + after <= room
        yield _field(name if i == 0 else "", (text, style), *(more if fits else ()))
        if is_last and more and not fits:
            (first, its_style), *rest = more
            yield _field("", (first.lstrip(), its_style), *rest)


def _cwd(resume: Resume, width: int, *, brief: bool) -> Iterator[Line]:
    if any(is_about_folder(resume, words) for words in resume.missing):
        gone: Piece = ("  ✗ not there", "fail")
        yield from _path("cwd", resume.cwd, width, gone, style="fail", brief=brief)
        return
    more: list[Piece] = [("  ✓", "ok"), (" there", "fg-2")]
    if brief and (found := _branch(resume)):
        more += [(", branch ", "fg-2"), *found]
    yield from _path("cwd", resume.cwd, width, *more, brief=brief)


def is_about_folder(resume: Resume, missing: str) -> bool:
    """Is it the working directory that is missing, not the program?"""
    return missing.startswith(f"{resume.cwd}: ")


def in_short(resume: Resume, missing: str) -> str:
    """What is missing, without what to do."""
    if is_about_folder(resume, missing):
        return "the working directory is not there"
    return visible(missing.partition(";")[0])


def _branch(resume: Resume) -> list[Piece]:
    """The branch, what is not committed, and where the repository was then."""
    found = resume.staleness
    if found is None or found.now is None:
        return []
    now, then = found.now, found.then
    pieces: list[Piece] = [(visible(now.branch) or f"none, at {now.commit[:7]}", "fg-1")]
    if now.uncommitted:
        noun = "file" if now.uncommitted == 1 else "files"
        pieces.append((f", {now.uncommitted:,} {noun} not committed", "fg-2"))
    if found.moved and then is not None:
        was = then.branch if then.branch and then.branch != now.branch else then.commit[:7]
        pieces.append((f", was {visible(was)}", "open"))
    return pieces


def _log(resume: Resume, width: int, *, brief: bool) -> Iterator[Line]:
    if resume.plan is None and not resume.carried:
        yield from _path("log", resume.log, width, (" as it stands", "fg-2"), brief=brief)
        return
    new: Piece = (" new; source as it was" if brief else " new", "fg-2")
    yield from _path("log", resume.log, width, new, brief=brief)


def _carried(resume: Resume, width: int) -> Iterator[Line]:
    """What the agent gets of a conversation that is written anew, and what it does not."""
    plain = resume.plain
    yield _head("What goes over", "as plain messages" if plain else "with its calls")
    said = plain.counts if plain else f"in the {resume.format} format, calls and results as such"
    yield from (Line([(f"  {text}", "fg-2")]) for text in wrap(said, width - 4, 2))
    if resume.left:
        said = f"not carried: {', '.join(resume.left)}"
        yield from (Line([(f"  {text}", "open")]) for text in wrap(said, width - 4, 6))


def _left(resume: Resume, width: int) -> Iterator[Line]:
    """What could not be carried, on one line."""
    if resume.left:
        said = f"{', '.join(resume.left)} not carried"
        yield _field("left", (clip(said, width - _LABEL - 3), "open"))


# -- files -----------------------------------------------------------------------------------


def _files(staleness: Staleness, width: int, now: datetime | None = None) -> Iterator[Line]:
    changed, total = staleness.changed, len(staleness.files)
    if not total:
        yield _head("Files", "it touched none")
        return
    since = _since(staleness, now)
    counted = total - 1 + staleness.lost if staleness.lost else total
    moved = len(changed) - 1 + staleness.lost if staleness.lost else len(changed)
    said = f"{moved:,} of the {counted:,} it touched" if moved else ""
    if moved == counted:
        said = f"all {moved:,} it touched" if moved > 1 else "the one it touched"
    yield _head(f"Files since {since}" if since else "Files", said)
    for file in changed[:_FILES]:
        yield from _file(file, width)
    if len(changed) > _FILES:
        yield Line([(f"    and {len(changed) - _FILES:,} more", "fg-3")])
    if left := total - len(changed):
        noun = "it" if left == 1 else "them"
        others = f"{left:,} other{'s' * (left > 1)}" if changed else f"all {left:,}"
        yield Line([(f"    {others} as the agent left {noun}", "fg-2")])


def _file(file: FileNow, width: int) -> Iterator[Line]:
    """A file, and how it is otherwise: behind it, or below where the two have no room."""
    sign, path = _SIGNS.get(file.how, ("?", "fg-3")), visible(file.shown)
    words = visible(file.why) or {"deleted": "gone"}.get(file.how, file.how)
    right: list[Piece] = [(f"  {words} ", "fg-2")]
    if not file.why and file.how != "deleted" and (time := _clock(file.changed_at)):
        right.append((f"{time} ", "fg"))
    room = width - _SIGN - sum(columns_of(text) for text, _ in right)
    if columns_of(path) <= room or not file.why:
        yield Line([("  ", ""), sign, (f" {end_of(path, max(room, 2))}", "fg-1")], right)
        return
    yield Line([("  ", ""), sign, (f" {end_of(path, width - _SIGN)}", "fg-1")])
    yield from (Line([(f"    {text}", "fg-2")]) for text in wrap(words, width - _SIGN - 1, 3))


def _since(staleness: Staleness, now: datetime | None) -> str:
    """The last time that the agent saw any of them."""
    return _clock(max((file.since for file in staleness.files), default=""), now)


def _clock(at: str, now: datetime | None = None) -> str:
    time = moment(at)
    if time is None:
        return ""
    local = time.astimezone()
    if now is not None and (now - time).total_seconds() > 86400:
        return f"{local:%d %b %H:%M}"
    return f"{local:%H:%M}"
