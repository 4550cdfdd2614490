"""A program with the person's screen: bytes both ways, and the key that is ours."""

from __future__ import annotations

import hashlib
import os
import random
import re
import signal
import termios

import pytest

pytest.importorskip("pty")

from desk import Desk, Launched, python, sh, state

from sessionlog.relay import relay

READ = "data = b''\nwhile len(data) < {0}: data += os.read(0, 65536)\n"
LOOP = "while True: os.write(1, repr(os.read(0, 9999)).encode() + b'\\r\\n')"
ECHO = "print('ready', end='\\r\\n', flush=True)\n" + LOOP
RESERVED = [b"\x1d", b"\x1b[93;5u", b"\x1b[93:125;5:1u", b"\x1b[93;133u", b"\x1b[27;5;93~"]


def test_bytes_pass_as_they_are_both_ways() -> None:
    size = 1 << 20
    typed = random.Random(1).randbytes(size).replace(b"\x1d", b"x")
    code = (
        "import hashlib, random\nprint('ready', flush=True)\n" + READ.format(size)
        + "print(hashlib.sha256(data).hexdigest(), flush=True)\n"
        "os.write(1, b'<'); left = random.Random(2).randbytes(1 << 20)\n"
        "while left: left = left[os.write(1, left):]\nos.write(1, b'>')"
    )  # fmt: skip
    running = python(code)
    with Desk(running) as desk:
        desk.seen = False
        desk.until(lambda: b"ready" in desk.output)
        desk.type(typed)
        assert desk.ended() == 0
        got, _, rest = bytes(desk.output).partition(b"\n")[2].partition(b"\n<")
        assert got.strip().decode() == hashlib.sha256(typed).hexdigest()
        assert rest[: 1 << 20] == random.Random(2).randbytes(1 << 20)
    running.close()


@pytest.mark.parametrize("key", RESERVED)
def test_the_reserved_key_brings_up_the_line_in_whatever_form_it_comes(key: bytes) -> None:
    running = python(ECHO)
    with Desk(running, title="claude --resume 7") as desk:
        desk.until(desk.shows("ready"))
        desk.type(key)
        desk.until(desk.shows("stop (S)  gentle stop (i)  go on (esc)"))
        assert desk.emulator.rows[-1].startswith(" claude --resume 7")
        desk.type(b"S")
        assert desk.ended() == -signal.SIGKILL
        assert running.stops == ["stop"]
        assert not desk.shows("go on")()
        assert desk.faults() == []
    running.close()


def test_a_gentle_stop_interrupts_and_lets_it_say_goodbye() -> None:
    running = sh("trap 'echo bye; exit 3' INT; echo ready; while :; do sleep 0.01; done")
    with Desk(running) as desk:
        desk.until(desk.shows("ready"))
        desk.type(b"\x1di")
        assert desk.ended() == 3
        assert running.stops == ["gentle"]
        assert desk.shows("bye")()
    running.close()


def test_going_on_gives_the_row_back_and_has_the_program_paint_again() -> None:
    running = python(ECHO)
    with Desk(running) as desk:
        desk.until(desk.shows("ready"))
        before = desk.emulator.rows
        desk.type(b"\x1d")
        desk.until(desk.shows("go on"))
        desk.type(b"\x1b")
        desk.until(lambda: running.sizes[1:] == [(23, 80), (24, 80)])
        assert desk.emulator.rows == before
        desk.type(b"hello")
        desk.until(desk.shows("b'hello'"))
        assert running.stops == []
        assert desk.emulator.rows[:2] == ["ready", "b'hello'"]
    running.close()


def test_the_line_stays_when_it_comes_again_before_the_row_is_given_back() -> None:
    running = python(ECHO)
    with Desk(running) as desk:
        desk.until(desk.shows("ready"))
        desk.type(b"\x1d\x1b[27u\x1d")
        desk.until(lambda: running.sizes[1:] == [(23, 80), (24, 80)])
        desk.look(0.1)
        assert desk.shows("go on")()
    running.close()


def test_a_line_on_the_last_row_survives_ours() -> None:
    running = python("print('\\r\\n' * 30 + 'half', end='', flush=True)\n" + LOOP)
    with Desk(running) as desk:
        desk.until(desk.shows("half"))
        assert desk.emulator.rows[-1] == "half"
        desk.type(b"\x1d")
        desk.until(desk.shows("go on"))
        assert desk.emulator.rows[-2] == "half"
        desk.type(b"\x1b")
        desk.until(lambda: not desk.shows("go on")())
        desk.type(b"x")
        desk.until(desk.shows("b'x'"))
        assert desk.shows("halfb'x'")()
    running.close()


def test_the_reserved_key_twice_reaches_the_program_as_it_came() -> None:
    running = python(ECHO)
    with Desk(running) as desk:
        desk.until(desk.shows("ready"))
        desk.type(b"\x1d\x1b[93;5u")
        desk.until(desk.shows(repr(b"\x1b[93;5u")))
        assert not desk.shows("go on")()
    running.close()


def test_output_waits_while_the_line_is_up_and_all_of_it_comes() -> None:
    count = "import itertools\nfor i in itertools.count(): print(i, end='\\r\\n', flush=True)"
    running = python(count)
    with Desk(running) as desk:
        desk.until(desk.shows("99"))
        desk.type(b"\x1d")
        desk.until(desk.shows("go on"))
        size = len(desk.output)
        # the line itself is written again each second; the count is not
        desk.until(lambda: desk.output.count(b"go on", size) >= 1)
        assert b"\r\n" not in desk.output[size:]
        desk.type(b"\x1b")
        desk.until(lambda: desk.output.count(b"\r\n", size) > 1000)
        desk.type(b"\x1dS")
        desk.ended()
        theirs = bytes(desk.output).partition(b"\x1b7")[2]  # what we do first ends so
        theirs = re.sub(rb"\x1bD\x1b\[A\x1b7.*?\x1b8", b"", theirs, flags=re.DOTALL)
        numbers = [int(word) for word in re.findall(rb"(\d+)\r\n", theirs)]
        assert numbers == list(range(len(numbers)))
    running.close()


def test_a_flood_does_not_stand_before_the_reserved_key() -> None:
    running = Launched("yes", "all work and no play")
    with Desk(running) as desk:
        desk.until(desk.shows("no play"))
        desk.type(b"\x1d")
        desk.until(desk.shows("go on"))
        desk.type(b"S")
        assert desk.ended() == -signal.SIGKILL
        assert desk.faults() == []
    running.close()


def test_a_terminal_that_takes_nothing_does_not_stand_before_the_stop() -> None:
    running = Launched("yes")
    with Desk(running) as desk:
        desk.until(lambda: desk.output)
        os.write(desk.master, b"\x1dS")  # and nothing is read from here on
        running.process.wait()
        assert running.stops == ["stop"]
        assert desk.ended() == -signal.SIGKILL
    running.close()


def test_what_a_program_does_not_read_does_not_stand_before_the_reserved_key() -> None:
    code = "print('ready', flush=True)\nos.read(0, 1)\nos.kill(os.getpid(), 19)\n" + READ
    running = python(code.format(500_000) + "print(len(data), flush=True)")
    with Desk(running) as desk:
        desk.until(desk.shows("ready"))
        desk.type(b"x" * 500_001)
        desk.until(lambda: state(running.process.pid) == "T" and not desk.typed)
        desk.type(b"\x1d")
        desk.until(desk.shows("go on"))
        desk.type(b"\x1b")
        running.process.send_signal(signal.SIGCONT)
        desk.until(desk.shows("500000"))
        assert desk.ended() == 0
    running.close()


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGTSTP])
def test_a_program_that_stops_itself_can_be_stopped(number: signal.Signals) -> None:
    running = python(f"print('ready', flush=True)\nos.kill(os.getpid(), {number:d})\n" + ECHO)
    with Desk(running) as desk:
        desk.until(desk.shows("ready"))
        if number == signal.SIGSTOP:  # the other has no effect in an orphaned process group
            desk.until(lambda: state(running.process.pid) == "T")
        desk.type(b"\x1d")
        desk.until(desk.shows("go on"))
        desk.type(b"S")
        assert desk.ended() == -signal.SIGKILL
        assert desk.faults() == []
    running.close()


@pytest.mark.parametrize("text", ["", "echo last words; exit 7"])
def test_a_program_that_exits_at_once(text: str) -> None:
    running = sh(text)
    with Desk(running) as desk:
        assert desk.ended() == 7 * bool(text)
        assert desk.shows(text[5:15])()
        assert desk.faults() == []
    running.close()


def test_a_program_that_lets_go_of_its_terminal_is_waited_for_at_rest() -> None:
    running = sh("echo bye; exec <&- >&- 2>&-; sleep 0.5; exit 5")
    with Desk(running) as desk:
        assert desk.ended() == 5
        assert desk.shows("bye")()
        assert running.looks < 200  # it would be thousands
    running.close()


def test_an_orphan_with_the_terminal_does_not_keep_us() -> None:
    running = sh("(trap '' HUP; while :; do echo still here; done) & echo done")
    with Desk(running) as desk:
        assert desk.ended() == 0
        assert desk.faults() == []
    os.killpg(running.process.pid, signal.SIGKILL)
    running.close()


@pytest.mark.parametrize("how", ["hang up", "told"])
def test_it_is_stopped_when_the_person_or_the_viewer_goes(how: str) -> None:
    running = python(ECHO)
    with Desk(running) as desk:
        desk.until(desk.shows("ready"))
        if how == "told":
            os.write(desk.leaving, b"x")
            assert desk.ended() == -signal.SIGKILL
            assert desk.faults() == []
        else:
            desk.hang_up()
            running.process.wait()
        assert running.stops == ["leave"]
    running.close()


def test_the_program_has_the_terminals_size() -> None:
    code = (
        "import signal, fcntl, struct, termios\n"
        "def say(*_): print(os.get_terminal_size(), end='\\r\\n', flush=True)\n"
        "signal.signal(signal.SIGWINCH, say); say()\nwhile True: signal.pause()"
    )
    running = python(code)
    with Desk(running, rows=30, columns=100) as desk:
        desk.until(desk.shows("columns=100, lines=30"))
        desk.resize(10, 60)
        desk.until(desk.shows("columns=60, lines=10"))
        desk.type(b"\x1d")
        desk.until(desk.shows("go on"))
        desk.type(b"\x1b")
        desk.until(desk.shows("columns=60, lines=9"))
        desk.until(lambda: running.sizes[-1] == (10, 60))
    running.close()


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[200~S\x1d i\x1b[201~",  # a paste
        b"\x1b[MSSS",  # the mouse, in its oldest encoding
        b"\x1bP>|STerm(i)\x1b\\",  # an answer
        b"\x1bS\x1bOS\x1b[1;2S",  # alt+S, a function key
        b"\x1b[93;5:3u\x1b[27;1:3u",  # keys let go
    ],
)
def test_what_only_holds_the_same_letters_is_no_choice(data: bytes) -> None:
    running = python(ECHO)
    with Desk(running) as desk:
        desk.until(desk.shows("ready"))
        desk.type(b"\x1d" + data + b"\x1d")  # the second one goes to the program
        desk.until(desk.shows("\\x1d'"))
        assert running.stops == []
    running.close()


def test_a_paste_reaches_the_program_whole() -> None:
    running = python(ECHO)
    paste = b"\x1b[200~S \x1d i\x1b[201~"
    with Desk(running) as desk:
        desk.until(desk.shows("ready"))
        desk.type(paste)
        desk.until(desk.shows(repr(paste)))
    running.close()


def test_the_flags_of_the_terminal_are_left_alone() -> None:
    running = python(ECHO)
    with Desk(running) as desk:
        desk.until(desk.shows("ready"))
        assert os.get_blocking(desk.slave)
    running.close()


def test_a_title_from_a_log_is_text() -> None:
    running = python(ECHO)
    with Desk(running, title="\x1b[2J\x1b]0;x\x07evil") as desk:
        desk.until(desk.shows("ready"))
        desk.type(b"\x1d")
        desk.until(desk.shows("go on"))
        assert desk.shows("ready")()
        assert desk.shows("evil")()
    running.close()


def test_a_fault_of_ours_leaves_nothing_running_and_the_terminal_whole() -> None:
    running = sh("exec sleep 1000")
    master, slave = os.openpty()
    before = termios.tcgetattr(slave)
    clock = iter([0.0] * 20).__next__
    with pytest.raises(StopIteration):
        relay(running, slave, slave, title="agent", now=clock)
    assert running.stops == ["stop"]
    assert termios.tcgetattr(slave) == before
    running.close()
    os.close(slave)
    os.close(master)
