"""A session as it stood earlier: right after one of its messages."""

from __future__ import annotations

from sessionlog.errors import NotPossible
from sessionlog.session import Session, fold
from sessionlog.survey import form_named


def until(session: Session, at: int | None) -> Session:
    """The session as it stood right after message `at`; None: as it is. O(records).

    Raises NotPossible when there is no such message.
    """
    if at is None:
        return session
    step = next((step for step in session.history if step.n == at), None)
    if step is None:
        raise NotPossible(f"{session.path}: no message {at}; it has {len(session.history)}")
    end = step.record.span.offset
    records = [record for record in session.records if record.span.offset <= end]
    form = form_named(session.format)
    return fold(records, (), form=form, path=session.path, size=session.size)
