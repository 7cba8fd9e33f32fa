"""Hold a crawl back without ending it: paused by somebody, or ahead of those who follow it."""

from __future__ import annotations

from collections.abc import Callable


class PauseGate:
    """While anybody holds it nothing new begins; `gap` only spaces beginnings out."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}  # who holds: why
        self.gap = 0.0  # seconds between two beginnings
        self._on_change: Callable[[], None] | None = None
        self.on_hold: Callable[[], None] | None = None  # called when it is held or let go

    @property
    def is_held(self) -> bool:
        return bool(self._reasons)

    @property
    def reasons(self) -> list[str]:
        return list(self._reasons.values())

    def is_held_by(self, who: str) -> bool:
        return who in self._reasons

    def hold(self, who: str, why: str) -> bool:
        """True when `who` did not hold it before."""
        is_new = who not in self._reasons
        self._reasons[who] = why
        if is_new and self.on_hold:
            self.on_hold()
        return is_new

    def let_go(self, who: str) -> bool:
        """True when `who` had held it."""
        had_held = self._reasons.pop(who, None) is not None
        if had_held and self.on_hold:
            self.on_hold()
        if had_held and self._on_change:
            self._on_change()
        return had_held

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call when somebody lets go."""
        self._on_change = on_change
