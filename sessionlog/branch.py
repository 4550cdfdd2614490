"""Which records of a log are on the branch that counts. Pure.

Some agents write a tree: each record names the one that it follows, and going back to an earlier
place is a record with an older parent. The conversation is the way from the last record to its
root; what was left behind stays in the file as history. A parent that is not there ends the way:
the client loses what is before it, and so does the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sessionlog.records import Damage, Record


def left_behind(records: Sequence[Record], damages: Iterable[Damage] = ()) -> frozenset[int]:
    """Indices of the records that are on no way to the last one. O(records).

    A client that reads whole lines does not see what stands on a damaged one: neither do ways.
    """
    if all(record.parent is None for record in records):
        return frozenset()
    unread = {damage.span.line for damage in damages if not damage.mild}
    parents: dict[str, str] = {}
    at = ""
    for record in records:
        if record.parent is not None and record.span.line not in unread:
            at = record.key
            parents[at] = record.parent
    way: set[str] = set()
    while at in parents and at not in way:
        way.add(at)
        at = parents[at]
    return frozenset(
        i
        for i, record in enumerate(records)
        if record.parent is not None and (record.key not in way or record.span.line in unread)
    )
