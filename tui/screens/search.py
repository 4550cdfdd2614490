"""Search across all logs: a query, hits by session as they are found, the row of the chosen one.

The search runs in a thread and ends as soon as the query is another one. What was found stays in
the browser's `SearchState`, so the screen comes back as it was left.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from textual import events, on
from textual.geometry import Region
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from sessionlog.errors import SessionLogError
from sessionlog.hit import Hit
from sessionlog.needle import Needle
from sessionlog.numbers import resolve
from sessionlog.query import Query, filters, parse_query
from sessionlog.records import Entry
from sessionlog.search import search_logs
from sessionlog.text import visible
from tui import commands, copying, messages, workers
from tui.hit_lines import Standing
from tui.hits import KEPT, Hits, HitView
from tui.layout import NARROW, WIDE
from tui.log_row import LogRow
from tui.query_words import narrowing
from tui.screens.front import is_in_front
from tui.screens.sheet import Sheet, side_by_side
from tui.searching import Batch, Place, Search, SearchState, batches, said, wording
from tui.widgets.detail_pane import DetailPane
from tui.widgets.hit_list import HitList
from tui.widgets.query_line import QueryLine
from tui.widgets.top_bar import TopBar

_REST = 0.15
"""Seconds without a key until what was typed is searched."""
_LOOK = 0.06
"""Seconds the cursor rests on a hit before its row is read: a held key reads none."""
_QUERY_KEYS = (
    ("enter", "to the hits"), ("ctrl+t", "case"), ("ctrl+r", "regex"), ("esc", "stop, then leave"),
)  # fmt: skip


class SearchSheet(Sheet[Place]):
    """Answers where the chosen hit stands; None when it was left."""

    where = commands.SEARCH

    @dataclass(eq=False, repr=False)
    class Found(Message):
        """More hits, and how far the search is."""

        query: Query
        batch: Batch

    @dataclass(eq=False, repr=False)
    class Ended(Message):
        """The search is over."""

        query: Query

    @dataclass(eq=False, repr=False)
    class Numbered(Message):
        """The first kept hits of a log, with message and line numbers."""

        query: Query
        path: str
        hits: tuple[Hit, ...]

    def __init__(
        self,
        bar: TopBar,
        entries: Sequence[Entry],
        state: SearchState,
        *,
        clock: Callable[[], float] = time.time,
        word: str = "",
        search: Search = search_logs,
    ) -> None:
        """`entries`: the logs to search, newest first. `word` is the query where `state` has none
        yet. `clock`: now, as POSIX seconds."""
        super().__init__(bar)
        self._entries = tuple(entries)
        self._state = state
        self._now = clock
        self._searched = search
        self._agents = Counter(entry.agent for entry in entries if entry.agent)
        state.text = state.text or visible(word)
        self.query_line = QueryLine(state.text, id="query")
        self.hits = HitList(state.view, id="hits", clock=clock)
        self.detail = DetailPane(id="detail")
        self._row = LogRow()
        self._looked_for = ("", False)
        """What is marked in the detail, and whether its case matters."""
        self._was: tuple[bool, bool] | None = None
        """Were there a detail and a hit when things were last told?"""
        self._resting: Timer | None = None
        self._looking: Timer | None = None

    # -- the parts -----------------------------------------------------------------------------

    def parts(self) -> Iterable[Widget]:
        """The hits take the keys; the query its own while it has the focus."""
        return [self.hits, self.query_line, self.detail]

    def regions(self, body: Region) -> dict[str, Region]:
        """The query above the hits, and beside them, where there is room, the detail of one."""
        line, rest = body.split_horizontal(1)
        if body.width < NARROW or not self._has_detail:
            return {"query": line, "hits": rest}
        share = 66 if body.width >= WIDE else body.width * 2 // 5
        left, right = side_by_side(rest, body.width - share - 1)
        return {"query": line, "hits": left, "detail": right}

    @property
    def _has_detail(self) -> bool:
        """Not beside what says that there is nothing."""
        return bool(self._state.view.hits.groups) or self._is_running

    @property
    def begins(self) -> Widget:
        """The query."""
        return self.query_line

    def take(self, event: events.Key | events.Paste) -> None:
        """What was typed together with the key that opened this is the query's."""
        line = self.query_line
        if isinstance(event, events.Key):
            line.on_key(event)
        else:
            line.on_paste(event)

    def on_key(self, event: events.Key) -> None:
        """So is what was typed together with the key that led to it, and comes from the hits."""
        if self.focused is self.query_line and is_in_front(self):
            self.query_line.on_key(event)

    def on_mount(self) -> None:
        """Begin with what was found before."""
        if self._state.standing.state == "running":  # left while it ran
            self._run()
        elif self._state.query is None:
            self._search()
        else:
            self._number()
        self._tell()
        self._look()

    def resumed(self) -> None:
        """What was looked for since stands here, too."""
        self.query_line.show(self._state.text)
        self.hits.show(self._state.view)
        self._tell()
        self._look()

    def on_unmount(self) -> None:
        """The log of the detail is closed again."""
        self._row.close()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The key line follows the focus, which a click gives, too."""
        if event.widget is self.query_line:
            self.keys.tell(self.where, fixed=_QUERY_KEYS)
        else:
            self.keys.tell(self.where)

    # -- searching -----------------------------------------------------------------------------

    @on(QueryLine.Changed)
    def _typed(self, message: QueryLine.Changed) -> None:
        """Another query: the search that runs ends now, the new one begins when typing rests."""
        self._state.text = message.text
        self.status.answer("")
        self._again(_REST)

    def _again(self, rest: float) -> None:
        self._cancel()
        self._resting = self.set_timer(rest, self._search)

    def _cancel(self) -> None:
        if self._resting is not None:
            self._resting.stop()
            self._resting = None
        self.workers.cancel_group(self, "search")

    def _search(self) -> None:
        """Search what stands in the line; a query that means nothing leaves the old hits."""
        state = self._state
        self._cancel()
        try:
            state.query = parse_query(
                state.text, self._moment, ignore_case=state.any_case, regex=state.regex
            )
            state.problem = ""
        except SessionLogError as error:
            state.problem = visible(str(error))
            self._stand_still()
            return
        state.view = HitView(Hits(self._entries))
        self.hits.show(state.view)
        if not state.query.empty:
            state.standing = Standing("running")
            self._run()
        else:
            state.standing = Standing()
        self._tell()

    @property
    def _moment(self) -> datetime:
        return datetime.fromtimestamp(self._now()).astimezone()

    def _run(self) -> None:
        """Read the logs that are not read yet."""
        query = self._state.query
        assert query is not None
        entries, known = self._state.rest()

        def read(post: workers.Post, stopped: workers.Stopped) -> None:
            found = self._searched(entries, query, stopped, most=KEPT)
            for batch in batches(found, time.monotonic, known):
                if stopped():
                    return
                post(self.Found(query, batch))
            post(self.Ended(query))

        self.work("searching", read, group="search")

    @on(Found)
    def _found(self, message: Found) -> None:
        state = self._state
        if message.query is not state.query or state.standing.state != "running":
            return  # of a query that is another by now, or of a search that was stopped
        batch, total = message.batch, len(state.view.hits.entries)
        state.view.add(batch.hits, batch.more)
        if batch.progress is not None:
            read = batch.progress.logs_read + total - batch.progress.logs
            progress = batch.progress._replace(logs_read=read, logs=total)
            state.standing = Standing("running", progress)
        for path, note in batch.notes.items():
            entry = state.view.hits.entry(path)
            if entry is not None and entry.status is not None:  # else it is no session log
                state.problem = visible(note)
        self._tell()

    @on(Ended)
    def _ended(self, message: Ended) -> None:
        state = self._state
        if message.query is not state.query or not self._is_running:
            return
        progress = state.standing.progress
        is_done = progress is None or progress.logs_read == progress.logs
        state.standing = Standing("done" if is_done else "stopped", progress)
        self._tell()
        if state.view.hit is None:
            self.set_focus(self.query_line)
        self._number()

    def _number(self) -> None:
        """Count the numbers of hits that stand deep in long logs: their search did not wait."""
        state, query = self._state, self._state.query
        groups = [group for group in state.view.hits.groups if not all(h.line for h in group.hits)]
        if query is None or not groups:
            return

        def number(post: workers.Post, stopped: workers.Stopped) -> None:
            for group in groups:
                hits = tuple(resolve(list(group.hits), stopped))
                if stopped():
                    return
                post(self.Numbered(query, group.entry.path, hits))

        self.work("numbering hits", number, group="search")

    @on(Numbered)
    def _numbered(self, message: Numbered) -> None:
        if message.query is self._state.query:
            self._state.view.hits.numbered(message.path, message.hits)
            self.hits.renew()

    @on(messages.Failed)
    def _search_failed(self) -> None:
        self._stand_still()

    def _stand_still(self) -> None:
        """The search ended before all was read."""
        if self._is_running:
            self._state.standing = Standing("stopped", self._state.standing.progress)
        self._tell()

    def _tell(self) -> None:
        """Show how the search stands."""
        state, pane = self._state, self.hits
        narrow = narrowing(self._agents, state.view.hits.tools)
        pane.standing, pane.problem = state.standing, state.problem
        pane.filters = list(filters(state.query)) if state.query else []
        pane.narrow = narrow
        pane.renew()
        self.query_line.tell(said(state, self.size.width))
        self.status.tell("  ".join(("narrow with", *(word for word, _ in narrow))), [])
        now = (self._has_detail, state.view.hit is not None)
        if now != self._was:  # the panes, and which keys can act
            self._was = now
            self.place()
            self.keys.refresh()

    # -- the detail ----------------------------------------------------------------------------

    @on(HitList.Moved)
    def _moved(self) -> None:
        if self._looking is not None:
            self._looking.stop()
        self._looking = self.set_timer(_LOOK, self._look)

    def _look(self) -> None:
        """Show the row of the hit under the cursor, where there is room for it."""
        hit, group, query = self._state.view.hit, self._state.view.group, self._state.query
        if hit is None or group is None or query is None or self.size.width < NARROW:
            self.detail.show(None, None)
            return
        looked_for = wording(query, hit)
        if looked_for != self._looked_for:
            self._looked_for = looked_for
            self.detail.mark(Needle(*looked_for) if looked_for[0] else None)
        row = self._row.at(group.entry, (hit.offset, hit.part), hit.n, hit.line)
        self.detail.show(row, self._row.log)

    def on_resize(self) -> None:
        """More room may show the detail, and more words."""
        self._tell()
        self._look()

    # -- commands ------------------------------------------------------------------------------

    def refused(self, id: str) -> str:
        """What needs a hit says so while there is none."""
        needs = ("open", "copy", "next_log", "prev_log", "toggle_fold", "toggle_raw")
        return "no hit is selected" if id in needs and self._state.view.hit is None else ""

    def to_query(self) -> None:
        """To the query, all of it selected."""
        self.query_line.select()
        self.set_focus(self.query_line)

    @on(QueryLine.Done)
    def _to_hits(self) -> None:
        """Enter right behind the last letter does not wait: the hits come to where it goes."""
        if self._resting is not None:
            self._search()
        if self._state.view.hit is None and not self._is_running:
            self.status.answer("no hit to go to")
        else:
            self.set_focus(self.hits)

    @property
    def _is_running(self) -> bool:
        return self._state.standing.state == "running"

    @on(HitList.Opened)
    def open(self) -> None:
        """The session at the hit; a fold opens."""
        view, query = self._state.view, self._state.query
        hit, group = view.hit, view.group
        if hit is None or group is None or query is None:
            return
        if view.spot.kind in ("same", "more"):
            self.hits.toggle_fold()
        else:
            self.dismiss(Place(group.entry, hit.offset, hit.part, *wording(query, hit)))

    def leave(self) -> None:
        """Stop the search, keeping what was found; else out."""
        if self.status.dealt_with():
            return
        if self._is_running:
            self._cancel()
            self._stand_still()
        else:
            self.dismiss(None)

    def next_log(self) -> None:
        """The next log with hits."""
        self._to_log(1)

    def prev_log(self) -> None:
        """The log with hits before."""
        self._to_log(-1)

    def _to_log(self, step: int) -> None:
        if self._state.view.next_log(step):
            self.hits.renew()
        else:
            self.status.answer(f"no log with hits {'below' if step > 0 else 'above'}")

    def any_case(self) -> None:
        """Ignore case, or not."""
        self._state.any_case = not self._state.any_case
        self._again(0.01)

    def regex(self) -> None:
        """A regular expression, or a text."""
        self._state.regex = not self._state.regex
        self._again(0.01)

    def detail_down(self) -> None:
        """Scroll the detail."""
        self.detail.scroll_lines(3)

    def detail_up(self) -> None:
        """Scroll the detail."""
        self.detail.scroll_lines(-3)

    def toggle_raw(self) -> None:
        """The record as it stands, or as it is shown."""
        self.detail.toggle_raw()

    def copy(self) -> None:
        """The line of the hit, secrets masked."""
        hit = self._state.view.hit
        if hit is not None:
            self.copied("the line", copying.of_text(hit.text))
