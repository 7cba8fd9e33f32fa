"""The port of stores for page bytes."""

from __future__ import annotations

from typing import Protocol


class Blobs(Protocol):
    """Bytes by their SHA-256. Equal bytes are stored once; every read checks the hash."""

    def add(self, body: bytes, content_type: str) -> tuple[str, bool]:
        """Add bytes; returns their hash in hex, and whether they are new. Durable after `flush`."""

    def flush(self) -> None:
        """Make all added bytes durable, or raise StorageFull and keep none of them."""

    def read(self, sha256: str) -> bytes | None:
        """The bytes, or None when they were never stored. Raises StorageDamaged if they changed."""

    def locate(self, sha256: str) -> str:
        """The path of the bytes relative to the store; empty for unknown bytes."""

    def totals(self) -> tuple[int, int]:
        """The number of distinct bodies, and their bytes on disk."""

    def close(self) -> None:
        """Close files, and drop unflushed bytes."""
