"""The frontier of a crawl, with the caps of its settings."""

from __future__ import annotations

from collections.abc import Sequence

from crawl4r.frontier.port import Frontier
from crawl4r.frontier.priority import PRIORITIES
from crawl4r.frontier.sqlite import OnAdmitted, SqliteFrontier
from crawl4r.model import LISTINGS
from crawl4r.settings.load import Settings
from crawl4r.wiring.parts import Parts


def make_frontier(
    parts: Parts, crawl: int, settings: Settings, on_admitted: Sequence[OnAdmitted] = ()
) -> Frontier:
    return SqliteFrontier(
        parts.database, crawl, PRIORITIES[settings.strategy], caps_of(settings), on_admitted
    )


def caps_of(settings: Settings) -> dict[str, int]:
    """The maximum number of URLs for each cap."""
    caps = {name: group.max for name, group in settings.limits.groups.items()}
    return caps | {LISTINGS: settings.explore.max_listings}
