"""What a plain shell command does to files. Pure.

Reading and writing by the everyday commands: cat, head, tail, sed, tee, cp, mv, rm, `git mv` and
`git rm`, redirections, here-documents, apply_patch. Whatever is not plain is left out: a guess
would be worse than nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from sessionlog.acts import Act, How
from sessionlog.diffs import FileDiff, patched
from sessionlog.plainshell import Step, Word, steps_of

_RANGE = re.compile(r"(\d{1,9})(?:,(\d{1,9}|\$))?p;?\Z")
_IN_PLACE = re.compile(r"-[nErsuz]*i|--in-place")
_LINE_COUNT = re.compile(r"-(?:n ?)?(\d{1,9})\Z")
_HASHES = {"sha256sum": "sha256", "sha1sum": "sha1", "md5sum": "md5"}
_HASHED = re.compile(r"\\?([0-9a-f]{32,64}) [ *](.+)")
_BLOB = re.compile(r"[0-9a-f]{40}\Z")
MISSING = "No such file or directory"


class _Here(NamedTuple):
    """Where a step runs, and what the whole command gave."""

    folder: str | None
    """None: a place that is not known."""
    output: str | None
    """The step's own output; None when others wrote too, or it went elsewhere."""
    missing: frozenset[str] = frozenset()
    """Names that the command said are of no file."""


def shell_acts(command: str, folder: str, output: str) -> list[Act]:
    """The acts of a command that ran in `folder` and gave `output`; paths are joined to it."""
    steps = steps_of(command)
    speaking = [step for step in steps if step.name not in ("cd", "set", "export", "")]
    acts: list[Act] = []
    missing = _missing(output)
    where: str | None = folder
    for step in steps:
        if step.name == "cd":
            where = _into(where, step)
            continue
        alone = len(speaking) == 1 and not step.piped and not step.outs
        here = _Here(where, output if alone else None, missing)
        acts += _of_step(step, here)
    return acts


def _missing(output: str) -> frozenset[str]:
    """The names in messages such as "cat: a.py: No such file or directory"."""
    names = set()
    for line in output.split("\n") if MISSING in output else ():
        said, found, _ = line.partition(f": {MISSING}")
        said = said.removesuffix(" for reading").replace("‘", "'").replace("’", "'")
        if found and said.endswith("'"):
            names.add(said[:-1].rpartition("'")[2])
        elif found:
            names.add(said.rpartition(": ")[2].removeprefix("can't read "))
    return frozenset(names)


def patch_acts(text: str, folder: str) -> list[Act]:
    """The acts of an apply_patch text."""
    return [act for diff in patched(text) for act in diff_acts(diff, folder)]


def diff_acts(diff: FileDiff, folder: str) -> Iterator[Act]:
    """What a diff does to its file, and to the one it is moved to."""
    path = os.path.join(folder, diff.path)
    if diff.how == "added":
        lines = [change.text for hunk in diff.hunks for change in hunk.changes]
        yield Act(path, "write", "".join(line + "\n" for line in lines))
    elif diff.how == "deleted":
        yield Act(path, "remove")
    elif diff.how.startswith("to "):
        target = os.path.join(folder, diff.how[3:])
        yield Act(target, "copy", source=path)
        yield Act(path, "remove")
        if diff.hunks:
            yield Act(target, "edit", hunks=diff.hunks)
    else:
        yield Act(path, "edit", hunks=diff.hunks)


def _into(where: str | None, step: Step) -> str | None:
    """The folder that `cd` leads to."""
    names = step.words[1:]
    if len(names) != 1 or not names[0].plain or names[0].text == "-":
        return None
    if where is None and not os.path.isabs(names[0].text):
        return None
    return os.path.join(where or "", names[0].text)


def _of_step(step: Step, here: _Here) -> Iterator[Act]:
    words = step.words[1:]
    name = step.name
    if name == "git" and words and words[0].text in ("mv", "rm", "hash-object"):
        name, words = f"git {words[0].text}", words[1:]
    text = step.here
    if name in ("apply_patch", "applypatch"):
        given = text if text is not None else words[0].text if words else ""
        if here.folder is not None:
            yield from patch_acts(given, here.folder)
        return
    if (make := _MAKERS.get(name)) is not None:
        yield from make(words, step, here)
    for word, appended in step.outs:
        whole = _written(step) if not appended and len(step.outs) == 1 else None
        yield from _acts([word], here, "edit" if appended else "write", whole)


def _written(step: Step) -> str | None:
    """What goes into the file, where the command itself holds it."""
    if step.name == "cat" and len(step.words) == 1 and not step.piped:
        return step.here
    if step.name == "echo" and not step.piped:
        words = step.words[1:]
        told = all(word.plain and "\\" not in word.text for word in words)
        if told and not (words and words[0].text.startswith("-")):
            return " ".join(word.text for word in words) + "\n"
    return None


def _acts(
    names: Sequence[Word], here: _Here, how: How, text: str | None = None, *,
    ranged: bool = False,
) -> Iterator[Act]:  # fmt: skip
    for path in _paths(names, here):
        yield Act(path, how, text, ranged, shell=how == "read" and text is not None)


def _paths(names: Sequence[Word], here: _Here) -> Iterator[str]:
    for word in names:
        if word.plain and word.text and (here.folder is not None or os.path.isabs(word.text)):
            yield os.path.join(here.folder or "", word.text)


def _split(words: Sequence[Word], valued: str = "") -> tuple[list[str], list[Word]]:
    """Options and names; `valued`: letters of options whose value is the next word."""
    options: list[str] = []
    names: list[Word] = []
    rest = iter(words)
    for word in rest:
        if word.text == "--":
            names += rest
        elif word.text.startswith("-") and len(word.text) > 1:
            value = next(rest, Word("")).text if word.text[1:] in [*valued] else ""
            options.append(word.text + value)
        else:
            names.append(word)
    return options, names


def _shown(
    names: list[Word], here: _Here, text: str | None, *, ranged: bool = False
) -> Iterator[Act]:
    """Files that a command shows: the output is the file's own only where there is one file."""
    there = []
    for word in names:
        if word.text in here.missing:
            yield from _acts([word], here, "absent")
        else:
            there.append(word)
    own = text if len(names) == 1 else None
    yield from _acts(there, here, "read", own, ranged=ranged)


def _cat(words: Sequence[Word], step: Step, here: _Here) -> Iterator[Act]:
    options, names = _split(words)
    if step.fed and not names:
        return
    if options in (["-n"], ["--number"]) and here.output is not None and len(names) == 1:
        for act in _shown(names, here, here.output):
            yield act._replace(shell=False)
        return
    yield from _shown(names, here, None if options else here.output)


def _head(words: Sequence[Word], step: Step, here: _Here) -> Iterator[Act]:
    options, names = _split(words, "nc")
    asked = _LINE_COUNT.match(options[0]) if len(options) == 1 else None
    count = int(asked[1]) if asked else 10
    text = here.output if asked or not options else None
    yield from _shown(names, here, text, ranged=not _all_of(text, count))


def _tail(words: Sequence[Word], step: Step, here: _Here) -> Iterator[Act]:
    options, names = _split(words, "nc")
    follows = any("f" in option.lower() for option in options)
    text = None if follows or any("c" in option for option in options) else here.output
    yield from _shown(names, here, text, ranged=True)


def _sed(words: Sequence[Word], step: Step, here: _Here) -> Iterator[Act]:
    options, names = _split([word for word in words if word.text], "e")
    flags = [option for option in options if not option.startswith("-e")]
    if len(flags) == len(options) and names:
        options, names = [*options, f"-e{names[0].text}"], names[1:]
    if any(_IN_PLACE.match(flag) for flag in flags):
        yield from _acts(names, here, "edit")
        return
    scripts = [option[2:] for option in options if option.startswith("-e")]
    asked = _RANGE.match(scripts[0]) if len(scripts) == 1 and flags == ["-n"] else None
    if not asked:
        yield from _shown(names, here, None)
        return
    first, last = int(asked[1]), asked[2]
    all_of = first == 1 and (last == "$" or (last and _all_of(here.output, int(last))))
    yield from _shown(names, here, here.output, ranged=not all_of)


def _all_of(text: str | None, count: int) -> bool:
    """Were fewer lines shown than asked for? Then they are all; but an output that was stripped
    at its end does not tell."""
    if text is None or not text.endswith("\n"):
        return False
    body = text.partition("\nOutput:\n")[2] if "\nOutput:\n" in text[:400] else text
    return body.count("\n") < count


def _seen(words: Sequence[Word], step: Step, here: _Here) -> Iterator[Act]:
    """Shown in a way that is not read back."""
    yield from _shown(_split(words)[1], here, None)


def _tee(words: Sequence[Word], step: Step, here: _Here) -> Iterator[Act]:
    options, names = _split(words)
    text = step.here if not options and not step.piped else None
    yield from _acts(names, here, "edit" if options else "write", text)


def _remove(words: Sequence[Word], step: Step, here: _Here) -> Iterator[Act]:
    options, names = _split(words)
    if "--cached" in options:
        return
    tree = any("r" in option.lower() for option in options if not option.startswith("--f"))
    yield from (act._replace(tree=tree) for act in _acts(names, here, "remove"))


def _copy(words: Sequence[Word], step: Step, here: _Here) -> Iterator[Act]:
    yield from _carried(words, here)


def _move(words: Sequence[Word], step: Step, here: _Here) -> Iterator[Act]:
    yield from _carried(words, here)
    yield from _acts(_split(words)[1][:-1], here, "remove")


def _carried(words: Sequence[Word], here: _Here) -> Iterator[Act]:
    options, names = _split(words)
    if len(names) < 2 or not all(word.plain for word in names) or any("t" in o for o in options):
        return
    *sources, target = _paths(names, here)
    for source in sources:
        into = len(sources) > 1 or target.endswith("/")
        path = os.path.join(target, os.path.basename(source)) if into else target
        yield Act(path, "copy", source=source)


def _hashes(words: Sequence[Word], step: Step, here: _Here) -> Iterator[Act]:
    """Hashes that sha256sum and its like print: "<hex>  <path>"."""
    names = {word.text: word for word in _split(words)[1]}
    for line in (here.output or "").splitlines():
        found = _HASHED.match(line)
        if found and found[2] in names:
            for act in _acts([names[found[2]]], here, "read"):
                yield act._replace(digest=f"{_HASHES[step.name]}:{found[1]}")


def _blob(words: Sequence[Word], step: Step, here: _Here) -> Iterator[Act]:
    """The id that git stores a file under."""
    names = _split(words)[1]
    said = (here.output or "").strip().rpartition("\n")[2]
    if _BLOB.match(said) and len(names) == 1:
        for act in _acts(names, here, "read"):
            yield act._replace(digest=f"blob:{said}")


_Maker = Callable[[Sequence[Word], Step, _Here], Iterator[Act]]
_MAKERS: dict[str, _Maker] = {
    "cat": _cat, "head": _head, "tail": _tail, "sed": _sed, "tee": _tee,
    "rm": _remove, "unlink": _remove, "git rm": _remove,
    "cp": _copy, "mv": _move, "git mv": _move,
    **dict.fromkeys(("less", "more", "bat", "batcat", "nl", "tac"), _seen),
    **dict.fromkeys(_HASHES, _hashes), "git hash-object": _blob,
}  # fmt: skip
