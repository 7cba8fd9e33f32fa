"""Feeds: RSS 0.9 to 2.0, RDF, Atom and JSON Feed, as lists of pages. Pure: bytes in, values out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

from turbohtml import Document

from crawl4r.formats.dates import moment_of
from crawl4r.formats.gzip import text_pieces, unpack
from crawl4r.formats.xml import Stop, is_html, joined, local, root_of, walk
from crawl4r.urls.canonical import try_canonicalize

MOST_ENTRIES = 10_000
_TOO_MANY = f"more than {MOST_ENTRIES:,} entries: the rest was left out"
_MOST_JSON = 10 * 1024 * 1024  # bytes; parsing takes several times as much memory
_MOST_FEEDS = 20  # feeds read from one page
Kind = Literal["rss", "atom", "json", "none"]
_KINDS: dict[str, Kind] = {"rss": "rss", "rdf": "rss", "feed": "atom"}
_ITEMS = frozenset(["item", "entry"])
_TOPS = frozenset(["channel", "feed", "rdf", "rss"])
_FEED_TYPES = frozenset(["application/rss+xml", "application/atom+xml", "application/feed+json"])
# Elements with the URL of an item's page, the best first. `origLink` is the link before a feed
# service replaced it by a redirect; a guid is a link unless isPermaLink is false.
_ADDRESSES = ("origlink", "link", "html", "alternate", "guid", "about")
_PUBLISHED = ("published", "pubdate", "issued", "date", "created", "updated", "modified")
# RFC 5005: the rest of a paged feed, or the archive that precedes it.
_NEXT = ("next", "prev-archive")


class FeedEntry(NamedTuple):
    url: str
    published: float | None = None  # epoch seconds


class FeedListing(NamedTuple):
    kind: Kind
    entries: Sequence[FeedEntry] = ()
    next: str = ""  # the URL of older entries; empty when the feed names none
    problem: str = ""  # an error in the file, or what was left out


def read_feed_links(body: bytes, url: str, content_type: str = "") -> FeedListing:
    """The pages that a feed served at `url` names, each once.

    Never raises: a broken file gives the entries before the break, and `problem` tells so.
    """
    body, cut = unpack(body)
    pieces = text_pieces(body, content_type)
    head = next(pieces, "")
    root = root_of(head)
    if not root and (head.lstrip("\ufeff \t\r\n").startswith("{") or "json" in content_type):
        feed = _read_json(body, chain([head], pieces), url)
    elif is_html(root):
        feed = FeedListing("none", problem="an HTML page")
    elif root.startswith("!") or local(root) in _KINDS:
        reader = _FeedReader(url)
        problem = walk(head, pieces, reader)
        try:
            reader.end_item()  # the item at the break may already have its URL
        except Stop as stop:
            problem = joined(problem, str(stop))
        feed = FeedListing(reader.kind, reader.entries(), reader.next(), problem)
    else:
        feed = FeedListing("none", problem=f"the first tag is <{root[:40]}>" if root else "not XML")
    return feed._replace(problem=joined(cut, feed.problem))


def feed_links_of(tree: Document, base: str) -> list[str]:
    """The feeds that a page names in its head, in order; `base` is the page's base URL."""
    found: dict[str, None] = {}
    for node in tree.select("link[rel][href][type]"):
        rels = (node.attr("rel") or "").lower().split()
        media_type = (node.attr("type") or "").partition(";")[0].strip().lower()
        if media_type in _FEED_TYPES and ("alternate" in rels or "feed" in rels):
            if url := try_canonicalize(node.attr("href") or "", base):
                found[url] = None
            if len(found) == _MOST_FEEDS:
                break
    return list(found)


class _FeedReader:
    """Collects the items of RSS, RDF and Atom, which have a similar structure."""

    def __init__(self, url: str) -> None:
        self.kind: Kind = "none"
        self._url = url
        self._bases = [url]  # xml:base, one for each open element
        self._found: dict[str, FeedEntry] = {}
        self._onwards: dict[str, str] = {}
        self._addresses: dict[str, str] = {}
        self._dates: dict[str, str] = {}

    def entries(self) -> list[FeedEntry]:
        return list(self._found.values())

    def next(self) -> str:
        onwards = (self._onwards.get(rel, "") for rel in _NEXT)
        return next((url for url in onwards if url and url != self._url), "")

    def opens(self, name: str, attributes: Mapping[str, str], path: Sequence[str]) -> None:
        tag = local(name)
        if not path:
            self.kind = _KINDS.get(tag, "none")
        base = self._bases[-1]
        self._bases.append(try_canonicalize(attributes.get("xml:base", ""), base) or base)
        if tag in _ITEMS:
            self.end_item()
            self._offer("about", attributes.get("rdf:about", ""))
        elif tag == "link" and path and attributes:
            self._read_link(attributes, local(path[-1]))
        elif tag == "guid" and "false" in {value.strip().lower() for value in attributes.values()}:
            self._addresses.setdefault("guid", "")  # isPermaLink="false", in any case of letters

    def closes(self, name: str, text: str, path: Sequence[str]) -> None:
        tag = local(name)
        if tag in _ITEMS:
            self.end_item()
        elif text and path and local(path[-1]) in _ITEMS:
            if tag in _PUBLISHED:
                self._dates.setdefault(tag, text)
            elif tag in {"link", "origlink"} or (tag == "guid" and _is_absolute(text)):
                self._offer(tag, text)
        self._bases.pop()

    def end_item(self) -> None:
        addresses, dates = self._addresses, self._dates
        self._addresses, self._dates = {}, {}
        url = next((addresses[name] for name in _ADDRESSES if addresses.get(name)), "")
        if not url or url in self._found:
            return
        if len(self._found) == MOST_ENTRIES:
            raise Stop(_TOO_MANY)
        written = (moment_of(dates[name]) for name in _PUBLISHED if name in dates)
        published = next((moment for moment in written if moment is not None), None)
        self._found[url] = FeedEntry(url, published)

    def _read_link(self, attributes: Mapping[str, str], parent: str) -> None:
        rel = attributes.get("rel", "alternate").strip().lower().rpartition("/")[2]
        href = attributes.get("href", "")
        if parent in _ITEMS and rel == "alternate":
            self._offer("html" if "html" in attributes.get("type", "html") else rel, href)
        elif parent in _TOPS and rel in _NEXT and (url := try_canonicalize(href, self._bases[-1])):
            self._onwards.setdefault(rel, url)

    def _offer(self, name: str, text: str) -> None:
        if name not in self._addresses and (url := try_canonicalize(text, self._bases[-1])):
            self._addresses[name] = url


def _read_json(body: bytes, pieces: Iterable[str], url: str) -> FeedListing:
    if len(body) > _MOST_JSON:
        return FeedListing("none", problem=f"JSON of more than {_MOST_JSON >> 20} MiB")
    try:
        feed = json.loads("".join(pieces).lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return FeedListing("none", problem="neither XML nor JSON")
    if not isinstance(feed, dict) or "jsonfeed.org" not in str(feed.get("version"))[:200]:
        return FeedListing("none", problem="JSON, but no JSON Feed")
    named = feed.get("items")
    items: list[Any] = named if isinstance(named, list) else []
    found: dict[str, FeedEntry] = {}
    for item in items[:MOST_ENTRIES]:
        if isinstance(item, dict) and (entry := _json_entry(item, url)):
            found.setdefault(entry.url, entry)
    onwards = try_canonicalize(_text(feed, "next_url"), url)
    problem = _TOO_MANY if len(items) > MOST_ENTRIES else ""
    return FeedListing("json", list(found.values()), onwards if onwards != url else "", problem)


def _json_entry(item: Mapping[str, Any], base: str) -> FeedEntry | None:
    # An id may be the URL, if it is absolute.
    page = try_canonicalize(_text(item, "url"), base) or try_canonicalize(
        _text(item, "external_url"), base
    )
    if url := page or try_canonicalize(_text(item, "id")):
        dates = (moment_of(_text(item, key)) for key in ("date_published", "date_modified"))
        return FeedEntry(url, next((date for date in dates if date is not None), None))
    return None


def _is_absolute(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""
