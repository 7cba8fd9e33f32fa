"""Tell a host that does not answer from a network that is down.

    a request fails ──> held ──> another host answers ──> it was the host: judge it
                          │
                          └────> all others fail ──> probes ──> one answers ──> it was the host
                                                       │
                                                       └──> none: hold the crawl, give the leases
                                                            back, go on when a probe answers

This module runs in the event loop. The watchdog's thread runs the probes: `on_doubt` wakes it, and it
answers with `tell`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from crawl4r import events
from crawl4r.model import Failure, Response, Verdict
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.pause_gate import PauseGate
from crawl4r.resilience.stall import WatchRules

HELD_AS = "network"
_ANSWERED = 16  # remembered places
_PATIENCE = 1.0  # seconds to wait for another host's answer before the probes run
_NO_WORD = 60.0  # seconds after which a failure counts against the host without a result


class NetworkWatch:
    """The state of the network: doubted after failures, probed, and waited for if probes fail."""

    def __init__(
        self, brake: PauseGate, heart: Heartbeat, rules: Callable[[], WatchRules] = WatchRules
    ) -> None:
        self.on_doubt: Callable[[], None] | None = None  # None: failures always count against hosts
        self.is_gone = False
        self.questions = 0  # number of probe rounds requested
        self.failures = 0  # failures in a row, over all hosts
        self._brake = brake
        self._heart = heart
        self._rules = rules
        self._answered: deque[str] = deque(maxlen=_ANSWERED)  # the latest last
        self._waiting: list[asyncio.Future[bool]] = []
        self._is_asked = False  # a requested probe round is unanswered
        self._coming_back = asyncio.Event()
        self._is_over = False
        self._trusted_until = 0.0
        self._gone_since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def places(self) -> Sequence[str]:
        """The endpoints to probe: the configured ones, or those that answered last; may be empty."""
        return self._rules().probe_hosts or list(reversed(self._answered))

    def remember(self, place: str) -> None:
        """Note a place that has answered."""
        self._answered.append(place)

    def doubts(self, place: str, answer: Response | Failure) -> bool:
        """Whether a failure may be the network's fault; then call `is_lost` before judging it."""
        if isinstance(answer, Failure) and not _may_be_the_networks(answer):
            return False
        if isinstance(answer, Response):
            self._answered.append(place)
            if self.failures:
                self._somebody_answered()
            return False
        self.failures += 1
        if self.is_gone:
            return True
        is_trusted = self._heart.clock() < self._trusted_until
        return self.on_doubt is not None and not is_trusted and bool(self.places)

    async def is_lost(self) -> bool:
        """Wait until the cause is known. True: the network failed, and the request does not count."""
        if self.is_gone:
            return True
        word: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(word)
        if self.failures >= self._rules().network_failures or not self._heart.under_way:
            self._ask()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PATIENCE, self._ask)
        try:
            async with asyncio.timeout(_NO_WORD):
                return await word
        except TimeoutError:
            return False

    async def comes_back(self) -> bool:
        """Wait for the network; False when the crawl ends first."""
        while self.is_gone and not self._is_over:
            await self._coming_back.wait()
        return not self._is_over

    def tell(self, is_there: bool | None, why: str = "") -> None:
        """Report the result of the probes; None without a usable probe."""
        self._is_asked = False
        if is_there is False:
            self.lose(why)
            return
        self._trusted_until = self._heart.clock() + self._rules().probe_seconds
        self._release(False)
        if self.is_gone:
            self._return()

    def lose(self, why: str) -> None:
        """Hold the crawl until the network is back; failed requests do not count."""
        if not self.is_gone:
            self.is_gone = True
            self._gone_since = self._heart.clock()
            self._coming_back.clear()
            self._brake.hold(HELD_AS, f"there is no network ({why})")
            events.emit(events.NETWORK_LOST, 30, failures=self.failures, probes=why)
        self._release(True)

    def begin_again(self) -> None:
        """Drop the unanswered probe round, because the crawl has a new watchdog."""
        self._is_asked = False
        self._release(False)

    def end(self) -> None:
        """Stop all waits for the network at the end of the crawl."""
        self._is_over = True
        self._coming_back.set()

    def _return(self) -> None:
        self.is_gone = False
        self.failures = 0
        self._coming_back.set()
        self._heart.beat()
        self._brake.let_go(HELD_AS)
        seconds = round(self._heart.clock() - self._gone_since, 1)
        events.emit(events.NETWORK_BACK, 30, after_s=seconds)

    def _somebody_answered(self) -> None:
        self.failures = 0
        self._trusted_until = 0.0  # this answer is newer than the result of the probes
        self._release(False)
        if self.is_gone:
            self._return()

    def _ask(self) -> None:
        self._forget_timer()
        if self._waiting and not self._is_asked and self.on_doubt:
            self._is_asked = True
            self.questions += 1
            self.on_doubt()

    def _release(self, is_lost: bool) -> None:
        self._forget_timer()
        waiting, self._waiting = self._waiting, []
        for word in waiting:
            if not word.done():
                word.set_result(is_lost)

    def _forget_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


def _may_be_the_networks(failure: Failure) -> bool:
    """Whether a failure is transient and without a complete answer."""
    return failure.verdict is Verdict.NETWORK_ERROR and failure.transient and failure.hurts_host
