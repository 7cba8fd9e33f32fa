"""The logs of a workspace once more, from state.db and the store alone.

    ranges of captures ──> processes that can be killed ──> parts ──> files, in the order of captures

A range whose process dies or takes too long is done again capture by capture, so that a page made to
break a parser costs its own links and nothing else.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec import Struct, field

from crawl4r.errors import StorageFull
from crawl4r.replay_parts import RangeDone, part_path
from crawl4r.resilience.sandbox import Sandbox, SandboxKilled

_RANGE, _SHORT_RANGE = 96, 12  # captures: at first, and at the end
_AHEAD = 4  # ranges a worker may be in front of the file


class Sink(Protocol):
    """Where the bytes of a file go, in order."""

    def take(self, kind: str, data: bytes) -> None: ...


class ReplayReport(Struct):
    """What a replay found. Pairs are of a URL and what is wrong there.

    `damaged` are bytes that are not what they were, `unreadable` pages without all their edges.
    """

    captures: int = 0
    edges: int = 0
    damaged: list[tuple[str, str]] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)

    def add(self, done: RangeDone) -> None:
        self.captures += done.captures
        self.edges += done.edges
        self.damaged += [(url, problem) for url, problem in done.damaged]
        self.unreadable += [(url, reason) for url, reason in done.unreadable]


class Replay:
    """`sandbox` runs `entries.REPLAYER`, whose parts are left in `folder`."""

    def __init__(self, sandbox: Sandbox, workers: int, folder: Path, kinds: Sequence[str]) -> None:
        self._sandbox = sandbox
        self._workers = workers
        self._folder = folder
        self._kinds = kinds
        self._parts = count(1)

    async def run(
        self, last: int, sink: Sink, on_progress: Callable[[int], None] | None = None
    ) -> ReplayReport:
        """Everything up to the capture `last`, handed to the sink in order."""
        report = ReplayReport()
        ranges = ranges_of(last, self._workers)
        underway: deque[asyncio.Task[list[_Part]]] = deque()
        try:
            while True:
                for first, end in islice(ranges, self._workers * _AHEAD - len(underway)):
                    underway.append(asyncio.create_task(self._replay(first, end)))
                if not underway:
                    return report
                for part in await underway[0]:
                    self._hand_over(part.number, sink)
                    report.add(part.done)
                    if on_progress:
                        on_progress(part.done.captures)
                underway.popleft()
        finally:
            for task in underway:
                task.cancel()
            await asyncio.gather(*underway, return_exceptions=True)

    def _hand_over(self, part: int, sink: Sink) -> None:
        for kind in self._kinds:
            path = part_path(self._folder, part, kind)
            if path.exists():
                sink.take(kind, path.read_bytes())
                path.unlink()

    async def _replay(self, first: int, last: int) -> list[_Part]:
        try:
            return [await self._in_one(first, last)]
        except SandboxKilled:
            return [await self._alone(number) for number in range(first, last + 1)]

    async def _alone(self, capture: int) -> _Part:
        """One capture; its page is not parsed when that is what kills the process."""
        try:
            return await self._in_one(capture, capture)
        except SandboxKilled as killed:
            blame = killed.reason
        try:
            return await self._in_one(capture, capture, blame)
        except SandboxKilled as killed:
            return _Part(0, RangeDone(0, 0, [(f"capture {capture}", killed.reason)], []))

    async def _in_one(self, first: int, last: int, blame: str = "") -> _Part:
        number = next(self._parts)
        done = RangeDone(*await self._sandbox.run([number, first, last, blame], b""))
        if done.unwritten:
            raise StorageFull(done.unwritten)
        return _Part(number, done)


def ranges_of(last: int, workers: int) -> Iterator[tuple[int, int]]:
    """Shorter towards the end, so that no worker waits long for another's last one."""
    first = 1
    while first <= last:
        share = (last - first) // (_AHEAD * workers)
        end = min(first + min(_RANGE, max(_SHORT_RANGE, share)), last + 1)
        yield first, end - 1
        first = end


class _Part(NamedTuple):
    number: int  # of its files
    done: RangeDone
