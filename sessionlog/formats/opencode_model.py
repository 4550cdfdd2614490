"""Which model OpenCode's sessions go to: that of the newest one, else the configured one.

The client takes a session's model from the session itself (1.18), so one that is composed has to
name one that this client has.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from sessionlog import codec
from sessionlog.errors import Unreadable
from sessionlog.formats.base import dict_of, text_of
from sessionlog.formats.opencode_shape import MESSAGES
from sessionlog.paths import beginning, opencode_databases
from sessionlog.stores.opencode_ask import picked
from sessionlog.stores.sqlite import read

_CONFIGURED = re.compile(rb'"model"\s*:\s*"([^"\\/]+/[^"\\]+)"')
_FILES = ("opencode.json", "opencode.jsonc", "config.json")
_MOST = 1 << 20
"""Bytes of a configuration that are read."""
_LOOK = 200
"""Messages among which a model is looked for."""


def model_of(environ: Mapping[str, str]) -> str:
    """As provider/model; "" when nothing tells."""
    return next(filter(None, (*_used(environ), *_configured(environ))), "")


def _used(environ: Mapping[str, str]) -> Iterator[str]:
    path = opencode_databases(environ)[0]
    if os.path.exists(path):
        try:
            yield read(path, _newest)
        except Unreadable:
            return


def _newest(db: sqlite3.Connection) -> str:
    """Asked of the messages: older databases do not have it with the session."""
    latest = picked(db, "message", ["data"], then=f"ORDER BY time_created DESC LIMIT {_LOOK}")
    return next(filter(None, (_named(data) for (data,) in latest)), "")


def _named(data: Any) -> str:
    try:
        info = dict_of(
            codec.loads(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
        )
    except (ValueError, TypeError):
        return ""
    model = dict_of(info.get("model"))
    if info.get("role") != "user" or model == MESSAGES["user"]["model"]:
        return ""
    provider, name = text_of(model.get("providerID")), text_of(model.get("modelID"))
    return f"{provider}/{name}" if provider and name else ""


def _configured(environ: Mapping[str, str]) -> Iterator[str]:
    home = environ.get("HOME") or os.path.expanduser("~")
    folder = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    own = environ.get("OPENCODE_CONFIG")
    places = [own] if own else []
    for path in places + [os.path.join(folder, "opencode", name) for name in _FILES]:
        found = _CONFIGURED.search(beginning(path, _MOST))
        if found is not None:
            yield found[1].decode("utf-8", "replace")
