"""Processes for the sandbox: started when there is work for them, or ahead of it.

A command that is sure to need them has them made before: started, to load their modules while it loads
its own, or forked, to share what it has loaded. One that is never used ends when its channel closes,
with us.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from importlib import import_module
from typing import NamedTuple, NoReturn, Protocol


class Process(Protocol):
    """As much of `subprocess.Popen` as a sandbox needs."""

    def kill(self) -> None: ...
    def wait(self) -> int: ...


class Spawned(NamedTuple):
    process: Process
    channel: socket.socket  # to its standard input, both ways


_AHEAD: dict[str, list[Spawned]] = {}  # by what they run


def usable_cores() -> int:
    """Those that this process may run on, which may be fewer than there are."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def start_ahead(function: str, count: int) -> None:
    """Start processes for the sandbox that will run this `module:function`."""
    _AHEAD.setdefault(function, []).extend(_start(function) for _ in range(count))


def fork_ahead(function: str, count: int, *, is_shared: bool = True) -> None:
    """The same for a program that has loaded many of their modules itself, while it has one thread.

    A fork costs milliseconds where a start costs a fifth of a second. Not on other systems, where
    libraries are known to break in a fork, and not beside threads, whose locks it would inherit.
    `is_shared`: the module of the function is loaded here, once for all of them.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return
    import_module("crawl4r.processes.worker")
    if is_shared:
        import_module(function.partition(":")[0])
    _AHEAD.setdefault(function, []).extend(_fork(function) for _ in range(count))


def spawn(function: str) -> Spawned:
    """A process that was made ahead, or a new one."""
    waiting = _AHEAD.get(function)
    return waiting.pop() if waiting else _start(function)


def _start(function: str) -> Spawned:
    ours, theirs = _channel()
    with theirs:
        # Blocking for the fork alone; asyncio would add a watcher and pipes we have no use for.
        process = subprocess.Popen(
            [sys.executable, "-m", "crawl4r.processes.worker", function],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the crawl, which then ends its workers
        )
    return Spawned(process, ours)


def _fork(function: str) -> Spawned:
    ours, theirs = _channel()
    with theirs:
        pid = os.fork()
        if not pid:
            _be_a_worker(function, theirs)
    return Spawned(_Forked(pid), ours)


def _channel() -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    return ours, theirs


def _be_a_worker(function: str, channel: socket.socket) -> NoReturn:
    """In the new process: what `_start` asks of a fresh one, and no way back into the program."""
    try:
        os.setsid()
        os.dup2(channel.fileno(), 0)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        # Above all the other workers' channels: they would not see that we closed ours. By name, for
        # there may be room for a million.
        for fd in [int(name) for name in os.listdir("/proc/self/fd")]:
            if fd > 2:
                with contextlib.suppress(OSError):  # the one that the folder was read by
                    os.close(fd)
        from crawl4r.processes.worker import serve  # noqa: PLC0415 - it was loaded before the fork

        serve(function)
    except BaseException:
        os._exit(1)
    os._exit(0)


class _Forked:
    """A child of ours that is no `Popen`."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._code: int | None = None

    def kill(self) -> None:
        if self._code is None:  # else the number may be another's
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> int:
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._code
