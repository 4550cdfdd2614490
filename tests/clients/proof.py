"""What a client has to have asked its model, given the session that it went on with."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from clients.arena import Outcome
from clients.wire import Heard

from sessionlog.plan import INTERRUPTED
from sessionlog.records import shown_type
from sessionlog.session import Numbered


def prove(
    outcome: Outcome, before: Iterable[Numbered], prompt: str, reply: str, *,
    closed: Collection[str] = (), said: Iterable[str] = (),
) -> None:  # fmt: skip
    """The client's first request holds `before` and the texts `said` in order and our words for
    each of the `closed` calls, then the prompt; nothing in it is unpaired; the service took it,
    and the client printed the reply."""
    assert outcome.how == "exit", outcome
    assert outcome.asked, outcome.output
    asked = outcome.asked[0]
    assert (asked.open, asked.orphans) == ((), ()), told(asked.heard)
    assert asked.status == 200, told(asked.heard)
    steps = [step for step in before if not step.message.sidechain]
    rest = _in_order(asked.heard, [piece for step in steps if (piece := _spoken(step))])
    rest = _in_order(rest, [("text", text) for text in (*said, prompt)])
    for id, text in _results(steps):
        _answered(asked.heard, id, text)
    for id in closed:
        _answered(asked.heard, id, INTERRUPTED)
    assert outcome.code == 0, outcome.output
    assert reply in outcome.output


def told(heard: Iterable[Heard]) -> str:
    """A conversation, to be read by a person."""
    return "\n".join(f"{h.place} {h.role} {h.kind} {h.id} {h.text[:90]!r}" for h in heard)


_Spoken = tuple[str, str]
"""("text", what is said) or ("call", its id)."""


def _spoken(step: Numbered) -> _Spoken | None:
    kind, message = shown_type(step.message), step.message
    if kind == "call" and message.activity:
        return "call", message.activity.id
    if kind in ("user", "assistant") and message.text.strip():
        return "text", message.text.strip()
    return None


def _in_order(heard: Iterable[Heard], wanted: Iterable[_Spoken]) -> list[Heard]:
    """What stands behind all that is wanted, in its order; a client may add its own between.

    A text may stand within a longer one: clients join what one side said.
    """
    left, all = list(heard), told(heard)
    for kind, text in wanted:
        while left and not _is(left[0], kind, text):
            left.pop(0)
        assert left, f"not in the request, or not in its order: {kind} {text!r}\n{all}"
        if kind == "call":
            left.pop(0)
    return left


def _is(piece: Heard, kind: str, text: str) -> bool:
    if piece.kind != kind:
        return False
    return _same(piece.id, text) if kind == "call" else text in piece.text


def _same(heard: str, logged: str) -> bool:
    """Is it the same call? Gemini CLI (0.61) logs the service's id behind the tool's name."""
    return heard == logged or logged.endswith(f"__{heard}")


def _results(steps: Iterable[Numbered]) -> Iterable[tuple[str, str]]:
    for step in steps:
        activity = step.message.activity
        if activity and activity.kind == "response":
            yield activity.id, step.message.text


def _answered(heard: Iterable[Heard], id: str, text: str) -> None:
    """The call has one result, and the model reads this in it."""
    results = [piece.text for piece in heard if piece.kind == "result" and _same(piece.id, id)]
    assert len(results) == 1, f"{len(results)} results of {id}\n{told(heard)}"
    assert text.strip() in results[0], f"{id}: {results[0]!r} is not {text!r}"
