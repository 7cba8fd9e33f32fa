"""HTML: pages that kill the parser, mutated real pages, tables and attributes without measure."""

from __future__ import annotations

import random

from tests.attacks.headers import CHARSETS
from tests.attacks.mutating import NUMBERS, mutated, odd_word
from tests.attacks.site import Site, answer, html_page, prose
from tests.content.parser_killers import KILLERS, tangles
from tests.content.test_fuzz import mutants

_META = (
    "description", "author", "keywords", "robots", "viewport", "generator", "og:title", "og:image",
    "article:published_time", "article:tag", "twitter:title", "dc.date", "citation_author",
    "theme-color",
)  # fmt: skip


def _tangle(chance: random.Random) -> bytes:
    return next(tangles(1, chance.randrange(2**32)))


def _mutant(chance: random.Random) -> bytes:
    return next(mutants(1, chance.randrange(2**32)))


def _killer(chance: random.Random) -> bytes:
    killer = chance.choice(KILLERS)
    return chance.choice((killer, mutated(chance, killer), html_page("K", prose(chance)) + killer))


def _described(chance: random.Random) -> bytes:
    def meta() -> str:
        attribute = chance.choice(("name", "property", "itemprop"))
        return f'<meta {attribute}="{chance.choice(_META)}" content="{odd_word(chance)}">'

    head = "".join(meta() for _ in range(chance.choice((1, 10, 300))))
    head += f'<meta charset="{chance.choice(CHARSETS)}">'
    return html_page(odd_word(chance), prose(chance) + f"<pre>{odd_word(chance)}</pre>", head=head)


def _table(chance: random.Random) -> bytes:
    span, other = (chance.choice(NUMBERS).decode() for _ in range(2))
    row = f'<tr><td colspan="{span}" rowspan="{other}">{odd_word(chance)}<td>b<th>c</tr>'
    rows = row + "<tr><td>a<td>b</tr>" * chance.choice((3, 500, 20_000))
    nested = "<table><tr><td>" * chance.choice((0, 5, 60))
    return html_page("Table", prose(chance) + f"{nested}<table>{rows}</table>")


def _nested(chance: random.Random) -> bytes:
    tag = chance.choice(
        (
            "ul><li",
            "blockquote",
            "div",
            "ol><li",
            "b",
            "details",
            "section",
            "dl><dd",
            "em><a",
            "font",
        )
    )
    depth = chance.choice((50, 600, 10_000))
    return html_page("Nested", prose(chance), f"<{tag}>" * depth + "deep" + prose(chance))


def _text_heavy(chance: random.Random) -> bytes:
    piece = chance.choice(
        (
            "\n",
            "x",
            "word ",
            "* ",
            "| ",
            "# ",
            "`",
            "_",
            "[a](b) ",
            "&amp;",
            "<br>",
            "<hr>",
            "&#8238;",
            "\t",
        )
    )
    return html_page("Heavy", prose(chance) + "<p>" + piece * chance.choice((3_000, 60_000)))


_KINDS = (
    _tangle,
    _tangle,
    _mutant,
    _mutant,
    _killer,
    _described,
    _described,
    _table,
    _nested,
    _text_heavy,
)


def attack(chance: random.Random, site: Site, count: int) -> None:
    for _ in range(count):
        page = chance.choice(_KINDS)(chance)
        kind = chance.choice(
            (
                b"text/html",
                b"text/html; charset=utf-8",
                b"application/xhtml+xml",
                b"text/html; charset=x",
            )
        )
        site.attack("html", answer(page, kind))
