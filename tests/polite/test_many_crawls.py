"""Five crawls at once in one store, over hosts that they share: one budget a host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import crawl4r
from tests.interfaces.cli.running import PATIENCE, Background
from tests.polite.access import assert_polite
from tests.site.process import SiteProcess

HOSTS = [f"127.0.7.{number}" for number in range(1, 21)]
CRAWLS = 5
PAGES = 3  # of each host
DELAY = 0.2  # seconds


@pytest.fixture
def site() -> Iterator[SiteProcess]:
    with SiteProcess(hosts=HOSTS) as running:
        yield running


def test_five_crawls_over_twenty_hosts_are_as_polite_as_one(
    site: SiteProcess, tmp_path: Path
) -> None:
    seeds = [site.url(f"/site/{PAGES}/", host) for host in HOSTS]
    options = ("--rate", str(1 / DELAY), "--allow-private", "127.0.0.0/8", "--json")
    with ExitStack() as stack:
        running = [
            stack.enter_context(
                Background("crawl", *seeds, "-w", tmp_path, "--name", f"crawl-{number}", *options)
            )
            for number in range(CRAWLS)
        ]
        for each in running:
            each.process.wait(4 * PATIENCE)
        answers = [each.end() for each in running]
    assert [answer.code for answer in answers] == [0] * CRAWLS
    assert [answer.json["pages"] for answer in answers] == [PAGES * len(HOSTS)] * CRAWLS
    requests = site.requests()
    assert_polite(requests, DELAY)
    asked = Counter((record.host, record.path) for record in requests)
    assert {times for (_, path), times in asked.items() if "/site/" in path} == {1}
    assert {times for (_, path), times in asked.items() if path == "/robots.txt"} == {1}
    with crawl4r.open(tmp_path, read_only=True) as opened:
        assert [crawl.pages for crawl in opened.crawls()] == [PAGES * len(HOSTS)] * CRAWLS
        assert opened.captures.last_id() == PAGES * len(HOSTS)
