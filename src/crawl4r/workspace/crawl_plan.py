"""Which crawl of a store a run goes on with, or begins, with its seeds and its scope."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from crawl4r.crawling.loop import EndedBy
from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.errors import UsageError
from crawl4r.model import FoundBy
from crawl4r.settings.load import Settings
from crawl4r.storage.crawls import CrawlRecord, CrawlState
from crawl4r.urls.canonical import as_seed, canonicalize, split
from crawl4r.urls.policy import LinkRules
from crawl4r.wiring.parts import Parts


class CrawlPlan:
    """The crawl of one run. Its row is made, and its scope held against its seeds, before it starts."""

    def __init__(
        self,
        parts: Parts,
        settings: Settings,
        seeds: Sequence[str],
        record: CrawlRecord | None,
        name: str | None,
        role: str,
    ) -> None:
        """Without a `record` of a known crawl a new one gets this name, or that of its first host."""
        self.settings = settings
        self.hosts = parts.notes_of(record.id).scope_hosts() if record else []
        self.seeds = tuple(self._canonical(seed) for seed in seeds or settings.seeds)
        self.links = self._admit()
        self.record = record or self._make(parts, name, role)

    def rules(self) -> LinkRules:
        """The rules for links by the settings in force."""
        return self.settings.reading_rules(self.hosts)

    def note_hosts(self, parts: Parts) -> None:
        parts.notes_of(self.record.id).note_scope_hosts(self.hosts)

    def meet(self, parts: Parts, netloc: str) -> LinkRules:
        """A host belongs to the crawl from now on; the rules that say so."""
        self.hosts.append(netloc)
        self.note_hosts(parts)
        return self.rules()

    def note_end(self, parts: Parts, ended: EndedBy) -> None:
        """Keep why a run ended: done when nothing was left, stopped by anything else."""
        state = CrawlState.DONE if ended is EndedBy.NOTHING_LEFT else CrawlState.STOPPED
        parts.crawls.end(self.record.id, state, ended.value, parts.clock.wall())
        parts.database.commit()

    def _make(self, parts: Parts, name: str | None, role: str) -> CrawlRecord:
        host = split(self.seeds[0]).netloc if self.seeds else role
        made = parts.crawls.add(name or parts.crawls.free_name(host), parts.clock.wall())
        parts.database.commit()
        return made

    def _canonical(self, seed: str) -> str:
        return canonicalize(as_seed(seed), None, self.settings.scope.canonical())

    def _admit(self) -> LinkJudge:
        """Derive the scope from the seeds, and hold them against it."""
        self.hosts = list(dict.fromkeys([*self.hosts, *(split(url).netloc for url in self.seeds)]))
        if not self.hosts:  # neither a seed now nor one of an earlier crawl
            raise UsageError("nothing to crawl: give at least one URL, or `seeds:` in crawl4r.yaml")
        links = LinkJudge(self.rules())
        for url in self.seeds:
            found = links.judge(url, None, 0, FoundBy.SEED)
            if found is None or not found.admitted:
                rule = found.rule if found else "not a URL"
                raise UsageError(f"the seed {url} is out of scope: {rule}")
        return links


class FedPlan(CrawlPlan):
    """The crawl of a scraper: the spool names its URLs, and it follows no link."""

    def rules(self) -> LinkRules:
        return replace(super().rules(), follow_links=False)

    def _admit(self) -> LinkJudge:
        return LinkJudge(self.rules())
