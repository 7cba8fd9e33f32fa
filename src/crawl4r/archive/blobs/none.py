"""A store that keeps nothing, for a discoverer, whose scraper keeps the pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

from crawl4r.archive.blobs.port import Compacted, OnCompacted


class NoBlobs:
    """See `port.Blobs`. Accepts all bytes and returns none."""

    def add(self, body: bytes, content_type: str) -> tuple[str, bool]:
        return sha256(body).hexdigest(), False

    def flush(self) -> None:
        pass

    def read(self, sha256: str) -> bytes | None:
        return None

    def locate(self, sha256: str) -> str:
        return ""

    def totals(self) -> tuple[int, int]:
        return 0, 0

    def stored(self) -> Iterator[tuple[str, int]]:
        return iter(())

    def remove(self, hashes: Iterable[str]) -> None:
        pass

    def foresee(self, doomed: Iterable[str]) -> Compacted:
        return Compacted()

    def compact(self, on_progress: OnCompacted = lambda done, total: None) -> Compacted:
        return Compacted()

    def close(self) -> None:
        pass
