"""The changing site changes as its truth says, round by round."""

from __future__ import annotations

import re
from collections import Counter
from email.message import Message
from typing import Literal

import pytest

from tests.site.exchange import Request
from tests.worlds.changing import Changing, ChangingSite, ChangingWorld
from tests.worlds.walking import get, locations, path_of, walk


def test_a_tenth_of_a_changing_site_changes_often_and_the_rest_hardly_ever() -> None:
    told = Changing()
    rounds = [told.truth(number) for number in range(1, 21)]
    times = Counter(path for each in rounds for path in each.changed)
    lively = told.lively()
    assert len(lively) == 500
    went = frozenset[str]().union(*(each.vanished for each in rounds))
    assert {times[path] for path in lively - went} == {10, 20}
    rest = sum(times[path] for path in rounds[-1].paths - lively) / (4500 * 20)
    assert 1 / 800 < rest < 1 / 300
    assert max(times[path] for path in rounds[-1].paths - lively) < 4
    assert len(went) == sum(len(each.vanished) for each in rounds) == 5000 - len(rounds[-1].paths)
    said_gone = frozenset[str]().union(*(each.said_gone for each in rounds))
    assert 0 < len(said_gone) < len(went) / 2
    assert {bool(each.vanished) for each in rounds} == {True, False}


def bodies(site: ChangingSite, paths: frozenset[str]) -> dict[str, bytes]:
    answers = {path: get(site.url(path)) for path in paths}
    return {path: answer.body for path, answer in answers.items() if answer.status == 200}


def test_every_page_of_a_changing_site_is_found_and_changes_when_the_truth_says() -> None:
    told = Changing(pages=80)
    with ChangingSite(told) as site:
        paths = told.truth(0).paths
        assert len(paths) == 80
        assert walk(site.url("/")) == dict.fromkeys(paths, 200)
        before = bodies(site, paths)
        assert site.advance() == 1
        after = bodies(site, paths)
        assert {path for path in after if after[path] != before[path]} == told.truth(1).changed
        assert site.advance() == 2
        last = bodies(site, paths)
        assert {path for path in last if last[path] != after[path]} == told.truth(2).changed
        assert last.keys() == told.truth(2).paths == paths - told.truth(2).vanished
        found = walk(site.url("/"))
        assert {path for path in found if found[path] == 200} == told.truth(2).paths


def test_a_page_that_vanished_answers_404_or_410_from_then_on() -> None:
    told = Changing(pages=2000)
    went = [path for number in range(12) for path in told.truth(number).vanished]
    said_gone = {path for number in range(12) for path in told.truth(number).said_gone}
    assert 0 < len(said_gone) < len(went)
    with ChangingSite(told) as site:
        assert {get(site.url(path)).status for path in went} == {200}
        site.advance(12)
        for path in went:
            assert get(site.url(path)).status == (410 if path in said_gone else 404)


def asked(world: ChangingWorld, path: str) -> bytes:
    """An answer without a process in between."""
    answer = world.answer(Request("127.0.0.1", "GET", path, "HTTP/1.1", ()))
    assert answer.status == 200
    return answer.body


def test_rounds_can_be_skipped_and_the_site_is_the_same_as_if_they_were_not() -> None:
    told = Changing(pages=200, seed=5)
    slow, fast = told.world(), told.world()
    for number in range(1, 6):
        slow.hear({"round": number})
    fast.hear({"round": 5})
    for path in told.truth(5).paths:
        assert asked(slow, path) == asked(fast, path)
    with pytest.raises(ValueError, match="no way back"):
        fast.hear({"round": 4})


def lastmods(world: ChangingWorld) -> dict[str, str]:
    [index] = re.findall(r"Sitemap: (\S+)", asked(world, "/robots.txt").decode())
    parts = [path_of(url) for url in locations(asked(world, path_of(index)))]
    pattern = re.compile(r"<loc>(\S+?)</loc>(?:<lastmod>(\S+?)</lastmod>)?</url>")
    found = (pattern.findall(asked(world, part).decode()) for part in parts)
    return {path_of(url): when for entries in found for url, when in entries}


@pytest.mark.parametrize("lastmod", ["true", "none", "always-now"])
def test_the_sitemap_of_a_changing_site_says_when_a_page_changed_or_does_not(
    lastmod: Literal["true", "none", "always-now"],
) -> None:
    told = Changing(pages=2000, lastmod=lastmod)
    world = told.world()
    before = lastmods(world)
    world.hear({"round": 2})
    after = lastmods(world)
    assert before.keys() == told.truth(0).paths
    assert after.keys() == told.truth(2).paths
    newer = {path for path in after if after[path] > before[path]}
    changed = (told.truth(1).changed | told.truth(2).changed) & after.keys()
    expected = {"true": changed, "none": set(), "always-now": after.keys()}
    assert newer == expected[lastmod]


def conditions(told: Changing, headers: Message) -> dict[str, str]:
    """What a crawler sends that knows these validators; they are there as told."""
    assert (headers["ETag"] is not None, headers["Last-Modified"] is not None) == (
        told.etags,
        told.last_modified,
    )
    known = (("If_None_Match", headers["ETag"]), ("If_Modified_Since", headers["Last-Modified"]))
    return {name: value for name, value in known if value is not None}


@pytest.mark.parametrize(
    "told",
    [
        Changing(50),
        Changing(50, last_modified=False),
        Changing(50, etags=False),
        Changing(50, etags=False, last_modified=False, sitemap=False),
        Changing(50, answers_304=False),
    ],
    ids=["both", "etag", "date", "neither", "ignored"],
)
def test_validators_are_sent_and_honoured_as_told(told: Changing) -> None:
    # In one of two rounds every lively page changes.
    changed = told.truth(1).changed | told.truth(2).changed
    lively = min(told.lively() & told.truth(2).paths)
    quiet = min(told.truth(2).paths - changed)
    is_304 = told.answers_304 and (told.etags or told.last_modified)
    unchanged = 304 if is_304 else 200
    with ChangingSite(told) as site:
        known = {path: conditions(told, get(site.url(path)).headers) for path in (lively, quiet)}
        for path, sent in known.items():
            assert get(site.url(path), **sent).status == unchanged
        site.advance(2)
        assert get(site.url(lively), **known[lively]).status == 200
        assert get(site.url(quiet), **known[quiet]).status == unchanged
        assert (b"Sitemap" in get(site.url("/robots.txt")).body) == told.sitemap
