"""Identify guessed URLs, and those of them that do not exist.

crawl4r requests a guess because many sites have a page there, not because this site named it. A missing
guess is therefore no failure of the site: it is counted separately, and not requested again.
"""

from __future__ import annotations

from typing import NamedTuple

from crawl4r.model import GUESSED, Ending, FoundBy, Lease, UrlState, Verdict
from crawl4r.storage.database import Database

_BY = ", ".join(f"'{by.value}'" for by in sorted(GUESSED))
_LED = frozenset([Verdict.OK, Verdict.NOT_MODIFIED, Verdict.REDIRECT])
_LED_TEXT = ", ".join(f"'{verdict.value}'" for verdict in sorted(_LED))
_PROBED = "SELECT count(*) FROM errands WHERE url GLOB '*/crawlr-asks-for-a-missing-page-*'"


_USUAL = "a usual place: "


def is_guess(alias: str = "urls") -> str:
    """A condition on rows of `urls`. Older workspaces mark a usual sitemap only by its rule."""
    return (
        f"({alias}.found_by IN ({_BY}) OR ({alias}.found_by = '{FoundBy.SITEMAP}'"
        f" AND substr({alias}.rule, 1, {len(_USUAL)}) = '{_USUAL}'))"
    )


def is_guessed(found_by: str, rule: str) -> bool:
    """The same test for the values of a row."""
    return found_by in GUESSED or (found_by == FoundBy.SITEMAP and rule.startswith(_USUAL))


def is_in_vain(alias: str = "urls") -> str:
    """A condition on rows of `urls`: a guess that was requested or denied, without a result."""
    return (
        f"({alias}.state IN ('done', 'failed', 'refused') AND {is_guess(alias)}"
        f" AND {alias}.verdict NOT IN ({_LED_TEXT}))"
    )


def was_in_vain(lease: Lease, ending: Ending) -> bool:
    """The same test for a visit."""
    is_over = ending.state not in {UrlState.WAITING, UrlState.NEEDS_BROWSER}
    return lease.by in GUESSED and is_over and ending.verdict not in _LED


class GuessCounts(NamedTuple):
    """The guesses of a workspace, by result."""

    asked: int  # with a result
    failed: int
    probes: int  # requests for pages that cannot exist, to learn a host's soft 404
    failed_by_state: dict[str, int]


def count_guesses(database: Database, crawl: int | None = None) -> GuessCounts:
    """Count the guesses of all crawls or of one; reads every row."""
    rows = database.read(
        f"SELECT state, {is_in_vain()}, count(*) FROM urls WHERE {is_guess()}"
        " AND state NOT IN ('pending', 'leased', 'waiting') AND crawl_id = coalesce(?, crawl_id)"
        " GROUP BY 1, 2",
        (crawl,),
    )
    failed = {state: count for state, is_failed, count in rows if is_failed}
    probes = int(database.read(_PROBED)[0][0])
    return GuessCounts(sum(row[2] for row in rows), sum(failed.values()), probes, failed)
