"""Write records into one file or a series of files, each record packed separately.

Files get their final names when all of them are complete. Until then their names end in `.part`, and an
error removes them.
"""

from __future__ import annotations

import contextlib
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import IO, NamedTuple

from crawl4r.archive.warc.records import IndexEntry, Record
from crawl4r.formats import zstd
from crawl4r.storage.fsync import sync_folder
from crawl4r.storage.own_files import open_new

_LEVEL = 6  # of gzip
_ZSTD: dict[int, int] = {
    zstd.CompressionParameter.compression_level: 3,
    zstd.CompressionParameter.checksum_flag: 1,  # the warc.zst specification asks for it
}
_GAP = b"\r\n\r\n"  # after each record; not part of it in an unpacked file


class Packing(StrEnum):
    GZIP = "gzip"
    ZSTD = "zstd"
    NONE = "none"


SUFFIXES = {Packing.GZIP: ".warc.gz", Packing.ZSTD: ".warc.zst", Packing.NONE: ".warc"}


class RecordPlace(NamedTuple):
    """The place of a record."""

    file: str
    offset: int
    length: int


class WarcSeries:
    """Writes records into files from `open_file`, with a new file after `max_size` bytes.

    `begin(name)` returns the first record of a file; `on_entry` receives the place of each record.
    """

    def __init__(
        self,
        name: str,
        packing: Packing,
        max_size: int | None,
        open_file: Callable[[str], IO[bytes]],
        begin: Callable[[str], Record],
        on_entry: Callable[[IndexEntry, RecordPlace], None],
    ) -> None:
        self._name = name
        self._packing = packing
        self._max_size = max_size
        self._open_file = open_file
        self._begin = begin
        self._on_entry = on_entry
        self._file: IO[bytes] | None = None
        self._size = 0
        self.names: list[str] = []
        self.records = 0
        self.bytes = 0

    def write(self, records: Iterable[Record]) -> None:
        """Write the records of one capture into the same file."""
        if self._file is None or (self._max_size is not None and self._size >= self._max_size):
            self._next_file()
        for record in records:
            self._write(record)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _next_file(self) -> None:
        self.close()
        number = "" if self._max_size is None else f"-{len(self.names):05}"
        self.names.append(f"{self._name}{number}{SUFFIXES[self._packing]}")
        self._file = self._open_file(self.names[-1])
        self._size = 0
        self._write(self._begin(self.names[-1]))

    def _write(self, record: Record) -> None:
        assert self._file is not None
        packed = pack(record.data, self._packing)
        self._file.write(packed)
        if record.entry:
            length = len(packed) - (len(_GAP) if self._packing is Packing.NONE else 0)
            self._on_entry(record.entry, RecordPlace(self.names[-1], self._size, length))
        self._size += len(packed)
        self.bytes += len(packed)
        self.records += 1


def pack(data: bytes, packing: Packing) -> bytes:
    """Pack a record as its own member or frame, so that it can be read from its offset."""
    if packing is Packing.GZIP:
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS + 16)
        return packer.compress(data) + packer.flush()
    return zstd.compress(data, options=_ZSTD) if packing is Packing.ZSTD else data


class PartFiles:
    """Files that get their final names together, or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: list[str] = []

    def open(self, name: str) -> IO[bytes]:
        self._names.append(name)
        return os.fdopen(open_new(self._part(name)), "wb")

    @contextlib.contextmanager
    def publishing(self) -> Iterator[None]:
        """Write and close files inside the `with` block; at its end they get their final names."""
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            yield
            for name in self._names:
                with self._part(name).open("rb") as file:
                    os.fsync(file.fileno())
            for name in self._names:
                os.replace(self._part(name), self.folder / name)
            sync_folder(self.folder)
        except BaseException:
            for name in self._names:
                self._part(name).unlink(missing_ok=True)
            raise

    def _part(self, name: str) -> Path:
        return self.folder / f"{name}.part"


def remove_leftovers(folder: Path, name: str, kept: Iterable[str]) -> None:
    """Remove files of an earlier, longer series, which do not belong to this one."""
    of_series = re.compile(rf"{re.escape(name)}-[0-9]{{5}}\.warc(\.gz|\.zst)?")
    for path in folder.iterdir():
        if of_series.fullmatch(path.name) and path.name not in set(kept):
            path.unlink()
