"""Read a page's metadata: title, author, date and others, each from its most reliable place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from turbohtml import Document, Element

from crawl4r.formats.dates import iso_of
from crawl4r.formats.html import body_of, head_of

_IN_HEAD = ("title", "meta", "link", "script")
_IN_BODY = ("h1", "time")
_IN_BOTH = ("meta", "script")
_LINKED_DATA = "application/ld+json"
_BYLINES = (
    "[rel~=author],.author,.author-name,.post-author,.entry-author,.byline"
    ",[itemprop=author],[itemprop=datePublished]"
)
_MOST_JSON = 512 * 1024  # characters of linked data that are read
_MOST_THINGS = 500
_LONGEST = 500  # characters of a title or an author
_ARTICLE_TYPES = ("article", "posting", "report", "review", "recipe", "product", "page", "thesis")
# These separate a title from the site's name.
_SEPARATORS = re.compile(r"\s+[|\u2013\u2014\u00b7\u00bb:-]\s+")
_BY = re.compile(r"^\s*(?:written |posted |published |reviewed )?by[:\s]+", re.IGNORECASE)

_TITLES = ("og:title", "twitter:title", "dc.title", "citation_title")
_AUTHORS = ("author", "article:author", "dc.creator", "citation_author", "parsely-author", "byl")
_DATES = (
    "article:published_time", "og:published_time", "datepublished", "date", "dc.date",
    "dc.date.issued", "dcterms.created", "citation_publication_date", "parsely-pub-date",
    "sailthru.date", "publishdate", "pubdate", "article:modified_time",
)  # fmt: skip
_DESCRIPTIONS = ("description", "og:description", "twitter:description", "dc.description")
_IMAGES = ("og:image", "og:image:url", "twitter:image", "twitter:image:src")


class Metadata(NamedTuple):
    """Metadata of a page; empty where the page has none."""

    title: str = ""
    author: str = ""
    published: str = ""  # ISO 8601: a date, or a time with its zone
    description: str = ""
    keywords: tuple[str, ...] = ()
    image: str = ""
    canonical: str = ""
    site_name: str = ""
    declared_language: str = ""


def metadata_of(tree: Document) -> Metadata:
    """Read the head, the linked data and the byline; addresses are left as they are written."""
    claims = _Claims()
    if tree.root is not None:
        claims.language = tree.root.attr("lang") or ""
    head, body = head_of(tree), body_of(tree)
    in_head = list(head.iter_elements(_IN_HEAD)) if head is not None else []
    for node in in_head:
        claims.read(node)
    if body is not None:
        for node in _named_in_body(tree, in_head):
            claims.read(node)
    said = claims.settle()
    if body is None or (said.author and said.published):
        return said
    bylines = [node for node in body.select(_BYLINES) if node.tag not in _READERS]
    for node in bylines:
        claims.read(node)
    return claims.settle() if bylines else said


def _named_in_body(tree: Document, in_head: Sequence[Element]) -> Iterator[Element]:
    """Find elements with the parser's index of names, which is much faster than a walk."""
    for tag in _IN_BODY:
        yield from tree.find_all(tag)
    for tag in _IN_BOTH:
        yield from tree.find_all(tag)[sum(node.tag == tag for node in in_head) :]


class _Claims:
    """All candidates for metadata, by their place on the page."""

    def __init__(self) -> None:
        self._meta: dict[str, str] = {}
        self._tags: list[str] = []
        self._things: list[Mapping[str, Any]] = []
        self._title = ""
        self._headings: list[str] = []
        self._bylines: list[str] = []
        self._times: list[str] = []
        self._canonical = ""
        self.language = ""

    def read(self, node: Element) -> None:
        reader = _READERS.get(node.tag, _Claims._read_byline)
        reader(self, node)

    def settle(self) -> Metadata:
        thing = _main_thing(self._things)
        site_name = self._meta.get("og:site_name", "")
        return Metadata(
            title=self._settle_title(thing, site_name),
            author=self._settle_author(thing),
            published=self._settle_date(thing),
            description=_plain(self._first(_DESCRIPTIONS) or _text_of(thing.get("description"))),
            keywords=self._settle_keywords(thing),
            image=self._first(_IMAGES) or _address_of(thing.get("image")),
            canonical=self._canonical or self._meta.get("og:url", ""),
            site_name=site_name,
            declared_language=self.language or self._meta.get("og:locale", ""),
        )

    def _read_meta(self, node: Element) -> None:
        name = node.attr("property") or node.attr("name") or node.attr("itemprop")
        content = (node.attr("content") or "").strip()
        if name and content:
            self._meta.setdefault(name.strip().lower(), content)
            if name.lower() == "article:tag":
                self._tags.append(content)

    def _read_link(self, node: Element) -> None:
        if "canonical" in (node.attr("rel") or "").lower().split() and not self._canonical:
            self._canonical = (node.attr("href") or "").strip()

    def _read_script(self, node: Element) -> None:
        if (node.attr("type") or "").lower() != _LINKED_DATA:
            return
        text = node.text
        if len(text) <= _MOST_JSON:
            try:
                self._things += _things_in(json.loads(text.strip().strip(";")))
            except (ValueError, RecursionError):
                return

    def _read_title(self, node: Element) -> None:
        above = node.parent.tag if isinstance(node.parent, Element) else ""
        if above in {"head", "body", "html"}:  # SVG has titles too
            self._title = self._title or _plain(node.text)

    def _read_heading(self, node: Element) -> None:
        self._headings.append(_plain(node.text).rstrip("¶#").strip())

    def _read_time(self, node: Element) -> None:
        self._times.append(node.attr("datetime") or "")

    def _read_byline(self, node: Element) -> None:
        if node.attr("itemprop") == "datePublished":
            self._times.insert(0, node.attr("content") or node.text)
        else:
            self._bylines.append(_plain(node.text))

    def _first(self, names: Iterable[str]) -> str:
        return next((self._meta[name] for name in names if name in self._meta), "")

    def _settle_title(self, thing: Mapping[str, Any], site_name: str) -> str:
        named = self._first(_TITLES) or _text_of(thing.get("headline"))
        headings = [heading for heading in self._headings if heading]
        if not named and len(headings) == 1 and len(headings[0]) > 3:
            title = self._title.lower()
            if not title or headings[0].lower() in title:
                return headings[0][:_LONGEST]
        title = _plain(named or self._title or (headings[0] if headings else ""))
        return _without_site(title, site_name)[:_LONGEST]

    def _settle_author(self, thing: Mapping[str, Any]) -> str:
        candidates = (
            _names_of(thing.get("author") or thing.get("creator")),
            *(self._meta.get(name, "") for name in _AUTHORS),
            *self._bylines,
        )
        for candidate in candidates:
            name = _BY.sub("", _plain(candidate)).strip(" ,|\u00b7")
            if name and len(name) < 100 and "://" not in name:
                return name
        return ""

    def _settle_date(self, thing: Mapping[str, Any]) -> str:
        claimed = _text_of(thing.get("datePublished") or thing.get("uploadDate"))
        written = (self._meta[name] for name in _DATES if name in self._meta)
        for candidate in (claimed, *written, *self._times):
            if candidate and (date := iso_of(candidate)):
                return date
        return ""

    def _settle_keywords(self, thing: Mapping[str, Any]) -> tuple[str, ...]:
        claimed = thing.get("keywords")
        words = self._meta.get("keywords") or self._meta.get("news_keywords") or ""
        listed = claimed if isinstance(claimed, list) else [_text_of(claimed)]
        every = [*words.split(","), *self._tags, *(str(item) for item in listed)]
        tidy = (_plain(part) for item in every for part in item.split(","))
        return tuple(dict.fromkeys(word for word in tidy if word))[:50]


_READERS = {
    "meta": _Claims._read_meta,
    "link": _Claims._read_link,
    "script": _Claims._read_script,
    "title": _Claims._read_title,
    "h1": _Claims._read_heading,
    "time": _Claims._read_time,
}


def _things_in(data: Any) -> Iterator[Mapping[str, Any]]:
    """Every object with a type, at any depth, without recursion."""
    waiting, seen = [data], 0
    while waiting and seen < _MOST_THINGS:
        item = waiting.pop(0)
        seen += 1
        if isinstance(item, list):
            waiting += item
        elif isinstance(item, dict):
            if "@type" in item:
                yield item
            waiting += [
                item[key] for key in ("@graph", "mainEntity", "itemReviewed") if key in item
            ]


def _main_thing(things: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The object that describes the page."""
    for wanted in _ARTICLE_TYPES:
        for thing in things:
            kinds = thing["@type"] if isinstance(thing["@type"], list) else [thing["@type"]]
            if any(str(kind).lower().endswith(wanted) for kind in kinds):
                return thing
    return {}


def _text_of(value: Any) -> str:
    while isinstance(value, list) and value:
        value = value[0]
    return value if isinstance(value, str) else ""


def _names_of(value: Any) -> str:
    people = value if isinstance(value, list) else [value]
    names = (person.get("name") if isinstance(person, dict) else person for person in people)
    return ", ".join(dict.fromkeys(_text_of(name) for name in names if _text_of(name)))


def _address_of(value: Any) -> str:
    while isinstance(value, list) and value:
        value = value[0]
    return _text_of(value.get("url") if isinstance(value, dict) else value)


def _without_site(title: str, site_name: str) -> str:
    """Cut the site's name: `How to bake | The Bakery` becomes `How to bake`."""
    parts = _SEPARATORS.split(title)
    if len(parts) < 2:
        return title
    if site_name and parts[-1].strip().lower() == site_name.strip().lower():
        return title[: title.rindex(parts[-1])].rstrip(" |\u2013\u2014\u00b7\u00bb:-")
    return title


def _plain(text: str) -> str:
    return " ".join(text.split())
