"""One page's bytes to everything we learn from it. Pure; it runs in `reading_process`.

Almost every link on a site was seen before. So the raw href is looked up first, and only a link that
is new here is parsed, spelled, judged by the scope and sent back.
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


class Reader:
    """Reads pages one after the other and reports each link once for each depth it improves on."""

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


_LINK = FoundBy.LINK
_SAME_PAGE = frozenset([FoundBy.CANONICAL, FoundBy.REFRESH, FoundBy.FEED_LINK])
# Their links lead to advertisements, to the same again, or nowhere.
_DEAD_ENDS = frozenset([Verdict.BLOCKED, Verdict.PARKED, Verdict.SOFT_404])


def _fingerprints(document: LinkDocument) -> list[int]:
    """Short names of a page's links, the same in every process."""
    hrefs = {href for href, by, _ in document.mentions if by is FoundBy.LINK}
    return sorted({crc32(href.encode("utf-8", "replace")) for href in hrefs})[:_MOST_LINKS]
