"""Scrapy: crawl one site, keep each page's HTML in a file, resumable by JOBDIR.

Run by the peers' interpreter: `scrapy_site.py URL DIRECTORY [--stock] [--extract]`. Prints JSON.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

CONCURRENCY = 64
STOCK: dict[str, Any] = {
    "CONCURRENT_REQUESTS": CONCURRENCY,
    "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": True,
    "LOG_LEVEL": "WARNING",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
}
# What Scrapy's page on optimization advises: another loop, and no component that goes unused.
TUNED: dict[str, Any] = {
    **STOCK,
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
    "COOKIES_ENABLED": False,
    "REFERER_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "MEMUSAGE_ENABLED": False,
    "LOGSTATS_INTERVAL": 0,
    "STATS_DUMP": False,
    "SPIDER_MIDDLEWARES": {
        "scrapy.spidermiddlewares.start.StartSpiderMiddleware": None,
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
        "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
        "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware": None,
    },
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
        "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
        "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware": None,
    },
}


class SiteSpider(Spider):
    name = "site"

    def __init__(self, url: str, directory: Path, extract: bool) -> None:
        super().__init__()
        self.start_urls = [url]
        self.pages = directory / "pages"
        self.pages.mkdir(parents=True)
        self.extract = extract
        self.stored = 0
        self.links = LinkExtractor(allow_domains=[urlsplit(url).netloc])

    def parse(self, response: Response) -> Iterator[Request]:
        if not isinstance(response, HtmlResponse):
            return
        parts = urlsplit(response.url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        (self.pages / quote(path, safe="")).write_bytes(response.body)
        self.stored += 1
        if self.extract:
            self.keep_markdown(response, path)
        links = self.links.extract_links(response)
        # The extractor tells links to two sections of a page apart; a crawl has no use for both.
        for url in dict.fromkeys(link.url.partition("#")[0] for link in links):
            yield Request(url)

    def keep_markdown(self, response: HtmlResponse, path: str) -> None:
        from trafilatura import extract  # noqa: PLC0415 - costly, and only for this contender

        text = extract(
            response.text,
            url=response.url,
            output_format="markdown",
            with_metadata=True,
            fast=True,
            date_extraction_params={"extensive_search": False},
        )
        file = self.pages.parent / "markdown" / quote(path, safe="")
        file.parent.mkdir(exist_ok=True)
        file.write_text(text or "")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("directory")
    parser.add_argument("--stock", action="store_true", help="leave Scrapy's own settings alone")
    parser.add_argument("--extract", action="store_true", help="also keep trafilatura's markdown")
    arguments = parser.parse_args()
    settings = STOCK if arguments.stock else TUNED
    process = AsyncCrawlerProcess({**settings, "JOBDIR": f"{arguments.directory}/job"})
    crawler = process.create_crawler(SiteSpider)
    process.crawl(crawler, arguments.url, Path(arguments.directory), arguments.extract)
    process.start()
    assert isinstance(crawler.spider, SiteSpider)
    print(json.dumps({"stored": crawler.spider.stored}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
