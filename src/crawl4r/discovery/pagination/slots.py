"""Find the places in a URL where a page number may stand, and rate each place.

`?page=2` is clear. `/news/2/` may be a page of a list, a version, a day or an article: such a place is
a candidate that needs other evidence. A place that surely holds another number is no candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from crawl4r.discovery.pagination.rule import MARK, PageStyle

_MOST_PAGES = 100_000  # of a list; larger numbers are ids or dates
_MOST_NAMELESS = 9_999  # the same, for a number without a word for pages beside it
_MOST_ITEMS = 5_000_000  # an offset
_MOST_SEGMENTS = 32
_MOST_PARAMS = 32
_PARAM = re.compile(r"0|[1-9][0-9]{0,6}")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_a-zA-Z]+")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")

_PAGE_WORD = (
    r"page|pages|paged|pagen|pageno|pagenum|pagenumber|pageindex|pagenr|pg|pn|pgno|pag|pagina|pagine"
    r"|página|seite|seiten|sida|side|sivu|strona|strana|stranka|stránka|stranica|oldal|sayfa|halaman"
    r"|trang|lapa|puslapis|страница|сторінка"
)
_PAGE_NAMES = frozenset(_PAGE_WORD.split("|")) | {"currentpage", "gotopage", "topage"}
_OFFSET_NAMES = frozenset(
    ["start", "offset", "from", "skip", "first", "startindex", "limitstart", "startat", "startrow"]
    + ["begin", "st", "firstresult", "startrecord", "startitem"]
)
# These words rule out a page number: `page_id`, `comment_page`, `page_size`, `start_date`.
_OTHER_NAMES = frozenset(
    ["id", "ids", "size", "per", "perpage", "pagesize", "limit", "count", "length", "total", "max"]
    + ["min", "width", "height", "w", "h", "x", "y", "z", "zoom", "scale", "quality", "dpr", "year"]
    + ["month", "day", "week", "date", "time", "timestamp", "hour", "m", "d", "t", "ts", "v", "ver"]
    + ["version", "rev", "revision", "build", "tab", "tabs", "slide", "step", "cat", "category"]
    + ["lang", "language", "type", "name", "title", "key", "code", "sort", "order", "by", "price"]
    + ["rating", "stars", "score", "comment", "comments", "cpage", "reply", "replies", "replytocom"]
    + [
        "review",
        "reviews",
        "post",
        "article",
        "topic",
        "thread",
        "forum",
        "user",
        "item",
        "product",
    ]
    + [
        "sku",
        "qty",
        "quantity",
        "amount",
        "image",
        "img",
        "photo",
        "lat",
        "lng",
        "lon",
        "to",
        "diff",
    ]
    + ["level", "number", "no", "nr", "num", "show", "display", "view", "mode", "theme"]
)
_OTHERS_BESIDE_PAGE = _OTHER_NAMES - {"number", "no", "nr", "num"}  # page_no, but not no=3
# A number after one of these does not count pages.
_OTHER_FOLDERS = frozenset(
    ["v", "version", "versions", "release", "releases", "docs", "doc", "api", "id", "node", "user"]
    + ["issue", "issues", "pull", "ticket", "bug", "year", "years", "month", "day", "date", "week"]
    + [
        "calendar",
        "kalender",
        "calendario",
        "agenda",
        "events",
        "size",
        "tab",
        "question",
        "status",
    ]
)
_PAGE_SEGMENT = re.compile(
    rf"(?P<word>{_PAGE_WORD})(?P<gap>[-_:.,=]?)(?P<n>0|[1-9][0-9]{{0,6}})(?P<ext>\.[a-z]{{2,5}})?",
    re.IGNORECASE,
)
_WORD_SEGMENT = re.compile(rf"(?:{_PAGE_WORD})", re.IGNORECASE)
_SHORT_SEGMENT = re.compile(r"(p)(0|[1-9][0-9]{0,5})", re.IGNORECASE)  # /p2, and /P20
_FILE_END = re.compile(r"([-_])([1-9][0-9]{0,3})(\.[a-z]{2,5})?$", re.IGNORECASE)
_LETTER = re.compile(r"[a-z]|%[0-9A-F]{2}", re.IGNORECASE)
_COMMENT = re.compile(r"comment|kommentar|commentaire|comentario|review", re.IGNORECASE)


class Trust(IntEnum):
    """How strong a place is as evidence. A stronger place needs less other evidence."""

    NAMELESS = 0
    SHORT = 1  # `p`: a page, a post, a product
    OFFSET = 2
    NAMED = 3


class Slot(NamedTuple):
    """A number in a URL, and the URL with a mark instead of the number."""

    style: PageStyle
    template: str
    value: int
    trust: Trust


def slots_of(url: str) -> Sequence[Slot]:
    """Every place in a canonical URL where a page number may stand."""
    if MARK in url or len(url) > 2048:
        return ()
    head, _, query = url.partition("?")
    return [*_in_query(head, query), *_in_path(head, f"?{query}" if query else "")]


def _in_query(head: str, query: str) -> Iterator[Slot]:
    params = query.split("&") if query else []
    if len(params) > _MOST_PARAMS:
        return
    names = [param.partition("=")[0] for param in params]
    for index, param in enumerate(params):
        name, _, value = param.partition("=")
        if not _PARAM.fullmatch(value) or names.count(name) > 1:
            continue
        trust = trust_in_name(name)
        if trust is None or int(value) > _most(trust) or (name.lower() == "from" and "to" in names):
            continue
        style = PageStyle.OFFSET if trust is Trust.OFFSET else PageStyle.QUERY
        template = "&".join([*params[:index], f"{name}={MARK}", *params[index + 1 :]])
        yield Slot(style, f"{head}?{template}", int(value), trust)


@lru_cache(maxsize=1024)
def trust_in_name(name: str) -> Trust | None:
    """The style of a parameter; None when it is surely no page number."""
    name = unquote(name)
    if name.lower() == "p":
        return Trust.SHORT
    # Split `tx_news[currentPage]`, `query-2-page` and `b_start:int` into words.
    words = [word.lower() for word in _WORDS.findall(name)]
    is_page = any(word in _PAGE_NAMES for word in words) or "".join(words) in _PAGE_NAMES
    others = _OTHERS_BESIDE_PAGE if is_page else _OTHER_NAMES
    if not words or words[-1].endswith("id") or any(word in others for word in words):
        return None
    if is_page:
        return Trust.NAMED
    if any(word in _OFFSET_NAMES for word in words) or "".join(words) in _OFFSET_NAMES:
        return Trust.OFFSET
    return Trust.NAMELESS


def _most(trust: Trust) -> int:
    if trust is Trust.OFFSET:
        return _MOST_ITEMS
    return _MOST_PAGES if trust is Trust.NAMED else _MOST_NAMELESS


def _in_path(head: str, tail: str) -> Iterator[Slot]:
    scheme, _, address = head.partition("://")
    netloc, *segments = address.split("/")
    last = len(segments) - 1 - (not segments[-1]) if segments else -1
    if len(segments) > _MOST_SEGMENTS:
        return

    def slot(index: int, text: str, value: str, style: PageStyle, trust: Trust) -> Iterator[Slot]:
        if int(value) <= _most(trust):
            path = "/".join([*segments[:index], text, *segments[index + 1 :]])
            yield Slot(style, f"{scheme}://{netloc}/{path}{tail}", int(value), trust)

    for index, segment in enumerate(segments):
        if not any(map(str.isdigit, segment)):
            continue
        before = segments[index - 1] if index else ""
        if found := _PAGE_SEGMENT.fullmatch(segment):
            text = f"{found['word']}{found['gap']}{MARK}{found['ext'] or ''}"
            yield from slot(index, text, found["n"], PageStyle.FOLDER, Trust.NAMED)
        elif _PARAM.fullmatch(segment) and _WORD_SEGMENT.fullmatch(before):
            yield from slot(index, MARK, segment, PageStyle.FOLDER, Trust.NAMED)
        elif index == last and not _COMMENT.search(segment + before):
            for text, value, style in _at_the_end(segment, before):
                yield from slot(index, text, value, style, Trust.NAMELESS)


def _at_the_end(segment: str, before: str) -> Iterator[tuple[str, str, PageStyle]]:
    """The places in the last segment of a path: `/2`, `/p2`, `-2.html`."""
    if _PARAM.fullmatch(segment):
        if before.lower() == "p":
            yield MARK, segment, PageStyle.FOLDER
        elif before.lower() not in _OTHER_FOLDERS and not _YEAR.fullmatch(before):
            yield MARK, segment, PageStyle.NUMBER
    elif short := _SHORT_SEGMENT.fullmatch(segment):
        yield f"{short[1]}{MARK}", short[2], PageStyle.FOLDER
    elif (end := _FILE_END.search(segment)) and not _YEAR.fullmatch(end[2]):
        name = segment[: end.start()]
        if _LETTER.search(name):  # `12-34-2.html` is an id, and `2024-05` a month
            yield f"{name}{end[1]}{MARK}{end[3] or ''}", end[2], PageStyle.FILE
