"""Hold a crawl without ending it: for a user's pause, or until slower followers catch up."""

from __future__ import annotations

from collections.abc import Callable


class PauseGate:
    """While it has a holder, no new visit begins. `gap` only spaces the visits out."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}  # reasons by holder
        self.gap = 0.0  # seconds between two visits
        self._on_change: Callable[[], None] | None = None
        self.on_hold: Callable[[], None] | None = None  # called when it is held or released

    @property
    def is_held(self) -> bool:
        return bool(self._reasons)

    @property
    def reasons(self) -> list[str]:
        return list(self._reasons.values())

    def is_held_by(self, who: str) -> bool:
        return who in self._reasons

    def hold(self, who: str, why: str) -> bool:
        """Hold the gate; False if `who` already holds it."""
        is_new = who not in self._reasons
        self._reasons[who] = why
        if is_new and self.on_hold:
            self.on_hold()
        return is_new

    def let_go(self, who: str) -> bool:
        """Release the gate; False if `who` did not hold it."""
        had_held = self._reasons.pop(who, None) is not None
        if had_held and self.on_hold:
            self.on_hold()
        if had_held and self._on_change:
            self._on_change()
        return had_held

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` at every release."""
        self._on_change = on_change
