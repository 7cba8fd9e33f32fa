"""Read what is left of a damaged state.db, row by row.

The file is a copy that SQLite opens read-only, without its log and without trust in its schema: only
ordinary tables with the columns that this version knows are read. A page that cannot be read ends a
statement; the next one begins behind it, and goes back to it from the other side.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from crawl4r.storage.migrations import CURRENT

_LARGEST_VALUE = 256 * 1024**2  # bytes of a value that is read
_LAST = 2**62  # no row has a larger number
Check = Callable[[Any], bool]
Row = tuple[Any, ...]


class Table(NamedTuple):
    """A table with what its values may be."""

    name: str
    columns: Mapping[str, Check]
    key: Sequence[str] = ()  # of a table without row numbers


class Salvage:
    """The tables of a damaged state.db. `unread` has the tables with rows that cannot be read."""

    def __init__(self, copy: Path) -> None:
        self.unread: dict[str, str] = {}
        self._connection: sqlite3.Connection | None = None
        uri = f"{copy.absolute().as_uri()}?mode=ro&immutable=1"
        try:
            connection = sqlite3.connect(uri, uri=True, isolation_level=None)
            self._connection = connection
            connection.text_factory = _text
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("PRAGMA query_only = ON")
            self.why_nothing = _why_not_this_version(connection)
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            self.why_nothing = f"it cannot be read: {problem}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()

    def rows(self, table: Table) -> Iterator[Row]:
        """The rows of a table that can be read and whose values can be true, each once."""
        if self.why_nothing or self._connection is None:
            self.unread[table.name] = self.why_nothing or "it cannot be read"
            return
        if why := self._why_no_table(table):
            self.unread[table.name] = why
            return
        checks = list(table.columns.values())
        reading = self._by_key(table) if table.key else self._by_number(table)
        for row in reading:
            if all(check(value) for check, value in zip(checks, row, strict=True)):
                yield row
            else:
                self._note(table, "a value in it is damaged")

    def _why_no_table(self, table: Table) -> str | None:
        assert self._connection is not None
        try:
            found = self._connection.execute(
                "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table.name,)
            ).fetchone()
            if not found or not isinstance(found[0], str):
                return "it is not there"
            if not found[0].upper().startswith("CREATE TABLE"):
                return "it is no ordinary table"
            columns = self._connection.execute(f"PRAGMA table_xinfo({table.name})").fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            return str(problem)
        plain = {name for _, name, _, _, _, _, hidden in columns if not hidden}
        return None if plain >= table.columns.keys() else "it has other columns"

    def _by_number(self, table: Table) -> Iterator[Row]:
        """The rows of a table in the order of their numbers, but for those beside damage."""
        sql = f"SELECT rowid, {', '.join(table.columns)} FROM {table.name} WHERE rowid"
        last, step = 0, 0  # numbers begin with 1
        while last + step < _LAST:
            before = last
            start = last + step
            forward = self._statement(table, f"{sql} > ? ORDER BY rowid", [start], (start,))
            for number, *row in forward:
                if step:  # the first row behind damage: there may be others up to it
                    back = f"{sql} > ? AND rowid < ? ORDER BY rowid DESC"
                    bounds = [last, number]
                    for _, *other in self._statement(table, back, bounds, (number,), -1):
                        yield tuple(other)
                last, step = number, 0
                yield tuple(row)
            if not forward.is_broken:
                return
            step = 1 if last != before else max(1, step * 2)

    def _by_key(self, table: Table) -> Iterator[Row]:
        """The rows up to the first damage, and those behind the last."""
        width = len(table.key)
        columns = ", ".join([*table.key, *table.columns])
        sql = f"SELECT {columns} FROM {table.name} ORDER BY"
        last: Row | None = None
        forward = self._statement(table, f"{sql} {', '.join(table.key)}", [], None, 1, width)
        for row in forward:
            last = row[:width]
            yield row[width:]
        if not forward.is_broken:
            return
        falling = ", ".join(f"{name} DESC" for name in table.key)
        for row in self._statement(table, f"{sql} {falling}", [], None, -1, width):
            if last is not None and row[:width] <= last:
                return
            yield row[width:]

    def _statement(
        self,
        table: Table,
        sql: str,
        values: Sequence[Any],
        start: Row | None,
        direction: int = 1,
        width: int = 1,
    ) -> _Statement:
        assert self._connection is not None
        order = _Order(start, direction, width)
        return _Statement(self._connection, sql, values, order, lambda why: self._note(table, why))

    def _note(self, table: Table, why: str) -> None:
        self.unread.setdefault(table.name, f"in part: {why}")


class _Order(NamedTuple):
    """The order that the rows of a statement must have."""

    start: Row | None  # the keys lie behind it
    direction: int  # 1: they rise; -1: they fall
    width: int  # the first columns are the key


class _Statement:
    """The rows of a statement up to the first damage, which `is_broken` tells.

    Rows out of order are damage too: a tree whose pages name each other may have rows without end.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        sql: str,
        values: Sequence[Any],
        order: _Order,
        on_damage: Callable[[str], None],
    ) -> None:
        self.is_broken = False
        self._connection = connection
        self._sql, self._values = sql, values
        self._order = order
        self._on_damage = on_damage

    def __iter__(self) -> Iterator[Row]:
        before, direction, width = self._order
        try:
            with contextlib.closing(self._connection.execute(self._sql, self._values)) as cursor:
                for row in cursor:
                    key = row[:width]
                    if before is not None and not _is_next(before, key, direction):
                        raise sqlite3.DatabaseError("its rows are out of order")
                    before = key
                    yield row
        except (sqlite3.Error, UnicodeDecodeError, TypeError) as problem:
            self.is_broken = True
            self._on_damage(str(problem))


def _is_next(before: Row, key: Row, direction: int) -> bool:
    return bool(key > before if direction > 0 else key < before)


def _text(data: bytes) -> Any:
    """Bytes that are no text stay bytes, which no check takes for text."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _why_not_this_version(connection: sqlite3.Connection) -> str | None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != CURRENT:
        return f"it has format {version}, and only format {CURRENT} is read from a damaged file"
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return None
