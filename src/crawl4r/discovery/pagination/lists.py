"""Find lists that may continue, by URLs alone: `?page=2` is known, `?page=3` is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import gcd

from msgspec import Struct, field

from crawl4r.discovery.guesses.usual_places import PatternRecord, Proposal
from crawl4r.discovery.pagination.rule import MARK, PageRule, PageStyle
from crawl4r.discovery.pagination.slots import Slot, Trust, slots_of

_MOST_LISTS = 2_000  # of a host
_MOST_VALUES = 5_000  # of a list
_MISSES_FORGIVEN = 12  # failed tries on a host before it counts as having no such lists


class _List(Struct):
    style: PageStyle
    trust: Trust
    values: set[int] = field(default_factory=set)

    @property
    def step(self) -> int:
        """The step of offsets: items of a page, the greatest common divisor of all offsets."""
        return max(1, gcd(*self.values)) if self.style is PageStyle.OFFSET else 1

    @property
    def next(self) -> int:
        return max(self.values) + self.step

    @property
    def is_named(self) -> bool:
        """Whether a word beside the number shows that it counts pages."""
        return self.trust in {Trust.NAMED, Trust.OFFSET}

    @property
    def counts_pages(self) -> bool:
        """Without such a word the numbers must run from 2 without a gap, and page 1 must exist."""
        return 2 in self.values and max(self.values) == len(self.values | {1})


class PageLists:
    """The lists of one host, bounded."""

    def __init__(self) -> None:
        self._lists: dict[str, _List] = {}

    def add(self, url: str) -> None:
        """Learn from the URL of a page that exists."""
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
        """The list of a proposed URL, by the most likely place of its number."""
        slots: list[Slot] = sorted(slots_of(url), key=lambda slot: -slot.trust)
        return slots[0].template if slots else url

    def propose(
        self,
        records: Mapping[str, PatternRecord],
        is_known: Callable[[str], bool],
        most: int,
    ) -> list[Proposal]:
        """The next page of each list, up to `most`. A list whose last try failed is skipped."""
        misses = sum(record.tried > record.yielded for record in records.values())
        is_vain = misses >= _MISSES_FORGIVEN and not any(r.yielded for r in records.values())
        found: list[Proposal] = []
        for template, known in self._lists.items():
            record = records.get(template)
            if is_vain or (record and record.tried > record.yielded):
                continue
            if not known.is_named and not known.counts_pages:
                continue  # ends most turns here: the rest costs more
            url = template.replace(MARK, str(known.next))
            if self.key_of(url) != template or is_known(url):
                continue
            if known.is_named or is_known(PageRule(known.style, template).opening):
                found.append(Proposal(url, template))
                if len(found) == most:
                    break
        return found
