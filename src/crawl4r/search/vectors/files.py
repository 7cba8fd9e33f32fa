"""Append-only rows in files that several processes map into memory.

    vectors.bin    a vector a row, as int8
    signs.bin      a bit for each of its values: whether it is above zero
    rows.bin       a record a row: passage number and facets (`vector_rows.ROW`)
    names.jsonl    the strings that records refer to by line
    head           the valid length of the other files

An append writes past the valid part, syncs, and only then writes the head. After a crash or on a full
disk the next append overwrites the bytes past the valid part. `retired_at` is the only field that
changes in place. The files grow in steps, so that readers rarely map them again, and never shrink.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import struct
import threading
from collections import ChainMap
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from crawl4r.errors import StorageDamaged, StorageFull, WorkspaceError
from crawl4r.search.vectors.head import Head, read_head, write_at, write_head
from crawl4r.search.vectors.names import Name, Names, from_lines, to_lines
from crawl4r.search.vectors.rows import (
    NAME_FIELDS,
    ROW,
    Codes,
    Records,
    Snapshot,
    signs_of,
    snapshot_of,
)
from crawl4r.storage.fsync import sync_folder

REBUILD = "rebuild it from the archive: crawl4r index --rebuild"

_CONTENT = ("names.jsonl", "rows.bin", "signs.bin", "vectors.bin")
_STEP = 4096  # rows that the files grow by
_NOT_OURS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)
_MOMENT = struct.Struct("<d")
_RETIRED_AT = ROW.fields["retired_at"][1] if ROW.fields else 0  # its offset in a record


class VectorFiles:
    """One writer, which holds a lock until `close`; any number of readers, and threads that read.

    A reader that opens before the first writer finds no rows until there are some. In the same way it
    finds the files of a rebuild that has replaced the folder.
    """

    def __init__(self, folder: Path, dimension: int, *, writable: bool) -> None:
        self._folder = folder
        self._dimension = dimension
        self._writable = writable
        self._widths = {  # bytes a row
            "rows.bin": ROW.itemsize,
            "signs.bin": signs_of(np.zeros((1, dimension), np.int8)).nbytes,
            "vectors.bin": dimension,
        }
        self._refreshing = threading.Lock()
        self._opened = contextlib.ExitStack()
        self._forget()
        try:
            if writable:
                self._prepare()
            self.snapshot()
        except BaseException:
            self.close()
            raise

    def snapshot(self) -> Snapshot:
        """The valid rows now, including rows that another process has written."""
        with self._refreshing:
            if self._is_elsewhere():
                self.close()
                if not self._open():
                    return self._snapshot
            head = self._read_head()
            if head.turn != self._turn:
                self._take(head)
            return self._snapshot

    def append(self, records: Records, codes: Codes, names: Sequence[Sequence[Name]]) -> None:
        """Append rows; durable on return. `names`: the values of NAME_FIELDS for each record."""
        known = self.snapshot().names.places
        head = self._read_head()
        fresh = [name for name in dict.fromkeys(chain(*names)) if name not in known]
        places = ChainMap({name: len(known) + at for at, name in enumerate(fresh)}, known)
        for field, column in zip(NAME_FIELDS, zip(*names, strict=True), strict=True):
            records[field] = [places[name] for name in column]
        lines = to_lines(fresh)
        rows = head.rows + len(records)
        columns = {"rows.bin": records, "signs.bin": signs_of(codes), "vectors.bin": codes}
        with self._writing():
            write_at(self._fds["names.jsonl"], lines, head.names_bytes)
            for name, width in self._widths.items():
                self._grow(name, rows, width)
                write_at(self._fds[name], columns[name].tobytes(), head.rows * width)
            for name in _CONTENT:
                os.fsync(self._fds[name])
            names_bytes = head.names_bytes + len(lines)
            write_head(self._fds["head"], Head(self._dimension, head.turn + 1, rows, names_bytes))
        self.snapshot()

    def set_retired(self, rows: Iterable[int], at: float) -> None:
        """Retire rows: durable on return, visible in every snapshot. The turn invalidates caches."""
        head = self._read_head()
        with self._writing():
            for row in rows:
                write_at(self._fds["rows.bin"], _MOMENT.pack(at), row * ROW.itemsize + _RETIRED_AT)
            os.fsync(self._fds["rows.bin"])
            write_head(self._fds["head"], head._replace(turn=head.turn + 1))

    def close(self) -> None:
        self._opened.close()
        self._forget()

    def _forget(self) -> None:
        self._names = Names()
        self._fds: dict[str, int] = {}
        self._maps: dict[str, mmap.mmap] = {}
        self._identity: tuple[int, int] | None = None  # of the head that is open
        self._turn = -1
        self._names_bytes = 0
        codes = np.zeros((0, self._dimension), np.int8)
        self._snapshot = snapshot_of(self._names, np.zeros(0, ROW), signs_of(codes), codes)

    def _is_elsewhere(self) -> bool:
        """Whether the folder holds other files than the open ones.

        If it holds none, the index is being removed, and the open files serve on.
        """
        if self._writable and self._identity:
            return False
        try:
            found = os.stat(self._folder / "head")
        except OSError:
            return self._identity is None
        return self._identity != (found.st_dev, found.st_ino)

    def _prepare(self) -> None:
        """Lock the folder, and create the files of a new index, the head last."""
        head = self._folder / "head"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._open_files(_CONTENT, os.O_RDWR | os.O_CREAT)
            fcntl.flock(self._fds["rows.bin"], fcntl.LOCK_EX | fcntl.LOCK_NB)
            if head.exists():
                self._open_files(("head",), os.O_RDWR)
            elif any(os.fstat(fd).st_size for fd in self._fds.values()):
                raise self._damaged("its head is missing")
            else:
                self._open_files(("head.new",), os.O_RDWR | os.O_CREAT | os.O_TRUNC)
                self._fds["head"] = self._fds.pop("head.new")
                write_head(self._fds["head"], Head(self._dimension, 0, 0, 0))
                os.replace(self._folder / "head.new", head)
                sync_folder(self._folder)
        except BlockingIOError:
            raise WorkspaceError(
                f"another process is writing to {self._folder}; wait for it or stop it"
            ) from None
        except OSError as problem:
            if problem.errno in _NOT_OURS:
                what = f"cannot write {self._folder}: {problem.strerror}"
                raise WorkspaceError(what) from problem
            raise self._full(problem) from problem
        self._remember_identity()

    def _open(self) -> bool:
        try:
            self._open_files(("head",), os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            self._open_files(_CONTENT, os.O_RDONLY)
        except OSError as problem:
            raise self._damaged(f"{problem.filename}: {problem.strerror}") from problem
        self._remember_identity()
        return True

    def _open_files(self, names: Iterable[str], flags: int) -> None:
        for name in names:
            fd = os.open(self._folder / name, flags | os.O_CLOEXEC, 0o644)
            self._opened.callback(os.close, fd)
            self._fds[name] = fd

    def _remember_identity(self) -> None:
        found = os.fstat(self._fds["head"])
        self._identity = (found.st_dev, found.st_ino)

    def _take(self, head: Head) -> None:
        """Map the part that the head declares valid."""
        if head.dimension != self._dimension:
            raise WorkspaceError(
                f"{self._folder} holds vectors of {head.dimension} dimensions and the model makes "
                f"{self._dimension}; use the model it was made with, or {REBUILD}"
            )
        names = os.pread(
            self._fds["names.jsonl"], head.names_bytes - self._names_bytes, self._names_bytes
        )
        if len(names) != head.names_bytes - self._names_bytes:
            raise self._damaged("names.jsonl is too short")
        try:
            self._names.extend(from_lines(names))
        except ValueError as problem:
            raise self._damaged(f"names.jsonl: {problem}") from problem
        records = np.frombuffer(self._mapped("rows.bin", head.rows), ROW, head.rows)
        signs = np.frombuffer(self._mapped("signs.bin", head.rows), np.uint8)
        codes = np.frombuffer(self._mapped("vectors.bin", head.rows), np.int8)
        for field in NAME_FIELDS:
            if np.any(records[field][len(self._snapshot.records) :] >= len(self._names.places)):
                raise self._damaged(f"rows.bin: a {field} that is not in names.jsonl")
        self._snapshot = snapshot_of(
            self._names,
            records,
            signs.reshape(-1, self._widths["signs.bin"])[: head.rows],
            codes.reshape(-1, self._dimension)[: head.rows],
        )
        self._names_bytes = head.names_bytes
        self._turn = head.turn

    def _mapped(self, name: str, rows: int) -> mmap.mmap | bytes:
        needed = rows * self._widths[name]
        if not needed:
            return b""
        if name not in self._maps or len(self._maps[name]) < needed:
            size = os.fstat(self._fds[name]).st_size
            if size < needed:
                raise self._damaged(f"{name} is too short")
            # A snapshot that uses the old map keeps it alive.
            whole = size - size % self._widths[name]
            self._maps[name] = mmap.mmap(self._fds[name], whole, access=mmap.ACCESS_READ)
        return self._maps[name]

    def _read_head(self) -> Head:
        head = read_head(self._fds["head"])
        if head is None:
            raise self._damaged("its head is not what was written")
        return head

    def _grow(self, name: str, rows: int, width: int) -> None:
        if os.fstat(self._fds[name]).st_size < rows * width:
            os.ftruncate(self._fds[name], -(-rows // _STEP) * _STEP * width)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise self._full(problem) from problem

    def _full(self, problem: OSError) -> StorageFull:
        return StorageFull(
            f"cannot write {self._folder}: {problem.strerror}; "
            "free some space and run the command again"
        )

    def _damaged(self, what: str) -> StorageDamaged:
        return StorageDamaged(f"{self._folder} is damaged ({what}); {REBUILD}")
