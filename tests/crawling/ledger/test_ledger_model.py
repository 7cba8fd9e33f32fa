"""Ledgers against a plain model, over random histories with crashes and zombies.

CRAWL4R_SEQUENCES is the number of histories on each database.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from crawl4r.crawling.ledger.port import ClaimLost, Kept, KeptUnit, Ledger, Taught
from crawl4r.model import Found, HostMemory, UrlState, Verdict
from tests.crawling.ledger.model import LEASED, PENDING, WAITING, Model, Worker, names_of
from tests.crawling.ledger.stores import CLAIM_SECONDS, Store, found, visited

SEQUENCES = int(os.environ.get("CRAWL4R_SEQUENCES", "40"))
HOSTS = ["a.org", "b.org", "c.org"]
URLS = [f"http://{host}/{number}" for host in HOSTS for number in range(3)]
CRAWLS = st.sampled_from([1, 2])
WORKERS = st.sampled_from([0, 1])
ENDS = [
    (UrlState.DONE, Verdict.OK),
    (UrlState.DONE, Verdict.HTTP_ERROR),
    (UrlState.DONE, Verdict.SOFT_404),
    (UrlState.FAILED, Verdict.NETWORK_ERROR),
    (UrlState.WAITING, Verdict.NETWORK_ERROR),
    (UrlState.REFUSED, Verdict.ROBOTS_DENIED),
]
FINISHED = [UrlState.DONE, UrlState.FAILED, UrlState.WAITING, UrlState.REFUSED]

# With what makes histories long more often than what ends them.
ACTIONS = [
    *(["claim"] * 4 + ["lease"] * 6 + ["keep"] * 6 + ["let_time_pass"] * 3),
    *("add", "renew", "renew", "keep_again", "let_go", "release", "wake", "wake", "requeue"),
    *("requeue", "crash", "stop_or_start"),
]


def _found(url: str, depth: int, score: float, admitted: bool) -> Found:
    groups = ("posts",) if url.endswith(("1", "2")) else ()
    return found(url, depth, admitted=admitted, rule="scope", score=score, groups=groups)


finds = st.lists(
    st.builds(
        _found,
        st.sampled_from(URLS),
        st.integers(0, 3),
        st.sampled_from([0.0, 1.0]),
        st.sampled_from([True, True, False]),
    ),
    max_size=5,
)


class LedgerHistory(RuleBasedStateMachine):
    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store
        self.now = 0.0
        self.model = Model()
        self.number = self.units = 0
        self.known_units: dict[str, tuple[list[Kept], KeptUnit]] = {}
        self.ledgers: list[Ledger] = []
        self.workers: list[Worker] = []
        store.clear()
        for crawl in (1, 2):
            store.begin_crawl(crawl)
            self.model.running.add(crawl)
        for _ in range(2):
            self.start_worker(len(self.workers))

    def start_worker(self, place: int) -> None:
        self.number += 1
        self.ledgers.insert(place, self.store.worker())
        self.workers.insert(place, Worker(self.number))

    def teardown(self) -> None:
        for ledger in self.ledgers:
            self.store.crash(ledger)

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        for crawl in (1, 2):
            self.add(data, crawl, [_found(url, 1, 0.0, True) for url in URLS])
        for place in (0, 1):
            self.claim(data, place)

    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """One of the actions. Hypothesis would leave out some rules of many in most histories, and
        few histories would keep anything."""
        getattr(self, data.draw(st.sampled_from(ACTIONS)))(data)

    def let_time_pass(self, data: st.DataObject) -> None:
        self.now += data.draw(st.sampled_from([1.0, CLAIM_SECONDS / 2, CLAIM_SECONDS]))

    def add(
        self, data: st.DataObject, crawl: int | None = None, items: Sequence[Found] | None = None
    ) -> None:
        place, crawl = data.draw(WORKERS), crawl or data.draw(CRAWLS)
        items = items or data.draw(finds)
        expected = {item.host for item in items if self.model.add(crawl, item)}
        assert self.ledgers[place].add(crawl, items, self.now) == expected

    def stop_or_start(self, data: st.DataObject) -> None:
        crawl = data.draw(CRAWLS)
        self.model.running ^= {crawl}
        state = "running" if crawl in self.model.running else "stopped"
        self.store.begin_crawl(crawl, state)

    def claim(self, data: st.DataObject, place: int | None = None) -> None:
        place = data.draw(WORKERS) if place is None else place
        most = data.draw(st.integers(1, 3))
        self.model.end_claims(self.now)
        free = self.model.free()
        claims = self.ledgers[place].claim(most, self.now)
        assert {claim.host for claim in claims} <= free
        assert len(claims) == min(most, len(free))
        for claim in claims:
            host = self.model.take(claim.host, self.workers[place].number, self.now)
            told = (claim.epoch, claim.until, claim.is_inherited, claim.memory)
            assert told == (host.epoch, host.until, host.was_left, host.memory)
            self.workers[place].drop(claim.host)
            self.workers[place].epochs[claim.host] = host.epoch

    def renew(self, data: st.DataObject) -> None:
        place, hosts = data.draw(WORKERS), data.draw(st.sets(st.sampled_from(HOSTS)))
        worker = self.workers[place]
        ours = {host for host in hosts if worker.owns(self.model, host)}
        assert self.ledgers[place].renew(hosts, self.now) == ours
        for host in hosts - ours:
            worker.drop(host)
        for host in ours:
            self.model.hosts[host].until = self.now + CLAIM_SECONDS

    def lease(self, data: st.DataObject) -> None:
        place, crawl = data.draw(WORKERS), data.draw(CRAWLS)
        worker = self.workers[place]
        # Mostly a host that the worker believes to own.
        host = data.draw(st.sampled_from([*sorted(worker.epochs) * 9, *HOSTS]))
        most = data.draw(st.integers(1, 3))
        if not worker.owns(self.model, host):
            with pytest.raises(ClaimLost):
                self.ledgers[place].lease(crawl, host, most)
            worker.drop(host)
            return
        expected = self.model.best(crawl, host, most)
        leases = self.ledgers[place].lease(crawl, host, most)
        assert [lease.url for lease in leases] == expected
        for lease in leases:
            known = self.model.urls[crawl, lease.url]
            assert (lease.depth, lease.attempts) == (known.depth, known.attempts)
            known.state = LEASED
            worker.live[lease.url_id] = lease
            worker.in_flight[lease.url_id, worker.epochs[host]] = (crawl, lease)
            others = [each for each in self.workers if each is not worker]
            assert not any(
                lease.url_id in other.live and other.owns(self.model, host) for other in others
            )

    def _drawn(self, data: st.DataObject, worker: Worker) -> list[Kept]:
        """Visits of what the worker leased, of each URL at most one."""
        keys = data.draw(
            st.lists(st.sampled_from(sorted(worker.in_flight)), min_size=1, max_size=4)
        )
        visits = {}
        for key in keys:
            crawl, lease = worker.in_flight[key]
            state, verdict = data.draw(st.sampled_from(ENDS))
            due_at = self.now + 30 if state is WAITING else None
            visits[key[0]] = key, visited(crawl, lease, state, verdict, data.draw(finds), due_at)
        return [kept for _, kept in visits.values()]

    def _is_live(self, worker: Worker, kept: Kept) -> bool:
        lease = kept.visit.lease
        return worker.owns(self.model, lease.host) and lease.url_id in worker.live

    def keep(self, data: st.DataObject) -> None:
        busy = [place for place in (0, 1) if self.workers[place].in_flight]
        if not busy:
            return
        place = data.draw(st.sampled_from(busy))
        worker, visits = self.workers[place], self._drawn(data, self.workers[place])
        self.units += 1
        unit, taught = f"unit-{self.units}", self._taught(data, worker)
        lost = {k.visit.lease.host for k in visits if not self._is_live(worker, k)}
        lost |= {m.host for m in taught.hosts if not worker.owns(self.model, m.host)}
        if lost:
            with pytest.raises(ClaimLost) as caught:
                self.ledgers[place].keep(unit, visits, taught, self.now, 0.0)
            assert caught.value.hosts == lost
            for host in lost:
                if not worker.owns(self.model, host):
                    worker.drop(host)
            return
        outcome = self.ledgers[place].keep(unit, visits, taught, self.now, 0.0)
        self.known_units[unit] = visits, outcome
        self._check_kept(visits, outcome)
        for memory in taught.hosts:
            self.model.hosts[memory.host].memory = memory
        for kept in visits:
            del worker.live[kept.visit.lease.url_id]
            for key in [key for key in worker.in_flight if key[0] == kept.visit.lease.url_id]:
                del worker.in_flight[key]

    def _taught(self, data: st.DataObject, worker: Worker) -> Taught:
        hosts = data.draw(st.sets(st.sampled_from(HOSTS), max_size=1)) & worker.epochs.keys()
        return Taught([HostMemory(host, self.now, 1.0, 0, 0, 0.0) for host in hosts])

    def _check_kept(self, visits: list[Kept], outcome: KeptUnit) -> None:
        last, pages = len(self.model.captures), self.model.pages.copy()
        for kept in visits:
            self.model.keep(kept)
        assert list(outcome.captures) == list(range(last + 1, len(self.model.captures) + 1))
        pages = {c: n - pages[c] for c, n in self.model.pages.items() if n != pages[c]}
        assert outcome.pages == pages
        hosts = set()
        for kept, admitted in zip(visits, outcome.admitted, strict=True):
            added = [item for item in kept.visit.found if self.model.add(kept.crawl, item)]
            assert admitted == len(added)
            hosts |= {(kept.crawl, item.host) for item in added}
        assert {tuple(each) for each in outcome.hosts} == hosts

    def keep_again(self, data: st.DataObject) -> None:
        if not self.known_units:
            return
        place = data.draw(WORKERS)
        unit = data.draw(st.sampled_from(sorted(self.known_units)))
        visits, first = self.known_units[unit]
        again: Any = self.ledgers[place].keep(unit, visits, Taught(), self.now, 0.0)
        assert (list(again.captures), again.pages) == (list(first.captures), first.pages)
        assert list(again.admitted) == list(first.admitted)
        # A worker that asks for a unit knows that its leases are over.
        for kept in visits:
            self.workers[place].live.pop(kept.visit.lease.url_id, None)

    def let_go(self, data: st.DataObject) -> None:
        place, hosts = data.draw(WORKERS), data.draw(st.sets(st.sampled_from(HOSTS), max_size=2))
        worker = self.workers[place]
        memories = [HostMemory(host, self.now, 2.0, 0, 0, 0.0) for host in sorted(hosts)]
        self.ledgers[place].let_go(hosts, memories)
        for memory in memories:
            if worker.owns(self.model, memory.host):
                self.model.end_leases(memory.host)
                host = self.model.hosts[memory.host]
                host.owner, host.was_left, host.memory = 0, False, memory
            worker.drop(memory.host)

    def release(self, data: st.DataObject) -> None:
        busy = [place for place in (0, 1) if self.workers[place].in_flight]
        if not busy:
            return
        place = data.draw(st.sampled_from(busy))
        worker = self.workers[place]
        key = data.draw(st.sampled_from(sorted(worker.in_flight)))
        crawl, lease = worker.in_flight[key]
        self.ledgers[place].release([lease])
        if lease.url_id in worker.live:
            if worker.owns(self.model, lease.host):
                self.model.urls[crawl, lease.url].state = PENDING
            del worker.live[lease.url_id]

    def wake(self, data: st.DataObject) -> None:
        crawl, place = data.draw(CRAWLS), data.draw(WORKERS)
        waiting = self.model.of(crawl, WAITING).values()
        due = [known for known in waiting if known.due_at <= self.now]
        later = [known.due_at for known in waiting if known.due_at > self.now]
        for known in due:
            known.state = PENDING
        expected = {known.host for known in due}, min(later, default=None)
        assert self.ledgers[place].wake(crawl, self.now) == expected

    def requeue(self, data: st.DataObject) -> None:
        crawl, place = data.draw(CRAWLS), data.draw(WORKERS)
        states = data.draw(st.sets(st.sampled_from(FINISHED), min_size=1))
        chosen = [k for k in self.model.of(crawl, *states).values() if not k.by_rule]
        assert self.ledgers[place].requeue(crawl, sorted(states)) == len(chosen)
        for known in chosen:
            known.state, known.attempts = PENDING, 0

    def crash(self, data: st.DataObject) -> None:
        place = data.draw(WORKERS)
        self.store.crash(self.ledgers.pop(place))
        self.workers.pop(place)
        self.start_worker(place)

    @invariant()
    def rows_are_those_of_the_model(self) -> None:
        stored = self.store.rows("SELECT crawl_id, url, state, attempts FROM urls")
        expected = [(*name, k.state, k.attempts) for name, k in self.model.urls.items()]
        assert sorted(stored) == sorted(expected)
        for crawl in (1, 2):
            left = self.model.of(crawl, PENDING, LEASED, WAITING)
            assert self.ledgers[crawl - 1].unfinished(crawl) == len(left)

    @invariant()
    def captures_are_numbered_in_the_order_of_commits(self) -> None:
        captures = list(self.ledgers[0].captures_after(0, 999))
        expected = [(n, crawl, url) for n, (crawl, url) in enumerate(self.model.captures, 1)]
        assert names_of(captures) == expected


def test_a_ledger_does_what_its_model_does(store: Store) -> None:
    # Not shrunk: with a database behind each try that takes minutes. Delete `phases` to debug.
    run_state_machine_as_test(
        lambda: LedgerHistory(store),
        settings=settings(
            max_examples=SEQUENCES,
            stateful_step_count=40,
            phases=[Phase.generate],
            deadline=None,
            database=None,
        ),
    )
