"""Replace files: write new ones and move them when complete, or compare with the existing ones."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from io import FileIO
from itertools import zip_longest
from pathlib import Path
from typing import IO, NamedTuple

from crawl4r.errors import StorageFull, UsageError
from crawl4r.storage.fsync import sync_folder, write_all

_SHOWN = 200  # characters of a line
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


class ReplacedFiles:
    """Writes new files in `folder`, and moves them to their `places`; keys are their kinds."""

    def __init__(
        self, folder: Path, places: Mapping[str, Path], headers: Mapping[str, bytes]
    ) -> None:
        self._folder = folder
        self._places = places
        self._files: dict[str, FileIO] = {}
        try:
            for kind in places:
                # Without a buffer, so that closing the file writes nothing.
                self._files[kind] = self._beside(kind).open("wb", buffering=0)
        except OSError as problem:
            raise _full(folder, problem) from problem
        for kind in places:
            self.take(kind, headers[kind])

    def take(self, kind: str, data: bytes) -> None:
        try:
            write_all(self._files[kind].fileno(), data)
        except OSError as problem:
            raise _full(self._places[kind], problem) from problem

    def complete(self) -> dict[str, int]:
        """Make the files durable under their new names; their lengths."""
        lengths = {}
        for kind, file in self._files.items():
            try:
                lengths[kind] = file.tell()
                os.fsync(file.fileno())
                file.close()
            except OSError as problem:
                raise _full(self._places[kind], problem) from problem
        return lengths

    def move(self) -> None:
        for kind, place in self._places.items():
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                os.replace(self._beside(kind), place)
                sync_folder(place.parent)
            except OSError as problem:
                raise _full(place, problem) from problem

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def _beside(self, kind: str) -> Path:
        return self._folder / f"{kind}.new"


def _full(path: Path, problem: OSError) -> StorageFull:
    return StorageFull(f"cannot write {path}: {problem.strerror}")


class Difference(NamedTuple):
    """The first difference: expected and found line; None for a missing line."""

    file: Path
    line: int
    expected: str | None
    found: str | None


class ComparedFiles:
    """Compares what it receives with the existing files."""

    def __init__(self, places: Mapping[str, Path], headers: Mapping[str, bytes]) -> None:
        self.absent = [path for path in places.values() if not path.exists()]
        self.differences: dict[str, Difference] = {}
        self._places = places
        self._lines = dict.fromkeys(places, 0)
        self._files: dict[str, IO[bytes]] = {}
        for kind, path in places.items():
            if path.exists():
                try:
                    self._files[kind] = path.open("rb")
                except OSError as problem:
                    raise UsageError(f"cannot read {path}: {problem.strerror}") from problem
        for kind in places:
            self.take(kind, headers[kind])

    def take(self, kind: str, data: bytes) -> None:
        if kind not in self._files or kind in self.differences:
            return
        found = self._files[kind].read(len(data))
        if found != data:
            self._differ(kind, data, found)
        self._lines[kind] += data.count(b"\n")

    def complete(self) -> None:
        """End the comparison: remaining lines of the files are differences."""
        for kind, file in self._files.items():
            if kind not in self.differences and (rest := file.read(1024 * 1024)):
                self._differ(kind, b"", rest)

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def _differ(self, kind: str, expected: bytes, found: bytes) -> None:
        found += self._files[kind].readline()
        pairs = zip_longest(_lines_of(expected), _lines_of(found))
        for number, (wanted, there) in enumerate(pairs, self._lines[kind] + 1):
            if wanted != there:
                shown = Difference(self._places[kind], number, _shown(wanted), _shown(there))
                self.differences[kind] = shown
                return


def _lines_of(data: bytes) -> list[bytes]:
    return _LINE.findall(data)


def _shown(line: bytes | None) -> str | None:
    if line is None:
        return None
    text = line.decode("utf-8", "replace").rstrip("\n")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
