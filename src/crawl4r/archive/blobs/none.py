"""A store that keeps nothing, for a discoverer, whose scraper keeps the pages."""

from __future__ import annotations

from hashlib import sha256


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

    def close(self) -> None:
        pass
