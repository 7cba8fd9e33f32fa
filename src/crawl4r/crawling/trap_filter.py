"""Keep a crawl out of endless URL spaces; findings are stored in the workspace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from crawl4r.discovery.traps.guard import TrapGuard, TrapRules
from crawl4r.model import EXPLORED, Found, FoundBy, Lease, Verdict, Visit
from crawl4r.storage.host_lessons import Lessons
from crawl4r.urls.canonical import split

__all__ = ["TRAP", "TrapRules", "TrapWatch"]

TRAP = "trap: "  # begins the rule of a refused URL
_KIND = "traps"
_SAVE_EVERY = 20.0  # seconds
_MOST_HASHES = 200_000
# The user named these, or they have their own limits.
_EXEMPT = EXPLORED | {FoundBy.SEED, FoundBy.REDIRECT, FoundBy.SPOOL}


class TrapWatch:
    """Screens the links of pages, and learns from visits."""

    def __init__(self, rules: TrapRules, lessons: Lessons, wall: Callable[[], float]) -> None:
        self.guard = TrapGuard(rules, datetime.fromtimestamp(wall(), UTC).date())
        self._lessons = lessons
        self._wall = wall
        self._restored: set[str] = set()
        self._changed: set[str] = set()
        self._saved_at = wall()
        self._contents: set[int] = set()  # fingerprints of pages seen in this run
        self._fresh: list[str] = []  # URLs that the frontier admitted since the last visit

    def screen(self, found: Sequence[Found]) -> Sequence[Found]:
        """The same links; those that look like a trap are refused."""
        return [self._screened(item) if item.admitted else item for item in found]

    def _screened(self, item: Found) -> Found:
        if item.by in _EXEMPT:
            return item
        self._restore(item.url)
        why = self.guard.judge(item.url)
        return item._replace(admitted=False, rule=TRAP + why) if why else item

    def recheck(self, lease: Lease) -> str | None:
        """Why to refuse a URL that was admitted before; None to visit it."""
        if lease.by in _EXEMPT or lease.is_revisit:
            return None
        self._restore(lease.url)
        why = self.guard.recheck(lease.url)
        return TRAP + why if why else None

    def admit(self, url: str, now: float) -> None:
        """Call for each URL that the frontier admits."""
        self._restore(url)
        self.guard.admit(url)
        self._fresh.append(url)

    def learn(self, visit: Visit, admitted: int) -> None:
        """See `keeper.Learner`."""
        capture = visit.capture
        fresh, self._fresh = self._fresh, []
        if capture is None or visit.lease.is_revisit or capture.verdict is Verdict.REDIRECT:
            return
        is_new = capture.verdict is Verdict.OK and self._is_new(visit.words or hash(visit.body))
        self.guard.observe(visit.lease.url, is_new, fresh)
        self._changed.add(split(visit.lease.url).netloc)
        if self._wall() - self._saved_at > _SAVE_EVERY:
            self.save()

    def save(self) -> None:
        """Store the findings; durable when the database commits."""
        for netloc in self._changed:
            state = self.guard.state_of(netloc)
            if state is not None:
                self._lessons.put(split(f"http://{netloc}/").host, _KIND, netloc, state)
        self._changed.clear()
        self._saved_at = self._wall()

    def _is_new(self, key: int) -> bool:
        if key in self._contents:
            return False
        if len(self._contents) >= _MOST_HASHES:
            self._contents.clear()
        self._contents.add(key)
        return True

    def _restore(self, url: str) -> None:
        parts = split(url)
        if parts.netloc in self._restored:
            return
        self._restored.add(parts.netloc)
        state = self._lessons.get(parts.host, _KIND, parts.netloc)
        if state is not None:
            self.guard.restore(parts.netloc, state)
