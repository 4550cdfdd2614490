"""The signs of the screen: one sign, one state, with the style it is drawn in. No Textual here.

None has an emoji form and all are one column wide. Where the locale cannot write them `paint`
puts plain letters in their place.
"""

from __future__ import annotations

from sessionlog.records import Entry, Status
from tui.lines import Piece

SIGNS: dict[str, Piece] = {
    "ok": ("✓", "ok"),
    "fail": ("✗", "fail bold"),
    "amiss": ("!", "open bold"),
    "ended": ("■", "fg-2"),
    "run": ("►", "run bold"),
    "open": ("○", "open bold"),
    "torn": ("≈", "bytes bold"),
    "bytes": ("▒", "bytes bold"),
    "nolog": ("·", "fg-3"),
    "user": ("»", "accent bold"),
    "summary": ("║", "accent"),
    "fold": ("+", "fg-3"),
    "event": ("·", "fg-3"),
    "cursor": ("▌", "accent"),
    "": (" ", ""),
}

COLOURS = {"fail": "fail", "run": "run", "open": "open", "amiss": "open", "torn": "bytes"}
"""The colour of the words beside a sign; good ends and the rest have none."""

WORDS = {
    "run": "running", "fail": "failed", "amiss": "amiss", "open": "unfinished",
    "torn": "truncated", "ok": "ok",
    "ended": "ended", "nolog": "no log",
}  # fmt: skip
"""The states of sessions in the order of the bar, most urgent first."""

_STATES = {
    Status.RUNNING: "run",
    Status.UNFINISHED: "open",
    Status.TRUNCATED: "torn",
}


def state_of(entry: Entry) -> str:
    """The name of the sign that stands before a session."""
    if entry.status is None:
        return "nolog"
    if entry.failed:
        return "fail" if entry.ok is False else "amiss"
    if entry.status is Status.COMPLETE:
        return "ok" if entry.ok else "ended"
    return _STATES[entry.status]


def is_troubled(entry: Entry) -> bool:
    """Did a run end otherwise than well, or does it run? Such a row has a second line."""
    return state_of(entry) not in ("ok", "ended", "nolog")


def badge(damage: int | None) -> list[Piece]:
    """`▒n`: n spots of the file gave no record; nothing while not looked yet."""
    return [(f"▒{damage}", "bytes bold")] if damage else []
