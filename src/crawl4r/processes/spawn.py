"""Processes for the sandbox: started when there is work for them, or ahead of time.

A command that surely needs them starts them early, so that they load their modules while it loads its
own; or it forks them, so that they share its modules. An unused process ends when its channel closes
with the command.
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
    """The part of `subprocess.Popen` that a sandbox needs."""

    def kill(self) -> None: ...
    def wait(self) -> int: ...


class Spawned(NamedTuple):
    process: Process
    channel: socket.socket  # to its standard input, both ways


_AHEAD: dict[str, list[Spawned]] = {}  # by entry point


def usable_cores() -> int:
    """The number of CPUs that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def start_ahead(function: str, count: int) -> None:
    """Start processes for the sandbox that will run this `module:function`."""
    _AHEAD.setdefault(function, []).extend(_start(function) for _ in range(count))


def fork_ahead(function: str, count: int, *, is_shared: bool = True) -> None:
    """Fork processes from a program that has loaded their modules, while it has one thread.

    A fork costs milliseconds, a start a fifth of a second. Does nothing on systems where libraries
    break in a fork, or beside threads, whose locks the child would inherit.
    `is_shared`: load the module of the function here, once for all children.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return
    import_module("crawl4r.processes.worker")
    if is_shared:
        import_module(function.partition(":")[0])
    _AHEAD.setdefault(function, []).extend(_fork(function) for _ in range(count))


def spawn(function: str) -> Spawned:
    """A process that was started ahead, or a new one."""
    waiting = _AHEAD.get(function)
    return waiting.pop() if waiting else _start(function)


def _start(function: str) -> Spawned:
    ours, theirs = _channel()
    with theirs:
        # Blocks only for the fork; asyncio would add a watcher and unused pipes.
        process = subprocess.Popen(
            [sys.executable, "-m", "crawl4r.processes.worker", function],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # only the crawl gets Ctrl-C, and ends its workers
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
    """Run the worker in the forked process, like `_start` does in a fresh one; never returns."""
    try:
        os.setsid()
        os.dup2(channel.fileno(), 0)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        # Close the other workers' channels, so that they notice the end of the parent. By name, because
        # the limit of descriptors may be a million.
        for fd in [int(name) for name in os.listdir("/proc/self/fd")]:
            if fd > 2:
                with contextlib.suppress(OSError):  # the descriptor of the folder listing
                    os.close(fd)
        from crawl4r.processes.worker import serve  # noqa: PLC0415 - it was loaded before the fork

        serve(function)
    except BaseException:
        os._exit(1)
    os._exit(0)


class _Forked:
    """A forked child with the interface of `Popen`."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._code: int | None = None

    def kill(self) -> None:
        if self._code is None:  # after that the pid may belong to another process
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> int:
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._code
