"""The pages of a list, as real software shows them; and numbers that count something else."""

from __future__ import annotations

import pytest

from crawl4r.discovery.links.page_links import LinkDocument
from crawl4r.discovery.pagination.finder import Pagination, find_pagination
from tests.discovery.pagination.false_friends import FALSE_FRIENDS, FalseFriend
from tests.discovery.pagination.pager_pages import PAGERS, H, Pager


def found_in(url: str, html: str) -> Pagination:
    return find_pagination(LinkDocument(f"<body>{html}".encode()), H + url)


@pytest.mark.parametrize("page", PAGERS, ids=[page.name for page in PAGERS])
def test_a_pager_is_understood(page: Pager) -> None:
    found = found_in(page.url, page.html)
    rule = found.rule
    assert (rule and rule.template.removeprefix(H)) == page.template
    assert [link.number for link in found.pages] == page.numbers
    assert found.current == page.current
    assert (found.next, found.previous) == tuple(
        H + url if url else None for url in (page.next, page.previous)
    )
    if rule:
        assert (rule.first, rule.step) == (page.first, page.step)


@pytest.mark.parametrize("page", FALSE_FRIENDS, ids=[page.name for page in FALSE_FRIENDS])
def test_numbers_that_count_something_else_make_no_rule(page: FalseFriend) -> None:
    found = found_in(page.url, page.html)
    assert found.rule is None
    assert found.pages == ()
    assert (found.next, found.previous) == tuple(
        H + url if url else None for url in (page.next, page.previous)
    )
