"""Sentences that read like sentences, each page's own, and words that stand nowhere else."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_SYLLABLES = [c + v for c in "bdfgklmnprstvzh" for v in ("a", "e", "i", "o", "u", "ar", "el", "on")]
_WORDS = len(_SYLLABLES) ** 3  # as many as can be coined
_STRIDE = 104_729  # prime, so that neighbours in number are not neighbours in spelling


def _listed(text: str, mark: str | None = None) -> tuple[str, ...]:
    """A word list reads best as a paragraph."""
    return tuple(item.strip() for item in text.split(mark))


_PEOPLE = _listed("""
keeper council engineer traveller librarian teacher baker minister captain gardener
nurse painter judge farmer historian driver architect fisherman composer mayor chemist weaver
surveyor doctor clerk miner student journalist carpenter professor guard singer butcher translator
referee pilot printer astronomer shepherd tailor""")
_VERBS = _listed("""
describes remembers repairs measures paints explains visits rejects praises opens inspects
finances studies defends closes restores abandons examines replaces welcomes questions rebuilds
postpones records catalogues protects criticises organises moves photographs sells inherits guards
discovers advertises doubts celebrates drains renames auctions""")
_KINDS = _listed("""
old new quiet crowded wooden northern forgotten expensive narrow famous temporary damaged
coastal public private historic modern disputed promising empty frozen popular remote shared dry
unfinished colourful neglected electric medieval royal ordinary""")
_THINGS = _listed("""
lighthouse bridge archive orchard engine festival station museum canal railway theatre
harbour school hospital market reservoir observatory stadium windmill chapel laboratory ferry tunnel
vineyard printing-house courthouse aqueduct greenhouse airfield quarry monument bakery dairy
playground tramline cinema warehouse fountain workshop barracks""")
_MANNERS = _listed(
    """with great care|before sunrise|for the first time|against all advice|without a permit|
after a long winter|in front of a small crowd|at the expense of the province|despite the rain|
as the neighbours had asked|on behalf of the residents|ahead of the election|under new rules|
for less money than planned|with borrowed tools|while the river keeps rising|in the second attempt|
to the surprise of experts|during the spring holidays|after three years of talks""",
    "|",
)
TOPICS = (*_THINGS, *_PEOPLE)
_BEFORE_A_VOWEL = re.compile(r"\b([Aa]) (?=[aeiou])")
_FRAMES = (
    "The {a} of {own} {v} the {k} {t} {m}.",
    "In {own}, the {k} {t} is what every {a} {v} {m}.",
    "{m2}, a {a} from {own} {v} the {k} {t}.",
    "Nobody in the {t} knew why the {a} {v} {own} {m}.",
    "A {k} {t} near {own} {v} the plans of the {a} {m}.",
    "According to the {a}, {own} {v} its {k} {t} {m}.",
    "The {k} {t} stays shut until the {a} {v} it {m}, says {own}.",
)


def coin(seed: int, number: int) -> str:
    """A word that no other number has under this seed."""
    place = (number * _STRIDE + seed * 7919) % _WORDS
    first, rest = divmod(place, len(_SYLLABLES) ** 2)
    second, third = divmod(rest, len(_SYLLABLES))
    return "".join(_SYLLABLES[index] for index in (first, second, third)).capitalize()


def _pick(words: random.Random, among: Sequence[str]) -> str:
    """As `choice`, but three times as fast: a page takes two hundred of these."""
    return among[int(words.random() * len(among))]


def headline(words: random.Random, own: str) -> str:
    person, verb = _pick(words, _PEOPLE), _pick(words, _VERBS)
    return f"{own} {person} {verb} {_pick(words, _KINDS)} {_pick(words, _THINGS)}"


def sentence(words: random.Random, own: str) -> str:
    manner = _pick(words, _MANNERS)
    said = _pick(words, _FRAMES).format(
        own=own,
        a=_pick(words, _PEOPLE),
        v=_pick(words, _VERBS),
        k=_pick(words, _KINDS),
        t=_pick(words, _THINGS),
        m=manner,
        m2=manner.capitalize(),
    )
    return _BEFORE_A_VOWEL.sub(r"\1n ", said)


def paragraphs(words: random.Random, own: tuple[str, ...], count: int) -> tuple[str, ...]:
    """`count` of them, four sentences each, about the words that are the page's own."""
    return tuple(
        " ".join(sentence(words, _pick(words, own)) for _ in range(4)) for _ in range(count)
    )


def slug(title: str) -> str:
    return title.lower().replace(" ", "-")
