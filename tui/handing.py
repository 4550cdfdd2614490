"""Runs that were handed over from this screen: started, watched, stopped.

What writes or waits runs in a worker; what comes of it is told to the browser's own thread
(`messages.Came`). A run on the screen has the terminal and the whole program waits; one without a
terminal is followed in its log like any other.
"""

from __future__ import annotations

import os
import termios
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from sessionlog import ended
from sessionlog.errors import SessionLogError
from sessionlog.handover import Handed, finish, prepare
from sessionlog.lend import lend
from sessionlog.logfile import has_log
from sessionlog.onward import Onward, nothing_of
from sessionlog.records import Entry
from sessionlog.supervise import runs
from sessionlog.supervise.handle import Handle, start
from sessionlog.supervise.order import Order, Outcome
from sessionlog.supervise.runs import Run
from sessionlog.text import took, visible
from tui import messages, workers
from tui.entries import home

if TYPE_CHECKING:
    from tui.handover import Go
    from tui.screens.browser import Browser

_LOOK = 0.1
"""Seconds between two looks for the log of a run without a terminal."""


@dataclass
class _Hand:
    """A run without a terminal that goes on."""

    handed: Handed
    handle: Handle


class Handing:
    """What was handed over from this browser."""

    def __init__(self, browser: Browser) -> None:
        self._at = browser
        self._live: list[_Hand] = []

    @property
    def live(self) -> int:
        """Runs without a terminal that go on."""
        return len(self._live)

    # -- starting ------------------------------------------------------------------------------

    def go(self, answer: Go) -> None:
        """Write what the agent is given, in a worker; then start it."""
        self._at.status.answer("writing what the agent is given …")

        def write(post: workers.Post, _: workers.Stopped) -> None:
            try:
                handed = prepare(answer.session, answer.resume, force=answer.force)
            except SessionLogError as error:
                post(messages.Came(partial(self._warn, f"not handed over: {error}")))
            else:
                post(messages.Came(partial(self._begin, handed)))

        self._at.work("handing over", write, group="handing over")

    def _begin(self, handed: Handed) -> None:
        if handed.made is not None:
            self._at.show(handed.made)
        if handed.order.screen:
            self._lend(handed)
        else:
            self._start(handed)

    def _lend(self, handed: Handed) -> None:
        """Give the terminal to the agent, and have it back."""
        order, onward = handed.order, Onward(handed.order.log, handed.order.session, handed.made)
        outcome, problem = None, ""
        try:
            with self._at.app.suspend():
                try:
                    outcome = lend(order, order.agent)
                except Exception as error:  # whatever happens, the screen comes back
                    is_ours = isinstance(error, SessionLogError | OSError | termios.error)
                    problem = str(error) if is_ours else f"{type(error).__name__}: {error}"
        except SuspendNotSupported:
            problem = "this terminal cannot be given away: choose headless"
        if outcome is None:
            finish(handed)
            self._warn(f"not started: {problem}")
        else:
            self._ended(handed, outcome, onward.where())

    def _start(self, handed: Handed) -> None:
        order, onward = handed.order, Onward(handed.order.log, handed.order.session, handed.made)
        try:
            hand = _Hand(handed, start(order))
        except (SessionLogError, OSError) as error:
            finish(handed)
            self._warn(f"not started: {error}")
            return
        self._live.append(hand)
        self._at.keys.leave_out(set())
        if has_log(order.log):  # it runs, though nothing is written yet
            self._at.show(order.log)
        self._at.status.answer(f"{visible(order.agent)} has begun; S S stops it")

        def wait(post: workers.Post, stopped: workers.Stopped) -> None:
            seen = None
            while (outcome := hand.handle.wait(_LOOK)) is None and not stopped():
                if seen is None and (seen := onward.where()) is not None:
                    post(messages.Came(partial(self._at.show, seen)))
            if outcome is not None:
                post(messages.Came(partial(self._over, hand, outcome, seen)))

        self._at.work("watching what was handed over", wait, group=f"run {order.run}")

    # -- the end -------------------------------------------------------------------------------

    def _over(self, hand: _Hand, outcome: Outcome, log: str | None) -> None:
        self._live.remove(hand)
        self._at.keys.leave_out(set() if self._live else {"S"})
        hand.handle.close()
        self._ended(hand.handed, outcome, log)

    def _ended(self, handed: Handed, outcome: Outcome, log: str | None) -> None:
        """Show the log that the run wrote, and say how it ended."""
        finish(handed)
        said = ended.said(handed.order.agent, outcome)
        nothing = "" if log else nothing_of(handed.order)
        if not nothing:
            self._at.show(log or handed.order.log)
        if outcome.code == 0 and not outcome.stopped and not nothing:
            self._at.status.answer(f"{said}; its log: {home(visible(log or handed.order.log))}")
        else:
            last = ended.last_words(outcome)[-1:]
            self._warn(": ".join([said, *(last or filter(None, [nothing]))]))

    # -- stopping ------------------------------------------------------------------------------

    def refused(self, entry: Entry | None) -> str:
        """Why nothing can be stopped; "" when something can."""
        if self._live or (entry is not None and self._elsewhere(entry) is not None):
            return ""
        return "stop: nothing that was handed over runs here"

    def stop(self, entry: Entry | None, *, gently: bool = False) -> None:
        """Stop the run of this session, else the one that was handed over last."""
        hand = self._hand(entry)
        if hand is not None:
            how = "interrupted, killed in 2s if it does not end" if gently else "killing …"
            self._at.status.answer(f"{visible(hand.handed.order.agent)}: {how}")
            (hand.handle.stop_gently if gently else hand.handle.stop)()
            return
        run = self._elsewhere(entry) if entry is not None else None
        if run is not None:
            self._at.work("stopping", partial(self._stop_elsewhere, run, gently), group="stopping")

    def _hand(self, entry: Entry | None) -> _Hand | None:
        about = [hand for hand in self._live if entry and _about(hand.handed.order, entry)]
        found = about or (self._live if entry is None or self._elsewhere(entry) is None else [])
        return found[-1] if found else None

    def _elsewhere(self, entry: Entry) -> Run | None:
        """A run of the session that another program of ours handed over."""
        mine = {hand.handed.order.run for hand in self._live}
        live = (run for run in runs.live() if run.run not in mine)
        return next((run for run in live if _about(run, entry)), None)

    def _stop_elsewhere(
        self, run: Run, gently: bool, post: workers.Post, _: workers.Stopped
    ) -> None:
        began = time.monotonic()
        try:
            outcome = runs.stop(run, gentle=gently)
        except SessionLogError as error:
            post(messages.Came(partial(self._warn, str(error))))
            return
        killed = outcome.killed if outcome is not None else 0
        words = f"stopped {run.agent}: {killed} killed in {took(time.monotonic() - began)}"
        post(messages.Came(partial(self._warn, words)))

    def _warn(self, words: str) -> None:
        self._at.status.warn(visible(words))


def _about(run: Order | Run, entry: Entry) -> bool:
    """Is the session what was handed over, where it came from, or what came of it?"""
    path = os.path.abspath(entry.path)
    return path in (run.log, os.path.abspath(run.source)) or entry.resumed_from == run.session
