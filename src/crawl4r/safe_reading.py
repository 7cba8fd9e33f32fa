"""Read a page so that it cannot hurt the crawl: the quick ones here, the others in the sandbox.

Sending a page to another process and its links back costs as much as reading it. What a parser has to
do grows with the bytes, and with the tags times the formatting elements that each may have to open
again: a page of moderate size with few tags cannot take long, whatever it says. With some more it can,
for half a second, if it was made for that: the first that does is the last that may
(docs/decisions/0003).
"""

from __future__ import annotations

from time import thread_time

from crawl4r.model import PageBody
from crawl4r.reading import Reader, Reading, head_of
from crawl4r.resilience.sandbox import Sandbox, SandboxKilled
from crawl4r.rules import ReadingRules

_QUICK_BYTES = 512 * 1024
_SURELY_QUICK_TAGS, _LIKELY_QUICK_TAGS = 2_500, 6_000
_PATIENCE = 0.25  # seconds of CPU for one page, ten times what is usual for the largest
_QUICK_DEPTH = 240  # tags; those of a table make two elements each
_STRETCH, _PIECE = 2_048, 512  # bytes of a page, and those of them that are looked at
_SEEN_OPEN = 60  # tags in these pieces that no tag there ends


class Unreadable(Exception):
    """The page broke its reader; `str()` says how."""


class SafeReader:
    """Reads pages by `rules`; `sandbox` runs `entries.READER` with the same ones.

    `is_wary` sends every page there: after a crash, for all we know a page brought the parser down.
    After a page that took more than `patience` seconds here, only those are read here that cannot.
    """

    def __init__(
        self,
        rules: ReadingRules,
        sandbox: Sandbox,
        *,
        is_wary: bool = False,
        patience: float = _PATIENCE,
    ) -> None:
        self._reader = Reader(rules)
        self._sandbox = sandbox
        self._is_wary = is_wary
        self._patience = patience
        self._most_tags = _LIKELY_QUICK_TAGS

    def adopt(self, rules: ReadingRules) -> None:
        """Read later pages by other rules."""
        self._reader = Reader(rules)
        self._sandbox.reconfigure(rules.as_json())

    async def read(
        self,
        page: PageBody,
        depth: int,
        *,
        with_likeness: bool = False,
        with_links: bool = False,
    ) -> Reading:
        """Likeness is for small pages, and so never comes from the sandbox."""
        if not self._is_wary and is_quick(page.body, self._most_tags):
            started = thread_time()
            try:
                return self._reader.read(
                    page, depth, with_likeness=with_likeness, with_links=with_links
                )
            except Exception as problem:  # the page's doing: it is blamed, the crawl goes on
                raise Unreadable(f"{type(problem).__name__}: {problem}"[:300]) from problem
            finally:
                if thread_time() - started > self._patience:
                    self._most_tags = _SURELY_QUICK_TAGS
        try:
            head = head_of(page, depth, with_links=with_links)
            return Reading.from_json(await self._sandbox.run(head, page.body))
        except SandboxKilled as killed:
            raise Unreadable(killed.reason) from None


def is_quick(body: bytes, most_tags: int = _SURELY_QUICK_TAGS) -> bool:
    """Whether no parser can take more than a moment for it, or nests so deep that it may fail."""
    if len(body) > _QUICK_BYTES:
        return False
    tags = body.count(b"<")
    return tags <= _QUICK_DEPTH or (tags <= most_tags and not _may_nest_deep(body))


def _may_nest_deep(body: bytes) -> bool:
    """Whether too many tags seem to be open at once, by a piece of every stretch of the page: tags that
    nest deep take more room than lies between two pieces. A guess: tags that need no end make it too
    high, ends that close nothing make it too low."""
    is_open = 0
    for start in range(0, len(body), _STRETCH):
        end = start + _PIECE
        is_open += body.count(b"<", start, end) - 2 * body.count(b"</", start, end)
        if is_open < 0:
            is_open = 0
        elif is_open > _SEEN_OPEN:
            return True
    return False
