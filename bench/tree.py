"""The shape of the generated site: page numbers arranged as a tree, and their paths."""

from dataclasses import dataclass, field

from bench.prose import NOUNS

BRANCHING = 12


@dataclass(slots=True)
class Tree:
    """Pages 0 to `pages - 1`; page 0 is the root, and a page's number gives its parent's.

    A page with children is a directory (`/a/b/`), one without is a file (`/a/b/c.html`).
    """

    pages: int
    _directories: dict[int, str] = field(default_factory=lambda: {0: "/"})

    def parent(self, page: int) -> int:
        return (page - 1) // BRANCHING if page else 0

    def children(self, page: int) -> range:
        first = page * BRANCHING + 1
        return range(min(first, self.pages), min(first + BRANCHING, self.pages))

    def siblings(self, page: int) -> range:
        return self.children(self.parent(page)) if page else range(0, 1)

    def ancestors(self, page: int) -> list[int]:
        """From the root down to the parent."""
        chain = []
        while page:
            page = self.parent(page)
            chain.append(page)
        return chain[::-1]

    def is_directory(self, page: int) -> bool:
        return page * BRANCHING + 1 < self.pages or page == 0

    def directory(self, page: int) -> str:
        """The directory that the page's relative links start from, with its last slash."""
        if not self.is_directory(page):
            return self.directory(self.parent(page))
        if page not in self._directories:
            self._directories[page] = f"{self.directory(self.parent(page))}{slug(page)}/"
        return self._directories[page]

    def path(self, page: int) -> str:
        directory = self.directory(page)
        return directory if self.is_directory(page) else f"{directory}{slug(page)}.html"


def slug(page: int) -> str:
    return f"{NOUNS[page * 7 % len(NOUNS)]}-{page}"
