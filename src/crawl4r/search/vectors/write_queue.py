"""A file of writes that wait until the server accepts them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crawl4r.errors import StorageDamaged, StorageFull
from crawl4r.storage.fsync import sync_folder, write_all


class WriteQueue:
    """A queue of JSON values in order, one per line. One process at a time may use it.

    After a crash it may return some values again, so the writes must be idempotent.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{name}.queue"
        self._taken = 0  # bytes that `waiting` has returned
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(
                self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600
            )
            sync_folder(folder)
            self._end = self._cut_torn_line()
        except OSError as problem:
            raise self._full(problem) from problem

    def __len__(self) -> int:
        """The number of waiting bytes."""
        return self._end - self._taken

    def append(self, value: dict[str, Any]) -> None:
        """Durable on return."""
        line = json.dumps(value).encode() + b"\n"
        try:
            write_all(self._fd, line)
            os.fsync(self._fd)
        except OSError as problem:
            os.ftruncate(self._fd, self._end)
            raise self._full(problem) from problem
        self._end += len(line)

    def take(self) -> Iterator[dict[str, Any]]:
        """Iterate over the waiting values. Asking for the next one removes the one before."""
        with self._path.open("rb") as file:
            file.seek(self._taken)
            for line in file:
                try:
                    yield json.loads(line)
                except ValueError as problem:
                    raise StorageDamaged(
                        f"{self._path}: a line is not JSON: {problem}"
                    ) from problem
                self._taken += len(line)
        os.ftruncate(self._fd, 0)
        os.fsync(self._fd)
        self._taken = self._end = 0

    def close(self) -> None:
        os.close(self._fd)

    def _cut_torn_line(self) -> int:
        whole = self._path.read_bytes().rfind(b"\n") + 1
        os.ftruncate(self._fd, whole)
        return whole

    def _full(self, problem: OSError) -> StorageFull:
        return StorageFull(
            f"cannot write {self._path}: {problem.strerror}; free some space and run the command again"
        )
