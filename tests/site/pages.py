"""A well-behaved generated site of any size, whose every byte a test can predict.

`/site/<n>/` is page 0 and `/site/<n>/p/<i>.html` the pages 1 to n-1: n pages in all. Each page
links to its four children in a tree, so that all are reachable, and across to others.
"""

import hashlib
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from html import escape

from tests.site.exchange import Reply, Request, Routes, html_page

BRANCHES = 4
LINKS = 10  # on each page, duplicates included
FIRST_CHANGE = datetime(2024, 1, 1, tzinfo=UTC)

SUBJECTS = ("keeper", "council", "engineer", "traveller", "library", "teacher", "baker")
VERBS = ("describes", "remembers", "repairs", "measures", "paints", "explains", "visits")
OBJECTS = ("lighthouse", "bridge", "archive", "orchard", "engine", "festival", "station")
MANNERS = ("with great care", "before sunrise", "for the first time", "against all advice")


def page_path(size: int, number: int) -> str:
    return f"/site/{size}/p/{number}.html" if number else f"/site/{size}/"


def page_paths(size: int) -> frozenset[str]:
    """Every page a crawl from the index must find, without fragments and tracking parameters."""
    return frozenset(page_path(size, number) for number in range(size))


def page_bytes(size: int, number: int, origin: str) -> bytes:
    """The exact body. `origin` is "http://" and the Host header, which some links repeat."""
    words = random.Random(f"{size}/{number}")
    paragraphs = "\n".join(
        f'<h2 id="part-{part}">Part {part}: {_sentence(words)}</h2>\n<p>{_paragraph(words)}</p>'
        for part in range(1, 4)
    )
    links = "\n".join(
        f'<li><a href="{escape(href)}">Page {target}</a></li>'
        for href, target in _hrefs(size, number, origin, words)
    )
    return html_page(f"Page {number} of {size}", f"{paragraphs}\n<ul>\n{links}\n</ul>")


def linked_pages(size: int, number: int, words: random.Random) -> list[int]:
    """The pages that a page links to: children, parent, others, and the first one again."""
    first = BRANCHES * number + 1
    targets = [*range(first, min(first + BRANCHES, size))]
    targets += [(number - 1) // BRANCHES] if number else []
    targets += [words.randrange(size) for _ in range(LINKS - 1 - len(targets))]
    return [*targets, targets[0]]


def _hrefs(size: int, number: int, origin: str, words: random.Random) -> list[tuple[str, int]]:
    targets = linked_pages(size, number, words)
    forms = (SPELLINGS[(number + place) % len(SPELLINGS)] for place in range(len(targets)))
    return [
        (spell(size, number, target, origin), target)
        for spell, target in zip(forms, targets, strict=True)
    ]


def _relative(size: int, source: int, target: int, origin: str) -> str:
    if not target:
        return "../" if source else "./"
    return f"{target}.html" if source else f"p/{target}.html"


def _climbing(size: int, source: int, target: int, origin: str) -> str:
    return ("../../" if source else "../") + page_path(size, target).removeprefix("/site/")


def _rooted(size: int, source: int, target: int, origin: str) -> str:
    return page_path(size, target)


def _absolute(size: int, source: int, target: int, origin: str) -> str:
    return origin + page_path(size, target)


def _with_fragment(size: int, source: int, target: int, origin: str) -> str:
    return f"{_relative(size, source, target, origin)}#part-2"


def _tracked(size: int, source: int, target: int, origin: str) -> str:
    return f"{page_path(size, target)}?utm_source=site&utm_medium=page{source}"


SPELLINGS: tuple[Callable[[int, int, int, str], str], ...] = (
    _relative,
    _climbing,
    _rooted,
    _absolute,
    _with_fragment,
    _tracked,
)


def _sentence(words: random.Random) -> str:
    subject, verb = words.choice(SUBJECTS), words.choice(VERBS)
    return f"the {subject} {verb} the {words.choice(OBJECTS)} {words.choice(MANNERS)}"


def _paragraph(words: random.Random) -> str:
    return " ".join(f"{_sentence(words).capitalize()}." for _ in range(5))


async def _serve_page(request: Request, reply: Reply) -> None:
    size = int(request.tail.partition("/")[0])
    number = _page_number(size, request.path)
    if number is None:
        await reply.send(b"not found\n", status=404, content_type="text/plain")
        return
    body = page_bytes(size, number, request.origin)
    changed = FIRST_CHANGE + timedelta(minutes=number)
    etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    validators = [("ETag", etag), ("Last-Modified", format_datetime(changed, usegmt=True))]
    if _is_unchanged(request, etag, changed):
        await reply.send(status=304, headers=validators)
    else:
        await reply.send(body, headers=validators)


def _page_number(size: int, path: str) -> int | None:
    name = path.removeprefix(f"/site/{size}/p/").removesuffix(".html")
    number = int(name) if name.isdecimal() else 0
    return number if number < size and path == page_path(size, number) else None


def _is_unchanged(request: Request, etag: str, changed: datetime) -> bool:
    """RFC 9110 section 13.2.2: If-None-Match, when present, decides alone."""
    known = request.header("If-None-Match")
    if known is not None:
        tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
        return bool(tags & {etag, "*"})
    since = request.header("If-Modified-Since")
    return since is not None and changed <= parsedate_to_datetime(since)


def routes() -> Routes:
    return {"/site": _serve_page}
