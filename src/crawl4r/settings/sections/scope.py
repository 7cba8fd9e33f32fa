"""Which URLs a crawl may visit, how many, and where it looks when links run dry."""

from __future__ import annotations

import re
from typing import Annotated

from msgspec import Meta, field
from msgspec.structs import force_setattr

from crawl4r.errors import SettingsError
from crawl4r.settings.field_kinds import Address, Bytes, Count, Seconds, Share
from crawl4r.settings.validate import Section
from crawl4r.urls.canonical import CanonicalRules


class ScopeSection(Section, frozen=True):
    """Which URLs belong to the crawl. No hosts: the hosts of the seeds."""

    hosts: list[str] = []  # host or host:port
    include_subdomains: bool = False  # of the hosts above
    denied_hosts: list[str] = []  # with everything below them
    allow: list[str] = []  # RE2 patterns; when given, one must match
    deny: list[str] = []  # RE2 patterns
    page_types: dict[str, str] = {}  # name: RE2 pattern, the first match names the page
    only_page_types: bool = False  # refuse what no page type matches
    drop_all_params: bool = False  # no query at all, but for keep_params
    drop_tracking: bool = True  # utm_..., click ids, session ids
    drop_params: list[str] = []  # more names to drop
    keep_params: list[str] = []  # never dropped
    sort_params: bool = True  # ?b=1&a=2 and ?a=2&b=1 are one page
    strip_trailing_slash: bool = False  # only where /a and /a/ are one page
    follow_nofollow: bool = True  # links marked nofollow are recorded either way

    def canonical(self) -> CanonicalRules:
        return CanonicalRules(
            drop_all_params=self.drop_all_params,
            drop_tracking=self.drop_tracking,
            drop_params=frozenset(name.lower() for name in self.drop_params),
            keep_params=frozenset(name.lower() for name in self.keep_params),
            sort_params=self.sort_params,
            strip_trailing_slash=self.strip_trailing_slash,
        )


class GroupLimit(Section, frozen=True):
    per: str  # RE2 pattern; its first group names what is counted
    max: Count  # URLs for each
    ignore_case: bool = False  # names that differ in their case only are one


class Traps(Section, frozen=True):
    """Places that make URLs without end. Budgets grow while their pages bring new content."""

    enabled: bool = True  # without them, only the limits above end such a place
    folder: Annotated[int, Meta(ge=1)] = 10_000  # URLs below one folder
    path: Annotated[int, Meta(ge=1)] = 500  # combinations of filters of one path
    repeats: Annotated[int, Meta(ge=2)] = 3  # times in a row that a part of a path may not come
    segments: Annotated[int, Meta(ge=4)] = 24  # of a path
    streak: Annotated[int, Meta(ge=1)] = 30  # pages in a row without new content


class Limits(Section, frozen=True):
    """How much, at most. Absent means no limit."""

    pages: Count | None = None  # kept, over the life of the workspace
    depth: Count | None = None  # links from a seed
    bytes: Bytes | None = None  # of content, over the life of the workspace; or 500MB, 2GiB
    seconds: Seconds | None = None  # of one run; or 90s, 10m, 1h30m, as wherever seconds are meant
    revisits: Share | None = None  # in a refresh, of pages likeliest to have changed: 500, or 20%
    traps: Traps = field(default_factory=Traps)
    groups: dict[str, GroupLimit] = {}  # name: {per: RE2 pattern, max: N for each, ignore_case}

    def __post_init__(self) -> None:
        for name in self.groups:
            if " " in name:
                raise SettingsError("groups", f"the name {name!r} has a space")
        if self.revisits is not None:
            force_setattr(self, "revisits", _number_or_share(self.revisits))

    def most_revisits(self, known: int) -> int:
        """How many of the known pages a refresh visits; of a share that is not 0, at least one."""
        text = self.revisits or "100%"
        if not text.endswith("%"):
            return int(text)
        share = float(text.removesuffix("%"))
        return max(int(known * share / 100), 1 if share else 0)


class Exploring(Section, frozen=True):
    """What is tried when the links of a host run dry."""

    enabled: bool = True  # all that follows; without it, links alone are followed
    sitemaps: bool = True  # those that robots.txt names, else the usual places
    feeds: bool = True  # that the first pages name
    pagination: bool = True  # one past the last known page of a list, while that brings new pages
    archives: bool = True  # /archive and the like, and date paths like those of known pages
    common_crawl: Address = ""  # of an index, e.g. https://.../CC-MAIN-2026-40-index
    again_after: Seconds = 24 * 3600.0  # seconds, then sitemaps are read again
    max_listings: Count = 500  # sitemaps, their indexes and further pages of feeds, a host
    max_nesting: Annotated[int, Meta(ge=1)] = 3  # sitemaps in sitemaps: an index, and what it names


def _number_or_share(written: object) -> str:
    text = str(written)
    share = text.removesuffix("%")
    if re.fullmatch(r"\d{1,12}", text):
        return text
    if text == share or not re.fullmatch(r"\d{1,3}(\.\d+)?", share) or float(share) > 100:
        raise SettingsError(
            "revisits", "must be a number of pages like 500, or a share of them like 20%"
        )
    return text
