"""Totals, hosts, rates and errors of a workspace, as `crawl4r status --json` prints them."""

from __future__ import annotations

from typing import Any

from crawl4r.reports.spool_status import spool_status
from crawl4r.reports.status import Overview, Run, processes_in
from crawl4r.resilience.health_file import NO_NETWORK, health_of
from crawl4r.settings.load import Settings
from crawl4r.storage.control_names import orders_in
from crawl4r.storage.layout import PAUSE
from crawl4r.wiring.parts import spool_folder
from crawl4r.workspace.opened import OpenWorkspace


class WorkspaceStatus(OpenWorkspace):
    """A workspace that can say how far its crawl is."""

    def status(self, counts: dict[str, Any] | None = None) -> dict[str, Any]:
        """Totals, hosts, rates and errors, as `crawl4r status --json` prints them.

        Only `counts` looks at every row: a caller that asks often hands in those of a while ago.
        """
        processes = processes_in(self.path)
        crawl = next((process for process in processes if process["work"] == "crawl"), None)
        orders = orders_in(self.home)
        health = health_of(self.path, crawl["pid"] if crawl else None)
        is_paused = not {PAUSE, f"{PAUSE}.crawl"}.isdisjoint(orders)
        has_no_network = health is not None and health["state"] == NO_NETWORK
        since = crawl["since"] if crawl else None
        return (counts or self.counts()) | {
            **self.glance(since, self.settings, is_held=is_paused or has_no_network),
            "spool": spool_status(spool_folder(self.home), self.settings.spool.max_backlog),
            "control": orders,
            "resilience": health,
            "running": crawl["pid"] if crawl else None,
            "processes": processes,
        }

    def glance(
        self, since: float | None, settings: Settings, *, is_held: bool = False
    ) -> dict[str, Any]:
        """The part of `status` that no number of rows makes slow, of a crawl that goes by these
        settings since a moment (epoch seconds)."""
        run = Run(
            since,
            settings.politeness.host_rules().delay,
            settings.robots_rules().agents,
            is_held=is_held,
            limits=settings.crawl_limits(),
            crawl=self.parts.last_crawl(),
        )
        return Overview(self.database).glance(self._now(), run)

    def counts(self) -> dict[str, Any]:
        """The part of `status` that only looking at every row can say."""
        blobs, stored_bytes = self.blobs.totals()
        return Overview(self.database).counts() | {
            "blobs": blobs,
            "stored_bytes": stored_bytes,
            "index": self._index_totals(),
            "counted_at": self._now(),
        }

    def _index_totals(self) -> dict[str, Any] | None:
        if not (self.path / "index").exists():
            return None
        from crawl4r.wiring.search import open_catalogue  # noqa: PLC0415 - weighs more than a crawl

        with open_catalogue(self.path) as catalogue:
            return catalogue.totals() if catalogue else None
