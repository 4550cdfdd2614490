"""What the scripted model says and hears, whatever the protocol: turns out, a conversation in.

A protocol (`wire_anthropic`, `wire_responses`, `wire_chat`, `wire_gemini`) turns both into what
one service speaks. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

Body = dict[str, Any]
PIECE = 24
"""Characters of a text that come in one event."""


class Call(NamedTuple):
    """A tool call as the script has it."""

    name: str
    arguments: Body


class Turn(NamedTuple):
    """One answer of the model: a text, then calls."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    stalls: bool = False
    """The stream stops for good behind the first piece of the text."""


class Heard(NamedTuple):
    """A piece of the conversation that a client sent."""

    kind: str
    """ "text", "call" or "result"."""
    role: str
    text: str
    """What is said; of a call its tool's name, of a result what the model reads."""
    id: str
    """Of a call or result; the tool's name where the service gives none."""
    place: int
    """Which turn it stands in, counted as the service counts. A result belongs into the turn
    behind its call's."""


class Event(NamedTuple):
    """A server-sent event."""

    name: str
    """ "" where the protocol names none."""
    data: Body | str
    first: bool = False
    """The first piece of a text: where a turn that stalls stops."""


class Wire(Protocol):
    """One service's protocol."""

    adjacent: bool
    """Does the service refuse a result that does not stand right behind its call's turn?"""

    def serves(self, path: str) -> bool:
        """Is a request to this path (without the query) one for an answer?"""

    def offers(self, body: Body) -> bool:
        """Does the client offer tools? It does not in a request on the side (for a title)."""

    def heard(self, body: Body) -> list[Heard]:
        """The conversation, in order."""

    def whole(self, turn: Turn, tag: str) -> Body:
        """The answer in one piece; `tag` makes its ids its own."""

    def events(self, turn: Turn, tag: str) -> Iterator[Event]:
        """The answer as it streams."""

    def refusal(self, open: list[str], orphans: list[str]) -> Body:
        """The service's words for calls without a result, or results without a call."""


def unpaired(heard: Iterable[Heard], adjacent: bool) -> tuple[list[str], list[str]]:
    """(ids of calls without a result, ids of results without a call)."""
    waiting: list[tuple[str, int]] = []
    orphans = []
    for piece in heard:
        if piece.kind == "call":
            waiting.append((piece.id, piece.place))
        elif piece.kind == "result":
            fits = (w for w in waiting if w[0] == piece.id and w[1] < piece.place)
            asked = next((w for w in fits if not adjacent or w[1] == piece.place - 1), None)
            if asked is None:
                orphans.append(piece.id)
            else:
                waiting.remove(asked)
    return [id for id, _ in waiting], orphans


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """(piece, is it the first?) of a text."""
    for at in range(0, len(text), PIECE):
        yield text[at : at + PIECE], at == 0


def words(content: Any) -> str:
    """The text of a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))
