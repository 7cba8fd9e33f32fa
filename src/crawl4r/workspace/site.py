"""One look at a site, in no workspace that stays: a page, what it names, what a crawl would take.

Each function has a twin that ends in `_async`, for code with an event loop.
"""

from __future__ import annotations

import hashlib
import time
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from crawl4r.documents.extract_safely import extract_safely
from crawl4r.model import Capture, Extraction, PageBody, PageVerdict
from crawl4r.settings.load import load_settings
from crawl4r.wiring.documents import make_extractors
from crawl4r.workspace.blocking import run_blocking
from crawl4r.workspace.page import Page
from crawl4r.workspace.page_reader import PageReader
from crawl4r.workspace.seeds import find_scheme

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from typing_extensions import Unpack

    from crawl4r.workspace.map_run import MappedUrl
    from crawl4r.workspace.options import SiteOptions
    from crawl4r.workspace.scrape import FindScheme
    from crawl4r.workspace.survey import Survey


def scrape(url: str, **options: Unpack[SiteOptions]) -> Page:
    """Fetch one page politely, and read it. Raises PageUnavailable, which says why."""
    return run_blocking(lambda: scrape_async(url, **options))


async def scrape_async(url: str, **options: Unpack[SiteOptions]) -> Page:
    """See `scrape`."""
    from crawl4r.workspace.scrape import scrape_page  # noqa: PLC0415 - an extract goes without

    found = await scrape_page(url, find_scheme, **options)
    return _page(found.capture, found.body, found.extraction)


def extract(body: bytes | str, url: str = "", content_type: str = "text/html") -> Page:
    """Read a page that is at hand. Nothing is fetched; `url` makes its links absolute."""
    return run_blocking(lambda: extract_async(body, url, content_type))


async def extract_async(body: bytes | str, url: str = "", content_type: str = "text/html") -> Page:
    """See `extract`."""
    if isinstance(body, str):
        body, content_type = body.encode("utf-8", "replace"), f"{content_type}; charset=utf-8"
    async with make_extractors(load_settings()) as sandbox:
        found = await extract_safely(sandbox, PageBody(body, url, content_type))
    capture = _capture_of(body, url, content_type, found.verdict)
    return _page(capture, body, found)


def map(  # noqa: A001 - the name of the command
    url: str, *, common_crawl: str = "", deny: Sequence[str] = (), **options: Unpack[SiteOptions]
) -> list[MappedUrl]:
    """The URLs that a site names in its sitemaps, its feeds and its first page."""
    return run_blocking(lambda: map_async(url, common_crawl=common_crawl, deny=deny, **options))


async def map_async(
    url: str, *, common_crawl: str = "", deny: Sequence[str] = (), **options: Unpack[SiteOptions]
) -> list[MappedUrl]:
    """See `map`. `common_crawl` is the address of a CDX index to ask, too."""
    async with open_survey(url, {"deny": deny, **options}) as survey:
        return await survey.map(common_crawl)


def plan(
    url: str, *, sample: int = 50, deny: Sequence[str] = (), **options: Unpack[SiteOptions]
) -> dict[str, Any]:
    """What a crawl would take, by a sample of so many pages; as `crawl4r plan --json` prints it."""
    return run_blocking(lambda: plan_async(url, sample=sample, deny=deny, **options))


async def plan_async(
    url: str, *, sample: int = 50, deny: Sequence[str] = (), **options: Unpack[SiteOptions]
) -> dict[str, Any]:
    """See `plan`."""
    from crawl4r.workspace.plan import plan_of  # noqa: PLC0415 - the others go without

    async with open_survey(url, {"deny": deny, **options}) as survey:
        named = await survey.map(with_links=True)
        return plan_of(url, named, await survey.sample(sample))


@asynccontextmanager
async def open_survey(
    url: str, options: dict[str, Any], find: FindScheme = find_scheme
) -> AsyncIterator[Survey]:
    """A survey of a site, in a workspace that is gone afterwards."""
    from crawl4r.workspace.survey import Survey  # noqa: PLC0415
    from crawl4r.workspace.workspace import open_workspace  # noqa: PLC0415

    with TemporaryDirectory(prefix="crawl4r-survey-") as place:
        async with open_workspace(place, **options) as workspace:
            seed = await find(workspace.settings, url)
            yield Survey(seed, workspace)


def _page(capture: Capture, body: bytes, extraction: Extraction) -> Page:
    reader = PageReader(load_settings(), stays=False)
    return Page(capture, lambda sha256: body, extraction=extraction, reader=reader)


def _capture_of(body: bytes, url: str, content_type: str, verdict: PageVerdict) -> Capture:
    """A capture that no store holds, of bytes that are at hand."""
    return Capture(
        url=url,
        fetched_at=time.time(),
        status=200,
        verdict=verdict.verdict,
        reason=verdict.reason,
        sha256=hashlib.sha256(body).hexdigest(),
        bytes=len(body),
        content_type=content_type.partition(";")[0].strip().lower(),
        encoding="",
        headers=[("content-type", content_type)],
        etag=None,
        last_modified=None,
        page_type="",
        depth=0,
        referrer=None,
        latency_ms=0,
        retries=0,
    )
