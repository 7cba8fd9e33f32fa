"""A store that cannot be written is waited for, and then opened again.

    StorageFull ──> the crawl ends as in a crash ──> wait and probe ──> open as at a start ──> go on
                                                          │
                                                          └──> the patience is over: exit code 4

Nothing is exchanged under objects that live: all that stood on the store is ended, and made anew on
what recovery leaves. So there is one way back after a full disk, a crash and a power cut.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from crawl4r import events
from crawl4r.crawling.control_files import ControlFiles
from crawl4r.errors import StorageDamaged, StorageFull, WorkspaceError
from crawl4r.resilience.diagnostics import problem_of_store
from crawl4r.resilience.health_file import HealthFile
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.resilience.memory import own_mb
from crawl4r.resilience.stall import WatchRules
from crawl4r.storage.own_files import replace_or_overwrite
from crawl4r.wiring.parts import Parts

STATE = "waiting for the store"
_LOOK_AGAIN = 0.5  # seconds between two looks for an order to stop
_PROBE_EVERY = 5.0  # seconds
_FIRST_PROBE = 1.0  # seconds; twice as long each time that a reopened store fails at once
_LONGEST_REST = 60.0  # seconds
_GOOD_WHILE = 60.0  # seconds after which a new failure is another one
_TRIAL_BYTES = 1024 * 1024  # room for one would not be room for the next commit
_OF_THE_STORE = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.ENODEV, errno.ESTALE}


class Interrupted(Protocol):
    """What must be known of a run to bring it over a time without a store."""

    role: str
    parts: Parts
    heart: Heartbeat
    history: dict[str, Any]
    control: ControlFiles | None
    is_stopped: bool

    def watch_rules(self) -> WatchRules:
        """Those in force now."""

    def visits(self) -> int:
        """How many were kept so far."""

    def seconds_left(self) -> float:
        """When it must end; infinity without a limit of time."""

    def reopen(self) -> None:
        """Close what is open of the store, and open it again."""


def worst_of(problem: BaseException) -> BaseException:
    """The error to tell of one that others hang on: damage first, it must never be waited out."""
    found = list(_chain(problem, set()))
    return next((each for each in found if isinstance(each, StorageDamaged)), problem)


def _chain(problem: BaseException | None, seen: set[int]) -> Iterator[BaseException]:
    if problem is None or id(problem) in seen:
        return
    seen.add(id(problem))
    yield problem
    for other in (problem.__cause__, problem.__context__):
        yield from _chain(other, seen)
    if isinstance(problem, BaseExceptionGroup):
        for member in problem.exceptions:
            yield from _chain(member, seen)


def may_pass(problem: BaseException, *, has_begun: bool) -> bool:
    """Whether it says that the store cannot be written now; later it may."""
    if isinstance(problem, StorageFull):
        return True
    if not has_begun:  # then it is the user's to change something
        return False
    is_ours = isinstance(problem, OSError) and problem.errno in _OF_THE_STORE
    return is_ours or isinstance(problem, WorkspaceError)


class Reopening:
    """Waits for the store of one run, as often as it takes."""

    def __init__(self, run: Interrupted) -> None:
        self._run = run
        self.problem = ""  # what it waits for now
        self.until = 0.0  # epoch seconds at which it gives up
        self._since = 0.0
        self._reopened_at = 0.0
        self._visits = -1  # when it last failed
        self._tries = 0  # since anything was kept
        self._is_open = True

    async def outlast(self, trouble: BaseException) -> bool:
        """True when the store is open again; False when the run was stopped meanwhile.

        Raises StorageFull when it takes longer than the patience, and StorageDamaged at once.
        """
        run = self._run
        clock = run.parts.clock
        now = clock.monotonic()
        if run.visits() != self._visits or now - self._reopened_at > _GOOD_WHILE:
            self._visits, self._since, self._tries = run.visits(), now, 0
        patience = run.watch_rules().store_patience
        ends_at = min(self._since + patience, now + run.seconds_left())
        self.until = clock.wall() + ends_at - now
        self.problem = str(trouble)
        events.emit(events.STORE_LOST, 40, problem=self.problem, patience_s=round(patience, 1))
        run.heart.under_way = 0
        run.heart.due.clear()
        health = HealthFile(run.parts.path, replace_or_overwrite)
        try:
            is_back = await self._wait(ends_at, health)
        finally:
            self.problem = ""
        if is_back:
            self._tell_of_return(str(trouble))
            return True
        why = "stopped" if run.is_stopped else f"{type(trouble).__name__}: {trouble}"
        await asyncio.to_thread(health.close, self._health("ended", why))
        # A summary follows, which takes a database that is open.
        if not run.is_stopped or not self._is_open:
            waited = f"it could not be written for {clock.monotonic() - self._since:.0f} s"
            raise StorageFull(f"{trouble} ({waited})") from trouble
        return False

    async def _wait(self, ends_at: float, health: HealthFile) -> bool:
        """False when it was stopped, or there is no more time for it."""
        run, now = self._run, self._run.parts.clock.monotonic
        rest = min(_LONGEST_REST, _FIRST_PROBE * 2.0**self._tries)
        probe_at = min(now() + rest, ends_at)
        while True:
            if health.is_due(now(), STATE):
                await asyncio.to_thread(health.tell, now(), self._health(STATE, self.problem))
            if run.control:
                run.control.look()
            if run.is_stopped:
                return False
            if now() >= probe_at:
                if await self._can_be_written() and self._is_opened():
                    self._tries += 1
                    return True
                probe_at = now() + _PROBE_EVERY
            if now() >= ends_at:
                return False
            await asyncio.sleep(_LOOK_AGAIN)

    async def _can_be_written(self) -> bool:
        folder = self._run.parts.path
        for place in [folder, *_folders_of_bytes(folder)]:
            if problem := await asyncio.to_thread(problem_of_store, place, _TRIAL_BYTES):
                self.problem = problem
                return False
        return True

    def _is_opened(self) -> bool:
        self._is_open = False
        try:
            self._run.reopen()
        except (StorageFull, WorkspaceError, OSError) as problem:
            self.problem = str(problem)
            return False
        self._is_open = True
        return True

    def _tell_of_return(self, problem: str) -> None:
        clock, history = self._run.parts.clock, self._run.history
        seconds = round(clock.monotonic() - self._since, 1)
        loss = {"at": round(clock.wall() - seconds, 3), "seconds": seconds, "problem": problem}
        history["store_losses"] += 1
        history["last_store_loss"] = loss
        self._reopened_at = clock.monotonic()
        self._run.heart.beat()
        events.emit(events.STORE_REOPENED, 30, after_s=seconds)

    def _health(self, state: str, why: str) -> dict[str, Any]:
        """What `health.json` says, where the disk takes that much; the log has it in any case."""
        run = self._run
        clock, held = run.parts.clock, own_mb()
        now = clock.wall()
        return {
            "pid": os.getpid(),
            "role": run.role,
            "at": round(now, 3),
            "state": state,
            "why": why,
            "last_beat": round(now - clock.monotonic() + run.heart.at, 3),
            "until": round(self.until, 3) if state == STATE else None,
            "memory_mb": None if held is None else round(held, 1),
            **run.history,
        }


def _folders_of_bytes(folder: Path) -> list[Path]:
    """They may be on another disk."""
    try:
        return [place for place in folder.glob("store/*") if place.is_dir()]
    except OSError:
        return []


def first_of(problems: BaseExceptionGroup[Exception]) -> BaseException:
    """The one error to show of a task group's many: they all tell of the same event."""
    problem = worst_of(problems)
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem
