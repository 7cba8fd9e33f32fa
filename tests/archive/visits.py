"""A store with pages that were visited several times, made without a crawl."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from crawl4r.archive.blobs.files import FileBlobs
from crawl4r.archive.blobs.port import Blobs
from crawl4r.archive.blobs.segments import SegmentBlobs
from crawl4r.archive.captures import Captures
from crawl4r.model import Capture, Verdict
from crawl4r.storage.database import Database
from crawl4r.storage.tables import Notes

HOST = "http://example.org"
DAY = 86_400.0
NOW = 1_800_000_000.0
SEGMENT_BYTES = 12_000
PAGES, VERSIONS, ORPHANS = 8, 5, 6


def body_of(page: int, version: int) -> bytes:
    """The last page never changes."""
    version = 0 if page == PAGES - 1 else version
    noise = random.Random(f"{page} {version}").randbytes(700).hex()
    return f"<title>Page {page}</title><p>Version {version} {noise}</p>".encode()


def capture_of(
    url: str, at: float, sha256: str | None, verdict: Verdict = Verdict.OK, status: int = 200
) -> Capture:
    return Capture(
        url, at, status, verdict, "", sha256, 1000, "text/html", "utf-8", (), None, None, "", 0,
        None, 1, 0,
    )  # fmt: skip


def open_blobs(kind: str, folder: Path, database: Database, *, writable: bool = True) -> Blobs:
    if kind == "files":
        return FileBlobs(folder / "store" / "html", writable=writable)
    return SegmentBlobs(
        folder / "store" / "segments", database, segment_bytes=SEGMENT_BYTES, writable=writable
    )


def make_store(folder: Path, kind: str) -> None:
    """Each page was visited once a day and changed each time; and some bytes are of no capture."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        closing(Database(folder / "state.db")) as database,
        closing(open_blobs(kind, folder, database)) as blobs,
    ):
        Notes(database).put("store", kind)
        captures = Captures(database)
        for version in range(VERSIONS):
            for page in range(PAGES):
                sha256, _ = blobs.add(body_of(page, version), "text/html")
                blobs.add(f"orphan {min(page, ORPHANS - 1)}".encode() * 50, "text/html")
                blobs.flush()
                at = NOW - (VERSIONS - version) * DAY
                captures.add(capture_of(f"{HOST}/{page}", at, sha256))
                database.commit()


def stored_versions(kind: str, folder: Path) -> dict[int, list[int]]:
    """The versions of each page whose bytes are there, and right."""
    found: dict[int, list[int]] = {}
    with (
        closing(Database(folder / "state.db", read_only=True)) as database,
        closing(open_blobs(kind, folder, database, writable=False)) as blobs,
    ):
        for page in range(PAGES):
            captures = Captures(database).of_url(f"{HOST}/{page}")
            assert len(captures) == VERSIONS
            bodies = [blobs.read(capture.sha256 or "") for capture in captures]
            found[page] = [n for n, body in enumerate(bodies) if body is not None]
            assert [bodies[n] for n in found[page]] == [body_of(page, n) for n in found[page]]
    return found


def newest(count: int) -> dict[int, list[int]]:
    """What is there when the newest visits keep their bytes."""
    kept = list(range(VERSIONS - count, VERSIONS))
    return dict.fromkeys(range(PAGES - 1), kept) | {PAGES - 1: list(range(VERSIONS))}


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its bytes."""
    paths: Sequence[Path] = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
