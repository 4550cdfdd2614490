"""Repairs and forks of random sessions of every client, and what is wrong with them.

A session comes from a plot and is damaged in half of the runs, in its bytes or at its links. What
is made of it is read by `retold`, which knows nothing of the library. The same seed does the same.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import build
import harm
from plots import Step, plot, words
from retold import retold
from scribes import SCRIBES
from told import Retold, objects, pairing, unread, value_of

from sessionlog import survey
from sessionlog.errors import NotALog, NotPossible, SessionLogError, Unreadable
from sessionlog.forks import apply_fork, plan_copy, plan_fork
from sessionlog.mend import Mend
from sessionlog.plan import INTERRUPTED, Fork, Repair
from sessionlog.reader import load
from sessionlog.records import shown_type
from sessionlog.repairs import apply_repair, plan_repair
from sessionlog.session import Session

CLIENTS = tuple(SCRIBES)
UNIQUE = ("claude", "opencode", "gemini")
"""Clients whose calls have ids that never come again."""
TREES = ("pi", "qwen", "agentsession")
NOW = datetime(2026, 11, 28, tzinfo=UTC)
LINKS = ("uuid", "parentUuid", "id", "parentId", "parent", "ordinal", "sessionId", "tool_use_id",
         "call_id", "toolCallId", "callID", "tool_call_id", "firstKeptEntryId")  # fmt: skip
_LINK = re.compile(rb'"(%s)":(\s?)("[^"\\]*"|null|\d+)' % "|".join(LINKS).encode())
_SAID = ("user", "assistant", "reasoning", "summary", "system")
_OWN = {
    "sessionId", "forkedFrom", "uuid", "parentUuid", "id", "parentId", "parent", "ordinal",
    "timestamp", "session_id", "firstKeptEntryId", "first_kept",
}  # fmt: skip
"""Members that a copied line may have anew."""


class Made(NamedTuple):
    """A session's log."""

    client: str
    name: str
    data: bytes
    how: str
    """What was done to it."""
    steps: list[Step]


def made(seed: int) -> Made:
    """The session of a seed; each client in turn."""
    client = CLIENTS[seed % len(CLIENTS)]
    random = Random(seed)
    scribe = SCRIBES[client](random)
    steps = plot(seed, again=client not in UNIQUE)
    lines = list(scribe.write(steps))
    how = []
    if client != "opencode" and random.random() < 0.4:
        how.append(_disorder(lines, random, client))
    data = b"".join(lines)
    if random.random() < 0.5 and how != ["swapped"]:
        if random.random() < 0.5:
            data = _broken_links(data, random, "sessionId" if "doubled" in how else "")
            how.append("links")
        else:
            image = harm.harmed(lines, seed)
            data = image.data
            how.append(image.how)
    return Made(client, scribe.name, data, ", ".join(how), steps)


def _disorder(lines: list[bytes], random: Random, client: str) -> str:
    """Lines that stand where no client would have them."""
    kinds = ("doubled", "blank", "unknown", "sessions", "lost", "glued", "swapped")
    kind = random.choice(kinds[:-1] if client in ("claude", "gemini") else kinds)
    for _ in range(random.choice((1, 1, 2, 3))):
        if len(lines) < 2:
            break
        at = random.randrange(1, len(lines))
        if kind == "doubled":
            lines.insert(min(at + random.choice((1, 1, 2, 5)), len(lines)), lines[at])
        elif kind == "swapped" and at + 1 < len(lines):
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
        elif kind == "blank":
            lines.insert(at, random.choice((b"\n", b"  \n", b"\r\n", b"\0\0\n")))
        elif kind == "unknown":
            lines.insert(at, build.line({"type": "unheard", "timestamp": build.at(), "x": [1]}))
        elif kind == "sessions":
            for i in range(at, len(lines)):
                lines[i] = re.sub(rb'"sessionId":"[^"]*"', b'"sessionId":"other"', lines[i])
        elif kind == "lost":
            del lines[at]
        elif kind == "glued":
            lines[at] = lines[at].rstrip(b"\n")
    return kind


def _broken_links(data: bytes, random: Random, but: str) -> bytes:
    """Damage that hits the name or the value of a link, but for those of one name."""
    for _ in range(random.choice((1, 1, 1, 2))):
        found = [m for m in _LINK.finditer(data) if m[1] != but.encode()]
        if b'"projectHash"' in data:  # a call's own ids stand in one another there
            found = [m for m in found if data[m.start() - 1 : m.start()] == b"{"]
            found = [m for m in found if data[m.start() - 2 : m.start() - 1] in (b"", b"\n")]
        if not found:
            return data
        link = random.choice(found)
        start, end = link.span(3)
        kind = random.choice(("name", "byte", "byte", "other", "null", "number", "gone", "empty"))
        if kind == "name":
            at = random.randrange(*link.span(1))
            data = data[:at] + bytes([data[at] ^ (1 << random.randrange(7))]) + data[at + 1 :]
        elif kind == "byte":
            at = random.randrange(start, end)
            data = data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]
        elif kind == "other" and link[1] not in (b"uuid", b"id", *_told_by_none(data)):
            other = random.choice([m[3] for m in found if m[1] == link[1]])
            data = data[:start] + other + data[end:]
        elif kind == "gone" and data[end : end + 1] == b",":
            data = data[: link.start()] + data[end + 1 :]
        else:
            new = {"null": b"null", "number": b"17", "empty": b'""'}.get(kind, b'"nowhere"')
            data = data[:start] + new + data[end:]
    return data


def _told_by_none(data: bytes) -> tuple[bytes, ...]:
    """Links that nobody can tell from another way that a client goes: Claude Code's lead to many
    places."""
    return (b"parentUuid",) if b'"isSidechain"' in data else ()


class Run:
    """One log: repaired, and forked here and there. `kinds` counts what was done."""

    def __init__(self, made: Made, seed: int) -> None:
        self.made, self.seed = made, seed
        self.random = Random(f"{seed} acts")
        self.wrong: list[str] = []
        self.kinds: Counter[str] = Counter()
        self.nameless = False
        """Was a call left out that nothing can answer?"""

    def go(self, folder: Path) -> list[str]:
        """What is wrong."""
        path = folder / "source" / self.made.name
        for name in ("source", "a", "b", "end", "fork0a", "fork0b", "fork1a", "fork1b"):
            (folder / name).mkdir()
        path.write_bytes(self.made.data)
        try:
            session = load(path)
        except (NotALog, Unreadable) as error:
            self._refused(error)
            return self.wrong
        if session.format != self.made.client:
            self.kinds["other format"] += 1
            return self.wrong
        self._repair(session, folder)
        for i in range(2):
            if session.history:
                at = self.random.randint(1, len(session.history))
                self._fork(session, at, folder, f"fork{i}")
        if path.read_bytes() != self.made.data:
            self.wrong.append("the source is another")
        if sorted(p.name for p in path.parent.iterdir()) != [path.name]:
            self.wrong.append("something was left beside the source")
        return self.wrong

    def _refused(self, error: SessionLogError) -> None:
        self.kinds[f"refused: {type(error).__name__}"] += 1
        if len(str(error)) < 30 or "\n" in str(error):
            self.wrong.append(f"no sentence: {error!r}")

    def _repair(self, session: Session, folder: Path) -> None:
        try:
            plan = plan_repair(session, now=NOW)
            found = survey.of_file(session.path, None, Mend())
            if found.changes != plan.changes:
                self.wrong.append("the repair of the file is another than that of the session")
            if not plan.needed:
                self.kinds["healthy"] += 1
            name, self.nameless = _name(plan), bool(plan.changes.nameless)
            a = apply_repair(plan, folder / "a" / name, force=True)
            b = apply_repair(plan, folder / "b" / name, force=True)
        except NotPossible as error:
            self._refused(error)
            return
        self.kinds["repairs"] += 1
        if a.read_bytes() != b.read_bytes():
            self.wrong.append("repaired twice, differently")
        if not plan.needed and a.read_bytes() == self.made.data:
            wrong = self._result_faults(a, session, "healthy", None)
        else:
            wrong = self._result_faults(a, session, "repaired", None)
            wrong += [f"repaired: {f}" for f in self._unread(a)]
        self.wrong += wrong
        self._again(a, folder)

    def _again(self, repaired: Path, folder: Path) -> None:
        """Of a repaired log there is nothing to repair; a fork at its end says the same."""
        session = load(repaired)
        plan = plan_repair(session, now=NOW)
        if plan.needed:
            self.wrong.append(f"repaired, and still to repair: {plan.changes.edits}")
        if session.open_calls or session.orphan_results:
            self.wrong.append("the reader finds open calls or orphans in the repaired log")
        if not session.history:
            return
        fork = plan_copy(session, now=NOW)
        end = apply_fork(fork, folder / "end" / _name(fork), force=True)
        client = self.made.client
        unsure = client == "claude" and "links" in self.made.how
        if _told(client, end) != _told(client, repaired) and not unsure:
            self.wrong.append("a fork at the end of the repaired log says something else")

    def _fork(self, session: Session, at: int, folder: Path, word: str) -> None:
        try:
            plan = plan_fork(session, at, now=NOW)
            found = survey.of_file(session.path, at, Mend(endings=False))
            if found.changes != plan.changes:
                self.wrong.append(f"fork {at} of the file is another than that of the session")
            name, self.nameless = _name(plan), bool(plan.changes.nameless)
            a = apply_fork(plan, folder / f"{word}a" / name, force=True)
            b = apply_fork(plan, folder / f"{word}b" / name, force=True)
        except NotPossible as error:
            self._refused(error)
            return
        self.kinds["forks"] += 1
        if a.read_bytes() != b.read_bytes():
            self.wrong.append("forked twice, differently")
        faults = [*self._unread(a), *self._result_faults(a, session, "forked", plan.at)]
        self.wrong += [f"fork {at}: {fault}" for fault in faults]

    def _result_faults(self, path: Path, session: Session, word: str, at: int | None) -> list[str]:
        client = self.made.client
        data = path.read_bytes()
        try:
            read = retold(client, data)
        except Exception as error:  # the client would break off, too
            return [f"{word}: cannot be read: {error!r}"]
        if word == "healthy" and client == "claude" and "links" in self.made.how:
            return []  # what the records say tells nothing of most of its links
        wrong = pairing(read.told)
        tree = client in TREES
        if not (self._is_unsure() or (tree and _has_strays(self.made.data))):
            wrong += _word_faults(read, self._expected(session, at), self._has_more(), tree)
        if word != "healthy":
            wrong += [*read.wrong, *self._line_faults(data)]
        return [f"{word}: {fault}" for fault in wrong]

    def _expected(self, session: Session, at: int | None) -> tuple[list[str], Counter[str]]:
        """The words that the reader has in context at message `at`: what was said in order, and
        the results of calls."""
        if at is not None:
            session = _until(session, session.history[at - 1].record.span.end)
        said = [w for m in session.context if shown_type(m) in _SAID for w in words(m.text)]
        there = {step.n for step in session.history if step.in_context and not step.again}
        results = Counter(
            word
            for step in session.history
            if step.n in there and _is_result(step.message) and step.pair in there
            for word in words(_shown(step.message))
        )
        return said, results

    def _is_unsure(self) -> bool:
        """Do links and the order of lines tell different stories? Then only the form is judged."""
        how, client = self.made.how, self.made.client
        if client == "claude" and any(step.what in ("back", "compact") for step in self.made.steps):
            return "doubled" in how or "stale" in how or bool(unread(self.made.data))
        return "swapped" in how and client in TREES

    def _unread(self, path: Path) -> list[str]:
        client = self.made.client  # native and plain logs keep glued records as they stand
        return [] if client in ("opencode", "native", "chat") else unread(path.read_bytes())

    def _has_more(self) -> bool:
        """Does the source's client lose what stands on a broken line, or before a link that leads
        nowhere? What is made of it has that."""
        client = self.made.client
        data, links = self.made.data, "links" in self.made.how
        return client in TREES and bool(links or unread(data) or retold(client, data).wrong)

    def _line_faults(self, data: bytes) -> list[str]:
        """Lines that stand nowhere in the source, and were not made for the new log."""
        if self.made.client in ("opencode", "gemini") or self.nameless:
            return []
        source = {_bare(value) for value in objects(self.made.data)}
        wrong = []
        for n, line in enumerate(data.splitlines()):
            value = value_of(line)
            wrapped = (value or {}).get("payload")
            if value is None or n == 0 or source & {_bare(value), _bare(wrapped)}:
                continue
            text = line.decode("utf-8", "replace")
            if value.get("type") == "session_meta":  # a head once more, with the new id
                continue
            if INTERRUPTED not in text and not re.search("tool_?result|functionResponse", text):
                wrong.append(f"a line of nobody: {text[:200]}")
        return wrong


def faults(seed: int, kinds: Counter[str] | None = None) -> list[str]:
    """What is wrong with the acts on the session of a seed."""
    one = made(seed)
    run = Run(one, seed)
    with tempfile.TemporaryDirectory() as folder:
        try:
            wrong = run.go(Path(folder))
        except Exception as error:
            import traceback

            last = traceback.extract_tb(error.__traceback__)[-1]
            wrong = [f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})"]
    if kinds is not None:
        kinds.update(run.kinds)
    return [f"seed {seed} ({one.client}; {one.how or 'whole'}): {fault}" for fault in wrong]


def _name(plan: Fork | Repair) -> str:
    return Path(plan.path).name


def _told(client: str, path: Path) -> Any:
    """What the model is told, without ids that are new in each log."""
    return [(p.kind, "" if p.kind != "call" else p.id, sorted(words(p.text)))
            for p in retold(client, path.read_bytes()).told]  # fmt: skip


def _until(session: Session, end: int) -> Session:
    """The session as it stood when its log ended there."""
    from sessionlog.session import fold

    form = survey.form_named(session.format)
    records = [record for record in session.records if record.span.offset < end]
    damages = [damage for damage in session.damages if damage.span.offset < end]
    return fold(records, damages, form=form, path=session.path, size=end)


def _is_result(message: Any) -> bool:
    return message.activity is not None and message.activity.kind == "response"


def _shown(message: Any) -> str:
    activity = message.activity
    said = [message.text]
    if _is_result(message) and not words(message.text):
        said += [str(getattr(activity, "result", "")), str(getattr(activity, "failure", ""))]
    return " ".join(said)


def _word_faults(
    read: Retold, expected: tuple[list[str], Counter[str]], cut: bool, tree: bool
) -> list[str]:  # fmt: skip
    """`cut`: the client may have more than is expected."""
    said = [word for piece in read.told if piece.kind != "result" for word in words(piece.text)]
    results = Counter(
        word for piece in read.told if piece.kind == "result" for word in words(piece.text)
    )
    wrong = []
    found = _picked(said, expected[0]) if cut else said
    if found != expected[0]:
        wrong.append(f"the client has {said}, the reader {expected[0]}")
    more, less = results - expected[1], expected[1] - results
    more = Counter() if tree else more  # those of calls that they share with another branch, too
    if less or more:
        wrong.append(f"results: the client has {dict(more)} more and {dict(less)} less")
    return wrong


def _has_strays(data: bytes) -> bool:
    """Are there records of a tree without a link? Readers and clients differ on where they are."""
    values = [value for value in objects(data) if value.get("type") not in ("session", "unheard")]
    ids = [value.get("id", value.get("uuid")) for value in values]
    linked = all({"parentId", "parentUuid", "parent"} & value.keys() for value in values)
    return not linked or not all(id and isinstance(id, str) for id in ids)


def _picked(said: list[str], wanted: list[str]) -> list[str]:
    """As much of what is wanted as stands there in its order."""
    rest = iter(said)
    return [word for word in wanted if word in rest]


def _bare(value: Any) -> str:
    """A line without what a copy may have anew."""
    if not isinstance(value, dict):
        return ""
    kept = {key: one for key, one in value.items() if key not in _OWN}
    return json.dumps(kept, sort_keys=True)
