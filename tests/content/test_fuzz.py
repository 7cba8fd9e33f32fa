"""Real pages, mutated: the readers answer, none of them dies, and none runs into its time limit.

CRAWL4R_FUZZ says how many pages; `make soak` reads an hour's worth.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path

from crawl4r.documenting import extract_body
from crawl4r.model import PageBody, Verdict
from crawl4r.reading import head_of
from crawl4r.resilience.sandbox import Sandbox
from crawl4r.rules import ReadingRules

PAGES = int(os.environ.get("CRAWL4R_FUZZ", "300"))
SEED = int(os.environ.get("CRAWL4R_FUZZ_SEED", "20261115"))
DOCUMENTATION = Path("/usr/share/doc/python3-doc/html/library")
PLACES = b"<>&\"'/=!-\0\xff\xfe \n"
TAGS = (
    b"div p b i a table tr td svg math template select option form script style pre ul li".split()
)


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


def mutants(count: int) -> Iterator[bytes]:
    chance = random.Random(SEED)
    pages = originals()
    for _ in range(count):
        page = chance.choice(pages)
        for _ in range(chance.randint(1, 3)):
            page = chance.choice(MUTATIONS)(chance, page, pages)[:400_000] or b"<p>"
        yield page


def test_every_mutated_page_is_read_and_nobody_dies_of_it() -> None:
    async def read_all() -> tuple[int, int]:
        extractors = Sandbox("crawl4r.extracting:make_extractor", None, workers=1, seconds=30)
        rules = ReadingRules().as_json()
        readers = Sandbox("crawl4r.reading:make_reader", rules, workers=1, seconds=30)
        hostile = 0
        async with extractors, readers:
            for page in mutants(PAGES):
                asked = PageBody(page, "https://e.org/folder/page.html")
                found, _ = await asyncio.gather(
                    extract_body(extractors, page, url=asked.url, content_type="text/html"),
                    readers.run(head_of(asked, 0), page),
                )
                hostile += found.verdict.verdict is Verdict.HOSTILE
            return hostile, extractors.killed + readers.killed

    assert asyncio.run(read_all()) == (0, 0)
