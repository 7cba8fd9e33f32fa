"""Judge answers: turn a response or a failure into a visit to keep."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from crawl4r import events
from crawl4r.clock import Clock
from crawl4r.content.verdict.validate import Likeness, is_hard, is_soft
from crawl4r.crawling.listings import Listing, is_listing
from crawl4r.crawling.safe_reader import SafeReader, Unreadable
from crawl4r.crawling.shared_answers import KeptAnswer
from crawl4r.crawling.soft_404 import MissingPages
from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.fetch.headers import as_utf8
from crawl4r.formats.media_kind import Kind, kind_of
from crawl4r.model import (
    LISTING,
    Capture,
    Ending,
    Failure,
    Found,
    FoundBy,
    Lease,
    PageBody,
    Response,
    UrlState,
    Verdict,
    Visit,
)
from crawl4r.politeness.answers import RETRIED, retry_after_of
from crawl4r.politeness.backoff import Backoff
from crawl4r.urls.canonical import split
from crawl4r.urls.policy import LinkRules

_REDIRECTS = frozenset([301, 302, 303, 307, 308])


class AnswerRules(Struct, frozen=True):
    """The rules for retries, and for keeping answers."""

    backoff: Backoff
    max_redirects: int
    retry_after_cap: float  # seconds
    types: Sequence[str] = ()  # media types to keep; empty means all


class Judge:
    """Judges answers, and has their pages read."""

    def __init__(
        self,
        reader: SafeReader,
        missing: MissingPages,
        links: LinkJudge,
        rules: AnswerRules,
        clock: Clock,
        chance: random.Random,
        *,
        request: int | None = None,
        on_seed_moved: Callable[[str], None] | None = None,
    ) -> None:
        self.links = links
        self._clock = clock
        self._request = request  # id of the headers that all requests of this run share
        self._reader = reader
        self._missing = missing
        self._rules = rules
        self._backoff = rules.backoff
        self._chance = chance
        self._on_seed_moved = on_seed_moved

    async def judge_kept(self, lease: Lease, kept: KeptAnswer) -> Visit | None:
        """What an answer from the archive means for this crawl, without a new capture; None when that
        cannot be said without asking."""
        visit = await self._judge(replace(lease, validators=None), kept.answer)
        if visit.ending.state not in {UrlState.DONE, UrlState.NEEDS_BROWSER}:
            return None
        ending = visit.ending._replace(capture=kept.capture.id, content=kept.content)
        if kept.capture.verdict is Verdict.SOFT_404:
            known = kept.capture
            ending = ending._replace(verdict=known.verdict, reason=known.reason, content=None)
            visit = replace(visit, found=())
        elif ending.verdict is not Verdict.OK:
            ending = ending._replace(content=None)
        return replace(visit, lease=lease, ending=ending, capture=None, body=None, likeness=None)

    def rescope(self, rules: LinkRules) -> None:
        """Replace the rules for later links."""
        self.links = LinkJudge(rules)
        self._reader.adopt(rules)

    async def judge(
        self, lease: Lease, answer: Response | Failure, *, is_host_sick: bool = False
    ) -> Visit:
        """`is_host_sick`: the host fails for every URL, so a failure does not count against the retries
        of this one."""
        if not is_host_sick:
            return await self._judge(lease, answer)
        most = max(0, self._backoff.retries - 1)
        visit = await self._judge(replace(lease, attempts=min(lease.attempts, most)), answer)
        if visit.ending.state is UrlState.WAITING:
            visit = replace(visit, ending=visit.ending._replace(is_blamed=False))
        return replace(visit, lease=lease)

    async def _judge(self, lease: Lease, answer: Response | Failure) -> Visit:
        if isinstance(answer, Failure):
            return self._failed(lease, answer)
        if answer.status == 304 and lease.validators:
            return self._done(lease, answer, Verdict.NOT_MODIFIED, "")
        if answer.status in _REDIRECTS and (location := answer.header("location")):
            return self._redirected(lease, answer, location)
        if 200 <= answer.status < 300:
            return await self._page(lease, answer)
        if answer.status in RETRIED:
            return self._refused_for_now(lease, answer, Verdict.HTTP_ERROR, f"http-{answer.status}")
        return self._done(lease, answer, Verdict.HTTP_ERROR, f"http-{answer.status}")

    async def _page(self, lease: Lease, answer: Response) -> Visit:
        if not is_wanted(answer.content_type, self._rules.types):
            reason = f"{answer.content_type} is not among fetch.types"
            capture = self._capture(lease, answer, Verdict.UNWANTED, reason)
            ending = Ending(lease.url_id, UrlState.DONE, Verdict.UNWANTED, reason)
            return Visit(lease, ending, capture)
        if not answer.body or kind_of(answer.content_type, answer.body) is not Kind.HTML:
            return await self._listed(lease, answer)
        page = PageBody(
            answer.body,
            lease.url,
            answer.header("content-type") or "",
            answer.status,
            answer.headers,
        )
        # A host may show its front page for missing pages, but the front page itself exists.
        may_be_missing = lease.depth > 0 and self._missing.may_be_hidden_on(split(lease.url).origin)
        try:
            reading = await self._reader.read(
                page,
                lease.depth,
                with_likeness=may_be_missing,
                with_links=lease.by == FoundBy.PAGINATION,
            )
        except Unreadable as problem:
            return self._unreadable(lease, answer, str(problem))
        verdict, reason, _ = reading.verdict
        if is_hard(verdict):
            return self._refused_for_now(lease, answer, verdict, reason)
        visit = self._done(
            lease,
            answer,
            verdict,
            reason or reading.note,
            found=[item for item in reading.found if self.links.confirms(item, lease.depth)],
            encoding=reading.encoding,
        )
        if reading.likeness or reading.links or reading.words:
            visit = replace(
                visit, likeness=reading.likeness, links=reading.links, words=reading.words
            )
        return visit

    async def _listed(self, lease: Lease, answer: Response) -> Visit:
        """Keep a body that is no HTML, and read the URLs of a sitemap or feed."""
        listing = Listing([])
        if self._names_urls(lease, answer):
            try:
                listing = await self._reader.read_listing(lease, answer.content_type, answer.body)
            except Unreadable as problem:
                return self._unreadable(lease, answer, str(problem))
        return self._done(lease, answer, Verdict.OK, listing.problem, found=listing.found)

    def _names_urls(self, lease: Lease, answer: Response) -> bool:
        rules = self.links.rules
        is_asked_for = lease.page_type == LISTING or rules.follow_feeds
        if not rules.follow_links or not is_asked_for or not answer.body:
            return False
        return is_listing(lease, answer.content_type, answer.body)

    def _unreadable(self, lease: Lease, answer: Response, reason: str) -> Visit:
        """Keep the bytes of an unreadable page, which a later version may be able to read."""
        events.emit(events.PAGE_UNREADABLE, 30, url=lease.url, reason=reason)
        return self._done(lease, answer, Verdict.UNREADABLE, reason)

    async def compare_with_missing(self, visit: Visit) -> Visit:
        """The same visit, or a soft-404 visit if the page equals the host's soft 404.

        Call after the visit's turn has ended, because this may send another request to the host.
        """
        assert isinstance(visit.likeness, Likeness) and visit.capture is not None
        origin = split(visit.lease.url).origin
        if not await self._missing.has_shape_of(origin, visit.likeness):
            return visit
        verdict, reason = Verdict.SOFT_404, "looks like what the host shows for a missing page"
        return replace(
            visit,
            found=(),
            ending=visit.ending._replace(verdict=verdict, reason=reason),
            capture=visit.capture._replace(verdict=verdict, reason=reason),
        )

    def _redirected(self, lease: Lease, answer: Response, location: str) -> Visit:
        hops = lease.redirects + 1
        if hops > self._rules.max_redirects:
            reason = f"more than {self._rules.max_redirects} redirects"
            return self._done(lease, answer, Verdict.REDIRECT, reason, location=location)
        location = as_utf8(location)
        target = self._judge_target(lease, location, hops)
        if target is None:
            reason = f"redirects to {location[:200]!r}, which is no URL"
            return self._done(lease, answer, Verdict.REDIRECT, reason, location=location)
        if not target.admitted and _is_seed(lease) and self._on_seed_moved:
            # A seed example.org means the site that example.org redirects to.
            self._on_seed_moved(split(target.url).netloc)
            target = self._judge_target(lease, location, hops) or target
        if lease.page_type == LISTING:  # its target is a listing too, and no moved seed
            target = target._replace(by=lease.by, page_type=LISTING, groups=())
        # The discoverer of this page also finds its target, and applies the caps to it.
        found = [] if lease.by == FoundBy.SPOOL else [target]
        return self._done(
            lease, answer, Verdict.REDIRECT, f"to {target.url}", found=found, location=target.url
        )

    def _judge_target(self, lease: Lease, location: str, hops: int) -> Found | None:
        return self.links.judge(location, lease.url, lease.depth, FoundBy.REDIRECT, redirects=hops)

    def _refused_for_now(
        self, lease: Lease, answer: Response, verdict: Verdict, reason: str
    ) -> Visit:
        if lease.attempts >= self._backoff.retries:
            reason = f"{reason} after {lease.attempts + 1} attempts"
            ending = Ending(lease.url_id, UrlState.FAILED, verdict, reason)
            capture = self._capture(lease, answer, verdict, reason)
            return Visit(lease, ending, capture, answer.body)
        asked = retry_after_of(answer, self._clock.wall())
        failure = Failure(
            verdict, reason, True, answer.sent_at, answer.latency, answer.status, asked
        )
        return self._retry(lease, failure, asked)

    def _failed(self, lease: Lease, failure: Failure) -> Visit:
        if failure.transient and lease.attempts < self._backoff.retries:
            return self._retry(lease, failure, failure.retry_after)
        reason = failure.reason
        if failure.transient:
            reason = f"{reason} (attempt {lease.attempts + 1}, the last)"
        state = UrlState.FAILED
        if failure.verdict is Verdict.EGRESS_REFUSED:
            state = UrlState.REFUSED
        ending = Ending(lease.url_id, state, failure.verdict, reason)
        return Visit(lease, ending, failure=failure)

    def _retry(self, lease: Lease, failure: Failure, retry_after: float | None) -> Visit:
        wait = self._backoff.delay(lease.attempts, self._chance)
        if retry_after is not None:
            wait = max(wait, min(retry_after, self._rules.retry_after_cap))
        due_at = self._clock.wall() + wait
        ending = Ending(lease.url_id, UrlState.WAITING, failure.verdict, failure.reason, due_at)
        return Visit(lease, ending, failure=failure)

    def _done(
        self,
        lease: Lease,
        answer: Response,
        verdict: Verdict,
        reason: str,
        *,
        found: Sequence[Found] = (),
        encoding: str = "",
        location: str | None = None,
    ) -> Visit:
        capture = self._capture(lease, answer, verdict, reason, encoding, location)
        # Redirects and 304 mostly have no body; an empty page is still a page.
        content = answer.body if answer.body or verdict is Verdict.OK else None
        state = UrlState.NEEDS_BROWSER if is_soft(verdict) else UrlState.DONE
        ending = Ending(lease.url_id, state, verdict, reason)
        return Visit(lease, ending, capture, content, found=found)

    def _capture(
        self,
        lease: Lease,
        answer: Response,
        verdict: Verdict,
        reason: str,
        encoding: str = "",
        location: str | None = None,
    ) -> Capture:
        return Capture(
            url=lease.url,
            fetched_at=self._clock.wall() - (self._clock.monotonic() - answer.sent_at),
            status=answer.status,
            verdict=verdict,
            reason=reason,
            sha256=None,
            bytes=len(answer.body),
            content_type=answer.content_type,
            encoding=encoding,
            headers=answer.headers,
            etag=answer.header("etag"),
            last_modified=answer.header("last-modified"),
            page_type=lease.page_type,
            depth=lease.depth,
            referrer=lease.referrer,
            latency_ms=round(answer.latency * 1000),
            retries=lease.attempts,
            proxy=answer.proxy,
            http_version=answer.http_version,
            address=answer.address,
            location=location,
            request=self._request,
        )


def is_wanted(content_type: str, types: Sequence[str]) -> bool:
    """Whether a media type matches `types` (`text/html`, `text/*`); an empty list matches all."""
    if not types or not content_type:
        return True
    family = content_type.partition("/")[0]
    return content_type in types or f"{family}/*" in types


def _is_seed(lease: Lease) -> bool:
    return lease.depth == 0 and lease.by in {FoundBy.SEED, FoundBy.REDIRECT}
