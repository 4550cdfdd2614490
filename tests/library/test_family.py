"""Forks and resumed logs under their parents: every session once, whatever logs claim."""

from __future__ import annotations

from random import Random

from sessionlog.family import Forest
from sessionlog.records import Entry, Origin


def entry(
    id: str, parent: str = "", at: int | None = 7, started: str = "", path: str = ""
) -> Entry:
    origin = Origin(parent, at) if parent and at is not None else None
    resumed = parent if parent and at is None else None
    return Entry(id, path or f"/x/{id}", "native", started=started, forked_from=origin,
                 resumed_from=resumed)  # fmt: skip


def drawn(*entries: Entry) -> list[str]:
    return [member.guides + member.entry.id for member in Forest(entries).members()]


def test_children_stand_below_their_parent_oldest_first() -> None:
    found = drawn(
        entry("late", "root", started="3"), entry("other"), entry("early", "root", started="1"),
        entry("deep", "early", None), entry("root"),
    )  # fmt: skip
    assert found == ["other", "root", "├ early", "│ └ deep", "└ late"]


def test_a_child_whose_parent_is_not_here_is_a_root() -> None:
    assert drawn(entry("a", "gone")) == ["a"]


def test_a_session_that_names_itself_is_a_root() -> None:
    assert drawn(entry("a", "a")) == ["a"]


def test_a_circle_has_its_oldest_as_root() -> None:
    found = drawn(entry("a", "c", started="2"), entry("b", "a", started="3"),
                  entry("c", "b", started="1"))  # fmt: skip
    assert found == ["c", "└ a", "  └ b"]


def test_of_two_logs_with_one_id_another_one_is_the_parent() -> None:
    # an agent that resumes into a new file may keep the id
    old, new = entry("a", path="/1"), entry("a", "a", None, path="/2")
    assert Forest([new, old]).parent(new) is old


def test_every_session_stands_in_the_forest_once() -> None:
    random = Random(4)
    for _ in range(300):
        count = random.randint(1, 12)
        ids = [f"s{i}" for i in range(count)]
        entries = [
            entry(id, random.choice([*ids, "", "gone"]), random.choice([None, 3]),
                  str(random.randint(0, 3)))
            for id in ids
        ]  # fmt: skip
        forest = Forest(entries)
        members = list(forest.members())
        assert sorted(m.entry.id for m in members) == sorted(ids)
        place = {m.entry.path: i for i, m in enumerate(members)}
        for member in members:
            parent = forest.parent(member.entry)
            assert (parent is None) == (member.depth == 0)
            if parent is not None:
                assert place[parent.path] < place[member.entry.path]


def test_a_walk_onward_reaches_the_whole_family() -> None:
    entries = [entry("root"), entry("a", "root", started="1"), entry("b", "root", started="2"),
               entry("c", "a")]  # fmt: skip
    forest, at, walked = Forest(entries), entries[0], []
    while (following := forest.onward(at)) is not None:
        walked.append(following.id)
        at = following
    assert walked == ["a", "c", "b"]


def test_a_long_chain_is_no_staircase() -> None:
    chain = [entry("s0"), *(entry(f"s{i}", f"s{i - 1}", None) for i in range(1, 3000))]
    members = list(Forest(chain).members())
    assert len(members) == 3000
    assert max(len(member.guides) for member in members) < 40


def test_of_several_logs_of_the_parents_id_the_one_beside_the_child_is_meant() -> None:
    killed, whole = entry("p", path="/copy/a/p"), entry("p", path="/runs/a/p")
    beside, longer = entry("p", path="/runs/b/p"), entry("p", path="/runs/b/again")
    child = entry("c", "p", path="/runs/b/c")
    assert Forest([killed, whole, beside, child]).parent(child) is beside
    longer = longer._replace(bytes=9)
    assert Forest([killed, beside, longer, child]).parent(child) is longer
    assert Forest([killed, whole, child]).parent(child) is whole
