"""Bytes on their way: read, passed on and looked at, each at its own pace."""

from __future__ import annotations

import os
import threading

from sessionlog.through import Lane, Through


def test_what_waits_is_given_after_the_end_in_order() -> None:
    lane = Lane()
    lane.put(b"a")
    lane.put(b"b")
    lane.close()
    lane.put(b"late")
    assert [lane.get(), lane.get(), lane.get(), lane.get()] == [b"a", b"b", b"", b""]


def test_nothing_within_the_time_is_none_and_no_end() -> None:
    lane = Lane()
    assert lane.get(0) is None
    lane.put(b"a")
    assert lane.get(0) == b"a"


def test_a_full_lane_is_waited_for_until_somebody_takes() -> None:
    lane = Lane(most=4)
    lane.put(b"four")
    putting = threading.Thread(target=lane.put, args=(b"more",))
    putting.start()
    assert lane.get() == b"four"
    putting.join()
    assert (lane.get(0), lane.lost) == (b"more", 0)


def test_a_full_lane_that_nobody_takes_from_loses_what_comes_and_counts_it() -> None:
    lane = Lane(most=4)
    lane.put(b"four")
    lane.put(b"lost", patience=0)
    assert lane.lost == 4
    lane.abandon()
    lane.put(b"x")
    assert lane.get() == b""


def test_bytes_go_through_and_are_seen_though_their_reader_is_gone() -> None:
    source, give = os.pipe()
    take, target = os.pipe()
    through = Through(source, target)
    through.start()
    os.write(give, b"first")
    assert os.read(take, 5) == b"first"
    os.close(take)
    os.write(give, b"second")
    os.write(give, b"third")
    os.close(give)
    assert b"".join(through) == b"firstsecondthird"
    assert through.wait(60)
