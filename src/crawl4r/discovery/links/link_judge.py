"""Judges a link by the rules of the crawl: its spelling, its scope, its score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from crawl4r.discovery.links.score import LinkScorer
from crawl4r.errors import InvalidUrl
from crawl4r.model import LISTING, LISTINGS, Found, FoundBy, Lease
from crawl4r.urls.canonical import canonicalize, split, written_path
from crawl4r.urls.policy import LinkRules
from crawl4r.urls.scope import Scope

if TYPE_CHECKING:
    from turbohtml import Element

DEPTH = "depth "  # how the rule of a link that leads too far begins
_NOFOLLOW = "nofollow"
LISTED = "listed"  # the rule for what is in scope where nothing more is wanted than to know it
_VISITED_TO_LIST = frozenset([FoundBy.SEED, FoundBy.REDIRECT, FoundBy.REFRESH, FoundBy.FEED_LINK])
_ANCHOR_CHARACTERS = 200


class LinkJudge:
    """Turns a mention into a `Found`: spelled, judged, scored."""

    def __init__(self, rules: LinkRules) -> None:
        self.rules = rules
        self._scope = Scope(rules.scope)
        self._scorer = LinkScorer(rules.keywords)

    def judge(
        self,
        href: str,
        base: str | None,
        depth: int,
        by: FoundBy,
        *,
        nofollow: bool = False,
        anchor: Element | None = None,
        redirects: int = 0,
    ) -> Found | None:
        """None when the text is no URL that could ever be fetched."""
        try:
            url = canonicalize(href, base, self.rules.canonical)
        except InvalidUrl:
            return None
        admitted, rule, page_type, groups = self._scope.judge(url)
        if admitted and (refusal := self._refusal(depth, by, nofollow)):
            admitted, rule = False, refusal
        text = ""
        if anchor is not None and self._scorer.reads_anchors:
            text = anchor.text[:_ANCHOR_CHARACTERS]
        score = self._scorer.score(url, text)
        return Found(
            url,
            split(url).host,
            depth,
            by.value,
            admitted,
            rule,
            page_type,
            score,
            nofollow,
            groups,
            redirects,
            written=written_path(href, base, url) if admitted else "",
        )

    def _refusal(self, depth: int, by: str, nofollow: bool) -> str:
        """The rule that keeps out a link whose URL is in scope; empty when none does."""
        rules = self.rules
        if rules.max_depth is not None and depth > rules.max_depth:
            return f"{DEPTH}{depth} is past the limit of {rules.max_depth}"
        if nofollow and not rules.follow_nofollow:
            return _NOFOLLOW
        if rules.lists_only and by not in _VISITED_TO_LIST:
            return LISTED
        return ""

    def recheck(self, lease: Lease) -> str:
        """The rule that keeps out a URL that was admitted before; empty when none does."""
        if lease.page_type == LISTING and lease.by == FoundBy.COMMON_CRAWL:
            return ""  # the index that the settings name, wherever it is
        ruling = self._scope.judge(lease.url)
        if not ruling.admitted:
            return ruling.rule
        if lease.page_type == LISTING:
            return ""
        return self._refusal(lease.depth, lease.by, lease.nofollow)

    def groups(self, url: str, page_type: str) -> Sequence[str]:
        """What a URL counts against."""
        if page_type == LISTING:
            return [f"{LISTINGS} {split(url).host}"]
        return self._scope.groups(url)

    def still_says(self, rule: str, before: LinkRules) -> bool:
        """Whether every link that this rule kept out by the rules `before` is still kept out."""
        if rule.startswith(DEPTH):
            depth = int(rule.removeprefix(DEPTH).partition(" ")[0])
            return self.rules.max_depth is not None and depth > self.rules.max_depth
        if rule == _NOFOLLOW:
            return not self.rules.follow_nofollow
        if rule == LISTED:
            return self.rules.lists_only
        return self._scope.still_says(rule, before.scope)

    def confirms(self, item: Found, depth: int) -> bool:
        """Whether a link that a reading process found on a page of this depth is what it says.

        The process may have been taken over by a page: what it calls in scope must be, and be asked
        for under the budget of its own host.
        """
        if not item.admitted:
            return True
        most = self.rules.max_depth
        is_at_depth = depth <= item.depth <= depth + 1 and (most is None or item.depth <= most)
        return is_at_depth and item.host == split(item.url).host and self._scope.judge(item.url)[0]

    def judge_listing(
        self, href: str, base: str | None, depth: int, by: FoundBy, why: str
    ) -> Found | None:
        """The same for what only names other URLs: a sitemap, the next page of a feed.

        The scope holds for it. It is no page: caps of pages and the depth of links do not concern it,
        and it is visited where nothing else is.
        """
        try:
            url = canonicalize(href, base, self.rules.canonical)
        except InvalidUrl:
            return None
        ruling = self._scope.judge(url)
        host = split(url).host
        rule = why if ruling.admitted else ruling.rule
        groups = self.groups(url, LISTING)
        written = written_path(href, base, url) if ruling.admitted else ""
        return Found(
            url, host, depth, by, ruling.admitted, rule, LISTING, groups=groups, written=written
        )
