"""What each command does, one method a command; what is not here is the focused pane's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sessionlog.records import Entry, Status
from sessionlog.text import visible
from tui import messages
from tui.commands import DETAIL, LIST, PANES, TIMELINE, Command
from tui.folds import Filter
from tui.layout import NARROW
from tui.rows import Row
from tui.screens.front import is_in_front
from tui.widgets.detail_pane import DetailPane

if TYPE_CHECKING:
    from tui.screens.browser import Browser
    from tui.screens.sheets import Back

_DETAIL: dict[str, Callable[[DetailPane], None]] = {
    "cursor_down": lambda pane: pane.scroll_lines(1),
    "cursor_up": lambda pane: pane.scroll_lines(-1),
    "half_page_down": lambda pane: pane.scroll_pages(0.5),
    "half_page_up": lambda pane: pane.scroll_pages(-0.5),
    "page_down": lambda pane: pane.scroll_pages(1),
    "page_up": lambda pane: pane.scroll_pages(-1),
    "home": DetailPane.scroll_to_start,
    "end": DetailPane.scroll_to_end,
    "toggle_fold": DetailPane.toggle_fold,
}
"""What the moving keys mean in the detail."""
_ONLY_ROWS = {f"only_{what}" for what in ("errors", "user", "calls", "messages", "quiet", "all")}
_ONLY_SESSIONS = {"only_failed": "fail", "only_open": "open", "only_running": "run",
                  "only_truncated": "torn"}  # fmt: skip
"""Commands that show some rows or sessions alone, and the signs of these."""
_NEEDS_LOG = ("why", "replay", "compare", "stats")
_NEEDS_ROW = (
    "copy_row", "copy_command", "copy_json", "toggle_raw", "view_shown", "view_raw", "view_knew",
    "detail_down", "detail_up",
)  # fmt: skip


class Actions:
    """The commands, on a browser."""

    def __init__(self, browser: Browser) -> None:
        self._at = browser
        self._filter_was = ""
        self._selected_was: Entry | None = None
        self._asked = False
        """Was it said that leaving stops what was handed over?"""

    def run(self, command: Command) -> None:
        """Do it, or say why not. Nothing while a dialog is in front: the palette may ask twice."""
        if not is_in_front(self._at):
            return
        refused = self.refused(command.id)
        if refused:
            self._at.status.answer(refused)
            return
        method = self.method(command.id)
        method()

    def method(self, id: str) -> Callable[[], object]:
        """What does the command: a method here, else one of the pane, else of the timeline."""
        at = self._at
        if id in _ONLY_ROWS:
            return partial(self._rows, id.removeprefix("only_"))
        if id in _ONLY_SESSIONS:
            return partial(self._sessions, _ONLY_SESSIONS[id])
        own = getattr(self, id, None) or getattr(at.sheets, id, None)
        if own is None and at.view.focus == DETAIL and id in _DETAIL:
            return lambda: _DETAIL[id](at.detail)
        pane = at.sessions if at.view.focus == LIST else at.timeline
        found: Callable[[], object] = own or getattr(pane, id)
        return found

    def refused(self, id: str) -> str:
        """Why the command cannot act now; "" when it can."""
        at = self._at
        if id in ("fork", "hand_over"):
            return self._not_acting(id)
        if id in ("stop_now", "stop_gently"):
            return at.hands.refused(self._target)
        if id in ("into_subagent", "out_of_subagent"):
            return at.sheets.subagents.refused(id)
        if id in _NEEDS_LOG and self._target is None:
            return f"{id}: no session is selected"
        if id in _NEEDS_LOG and self._target and self._target.status is None:
            return f"{id}: this is no session log"
        if id in ("find_next", "find_prev") and at.timeline.needle is None:
            return "nothing is looked for: / asks for a text"
        if id == "turn_bell":
            running = self._target is not None and self._target.status is Status.RUNNING
            rings = self._target is not None and self._at.bells.mode(self._target.path) != "off"
            return "" if running or rings else "bell: this run has stopped already"
        if id in ("copy_id", "copy_path", "open") and at.view.focus == LIST:
            return "" if at.sessions.selected else "no session is selected"
        if at.view.focus == LIST and (kept_from := at.sessions.refused(id)):
            return kept_from
        if id in _NEEDS_ROW and at.timeline.row is None:
            return "no row is selected"
        if id == "zoom" and at.size.width < NARROW:
            return f"zoom: one pane at a time below {NARROW} columns"
        if id == "toggle_follow" and not at.view.live:
            return "follow: nothing writes to this log now"
        return ""

    def _not_acting(self, id: str) -> str:
        from sessionlog.formats.table import named

        entry, what = self._target, id.replace("_", " ")
        if entry is None:
            return f"{what}: no session is selected"
        if entry.status is None:
            return f"{what}: this is no session log"
        form = named(entry.format)
        if form is None or (form.actor is None and id == "fork"):
            done = "forked" if id == "fork" else "handed over"
            return f"{what}: {entry.format} logs cannot be {done} yet"
        if id == "hand_over" and entry.status is Status.RUNNING:
            return "hand over: its writer is alive; stop it first, or fork instead"
        return ""

    @property
    def _target(self) -> Entry | None:
        """The session that a command is about."""
        return self._at.sessions.selected if self._at.view.focus == LIST else self._at.entry

    @property
    def _row(self) -> Row | None:
        # the timeline's, not the detail's: that one is told of a move a moment later
        return self._at.timeline.row

    # -- panes ---------------------------------------------------------------------------------

    def open(self) -> None:
        """One step in."""
        at = self._at
        if at.view.focus == LIST:
            at.open(at.sessions.selected)
            self._to(TIMELINE)
        elif at.view.focus == TIMELINE:
            self._to(DETAIL)

    def leave(self) -> None:
        """One step back: a warning, a filter, a zoom, what led to this log, a pane."""
        at = self._at
        if at.view.focus == DETAIL:
            self._to(TIMELINE)
        elif at.view.zoomed:
            self.zoom()
        elif at.status.dealt_with():
            return
        elif at.view.focus == TIMELINE and self._filters_rows:
            at.timeline.set_filter("all")
        elif at.view.focus == TIMELINE and at.way.last is not None:
            at.way.back()
        elif at.view.focus == TIMELINE and at.view.has_list:
            self._to(LIST)
        elif at.view.focus == LIST and (at.sessions.filter.text or at.sessions.filter.state):
            at.sessions.widen()
        else:
            at.status.answer("q quits")
        at.tell()

    @property
    def _filters_rows(self) -> bool:
        timeline, last = self._at.timeline.timeline, self._at.way.last
        asked = Filter() if last is None else last.filter
        return timeline is not None and timeline.filter not in (Filter(), asked)

    def pane_left(self) -> None:
        """The pane to the left."""
        self._step(-1, wraps=False)

    def pane_right(self) -> None:
        """The pane to the right."""
        self._step(1, wraps=False)

    def pane_next(self) -> None:
        """The next pane, around."""
        self._step(1, wraps=True)

    def pane_previous(self) -> None:
        """The pane before, around."""
        self._step(-1, wraps=True)

    def _step(self, by: int, *, wraps: bool) -> None:
        names = PANES if self._at.view.has_list else PANES[1:]
        at = names.index(self._at.view.focus) + by
        self._to(names[at % len(names)] if wraps else names[min(max(at, 0), len(names) - 1)])

    def _to(self, name: str) -> None:
        if name != LIST and self._at.entry is None:
            self._at.status.answer("no session is open")
            return
        self._at.focus_pane(name)

    def zoom(self) -> None:
        """The focused pane alone, or all again."""
        at = self._at
        at.view = replace(at.view, zoomed=not at.view.zoomed)
        at.place()

    def detail_down(self) -> None:
        """Scroll the detail from the timeline."""
        self._at.detail.scroll_lines(3)

    def detail_up(self) -> None:
        """Scroll the detail from the timeline."""
        self._at.detail.scroll_lines(-3)

    def toggle_raw(self) -> None:
        """The record as it stands, or as it is shown."""
        self._view(raw=not self._at.detail.is_raw)

    def view_shown(self) -> None:
        """The row as it reads."""
        self._view()

    def view_raw(self) -> None:
        """The record as it stands."""
        self._view(raw=True)

    def view_knew(self) -> None:
        """What the agent knew at the row."""
        self._view(knew=True)

    def _view(self, *, raw: bool = False, knew: bool = False) -> None:
        detail = self._at.detail
        detail.set_view(raw=raw)
        detail.set_knew(knew)
        self._at.tell_known()
        if self._at.is_narrow:
            self._to(DETAIL)

    def toggle_clock(self) -> None:
        """Local time, time since the start, UTC."""
        at = self._at
        at.timeline.toggle_clock()
        at.detail.set_clock(at.timeline.clock)
        at.tell()

    # -- jumps back ----------------------------------------------------------------------------

    def prev_trouble(self) -> None:
        """The trouble before."""
        self._at.timeline.next_trouble(forward=False)

    def prev_user(self) -> None:
        """The user turn before."""
        self._at.timeline.next_user(forward=False)

    def prev_reset(self) -> None:
        """The reset before."""
        self._at.timeline.next_reset(forward=False)

    def find_next(self) -> None:
        """The next hit: of the detail while there is one, then of the next row."""
        at = self._at
        if at.view.focus != DETAIL or not at.detail.find_next():
            at.timeline.find_next()

    def find_prev(self) -> None:
        """The hit before."""
        at = self._at
        if at.view.focus != DETAIL or not at.detail.find_prev():
            at.timeline.find_next(forward=False)

    # -- find and filter -----------------------------------------------------------------------

    def filter(self) -> None:
        """Ask for the text that sessions must have."""
        sessions = self._at.sessions
        self._filter_was, self._selected_was = sessions.filter.text, sessions.selected
        self._at.ask("filter", "filter", self._filter_was)

    def find(self) -> None:
        """Ask for a text to find."""
        self._at.ask("find", "find")

    def goto(self) -> None:
        """Ask for a place."""
        self._at.ask("goto", "go to  143, 03:31, +5m, 50%:")

    def typed(self, purpose: str, text: str) -> None:
        """The list is filtered while the text is typed."""
        if purpose == "filter":
            self._at.sessions.set_filter(text=text)

    def given(self, purpose: str, text: str) -> None:
        """The prompt has been answered."""
        at = self._at
        if purpose == "filter":
            at.sessions.set_filter(text=text)
        elif purpose == "find":
            at.timeline.find(text)
            at.detail.mark(at.timeline.needle)
        elif purpose == "goto" and text:
            at.timeline.goto(text)
        elif purpose == "tool":
            at.timeline.set_filter("tool", text)
        at.tell()

    def undone(self, purpose: str) -> None:
        """The prompt was left."""
        if purpose == "filter":
            self._at.sessions.set_filter(text=self._filter_was)
            if self._selected_was is not None:
                self._at.sessions.select(self._selected_was.path)

    def only_tool(self) -> None:
        """Ask which tool; the row's own is a good guess."""
        row = self._row
        self._at.ask("tool", "only the tool", row.label if row and row.sort == "call" else "")

    def _rows(self, what: str) -> None:
        """Only such rows."""
        self._at.timeline.set_filter(what)
        self._at.tell()

    def _sessions(self, state: str) -> None:
        """Only sessions that stand so."""
        self._at.sessions.set_filter(state=state)
        self._at.tell()

    def only_every(self) -> None:
        """All sessions again."""
        self._at.sessions.set_filter(state="", text="")
        self._at.tell()

    # -- acting --------------------------------------------------------------------------------

    def fork(self) -> None:
        """Preview a fork at the row, or of the whole session."""
        entry, row = self._target, self._row if self._at.view.focus != LIST else None
        if entry is not None:
            self.fork_at(entry, row=row)

    def fork_at(
        self, entry: Entry, at: int = 0, row: Row | None = None, back: Back | None = None
    ) -> None:
        """Preview a fork after message `at`, else at a row, else at the end."""
        from tui.screens.fork import ForkDialog

        dialog = ForkDialog(entry, row, self._at.now, at)

        def left(path: str | None) -> None:
            cut = dialog.hands_over_at
            if cut:
                self._at.sheets.hand_over(entry, cut, lambda: self.fork_at(entry, cut, row, back))
            elif path or back is None:
                self._at.made(path)
            else:
                back()

        self._at.app.push_screen(dialog, left)

    def turn_bell(self) -> None:
        """Ring when the run stops or falls silent, tell the desktop too, or neither."""
        entry = self._target
        if entry is not None:
            mode = self._at.bells.turn(entry, self._at.now.timestamp())
            when = "" if mode == "off" else " when this run stops or is silent for 5 minutes"
            self._at.status.answer(f"bell: {mode}{when}")

    def copy_row(self) -> None:
        """Copy the row as it reads."""
        from tui import copying

        if self._row:
            self._copy("the row", copying.of_row(self._row))

    def copy_command(self) -> None:
        """Copy the call's telling argument."""
        from tui import copying

        if self._row:
            self._copy("the command", copying.of_command(self._row))

    def copy_json(self) -> None:
        """Copy the record as it stands."""
        from tui import copying

        if self._row and self._at.log_file:
            self._copy("the JSON", copying.of_json(self._row, self._at.log_file.raw))

    def copy_id(self) -> None:
        """Copy the session's id."""
        if self._target:
            self._copy("the id", visible(self._target.id))

    def copy_path(self) -> None:
        """Copy the log's path."""
        if self._target:
            self._copy("the path", visible(self._target.path))

    def _copy(self, what: str, text: str) -> None:
        if not text:
            self._at.status.answer(f"{what} is empty here")
            return
        self._at.app.copy_to_clipboard(text)
        masked = ", secrets masked" if "…masked" in text else ""
        self._at.status.answer(f"copied {what}{masked}")

    # -- program -------------------------------------------------------------------------------

    def theme(self) -> None:
        """The next theme."""
        self._at.post_message(messages.NextTheme())

    def palette(self) -> None:
        """Every command by name."""
        self._at.app.action_command_palette()

    def help(self) -> None:
        """Keys and signs."""
        from tui.screens.help import Help

        self._at.app.push_screen(Help())

    def quit(self) -> None:
        """Leave. A run that was handed over ends with us, so that is asked once."""
        live = self._at.hands.live if "hands" in vars(self._at) else 0
        if live and not self._asked:
            self._asked = True
            goes = "a run goes on" if live == 1 else f"{live} runs go on"
            self._at.status.answer(f"{goes} that was handed over here: q again stops it and leaves")
            return
        self._at.app.exit()
