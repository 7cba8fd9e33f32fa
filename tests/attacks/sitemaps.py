"""Sitemaps: XML, gzip and text; indexes of indexes; entries that are no URLs or have no end."""

from __future__ import annotations

import gzip
import random

from tests.attacks.mutating import ANY_BYTES, NUMBERS, mutated, odd_word
from tests.attacks.redirects import target
from tests.attacks.site import Sent, Site, answer, html_page, prose
from tests.attacks.xml_files import hostile_xml

_NAMESPACES = (
    "http://www.sitemaps.org/schemas/sitemap/0.9",
    "http://www.google.com/schemas/sitemap/0.84",
    "",
    "x",
)
_TYPES = (
    "text/xml",
    "application/xml",
    "text/plain",
    "application/gzip",
    "text/html",
    "application/octet-stream",
    "",
)
_MOMENTS = (
    "2026-01-01",
    "9999-99-99",
    "-1",
    "0000-00-00T00:00:00Z",
    "yesterday",
    "2026-01-01T00:00:00+99:99",
    "1e9",
)


def _spelled(chance: random.Random, site: Site, children: list[str]) -> str:
    if chance.random() < 0.7 and (known := [*children, *site.attacks]):
        return site.bad.url + chance.choice(known)
    return target(chance, site.bad.url).decode("utf-8", "replace").replace("&", "&amp;")


def _entry(chance: random.Random, site: Site, tag: str, children: list[str]) -> str:
    filled = (
        f"<loc>{_spelled(chance, site, children)}</loc><lastmod>{chance.choice(_MOMENTS)}</lastmod>"
    )
    filled += f"<priority>{chance.choice(NUMBERS).decode()}</priority>"
    if chance.random() < 0.2:
        filled += f"<news:news><news:title>{odd_word(chance)}</news:title></news:news>"
    return f"<{tag}>{filled}</{tag}>" * chance.choice((1, 1, 1, 30))


def _sitemap(chance: random.Random, site: Site, children: list[str]) -> bytes:
    count = chance.choice((0, 1, 5, 40))
    if chance.random() < 0.15:
        urls = [_spelled(chance, site, children) for _ in range(count)]
        return chance.choice(("\n", "\r\n", "\r", "\0", " ")).join(urls).encode()
    tag, root = (
        ("sitemap", "sitemapindex") if children and chance.random() < 0.6 else ("url", "urlset")
    )
    filled = "".join(_entry(chance, site, tag, children) for _ in range(count))
    return hostile_xml(chance, f'{root} xmlns="{chance.choice(_NAMESPACES)}"', filled)


def _served(chance: random.Random, data: bytes) -> Sent:
    if chance.random() < 0.3:
        data = gzip.compress(data, mtime=0) * chance.choice((1, 1, 3))
        if chance.random() < 0.4:
            data = mutated(chance, data, by=ANY_BYTES)
        if chance.random() < 0.3:
            return answer(data, chance.choice(_TYPES), b"Content-Encoding: gzip")
    return answer(data, chance.choice(_TYPES))


def attack(chance: random.Random, site: Site, count: int) -> None:
    """An index and its children, which name each other, named by robots.txt or found by guessing."""
    for number in range(2):
        page = html_page(f"Named by a sitemap {number}", prose(chance))
        site.put(f"/sitemaps/page{number}", answer(page), is_linked=False)
    names = [f"/sitemaps/{n}{chance.choice(('.xml', '.xml.gz', '.txt', ''))}" for n in range(count)]
    for name in ("/sitemap.xml", *names):
        sent = _served(chance, _sitemap(chance, site, [*names, "/sitemap.xml", "/sitemaps/page0"]))
        site.put(name, sent, is_linked=chance.random() < 0.2)
    if "/robots.txt" not in site.bad.answers and chance.random() < 0.6:
        lines = "".join(f"Sitemap: {site.bad.url}{name}\n" for name in names)
        site.put("/robots.txt", answer(lines.encode(), "text/plain"), is_linked=False)
