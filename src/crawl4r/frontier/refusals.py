"""The URLs that our own rules refuse, by rule."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from crawl4r.model import Verdict, verdict_of
from crawl4r.storage.database import Database

NOT_AGAIN = "not visited again: "  # begins the reason for a kept page that current rules refuse
_SOME = 1000  # rows at a time, because the caller changes the rows before them
_KEEP = """
UPDATE urls SET state = 'done', reason = '',
    verdict = (SELECT verdict FROM captures WHERE captures.id = urls.capture)
WHERE crawl_id = ? AND state = 'refused' AND capture IS NOT NULL
"""
_RECONSIDER = f"""
UPDATE urls SET reason = '' WHERE crawl_id = ? AND state = 'done' AND reason GLOB '{NOT_AGAIN}*'
"""
_REFUSED = """
SELECT reason, id, url, depth, found_by, nofollow, page_type, referrer, redirects FROM urls
WHERE crawl_id = ? AND state = 'refused' AND id > ? ORDER BY id LIMIT ?
"""
_REQUEUE = """
UPDATE urls SET state = 'pending', attempts = 0
WHERE crawl_id = ? AND state = 'refused' AND verdict = ?
"""
_RULE = "UPDATE urls SET rule = ?1, reason = ?1, verdict = ?2 WHERE id = ?3"


class RefusedUrl(NamedTuple):
    """A refused URL, with the data for judging it again."""

    url_id: int
    url: str
    depth: int
    by: str
    nofollow: bool
    page_type: str
    referrer: int | None
    redirects: int


class Refusals:
    """Those of one crawl. Changes become durable when the owner commits."""

    def __init__(self, database: Database, crawl: int) -> None:
        self._database = database
        self._crawl = crawl

    def rules(self, verdicts: Sequence[Verdict]) -> list[str]:
        """The distinct reasons of refusals with one of these verdicts."""
        marks = ", ".join("?" * len(verdicts))
        sql = (
            "SELECT DISTINCT reason FROM urls"
            f" WHERE crawl_id = ? AND state = 'refused' AND verdict IN ({marks})"
        )
        return [row[0] for row in self._database.read(sql, (self._crawl, *verdicts))]

    def kept_out_by(self, rules: Collection[str]) -> Iterator[RefusedUrl]:
        """Iterate over the URLs that these rules refuse. The caller may change them meanwhile."""
        after = 0
        while rules and (rows := self._database.read(_REFUSED, (self._crawl, after, _SOME))):
            yield from (RefusedUrl(*row) for reason, *row in rows if reason in rules)
            after = rows[-1][1]

    def put_rule(self, url_id: int, rule: str) -> None:
        """Set another rule as the reason of a refusal."""
        self._database.write(_RULE, (rule, verdict_of(rule).value, url_id))

    def requeue(self, verdict: Verdict) -> int:
        """Make refused URLs pending again; returns their number."""
        return self._database.write(_REQUEUE, (self._crawl, verdict.value)).rowcount

    def restore_kept(self) -> None:
        """Restore kept pages that a later rule refused."""
        self._database.write(_KEEP, (self._crawl,))
        self._database.write(_RECONSIDER, (self._crawl,))
