"""A connection to PostgreSQL that runs whole transactions, and runs one again where that is safe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import json as quick_json
from msgspec import to_builtins

from crawl4r.crawling.ledger.postgres.schema import make_tables
from crawl4r.errors import StorageError, StorageFull, UsageError
from crawl4r.urls.credentials import without_credentials

if TYPE_CHECKING:
    import psycopg

_T = TypeVar("_T")
_MOST_CONFLICTS = 5
_SETTINGS = (
    "set jit = off",  # compiling takes longer than a statement
    # A worker that stands still in a transaction must not hold its hosts for ever.
    "set idle_in_transaction_session_timeout = '30s'",
)


class Session:
    """Raises UsageError without psycopg, StorageError when the server does not answer or refuses."""

    def __init__(self, dsn: str, schema: str) -> None:
        try:
            # An optional dependency of users of PostgreSQL.
            import psycopg  # noqa: PLC0415
            import psycopg.sql  # noqa: PLC0415
        except ImportError:
            raise UsageError(
                "crawls in PostgreSQL need psycopg: pip install 'crawl4r[postgres]'"
            ) from None
        self._psycopg = psycopg
        self._dsn = dsn
        self._schema = psycopg.sql.Identifier(schema)
        self._connection: psycopg.Connection[Any] | None = None
        # Each was rolled back. A unit that exists already was committed by the connection before.
        self._conflicts = (
            psycopg.errors.DeadlockDetected,
            psycopg.errors.SerializationFailure,
            psycopg.errors.UniqueViolation,
        )
        try:
            with self._translated():
                make_tables(self._connected(), schema)
        except BaseException:
            self.close()
            raise

    def transact(
        self, work: Callable[[psycopg.Connection[Any]], _T], *, is_quick: bool = False
    ) -> _T:
        """Run `work` in one transaction, which is durable then; if it `is_quick`, soon.

        When the connection breaks, `work` runs once more on a new one. After a break during COMMIT the
        first run may have been committed: `work` must ask for that, or change nothing the second time.
        """
        conflicts, breaks = 0, 0
        with self._translated():
            while True:
                try:
                    return self._run(work, is_quick)
                except self._conflicts:
                    conflicts += 1
                    if conflicts > _MOST_CONFLICTS:
                        raise
                except self._psycopg.OperationalError:
                    breaks += 1
                    if self._connection is not None or breaks > 1:
                        raise

    def read(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        """The rows of a statement that changes nothing."""
        with self._translated():
            try:
                return self._connected().execute(sql, values).fetchall()
            except self._psycopg.OperationalError:
                if not self._drop_broken():
                    raise
                return self._connected().execute(sql, values).fetchall()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _run(self, work: Callable[[psycopg.Connection[Any]], _T], is_quick: bool) -> _T:
        connection = self._connected()
        try:
            connection.execute("begin")
            if is_quick:
                connection.execute("set local synchronous_commit = off")
            done = work(connection)
            connection.execute("commit")
        except BaseException:
            # Closed, it is rolled back by the server; a later use connects again.
            with suppress(self._psycopg.Error):
                if not connection.closed:
                    connection.execute("rollback")
            self._drop_broken()
            raise
        return done

    def _drop_broken(self) -> bool:
        if self._connection is None or not self._connection.closed:
            return False
        self._connection = None
        return True

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            connection = self._psycopg.connect(self._dsn, autocommit=True)
            try:
                for setting in _SETTINGS:
                    connection.execute(setting)
                path = self._psycopg.sql.SQL("set search_path to {}").format(self._schema)
                connection.execute(path)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.errors.DiskFull as error:
            raise StorageFull(f"PostgreSQL: {without_credentials(str(error))}") from error
        except self._psycopg.Error as error:
            raise StorageError(f"PostgreSQL: {without_credentials(str(error))}") from error


def as_rows(rows: Iterable[Any]) -> str:
    """Rows as JSON for one parameter: a tenth of the time that arrays of each column take."""
    rows = list(rows)
    with suppress(UnicodeEncodeError):  # half of a pair of surrogates
        text = quick_json.encode(rows).decode()
        if "\\u0000" not in text:
            return text
    return quick_json.encode(_storable(to_builtins(rows))).decode()


def _storable(value: Any) -> Any:
    """The same value in letters that PostgreSQL takes: no NUL, no half of a pair."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {name: _storable(each) for name, each in value.items()}
    return [_storable(each) for each in value] if isinstance(value, list | tuple) else value
