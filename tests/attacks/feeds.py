"""Feeds: RSS, Atom and JSON Feed, and other XML that a crawl keeps."""

from __future__ import annotations

import random

from tests.attacks.json_pages import hostile_json, hostile_value
from tests.attacks.mutating import odd_word
from tests.attacks.redirects import target
from tests.attacks.site import Site, answer, html_page, prose
from tests.attacks.xml_files import hostile_xml

_TYPES = {
    "rss": ("application/rss+xml", "text/xml", "application/xml", "text/html"),
    "atom": ("application/atom+xml", "text/xml", "application/xhtml+xml"),
    "json": ("application/feed+json", "application/json", "text/json"),
    "other": ("application/xml", "image/svg+xml", "application/mathml+xml", "application/rdf+xml"),
}


def _link(chance: random.Random, origin: str) -> str:
    return (
        target(chance, origin).decode("utf-8", "replace").replace("&", "&amp;").replace("<", "&lt;")
    )


def _words(chance: random.Random) -> str:
    word = chance.choice((odd_word(chance), prose(chance, 1)))
    return chance.choice((word.replace("<", "&lt;"), f"<![CDATA[{word}]]>", word))


def _rss(chance: random.Random, origin: str) -> bytes:
    items = "".join(
        f"<item><title>{_words(chance)}</title><link>{_link(chance, origin)}</link>"
        f"<guid>{odd_word(chance)}</guid><pubDate>{_words(chance)}</pubDate>"
        f"<description>{_words(chance)}</description></item>"
        for _ in range(chance.choice((0, 1, 10)))
    )
    return hostile_xml(chance, "rss", f"<channel><title>{_words(chance)}</title>{items}</channel>")


def _atom(chance: random.Random, origin: str) -> bytes:
    entries = "".join(
        f'<entry><id>{_words(chance)}</id><title type="xhtml">{_words(chance)}</title>'
        f'<link rel="alternate" href="{_link(chance, origin)}"/><updated>9999-99-99</updated>'
        f'<content type="html">{_words(chance)}</content></entry>'
        for _ in range(chance.choice((0, 1, 10)))
    )
    return hostile_xml(chance, 'feed xmlns="http://www.w3.org/2005/Atom"', entries)


def _json(chance: random.Random, origin: str) -> bytes:
    odd = ("id", "title", "date_published", "tags", "authors", "attachments")
    items = [
        {"url": _link(chance, origin), "content_html": odd_word(chance)}
        | {name: hostile_value(chance) for name in odd}
        for _ in range(chance.choice((0, 1, 10)))
    ]
    version = "https://jsonfeed.org/version/1.1"
    return hostile_json(chance, {"version": version, "title": odd_word(chance), "items": items})


def _other(chance: random.Random, origin: str) -> bytes:
    return hostile_xml(
        chance, chance.choice(("svg", "math", "rdf:RDF", "html", "x")), prose(chance)
    )


_MAKERS = {"rss": _rss, "atom": _atom, "json": _json, "other": _other}


def attack(chance: random.Random, site: Site, count: int) -> None:
    named = []
    for _ in range(count):
        kind = chance.choice(list(_MAKERS))
        data = _MAKERS[kind](chance, site.bad.url)
        content_type = chance.choice(_TYPES[kind])
        named.append((content_type, site.attack("feeds", answer(data, content_type))))
    head = "".join(f'<link rel=alternate type="{kind}" href="{path}">' for kind, path in named)
    site.attack("feeds", answer(html_page("Feeds", prose(chance), head=head)))
