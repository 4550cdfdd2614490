"""The links of a new log made from one whose records name the one before them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sessionlog import codec
from sessionlog.formats.base import Fate, Part
from sessionlog.formats.ids import digest_of, uuid_at, uuid_of
from sessionlog.formats.links import Links, whole
from sessionlog.formats.pi_entries import link_of
from sessionlog.records import moment


def entry(id: str, parent: str | None, **more: object) -> bytes:
    return codec.dumps({"type": "message", "id": id, "parentId": parent, **more})


def made() -> Links:
    return Links("id", "parentId", link_of, lambda digest: digest.hex()[:8])


def linked(parts: Iterable[Part]) -> list[tuple[str, str | None]]:
    links = made()
    lines = [line for part in parts if (line := links.take(part)) is not None]
    return [(v["id"], v["parentId"]) for v in map(json.loads, lines)]


def test_a_line_whose_link_holds_keeps_its_bytes() -> None:
    odd = b'{ "type":"message",  "id":"b","parentId":"a", "big":1180591620717411303424}'
    links = made()
    assert [links.take(Part(line)) for line in (entry("a", None), odd)] == [entry("a", None), odd]


def test_what_followed_a_line_that_was_left_out_follows_what_that_one_followed() -> None:
    gone = [Part(entry(id, up), Fate.DROPPED) for id, up in (("b", "a"), ("c", "b"))]
    assert linked([Part(entry("a", None)), *gone, Part(entry("d", "c"))]) == [
        ("a", None), ("d", "a"),
    ]  # fmt: skip


def test_a_root_that_was_left_out_makes_its_follower_the_root() -> None:
    assert linked([Part(entry("a", None), Fate.DROPPED), Part(entry("b", "a"))]) == [("b", None)]


def test_added_lines_stand_between_a_record_and_all_that_followed_it() -> None:
    # both ways on from the call: the one that the person left, and the one that counts
    added = [Part(entry("", None, n=n), Fate.ADDED) for n in (1, 2)]
    rest = [Part(entry("b", "a")), Part(entry("c", "a"))]
    (a, _), (x, up), (y, upper), b, c = linked([Part(entry("a", None)), *added, *rest])
    assert (up, upper) == (a, x)
    assert (b, c) == (("b", y), ("c", y))
    assert len(x) == len(y) == 8


def test_a_moved_line_leaves_its_old_place_and_takes_its_new_one() -> None:
    late = entry("r", "u", text="late")
    parts = [
        Part(entry("a", None)), Part(late, Fate.MOVED), Part(entry("u", "a")),
        Part(late, Fate.DROPPED), Part(entry("n", "r")), Part(entry("z", "a")),
    ]  # fmt: skip
    _, (moved, up), u, n, z = linked(parts)
    assert moved != "r"
    assert (up, u, n, z) == ("a", ("u", moved), ("n", "u"), ("z", moved))


def test_a_line_that_was_put_back_in_part_is_not_gone() -> None:
    parts = [Part(entry("a", None)), Part(entry("b", "a", n=1)),
             Part(entry("b", "a", n=2), Fate.DROPPED), Part(entry("c", "b")),
             Part(entry("d", "b"))]  # fmt: skip
    assert linked(parts)[-2:] == [("c", "b"), ("d", "b")]


def test_a_parent_that_is_nowhere_costs_nothing_that_stands_before() -> None:
    torn = Part(b'{"type":"mess', Fate.DROPPED)
    assert linked([Part(entry("a", None)), torn, Part(entry("c", "lost"))])[-1] == ("c", "a")


def test_an_older_parent_and_a_second_root_stay() -> None:
    parts = [Part(entry(*links)) for links in (("a", None), ("b", "a"), ("c", "a"), ("d", None))]
    assert linked(parts) == [("a", None), ("b", "a"), ("c", "a"), ("d", None)]


def test_links_that_go_round_come_to_an_end() -> None:
    gone = [Part(entry(id, up), Fate.DROPPED) for id, up in (("b", "c"), ("c", "b"))]
    assert linked([Part(entry("a", None)), *gone, Part(entry("d", "b"))])[-1] == ("d", "a")


def test_a_mention_of_a_line_that_was_left_out_means_the_next_that_stayed() -> None:
    links = made()
    for part in (Part(entry("a", None)), Part(entry("b", "a"), Fate.DROPPED),
                 Part(entry("c", "b"))):  # fmt: skip
        links.take(part)
    assert [links.stands_for(id) for id in "abc"] == ["a", "c", "c"]


def test_the_same_seeds_give_the_same_ids() -> None:
    assert made().made(b"seed") == made().made(b"seed")
    links = made()
    first, second = links.made(b"seed"), links.made(b"seed")
    assert first[0] != second[0]
    assert second[1] == first[0]


def test_glued_records_come_apart_and_a_text_that_looks_like_it_does_not() -> None:
    one, two = entry("a", None), entry("b", "a", text='x}{"')
    assert [p.data for p in whole(Part(one + two))] == [one, two]
    assert [p.data for p in whole(Part(two))] == [two]


def test_ids_sort_by_their_time_and_have_the_versions_that_clients_take() -> None:
    times = [moment(f"2026-11-30T00:00:0{n}Z") for n in range(3)]
    ids = [uuid_at(time, "x") for time in times if time]
    assert ids == sorted(ids)
    assert all(id[14] == "7" and id[19] in "89ab" for id in ids)
    assert uuid_of(digest_of("a", 1))[14] == "4"
    assert uuid_of(digest_of("a", 1)) == uuid_of(digest_of("a", 1)) != uuid_of(digest_of("a", 2))
