"""The links of a stored page as rows of logs/edges.csv. Pure: bytes, URL and rules decide.

Almost every href stands on many pages of a site. So what it leads to is looked up by its text, and only
a text that is new here is parsed and spelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from crawl4r.archive.csv_cells import cell, is_plain, quoted
from crawl4r.content.decode import as_utf8, guess_encoding
from crawl4r.content.kinds import Kind, kind_of
from crawl4r.discovery.links import Document, Mention
from crawl4r.errors import InvalidUrl
from crawl4r.model import Capture, FoundBy
from crawl4r.rules import spelling_from_json
from crawl4r.urls.canonical import CanonicalRules, canonicalize, split

_MOST_CHARACTERS = 8 * 1024**2  # of rows from one page: long addresses make a small page huge
_ROWS_AT_ONCE = 1_000
_WIDEST = 200  # characters of an anchor or a rel
_ANCHOR_READ = 4_096  # characters of a text that an anchor is made from
_KNOWN_HREFS = 60_000
_KNOWN_TEXTS = 60_000
_ABSOLUTE = ("https://", "http://")
_NEVER_A_PAGE = ("mailto:", "javascript:", "tel:", "data:")


class Edges(NamedTuple):
    """Rows of one page as text, how many, and a word on what is not among them."""

    text: str
    rows: int
    note: str = ""


class EdgeReader:
    """Reads pages one after the other; what it remembers makes it quicker and changes nothing."""

    def __init__(self, rules: CanonicalRules) -> None:
        self._targets = Targets(rules)
        self._anchors = _Cells(_anchor_cell)
        self._rels = _Cells(_rel_cell)

    def read(self, url: str, body: bytes, encoding: str) -> Edges:
        """Every link of an HTML page in the order of the document."""
        document = Document(as_utf8(body, encoding))
        self._targets.turn_to(document.base(url))
        mentions, source, has_rels = document.mentions, quoted(url), document.has_rels()
        if len(mentions) <= _ROWS_AT_ONCE:
            ends = self._ends(mentions, has_rels=has_rels)
            return Edges(_rows(source, ends), len(ends))
        return self._read_many(source, mentions, has_rels=has_rels)

    def read_or_blame(self, url: str, body: bytes, encoding: str) -> Edges:
        """The same; a page that breaks the reader is blamed, and has no rows."""
        try:
            return self.read(url, body, encoding)
        except Exception as problem:
            return Edges("", 0, f"{type(problem).__name__}: {problem}"[:300])

    def _read_many(self, source: str, mentions: Sequence[Mention], *, has_rels: bool) -> Edges:
        """A page with so many links, or such long ones, that there has to be an end."""
        ends: list[str] = []
        room = _MOST_CHARACTERS
        for start in range(0, len(mentions), _ROWS_AT_ONCE):
            if room < 0:
                note = f"only the first {start:,} links were written"
                return Edges(_rows(source, ends), len(ends), note)
            some = self._ends(mentions[start : start + _ROWS_AT_ONCE], has_rels=has_rels)
            ends += some
            room -= sum(map(len, some)) + len(source) * len(some)
        return Edges(_rows(source, ends), len(ends))

    def _ends(self, mentions: Sequence[Mention], *, has_rels: bool) -> list[str]:
        """What stands behind the source in the row of each link.

        Almost all of them stood on another page too: then one look-up gives the finished text.
        """
        rooted, foldered, link = (
            self._targets.rooted.ends,
            self._targets.foldered.ends,
            FoundBy.LINK,
        )
        ends = []
        for href, by, node in mentions:
            if by is link:
                rel = node.attr("rel") if has_rels else None
                if not rel:
                    text = node.text
                    end = rooted.get((href, text)) or foldered.get((href, text))
                    end = end or self._new_end(href, text)
                else:
                    end = self._end(href, self._anchors[node.text], self._rels[rel])
            else:
                end = self._end(href, "", by.value)
            if end:
                ends.append(end)
        return ends

    def _new_end(self, href: str, text: str) -> str:
        end = self._end(href, self._anchors[text], "")
        if end and len(text) <= _WIDEST:
            self._targets.remember_end(href, text, end)
        return end

    def _end(self, href: str, anchor: str, rel: str) -> str:
        """Empty for what leads to no page."""
        target = self._targets.of(href)
        return f",{target},{anchor},{rel}\n" if target else ""


def _rows(source: str, ends: Sequence[str]) -> str:
    """Built as text: with dozens on a page, rows for a writer cost too much."""
    return source + source.join(ends) if ends else ""


class _Cells(dict[str, str]):
    """Cells by the text that they are made from."""

    def __init__(self, make: Callable[[str], str]) -> None:
        self._make = make

    def __missing__(self, text: str) -> str:
        made = self._make(text)
        if len(text) <= _WIDEST:
            if len(self) >= _KNOWN_TEXTS:
                self.clear()
            self[text] = made
        return made


def _anchor_cell(text: str) -> str:
    # A few words in one line are what would be made of them. No blank but a space is printable.
    is_tidy = "  " not in text and text[-1:] != " " and len(text) <= _WIDEST
    if is_tidy and is_plain(text):
        return text
    return quoted(cell(" ".join(text[:_ANCHOR_READ].split())[:_WIDEST]))


def _rel_cell(rel: str) -> str:
    return quoted(cell(rel.lower()[:_WIDEST]))


class _Table:
    """What is known of hrefs that mean the same wherever they stand in one origin or folder."""

    def __init__(self) -> None:
        self.targets: dict[str, str] = {}  # by href
        self.ends: dict[tuple[str, str], str] = {}  # of rows, by href and anchor


class Targets:
    """What the hrefs of one page after the other lead to, as cells, by their text.

    One that starts with a slash or a scheme means the same on every page of an origin, most others the
    same on every page of a folder; the rest is spelled for each page.
    """

    def __init__(self, rules: CanonicalRules, most: int = _KNOWN_HREFS) -> None:
        self._rules = rules
        self._most = most
        self._tables: dict[str, _Table] = {}
        self._count = 0
        self.turn_to("http://./")

    def turn_to(self, base: str) -> None:
        """The next hrefs stand on a page with this base."""
        if self._count > self._most:
            self._tables.clear()
            self._count = 0
        self._base = base
        page = base.partition("?")[0]
        self.rooted = self._table(split(page).origin)
        self.foldered = self._table(page[: page.rindex("/") + 1])
        self._of_page = _Table()
        self._itself: str | None = None

    def of(self, href: str) -> str | None:
        """The canonical target; None when it leads to no page."""
        if href[0] == "#":  # a place on the page itself
            if self._itself is None:
                self._itself = self._spell("")
            return self._itself or None
        if href.startswith(_NEVER_A_PAGE):
            return None
        known = self._table_for(href).targets
        target = known.get(href)
        if target is None and (target := self._spell(href.partition("#")[0])):
            known[href] = target
            self._count += 1
        return target or None

    def remember_end(self, href: str, anchor: str, end: str) -> None:
        """How the row of such a link ends, on all pages on which it leads to the same."""
        table = self._table_for(href)
        if table is not self._of_page:
            table.ends[href, anchor] = end
            self._count += 1

    def _table_for(self, href: str) -> _Table:
        first = href[0]
        if first == "/" or href.startswith(_ABSOLUTE):
            return self.rooted
        if (first.isalnum() or first == ".") and ":" not in href:
            return self.foldered  # `a/b` and `../a?q`
        return self._of_page  # `?q` and `http:?q`, and what stands behind blanks

    def _spell(self, href: str) -> str:
        """The cell of a target; empty when there is none."""
        try:
            return quoted(canonicalize(href, self._base, self._rules))
        except InvalidUrl:
            return ""

    def _table(self, name: str) -> _Table:
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = _Table()
            self._count += 1  # an empty table takes room too
        return table


def has_links(capture: Capture, body: bytes) -> bool:
    """Whether a kept page is one of the kind that links stand in."""
    return bool(body) and kind_of(capture.content_type, body) is Kind.HTML


def encoding_of(capture: Capture, body: bytes) -> str:
    """What the crawl read it with; what it would have read it with when somebody else fetched it."""
    if capture.encoding:
        return capture.encoding
    declared = next((v for k, v in capture.headers if k == "content-type"), capture.content_type)
    return guess_encoding(body, declared)


def make_edge_reader(plain_rules: Mapping[str, Any]) -> Callable[[Sequence[str], bytes], Edges]:
    """The sandbox's entry: `([url, encoding], body) -> edges`."""
    reader = EdgeReader(spelling_from_json(plain_rules))

    def read(head: Sequence[str], body: bytes) -> Edges:
        url, encoding = head
        return reader.read(url, body, encoding)

    return read
