"""Bytes that gc removed by a policy. They are told by name, and are no damage."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from crawl4r.clock import iso_time
from crawl4r.errors import BytesDropped
from crawl4r.storage.database import Database


class Dropped(Struct, frozen=True):
    """When bytes were removed, and by which policy."""

    at: float  # epoch seconds
    why: str  # as the option says it: "--keep-captures 2"

    def words(self) -> str:
        return f"dropped by gc on {iso_time(self.at)[:10]}: {self.why}"


class DroppedBytes:
    """Rows of `dropped_blobs`; durable when the database commits."""

    def __init__(self, database: Database, locate: Callable[[str], str]) -> None:
        """`locate` gives the place of stored bytes: what is stored again is not dropped."""
        self._database = database
        self._locate = locate

    def of(self, sha256: str | None) -> Dropped | None:
        """What became of the bytes of a capture; None when they are stored, or were lost."""
        if sha256 is None:
            return None
        rows = self._database.read(
            "SELECT at, why FROM dropped_blobs WHERE sha256 = ?", (bytes.fromhex(sha256),)
        )
        return Dropped(*rows[0]) if rows and not self._locate(sha256) else None

    def refuse(self, sha256: str | None, owner: str) -> None:
        """Raise BytesDropped when bytes were removed; `owner` says whose they are."""
        if found := self.of(sha256):
            raise BytesDropped(f"the bytes of {owner} were {found.words()}")

    def note(self, hashes: Iterable[str], at: float, why: str) -> None:
        self._database.write_many(
            "INSERT OR REPLACE INTO dropped_blobs VALUES (?, ?, ?)",
            [(bytes.fromhex(sha256), at, why) for sha256 in hashes],
        )

    def forget(self, hashes: Iterable[str]) -> None:
        """Their bytes were stored again."""
        self._database.write_many(
            "DELETE FROM dropped_blobs WHERE sha256 = ?",
            [(bytes.fromhex(sha256),) for sha256 in hashes],
        )

    def restored(self) -> list[str]:
        """The hashes whose bytes are stored again."""
        rows = self._database.stream("SELECT sha256 FROM dropped_blobs")
        return [sha256.hex() for (sha256,) in rows if self._locate(sha256.hex())]
