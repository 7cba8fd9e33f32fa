"""Paths and tables that go on: a folder that is its own grandchild, lists sorted in eight ways, a
search that suggests searches, and plain notes to hide among them."""

from __future__ import annotations

from html import escape

from tests.worlds.page import Link, Page
from tests.worlds.prose import TOPICS
from tests.worlds.trap_family import Shown, name_of, token, written

FOLDERS = ("", "reports/", "reports/2024/", "reports/2025/", "maps/", "plans/", "letters/", "old/")
FILES = 4  # in each folder
GUIDES = 10
NOTES = 30


class GuideTrap:
    """`/guide/` has links `a/` and `b/` where `/guide/` was meant: below each, everything again."""

    entry = "/guide/"
    ways: frozenset[str] = frozenset()

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._names = [f"topic-{number}.html" for number in range(1, GUIDES + 1)]
        self.real = frozenset([self.entry, *(self.entry + name for name in self._names)])

    def at(self, target: str) -> Shown | None:
        path = target.partition("?")[0]
        if not path.startswith(self.entry):
            return None
        *folders, name = path.removeprefix(self.entry).split("/")
        if set(folders) - {"a", "b"} or (name and name not in self._names):
            return None
        real = self.entry + name
        deeper = "b/" if folders[-1:] == ["a"] else "a/"
        links = [Link(deeper, "More guides"), *(Link(other, other) for other in self._names)]
        text = written(self._seed, real)
        return Shown(Page(f"Guide to {name_of(self._seed, real)}", text, tuple(links)), real)


class FilesTrap:
    """Folders as a web server lists them, by name, date, size or description, up or down."""

    entry = "/files/"
    ways: frozenset[str] = frozenset()

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._folders = [self.entry + folder for folder in FOLDERS]
        self._files = [
            f"{folder}paper-{number}.html"
            for folder in self._folders
            for number in range(1, FILES + 1)
        ]
        self.real = frozenset([*self._folders, *self._files])

    def at(self, target: str) -> Shown | None:
        path, _, order = target.partition("?")
        if path in self._folders:
            return Shown(self._folder(path, order), path)
        if path not in self._files:
            return None
        title = f"Paper on {name_of(self._seed, path)}"
        return Shown(Page(title, written(self._seed, path), (Link("./", "Its folder"),)), path)

    def _folder(self, path: str, order: str) -> Page:
        inside = [
            other
            for other in (*self._folders, *self._files)
            if other != path and other.rstrip("/").rpartition("/")[0] + "/" == path
        ]
        key = order[:3]
        inside.sort(key=lambda other: name_of(self._seed, key + other), reverse="O=D" in order)
        sorts = [Link(f"?C={column};O={way}", column + way) for column in "NMSD" for way in "AD"]
        links = (Link(other, other.removeprefix(path)) for other in inside)
        parent = () if path == self.entry else (Link("../", "Parent folder"),)
        text = written(self._seed, path, 1)
        return Page(f"Index of {path}", text, tuple(links), aside=(*parent, *sorts))


class SearchTrap:
    """A box to search with. Results suggest other searches, which suggest others."""

    entry = "/search"
    real = frozenset(["/search"])
    ways: frozenset[str] = frozenset()

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def at(self, target: str) -> Shown | None:
        path, _, query = target.partition("?")
        if path != self.entry:
            return None
        asked = query.removeprefix("q=")[:40]
        topic = TOPICS[int(token(self._seed, target, 4), 16) % len(TOPICS)]
        suggested = [f"{asked}+{topic}".strip("+"), token(self._seed, target, 8)]
        links = tuple(Link(f"/search?q={words}", words) for words in suggested)
        box = f'<form action="/search"><input name="q" value="{escape(asked)}"></form>'
        nothing = (f"Nothing was found for {asked}.",)
        text = nothing if asked else written(self._seed, path, 1)
        return Shown(Page("Search", text, links, form=box), "" if asked else path)


class Notes:
    """No trap at all."""

    entry = "/notes"
    ways: frozenset[str] = frozenset()

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._notes = [f"/notes/{number}" for number in range(1, NOTES + 1)]
        self.real = frozenset([self.entry, *self._notes])

    def at(self, target: str) -> Shown | None:
        path = target.partition("?")[0]
        if path == self.entry:
            links = tuple(Link(note, note) for note in self._notes)
            return Shown(Page("Notes", written(self._seed, path, 1), links), path)
        if path not in self.real:
            return None
        return Shown(Page(f"Note on {name_of(self._seed, path)}", written(self._seed, path)), path)
