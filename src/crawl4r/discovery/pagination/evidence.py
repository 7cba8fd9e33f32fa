"""Evidence that links which differ by one number are the pages of one list.

A weak place of the number needs more evidence: the texts of the links, `rel`, the block around the
links, the page's own URL.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from msgspec import Struct, field
from turbohtml import Element

from crawl4r.discovery.pagination.labels import Called, LinkBlock, LinkLabel, block_of
from crawl4r.discovery.pagination.rule import PageStyle
from crawl4r.discovery.pagination.slots import Trust

_LOOKED_AT = 8  # links whose blocks are examined


class Mention(NamedTuple):
    """The properties of a link that count as evidence."""

    url: str
    called: Called
    rel: str  # next, prev or empty
    node: Element
    is_in_head: bool = False

    @property
    def is_next(self) -> bool:
        return self.rel == "next" or self.called.label is LinkLabel.NEXT

    @property
    def is_previous(self) -> bool:
        return self.rel == "prev" or self.called.label is LinkLabel.PREVIOUS


class Own(NamedTuple):
    """The position of the page itself in the list of a group."""

    value: int | None  # the number in its URL
    is_opening: bool  # its URL has no number: it is page 1

    @property
    def is_related(self) -> bool:
        return self.value is not None or self.is_opening


class Group(Struct):
    """Links with the same template."""

    style: PageStyle
    template: str
    trust: Trust
    links: list[tuple[int, Mention]] = field(
        default_factory=list
    )  # the number in the URL, the link

    @property
    def values(self) -> set[int]:
        return {value for value, _ in self.links}


class Evidence:
    """The evidence for a group whose counting is known."""

    def __init__(self, group: Group, own: Own, first: int, step: int) -> None:
        self._group = group
        self._own = own
        self._numbered: list[tuple[int, Mention]] = []
        for value, link in group.links:
            pages, rest = divmod(value - first, step)
            if rest == 0 and pages >= 0:
                self._numbered.append((pages + 1, link))
        named = [n for n, link in self._numbered if link.called.number == n]
        self.named = len(set(named))  # links whose text is the number of their page
        self.current = self._current(first, step)
        self.others = {number for number, _ in self._numbered} - {self.current}

    def _current(self, first: int, step: int) -> int:
        if self._own.value is not None:
            return max(1, (self._own.value - first) // step + 1)
        if not self._own.is_opening:
            for number, link in self._numbered:
                if link.is_next and number > 1:
                    return number - 1
        return 1

    @cached_property
    def _blocks(self) -> list[LinkBlock]:
        links = [link for _, link in self._group.links if not link.is_in_head]
        return [block_of(link.node) for link in links[:_LOOKED_AT]]

    @property
    def is_elsewhere(self) -> bool:
        """Whether the group stands in a calendar, among tabs or comments."""
        return LinkBlock.OTHER in self._blocks and LinkBlock.PAGER not in self._blocks

    @property
    def convinces(self) -> bool:
        trust = self._group.trust
        if not self._own.is_related:
            return self._convinces_from_afar(trust)
        if trust is Trust.SHORT:
            return self.named > 0 or self._is_short_step
        if trust is Trust.NAMELESS:
            return self._convinces_nameless
        return self._is_labelled or (len(self.others) <= 2 and self._touches)

    def _convinces_from_afar(self, trust: Trust) -> bool:
        """Whether the links alone suffice as evidence: the page's own URL is outside of the list."""
        is_pager = LinkBlock.PAGER in self._blocks
        if trust in (Trust.NAMED, Trust.OFFSET):
            leads_on = any(link.is_next for _, link in self._numbered)
            return leads_on or (is_pager and self.named >= 2)
        return is_pager and self.named >= 2 and not self._are_years

    @property
    def _convinces_nameless(self) -> bool:
        if self._are_years or not self._touches:
            return False
        steers = any(link.is_next or link.is_previous for _, link in self._numbered)
        is_pager = LinkBlock.PAGER in self._blocks
        if self.named and (is_pager or steers):
            return True
        # `/grade/1`, `/grade/2` on /grade: page 1 would not link to itself.
        if self.named >= 3 and not (self._own.is_opening and self._links_to(1)):
            return self._group.style not in (PageStyle.QUERY, PageStyle.OFFSET)
        return self._leads_on and (self._own.is_opening or self._leads_back)

    @property
    def _is_short_step(self) -> bool:
        """Whether a "next" link adds one: `?p=123` and `?p=124` without it may be two posts."""
        return any(
            number == self.current + 1
            and (
                (
                    link.called.label is LinkLabel.NEXT
                    and (link.called.is_word or not self._are_plain)
                )
                or (link.rel == "next" and self._own.is_opening and number == 2)
            )
            for number, link in self._numbered
        )

    @property
    def _are_plain(self) -> bool:
        return LinkBlock.PAGER not in self._blocks

    @property
    def _is_labelled(self) -> bool:
        said = any(
            link.rel or link.called.label not in ("", LinkLabel.NUMBER)
            for _, link in self._numbered
        )
        return said or self.named > 0 or LinkBlock.PAGER in self._blocks

    @property
    def _touches(self) -> bool:
        return self.current + 1 in self.others or self.current - 1 in self.others

    @property
    def _leads_on(self) -> bool:
        return any(
            number == self.current + 1
            and link.is_next
            and (link.rel or link.called.is_word or not self._are_plain)
            for number, link in self._numbered
        )

    @property
    def _leads_back(self) -> bool:
        return self.current == 2 or any(
            number == self.current - 1 and link.is_previous for number, link in self._numbered
        )

    @property
    def _are_years(self) -> bool:
        values = self._group.values | ({self._own.value} if self._own.value is not None else set())
        return all(1900 <= value <= 2100 for value in values)

    def _links_to(self, number: int) -> bool:
        return any(number == other for other, _ in self._numbered)
