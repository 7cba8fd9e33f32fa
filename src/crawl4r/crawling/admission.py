"""Decide which URLs the crawl admits, before a request and when a page names them."""

from __future__ import annotations

from msgspec.structs import replace

from crawl4r.crawling.judge import Judge
from crawl4r.crawling.listing_depth import ListingDepth
from crawl4r.crawling.robots import RobotsGate, RobotsWord
from crawl4r.crawling.trap_filter import TrapWatch
from crawl4r.model import Ending, Lease, UrlState, Verdict, Visit, verdict_of


class Admission:
    """The rules of the crawl, of the sites and of the trap filter, cheapest first."""

    def __init__(
        self,
        robots: RobotsGate,
        judge: Judge,
        listings: ListingDepth,
        traps: TrapWatch | None,
    ) -> None:
        self._robots = robots
        self._judge = judge
        self._listings = listings
        self._traps = traps

    async def load_robots(self, url: str) -> float | None:
        """See `RobotsGate.load`."""
        return await self._robots.load(url)

    def refusal(self, lease: Lease) -> Visit | None:
        """The visit that ends a refused URL without a request; None for an admitted URL."""
        word = self._robots.judge(lease.url, lease.written)
        if word.verdict is None:
            word = self._recheck(lease)
        if word.verdict is None:
            return None
        # The robots.txt of an unreachable site may be fetched again later.
        is_final = word.verdict is not Verdict.ROBOTS_UNREACHABLE
        state = UrlState.REFUSED if is_final else UrlState.FAILED
        return Visit(lease, Ending(lease.url_id, state, word.verdict, word.reason))

    def _recheck(self, lease: Lease) -> RobotsWord:
        """Whether the current rules refuse a URL that earlier rules admitted."""
        if rule := self._judge.links.recheck(lease):
            return RobotsWord(verdict_of(rule), rule)
        if self._traps and (trap := self._traps.recheck(lease)):
            return RobotsWord(Verdict.CAPPED, trap)
        return RobotsWord(None, "")

    def screen(self, visit: Visit) -> Visit:
        """The same visit, with links refused by robots.txt, nesting or the trap filter."""
        if not visit.found:
            return visit
        found = self._robots.spare_places(visit.found)
        found = self._listings.screen(visit.lease, found)
        if self._traps:
            found = self._traps.screen(found)
        return visit if found is visit.found else replace(visit, found=found)
