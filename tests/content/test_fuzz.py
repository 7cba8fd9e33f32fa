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
from crawl4r.resilience.sandbox import Sandbox
from crawl4r.rules import ReadingRules
from crawl4r.safe_reading import SafeReader, is_quick

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
    """As a crawl does it: what is quick is read in this very process. A page that is not may take its
    worker with it, but never a worker's time."""

    async def read_all() -> list[str]:
        rules = ReadingRules()
        extractors = Sandbox("crawl4r.extracting:make_extractor", None, workers=1, seconds=30)
        sandbox = Sandbox("crawl4r.reading:make_reader", rules.as_json(), workers=1, seconds=30)
        reader = SafeReader(rules, sandbox)
        reasons = []
        async with extractors, sandbox:
            for number, page in enumerate(mutants(PAGES)):
                asked = PageBody(page, "https://e.org/folder/page.html")
                found, reading = await asyncio.gather(
                    extract_body(extractors, page, url=asked.url, content_type="text/html"),
                    reader.read(asked, 0),
                    return_exceptions=True,
                )
                if isinstance(reading, BaseException):
                    assert not is_quick(page)
                    reasons.append(f"{number} read: {reading}")
                if isinstance(found, BaseException) or found.verdict.verdict is Verdict.HOSTILE:
                    reasons.append(f"{number} extracted: {found}")
        return reasons

    assert [reason for reason in asyncio.run(read_all()) if "process died" not in reason] == []
