"""A plain breadth-first walker, for what a reader of the pages finds who knows nothing of the truth."""

from __future__ import annotations

import gzip
import re
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from http.client import HTTPMessage
from typing import IO
from urllib.parse import urldefrag, urljoin, urlsplit
from xml.etree import ElementTree


@dataclass(frozen=True, slots=True)
class Answered:
    status: int
    body: bytes
    headers: HTTPMessage


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        return None


_NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
_LINK = re.compile(r'<(?:a|link rel="next") href="([^"]*)"')
_opener = urllib.request.build_opener(_NoRedirects)


def get(url: str, **headers: str) -> Answered:
    """One request, redirects and errors included; header names with _ for -."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        answer = _opener.open(urllib.request.Request(url, headers=named), timeout=10)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return Answered(answer.status, answer.read(), answer.headers)


def links_of(url: str, body: bytes) -> list[str]:
    """Every link of a page and its rel=next, as URLs in the order they stand there."""
    hrefs = (unescape(href) for href in _LINK.findall(body.decode()))
    return [urldefrag(urljoin(url, href)).url for href in hrefs]


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def walk(start: str, spell: Callable[[str], str | None] = str) -> dict[str, int]:
    """The status of every path that is found. `spell` says how a path is to be written; for None it
    is not asked for."""
    origin = start.removesuffix(path_of(start))
    statuses: dict[str, int] = {}
    queue, known = deque([path_of(start)]), {path_of(start)}
    while queue:
        path = queue.popleft()
        answered = get(origin + path)
        statuses[path] = answered.status
        if answered.status != 200 or answered.headers.get_content_type() != "text/html":
            continue
        for url in links_of(origin + path, answered.body):
            spelled = spell(path_of(url))
            if spelled is not None and spelled not in known:
                known.add(spelled)
                queue.append(spelled)
    return statuses


def linked_paths(url: str) -> set[str]:
    """Where one page leads to, which must be there."""
    answered = get(url)
    assert answered.status == 200, url
    return {path_of(found) for found in links_of(url, answered.body)}


def locations(document: bytes) -> list[str]:
    """What a sitemap names."""
    root = ElementTree.fromstring(document)
    return [found.text or "" for found in root.iter(f"{_NAMESPACE}loc")]


def in_sitemaps(url: str) -> set[str]:
    """All pages that a sitemap names, and the sitemaps that it names, however deep."""
    body = get(url).body
    document = gzip.decompress(body) if url.endswith(".gz") else body
    named = locations(document)
    if b"<sitemapindex" not in document:
        return set(named)
    return set().union(*map(in_sitemaps, named))
