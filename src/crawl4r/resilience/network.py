"""Is it the host that does not answer, or is the network gone?

    a request fails ──> held ──> somebody else is answered ──> it was the host: judge it
                          │
                          └────> so do all others ──> probes ──> one answers ──> it was the host
                                                        │
                                                        └──> none: hold the brake, give back what was
                                                             asked, go on when a probe is answered

Everything here runs in the event loop; the probes are asked by the watchdog's thread, which is told by
`on_doubt` and answers by `tell`.
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
_ANSWERED = 16  # places that are remembered
_PATIENCE = 1.0  # seconds in which somebody else may be answered before the probes are asked
_NO_WORD = 60.0  # seconds after which a failure is judged though nobody said whose it is


class NetworkWatch:
    """Doubted when requests fail, asked for by probes, waited for when they fail as well."""

    def __init__(
        self, brake: PauseGate, heart: Heartbeat, rules: Callable[[], WatchRules] = WatchRules
    ) -> None:
        self.on_doubt: Callable[[], None] | None = None  # without it, hosts are to blame
        self.is_gone = False
        self.questions = 0  # to the probes, so far
        self.failures = 0  # in a row, over all hosts
        self._brake = brake
        self._heart = heart
        self._rules = rules
        self._answered: deque[str] = deque(maxlen=_ANSWERED)  # URLs, or proxies, the last one last
        self._waiting: list[asyncio.Future[bool]] = []
        self._is_asked = False  # a question, and nobody has answered it yet
        self._coming_back = asyncio.Event()
        self._is_over = False
        self._trusted_until = 0.0
        self._gone_since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def places(self) -> Sequence[str]:
        """Whom to probe: the configured ones, or who answered last. Nobody: it cannot be known."""
        return self._rules().probe_hosts or list(reversed(self._answered))

    def remember(self, place: str) -> None:
        """This one has answered before."""
        self._answered.append(place)

    def doubts(self, place: str, answer: Response | Failure) -> bool:
        """Whether an answer may be the network's fault; then ask `is_lost` before judging it."""
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
        """Whose fault was it? True: the network's, and what was asked counts for nothing."""
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
        """Wait for it. False when the crawl ends before."""
        while self.is_gone and not self._is_over:
            await self._coming_back.wait()
        return not self._is_over

    def tell(self, is_there: bool | None, why: str = "") -> None:
        """What the probes found; None when nobody could be asked."""
        self._is_asked = False
        if is_there is False:
            self.lose(why)
            return
        self._trusted_until = self._heart.clock() + self._rules().probe_seconds
        self._release(False)
        if self.is_gone:
            self._return()

    def lose(self, why: str) -> None:
        """Begin nothing until it is back; what was asked in vain is given back."""
        if not self.is_gone:
            self.is_gone = True
            self._gone_since = self._heart.clock()
            self._coming_back.clear()
            self._brake.hold(HELD_AS, f"there is no network ({why})")
            events.emit(events.NETWORK_LOST, 30, failures=self.failures, probes=why)
        self._release(True)

    def begin_again(self) -> None:
        """The crawl goes on with another watchdog: what the last one was asked is not answered."""
        self._is_asked = False
        self._release(False)

    def end(self) -> None:
        """The crawl begins nothing more: nobody waits for a network any longer."""
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
        self._trusted_until = 0.0  # what is learnt now is newer than what the probes said
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
    """No whole answer came, and another try may bring one."""
    return failure.verdict is Verdict.NETWORK_ERROR and failure.transient and failure.hurts_host
