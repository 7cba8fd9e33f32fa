"""A crawl that fails leaves nothing behind that would still write to a store that is closed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from crawl4r.fetch.port import Request
from crawl4r.model import Failure, Response
from crawl4r.settings.load import Settings, load_settings
from crawl4r.urls.egress import AddressGate
from crawl4r.workspace.workspace import Workspace

OVERRIDES = {
    "politeness": {"rate": 0, "per_host": 4, "obey_robots": False},
    "content": {"extract": False},
    "explore": {"enabled": False},
}


class Buggy:
    """Answers some pages at once, and fails at the last with an unexpected error."""

    renders = False

    async def fetch(self, request: Request) -> Response | Failure:
        if request.url.endswith("/bug"):
            await asyncio.sleep(0.01)  # the others wait to be kept together by now
            raise LookupError("a bug")
        headers = [("content-type", "text/plain")]
        return Response(request.url, 200, headers, request.url.encode(), 1.0, 0.1, 0)

    async def close(self) -> None:
        pass


def test_visits_that_wait_for_their_commit_are_dropped_with_the_crawl(tmp_path: Path) -> None:
    troubles: list[dict[str, Any]] = []

    def make(settings: Settings, gate: AddressGate) -> Buggy:
        return Buggy()

    async def crawl() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, trouble: troubles.append(trouble))
        settings = load_settings(environment={}, overrides=OVERRIDES)
        seeds = [f"http://a.example/{name}" for name in ("one", "two", "bug")]
        with pytest.raises(LookupError):
            async with Workspace(tmp_path, settings, make_transport=make) as opened:
                await opened.crawl(*seeds).finish()
        await asyncio.sleep(0.2)  # longer than visits wait for each other

    asyncio.run(crawl())
    assert troubles == []
