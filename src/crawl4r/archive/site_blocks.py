"""Learn the text blocks that repeat on most pages of a site, from its first pages."""

from __future__ import annotations

from collections.abc import Collection

from crawl4r.storage.database import Database

_LEAST_PAGES = 6  # pages needed for a result
_SAMPLE = 24  # pages; then the sample is complete
_MOST_OF_THEM = 0.6
_HOSTS_AT_HAND = 1_000
_SIGN = 1 << 63


class SiteBlocks:
    """Counts fingerprints of text blocks over the sampled pages of a host."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[str, frozenset[int]] = {}

    def repeated(self, host: str) -> frozenset[int]:
        """Blocks of the site; empty until the sample is complete."""
        if host not in self._known:
            if len(self._known) >= _HOSTS_AT_HAND:
                self._known.clear()
            self._known[host] = self._load(host)
        return self._known[host]

    def is_learning(self, host: str) -> bool:
        """Whether the sample of this host needs more pages."""
        return self._pages(host) < _SAMPLE

    def learn(self, host: str, fingerprints: Collection[int]) -> bool:
        """Count a new page; True when it completes the sample."""
        if not self.is_learning(host) or not fingerprints:
            return False
        self._database.write(
            "INSERT INTO sites_sampled VALUES (?, 1) ON CONFLICT DO UPDATE SET pages = pages + 1",
            (host,),
        )
        self._database.write_many(
            "INSERT INTO site_blocks VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET pages = pages + 1",
            [(host, _signed(block)) for block in set(fingerprints)],
        )
        if self.is_learning(host):
            return False
        self._end_lesson(host, _SAMPLE)
        return True

    def end_lessons(self) -> list[str]:
        """Complete the samples with fewer pages at the end of a crawl; returns their hosts."""
        rows = self._database.read(
            "SELECT host, pages FROM sites_sampled WHERE pages >= ? AND pages < ?",
            (_LEAST_PAGES, _SAMPLE),
        )
        for host, pages in rows:
            self._end_lesson(host, pages)
            self._database.write(
                "UPDATE sites_sampled SET pages = ? WHERE host = ?", (_SAMPLE, host)
            )
        return [host for host, _ in rows if self.repeated(host)]

    def _end_lesson(self, host: str, pages: int) -> None:
        """Delete the blocks that do not repeat."""
        self._database.write(
            "DELETE FROM site_blocks WHERE host = ? AND pages < ?", (host, pages * _MOST_OF_THEM)
        )
        self._known.pop(host, None)

    def _pages(self, host: str) -> int:
        rows = self._database.read("SELECT pages FROM sites_sampled WHERE host = ?", (host,))
        return int(rows[0][0]) if rows else 0

    def _load(self, host: str) -> frozenset[int]:
        pages = self._pages(host)
        if pages < _SAMPLE:
            return frozenset()
        rows = self._database.read("SELECT fingerprint FROM site_blocks WHERE host = ?", (host,))
        return frozenset(row[0] + 2 * _SIGN if row[0] < 0 else row[0] for row in rows)


def _signed(fingerprint: int) -> int:
    """Convert to a signed integer for SQLite."""
    return fingerprint - 2 * _SIGN if fingerprint >= _SIGN else fingerprint
