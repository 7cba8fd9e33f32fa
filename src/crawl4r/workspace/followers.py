"""What is made of captures while a run adds to them: documents, an index and logs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from crawl4r.settings.load import Settings
from crawl4r.wiring.crawl import build_follower
from crawl4r.wiring.documents import build_documenter
from crawl4r.wiring.parts import Parts

if TYPE_CHECKING:
    from crawl4r.documents.documenter import Documenter, OnRead
    from crawl4r.indexing.follower import IndexFollower
    from crawl4r.wiring.logs import LogFollower

_Result = TypeVar("_Result")


class Followers:
    """Those that the settings of a run ask for; the others are None."""

    def __init__(self) -> None:
        self.documenter: Documenter | None = None
        self.index: IndexFollower | None = None
        self.logs: list[LogFollower] = []

    async def build(
        self, parts: Parts, settings: Settings, stack: AsyncExitStack, on_read: OnRead | None
    ) -> None:
        """Make documents and an index of the captures in these parts."""
        if not settings.content.extract:
            return
        self.documenter = await build_documenter(parts, settings, stack, on_read)
        if settings.index.enabled:
            self.index = build_follower(parts, settings, self.index)

    async def build_logs(
        self, parts: Parts, settings: Settings, stack: AsyncExitStack, role: str, folder: Path
    ) -> None:
        """Write the logs of this role into the workspace at `folder`."""
        if not settings.logs.enabled:
            return
        from crawl4r.wiring.logs import build_logs  # noqa: PLC0415 - most crawls go without

        self.logs = await build_logs(parts, settings, stack, role=role, workspace=folder)

    async def follow(self, visit_all: Callable[[], Awaitable[_Result]]) -> _Result:
        """Visit all pages, and make everything of them before this ends."""
        if self.documenter is None and not self.logs:
            return await visit_all()
        async with asyncio.TaskGroup() as tasks:
            for log in self.logs:
                tasks.create_task(log.follow())
            reading = tasks.create_task(self.documenter.follow()) if self.documenter else None
            if self.index:
                tasks.create_task(self.index.follow())
            result = await visit_all()
            for log in self.logs:
                log.end()
            if self.documenter and reading:
                self.documenter.end()
                await reading
            if self.index:
                self.index.end()
        return result

    def stop(self) -> None:
        """Leave what is not made yet to the next run."""
        if self.documenter:
            self.documenter.stop()
        for log in self.logs:
            log.stop()
