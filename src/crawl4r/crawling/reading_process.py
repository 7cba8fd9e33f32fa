"""The jobs of a reading process: read pages, listings and samples of soft 404s.

All parsing of bytes from sites runs here, in a process without privileges. `safe_reader` is the crawl's
side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import convert

from crawl4r.content.verdict.likeness import Likeness, likeness
from crawl4r.content.verdict.signatures import bundled
from crawl4r.crawling.listings import Listing, load_formats, read_listing
from crawl4r.crawling.reader import PageReading, Reader
from crawl4r.discovery.links.link_judge import LinkJudge
from crawl4r.formats.charset import as_utf8, guess_encoding, load_codecs
from crawl4r.formats.html import parse_html
from crawl4r.model import Lease, PageBody
from crawl4r.urls.policy import LinkRules

PAGE, LISTING, SHAPE = "page", "listing", "shape"


def make_reader(plain_rules: Mapping[str, Any]) -> Callable[[Sequence[Any], bytes], Any]:
    """The sandbox's entry: `([job, ...facts], body) -> result of the job`."""
    rules = LinkRules.from_json(plain_rules)
    reader, judge = Reader(rules), LinkJudge(rules)
    # Load everything that a page may need, because the process cannot open files later.
    bundled().prepare()
    load_codecs()
    load_formats()

    def read_page(
        body: bytes, depth: int, with_likeness: bool, with_links: bool, *known: Any
    ) -> PageReading:
        page = PageBody(body, *known)
        return reader.read(page, depth, with_likeness=with_likeness, with_links=with_links)

    def read_list(body: bytes, lease: Any, content_type: str) -> Listing:
        return read_listing(convert(lease, Lease), content_type, body, judge)

    jobs: dict[str, Callable[..., Any]] = {PAGE: read_page, LISTING: read_list, SHAPE: shape_of}
    return lambda head, body: jobs[head[0]](body, *head[1:])


def shape_of(body: bytes, url: str, content_type: str) -> Likeness:
    """The fingerprint of the page that a host shows for a missing one."""
    return likeness(parse_html(as_utf8(body, guess_encoding(body, content_type))), url)
