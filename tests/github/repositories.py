"""The repositories of the site, and their prose. Everything follows from names, so it never changes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from urllib.parse import quote

LISTED = 25  # issues or pulls on the first page of a list; the others are behind `?page=2`


@dataclass(frozen=True, slots=True)
class Repository:
    """What a repository holds. `files` stand on its front page, `mentioned` only in its issues."""

    owner: str
    name: str
    language: str
    topics: tuple[str, ...]
    files: tuple[str, ...]
    issues: int = 0
    pulls: int = 0
    mentioned: tuple[str, ...] = ()
    is_terse: bool = False

    @property
    def path(self) -> str:
        return f"/{self.owner}/{self.name}"

    def blob(self, file: str) -> str:
        return f"{self.path}/blob/main/{quote(file)}"


def _files(count: int, folder: str = "", suffix: str = "py") -> tuple[str, ...]:
    return tuple(f"{folder}part_{number:02}.{suffix}" for number in range(count))


KITE = Repository(
    "lantern", "kite", "python", ("wind", "maps"), _files(8), 60, 40, _files(72, "deep/")
)
ATLAS = Repository("lantern", "atlas", "python", ("maps",), _files(80), 60, 40)
TIDE = Repository("harbor", "tide", "rust", ("water", "wind"), _files(6), issues=60)
SEXTANT = Repository("harbor", "sextant", "rust", ("water", "maps"), _files(4), pulls=40)
# Its front page names forty files that robots.txt forbids before twelve that it does not.
SHELF = Repository(
    "orchard", "shelf", "go", ("maps",), _files(40, "archive/") + _files(12, "open/")
)
PEAR = Repository(
    "orchard",
    "pear",
    "go",
    ("trees",),
    ("README.md", "a name with spaces.md", "100%.txt", "größe.md", "docs/c#/notes.md"),
    2,
    1,
)
SLATE = Repository("quarry", "slate", "c", ("stone",), _files(3), 9, 9)  # both caps just reached
CHALK = Repository("quarry", "chalk", "c", ("stone",), _files(27))  # and here that of the pages
BEE = Repository("meadow", "bee.js", "javascript", ("trees", "water"), _files(5), 3, 2)
PROFILE = Repository("meadow", ".github", "", (), _files(2, suffix="md"))
REED = Repository("willow", "reed", "javascript", ("water",), _files(3), 4, 0)
BASKET = Repository("willow", "basket", "", ("trees",), _files(1), is_terse=True)

REPOSITORIES = {
    repository.path: repository
    for repository in (KITE, ATLAS, TIDE, SEXTANT, SHELF, PEAR, SLATE, CHALK, BEE, PROFILE)
    + (REED, BASKET)
}
OLD_NAME = "/lantern/old-kite"  # now lantern/kite, like everything below it
GONE = "/harbor/gone"
MEMBERS = "/harbor/members"  # a form instead of a page, with status 200
SECRET = "/harbor/secret"  # sends everybody to /login
LOUD = ("/Harbor/TIDE", "/HARBOR/tide/issues")  # names are the same in any case, as on such a site
TOPICS = tuple(sorted({topic for item in REPOSITORIES.values() for topic in item.topics}))
LANGUAGES = tuple(sorted({item.language for item in REPOSITORIES.values() if item.language}))

_THINGS = ("compass", "harbour", "ladder", "mirror", "needle", "orchard", "pebble", "river")
_KINDS = ("ancient", "careful", "distant", "gentle", "hollow", "narrow", "patient", "quiet")
_DEEDS = ("carries", "follows", "guards", "lifts", "measures", "remembers", "repairs", "weighs")


def prose(seed: str, sentences: int) -> str:
    """A paragraph that belongs to `seed` alone."""
    chance = random.Random(seed)

    def sentence() -> str:
        first, second = chance.sample(_THINGS, 2)
        kind, deed, number = chance.choice(_KINDS), chance.choice(_DEEDS), chance.randint(2, 99)
        return f"In most cases the {kind} {first} {deed} a {second} for {number} days of the year."

    return " ".join(sentence() for _ in range(sentences))


def title_of(repository: Repository, word: str, number: int) -> str:
    chance = random.Random(f"{repository.path} {word} {number}")
    return f"The {chance.choice(_KINDS)} {chance.choice(_THINGS)} fails in {word} {number}"
