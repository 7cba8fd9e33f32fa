"""kill -9 of processes that crawl in one store together: nothing lost, nothing doubled."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import crawl4r
from crawl4r.storage.lock import holder_of
from tests.faults.whole import metadata_lines
from tests.interfaces.cli.running import Background, run, wait_until
from tests.site.pages import page_path
from tests.site.process import SiteProcess

HOSTS = [f"127.0.8.{number}" for number in range(1, 5)]
NAMES = [f"crawl-{number}" for number in range(5)]
KILLS = int(os.environ.get("CRAWL4R_KILLS", "20"))
PASS = 2  # requests of each host between two kills
PAGES = PASS * KILLS + 20  # of each host: no crawl is over before the last kill
OPTIONS = ("--rate", "0", "--allow-private", "127.0.0.0/8", "--json")


@pytest.fixture
def site() -> Iterator[SiteProcess]:
    with SiteProcess(hosts=HOSTS) as running:
        yield running


class _Commands:
    """The commands of five crawls, each begun again when it was killed."""

    def __init__(self, site: SiteProcess, workspace: Path, stack: ExitStack) -> None:
        self._seeds = [site.url(f"/site/{PAGES}/", host) for host in HOSTS]
        self._workspace = workspace
        self._stack = stack
        self.running: dict[str, Background] = {}

    def start_missing(self) -> None:
        for name in NAMES:
            known = self.running.get(name)
            if known is None or known.process.poll() is not None:
                words = ("crawl", *self._seeds, "-w", self._workspace, "--name", name, *OPTIONS)
                self.running[name] = self._stack.enter_context(Background(*words))

    def kill(self, *, is_host: bool, chance: random.Random) -> None:
        """The process that crawls, or one of those that wait for it."""
        host = holder_of(self._workspace)
        victims = [
            each
            for each in self.running.values()
            if each.process.poll() is None and (each.process.pid == host) == is_host
        ]
        if victims:
            victim = chance.choice(victims)
            victim.send(signal.SIGKILL)
            victim.process.wait()

    def end(self) -> None:
        for each in self.running.values():
            answer = each.end()
            assert answer.code == 0, answer.err


def test_crawls_killed_again_and_again_lose_and_double_nothing(
    site: SiteProcess, tmp_path: Path
) -> None:
    chance = random.Random(20)
    with ExitStack() as stack:
        commands = _Commands(site, tmp_path, stack)
        for kill in range(KILLS):
            for host in HOSTS:
                site.hold(host, after=PASS)
            commands.start_missing()
            wait_until(lambda: all(site.held(host) for host in HOSTS))
            commands.kill(is_host=kill % 2 == 0, chance=chance)
            for host in HOSTS:
                site.release(host)
        commands.start_missing()
        commands.end()
    urls = {site.url(page_path(PAGES, n), host) for host in HOSTS for n in range(PAGES)}
    with crawl4r.open(tmp_path, read_only=True) as opened:
        assert {crawl.name: crawl.pages for crawl in opened.crawls()} == dict.fromkeys(
            NAMES, len(urls)
        )
        assert Counter(capture.url for capture in opened.captures.after(0)) == Counter(urls)
    assert Counter(line["url"] for line in metadata_lines(tmp_path)) == Counter(urls)
    assert run("replay", "--check", "-w", tmp_path).code == 0
    pages = [record for record in site.requests() if "/site/" in record.path]
    assert len(pages) - len(urls) <= KILLS * len(HOSTS)  # at most what was in flight
