"""The rules of a crawl as values. The settings make them from files and flags.

A module of its own, so that a command that only reads does not load the code of a crawl.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field, to_builtins
from msgspec.structs import asdict

from crawl4r.urls.canonical import CanonicalRules
from crawl4r.urls.scope import GroupCap, ScopeRules

_SETS = ("drop_params", "keep_params")  # JSON has no sets


class CrawlLimits(Struct, frozen=True):
    """Global caps; None means no cap. Seconds count per run, all others over the workspace's life."""

    concurrency: int = 16
    max_pages: int | None = None
    max_bytes: int | None = None
    max_seconds: float | None = None


class RobotsRules(Struct, frozen=True):
    """Whether and how robots.txt is obeyed."""

    agents: Sequence[str] = ("crawlr", "crawl4r")
    obey: bool = True
    ttl: float = 24 * 3600.0  # seconds an answer holds
    unreachable_ttl: float = 600.0  # seconds until the next try after no answer


class LinkRules(Struct, frozen=True):
    """All rules that decide what happens to a page's links."""

    scope: ScopeRules = field(default_factory=ScopeRules)
    canonical: CanonicalRules = field(default_factory=CanonicalRules)
    keywords: Sequence[str] = ()
    max_depth: int | None = None
    follow_nofollow: bool = True
    follow_links: bool = True  # False: another process follows the links
    follow_feeds: bool = False  # also follow the URLs that feeds and sitemaps name
    lists_only: bool = False  # record links without visiting them

    def as_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = to_builtins(self)
        return plain | {"canonical": spelling_as_json(self.canonical)}

    @staticmethod
    def from_json(plain: Mapping[str, Any]) -> LinkRules:
        scope = dict(plain["scope"])
        scope["caps"] = [GroupCap(**cap) for cap in scope["caps"]]
        return LinkRules(
            ScopeRules(**scope),
            spelling_from_json(plain["canonical"]),
            plain["keywords"],
            plain["max_depth"],
            plain["follow_nofollow"],
            plain["follow_links"],
            plain["follow_feeds"],
            plain["lists_only"],
        )


def spelling_as_json(rules: CanonicalRules) -> dict[str, Any]:
    plain = asdict(rules)
    return plain | {name: sorted(plain[name]) for name in _SETS}


def spelling_from_json(plain: Mapping[str, Any]) -> CanonicalRules:
    sets = {name: frozenset(plain[name]) for name in _SETS}
    return CanonicalRules(**{**plain, **sets})
