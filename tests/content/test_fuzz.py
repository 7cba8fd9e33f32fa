"""Real pages, mutated, and pages made to break a parser: each is read, or blamed for its end.

No page runs into its time limit or makes our own code fail. CRAWL4R_FUZZ says how many pages;
`make soak` reads 300,000 and prints each death.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from crawl4r.crawling.safe_reader import SafeReader, Unreadable
from crawl4r.documents.extract_safely import extract_safely
from crawl4r.model import PageBody, Verdict
from crawl4r.processes.entrypoints import READER
from crawl4r.processes.sandbox import Sandbox
from crawl4r.settings.load import Settings
from crawl4r.settings.sections.content import Content
from crawl4r.urls.policy import LinkRules
from crawl4r.wiring.documents import make_extractors
from tests.content.parser_killers import tangles

PAGES = int(os.environ.get("CRAWL4R_FUZZ", "5000"))
SEED = int(os.environ.get("CRAWL4R_FUZZ_SEED", "20261115"))
DOCUMENTATION = Path("/usr/share/doc/python3-doc/html/library")
PLACES = b"<>&\"'/=!-\0\xff\xfe \n"
TAGS = (
    b"div p b i a table tr td svg math template select option form script style pre ul li".split()
)


@cache
def originals() -> list[bytes]:
    folder = resources.files("crawl4r") / "sample" / "site"
    bundled = [Path(str(folder)).rglob("*.html"), DOCUMENTATION.glob("s*.html")]
    pages = [file.read_bytes() for files in bundled for file in sorted(files)]
    return [page for page in pages if len(page) < 300_000]


def flip(chance: random.Random, page: bytes, _: list[bytes]) -> bytes:
    mutated = bytearray(page)
    for _ in range(chance.randint(1, 200)):
        mutated[chance.randrange(len(mutated))] = chance.choice(PLACES)
    return bytes(mutated)


def cut(chance: random.Random, page: bytes, _: list[bytes]) -> bytes:
    start, end = sorted((chance.randrange(len(page)), chance.randrange(len(page))))
    return page[:start] + page[end:]


def repeat(chance: random.Random, page: bytes, _: list[bytes]) -> bytes:
    start = chance.randrange(len(page))
    piece = page[start : start + chance.randint(1, 400)]
    return page[:start] + piece * chance.randint(2, 300) + page[start:]


def splice(chance: random.Random, page: bytes, others: list[bytes]) -> bytes:
    other = chance.choice(others)
    return page[: chance.randrange(len(page))] + other[chance.randrange(len(other)) :]


def nest(chance: random.Random, page: bytes, _: list[bytes]) -> bytes:
    at = chance.randrange(len(page))
    opened = b"".join(b"<%s>" % chance.choice(TAGS) for _ in range(chance.randint(1, 3)))
    return page[:at] + opened * chance.randint(1, 800) + page[at:]


def describe(chance: random.Random, page: bytes, _: list[bytes]) -> bytes:
    at = page.find(b"<", chance.randrange(len(page))) + 1
    names = b" ".join(b"x%d=%d" % (n, n) for n in range(chance.randint(1, 2_000)))
    return page[:at] + b"p " + names + b">" + page[at:]


def recode(chance: random.Random, page: bytes, _: list[bytes]) -> bytes:
    encoding = chance.choice(["utf-16", "utf-16-be", "cp1252", "shift_jis", "utf-7", "utf-32"])
    return page.decode("utf-8", "replace").encode(encoding, "replace")


MUTATIONS: list[Callable[[random.Random, bytes, list[bytes]], bytes]] = [
    flip, cut, repeat, splice, nest, describe, recode,
]  # fmt: skip


def mutants(count: int, seed: int = SEED) -> Iterator[bytes]:
    chance = random.Random(seed)
    pages = originals()
    for _ in range(count):
        page = chance.choice(pages)
        for _ in range(chance.randint(1, 3)):
            page = chance.choice(MUTATIONS)(chance, page, pages)[:400_000] or b"<p>"
        yield page


class Toll(NamedTuple):
    """What pages did to the processes that read them."""

    deaths: list[str]  # of a reader, each with the page that it died of
    problems: list[str]  # everything else that is no answer: an error of ours, time that ran out


def fuzzed() -> Iterator[bytes]:
    """Real pages, mutated, and tangles of open elements in turn."""
    for mutant, tangle in zip(mutants(PAGES // 2), tangles(PAGES // 2, SEED), strict=True):
        yield mutant
        yield tangle


async def read_all(pages: Iterable[bytes]) -> Toll:
    """As a crawl does it; every tenth page is made a document of, too."""
    toll = Toll([], [])

    def note(what: str, number: int, reason: str) -> None:
        kind = toll.deaths if reason.startswith("the reading process died of ") else toll.problems
        kind.append(f"{what} {number}: {reason}")

    async def read(number: int, page: bytes) -> None:
        asked = PageBody(page, "https://e.org/folder/page.html")
        try:
            await SafeReader(readers).read(asked, 0)
        except Unreadable as problem:
            note("read", number, str(problem))
        if number % 10 < 2:  # one of either kind
            found = await extract_safely(extractors, PageBody(page, asked.url))
            if found.verdict.verdict is Verdict.UNREADABLE:
                note("extracted", number, found.verdict.reason)

    extractors = make_extractors(Settings(content=Content(seconds=30)))
    readers = Sandbox(READER, LinkRules().as_json(), seconds=30)
    async with extractors, readers:
        numbered = enumerate(pages)
        while batch := list(islice(numbered, 8)):
            await asyncio.gather(*(read(number, page) for number, page in batch))
    return toll


def test_every_page_is_read_or_blamed_and_only_its_reader_dies_of_it() -> None:
    toll = asyncio.run(read_all(fuzzed()))
    print(f"{PAGES} pages, {len(toll.deaths)} deaths of a reader:", *toll.deaths, sep="\n")
    assert toll.problems == []
