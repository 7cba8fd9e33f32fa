"""Processes for the sandbox: started when there is work for them, or ahead of it.

A command that is sure to need them starts them before it loads its own modules: they load theirs
meanwhile. One that is never used ends when its channel closes, with us.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from typing import NamedTuple


class Spawned(NamedTuple):
    process: subprocess.Popen[bytes]
    channel: socket.socket  # to its standard input, both ways


_AHEAD: dict[str, list[Spawned]] = {}  # by what they run


def start_ahead(function: str, count: int) -> None:
    """Start processes for the sandbox that will run this `module:function`."""
    _AHEAD.setdefault(function, []).extend(_start(function) for _ in range(count))


def spawn(function: str) -> Spawned:
    """A process that was started ahead, or a new one."""
    waiting = _AHEAD.get(function)
    return waiting.pop() if waiting else _start(function)


def _start(function: str) -> Spawned:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with theirs:
        # Blocking for the fork alone; asyncio would add a watcher and pipes we have no use for.
        process = subprocess.Popen(
            [sys.executable, "-m", "crawl4r.resilience.sandboxed", function],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the crawl, which then ends its workers
        )
    return Spawned(process, ours)
