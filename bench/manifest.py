"""What a correct crawler stores from a site, and how far a crawl is from it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Page:
    sha256: str  # of the bytes the server sends
    bytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """Keys are paths with their query, as in an access log: `/a/b.html?v=2`."""

    pages: dict[str, Page]  # reachable and allowed: each must be stored
    denied: frozenset[str] = frozenset()  # linked, refused by robots.txt: never to be requested
    tracking: frozenset[str] = frozenset()  # variants of pages, best not requested but HTML
    files: frozenset[str] = frozenset()  # linked, not HTML: stored or not, they are no pages
    missing: frozenset[str] = frozenset()  # linked, answered with 404
    redirects: dict[str, str] = field(default_factory=dict)  # from path to path
    start: str = "/"

    def save(self, path: Path) -> None:
        document = {
            "start": self.start,
            "pages": self.pages,
            "denied": sorted(self.denied),
            "tracking": sorted(self.tracking),
            "files": sorted(self.files),
            "missing": sorted(self.missing),
            "redirects": self.redirects,
        }
        with path.open("w") as file:
            json.dump(document, file, default=asdict, indent=0)

    @classmethod
    def load(cls, path: Path) -> "Manifest":
        document = json.loads(path.read_text())
        return cls(
            pages={key: Page(**page) for key, page in document["pages"].items()},
            denied=frozenset(document["denied"]),
            tracking=frozenset(document["tracking"]),
            files=frozenset(document["files"]),
            missing=frozenset(document["missing"]),
            redirects=document["redirects"],
            start=document["start"],
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """How a crawl differs from the manifest."""

    stored: int  # pages kept, tracking variants too: the divisor of cost a page
    missing: int  # reachable, not kept
    wrong: int  # kept with other bytes than the server's
    extra: int  # kept though nothing of the kind is there to be kept
    examples: tuple[str, ...]  # a few offending paths, to look into


def compare(manifest: Manifest, stored: Mapping[str, str]) -> Tally:
    """Tally what was `stored` (path with query to sha256) against the manifest."""
    expected = manifest.pages
    ignored = manifest.files | {"/robots.txt"}
    missing = [key for key in expected if key not in stored]
    kept = [key for key in stored if key in expected or key in manifest.tracking]
    wrong = [key for key in kept if key in expected and expected[key].sha256 != stored[key]]
    extra = [key for key in stored.keys() - set(kept) if key not in ignored]
    return Tally(
        stored=len(kept),
        missing=len(missing),
        wrong=len(wrong),
        extra=len(extra),
        examples=(*missing[:3], *wrong[:3], *extra[:3]),
    )
