"""Several crawls in one store at the same time: one process crawls, the others show how theirs go."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawl4r.storage.lock import holder_of
from tests.interfaces.cli.running import Background, run, wait_until
from tests.polite.access import SLACK, gaps
from tests.site.process import SiteProcess

HOSTS = ["127.0.6.1", "127.0.6.2"]
OPTIONS = ("--rate", "0", "--allow-private", "127.0.0.0/8", "--json")


@pytest.fixture
def site() -> Iterator[SiteProcess]:
    with SiteProcess(hosts=HOSTS) as running:
        yield running


def start(workspace: Path, *words: str, **more: Any) -> Background:
    return Background("crawl", *words, "-w", workspace, *OPTIONS, **more)


def crawls(workspace: Path) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in run("crawls", "-w", workspace, "--json").lines}


def begins(workspace: Path, name: str) -> None:
    """Wait until a crawl runs."""
    wait_until(lambda: crawls(workspace).get(name, {}).get("state") == "running")


def pages_in(workspace: Path) -> Counter[str]:
    return Counter(
        row["url"] for row in run("pages", "-w", workspace, "--json", "--state", "done").lines
    )


@pytest.fixture
def held(site: SiteProcess, tmp_path: Path) -> Iterator[Background]:
    """A crawl called `first` that waits for its site, and logs what happens in its process."""
    site.hold(HOSTS[0], after=2)
    with start(tmp_path, site.url("/site/5/", HOSTS[0]), "--name", "first", "--verbose") as first:
        wait_until(lambda: site.held(HOSTS[0]) > 0)
        yield first


def test_a_second_crawl_runs_beside_the_first_and_says_how_it_ended(
    site: SiteProcess, tmp_path: Path, held: Background
) -> None:
    second = run("crawl", site.url("/site/6/", HOSTS[1]), "-w", tmp_path, *OPTIONS)
    assert second.code == 0, second.err
    assert (second.json["ended"], second.json["pages"]) == ("nothing left", 6)
    listed = crawls(tmp_path)
    assert [row["state"] for row in listed.values()] == ["running", "done"]
    assert listed[f"{HOSTS[1]}:{site.port}"]["pages"] == 6
    site.release(HOSTS[0])
    first = held.end()
    assert (first.code, first.json["pages"]) == (0, 5)
    assert not list((tmp_path / "orders").glob("*.*r"))


def test_when_the_first_crawl_ends_the_second_goes_on_in_its_own_process(
    site: SiteProcess, tmp_path: Path, held: Background
) -> None:
    site.hold(HOSTS[1], after=2)
    with start(tmp_path, site.url("/site/6/", HOSTS[1]), "--name", "second") as second:
        wait_until(lambda: site.held(HOSTS[1]) > 0)
        site.release(HOSTS[0])
        assert crawls(tmp_path)["second"]["state"] == "running"
        held.send(signal.SIGINT)
        site.release(HOSTS[1])
        held.end()
        answer = second.end()
    assert (answer.code, answer.json["pages"]) == (0, 6)
    assert set(pages_in(tmp_path).values()) == {1}


def test_when_the_first_process_is_killed_the_second_takes_the_store(
    site: SiteProcess, tmp_path: Path, held: Background
) -> None:
    site.hold(HOSTS[1], after=2)
    with start(tmp_path, site.url("/site/6/", HOSTS[1]), "--name", "second") as second:
        wait_until(lambda: site.held(HOSTS[1]) > 0)
        held.send(signal.SIGKILL)
        wait_until(lambda: holder_of(tmp_path) == second.process.pid)
        site.release(HOSTS[1])
        assert second.end().json["pages"] == 6
    assert crawls(tmp_path)["first"]["state"] == "stopped"
    site.release(HOSTS[0])
    assert run("resume", "--name", "first", "-w", tmp_path, "--json").json["pages"] == 5


def test_a_guest_that_is_killed_ends_its_crawl_alone(
    site: SiteProcess, tmp_path: Path, held: Background
) -> None:
    site.hold(HOSTS[1], after=2)
    with start(tmp_path, site.url("/site/6/", HOSTS[1]), "--name", "second") as second:
        wait_until(lambda: site.held(HOSTS[1]) > 0)
        second.send(signal.SIGKILL)
        wait_until(lambda: crawls(tmp_path)["second"]["state"] == "stopped")
    site.release(HOSTS[0])
    assert held.end().json["pages"] == 5


def test_a_guest_is_stopped_like_any_crawl(
    site: SiteProcess, tmp_path: Path, held: Background
) -> None:
    site.hold(HOSTS[1], after=2)
    with start(tmp_path, site.url("/site/6/", HOSTS[1]), "--name", "second") as second:
        wait_until(lambda: site.held(HOSTS[1]) > 0)
        second.send(signal.SIGINT)
        held.wait_until_it_says("crawl_stopping")
        site.release(HOSTS[1])
        answer = second.end()
    assert (answer.code, answer.json["ended"]) == (3, "stopped")
    assert held.process.poll() is None


@pytest.mark.parametrize("name", ["first", "second"])
def test_one_crawl_of_a_store_is_stopped_by_its_name(
    site: SiteProcess, tmp_path: Path, held: Background, name: str
) -> None:
    site.hold(HOSTS[1], after=2)
    with start(tmp_path, site.url("/site/6/", HOSTS[1]), "--name", "second") as second:
        wait_until(lambda: site.held(HOSTS[1]) > 0)
        run("stop", "-w", tmp_path, "--crawl", name)
        stopped, other = (held, second) if name == "first" else (second, held)
        held.wait_until_it_says("crawl_stopping")
        for host in HOSTS:
            site.release(host)
        assert stopped.end().json["ended"] == "stopped"
        assert other.end().json["ended"] == "nothing left"


def test_one_crawl_of_a_store_is_held_by_its_name_and_goes_on(
    site: SiteProcess, tmp_path: Path, held: Background
) -> None:
    run("pause", "-w", tmp_path, "--crawl", "first")
    held.wait_until_it_says("crawl_paused")
    site.release(HOSTS[0])
    second = run("crawl", site.url("/site/6/", HOSTS[1]), "-w", tmp_path, *OPTIONS)
    assert second.json["pages"] == 6
    assert crawls(tmp_path)["first"]["pages"] < 5
    run("resume", "-w", tmp_path, "--crawl", "first")
    assert held.end().json["pages"] == 5


def test_a_page_that_both_want_is_asked_for_once(
    site: SiteProcess, tmp_path: Path, held: Background
) -> None:
    url = site.url("/site/5/", HOSTS[0])
    with start(tmp_path, url, "--name", "second", "--max-pages", "5") as second:
        begins(tmp_path, "second")
        site.release(HOSTS[0])
        answers = [held.end(), second.end()]
    assert [answer.json["pages"] for answer in answers] == [5, 5]
    asked = Counter(record.path for record in site.requests() if "/site/" in record.path)
    assert set(asked.values()) == {1}, asked


def test_the_more_polite_crawl_sets_the_pace_of_a_host_for_both(
    site: SiteProcess, tmp_path: Path, held: Background
) -> None:
    before = len(site.requests())
    second = ("--name", "second", "--fresh-for", "0")
    with Background(
        "crawl",
        site.url("/site/6/", HOSTS[0]),
        "-w",
        tmp_path,
        "--rate",
        "5",
        *OPTIONS[2:],
        *second,
    ) as calm:
        begins(tmp_path, "second")
        site.release(HOSTS[0])
        assert [held.end().code, calm.end().code] == [0, 0]
    requests = [record for record in site.requests()[before:] if "/site/6/" in record.path]
    assert min(gaps(requests)) >= 0.2 - SLACK
    assert {record.in_flight for record in site.requests()[before + 1 :]} == {1}


def test_the_same_crawl_twice_is_refused_by_name(
    site: SiteProcess, tmp_path: Path, held: Background
) -> None:
    for words in ([site.url("/site/5/", HOSTS[0])], ["--name", "first"], []):
        again = run("crawl", *words, "-w", tmp_path, *OPTIONS)
        assert again.code == 2
        assert f"the crawl first runs already, in process {held.process.pid}" in again.err
    assert list(crawls(tmp_path)) == ["first"]


def test_what_a_guest_cannot_do_is_told_by_its_own_process(
    site: SiteProcess, tmp_path: Path, held: Background
) -> None:
    url = site.url("/site/6/", HOSTS[1])
    answer = run("crawl", url, "-w", tmp_path, *OPTIONS, "--deny", "/site/")
    assert answer.code == 2
    assert "is out of scope" in answer.err
    assert held.process.poll() is None
    assert run("stop", "-w", tmp_path, "--crawl", "none").code == 2
    assert run("crawls", "delete", "first", "-w", tmp_path).code == 2


def test_another_command_that_needs_the_store_is_refused_by_name(
    tmp_path: Path, held: Background
) -> None:
    answer = run("reprocess", "-w", tmp_path)
    assert answer.code == 2
    assert f"(process {held.process.pid}) is using" in answer.err


def test_what_lies_among_the_requests_and_is_none_is_removed(
    site: SiteProcess, tmp_path: Path
) -> None:
    """A workspace may come from another person."""
    orders = tmp_path / "orders"
    orders.mkdir()
    os.mkfifo(orders / "1-a.order")
    (orders / "3-c.order").write_text('{"settings": {}, "seeds": ["http://127.0.0.1/"]}')
    answer = run("crawl", site.url("/site/5/", HOSTS[0]), "-w", tmp_path, *OPTIONS)
    assert answer.code == 0, answer.err
    assert answer.json["pages"] == 5
    assert list(crawls(tmp_path)) == [f"{HOSTS[0]}:{site.port}"]
