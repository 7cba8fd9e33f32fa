"""crawlee: crawl one site with ParselCrawler and keep each page's HTML in a file.

Run by the peers' interpreter: `crawlee_site.py URL DIRECTORY [--durable]`. Prints JSON.
"""

import argparse
import asyncio
import json
import logging
import sys
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote, urlsplit

from crawlee import ConcurrencySettings
from crawlee.configuration import Configuration
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import FileSystemStorageClient, MemoryStorageClient

CONCURRENCY = 64


class SiteCrawl:
    def __init__(self, directory: Path) -> None:
        self.pages = directory / "pages"
        self.pages.mkdir(parents=True)
        self.stored = 0

    async def handle(self, context: ParselCrawlingContext) -> None:
        response = context.http_response
        if not response.headers.get("content-type", "").startswith("text/html"):
            return
        parts = urlsplit(context.request.loaded_url or context.request.url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        (self.pages / quote(path, safe="")).write_bytes(await response.read())
        self.stored += 1
        await context.enqueue_links(strategy="same-hostname")


async def crawl(url: str, directory: Path, durable: bool) -> int:
    """Crawl and return the number of pages stored. A durable queue survives a crash."""
    site = SiteCrawl(directory)
    crawler = ParselCrawler(
        request_handler=site.handle,
        storage_client=FileSystemStorageClient() if durable else MemoryStorageClient(),
        configuration=Configuration(storage_dir=str(directory / "storage"), log_level="WARNING"),
        # The pool starts at its full size: it would otherwise take a minute to grow to it.
        concurrency_settings=ConcurrencySettings(
            min_concurrency=CONCURRENCY,
            max_concurrency=CONCURRENCY,
            desired_concurrency=CONCURRENCY,
        ),
        respect_robots_txt_file=True,
        use_session_pool=False,
        configure_logging=False,
        status_message_logging_interval=timedelta(hours=1),
    )
    await crawler.run([url])
    return site.stored


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--durable", action="store_true", help="keep the request queue on disk")
    arguments = parser.parse_args()
    # Crawlee logs each 404 with a traceback, which this bench does not need.
    logging.disable(logging.ERROR)
    stored = asyncio.run(crawl(arguments.url, arguments.directory, arguments.durable))
    print(json.dumps({"stored": stored}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
