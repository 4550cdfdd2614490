"""The head of a handing over and the conversation that goes over, as lines. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sessionlog.records import Damage, Entry
from sessionlog.text import one_line, visible, wrap
from tui.handover_facts import is_about_folder
from tui.handover_plain import plain_lines
from tui.handover_rows import Item, Transcript
from tui.handover_waits import Standing
from tui.lines import Line, Piece
from tui.row_lines import Clock, Columns, Look, lines_of
from tui.rows import Row
from tui.signs import SIGNS, state_of

if TYPE_CHECKING:
    from sessionlog.resume import Resume

_NOTE = 400
"""Lines of the note that are shown."""
_MARKS: dict[str, tuple[Piece, str]] = {
    "+": (("+", "diff-add bold"), "tint-add"),
    "-": (("-", "diff-del bold"), "tint-del"),
}
_INDENT = 8


def title(entry: Entry, resume: Resume | None, at: int, busy: str) -> Line:
    """`Hand over to AGENT  ○ TITLE`"""
    name = one_line(entry.title or entry.task) or visible(entry.id)
    left: list[Piece] = [("▌", "accent"), ("Hand over", "fg-1 bold")]
    if resume is not None:
        left += [(" to ", "fg-2"), (visible(resume.agent.name), "fg-1 bold")]
    left += [("  ", ""), SIGNS[state_of(entry)], (" ", "")]
    left += [(f"@{at} ", "accent")] if at else []
    left.append((name, "fg"))
    return Line(left, [(f"  {busy or 'nothing is written yet'} ", "fg-3")], "surface")


def waits(at: Standing, *, wide: bool) -> list[Line]:
    """What stands in the way, each with the choice beside it."""
    planned, problem = at.planned, at.problem
    if planned is None:
        return [_wrong(problem)] if problem else []
    damage, resume = planned.refused, planned.resume
    lines = [_damaged(damage, at.accepted, wide)] if damage is not None else []
    if problem:
        lines.append(_wrong(problem, "a", "other agent"))
    for words in planned.missing:
        is_folder = resume is not None and is_about_folder(resume, words)
        lines.append(_wrong(words, *(("c", "other folder") if is_folder else ("a", "other agent"))))
    return lines


def _damaged(damage: Damage, accepted: bool, wide: bool) -> Line:
    where = f" Damage before the end, line {damage.span.line:,}: "
    left: list[Piece] = [SIGNS["bytes"], (where, "bytes bold"), (one_line(damage.why), "fg")]
    right: list[Piece] = [("  accepted: left out ", "fg-2")]
    if not accepted:
        words = (" accept and go on   ", " look at it ") if wide else (" accept  ", " look ")
        right = [("  !", "fg-1 bold"), (words[0], "fg-2"), ("enter", "fg-1 bold"),
                 (words[1], "fg-2")]  # fmt: skip
    return Line([(" ", ""), *left], right, "tint-bytes")


def _wrong(words: str, key: str = "", choice: str = "") -> Line:
    left: list[Piece] = [(" ", ""), SIGNS["fail"], (f" {visible(words)}", "fail")]
    right: list[Piece] = [(f"  {key}", "fg-1 bold"), (f" {choice} ", "fg-2")] if key else []
    return Line(left, right, "tint-fail")


# -- the conversation ------------------------------------------------------------------------


def heading(shown: Transcript, resume: Resume | None, *, focused: bool) -> Line:
    """`The transcript after repair          1 closed  0 moved  0 left out`"""
    words = "The transcript"
    if resume is not None and resume.plain is not None:
        words = "The transcript as plain messages"
    elif resume is not None and resume.at is not None:
        words = f"The transcript, forked at {resume.at:,}"
    elif resume is not None and (resume.plan is not None or resume.carried):
        words = "The transcript after repair"
    counts = f"{shown.closed:,} closed  {shown.moved:,} moved  {shown.left_out:,} left out"
    if resume is not None and resume.plan is None and not resume.carried:
        counts = "as it stands"
        if shown.open:
            noun = "call" if shown.open == 1 else "calls"
            counts += f"; {visible(resume.agent.name)} answers {shown.open:,} open {noun} itself"
    if resume is not None and resume.plain is not None:
        counts = resume.plain.counts
    gutter = ("▌", "accent") if focused else (" ", "")
    return Line([gutter, (words, "fg-1 bold")], [(f"  {counts} ", "fg-3")], "surface")


def conversation(
    shown: Transcript, resume: Resume | None, width: int, clock: Clock, most: int = _NOTE,
    *, bare: bool = False,
) -> list[Line]:  # fmt: skip
    """The rows, and in green what is added; at most so many lines of the note. O(rows shown)."""
    numbers = [item.row.n or 0 for item in shown.items]
    columns = Columns(width, max(4, len(str(max([shown.next or 0, *numbers], default=0)))))
    lines = [Line([(f" {words}", "fg-3")]) for words in shown.above]
    above = ""
    for item in shown.items:
        lines += _item(item, Look(columns, clock, above))
        above = clock.tell(item.row.at, columns.clock == 5) or above
    lines += plain_lines(shown.said, columns, clock, bare=bare)
    if not shown.items and not shown.said:
        lines.append(Line([(" nothing was said yet", "fg-2")]))
    if resume is not None and resume.note:
        lines += _note(shown, resume, columns, clock, most)
    return lines


def _item(item: Item, look: Look) -> Iterator[Line]:
    """The timeline's own lines, the gutter and the ground telling what is done."""
    mark = _MARKS.get(item.mark)
    for line in lines_of(item.row, look):
        if mark is None:
            yield line
        else:
            tint = line.tint if item.row.damage is not None else mark[1]
            yield Line([mark[0], *line.left[1:]], line.right, tint)


def _note(
    shown: Transcript, resume: Resume, columns: Columns, clock: Clock, most: int
) -> Iterator[Line]:
    """The user's last turn, in the log or on the command line."""
    sign, tint = _MARKS["+"] if resume.told else ((" ", ""), "surface")
    what = "what the agent is told" if resume.told else "what the agent is told on its command line"
    if resume.untold:
        what = "its command has no place for this: tell it yourself"
    n = shown.next if resume.told else None
    row = Row((0, 0), "told", "user", f"{what}:", "user", n=n)
    for line in lines_of(row, Look(columns, clock)):
        yield Line([sign, *line.left[1:]], line.right, tint)
    texts = wrap(visible(resume.note, newlines=True), columns.width - _INDENT - 2, _NOTE)
    shown_texts = texts if len(texts) <= most else texts[: most - 1]
    for text in shown_texts:
        yield Line([sign, (" " * (_INDENT - 1), ""), (text, "fg-1")], tint=tint)
    if left := len(texts) - len(shown_texts):
        more: list[Piece] = [("m", "fg-1 bold"), (f" shows {left:,} more lines", "fg-2")]
        yield Line([sign, (" " * (_INDENT - 1), ""), *more], tint=tint)


def diff_heading(focused: bool) -> Line:
    """Above the full diff."""
    gutter = ("▌", "accent") if focused else (" ", "")
    return Line([gutter, ("What the new log has otherwise", "fg-1 bold")],
                [("  d back to the conversation ", "fg-3")], "surface")  # fmt: skip
