"""JSON as a page of its own and as JSON-LD: lone surrogates, depth, numbers, keys, broken text."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.attacks.mutating import mutated, odd_word
from tests.attacks.site import Site, answer, html_page, prose

_LONE = ("\ud800X", "Y\udfff", "\udc00\ud800", "a\ud83d b")
_TYPES = (
    "application/json",
    "application/ld+json",
    "text/json",
    "application/vnd.api+json; charset=utf-16",
    "text/html",
)
_NAMES = (
    "headline",
    "description",
    "author",
    "keywords",
    "datePublished",
    "image",
    "url",
    "inLanguage",
    "name",
)


def hostile_value(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(9 if depth < 4 else 6)
    if kind <= 1:
        return chance.choice(_LONE)
    if kind <= 3:
        return odd_word(chance)
    if kind == 4:
        return chance.choice((0, -1, 2**63, 2**64, 10**40, 1e308, -0.0, True, None, ""))
    if kind == 5:
        return "word " * chance.choice((1, 300, 5_000))
    if kind == 6:
        return [hostile_value(chance, depth + 1) for _ in range(chance.choice((0, 1, 5)))]
    return {
        odd_word(chance)[:200]: hostile_value(chance, depth + 1)
        for _ in range(chance.choice((0, 1, 3)))
    }


def _deep(chance: random.Random) -> bytes:
    depth = chance.choice((100, 900, 2_000, 100_000))
    opening, closing = chance.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")))
    inside = chance.choice((b"1," * 30_000 + b"1", b'"x"', b"", b'"\\ud800"'))
    return opening * depth + inside + closing * chance.choice((0, depth))


def hostile_json(chance: random.Random, value: Any) -> bytes:
    """`value` as JSON, or something that stands in its place or is spelled as it should not be."""
    kind = chance.random()
    if kind < 0.15:
        return _deep(chance)
    if kind < 0.2:
        return chance.choice(
            (
                b"NaN",
                b"[Infinity]",
                b"1" * 6_000,
                b'{"a":1,"a":2}',
                b"\xef\xbb\xbf{}",
                b"",
                b'"\\u"',
            )
        )
    data = json.dumps(value, ensure_ascii=chance.random() < 0.7).encode("utf-8", "surrogatepass")
    return mutated(chance, data) if kind < 0.5 else data


def _with_json_ld(chance: random.Random, number: int) -> bytes:
    said = {
        "@context": "https://schema.org",
        "@type": chance.choice(("Article", "NewsArticle", [], {}, None)),
    }
    said |= {name: hostile_value(chance) for name in _NAMES if chance.random() < 0.6}
    script = b'<script type="application/ld+json">' + hostile_json(chance, said) + b"</script>"
    return html_page(f"Linked data {number}", prose(chance), head="@script@").replace(
        b"@script@", script
    )


def attack(chance: random.Random, site: Site, count: int) -> None:
    for number in range(count):
        if chance.random() < 0.5:
            site.attack("json", answer(_with_json_ld(chance, number)))
        else:
            data = hostile_json(chance, hostile_value(chance))
            site.attack("json", answer(data, chance.choice(_TYPES)))
