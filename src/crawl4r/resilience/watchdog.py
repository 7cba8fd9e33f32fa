"""Watch one crawl from a separate thread, which also detects a blocked event loop.

Every few seconds the thread asks the event loop for the state of the crawl. When the loop does not
answer, or a due event is missing for too long, the thread searches for a cause and carries out the
decision of `stall.decide`. It also runs the network probes and watches the memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any, Protocol

from crawl4r import events
from crawl4r.clock import REAL_CLOCK, Clock
from crawl4r.resilience.diagnostics import examine, stack_of, within
from crawl4r.resilience.health_file import NO_NETWORK, PAUSED, HealthFile, new_history
from crawl4r.resilience.memory import Growth, own_mb
from crawl4r.resilience.network import NetworkWatch
from crawl4r.resilience.probes import Prober, endpoints_of, in_words, is_there
from crawl4r.resilience.stall import (
    CrawlView,
    Decision,
    Facts,
    WatchRules,
    decide,
    is_too_large,
    seconds_quiet,
)

EXIT_CODES = {Decision.REOPEN: 4, Decision.LEAVE: 5, Decision.SAVE_MEMORY: 6}
_SPEECH = 2.0  # seconds that writing a log line may take: its reader may hang
_TO_LEAVE = 120.0  # seconds until a crawl that should end is killed
_LATE = 0.25  # seconds beyond a tick; a later look means that the process was stopped


class WatchedCrawl(Protocol):
    """What the watchdog asks of a crawl, and tells it."""

    def rules(self) -> WatchRules:
        """Those in force now."""

    def look(self) -> CrawlView:
        """Where the crawl stands. Called in the event loop."""

    def obey(self, decision: Decision, facts: Facts) -> None:
        """Do what was decided. Called in the event loop."""


class Watchdog:
    """The watchdog. Start and close it in the event loop that it watches."""

    def __init__(
        self,
        file: HealthFile,
        network: NetworkWatch,
        prober: Prober,
        watched: WatchedCrawl,
        *,
        role: str = "crawl",
        clock: Clock = REAL_CLOCK,
        history: dict[str, Any] | None = None,
    ) -> None:
        """`history`: the findings of earlier watchdogs of the same crawl, to which this one adds."""
        self.may_exit = False  # end the process when the loop stays blocked: only for programs
        self._file = file
        self._network = network
        self._prober = prober
        self._watched = watched
        self._role = role
        self._time = clock
        self._clock = clock.monotonic
        self._history = new_history() if history is None else history
        self._growth = Growth()
        self._view = watched.look()
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._heard_at = self._stepped_at = self._clock()
        self._is_asked = False  # the loop has an unanswered request
        self._sleeps: list[tuple[float, float]] = []  # (wake-up time, duration)
        self._examine_at = self._probe_at = 0.0
        self._answered = network.questions  # questions that the probes have answered
        self._stall: dict[str, Any] | None = None  # the current stall
        self._blocked_since: float | None = None
        self._leaves: tuple[Decision, float] | None = None  # (decision, time)
        self._ended = ""  # the reason of the end
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        self._network.on_doubt = self._woken.set
        self._thread.start()

    def look_again(self) -> None:
        """Write the current state of the crawl at once. Call in the event loop."""
        self._view = self._watched.look()
        self._woken.set()

    def close(self, why: str) -> None:
        """The crawl has ended."""
        self._network.on_doubt = None
        self._view = self._watched.look()
        self._ended = why or "closed"
        self._woken.set()
        self._thread.join(1.0)
        self._end_stall()
        self._file.close(self._health(self._clock(), "ended"))

    def _run(self) -> None:
        while not self._ended:
            try:
                self._step(self._clock())
            except Exception as problem:  # the watchdog must survive any error
                self._say(events.WATCH_FAILED, 40, problem=repr(problem))
            self._woken.wait(self._time.on_machine(self._watched.rules().tick))
            self._woken.clear()

    def _step(self, now: float) -> None:
        # The process or the whole machine was stopped, so no event is late.
        rules = self._watched.rules()
        asleep = max(0.0, now - self._stepped_at - 2 * rules.tick - _LATE)
        self._stepped_at = now
        self._heard_at += asleep
        if asleep:
            self._sleeps.append((now, asleep))
        blocked = now - self._heard_at if self._is_asked else 0.0
        if not self._is_asked:
            self._is_asked = True
            self._in_loop(self._answer)
        self._see_to_the_network(now)
        self._see_to_the_memory(now)
        if blocked <= 2 * rules.tick:  # the loop answers, and its state is fresh
            quiet, blocked = self._seconds_quiet(now), 0.0
        else:
            quiet = blocked
        if quiet < rules.stall_seconds:
            self._end_stall()
        elif now >= self._examine_at:
            self._examine(quiet, blocked)
            self._examine_at = now + rules.stall_seconds
        if self._leaves and now > self._leaves[1] + max(_TO_LEAVE, 2 * rules.stall_seconds):
            self._exit(EXIT_CODES[self._leaves[0]], "it did not end in time")
        state = self._state_at(now)
        if self._file.is_due(now, state):
            self._file.tell(now, self._health(now, state))

    def _answer(self) -> None:
        """Runs in the event loop: note that it answers, and the state of the crawl."""
        self._view = self._watched.look()
        self._heard_at = self._clock()
        self._is_asked = False

    def _seconds_quiet(self, now: float) -> float:
        """The silence since the last beat, without the time in which the process was stopped."""
        view = self._view
        self._sleeps = [(woke, seconds) for woke, seconds in self._sleeps if woke > view.beat]
        slept = sum(seconds for _, seconds in self._sleeps)
        return max(0.0, seconds_quiet(view, now) - slept)

    def _see_to_the_network(self, now: float) -> None:
        network, questions = self._network, self._network.questions
        is_news = questions != self._answered
        if not is_news and not (network.is_gone and now >= self._probe_at):
            return
        self._answered = questions
        answers = self._prober.ask(endpoints_of(network.places))
        self._probe_at = self._clock() + self._watched.rules().probe_seconds
        self._in_loop(network.tell, is_there(answers), in_words(answers))

    def _see_to_the_memory(self, now: float) -> None:
        held = own_mb()
        if held is None or self._leaves:
            return
        self._growth.note(now, held)
        facts = Facts(0.0, memory_mb=held, growth_mb_hour=self._growth.mb_an_hour())
        if is_too_large(facts, self._watched.rules()):
            growth = round(facts.growth_mb_hour, 1)
            self._say(events.MEMORY_HIGH, 40, memory_mb=round(held, 1), growth_mb_hour=growth)
            self._note(facts, Decision.SAVE_MEMORY)
            self._order(Decision.SAVE_MEMORY, facts)

    def _examine(self, quiet: float, blocked: float) -> None:
        """Examine a stall, report it once, and carry out the decision."""
        stack = stack_of(self._loop_thread) if blocked else []
        if blocked and self._blocked_since is None:
            self._blocked_since = self._heard_at
            where = stack[0] if stack else "unknown"
            self._say(events.LOOP_BLOCKED, 40, seconds=round(blocked, 1), where=where, stack=stack)
        silence = Facts(quiet, blocked, stack)
        places, growth = self._network.places, self._growth.mb_an_hour()
        facts = examine(silence, self._file.folder, self._prober, places, growth)
        decision = decide(facts, self._watched.rules())
        if blocked and not self.may_exit:
            decision = Decision.LOOK_AGAIN
        is_news = self._stall is None or self._stall["decision"] != decision
        self._note(facts, decision)
        if is_news:
            self._say(events.CRAWL_STALLED, 30, decision=decision.value, **facts.as_json())
        self._order(decision, facts)

    def _note(self, facts: Facts, decision: Decision) -> None:
        lasts = max(facts.quiet, facts.blocked)
        since = self._stall["at"] if self._stall else self._time.wall() - lasts
        if self._stall is None and decision is not Decision.SAVE_MEMORY:
            self._history["stalls"] += 1
        self._stall = {"at": since, "decision": decision.value, **facts.as_json()}
        if facts.stack:
            self._stall["stack"] = list(facts.stack)
        self._history["last_stall"] = self._stall

    def _end_stall(self) -> None:
        self._examine_at = 0.0
        if self._stall is None or self._leaves:
            return
        seconds = round(self._time.wall() - self._stall["at"], 1)
        self._history["last_stall"] = self._stall | {"seconds": seconds}
        self._stall = self._blocked_since = None
        self._say(events.STALL_ENDED, 30, after_s=seconds)

    def _order(self, decision: Decision, facts: Facts) -> None:
        if facts.blocked:
            if decision is Decision.LEAVE:
                why = "; ".join(facts.findings())
                self._exit(EXIT_CODES[decision], "\n    ".join([why, *facts.stack]))
            return
        if decision in EXIT_CODES and not self._leaves:
            self._leaves = (decision, self._clock())
        if decision not in {Decision.GO_ON, Decision.LOOK_AGAIN}:
            self._in_loop(self._watched.obey, decision, facts)

    def _exit(self, code: int, why: str) -> None:
        """End the process. Committed data is safe; the rest cannot be saved from this thread."""
        if not self.may_exit:
            return
        problem = f"stalled, ending the process with code {code}: {why}"
        text = f"crawl4r: {problem}\n"
        now = self._clock()
        self._file.tell(now, self._health(now, f"ended with code {code}"))
        if events.are_json():
            self._say(events.PROCESS_ENDED, 50, problem=problem, code=code)
        else:
            within(_SPEECH, lambda: os.write(2, text.encode("utf-8", "replace")), 0)
        os._exit(code)

    def _in_loop(self, function: Callable[..., None], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the crawl has ended
            if not self._ended:
                self._loop.call_soon_threadsafe(function, *arguments)

    def _say(self, event: str, level: int, **fields: Any) -> None:
        within(_SPEECH, lambda: events.emit(event, level, **fields), None)

    def _state_at(self, now: float) -> str:
        if self._leaves:
            return "leaving"
        if self._view.is_paused:
            return PAUSED
        if self._network.is_gone:
            return NO_NETWORK
        if self._stall:
            return "stalled"
        if self._view.expected > max(now, self._view.beat):
            return "held" if self._view.waits_for else "resting"
        return "running"

    def _health(self, now: float, state: str) -> dict[str, Any]:
        epoch = self._time.wall() - now  # converts clock times to epoch seconds
        held = own_mb()
        return {
            "pid": os.getpid(),
            "role": self._role,
            "at": round(now + epoch, 3),
            "state": state,
            "why": self._ended or self._view.waits_for,
            "last_beat": round(self._view.beat + epoch, 3),
            "until": round(self._view.expected + epoch, 3) if state == "resting" else None,
            "memory_mb": None if held is None else round(held, 1),
            **self._history,
        }
