"""The URLs that a rule of ours keeps out, by rule."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from crawl4r.model import Verdict, verdict_of
from crawl4r.storage.database import Database

NOT_AGAIN = "not visited again: "  # begins the reason of a kept page that a rule of now keeps out
_SOME = 1000  # rows at a time: those before them are being changed
_KEEP = """
UPDATE urls SET state = 'done', reason = '',
    verdict = (SELECT verdict FROM captures WHERE captures.id = urls.capture)
WHERE state = 'refused' AND capture IS NOT NULL
"""
_RECONSIDER = f"UPDATE urls SET reason = '' WHERE state = 'done' AND reason GLOB '{NOT_AGAIN}*'"
_REFUSED = """
SELECT reason, id, url, depth, found_by, nofollow, page_type, referrer, redirects FROM urls
WHERE state = 'refused' AND id > ? ORDER BY id LIMIT ?
"""
_REQUEUE = """
UPDATE urls SET state = 'pending', attempts = 0 WHERE state = 'refused' AND verdict = ?
"""
_RULE = "UPDATE urls SET rule = ?1, reason = ?1, verdict = ?2 WHERE id = ?3"


class RefusedUrl(NamedTuple):
    """A URL that was kept out, with what its judge knew of it."""

    url_id: int
    url: str
    depth: int
    by: str
    nofollow: bool
    page_type: str
    referrer: int | None
    redirects: int


class Refusals:
    """Nothing here is durable before the owner commits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def rules(self, verdicts: Sequence[Verdict]) -> list[str]:
        """The reasons that keep URLs out with one of these verdicts, each once."""
        marks = ", ".join("?" * len(verdicts))
        sql = f"SELECT DISTINCT reason FROM urls WHERE state = 'refused' AND verdict IN ({marks})"
        return [row[0] for row in self._database.read(sql, tuple(verdicts))]

    def kept_out_by(self, rules: Collection[str]) -> Iterator[RefusedUrl]:
        """The URLs that one of these rules keeps out; they may be changed while this goes on."""
        after = 0
        while rules and (rows := self._database.read(_REFUSED, (after, _SOME))):
            yield from (RefusedUrl(*row) for reason, *row in rows if reason in rules)
            after = rows[-1][1]

    def put_rule(self, url_id: int, rule: str) -> None:
        """Another rule keeps it out now."""
        self._database.write(_RULE, (rule, verdict_of(rule).value, url_id))

    def requeue(self, verdict: Verdict) -> int:
        """Let them be asked for again; how many there were."""
        return self._database.write(_REQUEUE, (verdict.value,)).rowcount

    def restore_kept(self) -> None:
        """Pages that were kept are kept pages, whatever rule refused them later."""
        self._database.write(_KEEP)
        self._database.write(_RECONSIDER)
