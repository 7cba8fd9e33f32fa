"""Pages that end the process of the HTML parser, and a generator of more: tangles of open elements.

The parser reads in front of its stack of open elements when an end tag reaches for one that a table
cell, a template or foreign content has put out of reach.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

# Each is a segmentation fault in the build that ships, found by the generator below and then cut down.
KILLERS = (
    b"<svg><template><foreignObject><button></template><a><ul></a>",
    b"<font><code><em>" + b"<table><td>" * 127 + b"</tbody><em><button></em>",
    b"<em>" + b"<div><table><td>" * 102 + b"</table><a><li><a>",
    b"<table><caption><mi>" * 169 + b"<table><td></tr><a><ul><a>",
)

_FORMATTING = tuple(b"a b i em font nobr code u".split())
_ELEMENTS = tuple(
    b"div table tbody tr td caption svg math mi foreignObject select option template form p ul li"
    b" span button applet".split()
)


def tangles(count: int, seed: int) -> Iterator[bytes]:
    """A few formatting elements left open, a short run of elements nested many times over, then tags
    that open and close all of them in no order; sometimes behind long attributes."""
    chance = random.Random(seed)
    for _ in range(count):
        opened = b"".join(b"<%s>" % chance.choice(_FORMATTING) for _ in range(chance.randint(1, 4)))
        run = b"".join(b"<%s>" % chance.choice(_ELEMENTS) for _ in range(chance.randint(1, 4)))
        tags = b"".join(_tag(chance) for _ in range(chance.randint(5, 120)))
        yield opened + run * chance.randint(80, 600) + tags


def _tag(chance: random.Random) -> bytes:
    name = chance.choice(_FORMATTING + _ELEMENTS)
    if chance.random() < 0.5:
        return b"</%s>" % name
    attribute = b" title=" + b"x" * chance.randint(1, 3_000) if chance.random() < 0.05 else b""
    return b"<%s%s>" % (name, attribute)
