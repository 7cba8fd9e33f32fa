"""Every operation of a program that changes a file in its workspace, passed through one function.

`os` is wrapped, and the connections of SQLite, so that nothing in the program needs to know of it. What
tantivy writes, in threads of its own, is one operation: the commit of a shelf.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import sqlite3
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

ON_FILES = ("open", "mkdir", "pwrite", "ftruncate", "truncate", "fchmod", "fsync", "fdatasync")
ON_FILES += ("replace", "rename", "unlink")
_WRITES = {"INSERT", "UPDATE", "DELETE", "REPLACE", "BEGIN"}


class Operation(NamedTuple):
    name: str  # of `os`; statement, commit, script or checkpoint in SQLite; commit of tantivy
    path: str  # relative to the workspace
    perform: Callable[[], Any]
    begin: Callable[[], Any]  # a part of it and no more; for a commit the process may end in it


Through = Callable[[Operation], Any]


class Operations:
    """From `install` on, what is done in `folder` is done by `through`."""

    def __init__(self, folder: str, through: Through) -> None:
        self._folder = folder
        self._through = through

    def install(self, *, with_keywords: bool = False) -> None:
        """`with_keywords` loads tantivy, to wrap it."""
        for name in ON_FILES:
            setattr(os, name, self._wrapped(name, getattr(os, name)))
        self._write = os.write
        os.write = self.write
        os.fdopen = self._fdopen
        sqlite3.connect = self._connect_with(sqlite3.connect)
        if with_keywords:
            self._wrap_keywords()

    def write(self, fd: int, data: Any) -> int:
        path = self._ours(fd)
        if path is None:
            return self._write(fd, data)
        operation = Operation(
            "write",
            path,
            lambda: self._write(fd, data),
            lambda: self._write(fd, bytes(data)[: len(data) // 3]),
        )
        written: int = self._through(operation)
        return written

    def do(self, name: str, place: str, perform: Callable[[], Any]) -> Any:
        path = self._ours(place)
        if path is None:
            return perform()
        return self._through(Operation(name, path, perform, lambda: _begin(name, place, perform)))

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def operation(target: Any, *arguments: Any, **named: Any) -> Any:
            path = self._ours(target)
            if path is None:
                return real(target, *arguments, **named)
            perform = lambda: real(target, *arguments, **named)  # noqa: E731
            begin = lambda: None  # noqa: E731
            if name == "pwrite":
                data, *more = arguments
                begin = lambda: real(target, bytes(data)[: len(data) // 3], *more)  # noqa: E731
            return self._through(Operation(name, path, perform, begin))

        return operation

    def _fdopen(self, fd: int, mode: str = "r", *arguments: Any, **named: Any) -> Any:
        if mode != "wb":
            return io.open(fd, mode, *arguments, **named)  # noqa: UP020 (what os.fdopen does)
        return io.BufferedWriter(_RawFile(fd, self))

    def _ours(self, target: Any) -> str | None:
        """The path in the folder; None when it is elsewhere."""
        if isinstance(target, int):
            with contextlib.suppress(OSError):
                target = os.readlink(f"/proc/self/fd/{target}")
        path = os.path.abspath(os.fspath(target)) if not isinstance(target, int) else ""
        inside = path == self._folder or path.startswith(self._folder + "/")
        return os.path.relpath(path, self._folder) if inside else None

    def _connect_with(self, real: Callable[..., Any]) -> Callable[..., Any]:
        operations = self

        class Connection(sqlite3.Connection):
            def __init__(self, database: Any, *arguments: Any, **named: Any) -> None:
                super().__init__(database, *arguments, **named)
                text = os.fspath(database)
                self._place = unquote(urlsplit(text).path) if text.startswith("file:") else text

            def execute(self, sql: str, *parameters: Any) -> Any:
                perform = lambda: super(Connection, self).execute(sql, *parameters)  # noqa: E731
                name = _name_of(sql)
                return operations.do(name, self._place, perform) if name else perform()

            def executemany(self, sql: str, rows: Any) -> Any:
                perform = lambda: super(Connection, self).executemany(sql, rows)  # noqa: E731
                return operations.do("statement", self._place, perform)

            def executescript(self, sql: str) -> Any:
                perform = lambda: super(Connection, self).executescript(sql)  # noqa: E731
                return operations.do("script", self._place, perform)

        return lambda *arguments, **named: real(*arguments, factory=Connection, **named)

    def _wrap_keywords(self) -> None:
        from crawl4r.search.keyword.tantivy_index import TantivyFolder

        real = TantivyFolder.commit

        def commit(shelf: Any) -> None:
            if shelf._is_changed:
                self.do("commit", str(shelf._folder), lambda: real(shelf))

        TantivyFolder.commit = commit  # type: ignore[method-assign]


class _RawFile(io.FileIO):
    """A file whose writes are operations."""

    def __init__(self, fd: int, operations: Operations) -> None:
        super().__init__(fd, "wb")
        self._operations = operations

    def write(self, data: Any) -> int:
        return self._operations.write(self.fileno(), data)


def _name_of(sql: str) -> str:
    """Of the operation; nothing for what only reads."""
    word = sql.split(None, 1)[0].upper()
    if word == "COMMIT":
        return "commit"
    if "wal_checkpoint" in sql:
        return "checkpoint"
    return "statement" if word in _WRITES else ""


def _begin(name: str, place: str, perform: Callable[[], Any]) -> None:
    """A commit whose process the kernel ends (SIGXFSZ) when it has written a part of it.

    SQLite appends to its log, in pieces of a head and a page: the limit lies in the second of them.
    tantivy makes new files.
    """
    if name != "commit":
        return
    log = place + "-wal"
    end = os.path.getsize(log) if os.path.exists(log) else 0
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (end + (5_000 if end else 500), most))
    perform()
