"""The screen: sessions, the timeline of one, the detail of a row.

It owns the state and is the only one to change it: widgets and workers post messages, handlers
here take them. What each key does stands in `actions`, where the panes are in `tui.layout`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.layout import Layout
from textual.widget import Widget

from sessionlog.listing import glance, ordered, with_life
from sessionlog.records import Entry, Status
from sessionlog.window import Log
from tui import commands, messages, workers
from tui.bells import Bells
from tui.entries import home
from tui.failures import Failures
from tui.keys import Keys
from tui.layout import NARROW, PaneLayout, View
from tui.lines import Piece
from tui.opening import began, looked_in
from tui.orders import NEWEST
from tui.row_lines import Clock
from tui.screens.actions import Actions
from tui.screens.frame import Frame
from tui.screens.front import handed_on
from tui.screens.open_session import OpenSession
from tui.screens.sheets import Sheets
from tui.way import Way
from tui.widgets import timeline_told as told
from tui.widgets.key_line import KeyLine
from tui.widgets.map_line import MapLine
from tui.widgets.past_pane import PastPane
from tui.widgets.session_list import SessionList
from tui.widgets.status_line import StatusLine
from tui.widgets.stop_header import StopHeader
from tui.widgets.timeline_view import TimelineView
from tui.widgets.top_bar import TopBar

if TYPE_CHECKING:
    from tui.handing import Handing
    from tui.widgets.prompt import Prompt

_REST = 0.06
"""Seconds the cursor rests on a session before it is opened: a held key opens none."""
_BEGIN = 0.05
"""Seconds after which the folders are watched: first the screen is painted."""
_FOLDERS, _LOG = "watching folders", "watching the log"
"""What those workers do without which the screen shows what was."""


class Browser(Frame[None]):
    """Sessions, timeline, detail."""

    def __init__(
        self, catalogue: workers.Catalogue, *, clock: Callable[[], float], order: str = NEWEST
    ) -> None:
        super().__init__()
        self._catalogue = catalogue
        self.clock = clock
        self._known = dict(catalogue.begun())
        self._listed = False
        """All that was there at the start is in the list."""
        self._keys = Keys()
        self._watching = "watching"
        self._opening: Entry | None = None
        lone = catalogue.lone
        self.view = View(
            "timeline" if lone else "list", has_list=not lone, has_log=bool(self._known)
        )
        self.session = OpenSession(self)
        self.way = Way()
        self.sheets = Sheets(self)
        self.bells = Bells()
        self.failures = Failures(self)
        self.panes = PaneLayout(self.view)
        self.bar = self.new_bar()
        self.sessions = SessionList(id="list", clock=clock, order=order)
        self.header = StopHeader(id="header", now=lambda: self.now)
        self.timeline = TimelineView(id="timeline", now=clock)
        self.map = MapLine(id="map")
        self.detail = PastPane(id="detail")
        self.status = StatusLine(id="status")
        self.actions = Actions(self)
        self.keys = KeyLine(self.actions.refused, id="keys")
        self.keys.leave_out({"S"})
        self.prompt: Prompt | None = None
        """Made when something is asked for the first time."""

    def new_bar(self) -> TopBar:
        """The top line; each screen has one of its own."""
        bar = TopBar([home(place) for place in self._catalogue.places], id="bar", clock=self.clock)
        bar.count(self.entries)
        return bar

    @property
    def entries(self) -> list[Entry]:
        """The sessions that are known, newest first."""
        return ordered(map(self.failures.of, self._known.values()))

    @property
    def layout(self) -> Layout:
        """Textual's styles know their own layouts only, so it is given here."""
        return self.panes

    def compose(self) -> ComposeResult:
        """Every part but the prompt is there at all times; the layout says which are seen."""
        yield self.bar
        yield self.sessions
        yield self.header
        yield self.map
        yield self.timeline
        yield self.detail
        yield self.status
        yield self.keys

    def on_mount(self) -> None:
        """Show what is known; the first paint has it."""
        self.relist()
        self.open(self.sessions.selected)
        self.focus_pane(self.view.focus)
        self.set_timer(_BEGIN, self._start)

    def _start(self) -> None:
        self.work(_FOLDERS, self._watch, group="watch")
        self.set_interval(1, self._tick)

    @property
    def now(self) -> datetime:
        """The time, aware."""
        return datetime.fromtimestamp(self.clock(), UTC)

    # -- workers -------------------------------------------------------------------------------

    def _watch(self, post: workers.Post, stopped: workers.Stopped) -> None:
        workers.watch(self._catalogue, lambda: self.entry.path if self.entry else "", post, stopped)

    @on(messages.Read)
    def _read(self, message: messages.Read) -> None:
        self._known.update((entry.path, entry) for entry in message.entries)
        done = message.done == message.total
        self.sessions.progress = "" if done else f"{message.done:,} of {message.total:,} read"
        self.relist()

    @on(messages.Changed)
    def _changed(self, message: messages.Changed) -> None:
        for path in message.gone:
            self._known.pop(path, None)
        self._known.update((entry.path, entry) for entry in message.entries)
        self._ring(message.entries)
        self.relist()

    def _ring(self, entries: Iterable[Entry]) -> None:
        for ring in self.bells.see(entries, self.clock()):
            self.status.warn(ring.words)
            self.app.bell()
            if ring.notice:
                self.app.post_message(messages.DesktopNotice(ring.words))

    @on(messages.LogGrew)
    def _grew(self, message: messages.LogGrew) -> None:
        if self.entry and self.entry.path == message.path:
            self.session.look()

    @on(messages.WatchState)
    def _watch_state(self, message: messages.WatchState) -> None:
        self._watching = "polling" if message.problem else "watching"
        if message.problem:
            self.status.warn(message.problem)
        self.tell()

    @on(messages.Failed)
    def _failed(self, message: messages.Failed) -> None:
        said = f"{message.what} ended: {message.error}"
        if message.what in (_FOLDERS, _LOG):
            said += "; what is shown may be old"
            self._watching = "not watching"
        self.status.warn(said)
        self.tell()

    @on(messages.Made)
    def _made(self, message: messages.Made) -> None:
        """A fork or a repair is in the list at once, and selected."""
        self.show(message.path)
        self.status.answer(message.said)

    @on(messages.Came)
    def _came(self, message: messages.Came) -> None:
        # a worker's outer edge, too: what it came to must not end the program
        workers.guarded("handing over", message.act, self.post_message)

    def show(self, path: str) -> None:
        """Have a log that is new or changed in the list, selected and open; of the filter stays
        what lets it through."""
        (entry,) = with_life([glance(self._catalogue.named(path))])
        self._known[entry.path] = entry
        self.view = replace(self.view, has_list=True)
        self.relist()
        self.sessions.reveal(entry)
        self.open(entry)
        self.renewed(entry.path)

    @cached_property
    def hands(self) -> Handing:
        """What was handed over from here; loaded when it is asked for."""
        from tui.handing import Handing

        return Handing(self)

    # -- what is open --------------------------------------------------------------------------

    def relist(self) -> None:
        """Give the list and the bar the sessions as they are known now."""
        entries = self.entries
        nothing = not entries and not self._catalogue.rest
        self.sessions.looked = looked_in(self._catalogue.places) if nothing else None
        self.sessions.update(entries)
        if not self._listed:
            self.sessions.choose()
            self._listed = not self._catalogue.rest
        self.header.set_crumb(self.sheets.subagents.crumb)
        self.bar.update(entries)
        in_front = getattr(self.app.screen, "bar", None)
        if isinstance(in_front, TopBar) and in_front is not self.bar:
            in_front.update(entries)
        self.failures.ask(entries if self._listed else ())
        self.tell()

    @on(SessionList.Moved)
    def _moved(self, message: SessionList.Moved) -> None:
        """Open the session under the cursor once the cursor rests."""
        if message.entry and self.entry and message.entry.path == self.entry.path:
            if message.entry != self.entry:
                self.renewed(message.entry.path)
            return
        if self.view.focus != commands.LIST and self.log_file is not None:
            return  # the list changed by itself: what is being read stays
        self._opening = message.entry
        if self.log_file is None:
            self._open_soon()
        else:
            self.set_timer(_REST, self._open_soon)
        self.tell()

    def _open_soon(self) -> None:
        if self._opening is self.sessions.selected:
            self.open(self._opening)

    @on(SessionList.Opened)
    def _opened(self, message: SessionList.Opened) -> None:
        self.open(message.entry)
        self.focus_pane(commands.TIMELINE)

    @property
    def entry(self) -> Entry | None:
        """The open session; None while none is open."""
        return self.session.entry

    @property
    def log_file(self) -> Log | None:
        """The open session's log; None when it cannot be read."""
        return self.session.log

    def open(self, entry: Entry | None) -> None:
        """Show a session's log at its end; None: show none."""
        if entry is None:
            return self.session.close()
        if self.entry and entry.path == self.entry.path:
            return
        self.sheets.opened(entry.path)
        self.session.open(entry)
        self.view = replace(self.view, has_log=True)
        self._stands(entry)
        self.set_timer(_BEGIN, self._watch_log)

    def _watch_log(self) -> None:
        if self.entry is not None and self.log_file is not None:
            path = self.entry.path
            self.work(_LOG, lambda post, ended: workers.watch_log(path, post, ended), "log")

    def renewed(self, path: str) -> None:
        """The open session grew, or stands otherwise than before."""
        if self.entry is not None and self.entry.path == path:
            entry = self.failures.of(self._known.get(path, self.entry))
            self.session.renew(entry)
            self._stands(entry)

    def _stands(self, entry: Entry) -> None:
        self.view = replace(self.view, live=entry.status is Status.RUNNING)
        self.place()
        self.keys.refresh()
        self.tell()

    def _tick(self) -> None:
        """What changes with the clock alone."""
        if self.view.live:
            self.header.refresh()
        self._ring(self._known.values())
        if int(self.clock()) % 60 == 0:
            self.bar.refresh()
            self.sessions.refresh()

    @on(told.RowMoved)
    def _row_moved(self, message: told.RowMoved) -> None:
        self.detail.set_clock(self.timeline.clock)
        self.detail.show(message.row, self.log_file)
        self.tell_known()
        self.tell()

    def tell_known(self) -> None:
        """In its third view the detail says what the agent knew at the row."""
        row = self.timeline.row
        if self.detail.only_knew and row is not None:
            self.detail.tell(self.session.knew(row), "")

    @on(told.Told)
    def _told(self, message: told.Told) -> None:
        self.status.answer(message.text)
        self.tell()

    @on(told.FoundCount)
    def _found_count(self, message: told.FoundCount) -> None:
        more = "" if message.done else "+"
        self.status.answer(f"{message.count:,}{more} hits" if message.count != 1 else "1 hit")

    @on(told.Counted)
    def _counted(self) -> None:
        self.map.renew()
        self.tell()

    @on(told.Looked)
    @on(told.FollowChanged)
    def _went_on(self) -> None:
        self.tell()

    @on(told.Stood)
    def _stood(self, message: told.Stood) -> None:
        self.map.stand(message.cursor, message.seen, message.clock)

    @on(MapLine.Asked)
    def _asked(self, message: MapLine.Asked) -> None:
        self.timeline.go(message.offset)

    # -- focus and layout ----------------------------------------------------------------------

    @property
    def pane(self) -> Widget:
        """The pane that has the focus."""
        return {"list": self.sessions, "timeline": self.timeline}.get(self.view.focus, self.detail)

    def focus_pane(self, name: str) -> None:
        """Give a pane the focus; where there is room for one, it is the one that is seen."""
        self.view = replace(self.view, focus=name)
        self.header.set_active(name == commands.TIMELINE)
        self.place()
        if not self.view.asks:
            self.set_focus(self.pane)
        self.keys.tell(name)
        self.tell()

    def place(self) -> None:
        """Lay the panes out as `view` says."""
        if self.panes.view != self.view:
            self.panes.view = self.view
            self.bar.refresh(layout=True)  # a child's: the screen forgets where all of them are

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A click gives a pane the focus, too."""
        name = event.widget.id or ""
        is_late = event.widget is not self.focused
        if name in commands.PANES and name != self.view.focus and not is_late:
            self.focus_pane(name)

    @property
    def is_narrow(self) -> bool:
        """Is there room for one pane only?"""
        return self.size.width < NARROW or self.view.zoomed

    def tell(self) -> None:
        """Say in the status line where the cursor is and how things stand."""
        watching: Piece = (self._watching, "fg-3" if self._watching == "watching" else "open")
        if self.view.focus == commands.LIST:
            self.status.tell(self.sessions.place, [watching])
            return
        facts = self.timeline.status
        if self.view.live:
            facts.insert(1, "live, following" if self.timeline.following else "live, scrolled away")
        ended = self.entry is None or self.entry.status is Status.COMPLETE
        state = watching if self.view.live else ("ended" if ended else "stopped", "fg-3")
        clock: Piece = (f"{self.timeline.clock.name} · ", "fg-3")
        self.status.tell(" · ".join(facts), [clock, state])

    def clock_of(self, entry: Entry) -> Clock:
        """Tells times of a session as the timeline does, from its own start where that counts."""
        clock = self.timeline.clock
        is_open = self.log_file is not None and self.log_file.path == entry.path
        return clock if is_open or clock.mode != "start" else clock._replace(started=began(entry))

    def made(self, path: str | None) -> None:
        """A dialog has written a new log."""
        if path:
            self.post_message(messages.Made(path, f"made {home(path)}; the parent is untouched"))

    # -- keys ----------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Find what the keys pressed so far mean here, and do it."""
        self.failures.wait()
        if handed_on(self, event):
            return
        if self.view.asks and self.prompt is not None:
            self.prompt.press(event)
            return
        pressed = self._keys.press(event, self.view.focus)
        self.status.answer(pressed.missed)
        if pressed.turned:
            self.keys.tell(self.view.focus, pressed.head)
        if pressed.command is not None:
            self.actions.run(pressed.command)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text is the prompt's."""
        if not handed_on(self, event) and self.view.asks and self.prompt is not None:
            self.prompt.paste(event)

    def ask(self, purpose: str, label: str, text: str = "") -> None:
        """Open the prompt."""
        if self.prompt is None:
            from tui.widgets.prompt import Prompt

            self.prompt = Prompt(self.actions, self.close_prompt, id="prompt")
            self.mount(self.prompt)
        self.prompt.ask(purpose, label, text)
        self.view = replace(self.view, asks=True)
        self.place()
        self.keys.tell(self.view.focus, fixed=(("enter", "go"), ("esc", "leave")))

    def close_prompt(self) -> None:
        """Take the prompt away; the focus goes back."""
        self.view = replace(self.view, asks=False)
        self.focus_pane(self.view.focus)
