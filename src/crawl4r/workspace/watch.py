"""Watches a run that is left alone: reports its health, and acts when it stalls.

    heart, schedule, pause gate ──> look ──> watchdog (a thread) ──> decision ──> obey:
                          wait for the network, reopen the store, end the run, or go on

A crawl is silent for good reasons: a host asked for time, a person paused it, its discoverer has found
nothing new, the program that iterates over its pages is slow. `look` knows them all.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from crawl4r.crawling.loop import Crawl, EndedBy
from crawl4r.errors import StorageFull
from crawl4r.resilience.health_file import HealthFile
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.network import NetworkWatch
from crawl4r.resilience.pause_gate import PauseGate
from crawl4r.resilience.probes import Prober, in_words
from crawl4r.resilience.stall import CrawlView, Decision, Facts, WatchRules
from crawl4r.resilience.watchdog import Watchdog
from crawl4r.settings.load import Settings
from crawl4r.storage.layout import PAUSE
from crawl4r.storage.own_files import replace_or_overwrite
from crawl4r.urls.egress import AddressGate

if TYPE_CHECKING:
    from crawl4r.wiring.parts import Parts
    from crawl4r.workspace.followers import Followers

_SOON = 5.0  # seconds of silence that need no explanation
_REMEMBERED = 16  # of the newest captures, whose hosts can be probed


class WatchedRun(Protocol):
    """What must be known of a run to look after it."""

    role: str
    parts: Parts
    settings: Settings
    crawl: Crawl | None
    followers: Followers
    pause_gate: PauseGate
    heart: Heartbeat
    network: NetworkWatch
    may_exit: bool
    history: dict[str, Any]
    seconds: float  # 0 as long as pages are visited

    def watch_rules(self) -> WatchRules:
        """Those in force now."""

    def is_ahead(self) -> bool:
        """Whether it waits for its pages to be taken."""

    def leave(self, why: EndedBy) -> None:
        """End soon, with everything saved."""


class CrawlWatch:
    """Looks after one run, in its event loop and beside it."""

    def __init__(self, run: WatchedRun) -> None:
        self._run = run
        self._ordered: EndedBy | None = None  # the end, from here
        self._why = ""
        self._problem: asyncio.Future[None] | None = None
        self._done: tuple[int, ...] = ()

    @contextlib.contextmanager
    def watching(self) -> Iterator[CrawlWatch]:
        """From a thread, until the block ends."""
        run = self._run
        captures = run.parts.captures
        for capture in captures.after(max(0, captures.last_id() - _REMEMBERED)):
            run.network.remember(capture.url)
        network = run.settings.network
        gate = AddressGate(network.allow_private)
        watchdog = Watchdog(
            HealthFile(run.parts.path, replace_or_overwrite),
            run.network,
            Prober(gate.refusal, network.resolve, clock=run.parts.clock),
            self,
            role=run.role,
            clock=run.parts.clock,
            history=run.history,
        )
        watchdog.may_exit = run.may_exit
        watchdog.start()

        def look_again() -> None:
            run.heart.beat()  # what was held goes on from now, and has not been silent until now
            watchdog.look_again()

        run.pause_gate.on_hold = look_again
        try:
            yield self
        except BaseException as problem:
            watchdog.close(f"{type(problem).__name__}: {problem}")
            raise
        watchdog.close(self._why)

    def end(self, ended: EndedBy) -> EndedBy:
        """Why the run ended: by itself, or by what was ordered here."""
        ended = self._ordered or ended
        self._why = ended.value
        return ended

    async def follow(self) -> None:
        """Beside the crawl: raises what must end it."""
        self._problem = asyncio.get_running_loop().create_future()
        await self._problem

    def rules(self) -> WatchRules:
        """Those in force now: a reload may change them."""
        return self._run.watch_rules()

    def look(self) -> CrawlView:
        """Where the crawl stands. Runs in the event loop, so it sees no half-made change."""
        run, heart = self._run, self._run.heart
        if run.seconds:
            self._hear_of_documents()
        if run.pause_gate.is_held:
            is_paused = run.pause_gate.is_held_by(PAUSE)
            return CrawlView(heart.at, math.inf, "; ".join(run.pause_gate.reasons), is_paused)
        if heart.clock() - heart.at < min(_SOON, run.watch_rules().stall_seconds / 2):
            return CrawlView(heart.at, heart.at)
        if run.is_ahead():
            return CrawlView(heart.at, math.inf, "its pages to be taken")
        return CrawlView(heart.at, self._expected_at())

    def obey(self, decision: Decision, facts: Facts) -> None:
        """Do what the watchdog decided. Runs in the event loop."""
        run = self._run
        if decision is Decision.WAIT:
            run.network.lose(in_words(facts.probes))
        elif decision is Decision.REOPEN:
            if self._problem and not self._problem.done():
                self._problem.set_exception(StorageFull(f"cannot write {facts.store}"))
        elif decision in {Decision.LEAVE, Decision.SAVE_MEMORY}:
            is_stall = decision is Decision.LEAVE
            self._ordered = EndedBy.STALLED if is_stall else EndedBy.MEMORY
            run.leave(self._ordered)

    def _expected_at(self) -> float:
        """When something is to happen by itself at the latest, if anything is."""
        run, heart = self._run, self._run.heart
        times = list(heart.due.values())
        if heart.under_way:  # the last of them was sent no later than the last beat
            times.append(heart.at + run.settings.fetch.timeout)
        if run.crawl and (at := run.crawl.schedule.expects_at()) is not None:
            times.append(at)
        return min(times, default=heart.at)

    def _hear_of_documents(self) -> None:
        """After the last page: what is made of them is a sign of life too."""
        documenter, index = self._run.followers.documenter, self._run.followers.index
        done = [documenter.changes.total()] if documenter else []
        if index:
            progress = index.progress
            done += [progress.documents, progress.passages, progress.embedded, progress.reused]
        if tuple(done) != self._done:
            self._done = tuple(done)
            self._run.heart.beat()
