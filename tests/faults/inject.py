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
import os
import resource
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import crawl4r
from crawl4r.interfaces.cli.main import main as crawl4r_main
from crawl4r.storage import own_files
from tests.faults.operations import Operation, Operations

PACKAGE = str(Path(crawl4r.__file__).parent)
PASSES_ON = str(Path(own_files.__file__))  # opens files for others, who give the place its name
OPERATIONS = {"open", "mkdir", "pwrite", "fsync", "ftruncate", "truncate", "fchmod", "replace"}
WRITE_FULL = "fault: the disk is full"


class Faults:
    """Counts the operations below a folder and makes one of them fail."""

    def __init__(
        self, folder: str, wish: str, no_sync_while: str = "", full_until: str = ""
    ) -> None:
        self._operations = Operations(folder, self._do)
        self._wish = wish
        self._full_until = full_until
        self._no_sync_while = no_sync_while
        self._is_full = False
        self._seen: Counter[str] = Counter()
        self.trace: list[str] = []

    def install(self) -> None:
        self._operations.install()

    def _do(self, operation: Operation) -> Any:
        if operation.name == "write":
            return self._write(operation)
        if operation.name in OPERATIONS and self._fails(operation.name):
            code = errno.EIO if operation.name == "fsync" else errno.ENOSPC
            raise OSError(code, os.strerror(code))
        return operation.perform()

    def _write(self, operation: Operation) -> Any:
        if self._is_full and not (self._full_until and os.path.exists(self._full_until)):
            raise OSError(errno.ENOSPC, WRITE_FULL)
        if self._is_wished("write"):
            self._is_full = True
            return operation.begin()
        return operation.perform()

    def _fails(self, name: str) -> bool:
        is_sick = self._no_sync_while and os.path.exists(self._no_sync_while)
        return self._is_wished(name) or (name == "fsync" and bool(is_sick))

    def _is_wished(self, operation: str) -> bool:
        place = f"{operation} in {' < '.join(_callers())}"
        self._seen[place] += 1
        self.trace.append(f"{place}#{self._seen[place]}")
        return self.trace[-1] == self._wish


def _callers() -> list[str]:
    frame, names = sys._getframe(), []
    while frame is not None and len(names) < 2:
        file = frame.f_code.co_filename
        if file.startswith(PACKAGE) and file != PASSES_ON:
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
