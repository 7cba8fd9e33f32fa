"""How a run keeps what it has, and what it does when the machine or the network fails it."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import asdict, force_setattr

from crawl4r.errors import SettingsError
from crawl4r.resilience.probes import endpoint_of
from crawl4r.resilience.stall import WatchRules
from crawl4r.settings.field_kinds import Count, MoreSeconds, Octal, Seconds
from crawl4r.settings.validate import Section
from crawl4r.urls.credentials import without_credentials
from crawl4r.urls.egress import BAD_PORTS


class Store(Section, frozen=True):
    """How bytes are kept. A workspace stays with the kind it began with."""

    # segments, or files: one a page; auto: what the workspace has, segments in a new one
    kind: Literal["auto", "segments", "files"] = "auto"
    level: Annotated[int, Meta(ge=1, le=19)] = 3  # zstd
    segment_mb: Annotated[int, Meta(ge=1)] = 256  # then a new segment begins
    permissions: Octal = "0644"  # octal, of stored files

    def __post_init__(self) -> None:
        force_setattr(self, "permissions", _octal(self.permissions))

    @property
    def mode(self) -> int:
        return int(self.permissions, 8)


class Logs(Section, frozen=True):
    """CSV files for analysts in logs/, exact after any crash; `crawl4r replay` makes them later."""

    enabled: bool = False  # write them while crawling
    pages: bool = True  # pages.csv, a row a capture
    edges: bool = True  # edges.csv, a row a link of a kept page
    metrics: bool = True  # crawl_metrics.csv, tallies and gauges over time
    metrics_seconds: MoreSeconds = 10.0  # between two looks at them


class Spooling(Section, frozen=True):
    """Separated mode: what a discoverer finds, for a scraper to fetch."""

    max_backlog: Annotated[int, Meta(ge=1)] = 10_000  # discoveries that wait; then it is held
    segment_mb: Annotated[int, Meta(ge=1)] = 16  # then a new segment begins
    # What becomes of segments that were read: archive (spool/archived), delete or keep.
    drained: Literal["archive", "delete", "keep"] = "archive"


class Resilience(Section, frozen=True):
    """How an unattended crawl goes on, or says why it does not."""

    stall_seconds: MoreSeconds = 300.0  # of silence though something is due
    probe_hosts: list[str] = []  # host:port or URLs that are always up; empty: our hosts
    probe_seconds: MoreSeconds = 30.0  # between looks for a network that is gone
    network_failures: Annotated[int, Meta(ge=1)] = 10  # in a row, then the probes are asked at once
    memory_mb: Count = 0  # without mapped files; above it the crawl ends with code 6; 0: no limit
    leak_mb_hour: Annotated[float, Meta(ge=0)] = 0.0  # likewise when every hour adds more; 0: off
    store_patience: Seconds = 600.0  # for a store that cannot be written; then code 4; 0: at once

    def __post_init__(self) -> None:
        for place in self.probe_hosts:
            try:
                port = endpoint_of(place).port
            except ValueError as problem:
                words = without_credentials(str(problem))
                raise SettingsError("probe_hosts", words[:1].lower() + words[1:]) from None
            if port in BAD_PORTS:
                raise SettingsError(
                    "probe_hosts",
                    f"{without_credentials(place)!r}: the egress gate connects to no such port",
                )

    def rules(self) -> WatchRules:
        return WatchRules(**asdict(self))


def _octal(written: object) -> str:
    """YAML reads 0644 as the number that it is in octal."""
    if isinstance(written, bool) or (isinstance(written, int) and not 0 <= written <= 0o777):
        raise SettingsError("permissions", "must be octal; quote it, like '0644'")
    text = f"{written:04o}" if isinstance(written, int) else str(written).removeprefix("0o")
    if not re.fullmatch(r"[0-7]{3,4}", text):
        raise SettingsError("permissions", "must be octal, like '0644'")
    return text
