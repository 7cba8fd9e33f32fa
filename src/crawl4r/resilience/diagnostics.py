"""What is wrong with us? Looks at the store, the disk, open files and threads when a crawl stalls.

Each look may hang like whatever made the crawl stall: `within` gives it a thread and a deadline.
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

SECONDS = 10.0  # that a look at a disk may take
_FRAMES = 16  # of a stack, from its innermost call
_TRIAL = ".written-to-see-whether-it-works"
_MB = 1024**2


def within(seconds: float, work: Callable[[], T], late: T) -> T:
    """What `work` returns, or `late` when it takes longer; it is then left to itself."""
    done: list[T] = []
    thread = threading.Thread(target=lambda: done.append(work()), name="look", daemon=True)
    thread.start()
    thread.join(seconds)
    return done[0] if done else late


def examine(
    silence: Facts, folder: Path, prober: Prober, places: Sequence[str], growth: float
) -> Facts:
    """Everything that may explain a silence, of which only its length and its stack are known."""
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
    """What keeps a file of so many bytes from being written and synced in a folder; empty when nothing
    does."""

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
    """Room on the folder's disk."""

    def look() -> float | None:
        with contextlib.suppress(OSError):
            return shutil.disk_usage(folder).free / _MB
        return None

    return within(SECONDS, look, None)


def open_files() -> tuple[int | None, int | None]:
    """How many this process has open, and how many it may."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        count = len(os.listdir("/proc/self/fd"))
    except OSError:
        return None, limit
    return count, None if limit == resource.RLIM_INFINITY else limit


def stack_of(thread: int) -> list[str]:
    """Where a thread is now, the innermost call first."""
    frame = sys._current_frames().get(thread)
    if frame is None:
        return []
    calls = traceback.extract_stack(frame)[-_FRAMES:]
    return [f"{call.filename}:{call.lineno} {call.name}: {call.line}" for call in reversed(calls)]
