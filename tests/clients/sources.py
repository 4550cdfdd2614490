"""Session logs that the real clients wrote: each made once a run of the tests, and copied for
each case, so that no case sees what another did.

`normal` ends by itself; `killed`, `two` and `answering` are killed with -9 (while one tool runs,
while two run, while the model answers); `later` is a killed one that its own client went on with.
`torn` and `garbage` are a killed one with bytes cut off, or put in.
"""

from __future__ import annotations

import fcntl
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from clients.arena import Outcome, play
from clients.programs import Program
from clients.wire import Turn

from sessionlog import load
from sessionlog.agents import BUILT_IN, fill, fill_before
from sessionlog.logfile import file_of, sessions_in
from sessionlog.session import Session

PROMPT = "Fix the greeting."
GO_ON = "Please go on."
REPLY = "Carrying on from there."
BY_ITSELF = "The client went on by itself."
_GREETING = "Helo, wrold\n"
_SLOW = "touch {0} && sleep 300"


class Source(NamedTuple):
    """A session as its client left it."""

    program: Program
    home: Path
    work: Path
    log: str
    """The session's path."""

    def copy(self, folder: Path) -> Source:
        """The same in a HOME of its own; the folder that it works in stays."""
        home = folder / "home"
        shutil.copytree(self.home, home, symlinks=True, ignore=_special)
        return self._replace(home=home, log=self.log.replace(str(self.home), str(home), 1))

    @property
    def session(self) -> Session:
        return load(self.log)

    def resume(self, log: str, id: str, prompt: str, reply: str, tag: str) -> Outcome:
        """Go on with a log in this HOME: the real client by the library's command."""
        agent = BUILT_IN[self.program.name]
        values = {"log": log, "id": id, "workdir": str(self.work), "prompt": prompt}
        made = Path(log).is_file()  # else it is in the client's database already
        before = fill_before(agent, values) if made else ()
        return self.run(fill(agent, values, screen=False), reply, tag, before)

    def run(
        self, argv: tuple[str, ...], reply: str, tag: str, before: tuple[str, ...] = ()
    ) -> Outcome:
        """Run a command of the client in this HOME, to which the model replies."""
        environ = self.program.environ(self.home)
        if before:
            done = play(before, self.work, environ, (), tag=f"{tag}-before")
            assert (done.how, done.code) == ("exit", 0), f"{' '.join(before)}\n{done.output}"
        return play(argv, self.work, environ, (Turn(reply),), tag=tag)


def source(program: Program, name: str, base: Path) -> Source:
    """The client's session of that name, made if it is not there; `base` is shared by all."""
    folder = base / program.name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        note = folder / f"{name}.log"
        if not note.exists():
            note.write_text(_MAKERS[name](program, base, folder / name))
        return Source(program, folder / name / "home", folder / "work", note.read_text())


def sessions(program: Program, home: Path) -> list[str]:
    """Paths of the sessions in a HOME."""
    return [path for file in sorted(home.glob(program.logs)) for path in sessions_in(str(file))]


def _begun(name: str, turns: Callable[[Program, Path], tuple[Turn, ...]], kill: str = "") -> _Make:
    """Makes a session that the client begins."""

    def make(program: Program, base: Path, folder: Path) -> str:
        home, work = folder / "home", folder.with_name("work")
        program.furnish(home, work)
        _workplace(work)
        argv = (*program.begin, PROMPT)
        outcome = play(argv, work, program.environ(home), turns(program, work), tag=name, kill=kill)
        assert outcome.how == ("killed" if kill else "exit"), outcome
        (log,) = sessions(program, home)
        return log

    return make


def _workplace(work: Path) -> None:
    """A folder to work in, and enough of a repository for clients that ask for one."""
    for part in ("objects", "refs"):
        (work / ".git" / part).mkdir(parents=True, exist_ok=True)
    (work / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (work / "greeting.txt").write_text(_GREETING)


def _look(program: Program) -> Turn:
    return Turn("I look at the folder first.", (program.shell("ls; echo seen-1"),))


def _normal(program: Program, work: Path) -> tuple[Turn, ...]:
    both = program.read(work / "greeting.txt"), program.shell("echo seen-2")
    return _look(program), Turn("Two things at once.", both), Turn("All is done.")


def _killed(program: Program, _: Path) -> tuple[Turn, ...]:
    return _look(program), Turn("Now the slow run.", (program.shell(_SLOW.format("one")),))


def _two(program: Program, _: Path) -> tuple[Turn, ...]:
    slow = program.shell(_SLOW.format("two")), program.shell(_SLOW.format("three"))
    return _look(program), Turn("Two slow runs at once.", slow)


def _answering(program: Program, _: Path) -> tuple[Turn, ...]:
    return _look(program), Turn("This answer breaks off, and the rest never came.", (), True)


def _later(program: Program, base: Path, folder: Path) -> str:
    """A killed session that its client went on with, in the same log.

    A client that writes down that the call was interrupted leaves none open; its line is taken
    out, as a lost one.
    """
    there = source(program, "killed", base).copy(folder)
    session = there.session
    outcome = there.resume(there.log, session.id, GO_ON, BY_ITSELF, "later")
    assert outcome.how == "exit", outcome
    if program.closes:
        _lose(there, {call.call_id for call in session.open_calls})
    return there.log


def _lose(there: Source, calls: set[str]) -> None:
    file = Path(there.log)
    data = file.read_bytes()
    for step in reversed(there.session.history):
        activity, span = step.message.activity, step.record.span
        if activity and activity.kind == "response" and activity.id in calls:
            data = data[: span.offset] + data[span.end :].removeprefix(b"\n")
    file.write_bytes(data)


def _torn(program: Program, base: Path, folder: Path) -> str:
    """Cut in the middle of the last line that holds a message."""
    there = source(program, "killed", base).copy(folder)
    span = there.session.history[-1].record.span
    file = Path(there.log)
    file.write_bytes(file.read_bytes()[: span.offset + span.length // 2])
    return there.log


def _garbage(program: Program, base: Path, folder: Path) -> str:
    """A line that is no JSON before the last message."""
    there = source(program, "killed", base).copy(folder)
    at = there.session.history[-1].record.span.offset
    file = Path(there.log)
    data = file.read_bytes()
    file.write_bytes(data[:at] + b'{"broken\n' + data[at:])
    return there.log


_Make = Callable[[Program, Path, Path], str]
_MAKERS: dict[str, _Make] = {
    "normal": _begun("normal", _normal),
    "killed": _begun("killed", _killed, "one"),
    "two": _begun("two", _two, "two"),
    "answering": _begun("answering", _answering, "answering"),
    "later": _later,
    "torn": _torn,
    "garbage": _garbage,
}


def _special(folder: str, names: list[str]) -> list[str]:
    """Sockets and pipes, which cannot be copied."""
    paths = [Path(folder, name) for name in names]
    return [p.name for p in paths if p.is_socket() or p.is_fifo()]


def kept(there: Source) -> dict[str, tuple[int, int, bytes]]:
    """What the files of a HOME hold, by their paths: modes, times and bytes."""
    files = (path for path in sorted(there.home.rglob("*")) if path.is_file())
    return {
        str(path): ((found := path.stat()).st_mode, found.st_mtime_ns, path.read_bytes())
        for path in files
    }


def untouched(there: Source) -> bytes:
    """The bytes of the session's log, or its rows where it is kept in a database; b"" where it is
    gone."""
    if there.program.lines:
        file = Path(there.log)
        return file.read_bytes() if file.exists() else b""
    id = there.log.rpartition("/")[2]
    rows: list[tuple[object, ...]] = []
    with sqlite3.connect(f"file:{file_of(there.log)}?mode=ro", uri=True) as found:
        for table, key in (("session", "id"), ("message", "session_id"), ("part", "session_id")):
            rows += found.execute(f"select * from {table} where {key} = ? order by id", (id,))
    found.close()
    return repr(rows).encode()
