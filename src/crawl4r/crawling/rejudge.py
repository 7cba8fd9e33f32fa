"""Judge URLs that earlier runs refused by the rules of this run.

Each rule is checked once, and only the URLs of changed rules are judged again. Pending URLs are judged
before their visit (`LinkJudge.recheck`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins

from crawl4r import events
from crawl4r.crawling.trap_filter import TRAP
from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.frontier.port import Frontier
from crawl4r.frontier.refusals import Refusals, RefusedUrl
from crawl4r.model import LISTING, Found, FoundBy, Verdict
from crawl4r.storage.crawls import CrawlNotes
from crawl4r.storage.database import Database
from crawl4r.urls.policy import LinkRules, RobotsRules

_NOTE = "judged_by"


class RunRules(Struct, frozen=True):
    """The rules of a run that decide which URLs it visits."""

    links: LinkJudge
    robots: RobotsRules
    allow_private: Sequence[str]
    traps: Mapping[str, Any]


class JudgedBy(Struct, frozen=True):
    """The rules by which a run admits and refuses URLs."""

    reading: dict[str, Any]
    caps: dict[str, int]
    private: list[str]
    robots: dict[str, Any]
    traps: dict[str, Any]

    @property
    def groups(self) -> Any:
        """The definitions of the caps, without their limits."""
        return [{**cap, "maximum": None} for cap in self.reading["scope"]["caps"]]

    @staticmethod
    def of(rules: RunRules, frontier: Frontier) -> JudgedBy:
        plain = {
            "reading": rules.links.rules.as_json(),
            "caps": dict(frontier.caps),
            "private": sorted(rules.allow_private),
            "robots": {"obey": rules.robots.obey, "agents": list(rules.robots.agents)},
            "traps": dict(rules.traps),
        }
        return JudgedBy(**json.loads(json.dumps(plain)))  # in the form that a later run reads


class Rejudging:
    """Changes become durable when the owner commits."""

    def __init__(
        self, database: Database, crawl: int, frontier: Frontier, wall: Callable[[], float]
    ) -> None:
        self._notes = CrawlNotes(database, crawl)
        self._refusals = Refusals(database, crawl)
        self._frontier = frontier
        self._wall = wall

    def go_by(self, rules: RunRules) -> int:
        """Admit the URLs that the rules admit now; returns the number of new pending URLs."""
        links = rules.links
        now = JudgedBy.of(rules, self._frontier)
        noted = self._notes.get(_NOTE)
        before = JudgedBy(**json.loads(noted)) if noted else None
        if before == now:
            return 0
        self._refusals.restore_kept()
        if now.groups and (before is None or before.groups != now.groups):
            self._frontier.count_groups_again(links.groups)
        admitted = self._frontier.admitted
        self._reconsider(links, before, now)
        let_in = self._frontier.admitted - admitted + self._ask_again(before, now)
        held = self._frontier.hold_to_caps(links.groups)
        self._notes.put(_NOTE, json.dumps(to_builtins(now)))
        if let_in or held:
            events.emit(events.RULES_CHANGED, let_in=let_in, kept_out=held)
        return let_in

    def _ask_again(self, before: JudgedBy | None, now: JudgedBy) -> int:
        """Requeue refusals by robots.txt and the like, which are judged again before the visit."""
        again = 0
        if before is None or before.private != now.private:
            again += self._refusals.requeue(Verdict.EGRESS_REFUSED)
        if before is None or before.robots != now.robots:
            again += self._refusals.requeue(Verdict.ROBOTS_DENIED)
        return again

    def _reconsider(self, links: LinkJudge, before: JudgedBy | None, now: JudgedBy) -> None:
        has_traps = before is not None and before.traps == now.traps
        rules = LinkRules.from_json(before.reading) if before else LinkRules()

        def still_holds(rule: str) -> bool:
            if rule.startswith(TRAP):
                return has_traps
            return self._frontier.still_caps(rule) or links.still_says(rule, rules)

        noted = self._refusals.rules([Verdict.OUT_OF_SCOPE, Verdict.CAPPED])
        changed = {rule for rule in noted if not still_holds(rule)}
        for refused in self._refusals.kept_out_by(changed):
            self._judge(links, refused)

    def _judge(self, links: LinkJudge, refused: RefusedUrl) -> None:
        item = _judged(links, refused)
        if item is None:
            return
        if item.admitted:
            self._frontier.add([item], refused.referrer, self._wall())
        else:
            self._refusals.put_rule(refused.url_id, item.rule)


def _judged(links: LinkJudge, refused: RefusedUrl) -> Found | None:
    by = FoundBy(refused.by)
    if refused.page_type == LISTING:
        return links.judge_listing(refused.url, None, refused.depth, by, "asked for again")
    return links.judge(
        refused.url,
        None,
        refused.depth,
        by,
        nofollow=refused.nofollow,
        redirects=refused.redirects,
    )
