"""Read the WARC files in a WACZ package, or in any zip file."""

from __future__ import annotations

import io
import shutil
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple, cast

from crawl4r.errors import UsageError

ZIP_MAGIC = b"PK\x03\x04"
_NAMES = (".warc", ".warc.gz", ".warc.zst")
_HEAD = struct.Struct("<26xHH")  # of a local file header: the lengths of name and extra field
_ENCRYPTED = 1  # a flag
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may need gigabytes to unpack
_UNREADABLE = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, OverflowError,
    struct.error, zlib.error,
)  # fmt: skip
_MOST_RATIO = 100  # a higher ratio is an attempt to fill the disk
_MOST_DIRECTORY = 8 * 1024**2  # bytes; a parsed entry takes ten times as many


class Inner(NamedTuple):
    """A WARC file in a package, with either a `file` or a `problem`."""

    name: str
    file: IO[bytes] | None
    problem: str = ""


class _TooLarge(zipfile.BadZipFile):
    """A limit is exceeded; the message names it."""


def warcs_in(path: Path) -> Iterator[Inner]:
    """The WARC files by name. Raises UsageError for any other file."""
    with path.open("rb") as raw:
        try:
            package = zipfile.ZipFile(_Wary(raw))
        except _UNREADABLE as problem:
            why = "it is damaged, cut off or no ZIP package"
            why = str(problem) if isinstance(problem, _TooLarge) else why
            raise UsageError(f"{path} cannot be read as a WACZ file: {why}") from problem
        with package:
            entries = [entry for entry in package.infolist() if entry.filename.endswith(_NAMES)]
            if not entries:
                raise UsageError(f"{path} is a zip file without a WARC file in it")
            room = _room(package.infolist(), path.stat().st_size)
            for entry in sorted(entries, key=lambda entry: entry.filename):
                try:
                    file = _open(package, entry, raw, room[entry.header_offset])
                except _UNREADABLE as problem:
                    yield Inner(entry.filename, None, str(problem) or type(problem).__name__)
                    continue
                with file:
                    yield Inner(entry.filename, file)


def _room(entries: Sequence[zipfile.ZipInfo], size: int) -> dict[int, int]:
    """The maximum size of each entry, by offset: up to the next entry.

    Entries that share an offset get 0 bytes, because a small package could otherwise unpack to any
    size.
    """
    offsets = sorted(entry.header_offset for entry in entries)
    room = dict(pairwise([*offsets, size]))
    shared = {offset for offset, following in pairwise(offsets) if offset == following}
    return room | dict.fromkeys(shared, 0)


def _open(package: zipfile.ZipFile, entry: zipfile.ZipInfo, raw: IO[bytes], room: int) -> IO[bytes]:
    if entry.header_offset < 0 or entry.compress_size > room - _HEAD.size:
        raise RuntimeError("its bytes are not in the package, or belong to another file of it")
    if entry.compress_type not in _METHODS:
        raise RuntimeError("neither stored nor deflated")
    if entry.compress_type == zipfile.ZIP_STORED and not entry.flag_bits & _ENCRYPTED:
        raw.seek(entry.header_offset)
        name_length, more_length = _HEAD.unpack(raw.read(_HEAD.size))
        start = entry.header_offset + _HEAD.size + name_length + more_length
        return io.BufferedReader(_Part(raw, start, entry.compress_size))
    if entry.file_size > _MOST_RATIO * max(entry.compress_size, 1024):
        raise RuntimeError("unpacks to far more than it was packed in")
    # The format demands stored entries. Unpack a packed one to a file, because the reader must seek.
    unpacked = tempfile.TemporaryFile()  # noqa: SIM115 - the reader closes it
    try:
        with package.open(entry) as file:
            shutil.copyfileobj(file, unpacked)
    except BaseException:
        unpacked.close()
        raise
    unpacked.seek(0)
    return unpacked


class _Wary(io.BufferedReader):
    """A file that limits each read of a zip reader to the maximum size of a directory."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(cast(io.RawIOBase, _Part(file, 0, file.seek(0, io.SEEK_END))))

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > _MOST_DIRECTORY:
            raise _TooLarge(f"its directory has more than {_MOST_DIRECTORY:,} bytes")
        return super().read(size)


class _Part(io.RawIOBase):
    """A part of a file, with the interface of a file."""

    def __init__(self, file: IO[bytes], start: int, length: int) -> None:
        self._file = file
        self._start = start
        self._length = length
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        wanted = min(len(view), max(0, self._length - self._at))
        self._file.seek(self._start + self._at)
        data = self._file.read(wanted)
        view[: len(data)] = data
        self._at += len(data)
        return len(data)
