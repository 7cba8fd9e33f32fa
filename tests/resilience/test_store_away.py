"""A stall whose cause is the store: it is reopened, and what was learnt of hosts is not forgotten."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl4r.crawling.loop import EndedBy
from crawl4r.errors import StorageDamaged, StorageFull, WorkspaceError
from crawl4r.fetch.curl import CurlTransport
from crawl4r.fetch.port import Transport
from crawl4r.politeness.host_budget import Health, HostRules
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.resilience.health_file import NAME, health_of, health_text
from crawl4r.settings.load import Settings, load_settings
from crawl4r.storage.own_files import replace_or_overwrite
from crawl4r.urls.egress import AddressGate
from crawl4r.workspace.run import CrawlRun
from crawl4r.workspace.store_recovery import may_pass, worst_of
from crawl4r.workspace.workspace import Workspace
from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies
from tests.resilience.test_watchdog import Dumb, health_in
from tests.site.process import SiteProcess


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


def test_a_disk_that_is_away_for_a_while_is_noticed_and_the_store_opened_again(
    site: SiteProcess, tmp_path: Path
) -> None:
    """The first request hangs when the folder is moved away; an empty one there is not taken for it."""
    place, elsewhere = tmp_path / "ws", tmp_path / "elsewhere"
    overrides = {
        "resilience": {"stall_seconds": 0.5, "store_patience": 60},
        "network": {"allow_private": ["127.0.0.1"]},
        "politeness": {"rate": 0},
        "content": {"extract": False},
        "explore": {"enabled": False},
        "fetch": {"timeout": 0.2},
    }
    transports: list[Transport] = []

    def unmount() -> None:
        os.rename(place, elsewhere)

    def make(settings: Settings, gate: AddressGate) -> Transport:
        transports.append(CurlTransport(gate) if transports else Dumb(unmount))
        return transports[-1]

    async def mount_again(run: CrawlRun) -> None:
        while not run.reopening.problem:  # noqa: ASYNC110 - there is no callback
            await asyncio.sleep(0.02)
        place.mkdir()
        # It has probed: the empty folder can be written, and holds no database.
        while run.reopening.problem != f"{place / 'state.db'} is not there":  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        os.rename(place, tmp_path / "not the disk")
        os.rename(elsewhere, place)

    async def crawl() -> EndedBy:
        settings = load_settings(environment={}, overrides=overrides)
        async with Workspace(place, settings, make_transport=make) as opened:
            run = opened.crawl(site.url("/site/12/"))
            mounting = asyncio.create_task(mount_again(run))
            ended = await run.finish()
            await mounting
            return ended

    assert asyncio.run(asyncio.wait_for(crawl(), 60)) is EndedBy.NOTHING_LEFT
    assert len(transports) == 2
    assert_every_page_is_stored_once(place, expected_bodies(site, 12))
    health = health_in(place)
    assert health["store_losses"] == 1 <= health["stalls"]
    if health["stalls"] == 1:  # a machine that is busy may look stalled once more, and goes on
        assert health["last_stall"]["decision"] == "reopen the store"


def test_what_may_not_have_been_kept_of_hosts_is_told_again() -> None:
    budgets = HostBudgets(HostRules(delay=1.0))
    turn = budgets["a.example"].begin(10.0)
    assert turn is not None
    turn.end(10.5, Health.SICK, 10.0, 0.5)
    told = budgets.remember(11.0, 1011.0)
    assert [(memory.host, memory.failures) for memory in told] == [("a.example", 1)]
    assert budgets.remember(11.0, 1011.0) == []
    budgets.remember_again()
    assert budgets.remember(11.0, 1011.0) == told


def raised(first: Exception, then: Exception) -> Exception:
    """`then`, raised while `first` was dealt with."""
    try:
        try:
            raise first
        except Exception:
            raise then  # noqa: B904 - as a handler that fails does
    except Exception as problem:
        return problem


def test_damage_is_never_waited_out_whatever_came_after_it() -> None:
    damage = StorageDamaged("the bytes do not match")
    behind = raised(damage, StorageFull("no room"))
    assert worst_of(behind) is damage
    assert worst_of(ExceptionGroup("many", [StorageFull("no room"), damage])) is damage
    assert not may_pass(damage, has_begun=True)


@pytest.mark.parametrize(
    ("problem", "before", "later"),
    [
        (StorageFull("no room"), True, True),
        (WorkspaceError("state.db is not writable"), False, True),
        (OSError(5, "Input/output error"), False, True),
        (OSError(24, "Too many open files"), False, False),
        (ValueError("a bug"), False, False),
    ],
)
def test_only_a_store_that_cannot_be_written_is_waited_for(
    problem: Exception, before: bool, later: bool
) -> None:
    assert may_pass(problem, has_begun=False) is before
    assert may_pass(problem, has_begun=True) is later


def test_a_crawl_that_runs_and_says_nothing_is_called_silent(tmp_path: Path) -> None:
    said = {"pid": os.getpid(), "state": "running", "at": time.time() - 300}
    replace_or_overwrite(tmp_path / NAME, health_text(said))
    health = health_of(tmp_path, os.getpid())
    assert health is not None
    assert health["state"] == "silent"
    assert "its last word was: running" in health["why"]
    replace_or_overwrite(tmp_path / NAME, health_text(said | {"at": time.time()}))
    assert (health_of(tmp_path, os.getpid()) or {})["state"] == "running"
