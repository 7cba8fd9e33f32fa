"""The row of a run's crawl in its store: found or made before the run, and told how the run ended."""

from __future__ import annotations

from collections.abc import Sequence

from crawl4r.crawling.loop import EndedBy
from crawl4r.storage.crawls import CrawlRecord, CrawlState
from crawl4r.urls.canonical import split
from crawl4r.wiring.parts import Parts


def known_crawl(parts: Parts, name: str | None) -> CrawlRecord | None:
    """The crawl of this name, or the one that began last; None when it is still to be made."""
    return parts.crawls.find(name) if name else parts.crawls.last()


def new_crawl(parts: Parts, name: str | None, seeds: Sequence[str], role: str) -> CrawlRecord:
    """Give a new crawl its row, under the name of its first host unless another is asked for."""
    host = split(seeds[0]).netloc if seeds else role
    made = parts.crawls.add(name or parts.crawls.free_name(host), parts.clock.wall())
    parts.database.commit()
    return made


def note_end(parts: Parts, crawl: CrawlRecord, ended: EndedBy) -> None:
    """Keep why a run ended: done when nothing was left, stopped by anything else."""
    state = CrawlState.DONE if ended is EndedBy.NOTHING_LEFT else CrawlState.STOPPED
    parts.crawls.end(crawl.id, state, ended.value, parts.clock.wall())
    parts.database.commit()
