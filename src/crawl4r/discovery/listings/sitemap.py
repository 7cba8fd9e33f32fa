"""Read sitemaps (sitemaps.org), and feeds or text files in their place. Pure: bytes in, values out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from crawl4r.discovery.listings.feed import read_feed_links
from crawl4r.formats.dates import moment_of
from crawl4r.formats.gzip import text_pieces, unpack
from crawl4r.formats.xml import Stop, is_html, joined, local, root_of, walk
from crawl4r.urls.canonical import try_canonicalize

MOST_ENTRIES = 50_000
_MOST_TRIED = 2 * MOST_ENTRIES  # texts read, including those that are no URLs
Kind = Literal["index", "urlset", "text", "feed", "none"]
_KINDS: dict[str, Kind] = {
    "sitemapindex": "index",
    "urlset": "urlset",
    "rss": "feed",
    "rdf": "feed",
    "feed": "feed",
}
_ENTRIES = frozenset(["url", "sitemap"])
_FIELDS = frozenset(["loc", "lastmod", "changefreq", "priority"])
_FREQUENCIES = frozenset(
    ["always", "hourly", "daily", "weekly", "monthly", "yearly", "never"],
)
_PRIORITY = re.compile(r"0?[.,]\d{1,9}|0|1(?:[.,]0{0,9})?", re.ASCII)
_MOST_PREFIXES = 64
_LONGEST_LINE = 16 * 1024  # characters
_LINE = re.compile(r"[^\r\n]+")


class SitemapEntry(NamedTuple):
    url: str
    lastmod: float | None = None  # epoch seconds
    changefreq: str = ""
    priority: float | None = None  # 0 to 1


class Sitemap(NamedTuple):
    """The kind of file. `index`: the entries are sitemaps. `feed`: the entries are its items, and
    `read_feed_links` tells more. `none`: no sitemap and no entries."""

    kind: Kind
    entries: Sequence[SitemapEntry] = ()
    problem: str = ""  # an error in the file, or what was left out


def read_sitemap(body: bytes, url: str) -> Sitemap:
    """Read a file served at `url`, which is the base of relative URLs in it.

    Never raises: a broken file gives the entries before the break, and `problem` tells so.
    """
    body, cut = unpack(body)
    pieces = text_pieces(body)
    head = next(pieces, "")
    root = root_of(head)
    if _KINDS.get(local(root)) == "feed":
        feed = read_feed_links(body, url)
        items = [SitemapEntry(item.url, item.published) for item in feed.entries]
        return Sitemap("feed", items, joined(cut, feed.problem))
    found = _read_xml(root, head, pieces, url) if root else _read_lines(chain([head], pieces))
    return found._replace(problem=joined(cut, found.problem))


def _read_xml(root: str, head: str, rest: Iterable[str], url: str) -> Sitemap:
    if is_html(root):
        return Sitemap("none", problem="an HTML page")
    if not root.startswith("!") and local(root) not in _KINDS:
        return Sitemap("none", problem=f"the first tag is <{root[:40]}>")
    reader = _UrlReader(url)
    problem = walk(head, rest, reader)
    try:
        reader.end_entry()  # the entry at the break may already have its URL
    except Stop as stop:
        problem = joined(problem, str(stop))
    return Sitemap(reader.kind, reader.found.entries(), problem)


def _read_lines(pieces: Iterable[str]) -> Sitemap:
    """Read a text file with one URL per line. If its first line is no URL, it is no sitemap."""
    found, strangers, problem = _Found(), 0, ""
    try:
        for line in _lines(pieces):
            if not line.lower().startswith(("http://", "https://")):
                strangers += 1
                if not found:
                    return Sitemap("none", problem="neither XML nor a list of URLs")
            elif not found.add(line):
                strangers += 1
            if strangers > _MOST_TRIED:
                raise Stop("the rest was left out")
    except Stop as stop:
        problem = str(stop)
    if not found:
        return Sitemap("none", problem="neither XML nor a list of URLs")
    unread = f"lines that are no URLs: {strangers:,}" if strangers else ""
    return Sitemap("text", found.entries(), joined(unread, problem))


def _lines(pieces: Iterable[str]) -> Iterable[str]:
    rest = ""
    for piece in pieces:
        text = rest + piece
        end = max(text.rfind("\n"), text.rfind("\r")) + 1
        rest = text[end:][:_LONGEST_LINE]  # a longer line is no URL
        for match in _LINE.finditer(text, 0, end):
            if line := match.group().strip(" \t\ufeff"):
                yield line
    if line := rest.strip(" \t\ufeff"):
        yield line


class _Found:
    """The entries so far, each URL once, in the order of their first mention."""

    def __init__(self, base: str | None = None) -> None:
        self._base = base
        self._entries: dict[str, SitemapEntry] = {}
        self._only_alternates: set[str] = set()
        self._urls: dict[str, str] = {}  # by its text; empty for a text that is no URL

    def __bool__(self) -> bool:
        return bool(self._entries)

    def entries(self) -> list[SitemapEntry]:
        return list(self._entries.values())

    def add(
        self, text: str, fields: Mapping[str, str] | None = None, *, is_alternate: bool = False
    ) -> bool:
        """Add a URL; False when `text` is none. Raises Stop above the limit."""
        url = self._urls.get(text)
        if url is None:
            if len(self._urls) == _MOST_TRIED:
                raise Stop(f"only the first {_MOST_TRIED:,} addresses were looked at")
            url = self._urls[text] = try_canonicalize(text, self._base)
        if not url:
            return False
        if url not in self._entries:
            if len(self._entries) == MOST_ENTRIES:
                raise Stop(f"more than {MOST_ENTRIES:,} entries: the rest was left out")
            if is_alternate:
                self._only_alternates.add(url)
        elif is_alternate or url not in self._only_alternates:
            return True
        else:
            self._only_alternates.discard(
                url
            )  # an entry of its own outranks a mention as an alternate
        self._entries[url] = _entry(url, fields or {})
        return True


class _UrlReader:
    """Collects `<loc>` and its neighbours from a urlset or a sitemapindex."""

    def __init__(self, url: str) -> None:
        self.kind: Kind = "none"
        self.found = _Found(url)
        self._spaces: dict[str, str] = {}  # namespaces by prefix
        self._fields: dict[str, str] = {}
        self._alternates: list[str] = []

    def opens(self, name: str, attributes: Mapping[str, str], path: Sequence[str]) -> None:
        tag = local(name)
        if not path:
            self.kind = _KINDS.get(tag, "none")
        if attributes:
            self._note_prefixes(attributes)
        if tag in _ENTRIES:
            self.end_entry()
        elif tag == "link" and path and local(path[-1]) in _ENTRIES:
            rels = attributes.get("rel", "").lower().split()
            if "alternate" in rels and attributes.get("hreflang"):
                self._alternates.append(attributes.get("href", ""))

    def closes(self, name: str, text: str, path: Sequence[str]) -> None:
        tag = local(name)
        if tag in _ENTRIES:
            self.end_entry()
        elif tag in _FIELDS and text and path and self._belongs(name, path[-1]):
            self._fields.setdefault(tag, text)

    def end_entry(self) -> None:
        fields, alternates = self._fields, self._alternates
        self._fields, self._alternates = {}, []
        if loc := fields.get("loc"):
            self.found.add(loc, fields)
        for href in alternates:
            self.found.add(href, is_alternate=True)

    def _note_prefixes(self, attributes: Mapping[str, str]) -> None:
        for key, value in attributes.items():
            if key.startswith("xmlns") and len(self._spaces) < _MOST_PREFIXES:
                self._spaces[key[5:].lstrip(":").lower()] = value

    def _belongs(self, name: str, parent: str) -> bool:
        """Whether a tag is of another namespace: `<image:loc>` never names a page."""
        return local(parent) in _ENTRIES and self._space(name) == self._space(parent)

    def _space(self, name: str) -> str:
        prefix = name.rpartition(":")[0] if ":" in name else ""
        return self._spaces.get(prefix, prefix)


def _entry(url: str, fields: Mapping[str, str]) -> SitemapEntry:
    frequency = fields.get("changefreq", "").lower()
    priority = fields.get("priority", "")
    return SitemapEntry(
        url,
        moment_of(fields.get("lastmod", "")),
        frequency if frequency in _FREQUENCIES else "",
        float(priority.replace(",", ".")) if _PRIORITY.fullmatch(priority) else None,
    )
