"""The composition root of a crawl: who is wired to whom, and who ends it.

`build_crawl` wires one run on the parts that `app_parts` opened. The Python API is in `workspace.py`
and `crawl_run.py`.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import asdict

from crawl4r.archive.requests import Requests
from crawl4r.clock import REAL_CLOCK, Clock
from crawl4r.crawling.admission import Admission
from crawl4r.crawling.explorer import Explorer, ExploringRules
from crawl4r.crawling.judge import AnswerRules, Judge
from crawl4r.crawling.keeper import CommitTargets, Keeper
from crawl4r.crawling.listing_depth import ListingDepth
from crawl4r.crawling.loop import Crawl
from crawl4r.crawling.robots import RobotsGate
from crawl4r.crawling.safe_reader import SafeReader
from crawl4r.crawling.side_requests import SideRequestLog, SideRequests
from crawl4r.crawling.soft_404 import MissingPages
from crawl4r.crawling.trap_filter import TrapWatch
from crawl4r.crawling.visitor import Visitor
from crawl4r.fetch.curl import CurlTransport
from crawl4r.fetch.headers import RequestHeaders
from crawl4r.fetch.monitored import WatchedTransport
from crawl4r.fetch.port import Transport
from crawl4r.fetch.proxies import ProxyPool
from crawl4r.fetch.sender import Sender
from crawl4r.frontier.port import Frontier
from crawl4r.frontier.priority import Strategy
from crawl4r.frontier.revisits import Revisits
from crawl4r.frontier.schedule import Schedule
from crawl4r.model import UrlState
from crawl4r.politeness.host_budgets import CrawlBudgets, HostBudgets
from crawl4r.processes.entrypoints import EXTRACTOR, READER
from crawl4r.processes.sandbox import Sandbox
from crawl4r.processes.spawn import fork_ahead
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.settings.load import Settings
from crawl4r.storage.tables import RobotsRecords
from crawl4r.urls.canonical import split
from crawl4r.urls.egress import AddressGate
from crawl4r.wiring.crawl_order import CrawlHooks, CrawlOrder, Hosting, RulesInForce
from crawl4r.wiring.crawl_store import RunStore, open_store
from crawl4r.wiring.hosting import make_hosting, share_answers
from crawl4r.wiring.learners import learners_of
from crawl4r.wiring.parts import Parts

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from crawl4r.indexing.follower import IndexFollower
    from crawl4r.indexing.indexer import Indexer

_LEASES_FOR_BFS = 64
_LEASES_FOR_OTHERS = 1  # a better URL that is found now must not wait behind one leased before

MakeTransport = Callable[[Settings, AddressGate], Transport]


class _Network(NamedTuple):
    """What a run asks sites through."""

    gate: AddressGate
    sender: Sender
    side_requests: SideRequests
    headers_number: int  # of the headers that all requests have in common


class BuiltCrawl(NamedTuple):
    """A run that is ready to begin."""

    crawl: Crawl
    in_force: RulesInForce
    hosting: Hosting


class _Gates(NamedTuple):
    """What decides which URLs are sent, and what their answers mean."""

    robots: RobotsGate
    judge: Judge
    admission: Admission


async def build_crawl(
    parts: Parts,
    order: CrawlOrder,
    budgets: HostBudgets,
    hooks: CrawlHooks,
    stack: contextlib.AsyncExitStack,
    make_transport: MakeTransport | None = None,
) -> BuiltCrawl:
    """Wire one run; `stack` ends what it started."""
    parts.note_spelling(order.links.rules)
    store = open_store(parts, order, budgets, stack)
    gate, transport = _open_transport(parts, order, make_transport, stack)
    if transport.renders:
        store.frontier.requeue([UrlState.NEEDS_BROWSER])
    network = _build_network(parts, order, budgets, gate, transport)
    reader = SafeReader(await stack.enter_async_context(_make_sandbox(order, parts.clock)))
    gates = _build_gates(parts, order, budgets, network, reader, store.traps, hooks)
    paces = budgets.of_crawl(order.settings.politeness.host_rules())
    in_force = RulesInForce(parts, order.crawl, network.gate, gates.robots, store.frontier, paces)
    in_force.adopt(order.settings, order.links)
    explorer = _make_explorer(parts, order, store.frontier, gates.judge)
    schedule = _build_schedule(parts, order, paces, store, gates.robots, explorer)
    hosting = order.hosting or make_hosting(parts, order, stack)
    shared = share_answers(parts, order, hosting)
    crawl = Crawl(
        schedule,
        Visitor(network.sender, gates.admission, gates.judge, budgets, parts.clock, shared),
        _build_keeper(parts, order, budgets, store, explorer, hosting),
        order.settings.crawl_limits(),
        parts.clock,
        order.heart or Heartbeat(parts.clock.monotonic),
        order.network,
        hooks.on_kept,
    )
    return BuiltCrawl(crawl, in_force, hosting)


def _open_transport(
    parts: Parts,
    order: CrawlOrder,
    make_transport: MakeTransport | None,
    stack: contextlib.AsyncExitStack,
) -> tuple[AddressGate, Transport]:
    gate = AddressGate(order.settings.network.allow_private)
    make = make_transport or partial(make_curl, clock=parts.clock)
    transport = make(order.settings, gate)
    stack.push_async_callback(transport.close)
    return gate, transport


def _build_network(
    parts: Parts,
    order: CrawlOrder,
    budgets: HostBudgets,
    gate: AddressGate,
    transport: Transport,
) -> _Network:
    settings, clock = order.settings, parts.clock
    fetch, servers = settings.fetch, settings.fetch.proxies
    requests = Requests(parts.database)
    log = SideRequestLog(requests, clock)
    heart = order.heart or Heartbeat(clock.monotonic)
    if order.network:
        transport = WatchedTransport(transport, heart, order.network, log.note)
    headers = RequestHeaders(settings.agent.header, fetch.language, fetch.headers, fetch.auth)
    chance = random.Random()
    proxies = ProxyPool(servers.servers, servers.rotation, clock.monotonic, chance)
    sender = Sender(transport, headers, proxies)
    side_requests = SideRequests(sender, budgets, clock, heart, order.network, log.note)
    return _Network(gate, sender, side_requests, requests.number_of(headers.recorded))


def _build_gates(
    parts: Parts,
    order: CrawlOrder,
    budgets: HostBudgets,
    network: _Network,
    reader: SafeReader,
    traps: TrapWatch | None,
    hooks: CrawlHooks,
) -> _Gates:
    settings, chance = order.settings, random.Random()
    fetch = settings.fetch
    robots = RobotsGate(
        RobotsRecords(parts.database),
        network.side_requests,
        budgets,
        settings.robots_rules(),
        backoff=fetch.backoff(),
        wall=parts.clock.wall,
        chance=chance,
    )
    missing = MissingPages(
        parts.notes,
        network.side_requests,
        robots,
        reader,
        chance,
        enabled=settings.content.probe,
    )
    retry_after_cap = settings.politeness.retry_after_cap
    judge = Judge(
        reader,
        missing,
        order.links,
        AnswerRules(fetch.backoff(), fetch.max_redirects, retry_after_cap, fetch.types),
        parts.clock,
        chance,
        request=network.headers_number,
        on_seed_moved=hooks.on_seed_moved,
    )
    depth = ListingDepth(parts.database, settings.explore.max_nesting)
    return _Gates(robots, judge, Admission(robots, judge, depth, traps))


def _build_schedule(
    parts: Parts,
    order: CrawlOrder,
    paces: CrawlBudgets,
    store: RunStore,
    robots: RobotsGate,
    explorer: Explorer | None,
) -> Schedule:
    is_bfs = order.settings.strategy is Strategy.BFS
    schedule = Schedule(
        store.frontier,
        paces,
        parts.clock,
        robots.needs,
        batch=_LEASES_FOR_BFS if is_bfs else _LEASES_FOR_OTHERS,
        pause_gate=order.pause_gate,
        heart=order.heart,
        on_dry=explorer.explore if explorer else None,
    )
    for host in {split(seed).host for seed in order.seeds}:
        if explorer and not store.frontier.has_pending(host):
            schedule.notice(explorer.explore(host))
    return schedule


def _build_keeper(
    parts: Parts,
    order: CrawlOrder,
    budgets: HostBudgets,
    store: RunStore,
    explorer: Explorer | None,
    hosting: Hosting,
) -> Keeper:
    announcer = order.announcer
    targets = CommitTargets(
        parts.database,
        store.frontier,
        parts.captures,
        parts.blobs,
        hosting.logs,
        order.crawl,
        parts.notes_of(order.crawl),
        store.hosts,
        Revisits(parts.database),
    )
    return Keeper(
        targets,
        budgets,
        parts.clock,
        group=max(1, order.settings.politeness.concurrency // 2),
        learners=learners_of(parts, order, store.traps, explorer),
        on_commit=announcer.pass_on if announcer else None,
    )


def build_follower(
    parts: Parts, settings: Settings, earlier: IndexFollower | None = None
) -> IndexFollower:
    """What indexes documents while they are made; it opens all it needs in its own thread."""
    # Only now: an index takes modules that weigh more than the whole crawler.
    from crawl4r.indexing.follower import IndexFollower  # noqa: PLC0415

    def open_indexer() -> AbstractContextManager[Indexer]:
        from crawl4r.wiring import search  # noqa: PLC0415

        return search.open_indexer(parts.path, settings)

    return IndexFollower(open_indexer, earlier.progress if earlier else None)


def _make_explorer(
    parts: Parts,
    order: CrawlOrder,
    frontier: Frontier,
    judge: Judge,
) -> Explorer | None:
    """None where links are not followed at all."""
    settings = order.settings
    if not settings.explore.enabled or not order.links.rules.follow_links:
        return None
    if settings.limits.depth == 0:
        return None
    rules = asdict(settings.explore)
    for name in ("enabled", "feeds", "max_listings", "max_nesting"):
        del rules[name]
    return Explorer(
        parts.database,
        order.crawl,
        frontier,
        ExploringRules(**rules),
        lambda: judge.links,
        parts.clock.wall,
    )


def make_readers_ahead(*, with_documents: bool) -> None:
    """For programs: fork the processes that read pages while nothing but modules is there.

    Before settings are read: what is in memory now, the processes see, and settings hold passwords.
    """
    fork_ahead(READER, 1)
    if with_documents:
        fork_ahead(EXTRACTOR, 1, is_shared=False)


def _make_sandbox(order: CrawlOrder, clock: Clock) -> Sandbox:
    reading = order.settings.reading
    return Sandbox(
        READER,
        order.links.rules.as_json(),
        workers=reading.workers,
        seconds=reading.seconds,
        memory_bytes=reading.memory_mb * 1024**2,
        clock=clock,
    )


def make_curl(settings: Settings, gate: AddressGate, clock: Clock = REAL_CLOCK) -> Transport:
    """What asks for pages; inside a running event loop."""
    return CurlTransport(
        gate,
        limits=settings.fetch.limits(),
        http2=settings.fetch.http2,
        cookies=settings.fetch.cookies,
        resolve=settings.network.resolve,
        ca_file=settings.network.ca_file,
        max_connections=settings.politeness.concurrency * 2,
        clock=clock,
    )
