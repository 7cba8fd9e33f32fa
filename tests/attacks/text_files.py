"""Plain text: terminal escapes, lines without end or without anything on them, encodings that lie."""

from __future__ import annotations

import random

from tests.attacks.headers import CHARSETS
from tests.attacks.mutating import mutated, odd_word
from tests.attacks.site import Site, answer, prose

_TYPES = (
    "text/plain",
    "text/markdown",
    "text/csv",
    "text/x-python",
    "application/javascript",
    "text/css",
    "text/troff",
    "",
)


def _text(chance: random.Random) -> bytes:
    words = prose(chance).replace("<p>", "").replace("</p>", "\n\n")
    piece = chance.choice(
        (
            "\n",
            "a\n",
            "x",
            "word ",
            "a,b;c\n",
            "\t\n",
            "# a\n",
            "- a\n",
            "> ",
            "```\n",
            "é",
            "\u202e",
            "1. ",
        )
    )
    long = piece * chance.choice((0, 100, 20_000, 200_000))
    text = "".join(chance.sample((words, odd_word(chance), long, odd_word(chance)), 4))
    data = text.encode(
        chance.choice(("utf-8", "utf-8", "utf-16", "utf-16-le", "utf-32", "latin-1", "shift_jis")),
        "replace",
    )
    return mutated(chance, data) if chance.random() < 0.5 else data


def attack(chance: random.Random, site: Site, count: int) -> None:
    for _ in range(count):
        charset = f"; charset={chance.choice(CHARSETS)}" if chance.random() < 0.3 else ""
        kind = (chance.choice(_TYPES) + charset).encode("utf-8", "surrogatepass")
        site.attack("text", answer(_text(chance), kind))
