"""crawl4r: point it at a site and get an archive that loses nothing.

import asyncio, crawl4r

async def main():
    async with crawl4r.open("ws", contact="https://example.org/bot") as workspace:
        async for page in workspace.crawl("https://example.org/", max_pages=50):
            print(page.status, page.url, len(page.body))

asyncio.run(main())
"""

from typing import TYPE_CHECKING, Any

from crawl4r._version import __version__

__all__ = [
    "HostBudgets",
    "Page",
    "Settings",
    "StoredDocument",
    "Workspace",
    "__version__",
    "load_settings",
    "open",
]

if TYPE_CHECKING:
    from crawl4r.archive.documents import StoredDocument
    from crawl4r.politeness.host_budgets import HostBudgets
    from crawl4r.settings.load import Settings, load_settings
    from crawl4r.workspace.page import Page
    from crawl4r.workspace.workspace import Workspace
    from crawl4r.workspace.workspace import open_workspace as open  # noqa: A004

_WHERE = {
    "open": ("crawl4r.workspace.workspace", "open_workspace"),
    "Workspace": ("crawl4r.workspace.workspace", "Workspace"),
    "StoredDocument": ("crawl4r.archive.documents", "StoredDocument"),
    "Page": ("crawl4r.workspace.page", "Page"),
    "HostBudgets": ("crawl4r.politeness.host_budgets", "HostBudgets"),
    "Settings": ("crawl4r.settings.load", "Settings"),
    "load_settings": ("crawl4r.settings.load", "load_settings"),
}


def __getattr__(name: str) -> Any:
    """Import on first use: the reading process needs two modules of this package, not all of it."""
    if name not in _WHERE:
        raise AttributeError(f"module 'crawl4r' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    module, attribute = _WHERE[name]
    return getattr(import_module(module), attribute)
