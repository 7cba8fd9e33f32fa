"""Read a page: encoding, robots directives, links, verdict. Pure; runs in `reading_process`.

Most links of a site recur. The reader therefore looks up the raw href first, and only parses, spells,
judges and returns new links.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from crawl4r.content.verdict.validate import LITTLE_PROSE, Likeness, likeness, validate
from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.discovery.links.page_links import LinkDocument, is_nofollow
from crawl4r.discovery.links.seen import SeenLinks
from crawl4r.discovery.traps.text_fingerprint import TextFingerprints
from crawl4r.formats.charset import as_utf8, guess_encoding
from crawl4r.model import Found, FoundBy, PageBody, PageVerdict, Verdict
from crawl4r.urls.policy import LinkRules

_MOST_LINKS = 10_000  # new ones from one page
_TOO_MANY = f"only the first {_MOST_LINKS:,} links were read"


class PageReading(NamedTuple):
    """The result for a page: its encoding, robots directives, new links, and whether it is a real
    page."""

    encoding: str
    noindex: bool
    nofollow: bool
    found: list[Found]
    verdict: PageVerdict
    note: str = ""
    likeness: Likeness | None = None  # of a page with little text, on request
    links: Sequence[int] = ()  # fingerprints of all links, on request
    words: int = 0  # fingerprint of the text, if its URL may be one of many for the page


class Reader:
    """Reads pages one after the other. Reports a link once, and again with a smaller depth."""

    def __init__(self, rules: LinkRules) -> None:
        self._judge = LinkJudge(rules)
        self._seen = SeenLinks()
        self._sayings = TextFingerprints()

    def read(
        self,
        page: PageBody,
        depth: int,
        *,
        with_likeness: bool = False,
        with_links: bool = False,
    ) -> PageReading:
        encoding = guess_encoding(page.body, page.content_type)
        html = as_utf8(page.body, encoding)
        document = LinkDocument(html)
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
        return PageReading(
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

    def _new_links(self, document: LinkDocument, base: str, depth: int) -> list[Found]:
        found: list[Found] = []
        seen = self._seen
        seen.turn_to(base)
        tells_apart = not self._judge.rules.follow_nofollow
        has_nofollow = document.nofollow or document.has_nofollow()
        # Without nofollow links too, because they add nothing to known ones.
        for href, by, node in seen.without_known(document.mentions, depth):
            own_depth, may_say_no = depth, has_nofollow
            if by is not _LINK:  # most are links
                may_say_no = True
                # A canonical link or a redirect by the page has the depth of the page.
                own_depth = depth - 1 if by in _SAME_PAGE else depth
                if by is FoundBy.FEED_LINK and (depth > 1 or not self._judge.rules.follow_feeds):
                    continue  # each article of a blog names a feed of its comments
            nofollow = document.nofollow or (may_say_no and is_nofollow(node))
            # A refusal here must not hide the same link on other pages.
            if not (nofollow and tells_apart) and not seen.is_new(href, own_depth):
                continue
            item = self._judge.judge(href, base, own_depth, by, nofollow=nofollow, anchor=node)
            if item is not None:
                found.append(item)
                if len(found) == _MOST_LINKS:
                    break
        return found


_LINK = FoundBy.LINK
_SAME_PAGE = frozenset([FoundBy.CANONICAL, FoundBy.REFRESH, FoundBy.FEED_LINK])
# Their links lead to advertisements or to the same page.
_DEAD_ENDS = frozenset([Verdict.BLOCKED, Verdict.PARKED, Verdict.SOFT_404])


def _fingerprints(document: LinkDocument) -> list[int]:
    """Fingerprints of a page's links, equal in every process."""
    hrefs = {href for href, by, _ in document.mentions if by is FoundBy.LINK}
    return sorted({crc32(href.encode("utf-8", "replace")) for href in hrefs})[:_MOST_LINKS]
