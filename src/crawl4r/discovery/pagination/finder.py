"""Find the other pages of a list: the next one, the linked ones, and the rule of their URLs.

Pure: a parsed page in, values out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from turbohtml import Element

from crawl4r.discovery.links.page_links import LinkDocument
from crawl4r.discovery.pagination.evidence import Group, Mention
from crawl4r.discovery.pagination.groups import Believed, believe, own_place
from crawl4r.discovery.pagination.labels import UNCALLED, LinkBlock, block_of, label_of
from crawl4r.discovery.pagination.rule import PageRule
from crawl4r.discovery.pagination.slots import slots_of
from crawl4r.errors import InvalidUrl
from crawl4r.model import FoundBy
from crawl4r.urls.canonical import DEFAULT_RULES, CanonicalRules, canonicalize, split

_MOST_LINKS = 4_000  # links read from a page: the first and the last ones
_MOST_GROUPS = 200  # groups of a page; a page with more has no pager
_MOST_PAGES = 1_000  # reported pages
# A link without a telling text is parsed only if its URL has a word for a page, or the beginning of
# such a word, before a number.
_SAYS_PAGE = re.compile(
    r"(?:/|[?&][^=&]{0,40}?)(?:pag|pg|pn|seite|sid[ae]|sivu|stran|stron|oldal|sayfa|halaman|trang|lapa"
    r"|puslapis|%d1|start|limitstart|offset|skip|from|first|begin|st=)[^/?&=]{0,40}[=/]?[0-9]"
)
_HEAD_RELS = {FoundBy.NEXT: "next", FoundBy.PREVIOUS: "prev"}


class PagerLink(NamedTuple):
    """A link to a page of the list."""

    number: int  # from 1
    url: str


class Pagination(NamedTuple):
    """The list that a page belongs to, by its links; empty when there is none."""

    next: str | None = None
    previous: str | None = None
    pages: Sequence[PagerLink] = ()
    rule: PageRule | None = None
    current: int = 1  # the number of this page

    def as_json(self) -> dict[str, Any]:
        return {
            "next": self.next,
            "previous": self.previous,
            "current": self.current,
            "pages": [page._asdict() for page in self.pages],
            "rule": self.rule.as_json() | {"key": self.rule.key} if self.rule else None,
        }


def find_pagination(
    document: LinkDocument, url: str, canonical: CanonicalRules = DEFAULT_RULES
) -> Pagination:
    """The pages of the list that this page belongs to; `canonical` has the crawl's URL rules."""
    try:
        own = canonicalize(url, None, canonical)
    except InvalidUrl:
        return Pagination()
    links = list(_telling_links(document, own, canonical))
    found = _best_list(links, own)
    if found is None:
        return Pagination(_steered(links, "next", {}), _steered(links, "prev", {}))
    pages = _pages_of(found.rule, links)
    near = {
        "next": pages.get(found.current + 1),
        "prev": pages.get(found.current - 1),
    }
    return Pagination(
        _steered(links, "next", near),
        _steered(links, "prev", near),
        [PagerLink(number, pages[number]) for number in sorted(pages)[:_MOST_PAGES]],
        found.rule,
        found.current,
    )


def _telling_links(
    document: LinkDocument, own: str, canonical: CanonicalRules
) -> Iterator[Mention]:
    """Links within the host with a label or number for pages."""
    base = document.base(own)
    netloc = split(own).netloc
    for href, by, node in _outermost(document.mentions):
        if by is FoundBy.LINK:
            rel, called = _rel_of(node), label_of(node)
        else:
            rel, called = _HEAD_RELS.get(by, ""), UNCALLED
        if not rel and called is UNCALLED and not _SAYS_PAGE.search(href[:2048].lower()):
            continue
        try:
            url = canonicalize(href, base, canonical)
        except InvalidUrl:
            continue
        if url != own and split(url).netloc == netloc:
            yield Mention(url, called, rel, node, by is not FoundBy.LINK)


def _outermost(mentions: list[tuple[str, FoundBy, Element]]) -> list[Any]:
    """The first and the last links: a pager stands above or below its list."""
    if len(mentions) <= _MOST_LINKS:
        return mentions
    return mentions[: _MOST_LINKS // 2] + mentions[-_MOST_LINKS // 2 :]


def _rel_of(node: Element) -> str:
    words = node.attr("rel")
    if not words:
        return ""
    said = words.lower().split()
    return "next" if "next" in said else "prev" if {"prev", "previous"} & set(said) else ""


def _best_list(links: Sequence[Mention], own: str) -> Believed | None:
    groups: dict[str, Group] = {}
    for link in links:
        for slot in slots_of(link.url):
            group = groups.get(slot.template)
            if group is None:
                if len(groups) == _MOST_GROUPS:
                    continue
                group = groups[slot.template] = Group(slot.style, slot.template, slot.trust)
            group.links.append((slot.value, link))
    slots = slots_of(own)
    before = {link.url for link in links if link.is_previous}
    found = []
    for group in groups.values():
        place = own_place(group, own, slots)
        opening = PageRule(group.style, group.template).opening
        if believed := believe(group, place, first_is_before=opening in before):
            found.append(believed)
    return max(found, key=lambda believed: believed.weight, default=None)


def _pages_of(rule: PageRule, links: Iterable[Mention]) -> dict[int, str]:
    pages: dict[int, str] = {}
    for link in links:
        number = rule.number_of(link.url)
        if number is not None:
            pages.setdefault(number, link.url)
    return pages


def _steered(links: Iterable[Mention], way: str, near: Mapping[str, str | None]) -> str | None:
    """The page in this direction: by `rel` in the head, else by the list's rule, else by a label."""
    towards = [link for link in links if (link.is_next if way == "next" else link.is_previous)]
    for link in towards:
        if link.is_in_head:
            return link.url
    if counted := near.get(way):
        return counted
    for link in towards:
        if link.rel:
            return link.url
    return next((link.url for link in towards if _is_pager_link(link)), None)


def _is_pager_link(link: Mention) -> bool:
    """A link that only has the label: in a pager, or with two words or more ("next page")."""
    block = block_of(link.node)
    is_plain_phrase = link.called.is_word and len(link.node.text.split()) > 1
    return block is LinkBlock.PAGER or (block is LinkBlock.PLAIN and is_plain_phrase)


def make_finder(_: Any) -> Callable[[str, bytes], Pagination]:
    """The sandbox's entry: `(url, UTF-8 HTML) -> pagination`."""
    return lambda url, html: find_pagination(LinkDocument(html), url)
