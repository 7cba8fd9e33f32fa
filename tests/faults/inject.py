"""python -m tests.faults.inject COMMAND...: crawl4r with one file operation that fails.

    CRAWL4R_FAULT=place#n       the n-th call at this place fails; without it none does
    CRAWL4R_FAULT_UNTIL=file    a disk that became full by that has room again once this file is there
    CRAWL4R_FAULT_WHILE=file    every fsync fails as long as this file is there
    CRAWL4R_FAULT_TRACE=file    where the places of all calls are noted, in order
    CRAWL4R_FILE_LIMIT=bytes    no file may grow beyond (RLIMIT_FSIZE): for what SQLite itself writes

A place is an operation and the two functions of crawl4r that led to it. Only operations on files in
the workspace count. A failing write first takes a third of its bytes, as a disk that fills up does.
"""

from __future__ import annotations

import errno
import io
import os
import resource
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import crawl4r
from crawl4r.interfaces.cli.main import main as crawl4r_main

PACKAGE = str(Path(crawl4r.__file__).parent)
OPERATIONS = ("open", "mkdir", "pwrite", "fsync", "ftruncate", "truncate", "fchmod", "replace")
WRITE_FULL = "fault: the disk is full"


class Faults:
    """Counts the operations below a folder and makes one of them fail."""

    def __init__(
        self, folder: str, wish: str, no_sync_while: str = "", full_until: str = ""
    ) -> None:
        self._folder = folder
        self._wish = wish
        self._full_until = full_until
        self._no_sync_while = no_sync_while
        self._is_full = False
        self._seen: Counter[str] = Counter()
        self.trace: list[str] = []

    def install(self) -> None:
        for name in OPERATIONS:
            setattr(os, name, self._wrapped(name, getattr(os, name)))
        self._write = os.write
        os.write = self.write
        os.fdopen = self._fdopen

    def write(self, fd: int, data: Any) -> int:
        if not self._is_ours(fd):
            return self._write(fd, data)
        if self._is_full and not (self._full_until and os.path.exists(self._full_until)):
            raise OSError(errno.ENOSPC, WRITE_FULL)
        if self._is_wished("write"):
            self._is_full = True
            return self._write(fd, bytes(data)[: len(data) // 3])
        return self._write(fd, data)

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def operation(target: Any, *arguments: Any, **named: Any) -> Any:
            if self._is_ours(target) and (self._is_wished(name) or self._is_sick(name)):
                code = errno.EIO if name == "fsync" else errno.ENOSPC
                raise OSError(code, os.strerror(code))
            return real(target, *arguments, **named)

        return operation

    def _fdopen(self, fd: int, mode: str = "r", *arguments: Any, **named: Any) -> Any:
        if mode != "wb":
            return io.open(fd, mode, *arguments, **named)  # noqa: UP020 (what os.fdopen does)
        return io.BufferedWriter(_RawFile(fd, self))

    def _is_ours(self, target: Any) -> bool:
        path = os.readlink(f"/proc/self/fd/{target}") if isinstance(target, int) else str(target)
        return path.startswith(self._folder)

    def _is_sick(self, operation: str) -> bool:
        lasts = self._no_sync_while and os.path.exists(self._no_sync_while)
        return operation == "fsync" and bool(lasts)

    def _is_wished(self, operation: str) -> bool:
        place = f"{operation} in {' < '.join(_callers())}"
        self._seen[place] += 1
        self.trace.append(f"{place}#{self._seen[place]}")
        return self.trace[-1] == self._wish


class _RawFile(io.FileIO):
    """A file whose writes go through the faults."""

    def __init__(self, fd: int, faults: Faults) -> None:
        super().__init__(fd, "wb")
        self._faults = faults

    def write(self, data: Any) -> int:
        return self._faults.write(self.fileno(), data)


def _callers() -> list[str]:
    frame, names = sys._getframe(2), []
    while frame is not None and len(names) < 2:
        if frame.f_code.co_filename.startswith(PACKAGE):
            names.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return names


def main() -> None:
    workspace = sys.argv[sys.argv.index("--workspace") + 1]
    if limit := os.environ.get("CRAWL4R_FILE_LIMIT"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit),) * 2)
    while_there = os.environ.get("CRAWL4R_FAULT_WHILE", "")
    until_there = os.environ.get("CRAWL4R_FAULT_UNTIL", "")
    faults = Faults(workspace, os.environ.get("CRAWL4R_FAULT", ""), while_there, until_there)
    faults.install()
    try:
        crawl4r_main()
    finally:
        if trace := os.environ.get("CRAWL4R_FAULT_TRACE"):
            Path(trace).write_text("\n".join(faults.trace))


if __name__ == "__main__":
    main()
