"""Which lists of a site may go on? Learns from addresses alone: `?page=2` known, `?page=3` not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import gcd

from crawl4r.discovery.archives import PatternRecord, Proposal
from crawl4r.discovery.page_rule import MARK, PageRule, PageStyle
from crawl4r.discovery.page_slots import Slot, Trust, slots_of

_MOST_LISTS = 2_000  # of a host
_MOST_VALUES = 5_000  # of a list
_MISSES_FORGIVEN = 12  # lists of a host that did not go on, while none did


@dataclass(slots=True)
class _List:
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
            url = template.replace(MARK, str(known.next))
            if self.key_of(url) != template or is_known(url):
                continue
            if known.trust in {Trust.NAMED, Trust.OFFSET} or self._has_begun(
                template, known, is_known
            ):
                found.append(Proposal(url, template))
                if len(found) == most:
                    break
        return found

    def _has_begun(self, template: str, known: _List, is_known: Callable[[str], bool]) -> bool:
        """A number without a word beside it counts pages when the list has a page 1 and a page 2."""
        if 2 not in known.values or max(known.values) != len(known.values | {1}):
            return False
        return is_known(PageRule(known.style, template).opening)
