"""A crawl in a store in which another process crawls, which runs it; this one shows how it goes."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from crawl4r.errors import Crawl4rError, UsageError
from crawl4r.interfaces.cli import crawl_report
from crawl4r.interfaces.cli.options import open_for_reading
from crawl4r.interfaces.cli.output import say, say_prose
from crawl4r.interfaces.cli.saved_options import NOTE, note_of
from crawl4r.interfaces.cli.view.format import our_name
from crawl4r.safe_text import command_line
from crawl4r.settings.load import Settings
from crawl4r.storage.crawls import CrawlRecord
from crawl4r.storage.lock import holder_of
from crawl4r.urls.canonical import with_scheme
from crawl4r.workspace.crawl_request import CrawlRequest, PlacedRequest, desk_of, has_requests
from crawl4r.workspace.run_outcome import RunOutcome

if TYPE_CHECKING:
    from crawl4r.interfaces.cli.view.progress_line import Standing

_LOOK_AGAIN = 0.25  # seconds
_COUNT_EVERY = 1.0  # seconds
_WORK_LEFT = 3  # exit code
_PATIENCE = 2.0  # seconds for a process that has just taken the store, and takes requests soon


def is_taken(path: Path) -> bool:
    """Whether another process crawls in the store, and takes requests."""
    return desk_of(path) is not None


async def becomes_taken(path: Path) -> bool:
    """The same, of a process that has locked the store just now.

    Where others wait with their requests, it is one of them that takes a store after a crash.
    """
    patience = _PATIENCE * 15 if has_requests(path) else _PATIENCE
    ends_at = time.monotonic() + patience
    while holder_of(path) is not None and time.monotonic() < ends_at:
        if is_taken(path):
            return True
        await asyncio.sleep(_LOOK_AGAIN / 5)
    return is_taken(path)


async def is_left(path: Path) -> None:
    """Return when the process that has the store ends, or another one takes requests."""
    while holder_of(path) is not None and not is_taken(path):  # noqa: ASYNC110
        await asyncio.sleep(_LOOK_AGAIN)


def crawl_meant(path: Path, name: str | None, urls: Sequence[str]) -> CrawlRecord | None:
    """The crawl that a command goes on with beside a running one; None: it begins a new crawl.

    Raises UsageError when that crawl runs already.
    """
    with open_for_reading(path) as opened:
        crawls = opened.parts.crawls
        running = {crawl.id for crawl in crawls.running()}
        if name is not None:
            meant = crawls.find(name)
        elif urls:
            meant = crawls.with_seeds([opened.canonical(with_scheme(url)) for url in urls])
        else:
            meant = crawls.last()
    if meant and meant.id in running:
        again = command_line(our_name(), "crawls", "-w", path)
        raise UsageError(
            f"the crawl {meant.name} runs already, in process {desk_of(path)}: give another URL, or"
            f" --name and a URL for a crawl of its own (`{again}` lists the crawls)"
        )
    return meant


class GuestRun:
    """One command whose crawl runs in another process."""

    def __init__(
        self,
        path: Path,
        settings: Settings,
        options: Mapping[str, Any],
        in_force: Mapping[str, Any],
    ) -> None:
        self._path = path
        self._settings = settings
        self._options = options
        self._in_force = in_force
        self._asked = 0
        self._began_at = time.monotonic()
        self.crawl: int | None = None  # its number, once it began

    async def follow(self, seeds: Sequence[str]) -> RunOutcome | None:
        """Place the request and wait for its end; None when the other process ended first."""
        request = CrawlRequest(
            settings=msgspec.to_builtins(self._settings),
            seeds=list(seeds),
            name=str(self.crawl) if self.crawl else self._options["name"],
            refresh=self._options["refresh"] and not self.crawl,
            retry_failed=self._options["retry_failed"] and not self.crawl,
            notes={NOTE: note_of(self._in_force)},
        )
        placed = PlacedRequest(self._path, request)
        with contextlib.closing(placed), self._signals(placed):
            telling = (
                asyncio.create_task(self._tell()) if crawl_report.talks(self._options) else None
            )
            try:
                return await self._wait(placed)
            finally:
                if telling:
                    telling.cancel()

    async def _wait(self, placed: PlacedRequest) -> RunOutcome | None:
        while True:
            is_over = not is_taken(self._path) and holder_of(self._path) is None
            self.crawl = self.crawl or placed.begun()
            if answer := placed.answer():
                if answer.error:
                    raise UsageError(answer.error)
                return answer.outcome
            if is_over or self._asked > 1:  # it was over before the look for an answer
                return None
            await asyncio.sleep(_LOOK_AGAIN)

    @property
    def was_left(self) -> bool:
        """Whether a second Ctrl-C ended it at once."""
        return self._asked > 1

    @property
    def was_stopped(self) -> bool:
        return self._asked > 0

    def tell_left(self) -> int:
        """The exit code of a crawl that was stopped while its process ended."""
        again = command_line(our_name(), "resume", "-w", self._path)
        if crawl_report.talks(self._options):
            say_prose(f"Stopped. Nothing is lost: `{again}` goes on.")
        return _WORK_LEFT

    @contextlib.contextmanager
    def _signals(self, placed: PlacedRequest) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        def stop() -> None:
            self._asked += 1
            if self._asked == 1:
                say_prose("finishing the pages in flight; once more to stop at once", err=True)
                placed.stop()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    async def _tell(self) -> None:
        """Show how far the crawl is, unless its log does."""
        if self._options["verbose"] or self._options["log_json"]:
            return
        # Imported late: they load rich.
        from crawl4r.interfaces.cli.view.live_progress import show_standing  # noqa: PLC0415

        await show_standing(self._standing, every=_COUNT_EVERY)

    def _standing(self) -> Standing:
        from crawl4r.interfaces.cli.view.progress_line import Phase, Standing  # noqa: PLC0415

        seconds = time.monotonic() - self._began_at
        if self.crawl is None:
            return Standing(Phase.STARTING, seconds=seconds)
        phase = Phase.STOPPING if self.was_stopped else Phase.CRAWLING
        with contextlib.suppress(Crawl4rError), open_for_reading(self._path) as opened:
            (mine,) = (crawl for crawl in opened.crawls() if crawl.id == self.crawl)
            return Standing(phase, kept=mine.pages, waiting=mine.waiting, seconds=seconds)
        return Standing(phase, seconds=seconds)


def tell_host(path: Path, options: Mapping[str, Any]) -> None:
    """Say which process runs this crawl."""
    if crawl_report.talks(options) and not options["log_json"]:
        say(f"  in process {desk_of(path)}, which crawls in this store already", err=True)
