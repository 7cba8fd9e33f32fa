"""Limit the nesting of sitemaps, because an index may name further indexes without end."""

from __future__ import annotations

from collections.abc import Sequence

from crawl4r.model import Found, FoundBy, Lease
from crawl4r.storage.database import Database

_MOST_STEPS = 200  # from a sitemap up to the ones that named it, including redirects
_NAMING = frozenset([FoundBy.SITEMAP, FoundBy.USUAL_SITEMAP])
_SITEMAPS = f"('{FoundBy.SITEMAP}', '{FoundBy.USUAL_SITEMAP}')"
# Follow redirects without counting them, because they lead to the same sitemap.
_LEVELS = f"""
WITH RECURSIVE up(id, steps) AS (
    VALUES (?, 0)
    UNION ALL
    SELECT u.referrer, up.steps + 1 FROM up JOIN urls u ON u.id = up.id
    WHERE u.found_by IN {_SITEMAPS} AND u.referrer IS NOT NULL AND up.steps < {_MOST_STEPS}
)
SELECT count(*) FROM up JOIN urls u ON u.id = up.id
WHERE u.found_by IN {_SITEMAPS} AND u.redirects = 0
"""


class ListingDepth:
    """Refuses URLs of sitemaps that are nested deeper than `most`."""

    def __init__(self, database: Database, most: int) -> None:
        self._database = database
        self._most = most

    def screen(self, lease: Lease, found: Sequence[Found]) -> Sequence[Found]:
        """The same URLs, with a refusing rule for those nested too deep.

        Pages count like sitemaps, because a page that a sitemap names may be a sitemap.
        """
        if not found or found[0].by not in _NAMING or found[0].redirects:
            return found
        level = self._level_of(lease)
        if level < self._most:
            return found
        return [self._screened(item, level) for item in found]

    def _screened(self, item: Found, level: int) -> Found:
        is_too_deep = item.is_listing or level > self._most
        if not item.admitted or not is_too_deep:
            return item
        rule = f"depth {level + 1} of sitemaps in sitemaps is past the limit of {self._most}"
        return item._replace(admitted=False, rule=rule, groups=())

    def _level_of(self, lease: Lease) -> int:
        """The level of a sitemap; 1 if no other sitemap named it."""
        return int(self._database.read(_LEVELS, (lease.url_id,))[0][0])
