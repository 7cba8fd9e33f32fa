"""What a run of a crawl is asked to do, and the rules that it goes by."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins

from crawl4r.archive.lines.capture_log import CaptureLog
from crawl4r.crawling.rejudge import Rejudging, RunRules
from crawl4r.crawling.robots import RobotsGate
from crawl4r.crawling.shared_answers import AnswersUnderWay
from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.frontier.port import Frontier
from crawl4r.model import Visit
from crawl4r.politeness.host_budgets import CrawlBudgets
from crawl4r.resilience.heartbeat import Heartbeat
from crawl4r.settings.load import Settings
from crawl4r.urls.egress import AddressGate
from crawl4r.wiring.frontier import caps_of
from crawl4r.wiring.parts import Parts

if TYPE_CHECKING:
    from crawl4r.crawling.separated import Announcer
    from crawl4r.resilience.network import NetworkWatch
    from crawl4r.resilience.pause_gate import PauseGate


class Hosting(Struct, frozen=True):
    """What the crawls of one process have in common: those that it hosts take it from the first."""

    logs: Sequence[CaptureLog]
    under_way: AnswersUnderWay


class CrawlOrder(Struct, frozen=True):
    """What one run was asked to do; its seeds are canonical and in scope."""

    crawl: int
    settings: Settings
    seeds: Sequence[str]
    links: LinkJudge
    refresh: bool = False
    retry_failed: bool = False
    goes_on: bool = False  # after the store was away: in the process that began it
    announcer: Announcer | None = None  # of a discoverer
    pause_gate: PauseGate | None = None
    heart: Heartbeat | None = None
    network: NetworkWatch | None = None
    hosting: Hosting | None = None  # of the crawl that this one is a guest of


class CrawlHooks(Struct, frozen=True):
    """Who hears of a run."""

    on_kept: Callable[[Visit], Awaitable[None]]
    on_seed_moved: Callable[[str], None] | None


class RulesInForce:
    """The settings that decide which URLs a run visits; they can change while it runs."""

    def __init__(
        self,
        parts: Parts,
        crawl: int,
        gate: AddressGate,
        robots: RobotsGate,
        frontier: Frontier,
        paces: CrawlBudgets,
    ) -> None:
        self._database = parts.database
        self._paces = paces
        self._gate = gate
        self._robots = robots
        self._frontier = frontier
        self._rejudging = Rejudging(parts.database, crawl, frontier, parts.clock.wall)

    def adopt(self, settings: Settings, links: LinkJudge) -> None:
        """Go by these settings from now on, also for URLs that other settings kept out."""
        self._gate.replace(settings.network.allow_private)
        self._robots.adopt(settings.robots_rules())
        self._paces.adopt(settings.politeness.host_rules())
        self._frontier.caps = caps_of(settings)
        self._rejudging.go_by(
            RunRules(
                links,
                settings.robots_rules(),
                settings.network.allow_private,
                to_builtins(settings.limits.traps),
            )
        )
        self._database.commit()
