"""The layers by name, each with the round that attacks it."""

from __future__ import annotations

from collections.abc import Callable

from tests.attacks import (
    codings,
    feeds,
    framing,
    headers,
    html_pages,
    json_pages,
    jsonl_files,
    pdf_files,
    queries,
    redirects,
    robots,
    settings_files,
    sitemaps,
    text_files,
    wacz_files,
    warc_files,
)
from tests.attacks.exports import Exports
from tests.attacks.rounds import Round
from tests.attacks.visiting import Attacker, visit

_SITE: dict[str, Attacker] = {
    "framing": framing.attack,
    "headers": headers.attack,
    "codings": codings.attack,
    "redirects": redirects.attack,
    "robots": robots.attack,
    "sitemaps": sitemaps.attack,
    "feeds": feeds.attack,
    "html": html_pages.attack,
    "json": json_pages.attack,
    "pdf": pdf_files.attack,
    "text": text_files.attack,
}
_FILES: dict[str, Callable[[Round, Exports], None]] = {
    "warc": warc_files.attack,
    "wacz": wacz_files.attack,
    "jsonl": jsonl_files.attack,
    "settings": settings_files.attack,
    "queries": queries.attack_queries,
    "urls": queries.attack_urls,
}
NAMES = ("site", *_SITE, *_FILES)  # site: all of its layers at once


def attack(this: Round, exports: Callable[[], Exports]) -> None:
    """Run the round of its layer; `exports` are made when one needs them."""
    if this.layer in _FILES:
        _FILES[this.layer](this, exports())
    elif this.layer in _SITE:
        visit(this, [_SITE[this.layer]], 8)
    else:
        visit(this, list(_SITE.values()), 2)
