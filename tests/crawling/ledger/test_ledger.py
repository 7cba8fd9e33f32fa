"""What a ledger promises, on each of its databases."""

from __future__ import annotations

import pytest

from crawl4r.crawling.ledger.port import ClaimLost, Kept, Lesson, Taught
from crawl4r.errors import Crawl4rError
from crawl4r.model import Ending, FoundBy, HostMemory, Lease, UrlState, Verdict, Visit
from crawl4r.storage.tables import RobotsRecord
from tests.crawling.ledger.stores import CLAIM_SECONDS, Store, found, visited

A, B = "http://a.org/", "http://b.org/"
NOTHING = Taught()


def states(store: Store, crawl: int = 1) -> dict[str, str]:
    return dict(store.rows(f"SELECT url, state FROM urls WHERE crawl_id = {crawl}"))


def test_a_host_belongs_to_one_worker_at_a_time(store: Store) -> None:
    store.begin_crawl(1)
    one, other = store.worker(), store.worker()
    assert one.add(1, [found(A), found(B)], 0.0) == {"a.org", "b.org"}
    (first,) = one.claim(1, 0.0)
    (second,) = other.claim(5, 0.0)
    assert {first.host, second.host} == {"a.org", "b.org"}
    assert one.claim(5, 1.0) == other.claim(5, 1.0) == []
    assert (first.until, first.memory, first.is_inherited) == (CLAIM_SECONDS, None, False)
    with pytest.raises(ClaimLost, match=second.host):
        one.lease(1, second.host, 1)
    assert one.renew([first.host, second.host], 30.0) == {first.host}
    assert other.claim(5, CLAIM_SECONDS + 1) != []  # its own, which it did not renew
    assert one.renew([first.host], 80.0) == {first.host}


def test_a_crawl_that_does_not_run_has_no_hosts_to_claim(store: Store) -> None:
    store.begin_crawl(1, "stopped")
    store.begin_crawl(2, "stopped")
    worker = store.worker()
    worker.add(1, [found(A)], 0.0)
    worker.add(2, [found(A), found(B)], 0.0)
    assert worker.claim(5, 0.0) == []
    store.begin_crawl(1)
    assert [claim.host for claim in worker.claim(5, 0.0)] == ["a.org"]
    store.begin_crawl(2)
    assert [claim.host for claim in worker.claim(5, 0.0)] == ["b.org"]


def test_many_hosts_are_claimed_once_each(store: Store) -> None:
    store.begin_crawl(1)
    store.begin_crawl(2)
    one, other = store.worker(), store.worker()
    for crawl in (1, 2):
        one.add(crawl, [found(f"http://h{n}.org/") for n in range(250)], 0.0)
    taken = [claim.host for claim in (*one.claim(130, 0.0), *other.claim(500, 0.0))]
    assert len(taken) == len(set(taken)) == 250


def test_what_a_dead_worker_held_is_leased_again_after_its_time(store: Store) -> None:
    store.begin_crawl(1)
    one, other = store.worker(), store.worker()
    one.add(1, [found(A)], 0.0)
    (before,) = one.claim(1, 0.0)
    (lease,) = one.lease(1, "a.org", 5)  # nothing pending is left
    store.crash(one)
    assert other.claim(1, CLAIM_SECONDS - 1) == []
    (after,) = other.claim(1, CLAIM_SECONDS)
    assert after.epoch > before.epoch and after.is_inherited
    assert [again.url for again in other.lease(1, "a.org", 5)] == [lease.url]


def test_a_host_that_was_let_go_is_free_with_what_is_remembered(store: Store) -> None:
    store.begin_crawl(1)
    one, other = store.worker(), store.worker()
    one.add(1, [found(A)], 0.0)
    one.claim(1, 0.0)
    one.lease(1, "a.org", 1)
    memory = HostMemory("a.org", 9.0, 2.0, 1, 0, 0.0)
    one.let_go(["a.org"], [memory, HostMemory("b.org", 1.0, 0.0, 0, 0, 0.0)])
    (claim,) = other.claim(1, 1.0)
    assert (claim.memory, claim.is_inherited) == (memory, False)
    assert len(other.lease(1, "a.org", 1)) == 1
    one.let_go(["a.org"], [HostMemory("a.org", 0.0, 0.0, 7, 0, 0.0)])
    assert other.renew(["a.org"], 2.0) == {"a.org"}
    with pytest.raises(ClaimLost):
        one.keep("late", [], Taught(hosts=[memory]), 3.0, 0.0)


def test_a_unit_makes_all_durable_that_visits_gave(store: Store) -> None:
    store.begin_crawl(1)
    store.begin_crawl(2)
    worker = store.worker()
    for crawl in (1, 2):
        worker.add(crawl, [found(A), found(A + "2"), found(A + "3")], 0.0)
    worker.claim(1, 0.0)
    one, two, three = worker.lease(1, "a.org", 3)
    (other, *_) = worker.lease(2, "a.org", 1)
    memory = HostMemory("a.org", 5.0, 0.0, 0, 0, 0.0)
    robots = RobotsRecord("http://a.org", "rules", 200, b"\xff\0", 1.0, 2.0)
    taught = Taught(
        [memory],
        [robots],
        [Lesson(0, "a.org", "places", "/x", {"a": 1}), Lesson(1, "b.org", "traps", "", None)],
        [(1, "visits", 2), (2, "visits", 1), (1, "visits", 1)],
    )
    links = [found(B, 2), found(A, 2), found("http://c.org/", 2, admitted=False, rule="scope: c")]
    kept = worker.keep(
        "unit",
        [
            visited(1, one, links=links),
            visited(1, two, UrlState.WAITING, Verdict.NETWORK_ERROR, due_at=50.0),
            visited(2, other, links=links[:1]),
            visited(1, three, verdict=Verdict.HTTP_ERROR, status=404),
        ],
        taught,
        now=7.0,
        offset=100.0,
    )
    assert list(kept.captures) == [1, 2, 3]
    assert [tuple(each) for each in kept.hosts] == [(1, "b.org"), (2, "b.org")]
    assert (list(kept.admitted), kept.pages) == ([1, 0, 1, 0], {1: 1, 2: 1})
    assert states(store) == {
        A: "done",
        A + "2": "waiting",
        A + "3": "done",
        B: "pending",
        "http://c.org/": "refused",
    }
    assert (worker.unfinished(1), worker.unfinished(2)) == (2, 3)
    captures = worker.captures_after(0, 9)
    assert [(c.id, c.url, c.crawl, c.status) for c in captures] == [
        (1, A, 1, 200),
        (2, A, 2, 200),
        (3, A + "3", 1, 404),
    ]
    assert captures[0].sha256 == "ab" * 32 and list(captures[0].headers)[1] == ("x", "é")
    assert [c.id for c in worker.captures_after(1, 1)] == [2]
    tallies = store.rows(
        "SELECT crawl_id, name, value FROM tallies WHERE crawl_id > 0 ORDER BY 1, 2"
    )
    expected = [(1, "pages", 1), (1, "visits", 3), (2, "pages", 1), (2, "visits", 1)]
    assert tallies == expected
    assert store.rows("SELECT body FROM robots") == [(robots.body,)]
    assert store.rows("SELECT kind, lesson FROM lessons") == [("places", '{"a": 1}')]
    assert store.rows("SELECT at, status, reason FROM attempts") == [(7.0, None, "timeout: a test")]
    assert worker.wake(1, 49.0) == (set(), 50.0)
    assert worker.wake(1, 50.0) == ({"a.org"}, None)
    (retry,) = worker.lease(1, "a.org", 5)
    assert (retry.url, retry.attempts) == (A + "2", 1)


def test_a_unit_that_is_kept_again_changes_nothing_and_gives_its_outcome(store: Store) -> None:
    store.begin_crawl(1)
    worker = store.worker()
    worker.add(1, [found(A)], 0.0)
    worker.claim(1, 0.0)
    (lease,) = worker.lease(1, "a.org", 1)
    unit = [visited(1, lease, links=[found(B)])]
    first = worker.keep("unit", unit, Taught(tallies=[(1, "visits", 1)]), 1.0, 0.0)
    worker.let_go(["a.org"])
    again = worker.keep("unit", unit, Taught(tallies=[(1, "visits", 1)]), 2.0, 0.0)
    assert (list(again.captures), list(again.admitted), again.pages) == ([1], [1], {1: 1})
    assert list(first.captures) == [1]
    assert len(worker.captures_after(0, 9)) == 1
    assert store.rows("SELECT value FROM tallies WHERE name = 'visits' AND crawl_id = 1") == [(1,)]


def test_what_a_former_owner_keeps_is_refused_as_a_whole(store: Store) -> None:
    store.begin_crawl(1)
    zombie, heir = store.worker(), store.worker()
    zombie.add(1, [found(A), found(B)], 0.0)
    zombie.claim(2, 0.0)
    (lost,) = zombie.lease(1, "a.org", 1)
    (held,) = zombie.lease(1, "b.org", 1)
    zombie.renew(["b.org"], 50.0)
    heir.claim(1, 70.0)
    with pytest.raises(ClaimLost) as caught:
        zombie.keep("unit", [visited(1, held), visited(1, lost)], NOTHING, 71.0, 0.0)
    assert caught.value.hosts == {"a.org"}
    assert heir.captures_after(0, 9) == []
    assert list(zombie.keep("other", [visited(1, held)], NOTHING, 72.0, 0.0).captures) == [1]
    zombie.release([lost])
    (again,) = heir.lease(1, "a.org", 1)
    heir.keep("third", [visited(1, again)], NOTHING, 73.0, 0.0)
    assert states(store) == {A: "done", B: "done"}


def test_a_visit_from_an_earlier_claim_on_the_same_host_is_refused(store: Store) -> None:
    store.begin_crawl(1)
    slow, quick = store.worker(), store.worker()
    slow.add(1, [found(A), found(A + "2")], 0.0)
    slow.claim(1, 0.0)
    (old,) = slow.lease(1, "a.org", 1)
    quick.claim(1, 100.0)
    (lease,) = quick.lease(1, "a.org", 1)
    quick.keep("quick", [visited(1, lease)], NOTHING, 100.0, 0.0)
    quick.let_go(["a.org"])
    assert len(slow.claim(1, 101.0)) == 1
    with pytest.raises(ClaimLost):
        slow.keep("slow", [visited(1, old)], NOTHING, 101.0, 0.0)
    assert len(slow.captures_after(0, 9)) == 1


def test_released_urls_are_leased_again_in_their_order(store: Store) -> None:
    store.begin_crawl(1)
    worker = store.worker()
    worker.add(1, [found(A + str(n), depth=n % 3) for n in range(6)], 0.0)
    worker.claim(1, 0.0)
    first = worker.lease(1, "a.org", 3)
    assert [lease.url[-1] for lease in first] == ["0", "3", "1"]
    worker.release(first[:1])
    assert [lease.url[-1] for lease in worker.lease(1, "a.org", 2)] == ["0", "4"]


def test_requeued_urls_are_pending_without_what_rules_refused(store: Store) -> None:
    store.begin_crawl(1)
    worker = store.worker()
    worker.add(1, [found(A), found(A + "x", admitted=False, rule="scope: no")], 0.0)
    worker.add(1, [found(A + "guess", by=FoundBy.PATTERN)], 0.0)
    worker.claim(1, 0.0)
    page, guess = worker.lease(1, "a.org", 5)
    lost = visited(1, guess, verdict=Verdict.HTTP_ERROR, status=404)
    worker.keep("unit", [visited(1, page), lost], NOTHING, 0.0, 0.0)
    assert worker.requeue(1, [UrlState.DONE, UrlState.REFUSED]) == 1
    (again,) = worker.lease(1, "a.org", 5)
    assert (again.url, again.is_revisit, again.was_answered) == (A, True, True)
    assert again.validators is not None and again.content == 1
    confirmed = visited(1, again, verdict=Verdict.NOT_MODIFIED, status=304, fetched_at=9.0)
    worker.keep("again", [confirmed], NOTHING, 9.0, 0.0)
    (_, _, last) = worker.captures_after(0, 9)
    assert last.sha256 == "ab" * 32, "a 304 confirms the content that its validators belong to"
    seen = store.rows("SELECT visits, changes, still FROM revisits")
    assert seen == [(1, 0, 8.0)]


def test_an_answer_of_another_crawl_is_taken_without_a_capture(store: Store) -> None:
    store.begin_crawl(1)
    store.begin_crawl(2)
    worker = store.worker()
    worker.add(1, [found(A)], 0.0)
    worker.add(2, [found(A)], 0.0)
    worker.claim(1, 0.0)
    (own,) = worker.lease(1, "a.org", 1)
    worker.keep("one", [visited(1, own)], NOTHING, 0.0, 0.0)
    (other,) = worker.lease(2, "a.org", 1)
    assert (other.content, other.is_read, other.is_revisit) == (1, False, False)
    ending = Ending(other.url_id, UrlState.DONE, Verdict.OK, "", capture=1, content=1)
    kept = worker.keep("two", [Kept(2, Visit(other, ending))], NOTHING, 1.0, 0.0)
    assert (kept.captures, kept.pages) == ([], {2: 1})
    assert worker.requeue(2, [UrlState.DONE]) == 1
    (again,) = worker.lease(2, "a.org", 1)
    assert (again.content, again.is_read, again.is_revisit) == (1, True, True)
    assert len(worker.captures_after(0, 9)) == 1


def test_a_unit_is_forgotten_after_its_hour(store: Store) -> None:
    store.begin_crawl(1)
    worker = store.worker()
    worker.claim(1, 5.0)
    worker.keep("unit", [], Taught(tallies=[(1, "visits", 1)]), 6.0, 0.0)
    worker.claim(1, 3_000.0)
    assert store.rows("SELECT count(*) FROM units") == [(1,)]
    worker.claim(1, 9_000.0)
    assert store.rows("SELECT count(*) FROM units") == [(0,)]


def test_a_url_of_any_length_and_text_of_any_letters_is_kept(store: Store) -> None:
    store.begin_crawl(1)
    worker = store.worker()
    url = A + "x" * 20_000
    worker.add(1, [found(url, rule="é\U0001f600")], 0.0)
    worker.claim(1, 0.0)
    (lease,) = worker.lease(1, "a.org", 1)
    strange = visited(1, lease, headers=[("x", "\0\x80")], reason="é \\u0000")
    worker.keep("unit", [strange], NOTHING, 0.0, 0.0)
    (capture,) = worker.captures_after(0, 1)
    assert capture.url == url and capture.reason == "é \\u0000"
    assert list(capture.headers) == [("x", "\0\x80")]


def test_a_lease_without_a_claim_is_refused(store: Store) -> None:
    store.begin_crawl(1)
    worker = store.worker()
    worker.add(1, [found(A)], 0.0)
    with pytest.raises(ClaimLost) as caught:
        worker.lease(1, "a.org", 1)
    assert isinstance(caught.value, Crawl4rError)
    made_up = Lease(1, A, "a.org", 0)
    with pytest.raises(ClaimLost):
        worker.keep("unit", [visited(1, made_up)], NOTHING, 0.0, 0.0)
    worker.release([made_up])
    assert worker.renew(["a.org"], 0.0) == set()
    assert states(store) == {A: "pending"}
