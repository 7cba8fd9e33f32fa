"""What a recovery brought back, and what it could not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct, field


class Loss(Struct, frozen=True):
    """Something that did not come back, and why."""

    what: str
    why: str
    count: int | None = None  # None when the number is unknown


class Outcome(Struct):
    """The counts of a recovery; times and bytes as everywhere."""

    state: str = ""  # why state.db had to be made again
    captures: int = 0
    pages: int = 0  # URLs with content
    urls: int = 0  # known URLs
    to_visit: int = 0  # of them, those that the next crawl visits
    documents: int = 0
    stored: int = 0  # distinct bodies in the store
    stored_bytes: int = 0  # on disk
    crawls: list[str] = field(default_factory=list)
    unreadable_lines: int = 0
    doubled_lines: int = 0
    torn_lines: int = 0
    without_bytes: int = 0  # captures whose bytes are gone
    without_line: int = 0  # bodies that no capture names
    damaged_records: int = 0  # of the store
    damaged_bytes: int = 0
    salvaged: dict[str, int] = field(default_factory=dict)  # rows by table
    lost: list[Loss] = field(default_factory=list)
    set_aside: list[str] = field(default_factory=list)  # files
    is_whole: bool = False  # a state.db stands in its place

    def lose(self, what: str, why: str, count: int | None = None) -> None:
        self.lost.append(Loss(what, why, count))


STORE, LINES, DOCUMENTS = "reading the store", "reading lines", "making documents"  # the steps
# A step, how much of it is done, of how much: bytes, but captures for documents.
OnProgress = Callable[[str, int, int], None]


class StoredBytes(Protocol):
    """The bytes of a store that has lost its index."""

    kind: str  # of the store, as `store.kind` names it
    size: int  # bytes to read

    def index(self, outcome: Outcome, on_read: Callable[[int], None]) -> None:
        """Read all bytes and note which are whole, in the new database."""

    def has(self, sha256: str) -> bool:
        """Whether the bytes of this hash are there and whole."""

    def without_line(self) -> int:
        """How many whole bodies no capture names."""

    def put_damaged_aside(self) -> None:
        """Move damaged bytes out of the way of whole ones with the same hash."""
