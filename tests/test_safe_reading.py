"""Where a page is read: quick ones in place, the others where they can be killed."""

from __future__ import annotations

import asyncio

import pytest

from crawl4r.markup import parse_html
from crawl4r.model import PageBody
from crawl4r.reading import Reading
from crawl4r.resilience.sandbox import Sandbox
from crawl4r.rules import ReadingRules
from crawl4r.safe_reading import SafeReader, Unreadable, is_quick

MOST_NODES = 2_000_000  # that a page read in place may become: a few hundred MB, half a second

HOSTILE = {
    "nested": b"<div>" * 240,
    "attributes": b"<a " + b" ".join(b"a%d" % n for n in range(70_000)) + b">",
    "unlike formatting in each paragraph": b"<p>"
    + b"".join(b"<b a=%d>" % n for n in range(100, 150))
    + b"<p>x</p>" * 1_220,
    "adoption agency": b"".join(b"<b a=%d><p>" % n for n in range(100)) + b"</b>" * 40,
    "ends that close nothing": b"<p>"
    + b"".join(b"<i a=%d></x>" % n for n in range(512))
    + b"<div>x</x>" * 737,
    "foster parents": b"<table>"
    + b"".join(b"<b a=%d>x" % n for n in range(200))
    + b"<tr>x</tr>" * 1_130,
}


def read(
    *pages: bytes, is_wary: bool = False, patience: float = 60.0
) -> tuple[list[Reading], bool]:
    """What was read, and whether the sandbox had to start."""

    async def main() -> tuple[list[Reading], bool]:
        rules = ReadingRules()
        async with Sandbox("crawl4r.reading:make_reader", rules.as_json(), seconds=20) as sandbox:
            reader = SafeReader(rules, sandbox, is_wary=is_wary, patience=patience)
            readings = [await reader.read(PageBody(page, "http://e.org/"), 0) for page in pages]
            return readings, bool(sandbox.workers)

    return asyncio.run(main())


def test_a_small_page_is_read_in_place() -> None:
    (reading,), used_sandbox = read(b"<p>x<a href=/x>")
    assert [item.url for item in reading.found] == ["http://e.org/x"]
    assert not used_sandbox


@pytest.mark.parametrize(
    "page", [b"<a href=/x>" + b"y" * 530_000, b"<a href=/x>" + b"<p>x</p>" * 3_100]
)
def test_a_page_that_could_take_long_is_read_in_the_sandbox_and_says_the_same(page: bytes) -> None:
    (reading,), used_sandbox = read(page)
    assert [item.url for item in reading.found] == ["http://e.org/x"]
    assert used_sandbox


def test_after_a_page_that_took_long_only_those_are_read_in_place_that_cannot() -> None:
    few, many = b"<a href=/x>" + b"<p>x</p>" * 1_000, b"<a href=/y>" + b"<p>x</p>" * 2_000
    assert read(few, many)[1] is False
    assert read(few, few, patience=0.0)[1] is False
    (_, second), used_sandbox = read(few, many, patience=0.0)
    assert [item.url for item in second.found] == ["http://e.org/y"]
    assert used_sandbox


def test_after_a_crash_every_page_is_read_in_the_sandbox() -> None:
    (reading,), used_sandbox = read(b"<a href=/x>", is_wary=True)
    assert [item.url for item in reading.found] == ["http://e.org/x"]
    assert used_sandbox


@pytest.mark.parametrize("page", HOSTILE.values(), ids=HOSTILE)
def test_the_worst_that_is_read_in_place_stays_small(page: bytes) -> None:
    assert is_quick(page)
    assert _count_nodes(page) < MOST_NODES


def test_many_bytes_or_many_tags_are_not_quick() -> None:
    assert not is_quick(b"<a " + b" ".join(b"a%d" % n for n in range(80_000)) + b">")
    assert not is_quick(b"<b></b>" * 1_251)


def test_tags_that_nest_deep_are_not_quick_wherever_they_are() -> None:
    plain, nested = b"<p>x</p>" * 400, b"<div>" * 300
    assert is_quick(plain * 2)
    for page in (nested, plain + nested, nested + plain, plain + nested + b"</div>" * 300 + plain):
        assert not is_quick(page)


def test_a_page_that_kills_its_worker_is_blamed_and_the_next_is_read() -> None:
    """Whatever this parser makes of a cell at the very depth where it nests no deeper."""
    killer = b"<a>" + b"<div>" * 506 + b"<table>x<td></table>y<p>z</a>q<a href=/y>"

    async def main() -> list[Reading | BaseException]:
        rules = ReadingRules()
        async with Sandbox("crawl4r.reading:make_reader", rules.as_json()) as sandbox:
            reader = SafeReader(rules, sandbox, is_wary=True)
            pages = [PageBody(page, "http://e.org/") for page in (killer, b"<a href=/x>")]
            return await asyncio.gather(*(reader.read(p, 0) for p in pages), return_exceptions=True)

    first, second = asyncio.run(main())
    assert isinstance(first, Reading) or str(first) == "the reading process died"
    assert isinstance(second, Reading)
    assert [item.url for item in second.found] == ["http://e.org/x"]


def test_a_page_that_breaks_the_reader_is_blamed() -> None:
    async def main() -> Reading:
        async with Sandbox("crawl4r.reading:make_reader", {}) as sandbox:
            reader = SafeReader(ReadingRules(), sandbox)
            return await reader.read(PageBody(b"<a href=x>", "not a URL"), 0)

    with pytest.raises(Unreadable):
        asyncio.run(main())


def _count_nodes(page: bytes) -> int:
    root = parse_html(page).root
    assert root is not None
    return sum(1 for _ in root.descendants)
