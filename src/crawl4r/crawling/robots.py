"""Fetch, store and apply the robots.txt of sites (RFC 9309).

robots.txt is fetched through the same transport and host budgets as pages.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import Struct

from crawl4r import events
from crawl4r.crawling.side_requests import SideRequests
from crawl4r.errors import InvalidUrl
from crawl4r.model import Failure, Found, Response, Verdict
from crawl4r.politeness.backoff import Backoff
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.storage.tables import ROBOTS_RULES, RobotsRecord, RobotsRecords
from crawl4r.urls.canonical import AS_WRITTEN, canonicalize, split
from crawl4r.urls.policy import RobotsRules
from crawl4r.urls.robots import MAX_BYTES, RobotsFile

ALLOW, UNREACHABLE, REFUSED = "allow", "unreachable", "egress-refused"
TEMPORARY = (UNREACHABLE, REFUSED)
_MAX_HOPS = 5  # RFC 9309 2.3.1.2
_LEAST_TTL = 60.0  # seconds; an answer must stay valid for the page that needs it
_PARSED_AT_HAND = 2_000


class RobotsWord(NamedTuple):
    """The decision about one URL; `verdict` is None when it may be fetched."""

    verdict: Verdict | None
    reason: str


class _ParsedRobots(Struct):
    record: RobotsRecord
    file: RobotsFile


class RobotsGate:
    def __init__(
        self,
        records: RobotsRecords,
        side_requests: SideRequests,
        budgets: HostBudgets,
        rules: RobotsRules,
        *,
        backoff: Backoff,
        wall: Callable[[], float],
        chance: random.Random,
    ) -> None:
        self._records = records
        self._side_requests = side_requests
        self._budgets = budgets
        self._rules = rules
        self._backoff = backoff
        self._wall = wall
        self._chance = chance
        self._at_hand: OrderedDict[str, _ParsedRobots] = OrderedDict()
        self._attempts: dict[str, int] = {}  # failed ones, of origins still being asked

    def adopt(self, rules: RobotsRules) -> None:
        """Replace the rules; the fetched files stay known."""
        self._rules = rules

    def needs(self, url: str) -> bool:
        """Whether `load` must be called before this URL can be judged."""
        return self._rules.obey and self._known(split(url).origin) is None

    def allows(self, url: str) -> bool:
        """Whether a URL whose origin is loaded may be fetched."""
        return self.judge(url).verdict is None

    def judge(self, url: str, written: str = "") -> RobotsWord:
        """The decision for a URL whose origin is loaded; `written` is its path as a page wrote it.

        A rule that forbids either spelling forbids the page.
        """
        if not self._rules.obey:
            return RobotsWord(None, "robots.txt is ignored by your settings")
        origin = split(url).origin
        known = self._known(origin)
        if known is None:
            return RobotsWord(Verdict.ROBOTS_UNREACHABLE, "robots.txt was not asked for")
        outcome = known.record.outcome
        if outcome == REFUSED:
            return RobotsWord(Verdict.EGRESS_REFUSED, known.record.body.decode("utf-8", "replace"))
        if outcome == UNREACHABLE:
            why = known.record.body.decode("utf-8", "replace")
            return RobotsWord(Verdict.ROBOTS_UNREACHABLE, f"robots.txt: {why}")
        path = url[len(origin) :]
        ruling = known.file.judge_spellings(path, written, self._rules.agents)
        line = f" (line {ruling.line})" if ruling.line else ""
        verdict = None if ruling.allowed else Verdict.ROBOTS_DENIED
        return RobotsWord(verdict, f"robots.txt: {ruling.rule}{line}")

    def spare_places(self, found: Sequence[Found]) -> Sequence[Found]:
        """The same links; those that robots.txt forbids do not count against caps.

        They are refused before their visit. If they counted, forty of them would keep out allowed pages
        of a repository.
        """
        if not any(item.groups for item in found):
            return found
        return [item._replace(groups=()) if self._forbids_counted(item) else item for item in found]

    def _forbids_counted(self, item: Found) -> bool:
        is_counted = item.admitted and bool(item.groups)
        return is_counted and self.judge(item.url, item.written).verdict is Verdict.ROBOTS_DENIED

    async def load(self, url: str) -> float | None:
        """Fetch the robots.txt of the URL's origin and store the answer.

        Returns the seconds until the next try when the site did not answer.
        """
        origin = split(url).origin
        record, may_improve = await self._ask(origin)
        attempt = self._attempts.get(origin, 0)
        if may_improve and attempt < self._backoff.retries:
            self._attempts[origin] = attempt + 1
            return self._backoff.delay(attempt, self._chance)
        self._attempts.pop(origin, None)
        self._records.put(record)
        self._keep_at_hand(record)
        events.emit(
            events.ROBOTS_FETCHED, origin=origin, outcome=record.outcome, status=record.status
        )
        return None

    async def _ask(self, origin: str) -> tuple[RobotsRecord, bool]:
        url = f"{origin}/robots.txt"
        for _ in range(_MAX_HOPS + 1):
            answer = await self._side_requests.fetch(url, cut_at=MAX_BYTES)
            if isinstance(answer, Failure):
                outcome = REFUSED if answer.verdict is Verdict.EGRESS_REFUSED else UNREACHABLE
                return self._record(origin, outcome, None, answer.reason.encode()), answer.transient
            location = answer.header("location") if 300 <= answer.status < 400 else None
            if location is None:
                return self._record_of(origin, answer)
            try:
                url = canonicalize(location, url, AS_WRITTEN)
            except InvalidUrl:
                break
        return self._record(origin, ALLOW, None, b"redirects that lead nowhere"), False

    def _record_of(self, origin: str, answer: Response) -> tuple[RobotsRecord, bool]:
        if answer.status == 429 or answer.status >= 500:
            reason = f"http-{answer.status}".encode()
            return self._record(origin, UNREACHABLE, answer.status, reason), True
        if 200 <= answer.status < 300:
            return self._record(origin, ROBOTS_RULES, answer.status, answer.body[:MAX_BYTES]), False
        return self._record(origin, ALLOW, answer.status, b""), False

    def _record(self, origin: str, outcome: str, status: int | None, body: bytes) -> RobotsRecord:
        now = self._wall()
        ttl = self._rules.unreachable_ttl if outcome in TEMPORARY else self._rules.ttl
        return RobotsRecord(origin, outcome, status, body, now, now + max(ttl, _LEAST_TTL))

    def _known(self, origin: str) -> _ParsedRobots | None:
        known = self._at_hand.get(origin)
        if known is None:
            record = self._records.get(origin)
            if record is None:
                return None
            known = self._keep_at_hand(record)
        if known.record.expires_at <= self._wall():
            del self._at_hand[origin]
            return None
        return known

    def _keep_at_hand(self, record: RobotsRecord) -> _ParsedRobots:
        file = RobotsFile(record.body if record.outcome == ROBOTS_RULES else b"")
        known = self._at_hand[record.origin] = _ParsedRobots(record, file)
        if len(self._at_hand) > _PARSED_AT_HAND:
            self._at_hand.popitem(last=False)
        if self._rules.obey and (delay := file.crawl_delay(self._rules.agents)):
            self._budgets[split(record.origin + "/").host].ask_delay(delay, record.origin)
        return known
