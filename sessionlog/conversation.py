"""Role/content messages that a model's service accepts again after an interruption.

A run that was killed leaves calls without results, and cut or trimmed histories leave results
without calls; services refuse both, and every later attempt fails the same way. `repair_messages`
pairs them again. It works on plain messages of either dialect: content blocks ``tool_use`` and
``tool_result``, or ``tool_calls`` answered by messages of the role ``tool``. Logs on disk have
their own repair; nothing here reads or writes one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

INTERRUPTED = "Interrupted by the user."
"""What the result of a call says that never got one."""

_Id = str | int
_Form = Literal["block", "message"]
"""A call in a block is answered by a block, one in ``tool_calls`` by a message."""
_Place = tuple[int, int]
"""Where a result stands: number of the message, number of its block (or _WHOLE)."""
_WHOLE = -1
"""In place of a block's number: the message as a whole is the result (role ``tool``)."""


@dataclass(slots=True)
class _Turn:
    """What the model said before anyone answered."""

    end: int = 0
    """The last message of the turn."""
    calls: dict[_Id, _Form] = field(default_factory=dict)
    """Its calls, with the form that a result of each takes."""
    results: dict[_Id, _Place] = field(default_factory=dict)


@dataclass(slots=True)
class _Plan:
    """What becomes of the results; everything else stays as it stands."""

    stay: set[_Place] = field(default_factory=set)
    blocks: dict[int, list[Any]] = field(default_factory=dict)
    """Results that join the ones of a message."""
    after: dict[int, list[Any]] = field(default_factory=dict)
    """New messages behind a message."""


def repair_messages(messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    """A new list in which every call has exactly one result, right after its turn.

    Open calls get the result `INTERRUPTED`. Results that stand later are moved to their turn,
    results of no earlier call and second results are dropped, and a message that this empties is
    left out. Everything else is handed on as it is (the same objects), malformed or not; the
    input is never changed. Repairing twice changes nothing more. O(messages and blocks).
    """
    plan = _Plan()
    for turn in _turns(messages):
        _settle(turn, messages, plan)
    repaired: list[Any] = []
    for at, message in enumerate(messages):
        repaired += _rebuilt(at, message, plan)
        repaired += plan.after.get(at, [])
    return repaired


def _turns(messages: Sequence[Mapping[str, Any]]) -> list[_Turn]:
    """The turns, each with its calls and with the first result of each.

    Consecutive assistant messages are one turn: some logs write an answer as one message a block,
    and its results come after the last. A message with ``tool_calls`` ends its turn, because that
    dialect wants the results directly behind it. Where an id is used again, a result belongs to
    the latest call before it.
    """
    turns: list[_Turn] = []
    owner: dict[_Id, _Turn] = {}
    running = False
    for at, message in enumerate(messages):
        if _role(message) == "assistant":
            if not running:
                turns.append(_Turn())
            turn = turns[-1]
            turn.end = at
            running = True
            for id, form in _calls(message):
                turn.calls.setdefault(id, form)
                owner[id] = turn
                running = running and form == "block"
        else:
            running = False
        for id, place in _results(at, message):
            if id in owner:
                owner[id].results.setdefault(id, place)
    return turns


def _settle(turn: _Turn, messages: Sequence[Mapping[str, Any]], plan: _Plan) -> None:
    """Plan where the results of a turn's calls stand."""
    anchor, home, standing = _standing(turn, messages)
    plan.stay |= standing
    blocks: list[Any] = []
    answers: list[Any] = []
    for id, form in turn.calls.items():
        place = turn.results.get(id)
        if place is None:
            (blocks if form == "block" else answers).append(_interrupted(id, form))
        elif place not in standing:
            at, number = place
            if number == _WHOLE:
                answers.append(messages[at])
            else:
                blocks.append(messages[at]["content"][number])
    if blocks and home is not None:
        plan.blocks[home] = blocks
    elif blocks:
        answers.append({"role": "user", "content": blocks})
    if answers:
        plan.after[anchor] = answers


def _standing(
    turn: _Turn, messages: Sequence[Mapping[str, Any]]
) -> tuple[int, int | None, set[_Place]]:
    """How the turn is answered already: (anchor, home, places of the results that may stay).

    Results stay while nothing but results stands between them and their turn. New messages go
    behind `anchor`, new blocks into `home`, the last message with blocks of this turn's results.
    """
    anchor, home = turn.end, None
    mine = set(turn.results.values())
    standing: set[_Place] = set()
    for at in range(turn.end + 1, len(messages)):
        message = messages[at]
        blocks = _blocks(message)
        if _is_answer(message):
            anchor = at
            standing |= mine & {(at, _WHOLE)}
            continue
        if _role(message) == "assistant" or not blocks:
            break
        results = [_is(block, "tool_result") for block in blocks]
        if any((at, n) in mine for n in range(len(blocks))):
            home = at
        leading = results.index(False) if False in results else len(results)
        standing |= mine & {(at, n) for n in range(leading)}
        if leading < len(blocks):
            break
    return anchor, home, standing


def _rebuilt(at: int, message: Mapping[str, Any], plan: _Plan) -> list[Any]:
    """The message without the results that leave it and with those that join it; [] if empty."""
    if _answered(message) is not None:
        return [message] if (at, _WHOLE) in plan.stay else []
    blocks = _blocks(message)
    kept = [
        block
        for number, block in enumerate(blocks)
        if not _is(block, "tool_result") or (at, number) in plan.stay
    ]
    joining = plan.blocks.get(at, [])
    if len(kept) == len(blocks) and not joining:
        return [message]
    first = next((n for n, block in enumerate(kept) if not _is(block, "tool_result")), len(kept))
    content = [*kept[:first], *joining, *kept[first:]]
    return [{**message, "content": content}] if content else []


def _results(at: int, message: Mapping[str, Any]) -> Iterator[tuple[_Id, _Place]]:
    """The results in a message, each with the id of its call and its place."""
    if (id := _answered(message)) is not None:
        yield id, (at, _WHOLE)
        return
    for number, block in enumerate(_blocks(message)):
        if _is(block, "tool_result") and (id := _id(block.get("tool_use_id"))) is not None:
            yield id, (at, number)


def _answered(message: object) -> _Id | None:
    """The call that a message of the role ``tool`` answers as a whole."""
    if isinstance(message, Mapping) and message.get("role") == "tool":
        return _id(message.get("tool_call_id"))
    return None


def _is_answer(message: object) -> bool:
    """Is the message as a whole a result? Some clients pair by order and write no ids at all:
    such calls cannot be told apart, so their results stay where they are.
    """
    if _answered(message) is not None:
        return True
    blocks = _blocks(message)
    return _role(message) == "tool" and not any(_is(block, "tool_result") for block in blocks)


def _calls(message: object) -> Iterator[tuple[_Id, _Form]]:
    """The calls of an assistant's message."""
    for block in _blocks(message):
        if _is(block, "tool_use") and (id := _id(block.get("id"))) is not None:
            yield id, "block"
    calls = message.get("tool_calls") if isinstance(message, Mapping) else None
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, Mapping) and (id := _id(call.get("id"))) is not None:
            yield id, "message"


def _role(message: object) -> object:
    return message.get("role") if isinstance(message, Mapping) else None


def _blocks(message: object) -> list[Any]:
    content = message.get("content") if isinstance(message, Mapping) else None
    return content if isinstance(content, list) else []


def _is(block: object, type: str) -> bool:
    return isinstance(block, Mapping) and block.get("type") == type


def _id(value: object) -> _Id | None:
    """An id that can pair a call with its result; None for what cannot."""
    return value if isinstance(value, str | int) and value != "" else None


def _interrupted(id: _Id, form: _Form) -> dict[str, Any]:
    if form == "message":
        return {"role": "tool", "tool_call_id": id, "content": INTERRUPTED}
    return {"type": "tool_result", "tool_use_id": id, "content": INTERRUPTED, "is_error": True}
