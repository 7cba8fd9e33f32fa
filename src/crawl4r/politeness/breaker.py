"""A circuit breaker for one host: stop asking a server that keeps failing, then probe it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class BreakerState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class BreakerRules(Struct, frozen=True):
    threshold: int = 5  # consecutive failures that open it
    cooldown: float = 30.0  # seconds of the first opening; doubles with each one that follows
    cooldown_cap: float = 3600.0  # seconds
    give_up_after: int = 6  # openings in a row without one success


class Breaker(Struct):
    """Any success closes it and clears every count; rare errors can therefore never trip it."""

    rules: BreakerRules
    failures: int = 0
    openings: int = 0
    open_until: float = 0.0
    probing: bool = False

    def state(self, now: float) -> BreakerState:
        if not self.openings or not self.open_until:
            return BreakerState.CLOSED
        return BreakerState.OPEN if now < self.open_until else BreakerState.HALF_OPEN

    def ready_at(self, now: float) -> float:
        """When the next request may go: now, at the end of the cooldown, or never while one probes."""
        if not self.open_until:
            return now
        return float("inf") if self.probing else max(now, self.open_until)

    def begin(self) -> None:
        """A request is being sent; while half-open it is the one probe."""
        self.probing = self.open_until > 0

    def succeed(self) -> bool:
        """Record a success; True when this closed the breaker."""
        was_open = self.open_until > 0
        self.failures = self.openings = 0
        self.open_until = 0.0
        self.probing = False
        return was_open

    def fail(self, now: float) -> bool:
        """Record a failure; True when this opened the breaker (again)."""
        self.failures += 1
        was_probe, self.probing = self.probing, False
        if not was_probe and (self.open_until or self.failures < self.rules.threshold):
            return False
        self.openings += 1
        wait = self.rules.cooldown * 2.0 ** min(self.openings - 1, 30)
        self.open_until = now + min(self.rules.cooldown_cap, wait)
        return True

    def abandon(self) -> None:
        """The request ended and tells nothing about the host's health."""
        self.probing = False

    @property
    def is_hopeless(self) -> bool:
        return self.openings >= self.rules.give_up_after
