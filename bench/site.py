"""A deterministic static site with the troubles of a real one, and the truth about it.

    python -m bench.site DIRECTORY --pages 5000

writes `www/` (served as it is), `redirects.map` (for nginx) and `manifest.json`.
"""

import argparse
import hashlib
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from bench.manifest import Manifest, Page
from bench.render import render
from bench.tree import Tree, slug

MOST_PAGES = 100_000
VERSION = 1  # part of the cache's name: raise it when a byte of the site changes
ROBOTS = "User-agent: *\nDisallow: /private/\nDisallow: /cart/\n"
FILE_KINDS = (".pdf", ".png", ".txt", ".json", "")
EVERY = 50  # one page in so many carries a link of each trouble


@dataclass(slots=True)
class _Writer:
    """Writes pages below `root` and notes what a correct crawler should make of them."""

    root: Path
    tree: Tree
    pages: dict[str, Page] = field(default_factory=dict)
    denied: set[str] = field(default_factory=set)
    tracking: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    redirects: dict[str, str] = field(default_factory=dict)

    def write_page(self, page: int) -> None:
        path = self.tree.path(page)
        links = self._troubles(page)
        body = render(self.tree, page, links)
        noted = self._store(path, body)
        self.pages[path] = noted
        for link in links:
            if link == self._version(page):
                self.pages[link] = noted
            elif link == self._copy(page):
                self.pages[link] = self._store(link, body)

    def _troubles(self, page: int) -> list[str]:
        """Links of the kind that this page, by its number, should carry: mostly none."""
        kinds = {
            7: self._miss,
            13: self._redirect,
            19: self._copy,
            23: self._deny,
            29: self._file,
            31: self._track,
            37: self._version,
        }
        kind = kinds.get(page % EVERY)
        return [kind(page)] if kind else []

    def _miss(self, page: int) -> str:
        path = f"/missing/{slug(page)}.html"
        self.missing.add(path)
        return path

    def _redirect(self, page: int) -> str:
        """Every second one leads to a page with no other link to it, every fifth in two hops."""
        source, hop = f"/old/{slug(page)}.html", f"/older/{slug(page)}.html"
        target = self.tree.path(page // 2)
        if page // EVERY % 2:
            target = self._beside(page, "moved")
            self.pages[target] = self._store(target, render(self.tree, page, [], variant=1))
        if page // EVERY % 5 == 0:
            self.redirects[hop] = target
            target = hop
        self.redirects[source] = target
        return source

    def _deny(self, page: int) -> str:
        path = f"{'/private/' if page % 4 == 1 else '/cart/'}{slug(page)}.html"
        self._store(path, b"<!DOCTYPE html><title>private</title><p>Not for crawlers.</p>\n")
        self.denied.add(path)
        return path

    def _file(self, page: int) -> str:
        path = f"/files/{slug(page)}{FILE_KINDS[page // EVERY % len(FILE_KINDS)]}"
        self._store(path, hashlib.sha512(path.encode()).digest() * 64)
        self.files.add(path)
        return path

    def _track(self, page: int) -> str:
        path = f"{self.tree.path(page)}?utm_source=letter"
        self.tracking.add(path)
        return path

    def _copy(self, page: int) -> str:
        return self._beside(page, "copy")

    def _version(self, page: int) -> str:
        return f"{self.tree.path(page)}?v=2"

    def _beside(self, page: int, suffix: str) -> str:
        # In the page's own directory, so that its relative links keep their meaning.
        return f"{self.tree.directory(page)}{slug(page)}-{suffix}.html"

    def _store(self, path: str, body: bytes) -> Page:
        file = self.root / (path[1:] + "index.html" if path.endswith("/") else path[1:])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
        return Page(hashlib.sha256(body).hexdigest(), len(body))


def generate(directory: Path, pages: int) -> None:
    """Write the site into an empty or absent `directory`; the time taken is linear in `pages`."""
    if not 1 <= pages <= MOST_PAGES:
        raise ValueError(f"pages must be from 1 to {MOST_PAGES}, not {pages}")
    root = directory / "www"
    root.mkdir(parents=True)
    writer = _Writer(root, Tree(pages))
    for page in range(pages):
        writer.write_page(page)
    (root / "robots.txt").write_text(ROBOTS)
    lines = (f"{source} {target};\n" for source, target in writer.redirects.items())
    (directory / "redirects.map").write_text("".join(lines))
    Manifest(
        pages=writer.pages,
        denied=frozenset(writer.denied),
        tracking=frozenset(writer.tracking),
        files=frozenset(writer.files),
        missing=frozenset(writer.missing),
        redirects=writer.redirects,
    ).save(directory / "manifest.json")


def cached(cache: Path, pages: int) -> Path:
    """The site's directory, generated on first use; a half-written one is never returned."""
    directory = cache / f"site-v{VERSION}-{pages}"
    if not directory.exists():
        unfinished = cache / f"{directory.name}.{os.getpid()}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        generate(unfinished, pages)
        unfinished.rename(directory)
    return directory


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--pages", type=int, default=5_000)
    arguments = parser.parse_args()
    generate(arguments.directory, arguments.pages)
    print(f"{arguments.pages} pages in {arguments.directory}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
