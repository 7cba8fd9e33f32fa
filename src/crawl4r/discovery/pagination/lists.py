"""Which lists of a site may go on? Learns from addresses alone: `?page=2` known, `?page=3` not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import gcd

from msgspec import Struct, field

from crawl4r.discovery.guesses.usual_places import PatternRecord, Proposal
from crawl4r.discovery.pagination.rule import MARK, PageRule, PageStyle
from crawl4r.discovery.pagination.slots import Slot, Trust, slots_of

_MOST_LISTS = 2_000  # of a host
_MOST_VALUES = 5_000  # of a list
_MISSES_FORGIVEN = 12  # lists of a host that did not go on, while none did


class _List(Struct):
    style: PageStyle
    trust: Trust
    values: set[int] = field(default_factory=set)

    @property
    def step(self) -> int:
        """An offset counts items; what divides all of them is a page."""
        return max(1, gcd(*self.values)) if self.style is PageStyle.OFFSET else 1

    @property
    def next(self) -> int:
        return max(self.values) + self.step

    @property
    def is_named(self) -> bool:
        """A word beside its number says that it counts pages."""
        return self.trust in {Trust.NAMED, Trust.OFFSET}

    @property
    def counts_pages(self) -> bool:
        """Without such a word: its numbers are 2 and all that follow. Its first page must exist too."""
        return 2 in self.values and max(self.values) == len(self.values | {1})


class PageLists:
    """The lists of one host, bounded."""

    def __init__(self) -> None:
        self._lists: dict[str, _List] = {}

    def add(self, url: str) -> None:
        """A page that exists."""
        for slot in slots_of(url):
            known = self._lists.get(slot.template)
            if known is None:
                if len(self._lists) >= _MOST_LISTS:
                    return
                known = self._lists[slot.template] = _List(slot.style, slot.trust)
            if len(known.values) < _MOST_VALUES:
                known.values.add(slot.value)

    @staticmethod
    def key_of(url: str) -> str:
        """The list that a proposed URL belongs to: where its number most likely stands."""
        slots: list[Slot] = sorted(slots_of(url), key=lambda slot: -slot.trust)
        return slots[0].template if slots else url

    def propose(
        self,
        records: Mapping[str, PatternRecord],
        is_known: Callable[[str], bool],
        most: int,
    ) -> list[Proposal]:
        """The page after the last known one, of lists whose last try was not in vain."""
        misses = sum(record.tried > record.yielded for record in records.values())
        is_vain = misses >= _MISSES_FORGIVEN and not any(r.yielded for r in records.values())
        found: list[Proposal] = []
        for template, known in self._lists.items():
            record = records.get(template)
            if is_vain or (record and record.tried > record.yielded):
                continue
            if not known.is_named and not known.counts_pages:
                continue  # so are most, and the rest is dear
            url = template.replace(MARK, str(known.next))
            if self.key_of(url) != template or is_known(url):
                continue
            if known.is_named or is_known(PageRule(known.style, template).opening):
                found.append(Proposal(url, template))
                if len(found) == most:
                    break
        return found
