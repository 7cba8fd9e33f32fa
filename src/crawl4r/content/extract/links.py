"""The links of a page with their text and heading, and its images with their descriptions."""

from __future__ import annotations

from urllib.parse import urljoin

from turbohtml import Document

from crawl4r.model import PageImage, PageLink

_PLACES = "h1,h2,h3,h4,h5,h6,a[href]"
_MOST = 10_000
_LONGEST = 300  # characters of an anchor's text or a heading
_NOT_PAGES = ("javascript:", "data:", "about:", "#")
_SOURCES = ("src", "data-src")  # the second is what scripts for late loading read


def links_of(tree: Document, base: str) -> list[PageLink]:
    """The links in page order, made absolute with `base`."""
    links: list[PageLink] = []
    section = ""
    for node in tree.select(_PLACES):
        text = " ".join(node.text.split())[:_LONGEST]
        if node.tag != "a":
            section = text.rstrip("¶#").strip()
            continue
        href = (node.attr("href") or "").strip()
        if href and not href.lower().startswith(_NOT_PAGES) and len(links) < _MOST:
            rel = node.attr("rel") or ""
            links.append(PageLink(_absolute(href, base), text, section, rel))
    return links


def images_of(tree: Document, base: str) -> list[PageImage]:
    """Each image file once, in the order of the page; `data:` images are left out."""
    images: dict[str, PageImage] = {}
    for node in tree.select("img"):
        for name in _SOURCES:
            source = (node.attr(name) or "").strip()
            if source and not source.lower().startswith(_NOT_PAGES) and len(images) < _MOST:
                url = _absolute(source, base)
                alt = " ".join((node.attr("alt") or "").split())[:_LONGEST]
                images.setdefault(url, PageImage(url, alt))
                break
    return list(images.values())


def _absolute(href: str, base: str) -> str:
    try:
        return urljoin(base, href)
    except ValueError:  # an invalid IPv6 address
        return href
