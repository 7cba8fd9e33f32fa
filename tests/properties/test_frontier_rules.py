"""The frontier's promises one by one: order, caps, shorter ways, second thoughts (G4, G5, G6)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl4r.frontier.priority import PRIORITIES, Strategy, breadth_first
from crawl4r.frontier.sqlite import SqliteFrontier
from crawl4r.model import Ending, Found, FoundBy, Lease, UrlState, Verdict
from crawl4r.storage.database import Database

CRAWL = 1

HOST = "e.org"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "state.db")
    yield opened
    opened.close()


@pytest.fixture
def frontier(database: Database) -> SqliteFrontier:
    return SqliteFrontier(database, CRAWL, breadth_first, caps={"section": 2})


def found(name: str, depth: int = 0, score: float = 1.0, host: str = HOST, **more: object) -> Found:
    return Found(
        f"http://{host}/{name}", host, depth, FoundBy.LINK, True, "allow", score=score, **more
    )


def refused(name: str, rule: str = "deny /") -> Found:
    return found(name)._replace(admitted=False, rule=rule)


def names(leases: list[Lease]) -> list[str]:
    return [lease.url.rpartition("/")[2] for lease in leases]


def state(database: Database, name: str) -> tuple[str, str | None, str | None]:
    sql = "SELECT state, verdict, reason FROM urls WHERE url = ?"
    return database.read(sql, (f"http://{HOST}/{name}",))[0]


def ended(lease: Lease, ending: UrlState, due_at: float | None = None) -> Ending:
    verdict = Verdict.OK if ending is UrlState.DONE else Verdict.NETWORK_ERROR
    return Ending(lease.url_id, ending, verdict, "", due_at)


@pytest.mark.parametrize(
    ("strategy", "order"),
    [
        (Strategy.BFS, ["top", "better", "worse", "deep"]),
        (Strategy.DFS, ["deep", "better", "worse", "top"]),
        (Strategy.BEST_FIRST, ["better", "deep", "top", "worse"]),
    ],
)
def test_each_strategy_has_its_order(
    database: Database, strategy: Strategy, order: list[str]
) -> None:
    frontier = SqliteFrontier(database, CRAWL, PRIORITIES[strategy])
    frontier.add(
        [
            found("worse", 1, 0.1),
            found("deep", 2, 0.9),
            found("better", 1, 1.0),
            found("top", 0, 0.5),
        ],
        None,
        0.0,
    )
    assert names(frontier.lease(HOST, 9)) == order


def test_ties_go_by_discovery(frontier: SqliteFrontier) -> None:
    frontier.add([found("b", 1), found("a", 1), found("c", 1)], None, 0.0)
    assert names(frontier.lease(HOST, 2)) == ["b", "a"]
    assert names(frontier.lease(HOST, 2)) == ["c"]
    assert frontier.lease(HOST, 2) == []


def test_a_host_gets_only_its_own(frontier: SqliteFrontier) -> None:
    hosts = frontier.add([found("a"), found("b", host="f.org")], None, 0.0)
    assert hosts == {HOST, "f.org"}
    assert frontier.hosts_pending("", 9) == [HOST, "f.org"]
    assert frontier.hosts_pending(HOST, 9) == ["f.org"]
    assert names(frontier.lease("f.org", 9)) == ["b"]
    assert frontier.lease("unknown.org", 9) == []


def test_a_known_url_is_known_once(frontier: SqliteFrontier) -> None:
    assert frontier.add([found("a"), found("a")], None, 0.0) == {HOST}
    assert frontier.add([found("a")], None, 0.0) == set()
    (lease,) = frontier.lease(HOST, 9)
    assert frontier.add([found("a")], None, 0.0) == set()
    frontier.settle([ended(lease, UrlState.DONE)])
    assert frontier.add([found("a")], None, 0.0) == set()
    assert frontier.count_unfinished() == 0


def test_a_shorter_way_to_a_pending_url_counts(frontier: SqliteFrontier) -> None:
    frontier.add([found("root"), found("near", 2), found("far", 5)], None, 0.0)
    (root,) = frontier.lease(HOST, 1)
    assert frontier.add([found("far", 1)], root.url_id, 0.0) == {HOST}
    assert frontier.add([found("far", 3)], None, 0.0) == set()
    first, second = frontier.lease(HOST, 9)
    assert (names([first]), first.depth, first.referrer) == (["far"], 1, root.url)
    assert names([second]) == ["near"]


def test_a_url_that_was_refused_is_reconsidered_when_it_is_admitted(
    frontier: SqliteFrontier, database: Database
) -> None:
    frontier.add([refused("a"), refused("deep", "depth 9 is past the limit of 3")], None, 0.0)
    assert state(database, "a") == ("refused", "out-of-scope", "deny /")
    assert state(database, "deep")[:2] == ("refused", "capped")
    assert frontier.add([refused("a")], None, 0.0) == set()
    assert frontier.add([found("a", 7), found("deep", 2)], None, 0.0) == {HOST}
    assert state(database, "a") == ("pending", None, None)


def test_what_robots_refused_is_not_reconsidered_by_a_link(
    frontier: SqliteFrontier, database: Database
) -> None:
    frontier.add([found("a")], None, 0.0)
    (lease,) = frontier.lease(HOST, 1)
    frontier.settle([Ending(lease.url_id, UrlState.REFUSED, Verdict.ROBOTS_DENIED, "line 3")])
    assert frontier.add([found("a", 0)], None, 0.0) == set()
    assert frontier.requeue([UrlState.REFUSED]) == 1
    assert state(database, "a")[0] == "pending"


def test_a_refusal_never_takes_an_admitted_url_away(
    frontier: SqliteFrontier, database: Database
) -> None:
    frontier.add([found("a")], None, 0.0)
    frontier.add([refused("a")], None, 0.0)
    assert state(database, "a")[0] == "pending"


def test_a_group_admits_as_many_as_its_cap(frontier: SqliteFrontier, database: Database) -> None:
    frontier.add([found(name, groups=["section news"]) for name in "abc"], None, 0.0)
    frontier.add([found("d", groups=["section blog"]), found("e", groups=["other x"])], None, 0.0)
    assert names(frontier.lease(HOST, 9)) == ["a", "b", "d", "e"]
    assert state(database, "c") == ("refused", "capped", "cap of 2 reached for section news")


def test_one_url_counts_once_however_often_it_is_found(
    frontier: SqliteFrontier, database: Database
) -> None:
    for depth in (5, 4, 3):
        frontier.add([found("a", depth, groups=["section news"])], None, 0.0)
    frontier.add([found("b", groups=["section news"])], None, 0.0)
    assert state(database, "b")[0] == "pending"


def test_a_shorter_way_counts_also_when_its_group_is_full(frontier: SqliteFrontier) -> None:
    full = [found(name, 5, groups=["section news"]) for name in "ab"]
    frontier.add(full, None, 0.0)
    frontier.add([found("b", 1, groups=["section news"])], None, 0.0)
    assert [lease.depth for lease in frontier.lease(HOST, 9)] == [1, 5]


def test_a_retry_waits_until_it_is_due(frontier: SqliteFrontier) -> None:
    frontier.add([found("a"), found("b")], None, 0.0)
    a, b = frontier.lease(HOST, 2)
    frontier.settle([ended(a, UrlState.WAITING, 50.0), ended(b, UrlState.WAITING, 90.0)])
    assert frontier.wake(49.0) == (set(), 50.0)
    assert frontier.wake(50.0) == ({HOST}, 90.0)
    (again,) = frontier.lease(HOST, 9)
    assert (names([again]), again.attempts) == (["a"], 1)
    assert frontier.wake(90.0) == ({HOST}, None)


def test_attempts_are_counted_until_an_answer_comes(frontier: SqliteFrontier) -> None:
    frontier.add([found("a")], None, 0.0)
    for attempt in range(3):
        (lease,) = frontier.lease(HOST, 1)
        assert lease.attempts == attempt
        frontier.settle([ended(lease, UrlState.WAITING, 0.0)])
        frontier.wake(1.0)
    frontier.settle([ended(frontier.lease(HOST, 1)[0], UrlState.DONE)])
    assert frontier.requeue([UrlState.DONE]) == 1
    assert frontier.lease(HOST, 1)[0].attempts == 0


def test_requeue_takes_any_iterable_of_urls(frontier: SqliteFrontier) -> None:
    frontier.add([found("a"), found("b")], None, 0.0)
    a, b = frontier.lease(HOST, 2)
    frontier.settle([ended(a, UrlState.DONE), ended(b, UrlState.FAILED)])
    urls = (lease.url for lease in (a, b))
    assert frontier.requeue([UrlState.DONE, UrlState.FAILED], urls) == 2


def test_a_visit_that_found_content_is_a_revisit_next_time(
    frontier: SqliteFrontier, database: Database
) -> None:
    frontier.add([found("a")], None, 0.0)
    (lease,) = frontier.lease(HOST, 1)
    assert (lease.is_revisit, lease.validators) == (False, None)
    frontier.settle([ended(lease, UrlState.DONE)._replace(capture=1, content=1)])
    frontier.requeue([UrlState.DONE], [lease.url])
    assert frontier.lease(HOST, 1)[0].is_revisit
