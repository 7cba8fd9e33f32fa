"""The parts of a crawl, small and real: a state.db, answers from a dict, pages read in this process.

Nothing here waits: clocks stand where the test puts them, and no host asks for a delay.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from msgspec import json

from crawl4r.archive.blobs.segments import SegmentBlobs
from crawl4r.archive.captures import Captures
from crawl4r.clock import Clock
from crawl4r.crawling.admission import Admission
from crawl4r.crawling.judge import AnswerRules, Judge
from crawl4r.crawling.keeper import CommitTargets, Keeper
from crawl4r.crawling.listing_depth import ListingDepth
from crawl4r.crawling.reading_process import make_reader
from crawl4r.crawling.robots import RobotsGate
from crawl4r.crawling.safe_reader import SafeReader
from crawl4r.crawling.shared_answers import AnswersUnderWay, SharedAnswers
from crawl4r.crawling.side_requests import SideRequests
from crawl4r.crawling.soft_404 import MissingPages
from crawl4r.crawling.visitor import Visitor
from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.fetch.headers import RequestHeaders
from crawl4r.fetch.port import Request
from crawl4r.fetch.proxies import ProxyPool, Rotation
from crawl4r.fetch.sender import Sender
from crawl4r.frontier.priority import breadth_first
from crawl4r.frontier.revisits import Revisits
from crawl4r.frontier.sqlite import SqliteFrontier
from crawl4r.model import Failure, Found, FoundBy, Lease, Response, Verdict
from crawl4r.politeness.backoff import Backoff
from crawl4r.politeness.breaker import BreakerRules
from crawl4r.politeness.host_budget import HostRules
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.processes.sandbox import SandboxKilled
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.storage.crawls import CrawlNotes, Crawls
from crawl4r.storage.database import Database
from crawl4r.storage.tables import HostMemories, Notes, RobotsRecords
from crawl4r.urls.policy import LinkRules, RobotsRules
from crawl4r.urls.scope import ScopeRules

HOST = "e.org"
SITE = f"http://{HOST}"
NOW = 1_000_000.0  # epoch seconds
IN_SCOPE = LinkRules(ScopeRules(hosts=[HOST]))
BACKOFF = Backoff(retries=2, base=10.0, cap=1000.0)
# A host that may always be asked: clocks stand still, so nothing would end a wait.
TIRELESS = HostRules(
    delay=0.0,
    per_host=100,
    delay_cap=0.0,
    retry_after_cap=0.0,
    challenge_rest=0.0,
    breaker=BreakerRules(threshold=1000),
)
PAGE = (
    b"<!doctype html><title>Ships of the harbour</title><h1>Ships of the harbour</h1>"
    b"<p>Every morning the boats leave for the banks, and every evening they come back with fish"
    b" for the market. <a href='/next'>The next page</a> tells of the lighthouse.</p>"
)
Kind = TypeVar("Kind")


class Answers:
    """A transport that answers from a dict; for what is not in it, with 404 or what it is told.

    An exception in the dict is raised: a bug of the transport.
    """

    renders = False

    def __init__(self, answers: Mapping[str, Response | Failure | Exception]) -> None:
        self.answers = dict(answers)
        self.otherwise: Response | Failure = answer(404)
        self.asked: list[str] = []

    async def fetch(self, request: Request) -> Response | Failure:
        self.asked.append(request.url)
        given = self.answers.get(request.url, self.otherwise)
        if isinstance(given, Exception):
            raise given
        return given

    async def close(self) -> None:
        pass


class ReadHere:
    """What a `SafeReader` asks of a sandbox, done in this process."""

    def __init__(self, rules: LinkRules) -> None:
        self.reconfigure(rules.as_json())

    def reconfigure(self, rules: Mapping[str, Any]) -> None:
        self._rules = rules
        self._read: Callable[[Any, bytes], Any] | None = None

    async def run(self, head: Any, body: bytes, kind: type[Kind]) -> Kind:
        self._read = self._read or make_reader(self._rules)
        try:
            read = self._read(json.decode(json.encode(head)), body)
        except Exception as problem:
            raise SandboxKilled(f"{type(problem).__name__}: {problem}") from None
        return json.decode(json.encode(read), type=kind)


class SmallCrawl:
    """Everything between a lease and its commit, over one state.db."""

    def __init__(
        self,
        folder: Path,
        answers: Mapping[str, Response | Failure | Exception] | None = None,
        *,
        links: LinkRules = IN_SCOPE,
        robots: RobotsRules | None = None,
        answer_rules: AnswerRules | None = None,
        caps: Mapping[str, int] | None = None,
        probes: bool = False,
        host_rules: HostRules = TIRELESS,
    ) -> None:
        self.now = 100.0  # monotonic seconds
        self.clock = Clock(lambda: self.now, lambda: NOW + self.now - 100.0)
        self.database = Database(folder / "state.db")
        self.captures = Captures(self.database)
        self.blobs = SegmentBlobs(folder / "segments", self.database)
        crawls = Crawls(self.database)
        self.crawl = (crawls.find("small") or crawls.add("small", NOW)).id
        self.frontier = SqliteFrontier(self.database, self.crawl, breadth_first, caps)
        self.budgets = HostBudgets(host_rules)
        self.transport = Answers(answers or {})
        self.links = LinkJudge(links)
        self.seeds_moved: list[str] = []
        chance = random.Random(1)
        proxies = ProxyPool([], Rotation.ROUND_ROBIN, self.clock.monotonic, chance)
        self.sender = Sender(self.transport, RequestHeaders("crawl4r", "en", {}, {}), proxies)
        side_requests = SideRequests(
            self.sender,
            self.budgets,
            self.clock,
            Heartbeat(self.clock.monotonic),
            None,
            lambda url, answer: None,
        )
        self.records = RobotsRecords(self.database)
        self.robots = RobotsGate(
            self.records,
            side_requests,
            self.budgets,
            robots or RobotsRules(),
            backoff=BACKOFF,
            wall=self.clock.wall,
            chance=chance,
        )
        reader = SafeReader(ReadHere(links))  # type: ignore[arg-type]
        notes = Notes(self.database)
        missing = MissingPages(notes, side_requests, self.robots, reader, chance, enabled=probes)
        self.judge = Judge(
            reader,
            missing,
            self.links,
            answer_rules or AnswerRules(BACKOFF, max_redirects=3, retry_after_cap=500.0),
            self.clock,
            chance,
            on_seed_moved=self.seeds_moved.append,
        )
        depth = ListingDepth(self.database, 3)
        self.admission = Admission(self.robots, self.judge, depth, None)

    def close(self) -> None:
        self.blobs.close()
        self.database.close()

    def lease(self, path: str, **facts: Any) -> Lease:
        """Make a URL of the host known, and take it."""
        found = Found(SITE + path, HOST, facts.get("depth", 0), FoundBy.SEED, True, "")
        self.frontier.add([found], None, NOW)
        (taken,) = self.frontier.lease(HOST, 1)
        known = {name: getattr(taken, name) for name in Lease.__struct_fields__}
        return Lease(**{**known, **facts})

    def visitor(self) -> Visitor:
        shared = SharedAnswers(self.captures, self.blobs, self.clock, 1, 3600.0, AnswersUnderWay())
        return Visitor(self.sender, self.admission, self.judge, self.budgets, self.clock, shared)

    def keeper(self, **options: Any) -> Keeper:
        targets = CommitTargets(
            self.database,
            self.frontier,
            self.captures,
            self.blobs,
            [],
            self.crawl,
            CrawlNotes(self.database, self.crawl),
            HostMemories(self.database),
            Revisits(self.database),
        )
        return Keeper(targets, self.budgets, self.clock, **{"group": 1, **options})

    def state_of(self, path: str) -> str:
        ((state,),) = self.database.read("SELECT state FROM urls WHERE url = ?", (SITE + path,))
        return str(state)


@contextmanager
def small_crawl(folder: Path, *args: Any, **options: Any) -> Iterator[SmallCrawl]:
    crawl = SmallCrawl(folder, *args, **options)
    try:
        yield crawl
    finally:
        crawl.close()


def answer(
    status: int,
    body: bytes = b"",
    *,
    url: str = SITE + "/",
    kind: str = "text/html",
    **headers: str,
) -> Response:
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return Response(
        url,
        status,
        [("content-type", kind), *named],
        body,
        sent_at=100.0,
        latency=0.5,
        wire_bytes=0,
    )


def failure(verdict: Verdict, *, transient: bool, **facts: Any) -> Failure:
    return Failure(verdict, "why", transient, sent_at=100.0, latency=0.5, **facts)
