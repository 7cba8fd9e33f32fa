"""Derive the list, and how it counts, from links that differ by one number in one place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crawl4r.discovery.pagination.counting import count_by_texts, count_items
from crawl4r.discovery.pagination.evidence import Evidence, Group, Own
from crawl4r.discovery.pagination.labels import LinkLabel
from crawl4r.discovery.pagination.rule import MARK, PageRule, PageStyle, loosely
from crawl4r.discovery.pagination.slots import Slot, Trust


class Believed(NamedTuple):
    """A group that is a list, with its rule."""

    rule: PageRule
    current: int
    weight: tuple[int, ...]  # the larger, the better


def own_place(group: Group, url: str, slots: Iterable[Slot]) -> Own:
    """The position of the page's own URL in the group."""
    for slot in slots:
        if slot.template == group.template:
            return Own(slot.value, False)
    rule = PageRule(group.style, group.template)
    if loosely(rule.opening) == loosely(url):
        return Own(None, True)
    head, _, query = group.template.partition("?")
    if rule.is_in_query and head.rstrip("/") == url.partition("?")[0].rstrip("/"):
        # The same path with other parameters: a pager may drop some or add its own.
        name = next(param for param in query.split("&") if MARK in param).removesuffix(MARK)
        for slot in slots:
            if name + MARK in slot.template.partition("?")[2].split("&"):
                return Own(slot.value, False)
        return Own(None, True)
    return Own(None, False)


def believe(group: Group, own: Own, *, first_is_before: bool = False) -> Believed | None:
    """The rule of a group, or None when its numbers are no page numbers.

    `first_is_before`: the link to the previous page has no number.
    """
    counted = _count(group, own, first_is_before)
    if counted is None:
        return None
    evidence = Evidence(group, own, *counted)
    if not evidence.others or evidence.is_elsewhere or not evidence.convinces:
        return None
    first, step = counted
    style = group.style
    if style is PageStyle.QUERY and step > 1:
        style = PageStyle.OFFSET
    rule = PageRule(style, group.template, first, step)
    weight = (own.is_related, group.trust, evidence.named, len(evidence.others))
    return Believed(rule, evidence.current, weight)


def _count(group: Group, own: Own, first_is_before: bool) -> tuple[int, int] | None:
    """The first number and the step; None when the numbers contradict each other."""
    shown = {
        (link.called.number, value)
        for value, link in group.links
        if link.called.label is LinkLabel.NUMBER
    }
    counted = count_by_texts(shown, own.value)
    if counted and (counted[1] == 1 or group.trust > Trust.NAMELESS or len(shown) > 1):
        return counted
    steps_on = {value for value, link in group.links if link.is_next}
    if group.trust is Trust.OFFSET:
        return count_items(
            group.values, own.value, is_opening=own.is_opening, leads_on=bool(steps_on)
        )
    counts_from_0 = (
        0 in group.values
        or (own.is_opening and 1 in steps_on)
        or (own.value == 1 and first_is_before)
    )
    return int(not counts_from_0), 1
