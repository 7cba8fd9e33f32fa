"""The port of stores for page bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

# Called with how many segments are done, and of how many.
OnCompacted = Callable[[int, int], None]


class Compacted(NamedTuple):
    """What a compaction did, or would do. A store without segments counts none."""

    segments: int = 0  # that there were
    rewritten: int = 0
    deleted: int = 0  # without a needed byte
    freed: int = 0  # bytes on disk
    damaged: Sequence[str] = ()  # what is wrong with segments that were left as they are


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

    def stored(self) -> Iterator[tuple[str, int]]:
        """Each body by its hash, in the order of the hashes, with its bytes on disk.

        The bodies already passed may be removed meanwhile.
        """

    def remove(self, hashes: Iterable[str]) -> None:
        """Delete bytes; `read` knows them no more. Durable at the latest when the database commits.

        May be repeated after a crash, and unknown bytes are passed over.
        """

    def foresee(self, doomed: Iterable[str]) -> Compacted:
        """What `remove` of these, in the order of their hashes, and then `compact` would do."""

    def compact(self, on_progress: OnCompacted = lambda done, total: None) -> Compacted:
        """Give the place of removed bytes back to the disk; all other bytes stay readable throughout.

        Drops unflushed bytes. Commits the database. After a crash the next one goes on, and removes
        what is left over. Damaged bytes stay where they are, and are named.
        """

    def close(self) -> None:
        """Close files, and drop unflushed bytes."""
