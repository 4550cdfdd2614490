"""Every spelling of an edit becomes the same kind of change."""

from __future__ import annotations

import pytest

from sessionlog.diffs import FileDiff, between, counts, edits_of, patched, unified


def spelled(diff: FileDiff) -> list[str]:
    return [change.sign + change.text for hunk in diff.hunks for change in hunk.changes]


@pytest.mark.parametrize(
    "arguments",
    [
        {"file_path": "a.go", "old_string": "one\ntwo\n", "new_string": "one\n2\n"},
        {"path": "a.go", "oldText": "one\ntwo", "newText": "one\n2"},
        {"path": "a.go", "edits": [{"oldText": "one\ntwo", "newText": "one\n2"}]},
        {"command": "str_replace", "path": "a.go", "old_str": "one\ntwo", "new_str": "one\n2"},
        {"input": "*** Begin Patch\n*** Update File: a.go\n@@\n one\n-two\n+2\n*** End Patch"},
        "*** Begin Patch\n*** Update File: a.go\n@@\n one\n-two\n+2\n*** End Patch",
        {"command": ["apply_patch", "*** Begin Patch\n*** Update File: a.go\n one\n-two\n+2\n"]},
        {"diff": "--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"},
    ],
    ids=["claude", "pi", "pi-list", "str_replace", "codex", "codex-text", "in-shell", "unified"],
)
def test_an_edit_is_read_in_every_spelling(arguments: object) -> None:
    (diff,) = edits_of(arguments)
    assert diff.path == "a.go"
    assert spelled(diff) == [" one", "-two", "+2"]
    assert counts([diff]) == (1, 1)


def test_the_clients_own_hunks_give_line_numbers() -> None:
    hunk = {"oldStart": 118, "newStart": 118, "lines": [" a", "-b", "+c", "+d", " e", "-f"]}
    (diff,) = edits_of({"file_path": "x", "old_string": "b", "new_string": "c"},
                       {"structuredPatch": [hunk]})  # fmt: skip
    numbers = [(change.sign, change.number) for change in diff.hunks[0].changes]
    assert numbers == [(" ", 118), ("-", 119), ("+", 119), ("+", 120), (" ", 121), ("-", 121)]


def test_what_is_no_edit_gives_nothing() -> None:
    objects = [{"command": "ls"}, {"path": "x", "search": "y"}, {"replace": True}]
    objects += [{"pattern": "@@ -1 +1 @@"}, {"content": "no path"}]
    for arguments in (*objects, None, "just text", [1]):
        assert edits_of(arguments) == []


def test_a_written_file_is_all_new() -> None:
    (diff,) = edits_of({"file_path": "n.txt", "content": "a\nb\n"})
    assert spelled(diff) == ["+a", "+b"]


def test_far_apart_changes_are_hunks_of_their_own() -> None:
    old = [str(i) for i in range(40)]
    new = ["x" if i in (5, 30) else str(i) for i in range(40)]
    first, second = between("\n".join(old), "\n".join(new))
    assert [c.text for c in first.changes] == ["2", "3", "4", "5", "x", "6", "7", "8"]
    assert second.changes[0].text == "27"


def test_texts_without_end_are_replaced_as_a_whole() -> None:
    old = [f"a{i % 3}" for i in range(30_000)]
    new = [f"b{i % 3}" for i in range(30_000)]
    old[15_000] = new[15_000] = "in both"
    (hunk,) = between("\n".join(old), "\n".join(new))
    assert sum(change.sign == "-" for change in hunk.changes) == 30_000


def test_a_unified_diff_of_several_files_keeps_dashes_of_its_text() -> None:
    text = (
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -10,3 +10,3 @@ func f\n a\n--- b\n+c\n d\n"
        "diff --git a/y b/y\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-q\n"
    )
    x, y = unified(text)
    assert spelled(x) == [" a", "--- b", "+c", " d"]
    assert (x.hunks[0].head, x.hunks[0].changes[1].number) == ("func f", 11)
    assert (y.path, spelled(y)) == ("y", ["-q"])


def test_an_apply_patch_adds_moves_and_deletes() -> None:
    text = (
        "*** Begin Patch\n*** Add File: n\n+hello\n*** Update File: a\n*** Move to: b\n-x\n+y\n"
        "*** Delete File: z\n*** End Patch\nmore"
    )
    new, moved, gone = patched(text)
    assert (new.how, moved.how, gone.how) == ("added", "to b", "deleted")
    assert spelled(moved) == ["-x", "+y"]


@pytest.mark.parametrize(
    "text",
    ["*** Begin Patch", "*** Begin Patch\n+x", "@@ -1 +1 @@", "--- a\n+++ b\n@@ -x", "@@ -9 +9 @@"],
)
def test_a_broken_patch_raises_nothing(text: str) -> None:
    assert all(isinstance(diff, FileDiff) for diff in [*patched(text), *unified(text)])


def test_a_line_number_that_is_no_number_of_a_line_raises_nothing() -> None:
    found = unified(f"--- a\n+++ b\n@@ -{'9' * 5000} +1 @@\n-x\n+y\n@@ -1 +1 @@\n-x\n+y\n")
    assert counts(found) == (1, 1)
