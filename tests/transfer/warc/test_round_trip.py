"""Out of one workspace and into another: the same captures, the same documents."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import crawl4r
from crawl4r.model import REJECTED, Capture, Verdict
from crawl4r.transfer.export_documents import row_of
from tests.interfaces.cli.running import run
from tests.site.process import SiteProcess
from tests.transfer.warc.workspaces import captures_of, export, made, make_hostile

NAMES = ["a.warc.gz", "a.warc.zst", "a.warc", "a.wacz"]
ORPHAN = "http://site.example/unknown-304"  # refers to bytes that no record holds


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A site that was crawled twice, so that most of it answered 304 the second time."""
    workspace = tmp_path_factory.mktemp("crawled") / "ws"

    async def crawl(url: str) -> None:
        pace = {"rate": 0, "per_host": 4, "allow_private": ["127.0.0.1"], "probe": False}
        async with crawl4r.open(workspace, **pace) as opened:
            await opened.crawl(url).finish()
            await opened.crawl(refresh=True).finish()

    with SiteProcess() as site:
        asyncio.run(crawl(site.url("/site/40/")))
    return workspace


def seen(capture: Capture) -> tuple[Any, ...]:
    """What must be the same, but for the moment, which a file tells to the microsecond."""
    return (
        capture.url, capture.status, capture.sha256, capture.verdict, capture.bytes,
        capture.content_type, capture.etag, capture.last_modified, capture.location,
        capture.http_version, capture.page_type,
    )  # fmt: skip


def imported(file: Path, workspace: Path) -> list[Capture]:
    answer = run("import", file, "-w", workspace, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["broken"] == 0
    return captures_of(workspace)


@pytest.mark.parametrize("name", NAMES)
def test_hostile_captures_come_back_as_they_were(tmp_path: Path, name: str) -> None:
    workspace = made(tmp_path / "from", make_hostile)
    export(workspace, tmp_path / name)
    before = [c for c in captures_of(workspace) if c.url != ORPHAN]
    with crawl4r.open(tmp_path / "to") as opened:
        counts = opened.import_file(tmp_path / name, with_documents=False)
    assert (counts.skipped, counts.broken) == ({"unknown-original": 1}, 0)
    after = captures_of(tmp_path / "to")
    assert [seen(capture) for capture in after] == [seen(capture) for capture in before]
    for old, new in zip(before, after, strict=True):
        assert abs(old.fetched_at - new.fetched_at) < 1e-6
        # Line breaks cannot be written down, and what a name is followed by is part of it.
        if not old.url.endswith(("/controls", "/odd-names", "/no-headers", "/nothing")):
            assert _as_sent(new) == _as_sent(old)
        if old.verdict in REJECTED:
            assert new.verdict is old.verdict
    with crawl4r.open(tmp_path / "to", read_only=True) as opened:
        for capture in after:
            assert capture.sha256 is None or opened.blobs.read(capture.sha256) is not None


def _as_sent(capture: Capture) -> list[tuple[str, str]]:
    """Without the length, which every answer gets that has a body."""
    return [(name, value) for name, value in capture.headers if name != "content-length"]


@pytest.mark.parametrize("name", NAMES)
def test_a_crawl_becomes_the_same_captures_and_documents(
    crawled: Path, tmp_path: Path, name: str
) -> None:
    export(crawled, tmp_path / name, max_size=30_000)
    before = captures_of(crawled)
    assert {capture.verdict for capture in before} == {Verdict.OK, Verdict.NOT_MODIFIED}
    after = imported(tmp_path / name, tmp_path / "to")
    assert [seen(capture) for capture in after] == [seen(capture) for capture in before]
    assert [_as_sent(capture) for capture in after] == [_as_sent(capture) for capture in before]
    texts = documents_of(crawled)
    assert len(texts) == 40
    assert documents_of(tmp_path / "to") == texts


def documents_of(workspace: Path) -> list[dict[str, Any]]:
    with crawl4r.open(workspace, read_only=True) as opened:
        rows = [row_of(stored) for stored in opened.documents()]
    for row in rows:
        del row["referrer"]  # who linked to it is no part of an archive
        for name in ("captured_at", "updated_at"):
            row[name] = pytest.approx(row[name], abs=1e-5, rel=0)
    return rows


def test_importing_twice_or_where_it_came_from_adds_nothing(crawled: Path, tmp_path: Path) -> None:
    export(crawled, tmp_path / "a.warc.gz")
    count = len(captures_of(crawled))
    for _ in range(2):
        assert len(imported(tmp_path / "a.warc.gz", tmp_path / "to")) == count
    assert len(imported(tmp_path / "a.warc.gz", crawled)) == count
    assert run("import", tmp_path / "a.warc.gz", "-w", crawled, "--json").json == {
        "added": 0, "unchanged": count, "skipped": {}, "broken": 0, "damages": []
    }  # fmt: skip


def test_what_is_imported_can_be_exported_again(crawled: Path, tmp_path: Path) -> None:
    export(crawled, tmp_path / "a.warc.gz")
    imported(tmp_path / "a.warc.gz", tmp_path / "to")
    export(tmp_path / "to", tmp_path / "b.warc.gz")
    after = imported(tmp_path / "b.warc.gz", tmp_path / "third")
    assert [seen(capture) for capture in after] == [seen(c) for c in captures_of(crawled)]


def test_what_is_imported_is_searched_like_anything_else(crawled: Path, tmp_path: Path) -> None:
    export(crawled, tmp_path / "a.warc.gz")
    imported(tmp_path / "a.warc.gz", tmp_path / "to")
    assert run("index", "-w", tmp_path / "to", "--no-vectors", "--json").code == 0
    found = run("search", "lighthouse", "-w", tmp_path / "to", "--json")
    assert found.code == 0 and "/site/40/" in found.text


def test_records_of_json_lines_survive_the_journey(tmp_path: Path) -> None:
    lines = '{"id": "a", "title": "First", "text": "Some words."}\n{"id": "b", "text": "More."}\n'
    (tmp_path / "r.jsonl").write_text(lines)
    run("import", tmp_path / "r.jsonl", "-w", tmp_path / "from")
    assert run("export", "warc", "-w", tmp_path / "from", "-o", tmp_path / "a.warc").code == 0
    imported(tmp_path / "a.warc", tmp_path / "to")
    assert documents_of(tmp_path / "to") == documents_of(tmp_path / "from")
    assert len(documents_of(tmp_path / "to")) == 2
