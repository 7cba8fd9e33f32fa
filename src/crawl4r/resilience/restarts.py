"""When is a crawl that ended to be started again, and after how long? Decided here, done elsewhere."""

from __future__ import annotations

import signal

from msgspec import Struct

# What the exit codes of a crawl say to whoever looks after it; see the docstring of the command line.
# Not 4: a crawl waits for its store by itself, and damage does not heal.
_WORDS = {5: "it stalled and could not recover", 6: "it held too much memory"}
_GOOD_WHILE = 600.0  # seconds after which earlier restarts are forgiven
_LONGEST = 600.0  # seconds between two starts


class Restarts(Struct):
    """The restarts of one crawl. Times are of the owner's clock."""

    backoff: float = 5.0  # seconds before the first of a row; doubles with each that follows
    most: int | None = None  # in a row, then it is given up; None: never
    in_a_row: int = 0
    total: int = 0

    def wait_after(self, code: int, seconds: float) -> float | None:
        """Seconds until the next start of a crawl that ended with `code` after so many seconds of
        work; None when it is not to be started again. A negative code is a signal that killed it.
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
    """Why a crawl that ended so should be started again; None when it should not."""
    if code >= 0:
        return _WORDS.get(code)
    try:
        return f"it was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was killed by signal {-code}"
