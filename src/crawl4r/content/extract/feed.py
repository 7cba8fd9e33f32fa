"""Turn a feed into a document with a section for each entry."""

from __future__ import annotations

from typing import NamedTuple
from xml.etree import ElementTree

from crawl4r.content.markdown.convert import markdown_of_html

_MOST_ENTRIES = 500


class FeedDocument(NamedTuple):
    title: str
    markdown: str
    links: tuple[str, ...]


def read_feed(xml: str, url: str) -> FeedDocument | None:
    """Read RSS 0.9 to 2.0, RDF and Atom; None for other, broken or entity-declaring files."""
    root = parse_xml(xml)
    if root is None:
        return None
    _drop_namespaces(root)
    channel = root.find("channel")
    top = root if channel is None else channel
    entries = [*root.iter("item"), *root.iter("entry")][:_MOST_ENTRIES]
    if root.tag.lower() not in {"rss", "rdf", "feed"}:
        return None
    title = _text(top, "title")
    parts = [f"# {title}"] if title else []
    links = []
    for entry in entries:
        link = _link(entry)
        links.append(link)
        parts.append(_section(entry, link, url))
    return FeedDocument(title, "\n\n".join(parts), tuple(link for link in links if link))


def parse_xml(xml: str) -> ElementTree.Element | None:
    """The root, or None. Refuses a document type declaration, because it can hold entity bombs."""
    if "<!DOCTYPE" in xml[:4096].upper() or "<!ENTITY" in xml.upper():
        return None
    try:
        return ElementTree.fromstring(xml)
    except (ElementTree.ParseError, ValueError):
        return None


def _section(entry: ElementTree.Element, link: str, url: str) -> str:
    name = _text(entry, "title") or link or "Untitled"
    heading = f"## [{name}]({link})" if link else f"## {name}"
    date = _text(entry, "pubDate") or _text(entry, "published") or _text(entry, "updated")
    body = _text(entry, "encoded") or _text(entry, "content")
    body = body or _text(entry, "description") or _text(entry, "summary")
    text = markdown_of_html(body, link or url) if "<" in body else body
    return "\n\n".join(part for part in (heading, date or _text(entry, "date"), text) if part)


def _link(entry: ElementTree.Element) -> str:
    for link in entry.findall("link"):
        if link.get("rel", "alternate") == "alternate":
            return (link.get("href") or link.text or "").strip()
    return ""


def _text(parent: ElementTree.Element, name: str) -> str:
    found = parent.find(name)
    return "" if found is None else "".join(found.itertext()).strip()


def _drop_namespaces(root: ElementTree.Element) -> None:
    for element in root.iter():
        if isinstance(element.tag, str):
            element.tag = element.tag.rpartition("}")[2]
