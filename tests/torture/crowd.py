"""Whom a stop must not hit, and what it must: processes that come and go within milliseconds."""

from __future__ import annotations

import mmap
import os
import random
import signal
import struct
import time


class Neighbour:
    """Another's process that takes each number that becomes free, and must hear no signal."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, 4096)  # wanted number, taken, hit, end
        self._pid = os.fork()
        if self._pid == 0:
            self._take()

    def want(self, pid: int) -> None:
        self._shared[:4] = struct.pack("i", pid)

    def end(self) -> tuple[int, int]:
        """How many numbers it took, and how many of its processes a signal hit."""
        self._shared[12:16] = struct.pack("i", 1)
        os.waitpid(self._pid, 0)
        taken, hit = struct.unpack("ii", self._shared[4:12])
        return taken, hit

    def _take(self) -> None:
        taken = hit = 0
        while not self._shared[12]:
            wanted = struct.unpack("i", self._shared[:4])[0]
            if wanted < 3:
                continue
            for number in range(wanted, wanted + 3):  # a tree's numbers follow each other
                with open("/proc/sys/kernel/ns_last_pid", "w") as file:
                    file.write(str(number - 1))
                pid = os.fork()
                if pid == 0:
                    os.setsid()  # a signal to a group of that number would hit it, too
                    for heard in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                        signal.signal(heard, lambda *_: os._exit(3))
                    time.sleep(0.004)
                    os._exit(0)
                taken += pid == number
                status = os.waitpid(pid, os.WUNTRACED)[1]
                hit += status != 0
                if os.WIFSTOPPED(status):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
            self._shared[4:12] = struct.pack("ii", taken, hit)
        os._exit(0)


def small_tree(rng: random.Random) -> int:
    """A leader with some children, each of which ends by itself within milliseconds."""
    lives = [rng.random() * 0.003 for _ in range(rng.randrange(1, 4))]
    away, twice = rng.random() < 0.4, rng.random() < 0.3
    ready, go = os.pipe()
    leader = os.fork()
    if leader:
        os.close(go)
        os.read(ready, 1)
        os.close(ready)
        return leader
    os.setsid()
    os.write(go, b".")
    os.close(go)
    for life in lives[1:]:
        if os.fork() == 0:
            if away:
                os.setsid()
            if twice and os.fork():
                os._exit(0)
            time.sleep(life)
            os._exit(0)
    time.sleep(lives[0])
    os._exit(0)
