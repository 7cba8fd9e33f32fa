"""One page's bytes to everything we learn from it. Pure; it runs in `reading_process`.

Almost every link on a site was seen before. So the raw href is looked up first, and only a link that
is new here is parsed, spelled, judged by the scope and sent back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from turbohtml import Element

from crawl4r.content.decode import as_utf8, guess_encoding
from crawl4r.content.validate import LITTLE_PROSE, Likeness, likeness, validate
from crawl4r.discovery.links import Document, is_nofollow
from crawl4r.discovery.sayings import Sayings
from crawl4r.discovery.score import LinkScorer
from crawl4r.discovery.seen_links import SeenLinks
from crawl4r.errors import InvalidUrl
from crawl4r.model import LISTING, LISTINGS, Found, FoundBy, Lease, PageBody, PageVerdict, Verdict
from crawl4r.rules import ReadingRules
from crawl4r.urls.canonical import canonicalize, split, written_path
from crawl4r.urls.scope import Scope

_MOST_LINKS = 10_000  # new ones from one page
_TOO_MANY = f"only the first {_MOST_LINKS:,} links were read"
_ANCHOR_CHARACTERS = 200


class Reading(NamedTuple):
    """What a page says: its encoding, its robots directives, the links that are new, and whether it is
    a page at all."""

    encoding: str
    noindex: bool
    nofollow: bool
    found: list[Found]
    verdict: PageVerdict
    note: str = ""
    likeness: Likeness | None = None  # of a page with little on it, when that was asked for
    links: Sequence[int] = ()  # fingerprints of all of them, when they were asked for
    words: int = 0  # what it says, where its address may be one of many for it


class LinkJudge:
    """Turns a mention into a `Found`: spelled, judged, scored."""

    def __init__(self, rules: ReadingRules) -> None:
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

    def still_says(self, rule: str, before: ReadingRules) -> bool:
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


class Reader:
    """Reads pages one after the other and reports each link once for each depth it improves on."""

    def __init__(self, rules: ReadingRules) -> None:
        self._judge = LinkJudge(rules)
        self._seen = SeenLinks()
        self._sayings = Sayings()

    def read(
        self,
        page: PageBody,
        depth: int,
        *,
        with_likeness: bool = False,
        with_links: bool = False,
    ) -> Reading:
        encoding = guess_encoding(page.body, page.content_type)
        html = as_utf8(page.body, encoding)
        document = Document(html)
        verdict = validate(
            document.tree, html, url=page.url, status=page.status, headers=page.headers
        )
        found: list[Found] = []
        if self._judge.rules.follow_links and verdict.verdict not in _DEAD_ENDS:
            found = self._new_links(document, document.base(page.url), depth + 1)
        note = _TOO_MANY if len(found) == _MOST_LINKS else ""
        shape = None
        if with_likeness and verdict.signals == LITTLE_PROSE:
            shape = likeness(document.tree, page.url)
        return Reading(
            encoding,
            document.noindex,
            document.nofollow,
            found,
            verdict,
            note,
            shape,
            _fingerprints(document) if with_links else (),
            self._sayings.of(document, page.url),
        )

    def _new_links(self, document: Document, base: str, depth: int) -> list[Found]:
        found: list[Found] = []
        seen = self._seen.on_page(base)
        tells_apart = not self._judge.rules.follow_nofollow
        has_nofollow = document.nofollow or document.has_nofollow()
        # Also without those that are not to be followed: they have nothing to add to what is known.
        for href, by, node in seen.without_known(document.mentions, depth):
            own_depth, may_say_no = depth, has_nofollow
            if by is not _LINK:  # almost all are
                may_say_no = True
                # What a page calls its own address, or sends the reader on to, is no deeper than it.
                own_depth = depth - 1 if by in _SAME_PAGE else depth
                if by is FoundBy.FEED_LINK and (depth > 1 or not self._judge.rules.follow_feeds):
                    continue  # every article of a blog names a feed of its own comments
            nofollow = document.nofollow or (may_say_no and is_nofollow(node))
            # What is refused here must not hide the same link elsewhere.
            if not (nofollow and tells_apart) and not seen.is_new(href, own_depth):
                continue
            item = self._judge.judge(href, base, own_depth, by, nofollow=nofollow, anchor=node)
            if item is not None:
                found.append(item)
                if len(found) == _MOST_LINKS:
                    break
        return found


DEPTH = "depth "  # how the rule of a link that leads too far begins
_NOFOLLOW = "nofollow"
LISTED = "listed"  # the rule for what is in scope where nothing more is wanted than to know it
_VISITED_TO_LIST = frozenset([FoundBy.SEED, FoundBy.REDIRECT, FoundBy.REFRESH, FoundBy.FEED_LINK])
_LINK = FoundBy.LINK
_SAME_PAGE = frozenset([FoundBy.CANONICAL, FoundBy.REFRESH, FoundBy.FEED_LINK])
# Their links lead to advertisements, to the same again, or nowhere.
_DEAD_ENDS = frozenset([Verdict.BLOCKED, Verdict.PARKED, Verdict.SOFT_404])


def _fingerprints(document: Document) -> list[int]:
    """Short names of a page's links, the same in every process."""
    hrefs = {href for href, by, _ in document.mentions if by is FoundBy.LINK}
    return sorted({crc32(href.encode("utf-8", "replace")) for href in hrefs})[:_MOST_LINKS]
