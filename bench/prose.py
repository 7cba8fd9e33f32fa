"""English-like sentences, the same on every machine and every run."""

import random
from collections.abc import Sequence


def _phrases(text: str) -> list[str]:
    return text.split("|" if "|" in text else " ")


NOUNS = _phrases(
    "archive index frontier harbour river garden library engine bridge market letter window "
    "valley village station lantern compass meadow orchard carriage museum telescope journal "
    "kitchen workshop mountain shoreline catalogue blueprint schedule ledger signal reservoir "
    "foundry theatre chapel railway cottage lighthouse glacier canyon festival almanac atlas "
    "parcel furnace quarry turbine pasture granary aqueduct observatory dictionary"
)
ADJECTIVES = _phrases(
    "quiet ancient narrow careful bright steady curious distant gentle hollow patient modern "
    "wooden northern southern broken golden shallow remarkable ordinary forgotten reliable "
    "expensive crowded temporary permanent invisible familiar generous practical seasonal"
)
VERBS = _phrases(
    "describes replaces follows carries protects explains repeats measures collects divides "
    "remembers supports reveals contains prevents improves borrows completes resembles delays "
    "encourages illuminates survives requires reaches rebuilds translates"
)
ADVERBS = _phrases(
    "slowly often rarely carefully eventually quickly sometimes usually nearly almost quietly "
    "together deliberately evidently"
)
LINKS = _phrases("because|although|while|whenever|before|after|unless|until|since|and|but|so that")
PLACES = _phrases(
    "near the old town|at the edge of the forest|during the long winter|in the early morning|"
    "across the whole region|under ordinary conditions|for more than a century|"
    "without any further notice|with the help of volunteers|according to local records|"
    "on the other side of the water|between the two surveys"
)


def sentence(rng: random.Random) -> str:
    """One sentence of 60 to 200 characters, without markup."""
    words = [_clause(rng)]
    if rng.random() < 0.6:
        words.append(f"{pick(rng, LINKS)} {_clause(rng)}")
    if rng.random() < 0.5:
        words.append(pick(rng, PLACES))
    if rng.random() < 0.2:
        words.append(f"in {1800 + int(rng.random() * 220)}")
    text = " ".join(words)
    return f"{text[0].upper()}{text[1:]}."


def sentences(count: int, seed: int) -> list[str]:
    """A pool to draw pages from: drawing is many times cheaper than composing."""
    rng = random.Random(seed)
    return [sentence(rng) for _ in range(count)]


def heading(rng: random.Random) -> str:
    return f"The {pick(rng, ADJECTIVES)} {pick(rng, NOUNS)} and the {pick(rng, NOUNS)}"


def _clause(rng: random.Random) -> str:
    verb = pick(rng, VERBS)
    if rng.random() < 0.4:
        verb = f"{pick(rng, ADVERBS)} {verb}"
    return f"the {_thing(rng)} {verb} the {_thing(rng)}"


def _thing(rng: random.Random) -> str:
    noun = pick(rng, NOUNS)
    return f"{pick(rng, ADJECTIVES)} {noun}" if rng.random() < 0.7 else noun


def pick(rng: random.Random, words: Sequence[str]) -> str:
    # random() alone is promised to give the same sequence on every Python version.
    return words[int(rng.random() * len(words))]
