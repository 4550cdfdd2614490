"""Does a log's writer live? All evidence together: the file's, the agent's own, its processes'."""

from __future__ import annotations

import os
from collections.abc import Iterable

from sessionlog.clients import Clients
from sessionlog.formats.base import Format, Traceless
from sessionlog.life import Witness


class Evidence:
    """Looks once, and answers for many logs; see `Witness` for the `candidates`."""

    def __init__(self, candidates: Iterable[str]) -> None:
        self._witness = Witness(candidates)
        self._clients = Clients()

    def of(
        self, form: Format, path: str, session_id: str, workdir: str, seen: os.stat_result
    ) -> str | None:
        """What shows that somebody goes on with this log, in a few words; None when nothing does.

        `seen`: the file that its writer has open.
        """
        return (
            self._witness.writer(path, seen)
            or form.alive(path, session_id)
            or self._clients.evidence(form, path, workdir, seen)
        )


def may_live(form: Format, ended: bool, ok: bool | None) -> bool:
    """Is there anything to ask? A log that has ended has no writer, unless it would look the same
    while a call runs."""
    return not ended or (ok is None and isinstance(form, Traceless) and form.hides_calls)
