"""The links of a stored page as rows of logs/edges.csv: a pure function of bytes, URL and rules.

Most hrefs recur on many pages of a site. Their targets are therefore cached by text, and only a new
text is parsed and canonicalised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from crawl4r.discovery.links.known import KnownLinks
from crawl4r.discovery.links.page_links import LinkDocument, Mention
from crawl4r.errors import InvalidUrl
from crawl4r.formats.charset import as_utf8, guess_encoding, load_codecs
from crawl4r.formats.csv_line import cell, is_plain, quoted
from crawl4r.formats.media_kind import Kind, kind_of
from crawl4r.model import Capture, FoundBy
from crawl4r.urls.canonical import CanonicalRules, canonicalize
from crawl4r.urls.policy import spelling_from_json

_MOST_CHARACTERS = 8 * 1024**2  # of rows from one page, because long URLs can expand a small page
_ROWS_AT_ONCE = 1_000
_WIDEST = 200  # characters of an anchor or a rel
_ANCHOR_READ = 4_096  # characters read to make an anchor
_KNOWN_HREFS = 60_000
_KNOWN_RELS = 1_000


class EdgePage(NamedTuple):
    """A stored page with its metadata."""

    body: bytes
    url: str
    encoding: str  # the encoding that the crawl used; empty for an imported page
    content_type: str = ""  # the whole header


class Edges(NamedTuple):
    """The rows of one page as text, their number, and a note about missing rows."""

    text: str
    rows: int
    note: str = ""


class EdgeReader:
    """Reads pages one after the other. Its cache makes it faster without changing results."""

    def __init__(self, rules: CanonicalRules) -> None:
        self._rules = rules
        self._targets: KnownLinks[str] = KnownLinks(_KNOWN_HREFS)  # as cells; empty: no page
        self._rels = _Rels()

    def read(self, page: EdgePage) -> Edges:
        """The rows of every link of an HTML page, in document order."""
        encoding = page.encoding or guess_encoding(page.body, page.content_type)
        document = LinkDocument(as_utf8(page.body, encoding))
        self._base = document.base(page.url)
        self._targets.turn_to(self._base, self._spell(""))
        mentions, source, has_rels = document.mentions, quoted(page.url), document.has_rels()
        if len(mentions) <= _ROWS_AT_ONCE:
            lines = self._lines(source, mentions, has_rels=has_rels)
            return Edges("".join(lines), len(lines))
        return self._read_many(source, mentions, has_rels=has_rels)

    def read_or_blame(self, page: EdgePage) -> Edges:
        """The same; a page that makes the reader fail gets a note instead of rows."""
        try:
            return self.read(page)
        except Exception as problem:
            return Edges("", 0, f"{type(problem).__name__}: {problem}"[:300])

    def _read_many(self, source: str, mentions: Sequence[Mention], *, has_rels: bool) -> Edges:
        """The first rows of a page with too many or too long links."""
        lines: list[str] = []
        room = _MOST_CHARACTERS
        for start in range(0, len(mentions), _ROWS_AT_ONCE):
            if room < 0:
                note = f"only the first {start:,} links were written"
                return Edges("".join(lines), len(lines), note)
            some = self._lines(source, mentions[start : start + _ROWS_AT_ONCE], has_rels=has_rels)
            lines += some
            room -= sum(map(len, some))
        return Edges("".join(lines), len(lines))

    def _lines(self, source: str, mentions: Sequence[Mention], *, has_rels: bool) -> list[str]:
        """One line a link. Built as text: with dozens on a page, rows for a writer cost too much."""
        known, key_of = self._targets, self._targets.key
        rels, link = self._rels, FoundBy.LINK
        lines = []
        for href, by, node in mentions:
            key = key_of(href)
            target = known.get(key)
            if target is None:
                target = known[key] = self._spell(href)
            if not target:
                continue
            if by is link:
                rel = node.attr("rel") if has_rels else None
                end = rels[rel] if rel else ""
                lines.append(f"{source},{target},{_anchor_cell(node.text)},{end}\n")
            else:
                lines.append(f"{source},{target},,{by.value}\n")
        return lines

    def _spell(self, href: str) -> str:
        """The cell of a target; empty when there is none."""
        try:
            return quoted(canonicalize(href.partition("#")[0], self._base, self._rules))
        except InvalidUrl:
            return ""


class _Rels(dict[str, str]):
    """Cells by their source values, cached because a site has few distinct ones."""

    def __missing__(self, rel: str) -> str:
        made = quoted(cell(rel.lower()[:_WIDEST]))
        if len(rel) <= _WIDEST and len(self) < _KNOWN_RELS:
            self[rel] = made
        return made


def _anchor_cell(text: str) -> str:
    # A short printable text needs no normalising: it has no blanks except spaces.
    is_tidy = "  " not in text and text[-1:] != " " and len(text) <= _WIDEST
    if is_tidy and is_plain(text):
        return text
    return quoted(cell(" ".join(text[:_ANCHOR_READ].split())[:_WIDEST]))


def edge_page(capture: Capture, body: bytes) -> EdgePage | None:
    """The job for a kept page; None for a media type without links."""
    if not body or kind_of(capture.content_type, body) is not Kind.HTML:
        return None
    declared = next((v for k, v in capture.headers if k == "content-type"), capture.content_type)
    return EdgePage(body, capture.url, capture.encoding, declared)


def make_edge_reader(plain_rules: Mapping[str, Any]) -> Callable[[Sequence[Any], bytes], Any]:
    """The sandbox's entry: `([(url, encoding, content type, length), ...], bodies) -> edges`."""
    reader = EdgeReader(spelling_from_json(plain_rules))
    load_codecs()

    def read(head: Sequence[tuple[str, str, str, int]], bodies: bytes) -> list[Edges]:
        found, start = [], 0
        for url, encoding, content_type, length in head:
            body = bodies[start : start + length]
            found.append(reader.read_or_blame(EdgePage(body, url, encoding, content_type)))
            start += length
        return found

    return read
