"""crawl4r: point it at a site and get an archive that loses nothing, clean text, and a search engine.

import asyncio, crawl4r

page = crawl4r.scrape("https://example.org/")
print(page.title, page.markdown)

async def main():
    async with crawl4r.open("docs", contact="https://example.org/bot") as workspace:
        async for page in workspace.crawl("https://docs.example.org/", max_pages=500):
            print(page.title, len(page.markdown))
        await workspace.index_async()
        for hit in workspace.search("roll back to a savepoint", limit=5):
            print(hit.score, hit.url, hit.section, hit.text)

asyncio.run(main())
"""

from typing import TYPE_CHECKING, Any

from crawl4r._version import __version__

if TYPE_CHECKING:
    from crawl4r.archive.documents import StoredDocument
    from crawl4r.archive.garbage import GcReport
    from crawl4r.errors import Crawl4rError
    from crawl4r.model import PageImage, PageLink
    from crawl4r.politeness.host_budgets import HostBudgets
    from crawl4r.search.request import Answer, Hit
    from crawl4r.settings.load import Settings, load_settings
    from crawl4r.storage.organisation import Label
    from crawl4r.workspace.difference import PageDifference
    from crawl4r.workspace.export_report import ExportReport
    from crawl4r.workspace.history import HistoryEntry
    from crawl4r.workspace.index import IndexReport
    from crawl4r.workspace.map_run import MappedUrl
    from crawl4r.workspace.page import Page
    from crawl4r.workspace.run import CrawlRun
    from crawl4r.workspace.site import (
        extract,
        extract_async,
        map,  # noqa: A004
        map_async,
        plan,
        plan_async,
        scrape,
        scrape_async,
    )
    from crawl4r.workspace.workspace import Workspace
    from crawl4r.workspace.workspace import open_workspace as open  # noqa: A004

__all__ = [
    "Answer",
    "Crawl4rError",
    "CrawlRun",
    "ExportReport",
    "GcReport",
    "HistoryEntry",
    "Hit",
    "HostBudgets",
    "IndexReport",
    "Label",
    "MappedUrl",
    "Page",
    "PageDifference",
    "PageImage",
    "PageLink",
    "Settings",
    "StoredDocument",
    "Workspace",
    "__version__",
    "extract",
    "extract_async",
    "load_settings",
    "map",
    "map_async",
    "open",
    "plan",
    "plan_async",
    "scrape",
    "scrape_async",
]

_ROOMS = {
    "archive.documents": ["StoredDocument"],
    "archive.garbage": ["GcReport"],
    "errors": ["Crawl4rError"],
    "model": ["PageImage", "PageLink"],
    "politeness.host_budgets": ["HostBudgets"],
    "search.request": ["Answer", "Hit"],
    "settings.load": ["Settings", "load_settings"],
    "storage.organisation": ["Label"],
    "workspace.export_report": ["ExportReport"],
    "workspace.difference": ["PageDifference"],
    "workspace.history": ["HistoryEntry"],
    "workspace.index": ["IndexReport"],
    "workspace.map_run": ["MappedUrl"],
    "workspace.page": ["Page"],
    "workspace.run": ["CrawlRun"],
    "workspace.site": [
        "extract", "extract_async", "map", "map_async", "plan", "plan_async", "scrape",
        "scrape_async",
    ],
    "workspace.workspace": ["Workspace"],
}  # fmt: skip
_WHERE = {name: (room, name) for room, names in _ROOMS.items() for name in names}
_WHERE["open"] = ("workspace.workspace", "open_workspace")


def __getattr__(name: str) -> Any:
    """Import on first use: the reading process needs two modules of this package, not all of it."""
    if name not in _WHERE:
        raise AttributeError(f"module 'crawl4r' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    room, attribute = _WHERE[name]
    return getattr(import_module(f"crawl4r.{room}"), attribute)


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
