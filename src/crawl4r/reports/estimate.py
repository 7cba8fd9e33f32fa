"""Estimate the number of pages of a site from a sample of them. Pure arithmetic.

URLs of one shape form a stratum. In each stratum the sampled pages give the share of URLs that are
pages, and the number of unknown URLs that they name: few if other pages name most of them too. The
numbers of URLs named once and twice bound the unseen URLs (Chao's estimator, by incidence), and the
rarefaction curve tells how many of them the pages outside of the sample would name.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

_ROUNDS = 40  # of following pages to further pages
_Z = 1.96  # 95 % of a normal distribution
_LEAST_FACTOR = 2.0  # between the expected number of unseen URLs and its bounds
_MORE_UPWARDS = 1.5  # samples that overlap little only give a lower bound
_LEAST_SPREAD = 0.1  # of all, unless every page was read: lists and links are never complete
_CONTENTS_SHARE = 1 / 3  # of the known URLs; a page that names more is a table of contents
_OVERLAP = 5  # common URLs of two lists, needed to estimate what is on neither


class SampledPage(NamedTuple):
    """A visit of the sample."""

    url: str
    is_kept: bool  # a crawl would keep it as a page
    names: Set[str]  # URLs in scope that it links to


class Estimate(NamedTuple):
    low: int
    likely: int
    high: int
    unseen: int  # number of named URLs that no earlier page named


class _Counts(NamedTuple):
    """The number of pages of a stratum, and the numbers of URLs that they name once and twice."""

    pages: int
    once: int
    twice: int

    @property
    def unseen(self) -> float:
        """The number of unseen URLs that such pages name (Chao2, bias-corrected)."""
        if self.pages < 2:
            return 0.0
        share = (self.pages - 1) / self.pages
        return share * self.once * (self.once - 1) / (2 * (self.twice + 1))

    def brought_by(self, more: float) -> float:
        """The number of unknown URLs that `more` pages would name (Colwell et al. 2012)."""
        unseen = self.unseen
        if not unseen or more <= 0:
            return 0.0
        chance = self.once / (self.pages * unseen + self.once)
        return unseen * (1 - math.exp(more * math.log1p(-chance)))


def estimate(
    known: Mapping[str, bool],
    sample: Sequence[SampledPage],
    stratum_of: Callable[[str], str],
) -> Estimate:
    """`known` maps every URL in scope that may be a page to whether a list of the site names it.

    It includes the pages of the sample; the sample is in the order of visits.
    """
    strata = _Strata(known, sample, stratum_of)
    unseen = strata.unseen()
    likely = strata.kept_of_known() + strata.kept_of(unseen)
    spread = _Z * strata.spread_of_known()
    if len(known) > len(sample):
        spread = max(spread, _LEAST_SPREAD * strata.kept_of_known())
    factor = strata.factor(sum(unseen.values()))
    low = strata.kept_of_known() - spread + strata.kept_of(unseen) / factor
    high = strata.kept_of_known() + spread + strata.kept_of(unseen) * factor * _MORE_UPWARDS
    seen_kept = sum(page.is_kept for page in sample)
    return Estimate(
        max(seen_kept, round(low)),
        max(seen_kept, round(likely)),
        max(seen_kept, round(high)),
        round(strata.kept_of(unseen)),
    )


class _Strata:
    """The known URLs by shape, with the results of the sample for each shape."""

    def __init__(
        self,
        known: Mapping[str, bool],
        sample: Sequence[SampledPage],
        stratum_of: Callable[[str], str],
    ) -> None:
        self._known = known
        self._sample = sample
        self._stratum = {url: stratum_of(url) for url in known}
        for place, page in enumerate(sample):
            # The first page and tables of contents do not represent other pages.
            if place == 0 or len(page.names) > _CONTENTS_SHARE * len(known):
                self._stratum[page.url] = f"{page.url} alone"
        self._sizes = Counter(self._stratum.values())
        self._listed = Counter(self._stratum[url] for url, is_listed in known.items() if is_listed)
        self._pages: dict[str, list[SampledPage]] = defaultdict(list)
        for page in sample:
            self._pages[self._stratum[page.url]].append(page)
        kept = sum(page.is_kept for page in sample)
        self._share = (kept + 1) / (len(sample) + 1)
        self._named_by = self._strata_naming()

    def _strata_naming(self) -> dict[str, set[str]]:
        naming: dict[str, set[str]] = defaultdict(set)
        for stratum, pages in self._pages.items():
            for page in pages:
                for url in page.names:
                    naming[url].add(stratum)
        return naming

    def _share_kept(self, stratum: str) -> float:
        pages = self._pages.get(stratum, ())
        return (sum(page.is_kept for page in pages) + self._share) / (len(pages) + 1)

    def _not_sampled(self, stratum: str) -> int:
        return self._sizes[stratum] - len(self._pages.get(stratum, ()))

    def kept_of_known(self) -> float:
        rest = sum(self._not_sampled(name) * self._share_kept(name) for name in self._sizes)
        return sum(page.is_kept for page in self._sample) + rest

    def kept_of(self, unseen: Mapping[str, float]) -> float:
        return sum(count * self._share_kept(name) for name, count in unseen.items())

    def spread_of_known(self) -> float:
        """The standard deviation of `kept_of_known`: each share comes from a few pages."""
        total = 0.0
        for name in self._sizes:
            share, seen = self._share_kept(name), len(self._pages.get(name, ()))
            total += self._not_sampled(name) ** 2 * share * (1 - share) / (seen + 2)
        return math.sqrt(total)

    def unseen(self) -> dict[str, float]:
        """By stratum, the number of URLs that unsampled pages name, and pages reached from those."""
        curves = {name: self._counts(name) for name in self._sizes if self._pages.get(name)}
        pooled = self._pooled()
        into = {name: self._targets(name) for name in curves}
        bounds = {name: self._bound(name) for name in self._sizes}
        unseen: dict[str, float] = {}
        for _ in range(_ROUNDS):
            brought: dict[str, float] = defaultdict(float)
            for name in self._sizes:
                more = self._not_sampled(name) + unseen.get(name, 0.0)
                curve = curves.get(name)
                if curve is None or curve.pages < 2:
                    curve, targets = pooled, self._pooled_targets
                else:
                    targets = into[name]
                new = curve.brought_by(more)
                for target, share in targets.items():
                    brought[target] += new * share
            capped = {name: min(count, bounds[name]) for name, count in brought.items()}
            if sum(capped.values()) <= sum(unseen.values()) * 1.001 + 0.01:
                return capped
            unseen = capped
        return unseen

    def _counts(self, stratum: str) -> _Counts:
        times = Counter(url for page in self._pages[stratum] for url in self._own(page, stratum))
        values = Counter(times.values())
        return _Counts(len(self._pages[stratum]), values[1], values[2])

    def _own(self, page: SampledPage, stratum: str) -> list[str]:
        """The URLs that neither a list nor a page of another shape names."""
        return [
            url
            for url in page.names
            if url in self._known and not self._known[url] and self._named_by[url] == {stratum}
        ]

    def _targets(self, stratum: str) -> dict[str, float]:
        pages = self._pages[stratum]
        found = Counter(self._stratum[url] for page in pages for url in self._own(page, stratum))
        return _shares(found)

    def _pooled(self) -> _Counts:
        """The estimate for shapes with too few sampled pages."""
        times: Counter[str] = Counter()
        for page in self._sample:
            times.update(url for url in page.names if url in self._known and not self._known[url])
        values = Counter(times.values())
        self._pooled_targets = _shares(Counter(self._stratum[url] for url in times))
        return _Counts(len(self._sample), values[1], values[2])

    def _bound(self, stratum: str) -> float:
        """The number of unseen URLs of this shape, by all mentions in the sample."""
        times = Counter(
            url for page in self._sample for url in page.names if self._stratum.get(url) == stratum
        )
        values = Counter(times.values())
        bound = _Counts(len(self._sample), values[1], values[2]).unseen
        listed = sum(self._known[url] for url in times)
        if listed >= _OVERLAP and self._listed[stratum] > len(times):
            # Lincoln-Petersen: the share of linked URLs that are also on a list.
            all_ = self._listed[stratum] * len(times) / listed
            bound = min(bound, max(0.0, all_ - self._sizes[stratum]))
        return bound

    def factor(self, unseen: float) -> float:
        """The confidence interval of the unseen number: log-normal, after Chao (1987)."""
        if unseen < 1:
            return 1.0
        counts = self._pooled()
        ratio = counts.once / (counts.twice + 1)
        variance = (counts.twice + 1) * (ratio**4 / 4 + ratio**3 + ratio**2 / 2)
        mean = max(1.0, counts.unseen)
        factor = math.exp(_Z * math.sqrt(math.log1p(variance / mean**2)))
        return max(_LEAST_FACTOR, factor)


def _shares(found: Counter[str]) -> dict[str, float]:
    total = found.total()
    return {name: count / total for name, count in found.items()} if total else {}
