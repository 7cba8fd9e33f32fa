"""How a run ended, and what it did, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from crawl4r.crawling.loop import Crawl, EndedBy

if TYPE_CHECKING:
    from crawl4r.workspace.crawl_plan import CrawlPlan
    from crawl4r.workspace.followers import Followers


class RunOutcome(Struct, frozen=True):
    """The counts are of this run alone."""

    crawl: int  # its number in the store
    name: str
    role: str
    seeds: Sequence[str]
    ended: EndedBy
    seconds: float
    visits: int
    asked: int  # visits with a request: the others ended by a rule, or by a shared answer
    new_pages: int
    retries: int
    shared: int  # answers that another crawl of the store had got
    verdicts: dict[str, int]
    given_up: Sequence[str]  # hosts
    unread: int  # captures without a document so far
    unembedded: int  # passages without a vector so far


def outcome_of(
    plan: CrawlPlan, role: str, crawl: Crawl, ended: EndedBy, seconds: float, made: Followers
) -> RunOutcome:
    progress = crawl.progress
    return RunOutcome(
        crawl=plan.record.id,
        name=plan.record.name,
        role=role,
        seeds=plan.seeds,
        ended=ended,
        seconds=round(seconds, 3),
        visits=progress.visits,
        asked=progress.asked,
        new_pages=progress.pages,
        retries=progress.retries,
        shared=progress.shared,
        verdicts=dict(progress.verdicts),
        given_up=sorted(crawl.schedule.given_up),
        unread=made.documenter.behind() if made.documenter else 0,
        unembedded=made.index.behind[1] if made.index else 0,
    )
