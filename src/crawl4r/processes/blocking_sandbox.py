"""A sandbox for code without an event loop, such as the indexer's thread or a command."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, TypeVar

from crawl4r.processes.sandbox import Sandbox, SandboxKilled

Answer = TypeVar("Answer")


class BlockingSandbox:
    """Runs jobs in a sandbox, with an event loop for each call. Use it in one thread."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._runner = asyncio.Runner()

    def run_all(
        self, jobs: Iterable[tuple[Any, bytes]], kind: type[Answer]
    ) -> list[Answer | SandboxKilled]:
        """The answer to each `(head, body)`, or a SandboxKilled for a job that was stopped."""
        return self._runner.run(self._answers(list(jobs), kind))

    def close(self) -> None:
        """End the processes."""
        with self._runner:
            self._runner.run(self._sandbox.__aexit__())

    async def _answers(
        self, jobs: list[tuple[Any, bytes]], kind: type[Answer]
    ) -> list[Answer | SandboxKilled]:
        return await asyncio.gather(*(self._answer(*job, kind) for job in jobs))

    async def _answer(self, head: Any, body: bytes, kind: type[Answer]) -> Answer | SandboxKilled:
        try:
            return await self._sandbox.run(head, body, kind)
        except SandboxKilled as killed:
            return killed
