"""How many pages has a site, told from a sample? On graphs whose size is known."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from crawl4r.reports.estimate import SampledPage, estimate

Graph = dict[str, list[str]]


def _of_one_kind(url: str) -> str:
    return ""


def _by_depth(url: str) -> str:
    return str(url.count("/"))


def _tree(children: int, depth: int) -> Graph:
    graph: Graph = {}
    level = [""]
    for _ in range(depth):
        for url in level:
            graph[url] = [f"{url}/{number}" for number in range(children)]
        level = [child for url in level for child in graph[url]]
    return graph | {url: [] for url in level}


def _random_links(pages: int, links: int) -> Graph:
    chance = random.Random(1)
    urls = [f"p{number}" for number in range(pages)]
    return {url: chance.sample(urls, links) for url in urls}


def _with_contents(pages: int) -> Graph:
    """The first page names all, each other one its neighbours."""
    urls = [f"p{number}" for number in range(pages)]
    beside = {url: urls[max(0, i - 1) : i + 2] for i, url in enumerate(urls)}
    return beside | {"p0": urls}


def _lists(items: int, a_page: int) -> Graph:
    """Numbered lists, all known from the first page, that name items nothing else names."""
    lists = [f"list/{number}" for number in range(items // a_page)]
    graph: Graph = {"start": lists}
    for place, url in enumerate(lists):
        graph[url] = [f"item/{place * a_page + i}" for i in range(a_page)]
        graph |= {item: ["start"] for item in graph[url]}
    return graph


def _sampled(
    graph: Graph, start: str, most: int, kind: Callable[[str], str]
) -> tuple[dict[str, bool], list[SampledPage]]:
    """As a plan takes it: at random from what is known, by turns from each kind."""
    chance = random.Random(2)
    known, sample = {start: False}, []
    while len(sample) < most and (left := [u for u in known if u not in {p.url for p in sample}]):
        seen = [kind(page.url) for page in sample]
        url = min(left, key=lambda each: (seen.count(kind(each)), chance.random()))
        sample.append(SampledPage(url, True, set(graph[url]) - {url}))
        known |= {target: False for target in graph[url] if target not in known}
    return known, sample


@pytest.mark.parametrize(
    ("graph", "start", "kind"),
    [
        pytest.param(_tree(8, 3), "", _by_depth, id="a tree"),
        pytest.param(_random_links(2_000, 15), "p0", _of_one_kind, id="random links"),
        pytest.param(_with_contents(1_000), "p0", _of_one_kind, id="a table of contents"),
        pytest.param(_lists(3_000, 30), "start", lambda url: url.partition("/")[0], id="lists"),
        pytest.param(_random_links(60, 5), "p0", _of_one_kind, id="a small site"),
    ],
)
def test_a_sample_of_fifty_tells_the_size_within_a_factor_of_two(
    graph: Graph, start: str, kind: Callable[[str], str]
) -> None:
    known, sample = _sampled(graph, start, 50, kind)
    found = estimate(known, sample, kind)
    assert len(graph) / 2 <= found.likely <= len(graph) * 2
    assert found.low <= found.likely <= found.high
    assert found.low <= len(graph) <= found.high


def test_a_site_that_was_read_to_the_end_has_as_many_pages_as_were_kept() -> None:
    known, sample = _sampled(_random_links(20, 4), "p0", 50, _of_one_kind)
    sample[3] = sample[3]._replace(is_kept=False)
    found = estimate(known, sample, _of_one_kind)
    assert found == (19, 19, 19, 0)


def test_what_the_sample_found_missing_is_missing_among_the_rest_too() -> None:
    names = {f"p{number}" for number in range(1_000)}
    sample = [SampledPage("p0", True, names)]
    sample += [SampledPage(f"p{n}", n % 2 == 0, {"p0"}) for n in range(1, 41)]
    found = estimate(dict.fromkeys(names, True), sample, _of_one_kind)
    assert 400 <= found.likely <= 600


def test_a_sitemap_that_names_what_links_lead_to_is_believed() -> None:
    listed = {f"p{number}": True for number in range(5_000)}
    chance = random.Random(3)
    sample = [
        SampledPage(url, True, set(chance.sample(sorted(listed), 10)))
        for url in chance.sample(sorted(listed), 50)
    ]
    assert estimate(listed, sample, _of_one_kind).likely == 5_000


def test_no_page_makes_no_estimate() -> None:
    assert estimate({}, [], _of_one_kind) == (0, 0, 0, 0)
