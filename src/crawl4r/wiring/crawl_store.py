"""The store of a run: its frontier, its memory of hosts and its traps, as the last run left them."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

from msgspec.structs import asdict

from crawl4r import events
from crawl4r.crawling.robots import TEMPORARY
from crawl4r.crawling.trap_filter import TrapRules, TrapWatch
from crawl4r.frontier.port import Frontier
from crawl4r.frontier.revisit_round import RevisitRound
from crawl4r.model import FoundBy, UrlState
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.storage.host_lessons import Lessons
from crawl4r.storage.tables import HostMemories, RobotsRecords
from crawl4r.wiring.crawl_order import CrawlOrder
from crawl4r.wiring.frontier import make_frontier
from crawl4r.wiring.parts import Parts

_RUNNING = "running"  # a note that outlives a crawl only when it crashed


class RunStore(NamedTuple):
    """What a run reads and writes."""

    frontier: Frontier
    hosts: HostMemories
    traps: TrapWatch | None


def open_store(
    parts: Parts, order: CrawlOrder, budgets: HostBudgets, stack: contextlib.AsyncExitStack
) -> RunStore:
    if order.hosting:
        hosts = HostMemories(parts.database)
    else:
        has_crashed = parts.notes.get(_RUNNING) is not None and not order.goes_on
        if order.goes_on:
            budgets.remember_again()
        hosts = _restore_budgets(parts, budgets, stack, has_crashed=has_crashed)
    traps = _make_traps(parts, order, stack)
    return RunStore(_prepare_frontier(parts, order, traps), hosts, traps)


def _make_traps(
    parts: Parts, order: CrawlOrder, stack: contextlib.AsyncExitStack
) -> TrapWatch | None:
    """None where no links are followed."""
    rules = asdict(order.settings.limits.traps)
    if not rules.pop("enabled") or not order.links.rules.follow_links:
        return None
    traps = TrapWatch(TrapRules(**rules), Lessons(parts.database, order.crawl), parts.clock.wall)
    stack.callback(traps.save)
    return traps


def _restore_budgets(
    parts: Parts,
    budgets: HostBudgets,
    stack: contextlib.AsyncExitStack,
    *,
    has_crashed: bool,
) -> HostMemories:
    """Be as polite as if the last run had never ended, however it did."""
    now, wall = parts.clock.monotonic(), parts.clock.wall()
    hosts = HostMemories(parts.database)
    budgets.restore(hosts.load(wall), now, wall)
    if has_crashed:
        budgets.assume_just_asked(now)
    parts.notes.put(_RUNNING, "yes")
    # Only a run that gets there knows that no request left after its last commit.
    stack.callback(parts.database.commit)
    stack.callback(parts.notes.forget, _RUNNING)
    return hosts


def _prepare_frontier(parts: Parts, order: CrawlOrder, traps: TrapWatch | None) -> Frontier:
    announcer, now = order.announcer, parts.clock.wall()
    on_admitted = [each.admit for each in (announcer, traps) if each]
    frontier = make_frontier(parts, order.crawl, order.settings, on_admitted)
    if recovered := frontier.recover():
        events.emit(events.STORE_RECOVERED, urls_released=recovered)
    found = (order.links.judge(url, None, 0, FoundBy.SEED) for url in order.seeds)
    frontier.add((item for item in found if item), None, now)
    frontier.requeue([UrlState.FAILED], order.seeds)
    if order.retry_failed:
        frontier.requeue([UrlState.FAILED])
    if order.refresh:
        _refresh(parts, order, frontier, now)
    RobotsRecords(parts.database).forget(TEMPORARY)
    parts.database.commit()
    if announcer:
        announcer.pass_on()
    return frontier


def _refresh(parts: Parts, order: CrawlOrder, frontier: Frontier, now: float) -> None:
    """Visit known pages again: all of them, or as many as the budget allows."""
    announcements = order.announcer.announcements if order.announcer else None
    if order.settings.limits.revisits is None:
        if announcements:
            announcements.note_all_again(UrlState.DONE, now)
        frontier.requeue([UrlState.DONE])
        return
    pages = RevisitRound(parts.database, order.crawl)
    known = pages.known()
    chosen = pages.begin(order.settings.limits.most_revisits(known), now)
    if chosen and announcements:
        announcements.note_waiting_again(now)
    events.emit(events.REVISITS_CHOSEN, known=known, chosen=chosen)
