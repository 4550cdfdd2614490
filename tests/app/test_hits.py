"""What a search found, as lines: groups, folds, a cursor that no new hit moves."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from sessionlog.hit import Hit, Progress
from sessionlog.records import Entry
from sessionlog.text import width
from tui.hit_lines import Standing, counts, hit_at, marked, nothing, reading
from tui.hits import HEAD, KEPT, MORE, MOST, Hits, HitView, Spot
from tui.lines import Line
from tui.query_words import narrowing, styled
from tui.row_lines import Clock
from tui.searching import BATCH, SearchState, batches, wording
from tui.typed_line import TypedLine

ENTRIES = [
    Entry(id=f"s{i}", path=f"/logs/s{i}", format="native", agent="zot", title=f"Session {i}",
          started=f"2026-11-27T22:0{i}:00Z", bytes=64 << 20)
    for i in range(5)
]  # fmt: skip


def hit(log: int, number: int, text: str = "", **more: object) -> Hit:
    text = text or f"line {number} has the word"
    at = text.find("word")
    values = {
        "path": f"/logs/s{log}", "n": number, "kind": "response", "tool": "bash", "ok": True,
        "at": "2026-11-27T22:00:00Z", "line": number, "offset": number * 100, "length": 90,
        "part": 0, "text": text, "spans": ((at, at + 4),),
    }  # fmt: skip
    return Hit(**{**values, **more})  # type: ignore[arg-type]


def shown(view: HitView, columns: int = 80) -> list[str]:
    lines = [hit_at(view, y, columns, Clock(), 0, True) for y in range(view.hits.height)]
    return [text_of(line) for line in lines]


def text_of(line: Line) -> str:
    return "".join(text for text, _ in [*line.left, *line.right])


def view_of(*hits: Hit, room: int = 20) -> HitView:
    view = HitView(Hits(ENTRIES))
    view.room = room
    view.add(hits)
    return view


# -- groups and folds ------------------------------------------------------------------------


def test_logs_stand_newest_first_whatever_the_order_of_their_hits() -> None:
    view = view_of(hit(3, 1), hit(0, 1), hit(4, 1), hit(1, 1), hit(0, 2))
    assert [group.entry.title for group in view.hits.groups] == [
        "Session 0", "Session 1", "Session 3", "Session 4",
    ]  # fmt: skip
    assert view.hits.count == 5
    assert view.hits.height == 9


def test_a_log_shows_five_hits_and_says_how_many_more_there_are() -> None:
    view = view_of(*(hit(0, i) for i in range(9)))
    assert view.hits.height == 1 + 5 + 1
    assert "9 hits" in shown(view)[0]
    assert "+ 4 more in this log space" in shown(view)[-1]
    view.put(6)
    view.toggle()
    assert view.hits.height == 1 + 9
    assert view.spot == Spot("hit", 5)  # what the fold hid begins under the cursor
    view.toggle()
    assert view.hits.height == 1 + 5 + 1


def test_the_same_line_again_and_again_is_one_line_with_a_count() -> None:
    same = [hit(0, i, "waiting for the word") for i in range(10)]
    view = view_of(*same, hit(0, 20))
    rows = shown(view)
    assert len(rows) == 1 + 2 + 1 + 1
    assert "+ 8 more, the same line space" in rows[3]
    assert "line 20" in rows[4]


def test_a_line_that_stands_there_stays_where_it_is_when_more_hits_come() -> None:
    for seed in range(30):
        random_ = random.Random(seed)
        view = HitView(Hits(ENTRIES))
        before: list[Spot] = []
        for number in range(40):
            view.add([hit(0, number, random_.choice(["a word", "the word", ""]))])
            rows = [row for row in view.hits.groups[0].rows if row != MORE]
            assert rows[: len(before)] == before
            before = rows


def test_every_hit_is_shown_or_counted() -> None:
    for seed in range(50):
        random_ = random.Random(seed)
        view = HitView(Hits(ENTRIES))
        for number in range(random_.randrange(1, 30)):
            view.add([hit(0, number, random_.choice(["a word", "the word", ""]))])
        group = view.hits.groups[0]
        for fold in ("some", "all"):
            view.hits.set_fold(group, fold)
            seen = sum(row.kind == "hit" for row in group.rows)
            told = sum(group.told(row) for row in group.rows if row.kind in ("same", "more"))
            assert seen + told == group.count, (seed, fold)


def test_the_name_of_a_log_folds_it_and_unfolds_it() -> None:
    view = view_of(hit(0, 1), hit(0, 2), hit(1, 1))
    view.put(0)
    view.toggle()
    assert view.hits.height == 1 + 2
    assert view.spot == HEAD
    view.toggle()
    assert view.hits.height == 3 + 2


def test_few_hits_fold_from_any_of_them() -> None:
    view = view_of(hit(0, 1), hit(0, 2), hit(1, 1))
    view.toggle()
    assert view.spot == HEAD
    assert view.hits.height == 1 + 2


def test_a_million_hits_keep_their_count_and_little_else() -> None:
    view = view_of(*(hit(0, i) for i in range(3 * KEPT)))
    group = view.hits.groups[0]
    assert (group.count, len(group.hits)) == (3 * KEPT, KEPT)
    view.add([], {"/logs/s0": 1_000, "/logs/s1": 7})
    view.add([], {"/logs/s0": 1_000_000})
    assert view.hits.count == group.count == 3 * KEPT + 1_000_000
    view.hits.set_fold(group, "all")
    assert view.hits.height == 1 + KEPT + 1
    assert group.told(MORE) == group.count - KEPT


def test_logs_behind_the_bound_of_all_still_show_their_first_hits() -> None:
    entries = [ENTRIES[0]._replace(path=f"/logs/s{i}") for i in range(MOST // KEPT + 5)]
    hits = Hits(entries)
    for log in range(len(entries)):
        hits.add(hit(log, i) for i in range(KEPT))
    assert hits.count == len(entries) * KEPT
    assert sum(len(group.hits) for group in hits.groups) < MOST + KEPT + 5 * 10
    assert all(group.rows for group in hits.groups)
    assert len(hits.groups[-1].hits) == 5


# -- the cursor ------------------------------------------------------------------------------


def test_the_first_hit_is_under_the_cursor() -> None:
    view = view_of(hit(0, 1))
    assert view.hit == hit(0, 1)
    assert view.y == 1


def test_no_new_hit_moves_the_line_under_the_cursor() -> None:
    for seed in range(40):
        random_ = random.Random(seed)
        view = view_of(hit(3, 0), room=5)
        numbers = dict.fromkeys(range(5), 0)
        for _ in range(60):
            log = random_.randrange(5)
            numbers[log] += 1
            held, at = view.hit, view.y - view.top
            view.add([hit(log, numbers[log], random_.choice(["a word", ""]))])
            if view.spot.kind == "hit":
                assert view.hit == held
            assert view.y - view.top == at
            if random_.random() < 0.3:
                view.move(random_.choice([-2, -1, 1, 2]))
            if random_.random() < 0.1:
                view.toggle()


def moves(view: HitView, random_: random.Random) -> list[Callable[[], object]]:
    return [
        lambda: view.move(1), lambda: view.move(-1), lambda: view.scroll(5),
        lambda: view.scroll(-5), view.home, view.end, view.toggle,
        lambda: view.next_log(1), lambda: view.next_log(-1),
        lambda: view.put(random_.randrange(50)),
    ]  # fmt: skip


def test_the_cursor_stays_in_the_pane_wherever_it_goes() -> None:
    for seed in range(40):
        random_ = random.Random(seed)
        view = view_of(*(hit(log, i) for log in range(5) for i in range(9)), room=6)
        for _ in range(80):
            random_.choice(moves(view, random_))()
            assert view.top <= view.y < view.top + view.room
            assert 0 <= view.top <= max(view.hits.height - view.room, 0)
            assert view.hit is not None


def test_next_log_goes_to_its_first_hit_and_ends_at_the_last() -> None:
    view = view_of(*(hit(log, i) for log in (0, 2) for i in range(3)))
    assert view.next_log(1)
    assert view.hit == hit(2, 0)
    assert not view.next_log(1)
    assert view.next_log(-1)
    assert view.hit == hit(0, 0)
    assert not view.next_log(-1)


def test_the_first_hit_of_a_log_is_seen_with_its_name() -> None:
    view = view_of(*(hit(log, i) for log in range(5) for i in range(4)), room=4)
    view.end()
    for _ in range(25):  # rows of hits and of names
        if view.hit != hit(2, 0):
            view.move(-1)
    assert view.hit == hit(2, 0)
    assert view.hits.at(view.top)[1] == HEAD


def test_a_view_without_hits_takes_every_key() -> None:
    view = HitView(Hits(ENTRIES))
    for act in (view.home, view.end, view.toggle, view.reveal):
        act()
    view.move(1)
    view.scroll(-3)
    view.put(4)
    assert not view.next_log(1)
    assert (view.hit, view.top) == (None, 0)


# -- lines -----------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [60, 71, 80, 133])
def test_a_hit_far_down_a_long_line_is_seen(columns: int) -> None:
    text = "x" * 300 + " the word " + "y" * 200
    view = view_of(hit(0, 7, text))
    line = hit_at(view, 1, columns, Clock(), 0, True)
    before = text_of(line)[:columns]
    assert "word" in before
    assert [t for t, style in line.left if "underline" in style] == ["word"]
    assert all("bold" in style for _, style in line.left if "underline" in style)


def test_every_hit_of_a_line_is_marked_and_nothing_is_lost() -> None:
    text = "word and word and word"
    pieces = marked(text, ((0, 4), (9, 13), (18, 22)), 40, "fg-2")
    assert "".join(t for t, _ in pieces) == text
    assert sum("underline" in style for _, style in pieces) == 3


def test_a_cut_never_begins_with_a_mark_of_the_letter_before() -> None:
    text = "e\u0301" * 100 + "word"
    pieces = marked(text, ((200, 204),), 31, "fg-2")
    assert width(pieces[1][0][0]) == 1


def test_lines_of_one_record_say_its_label_once() -> None:
    one, two = hit(0, 7, "a word"), hit(0, 7, "the word")
    rows = shown(view_of(one, two))
    assert "bash" in rows[1]
    assert "bash" not in rows[2]
    assert "7" in rows[2]


def test_hostile_text_of_a_title_and_a_tool_is_visible() -> None:
    entry = ENTRIES[0]._replace(title="a\x1b[31mb\u202ec", agent="z\x07")
    view = HitView(Hits([entry]))
    view.add([hit(0, 1, tool="b\x1bash")])
    for row in shown(view):
        assert row.isprintable()


def test_the_counts_say_hits_logs_and_how_many_are_read() -> None:
    hits = view_of(hit(0, 1), hit(2, 1)).hits
    progress = Progress("/logs/s3", 0, 0, 3, 5)

    def said(state: str, columns: int = 120) -> str:
        return "".join(text for text, _ in counts(hits, Standing(state, progress), columns))

    assert said("running") == "2 hits in 2 of 5 logs · 3 of 5 read"
    assert said("stopped") == "2 hits in 2 of 5 logs · stopped at 3 of 5"
    assert said("done") == "2 hits in 2 of 5 logs · all read"
    assert said("running", 80) == "2 3/5"
    assert said("idle") == ""


def test_a_long_log_that_is_being_read_says_how_far() -> None:
    hits = Hits(ENTRIES)
    progress = Progress("/logs/s3", 212_000_000, 640_000_000, 3, 5)
    line = reading(hits, Standing("running", progress))
    assert line is not None
    assert text_of(line).strip() == "► reading Session 3 212 of 640 MB"
    assert reading(hits, Standing("done", progress)) is None


def test_nothing_found_names_the_filters_that_were_on() -> None:
    lines = nothing(Hits(ENTRIES), Standing("done"), ["is:error", "tool:bash"], [])
    said = "\n".join(map(text_of, lines))
    assert "0 hits in 5 logs, all read" in said
    assert "is:error · tool:bash were on" in said


# -- the query as it is typed ----------------------------------------------------------------


def test_filters_are_named_in_the_query_and_other_words_stand_out() -> None:
    pieces = styled('lock tool:bash,edit http://x after:"2026-11-27 03:00"')
    assert "".join(text for text, _ in pieces) == (
        'lock tool:bash,edit http://x after:"2026-11-27 03:00"'
    )
    assert [text for text, style in pieces if style == "accent"] == ["tool:", "after:"]


def test_what_narrows_a_query_are_agents_and_tools_that_there_are() -> None:
    view = view_of(hit(0, 1, tool="edit"))
    words = [word for word, _ in narrowing(Counter(zot=5, codex=1), view.hits.tools)]
    assert "agent:codex" in words
    assert "tool:edit" in words


def test_a_line_is_typed_and_edited_at_the_caret() -> None:
    line = TypedLine("advisory lock", 13)
    for key in ("left", "left", "backspace"):
        line = line.pressed(key) or line
    assert line == TypedLine("advisory lck", 10)
    assert line.inserted("o").text == "advisory lock"
    assert line.pressed("ctrl+w") == TypedLine("advisory ck", 9)
    assert line.pressed("ctrl+u") == TypedLine("ck", 0)
    assert line.pressed("ctrl+k") == TypedLine("advisory l", 10)
    assert line.pressed("home") == TypedLine("advisory lck", 0)
    assert line.pressed("delete") == TypedLine("advisory lk", 10)
    assert line.pressed("f5") is None


def test_what_is_selected_gives_way_to_what_is_typed() -> None:
    line = TypedLine("old", 3, selected=True)
    assert line.inserted("n") == TypedLine("n", 1)
    assert line.pressed("backspace") == TypedLine()
    assert line.pressed("left") == TypedLine("old", 2)


# -- batches and the state -------------------------------------------------------------------


def test_the_first_hit_is_out_at_once_and_the_others_in_batches() -> None:
    ticks = iter([0.0, *(i * BATCH / 4 for i in range(1, 100))])
    found = batches([hit(0, i) for i in range(20)], lambda: next(ticks), {})
    sizes = [len(batch.hits) for batch in found]
    assert sizes[0] == 1
    assert sum(sizes) == 20
    assert max(sizes) <= 5


def test_what_is_only_counted_is_told_for_every_log_of_a_batch() -> None:
    found = batches(
        [hit(0, 0), Progress("/logs/s0", 9, 9, 1, 5, 40, "left out"),
         Progress("/logs/s1", 9, 9, 2, 5, 2), Progress("/logs/s2", 9, 9, 3, 5)],
        iter([0.0] * 2 + [-1.0] * 9).__next__,
    )  # fmt: skip
    first, last = found
    assert len(first.hits) == 1
    assert last.more == {"/logs/s0": 40, "/logs/s1": 2}
    assert last.notes == {"/logs/s0": "left out"}
    assert last.progress == Progress("/logs/s2", 9, 9, 3, 5)


def test_a_search_that_goes_on_leaves_out_what_was_found_before() -> None:
    again = [hit(1, 0), hit(1, 1), hit(2, 0)]
    found = batches(again, lambda: 0.0, {"/logs/s1": 1})
    assert [one for batch in found for one in batch.hits] == again[1:]


def test_a_search_that_was_left_goes_on_with_the_log_it_was_in() -> None:
    state = SearchState(view=view_of(hit(0, 1), hit(2, 1), hit(2, 2)))
    state.standing = Standing("running", Progress("/logs/s2", 5, 9, 2, 5))
    entries, known = state.rest()
    assert [entry.path for entry in entries] == ["/logs/s2", "/logs/s3", "/logs/s4"]
    assert known == {"/logs/s2": 2}


def test_a_pattern_hands_over_what_it_matched() -> None:
    from sessionlog.query import Query

    one = hit(0, 1, "a Word here", spans=((2, 6),))
    assert wording(Query("w.rd", ignore_case=True, regex=True), one) == ("Word", False)
    assert wording(Query("word", ignore_case=True), one) == ("word", True)
