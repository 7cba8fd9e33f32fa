"""What repeats on most pages of a site, learnt from its first pages."""

from __future__ import annotations

from collections.abc import Collection

from crawl4r.state.database import Database

_LEAST_PAGES = 6  # before anything is believed
_SAMPLE = 24  # pages; then the lesson is over
_MOST_OF_THEM = 0.6
_HOSTS_AT_HAND = 1_000
_SIGN = 1 << 63


class SiteBlocks:
    """Counts fingerprints of text blocks over the sampled pages of a host."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[str, frozenset[int]] = {}

    def repeated(self, host: str) -> frozenset[int]:
        """Blocks that belong to the site and not to a page; nothing before enough was seen."""
        if host not in self._known:
            if len(self._known) >= _HOSTS_AT_HAND:
                self._known.clear()
            self._known[host] = self._load(host)
        return self._known[host]

    def learn(self, host: str, fingerprints: Collection[int]) -> bool:
        """Count a page that was not seen before; True when this one ends the lesson."""
        pages = self._pages(host)
        if pages >= _SAMPLE or not fingerprints:
            return False
        self._database.write(
            "INSERT INTO sites_sampled VALUES (?, 1) ON CONFLICT DO UPDATE SET pages = pages + 1",
            (host,),
        )
        self._database.write_many(
            "INSERT INTO site_blocks VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET pages = pages + 1",
            [(host, _signed(block)) for block in set(fingerprints)],
        )
        self._known.pop(host, None)
        if pages + 1 < _SAMPLE:
            return False
        # From here on only what repeats is worth keeping.
        self._database.write(
            "DELETE FROM site_blocks WHERE host = ? AND pages < ?", (host, _SAMPLE * _MOST_OF_THEM)
        )
        return True

    def _pages(self, host: str) -> int:
        rows = self._database.read("SELECT pages FROM sites_sampled WHERE host = ?", (host,))
        return int(rows[0][0]) if rows else 0

    def _load(self, host: str) -> frozenset[int]:
        pages = self._pages(host)
        if pages < _LEAST_PAGES:
            return frozenset()
        rows = self._database.read(
            "SELECT fingerprint FROM site_blocks WHERE host = ? AND pages >= ?",
            (host, pages * _MOST_OF_THEM),
        )
        return frozenset(row[0] + 2 * _SIGN if row[0] < 0 else row[0] for row in rows)


def _signed(fingerprint: int) -> int:
    """SQLite's integers have a sign."""
    return fingerprint - 2 * _SIGN if fingerprint >= _SIGN else fingerprint
