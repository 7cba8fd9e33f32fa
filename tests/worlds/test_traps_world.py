"""The traps work: endless for a crawler that follows them, with real pages behind."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.worlds.process import WorldProcess
from tests.worlds.trap_calendar import TODAY
from tests.worlds.traps import Traps
from tests.worlds.walking import get, linked_paths, links_of, path_of, walk


@pytest.fixture(scope="module")
def site() -> Iterator[WorldProcess]:
    with WorldProcess(Traps()) as site:
        yield site


def plainly(path: str) -> str | None:
    """A path as someone would write it who knows these traps and their ways out."""
    path = re.sub(r"\?(sid|zq)=\w+|;jsessionid=\w+|^/\(S\(\w+\)\)", "", path)
    path = re.sub(r"^/guide/(a/|b/)+", "/guide/", path)
    if re.search(r"print=1|^/share|\?C=|\?q=|^/calendar/(day|week)", path):
        return None
    if path.startswith("/shop?") and not re.fullmatch(r"/shop\?page=\d+", path):
        return None
    month = re.match(r"/calendar/month/(\d+)-(\d+)", path)
    if month and abs((int(month[1]) - TODAY.year) * 12 + int(month[2]) - TODAY.month) > 6:
        return None
    return path


def test_whoever_knows_the_traps_finds_the_real_pages_and_the_ways_to_them(
    site: WorldProcess,
) -> None:
    truth = Traps().truth()
    found = walk(site.url("/"), plainly)
    assert set(found.values()) == {200}
    assert len(truth.real) == 400
    assert truth.real | truth.ways <= found.keys()
    beside = found.keys() - truth.real - truth.ways
    assert all(path.startswith("/calendar/month/") for path in beside)
    assert all(map(truth.wasted, beside))
    for path in found:
        assert truth.real_of(path) == (path if path in truth.real else None)


def test_no_two_real_pages_have_the_same_text() -> None:
    truth = Traps().truth()
    texts = set()
    for path in truth.real:
        shown = truth.world.shown(path)
        assert shown is not None
        texts.add(shown.page.paragraphs)
    assert len(texts) == 400


@pytest.mark.parametrize(
    ("start", "step"),
    [
        ("/calendar", r"/calendar/month/"),
        ("/calendar/day/2025-11-24", r"/calendar/day/"),
        ("/calendar/week/2025-48", r"/calendar/week/"),
        ("/forum", r"sid="),
        ("/club", r"zq="),
        ("/docs/index.jsp", r";jsessionid="),
        ("/help/default.aspx", r"^/\(S\("),
        ("/guide/", r"/[ab]/$"),
        ("/search", r"q="),
        ("/shop", r"colour=.*|size=.*"),
    ],
)
def test_a_trap_leads_on_and_on_to_pages_that_answer(
    site: WorldProcess, start: str, step: str
) -> None:
    path, seen = start, {start}
    for _ in range(12):
        answered = get(site.url(path))
        assert answered.status == 200
        onward = [path_of(url) for url in links_of(site.url(path), answered.body)]
        fresh = [new for new in onward if re.search(step, new) and "print=" not in new]
        path = next(new for new in fresh if new not in seen and not new.startswith("/share"))
        seen.add(path)
    assert len(seen) == 13


@pytest.mark.parametrize(
    ("copy", "real"),
    [
        ("/forum/topic-3?sid=5f0e", "/forum/topic-3"),
        ("/club/page-3?zq=5f0e", "/club/page-3"),
        ("/docs/page-3.jsp;jsessionid=5F0E", "/docs/page-3.jsp"),
        ("/(S(5f0e))/help/topic-3.aspx", "/help/topic-3.aspx"),
        ("/guide/a/b/a/topic-3.html", "/guide/topic-3.html"),
        ("/files/maps/?C=M;O=D", "/files/maps/"),
        ("/notes/3?print=1", "/notes/3"),
        ("/shop?page=1", "/shop"),
    ],
)
def test_a_copy_has_the_text_of_the_real_page_and_names_it_if_told_to(copy: str, real: str) -> None:
    truth = Traps(canonical_links=True).truth()
    copied, original = truth.world.shown(copy), truth.world.shown(real)
    assert copied is not None
    assert original is not None
    assert copied.page.paragraphs == original.page.paragraphs
    assert copied.page.canonical == original.page.canonical == truth.real_of(copy) == real
    assert truth.wasted(copy)
    plain = Traps().truth().world.shown(copy)
    assert plain is not None
    assert plain.page.canonical == ""


def test_filters_lead_to_every_order_of_parameters_and_to_the_same_products(
    site: WorldProcess,
) -> None:
    one, other = "/shop?colour=red&size=m", "/shop?size=m&colour=red"
    assert {"/shop?colour=red", "/shop?size=m"} <= linked_paths(site.url("/shop"))
    assert one in linked_paths(site.url("/shop?colour=red"))
    assert other in linked_paths(site.url("/shop?size=m"))
    products = [
        {path for path in linked_paths(site.url(listed)) if path.startswith("/shop/item/")}
        for listed in (one, other, "/shop?colour=red")
    ]
    assert products[0] == products[1]
    assert products[0] < products[2]
    assert f"{one}&sort=price" in linked_paths(site.url(one))
