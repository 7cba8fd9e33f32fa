"""Hold a crawl without ending it: for a user's pause, or until slower followers catch up."""

from __future__ import annotations

from collections.abc import Callable


class PauseGate:
    """While it has a holder, no new visit begins. `gap` only spaces the visits out."""

    def __init__(self, outer: PauseGate | None = None, *, but_for: str = "") -> None:
        """Also held while `outer` is, except by its holder `but_for`."""
        self._reasons: dict[str, str] = {}  # reasons by holder
        self._outer = outer
        self._but_for = but_for
        self._own_gap = 0.0
        self._on_change: list[Callable[[], None]] = []
        self.on_hold: Callable[[], None] | None = None  # called when it is held or released

    @property
    def gap(self) -> float:
        """Seconds between two visits."""
        return max(self._own_gap, self._outer.gap) if self._outer else self._own_gap

    @gap.setter
    def gap(self, seconds: float) -> None:
        self._own_gap = seconds

    @property
    def is_held(self) -> bool:
        return bool(self._reasons) or bool(self._outer_reasons())

    @property
    def reasons(self) -> list[str]:
        return [*self._reasons.values(), *self._outer_reasons()]

    def is_held_by(self, who: str) -> bool:
        return who in self._reasons

    def _outer_reasons(self) -> list[str]:
        if self._outer is None:
            return []
        return [why for who, why in self._outer._reasons.items() if who != self._but_for]

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
        if had_held:
            for tell in self._on_change:
                tell()
        return had_held

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` at every release."""
        self._on_change.append(on_change)
        if self._outer:
            self._outer.watch(on_change)

    def forget(self, on_change: Callable[[], None]) -> None:
        """End `watch`."""
        if on_change in self._on_change:
            self._on_change.remove(on_change)
        if self._outer:
            self._outer.forget(on_change)
