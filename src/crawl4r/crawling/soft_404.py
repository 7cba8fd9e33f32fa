"""Detect soft 404s: fetch a page that cannot exist, once per host and only on suspicion.

If the host answers 404, its pages need no comparison. If it answers 200, the answer is a sample of its
soft 404.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import OrderedDict

from msgspec import json

from crawl4r import events
from crawl4r.content.verdict.likeness import Likeness, resembles
from crawl4r.crawling.robots import RobotsGate
from crawl4r.crawling.safe_reader import SafeReader, Unreadable
from crawl4r.crawling.side_requests import SideRequests
from crawl4r.formats.media_kind import Kind, kind_of
from crawl4r.model import Failure, PageBody, Response
from crawl4r.storage.tables import Notes

_MOST_BYTES = 64 * 1024
_AT_HAND = 2_000  # origins
_HONEST = "honest"


class MissingPages:
    """Knows for each origin whether it answers 404, or the sample of its soft 404."""

    def __init__(
        self,
        notes: Notes,
        side_requests: SideRequests,
        robots: RobotsGate,
        reader: SafeReader,
        chance: random.Random,
        *,
        enabled: bool = True,
    ) -> None:
        self._notes = notes
        self._side_requests = side_requests
        self._robots = robots
        self._reader = reader
        self._chance = chance
        self._is_enabled = enabled
        self._known: OrderedDict[str, Likeness | None] = OrderedDict()
        self._unknown: set[str] = set()  # origins without a stored result
        self._asking: dict[str, asyncio.Lock] = {}

    def may_be_hidden_on(self, origin: str) -> bool:
        """Whether a page of this origin needs a comparison."""
        if not self._is_enabled:
            return False
        return not self._is_known(origin) or self._known[origin] is not None

    async def has_shape_of(self, origin: str, page: Likeness) -> bool:
        """Whether the page equals the origin's soft 404."""
        lock = self._asking.setdefault(origin, asyncio.Lock())
        async with lock:
            if not self._is_known(origin):
                await self._probe(origin)
        self._asking.pop(origin, None)
        probe = self._known.get(origin)
        return probe is not None and resembles(page, probe)

    async def _probe(self, origin: str) -> None:
        url = f"{origin}/crawlr-asks-for-a-missing-page-{self._chance.getrandbits(48):012x}"
        if not self._robots.allows(url):
            return self._remember(origin, None)
        answer = await self._side_requests.fetch(url, cut_at=_MOST_BYTES, is_urgent=True)
        if isinstance(answer, Failure):  # unknown; the next run probes again
            return self._keep_at_hand(origin, None)
        seen = await self._seen(answer, url)
        events.emit(events.HOST_PROBED, origin=origin, status=answer.status, honest=seen is None)
        return self._remember(origin, seen)

    async def _seen(self, answer: Response, url: str) -> Likeness | None:
        """The sample; None for an honest status, and for an answer that is no page."""
        kind = kind_of(answer.content_type, answer.body)
        if not 200 <= answer.status < 300 or kind is not Kind.HTML:
            return None
        page = PageBody(answer.body, url, answer.header("content-type") or "")
        with contextlib.suppress(Unreadable):
            return await self._reader.shape_of(page)
        return None

    def _is_known(self, origin: str) -> bool:
        if origin in self._unknown:
            return False
        if origin not in self._known:
            text = self._notes.get(f"missing {origin}")
            if text is None:
                if len(self._unknown) >= _AT_HAND:
                    self._unknown.clear()
                self._unknown.add(origin)
                return False
            shape = None if text == _HONEST else json.decode(text, type=Likeness)
            self._keep_at_hand(origin, shape)
        return True

    def _remember(self, origin: str, shape: Likeness | None) -> None:
        text = json.encode(shape).decode() if shape else _HONEST
        self._notes.put(f"missing {origin}", text)
        self._keep_at_hand(origin, shape)

    def _keep_at_hand(self, origin: str, shape: Likeness | None) -> None:
        self._unknown.discard(origin)
        self._known[origin] = shape
        if len(self._known) > _AT_HAND:
            self._known.popitem(last=False)
