"""Diagnose a stalled crawl: check the store, the disk, open files and threads.

Each check may hang like the crawl itself, so `within` gives it a thread and a deadline.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from crawl4r.resilience.memory import own_mb
from crawl4r.resilience.probes import Prober, endpoints_of
from crawl4r.resilience.stall import Facts

T = TypeVar("T")

SECONDS = 10.0  # limit of a check of a disk
_FRAMES = 16  # of a stack, from its innermost call
_TRIAL = ".written-to-see-whether-it-works"
_MB = 1024**2


def within(seconds: float, work: Callable[[], T], late: T) -> T:
    """The result of `work`, or `late` after the deadline; the thread is then abandoned."""
    done: list[T] = []
    thread = threading.Thread(target=lambda: done.append(work()), name="look", daemon=True)
    thread.start()
    thread.join(seconds)
    return done[0] if done else late


def examine(
    silence: Facts, folder: Path, prober: Prober, places: Sequence[str], growth: float
) -> Facts:
    """Add possible causes to an examination that has the length of the silence and the stack."""
    files, files_limit = open_files()
    return replace(
        silence,
        probes=prober.ask(endpoints_of(places)),
        store=problem_of_store(folder),
        disk_mb=free_mb(folder),
        files=files,
        files_limit=files_limit,
        memory_mb=own_mb(),
        growth_mb_hour=growth,
    )


def problem_of_store(folder: Path, size: int = 8) -> str:
    """The error of writing and syncing a file of `size` bytes in a folder; empty on success."""

    def attempt() -> str:
        path = folder / _TRIAL
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                with open(fd, "wb") as file:
                    file.write(bytes(size))
                    file.flush()
                    os.fsync(fd)
            finally:
                os.unlink(path)
        except OSError as problem:
            return f"{folder}: {problem.strerror}"
        return ""

    return within(SECONDS, attempt, f"{folder}: a small file took longer than {SECONDS:g} s")


def free_mb(folder: Path) -> float | None:
    """The free space on the folder's disk."""

    def look() -> float | None:
        with contextlib.suppress(OSError):
            return shutil.disk_usage(folder).free / _MB
        return None

    return within(SECONDS, look, None)


def open_files() -> tuple[int | None, int | None]:
    """The number of open files of this process, and its limit."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        count = len(os.listdir("/proc/self/fd"))
    except OSError:
        return None, limit
    return count, None if limit == resource.RLIM_INFINITY else limit


def stack_of(thread: int) -> list[str]:
    """The stack of a thread, the innermost call first."""
    frame = sys._current_frames().get(thread)
    if frame is None:
        return []
    calls = traceback.extract_stack(frame)[-_FRAMES:]
    return [f"{call.filename}:{call.lineno} {call.name}: {call.line}" for call in reversed(calls)]
