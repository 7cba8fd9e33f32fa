"""The manifest of a directory of existing HTML: the pages that its links reach."""

import hashlib
from collections import deque
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from bench.manifest import Manifest, Page

ORIGIN = "http://documentation.invalid"
START = "/index.html"


class _Links(HTMLParser):
    """The hrefs of a document's `a` and `area` elements."""

    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"a", "area"}:
            self.hrefs.extend(value for name, value in attrs if name == "href" and value)


def describe(root: Path) -> Manifest:
    """Follow links from `/index.html` through the files below `root`."""
    pages: dict[str, Page] = {}
    files: set[str] = set()
    missing: set[str] = set()
    seen = {START}
    queue = deque(seen)
    while queue:
        path = queue.popleft()
        file = _file(root, path)
        if file is None:
            missing.add(path)
        elif file.suffix not in {".html", ".htm"}:
            files.add(path)
        else:
            body = file.read_bytes()
            pages[path] = Page(hashlib.sha256(body).hexdigest(), len(body))
            found = _links(body, path) - seen
            seen |= found
            queue.extend(sorted(found))
    return Manifest(pages, files=frozenset(files), missing=frozenset(missing), start=START)


def cached(cache: Path, name: str, root: Path) -> Manifest:
    """`describe`, done again only when the package that owns `root` was installed anew."""
    stamp = int(root.resolve().stat().st_mtime)
    file = cache / f"manifest-{name}-{stamp}.json"
    if not file.exists():
        cache.mkdir(parents=True, exist_ok=True)
        describe(root).save(file)
    return Manifest.load(file)


def _links(body: bytes, path: str) -> set[str]:
    parser = _Links()
    parser.feed(body.decode(errors="replace"))
    found = set()
    for href in parser.hrefs:
        parts = urlsplit(urljoin(ORIGIN + path, href.strip()))
        if f"{parts.scheme}://{parts.netloc}" == ORIGIN:
            query = f"?{parts.query}" if parts.query else ""
            found.add((parts.path or "/") + query)
    return found


def _file(root: Path, path: str) -> Path | None:
    name = unquote(path.partition("?")[0]).lstrip("/")
    file = root / (f"{name}index.html" if name == "" or name.endswith("/") else name)
    return file if file.is_file() else None
