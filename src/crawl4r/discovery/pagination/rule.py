"""The URLs of the pages of a list: a template with one number that counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

MARK = "{n}"  # where the number stands in a template
_NUMBER = re.compile(r"0|[1-9][0-9]{0,11}")
_INDEX_FILE = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?|jsp)$", re.IGNORECASE)
_NUMBERED_NAME = re.compile(r"[-_.:,]?\{n\}")


class PageStyle(StrEnum):
    """The place of the number in the URL."""

    QUERY = "query"  # ?page=2
    OFFSET = "offset"  # ?start=20: counts items, not pages
    FOLDER = "folder"  # /page/2, /page-2, /p2: beside a word for pages
    NUMBER = "number"  # /news/2/
    FILE = "file"  # /news-2.html


class PageRule(Struct, frozen=True):
    """All pages of one list, numbered from 1 even if the site counts otherwise.

    The URL of page 1 has no number, as sites link to it; the URL with a number means page 1 too.
    """

    style: PageStyle
    template: str  # with one {n}
    first: int = 1  # the number of page 1 in a URL
    step: int = 1  # from a page to the next

    def __post_init__(self) -> None:
        if self.template.count(MARK) != 1 or self.first < 0 or self.step < 1:
            raise ValueError(f"{self.template!r} from {self.first} by {self.step} is no page rule")
        if self.is_in_query and not _param_name(self.template):
            raise ValueError(f"{self.template!r} has no number in its query")
        if not self.is_in_query and MARK not in _path_of(self.template):
            raise ValueError(f"{self.template!r} has no number in its path")

    @property
    def is_in_query(self) -> bool:
        return self.style in (PageStyle.QUERY, PageStyle.OFFSET)

    @property
    def key(self) -> str:
        """A name for the list that does not depend on the order of its parameters."""
        head, params = _cut(self.template)
        return f"{head}?{'&'.join(params)}" if params else head

    @property
    def opening(self) -> str:
        """The usual URL of page 1: without a number."""
        head, mark, query = self.template.partition("?")
        if self.is_in_query:
            params = [param for param in query.split("&") if MARK not in param]
            return f"{head}?{'&'.join(params)}" if params else head
        return _path_without_number(head, self.style) + mark + query

    def url_of(self, number: int) -> str:
        """The URL of page `number`; the first is 1."""
        if number < 1:
            raise ValueError(f"there is no page {number}: pages are counted from 1")
        if number == 1:
            return self.opening
        return self.template.replace(MARK, str(self.first + (number - 1) * self.step))

    def number_of(self, url: str) -> int | None:
        """The number of the page that a URL means; None for a URL outside of the list."""
        value = self._value_in(url)
        if value is None:
            return 1 if loosely(url) == loosely(self.opening) else None
        pages, rest = divmod(value - self.first, self.step)
        return pages + 1 if rest == 0 and pages >= 0 else None

    def _value_in(self, url: str) -> int | None:
        head, params = _cut(url)
        own_head, own_params = _cut(self.template)
        if self.is_in_query:
            return _value_among(params, own_params, own_head) if head == own_head else None
        before, _, after = own_head.partition(MARK)
        if params != own_params or not head.startswith(before) or not head.endswith(after):
            return None
        return _as_number(head[len(before) : len(head) - len(after)])

    def as_json(self) -> dict[str, Any]:
        return {
            "style": self.style.value,
            "template": self.template,
            "first": self.first,
            "step": self.step,
        }

    @staticmethod
    def from_json(plain: Mapping[str, Any]) -> PageRule:
        return PageRule(PageStyle(plain["style"]), plain["template"], plain["first"], plain["step"])


def loosely(url: str) -> str:
    """A URL without a final slash or `index.html`, with sorted parameters: these rarely tell two pages
    apart."""
    path, _, query = url.partition("?")
    path = _INDEX_FILE.sub("/", path).rstrip("/")
    return f"{path}?{'&'.join(sorted(query.split('&')))}" if query else path


def _cut(url: str) -> tuple[str, list[str]]:
    """The path without a final slash, and the sorted parameters."""
    head, _, query = url.partition("?")
    return head.rstrip("/"), sorted(query.split("&")) if query else []


def _path_of(url: str) -> str:
    head = url.partition("?")[0]
    return head.partition("://")[2].partition("/")[2]


def _param_name(template: str) -> str:
    for param in template.partition("?")[2].split("&"):
        name, _, value = param.partition("=")
        if value == MARK:
            return name
    return ""


def _value_among(params: list[str], own_params: list[str], own_head: str) -> int | None:
    """The number in the counting parameter, when all other parameters equal those of the list."""
    if len(params) != len(own_params):
        return None
    others = [param for param in own_params if MARK not in param]
    start = _param_name(f"{own_head}?{'&'.join(own_params)}") + "="
    for index, param in enumerate(params):
        if param.startswith(start) and params[:index] + params[index + 1 :] == others:
            return _as_number(param[len(start) :])
    return None


def _as_number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


def _path_without_number(head: str, style: PageStyle) -> str:
    scheme, _, address = head.partition("://")
    netloc, *segments = address.split("/")
    at = next(index for index, segment in enumerate(segments) if MARK in segment)
    is_last = at == len(segments) - 1
    name = _NUMBERED_NAME.sub("", segments[at])
    if style is PageStyle.FILE and name and not name.startswith("."):
        kept = [*segments[:at], name, *segments[at + 1 :]]
    else:
        # `/page/2`: remove the word with its number. `/news/page-2.html`: the folder remains.
        drop_from = at - 1 if style is PageStyle.FOLDER and segments[at] == MARK and at else at
        kept = segments[:drop_from] + segments[at + 1 :]
        if is_last and "." in name and kept:
            kept.append("")
    return f"{scheme}://{netloc}/{'/'.join(kept)}"
