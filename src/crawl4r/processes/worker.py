"""The worker's side of `sandbox`: the loop inside the worker process."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import Any, cast

from msgspec import json

from crawl4r.processes.framing import FRAME, ProcessLimits
from crawl4r.processes.lockdown import lock_down
from crawl4r.processes.malloc import collect_seldom, keep_freed_memory
from crawl4r.safe_text import encode_json

_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15  # prctl.h
_NAME = b"crawl4r-sandbox"  # for `ps` and `top`, at most 15 bytes
_LOADED_LATE = ("unicodedata", "heapq")  # imported inside `urljoin` and `Counter`


def serve(function: str) -> None:
    """Answer the jobs from standard input until it closes."""
    _die_with_the_parent()
    keep_freed_memory()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's, which spin for 0.1 s
    module, _, name = function.partition(":")
    make = getattr(importlib.import_module(module), name)
    channel = socket.socket(fileno=0)
    with channel, channel.makefile("rb", buffering=256 * 1024) as incoming:
        jobs = _jobs(cast(BufferedReader, incoming))
        config, plain_limits = next(jobs, (None, b""))
        if not plain_limits:  # started ahead and not used
            return
        limits = json.decode(plain_limits, type=ProcessLimits)
        run = make(config)
        for late in _LOADED_LATE:
            importlib.import_module(late)
        collect_seldom()
        lock_down(limits.memory_bytes)  # after `make` has loaded all modules
        channel.sendall(FRAME.pack(0, 0))  # ready: the time limit of the first page begins
        for head, body in jobs:
            signal.setitimer(signal.ITIMER_PROF, limits.seconds)  # CPU; then SIGPROF kills us
            answer, failed = _answer(run, head, body)
            channel.sendall(FRAME.pack(len(answer), failed) + answer)


def _jobs(incoming: BufferedReader) -> Iterator[tuple[Any, bytes]]:
    while frame := incoming.read(FRAME.size):
        head_length, body_length = FRAME.unpack(frame)
        yield json.decode(incoming.read(head_length)), incoming.read(body_length)


def _answer(run: Callable[[Any, bytes], Any], head: Any, body: bytes) -> tuple[bytes, int]:
    try:
        return encode_json(run(head, body)), 0
    except Exception as problem:  # blame the page and go on
        return encode_json(f"{type(problem).__name__}: {problem}"[:300]), 1


def _die_with_the_parent() -> None:
    """End with the parent (Linux only): a parser stuck in native code sees no closed channel."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError, AttributeError):
        prctl = ctypes.CDLL(None).prctl
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        prctl(_PR_SET_NAME, _NAME)


if __name__ == "__main__":
    serve(sys.argv[1])
