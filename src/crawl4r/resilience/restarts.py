"""Decide whether and when to restart a crawl that ended. `supervise` acts on it."""

from __future__ import annotations

import signal

from msgspec import Struct

# The exit codes after which a restart helps; see the docstring of `interfaces/cli/main`.
# Not 4: a crawl waits for its store by itself, and damage does not heal.
_WORDS = {5: "it stalled and could not recover", 6: "it held too much memory"}
_GOOD_WHILE = 600.0  # seconds of work after which earlier restarts do not count
_LONGEST = 600.0  # seconds between two starts


class Restarts(Struct):
    """The restarts of one crawl. The owner passes in the times."""

    backoff: float = 5.0  # seconds before the first restart in a row; doubles with each further one
    most: int | None = None  # restarts in a row before giving up; None: no limit
    in_a_row: int = 0
    total: int = 0

    def wait_after(self, code: int, seconds: float) -> float | None:
        """Seconds until the restart of a crawl that ended with `code` after `seconds` of work; None to
        give up. A negative code is the signal that killed it.
        """
        if seconds >= _GOOD_WHILE:
            self.in_a_row = 0
        if reason_of(code) is None or (self.most is not None and self.in_a_row >= self.most):
            return None
        wait = min(_LONGEST, self.backoff * 2.0 ** min(self.in_a_row, 30))
        self.in_a_row += 1
        self.total += 1
        return wait


def reason_of(code: int) -> str | None:
    """The reason to restart a crawl with this exit code; None to give up."""
    if code >= 0:
        return _WORDS.get(code)
    try:
        return f"it was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was killed by signal {-code}"
