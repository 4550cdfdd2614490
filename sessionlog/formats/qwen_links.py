"""Which record a line of a Qwen Code log follows, from its raw bytes. Pure."""

from __future__ import annotations

import re

from sessionlog import splice
from sessionlog.formats.base import text_of
from sessionlog.formats.qwen_events import OUTSIDE

_LINK = re.compile(rb'\{"uuid":"([^"\\]*)","parentUuid":(?:null|"([^"\\]*)"),')
_NEAR = 1024
"""Bytes in which a record tells its subtype, as the client orders the keys."""
_MARKS = (b'"session_', b'"managed_session_')


def link_of(data: bytes) -> tuple[str, str] | None:
    """(uuid, parent) of the record on a raw line; None for one outside the chain, or that does not
    decode."""
    found = _LINK.match(data)
    if (
        found is not None and not any(data.find(m, 0, _NEAR) >= 0 for m in _MARKS)
        and data.count(b'"uuid":') == data.count(b'"parentUuid":') == 1  # else the last counts
    ):  # fmt: skip
        return found[1].decode("utf-8", "replace"), (found[2] or b"").decode("utf-8", "replace")
    value = splice.object_of(data)
    if "parentUuid" not in value or value.get("subtype") in OUTSIDE:
        return None
    return text_of(value.get("uuid")), text_of(value["parentUuid"])
