"""What every store of page bytes promises."""

from __future__ import annotations

from typing import Protocol


class Blobs(Protocol):
    """Bytes by their SHA-256. Equal bytes are kept once; what is read back is checked."""

    def add(self, body: bytes, content_type: str) -> tuple[str, bool]:
        """Take bytes in; their hash in hex, and whether they are new. Durable only after `flush`."""

    def flush(self) -> None:
        """Make all added bytes durable, or raise StorageFull and keep none of them."""

    def read(self, sha256: str) -> bytes | None:
        """The bytes, or None when they were never stored. Raises StorageDamaged if they changed."""

    def locate(self, sha256: str) -> str:
        """Where the bytes are, relative to the store; empty when they are not there."""

    def totals(self) -> tuple[int, int]:
        """How many distinct bodies are stored, and the bytes they take on disk."""

    def close(self) -> None:
        """Let go of files; what was not flushed is dropped."""
