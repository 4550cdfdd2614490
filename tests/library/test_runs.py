"""The journal of runs, and `sessionlog stop`."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trees
from handed import TESTS, environment, order

from sessionlog.cli import main
from sessionlog.errors import NotPossible, SessionNotFound
from sessionlog.paths import runs_folder
from sessionlog.supervise import runs, system
from sessionlog.supervise.handle import Handle, Outcome, start
from sessionlog.supervise.system import Process

SOON = 20.0
KEY = "sk-ant-api03-" + "a1B2" * 10
Starts = Callable[..., Handle]


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Starts]:
    """Starts a command that says so and waits; what the test leaves running is let go of."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    handles, fifo = [], trees.Fifo(tmp_path / "fifo")

    def begin(argv: list[str] | None = None, **more: Any) -> Handle:
        waits = ["sh", "-c", "trap 'exit 5' INT; echo $$ > $0; while :; do sleep 0.01; done"]
        wanted = order([*(argv or waits), str(fifo.path)], tmp_path / "log.jsonl", **more)
        handles.append(start(wanted, environment(tmp_path)))
        fifo.told(len(handles))
        return handles[-1]

    yield begin
    for handle in handles:
        handle.close()
    fifo.close()


def ended(handle: Handle) -> Outcome:
    outcome = handle.wait(SOON)
    assert outcome is not None
    return outcome


def begun(place: Path, name: str, **more: Any) -> Path:
    """A file of the journal, as a supervisor that is no more left it."""
    fields = {"v": 1, "run": name, "session": "s", "log": "/l", "source": "/o", "agent": "a",
              "argv": ["x"], "cwd": "/", "screen": False, "began": "", "ended": None,
              "supervisor": {"pid": os.getpid(), "started": "another"}, **more}  # fmt: skip
    path = Path(runs.path_of(name, environment(place)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(fields))
    return path


def stop(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(["stop", *argv])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_a_run_stands_in_the_journal_from_its_start_to_its_end(
    begin: Starts, tmp_path: Path
) -> None:
    waits = ["sh", "-c", f"echo {KEY}; echo 1 > $1; sleep 1000", KEY]
    handle = begin(waits, cwd=str(tmp_path))
    [run] = runs.live()
    assert (run.run, run.session, run.log) == (
        handle.order.run, handle.order.session, handle.order.log
    )  # fmt: skip
    assert (run.supervisor.pid, run.cwd, run.ended) == (handle.pid, str(tmp_path), None)
    handle.stop()
    outcome = ended(handle)
    assert runs.live() == []
    [run] = runs.known()
    assert run.ended is not None
    assert run.ended._replace(tail=b"") == outcome._replace(tail=b"")


def test_the_journal_is_its_owners_alone_and_holds_no_key(begin: Starts, tmp_path: Path) -> None:
    os.umask(old := os.umask(0))
    try:
        handle = begin(["sh", "-c", f"echo {KEY}; echo 1 > $1; sleep 1000", KEY])
        path = Path(runs.path_of(handle.order.run))
        assert KEY not in path.read_text()
        handle.stop()
        assert KEY in ended(handle).tail.decode()
    finally:
        os.umask(old)
    assert KEY not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [path] == [*path.parent.iterdir()]


def test_a_run_is_found_by_all_that_it_is_called(begin: Starts, tmp_path: Path) -> None:
    begun(tmp_path, "20991231-000000-00000000", session="20261127-220000")
    handle = begin()
    wanted = handle.order
    for ref in (wanted.run, wanted.session, wanted.log, wanted.source, "last", wanted.run[:-1],
                wanted.session[:-1], os.path.relpath(wanted.log)):  # fmt: skip
        assert runs.find(ref).run == wanted.run, ref
    with pytest.raises(SessionNotFound, match=f"nothing was handed over .* {wanted.run}"):
        runs.find("other")
    begin()
    with pytest.raises(SessionNotFound, match="2 runs are that"):
        runs.find(wanted.session)


def test_what_is_no_file_of_the_journal_is_passed_over(tmp_path: Path) -> None:
    place = environment(tmp_path)
    path = begun(tmp_path, "r1")
    for name, data in {"a": b"", "b": b"[]", "c": b'{"v": 1}', "d": b"\xff", "e": b'{"v": 2}',
                       "f": b"[" * 100_000}.items():  # fmt: skip
        (path.parent / f"{name}.json").write_bytes(data)
    (path.parent / "g.json").mkdir()
    assert [run.run for run in runs.known(place)] == ["r1"]
    assert runs.live(place) == []
    assert runs.known(environment(tmp_path / "nowhere")) == []


BAD: dict[str, list[Any]] = {
    "pid": [{"pid": pid, "started": "x"} for pid in (1e999, 2**70, -1, 0, 1, True, "7", None)],
    "started": [{"pid": 7, "started": 5}, {"pid": 7}, [7, "x"], None],
    "guard": [{"pid": 1, "started": "x"}, [], "x"],
    "ended": [[], 5, "x", True, *({name: value} for name, value in (
        ("stopped", [1]), ("stopped", "nobody"), ("stopped", {}), ("killed", "x"), ("killed", [1]),
        ("killed", -1), ("killed", 1e999), ("ended", 5), ("ended", {}), ("tail", "\ud800"),
        ("tail", None), ("code", "0"), ("code", 1.5), ("signal", None), ("gentle", 1),
        ("problem", ["x"]), ("recorded", 1)))],
    "run": ["another", "\ud800", 5, None],
    "session": ["\ud800", 5, None, ["x"]],
    "log": ["\ud800", 5], "source": [None], "agent": [{}], "cwd": [1], "began": [1],
    "argv": ["x", {"a": 1}, [1], ["\ud800"], None], "screen": [1, "no"], "space": [5],
}  # fmt: skip
"""What a field may hold in a file that somebody else made."""


@pytest.mark.parametrize("field", BAD)
def test_a_file_with_a_field_that_is_none_is_passed_over(tmp_path: Path, field: str) -> None:
    name = {"pid": "supervisor", "started": "supervisor"}.get(field, field)
    place = environment(tmp_path)
    for value in BAD[field]:
        begun(tmp_path, "r1", **{name: value})
        assert runs.known(place) == [], value
    begun(tmp_path, "r1", gone=None, guard=None)
    assert [run.run for run in runs.known(place)] == ["r1"]


def test_what_is_no_regular_file_is_passed_over_at_once(tmp_path: Path) -> None:
    path = begun(tmp_path, "r1")
    os.mkfifo(path.with_name("r2.json"))
    os.mkfifo(path.with_name("r2.live"))
    assert [run.run for run in runs.known(environment(tmp_path))] == ["r1"]
    assert runs.live(environment(tmp_path)) == []


def test_a_supervisor_that_has_no_start_does_not_run(tmp_path: Path) -> None:
    path = begun(tmp_path, "r1", supervisor={"pid": 2**31 - 1, "started": ""})
    path.with_suffix(".live").touch()
    assert runs.live(environment(tmp_path)) == []


def test_marks_of_what_no_longer_runs_are_let_go_of(begin: Starts, tmp_path: Path) -> None:
    begin()
    for name, more in {"r1": {}, "r2": {"space": "1@elsewhere"}}.items():
        begun(tmp_path, name, **more).with_suffix(".live").touch()
    Path(runs.path_of("r3")).with_suffix(".live").touch()
    handle = begin()
    handle.stop()
    ended(handle)
    marks = sorted(name for name in os.listdir(runs_folder()) if name.endswith(".live"))
    assert marks[1:] == ["r2.live"]
    assert [run.run for run in runs.live()] == [marks[0].removesuffix(".live")]


def test_a_command_of_any_size_stands_in_the_journal(begin: Starts) -> None:
    handle = begin(["sh", "-c", "echo 1 > $3; exec sleep 1000", "sh", *["\x01" * 100_000] * 2])
    [run] = runs.live()
    assert run.run == handle.order.run
    assert run.argv[:2] == ("sh", "-c")
    assert os.path.getsize(run.path) < 100_000


def test_the_newest_files_are_kept_and_what_runs(begin: Starts, tmp_path: Path) -> None:
    for number in range(runs.KEPT + 5):
        begun(tmp_path, f"2099-{number:04}")
    me = system.identity(os.getpid())
    assert me is not None
    begun(tmp_path, "2000-lives", supervisor=me._asdict())
    handle = begin(run="2100-this")
    handle.stop()
    ended(handle)
    names = sorted(os.listdir(runs_folder()))
    assert names[:2] == ["2000-lives.json", "2099-0006.json"]
    assert names[-1] == "2100-this.json"
    assert len(names) == runs.KEPT + 1


def test_a_journal_that_cannot_be_written_stops_no_stop(begin: Starts, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no folder")
    handle = begin()
    handle.stop()
    outcome = ended(handle)
    assert outcome.signal == signal.SIGKILL
    assert "the journal is not written" in outcome.problem


# -- sessionlog stop ---------------------------------------------------------------------------


def test_stop_says_what_it_killed(begin: Starts, capsys: pytest.CaptureFixture[str]) -> None:
    handle = begin()
    code, out, err = stop(capsys, handle.order.session, "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["run"] == handle.order.run
    assert (told["session"], told["log"]) == (handle.order.session, handle.order.log)
    assert told["killed"] >= 1
    assert (told["how"], told["v"]) == ("killed", 1)
    assert told["seconds"] >= 0
    assert ended(handle).stopped == "command"


def test_a_gentle_stop_interrupts(begin: Starts, capsys: pytest.CaptureFixture[str]) -> None:
    handle = begin()
    code, out, _ = stop(capsys, "last", "--gentle")
    assert (code, "interrupted, " in out) == (0, True)
    assert ended(handle).code == 5


def test_what_has_ended_or_never_was_cannot_be_stopped(
    begin: Starts, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stop(capsys, "nobody") == (
        2, "", "sessionlog: nobody: nothing was handed over under that id; nothing is running\n"
    )  # fmt: skip
    handle = begin()
    handle.stop()
    over = ended(handle).ended
    code, out, err = stop(capsys, handle.order.run)
    assert (code, out) == (2, "")
    assert f"it ended at {over}, stopped by a person (signal 9)" in err


def test_the_processes_of_a_supervisor_that_was_killed_are_stopped(
    begin: Starts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fifo = trees.Fifo(tmp_path / "tree")
    handle = begin(["sh", "-c", f"{' '.join(trees.command('sessions', fifo.path))} & echo $$ > $0;\
 sleep 1000"])  # fmt: skip
    fifo.told(trees.SHAPES["sessions"])
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in reversed(handle._watchers):
            os.kill(process.pid, number)
    handle._process.wait(SOON)  # nobody asks the handle: its viewer could be gone, too
    code, out, _ = stop(capsys, handle.order.run, "--json")
    assert fifo.ended()
    assert code == 0
    assert "its supervisor was killed" in json.loads(out)["problem"]
    assert stop(capsys, handle.order.run)[0] == 2
    fifo.close()


def test_a_run_whose_watchers_are_stopped_is_stopped(begin: Starts, tmp_path: Path) -> None:
    fifo = trees.Fifo(tmp_path / "tree")
    hides = "(setsid env -i sh -c 'exec 3>{0}; echo $$ >&3; exec sleep 1000' &)"
    handle = begin(["sh", "-c", f"{hides.format(fifo.path)}; echo $$ > $0; exec sleep 1000"])
    fifo.told(1)
    for process in reversed(handle._watchers):
        os.kill(process.pid, signal.SIGSTOP)
    outcome = runs.stop(runs.find("last"))
    assert fifo.ended()
    assert outcome is not None
    assert (outcome.stopped, outcome.killed, outcome.problem) == ("command", 2, "")
    fifo.close()


SAYS_SO = "trap 'touch $0.asked; mv $0.gone $0' TERM; touch $0.ready; while :; do sleep 0.01; done"
"""A supervisor that stops everything when it is asked to, and closes its log for ever."""


def test_a_stop_waits_for_the_processes_and_not_for_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_CLOSING", 0.05)
    path = Path(runs.path_of("r1", environment(tmp_path)))
    path.parent.mkdir(parents=True)
    closes = subprocess.Popen(["sh", "-c", SAYS_SO, str(path)])
    me = system.identity(closes.pid)
    assert me is not None
    over = {"killed": 7, "stopped": "command"}
    begun(tmp_path, "r1", supervisor=me._asdict(), gone=over).rename(f"{path}.gone")
    begun(tmp_path, "r1", supervisor=me._asdict())
    while not Path(f"{path}.ready").exists():
        pass
    outcome = runs.stop(runs.find("r1", environment(tmp_path)))
    assert outcome is not None
    assert (outcome.killed, outcome.problem) == (7, "its log is still being closed")
    assert Path(f"{path}.asked").exists()
    assert closes.poll() is None
    assert runs.stop(runs.find("r1", environment(tmp_path))) is None
    closes.kill()
    closes.wait()


def test_nothing_is_done_or_written_for_what_cannot_be_seen_from_here(tmp_path: Path) -> None:
    path = begun(tmp_path, "r1", space="4026531836@another-start-of-another-machine")
    before = path.read_bytes()
    with pytest.raises(NotPossible, match="cannot be seen from here"):
        runs.stop(runs.find("r1", environment(tmp_path)))
    assert path.read_bytes() == before


def test_who_is_in_another_namespace_is_told_so(begin: Starts) -> None:
    handle = begin()
    apart = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*apart, "true"], capture_output=True).returncode:
        pytest.skip("no process namespaces here")
    argv = [*apart, sys.executable, "-m", "sessionlog", "stop", "last"]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=TESTS.parent)
    assert (done.returncode, "in another process namespace" in done.stderr) == (2, True)
    [run] = runs.live()
    assert (run.run, run.ended) == (handle.order.run, None)


def test_a_number_that_is_another_process_by_now_gets_no_signal(tmp_path: Path) -> None:
    begun(tmp_path, "r1")  # its supervisor has our number, and another start
    outcome = runs.stop(runs.find("r1", environment(tmp_path)))
    assert outcome is not None
    assert outcome.killed == 0
    me = system.identity(os.getpid())
    assert me is not None
    assert system.pin_process(Process(me.pid, "another")) is None
    held = system.pin_process(me)
    assert held is not None
    assert held.alive()
    held.close()


def test_a_process_that_ends_while_it_is_looked_at_is_not_held() -> None:
    # its number may be another's by the time of the signal
    child = subprocess.Popen(["sleep", "1000"])

    def wanted(pid: int) -> bool:
        child.kill()
        child.wait()
        return True

    assert system.pin(child.pid, wanted) is None
