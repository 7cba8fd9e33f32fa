"""The frontier against a plain model of it, over random histories with crashes (G4, contract 1)."""

import copy
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from crawl4r.frontier.priority import breadth_first
from crawl4r.frontier.sqlite import SqliteFrontier
from crawl4r.model import Ending, Found, FoundBy, Lease, UrlState, Verdict
from crawl4r.storage.database import Database
from tests.properties import steady

CRAWL = 1

PENDING, LEASED, WAITING = UrlState.PENDING, UrlState.LEASED, UrlState.WAITING
HOSTS = ["a.org", "b.org"]
URLS = [f"http://{host}/{number}" for host in HOSTS for number in range(5)]
ENDS = [UrlState.DONE, UrlState.FAILED, UrlState.WAITING, UrlState.REFUSED]

finds = st.builds(
    lambda url, depth, score, admitted: Found(
        url, url.split("/")[2], depth, FoundBy.LINK, admitted, "a rule", score=score
    ),
    st.sampled_from(URLS),
    st.integers(0, 4),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.booleans(),
)


@dataclass
class Known:
    """What the model knows of a URL; `order` is that of its discovery."""

    host: str
    order: int
    state: UrlState
    depth: int
    priority: float
    attempts: int = 0
    due_at: float = 0.0
    by_scope: bool = False  # refused by our own rules, which may change their mind


@dataclass
class Model:
    urls: dict[str, Known] = field(default_factory=dict)

    def add(self, item: Found) -> bool:
        """Whether there is more to lease than before."""
        known = self.urls.get(item.url)
        priority = breadth_first(item.depth, item.score)
        if known is None:
            state = PENDING if item.admitted else UrlState.REFUSED
            self.urls[item.url] = Known(
                *(item.host, len(self.urls), state, item.depth, priority),
                by_scope=not item.admitted,
            )
            return item.admitted
        is_shorter = known.state is PENDING and item.depth < known.depth
        if item.admitted and (known.by_scope or is_shorter):
            known.state, known.depth, known.priority = PENDING, item.depth, priority
            known.by_scope = False
            return True
        return False

    def best(self, host: str, most: int) -> list[str]:
        pending = [url for url in self.of(PENDING) if self.urls[url].host == host]
        return sorted(pending, key=lambda u: (self.urls[u].priority, self.urls[u].order))[:most]

    def of(self, *states: UrlState) -> list[str]:
        return [url for url, known in self.urls.items() if known.state in states]

    def settle(self, url: str, state: UrlState, due_at: float) -> None:
        known = self.urls[url]
        failed = state in (UrlState.WAITING, UrlState.FAILED)
        known.state, known.due_at = state, due_at
        known.attempts = known.attempts + 1 if failed else 0


class FrontierHistory(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.model = Model()
        self.committed = Model()
        self.leases: dict[str, Lease] = {}
        self.open()

    def open(self) -> None:
        self.database = Database(Path(self.folder.name, "state.db"))
        self.frontier = SqliteFrontier(self.database, CRAWL, breadth_first)

    def teardown(self) -> None:
        self.database.close()
        self.folder.cleanup()

    @rule(items=st.lists(finds, max_size=6))
    def add(self, items: list[Found]) -> None:
        expected = {item.host for item in items if self.model.add(item)}
        assert self.frontier.add(items, None, 0.0) == expected

    @rule(host=st.sampled_from(HOSTS), most=st.integers(1, 4))
    def lease(self, host: str, most: int) -> None:
        expected = self.model.best(host, most)
        leases = self.frontier.lease(host, most)
        assert [lease.url for lease in leases] == expected
        for lease in leases:
            known = self.model.urls[lease.url]
            assert (lease.depth, lease.attempts) == (known.depth, known.attempts)
            known.state = LEASED
            self.leases[lease.url] = lease

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), end=st.sampled_from(ENDS), due_at=st.integers(0, 20))
    def settle(self, data: st.DataObject, end: UrlState, due_at: int) -> None:
        lease = self.leases.pop(data.draw(st.sampled_from(sorted(self.leases))))
        verdict = Verdict.OK if end is UrlState.DONE else Verdict.ROBOTS_DENIED
        due = float(due_at) if end is WAITING else None
        self.frontier.settle([Ending(lease.url_id, end, verdict, "", due)])
        self.model.settle(lease.url, end, float(due_at))

    @precondition(lambda self: self.leases)
    @rule()
    def release_everything(self) -> None:
        self.frontier.release(self.leases.values())
        for url in self.leases:
            self.model.urls[url].state = PENDING
        self.leases.clear()

    @rule()
    def commit(self) -> None:
        self.database.commit()
        self.committed = copy.deepcopy(self.model)

    @rule()
    def crash_and_start_again(self) -> None:
        self.database.close()  # rolls back what was not committed, as a kill would
        self.open()
        self.model = copy.deepcopy(self.committed)
        held = self.model.of(LEASED)
        assert self.frontier.recover() == len(held)
        for url in held:
            self.model.urls[url].state = PENDING
        self.leases.clear()

    @rule(now=st.integers(0, 20))
    def wake(self, now: int) -> None:
        waiting = {url: self.model.urls[url] for url in self.model.of(WAITING)}
        due = [known for known in waiting.values() if known.due_at <= now]
        later = [known.due_at for known in waiting.values() if known.due_at > now]
        for known in due:
            known.state = PENDING
        expected = {known.host for known in due}, min(later, default=None)
        assert self.frontier.wake(float(now)) == expected

    @rule(
        states=st.lists(st.sampled_from(ENDS), unique=True),
        urls=st.none() | st.lists(st.sampled_from(URLS), unique=True),
    )
    def requeue(self, states: list[UrlState], urls: list[str] | None) -> None:
        chosen = [
            self.model.urls[url]
            for url in self.model.of(*states)
            if not self.model.urls[url].by_scope and (urls is None or url in urls)
        ]
        assert self.frontier.requeue(states, urls) == len(chosen)
        for known in chosen:
            known.state, known.attempts = PENDING, 0

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        stored = self.database.read("SELECT url, state FROM urls")
        assert sorted(stored) == sorted((url, k.state) for url, k in self.model.urls.items())
        assert self.frontier.count_unfinished() == len(self.model.of(PENDING, LEASED, WAITING))
        pending = {self.model.urls[url].host for url in self.model.of(PENDING)}
        assert set(self.frontier.hosts_pending("", 9)) == pending


# Not shrunk: with a database to open for each try that takes minutes. Delete `phases` to debug.
TestFrontierHistory = FrontierHistory.TestCase
TestFrontierHistory.settings = settings(
    steady, max_examples=60, stateful_step_count=40, phases=[Phase.generate]
)
