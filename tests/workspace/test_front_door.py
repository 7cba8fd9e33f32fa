"""The whole product from Python: every question and every work, with and without an event loop."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import crawl4r
from crawl4r.errors import PageUnavailable, UsageError
from crawl4r.sample.server import SampleSite
from crawl4r.settings.load import SHORT_NAMES
from crawl4r.workspace import options
from tests.interfaces.cli.running import run

LOOPBACK: dict[str, Any] = {"allow_private": ["127.0.0.1"], "rate": 0}
ROBOTS = "guide/robots.html"


@pytest.fixture(scope="module")
def site() -> Iterator[SampleSite]:
    with SampleSite() as running:
        yield running


@pytest.fixture(scope="module")
def kept(site: SampleSite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled site, crawled and indexed from code without an event loop."""
    path = tmp_path_factory.mktemp("kept") / "ws"
    with crawl4r.open(path, **LOOPBACK) as workspace:
        assert workspace.crawl(site.url).wait() == "nothing left"
        assert workspace.status()["index"] is None
        report = workspace.index(with_vectors=False)
        assert report.documents > 30 and report.documents_behind == 0
    return path


def test_a_page_is_scraped_with_all_that_it_says(site: SampleSite) -> None:
    page = crawl4r.scrape(site.url, **LOOPBACK)
    assert (page.status, page.verdict, page.title) == (200, "ok", "A Field Guide to Web Crawling")
    assert page.markdown.startswith("# A Field Guide to Web Crawling")
    assert "crawler" in page.text and "](" not in page.text
    assert page.metadata["language"] == "en" and page.metadata["description"]
    texts = {link.url: link.text for link in page.links}
    assert "robots.txt" in texts[f"{site.url}{ROBOTS}"]
    assert page.body.startswith(b"<!doctype html>") and page.html == page.body.decode()


def test_a_page_that_is_not_there_says_why(site: SampleSite) -> None:
    with pytest.raises(PageUnavailable, match="404"):
        crawl4r.scrape(f"{site.url}none", **LOOPBACK)


def test_a_page_at_hand_is_read_and_nothing_is_fetched() -> None:
    html = (
        "<title>T</title><h1>Tides</h1><p>High <a href='moon'>water</a> and more.</p>"
        "<img src='a.png' alt='A map'><img src='data:image/png;base64,AA'>"
    )
    page = crawl4r.extract(html, "https://example.org/sea/tides")
    assert [(link.url, link.text, link.section) for link in page.links] == [
        ("https://example.org/sea/moon", "water", "Tides")
    ]
    assert page.images == [crawl4r.PageImage("https://example.org/sea/a.png", "A map")]


def test_fields_of_a_page_are_found_by_selectors() -> None:
    html = "<ul><li><b>A</b> <a href=/1>one</a><li><b>B</b> <a href=/2>two</a></ul>"
    page = crawl4r.extract(html, "https://example.org/")
    assert page.records("li", name="b", link="a::attr(href)", none="i") == [
        {"name": "A", "link": "/1", "none": ""},
        {"name": "B", "link": "/2", "none": ""},
    ]
    assert [(each.tag, each.text) for each in page.select("b")] == [("b", "A"), ("b", "B")]
    with pytest.raises(UsageError, match="selector"):
        page.select("li[")


def test_pages_of_a_crawl_have_been_read(site: SampleSite, tmp_path: Path) -> None:
    async def crawl() -> list[crawl4r.Page]:
        async with crawl4r.open(tmp_path, **LOOPBACK) as workspace:
            return [page async for page in workspace.crawl(site.url, max_pages=12)]

    pages = [page for page in asyncio.run(crawl()) if page.status == 200]
    assert len(pages) == 12
    assert [page.url for page in pages if not (page.title and page.markdown and page.text)] == []
    assert all(link.url for page in pages for link in page.links)


def test_a_crawl_is_iterated_without_an_event_loop(site: SampleSite, tmp_path: Path) -> None:
    with crawl4r.open(tmp_path, **LOOPBACK) as workspace:
        for number, page in enumerate(workspace.crawl(site.url, max_pages=6)):
            assert page.title
            if number == 2:
                break
        assert 3 <= workspace.status()["pages"] <= 6
        rest = [page.url for page in workspace.crawl()]
    assert len(set(rest)) == len(rest) >= 30


def test_a_kept_page_is_read_again_where_that_is_asked_for(site: SampleSite, kept: Path) -> None:
    with crawl4r.open(kept, read_only=True) as workspace:
        page = workspace.get(f"{site.url}{ROBOTS}")
        assert page is not None
        assert (page.title, page.verdict) == ("How robots.txt matching works", "ok")
        assert page.links and page.text
        assert page.records("main", title="h1") == [{"title": "How robots.txt matching works"}]


def test_search_and_similar_answer_with_hits(site: SampleSite, kept: Path) -> None:
    with crawl4r.open(kept, read_only=True) as workspace:
        answer = workspace.search("robots.txt matching", limit=3, mode="keyword")
        assert len(answer) == 3
        best = next(iter(answer))
        assert best.url == f"{site.url}{ROBOTS}"
        assert 0 < best.score <= 1 and best.section and best.text
        assert workspace.search("robots", mode="keyword", before="2020-01-01").hits == []
        assert workspace.search("robots", mode="keyword", domains=["\udcfe\udcff"]).hits == []
        with pytest.raises(UsageError, match="since: 'soon'"):
            workspace.search("robots", since="soon")
        with pytest.raises(UsageError, match="mode: 'words'"):
            workspace.search("robots", mode="words")  # type: ignore[arg-type]


def test_nothing_is_found_before_anything_is_indexed(site: SampleSite, tmp_path: Path) -> None:
    with crawl4r.open(tmp_path, **LOOPBACK) as workspace:
        workspace.crawl(site.url, max_pages=1).wait()
        with pytest.raises(UsageError, match="crawl4r index"):
            workspace.search("robots")


def test_python_and_the_command_line_answer_alike(site: SampleSite, kept: Path) -> None:
    url = f"{site.url}{ROBOTS}"
    with crawl4r.open(kept, read_only=True) as workspace:
        hits = [(hit.url, hit.text) for hit in workspace.search("polite", mode="keyword")]
        history = [entry.capture_id for entry in workspace.history(url)]
        state = workspace.why(url)["state"]
        pages = workspace.status()["pages"]
    shown = run("search", "polite", "--mode", "keyword", "-w", kept, "--json").json["results"]
    assert [(hit["url"], hit["text"]) for hit in shown] == hits
    assert [row["capture_id"] for row in run("history", url, "-w", kept, "--json").json] == history
    assert run("why", url, "-w", kept, "--json").json["state"] == state
    assert run("status", "-w", kept, "--json").json["pages"] == pages


def test_every_question_can_be_awaited(site: SampleSite, kept: Path, tmp_path: Path) -> None:
    url = f"{site.url}{ROBOTS}"

    async def ask() -> None:
        async with crawl4r.open(kept, read_only=True) as workspace:
            answer, history, story, status = await asyncio.gather(
                workspace.search_async("robots", mode="keyword"),
                workspace.history_async(url),
                workspace.why_async(url),
                workspace.status_async(),
            )
            assert len(answer) and history == workspace.history(url)
            assert story["state"] == "done" and status["pages"] == workspace.status()["pages"]
            with pytest.raises(UsageError, match="capture"):
                await workspace.diff_async(url)
            report = await workspace.export_async("jsonl", tmp_path / "out.jsonl")
            assert report.documents == len((tmp_path / "out.jsonl").read_text().splitlines())

    asyncio.run(ask())


def test_what_writes_refuses_a_running_loop_and_names_its_twin(tmp_path: Path) -> None:
    async def ask() -> None:
        async with crawl4r.open(tmp_path) as workspace:
            with pytest.raises(UsageError, match="await index_async"):
                workspace.index()
            with pytest.raises(UsageError, match="await import_file_async"):
                workspace.import_file("none.jsonl")

    asyncio.run(ask())


def test_what_only_reads_a_page_works_inside_a_running_loop(site: SampleSite) -> None:
    """As in a notebook."""

    async def ask() -> str:
        return crawl4r.scrape(site.url, **LOOPBACK).title

    assert asyncio.run(ask()) == "A Field Guide to Web Crawling"


@pytest.mark.parametrize("form", ["jsonl", "markdown", "parquet", "csv", "warc", "wacz"])
def test_every_form_of_export_is_written(kept: Path, tmp_path: Path, form: Any) -> None:
    name = {"markdown": "out", "csv": "out", "warc": "out.warc.gz"}.get(form, f"out.{form}")
    with crawl4r.open(kept, read_only=True) as workspace:
        report = workspace.export(form, tmp_path / name)
        assert report.documents or report.captures
        foreign = {"site": "a"} if form == "jsonl" else {"language": "en"}
        if form in {"jsonl", "csv", "warc", "wacz"}:
            with pytest.raises(UsageError, match="not for the export"):
                workspace.export(form, tmp_path / name, **foreign)
    assert (tmp_path / name).exists()


def test_imports_become_documents(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text(json.dumps({"id": "1", "title": "Tides", "text": "High water comes at six."}))
    told: list[tuple[int, int]] = []
    with crawl4r.open(tmp_path / "ws") as workspace:
        counts = workspace.import_file(file, on_read=lambda done, total: told.append((done, total)))
        assert (counts.added, counts.unchanged) == (1, 0)
        assert [stored.document.title for stored in workspace.documents()] == ["Tides"]
        assert workspace.import_file(file).unchanged == 1
    assert told == [(1, 1)]


def test_what_was_exported_as_json_lines_can_be_imported(kept: Path, tmp_path: Path) -> None:
    with crawl4r.open(kept, read_only=True) as workspace:
        count = workspace.export("jsonl", tmp_path / "out.jsonl").documents
        texts = {each.document.url: each.document.markdown for each in workspace.documents()}
    with crawl4r.open(tmp_path / "ws") as workspace:
        assert workspace.import_file(tmp_path / "out.jsonl").added == count
        for each in workspace.documents():
            assert each.document.markdown == texts[each.document.url]


def test_a_site_is_mapped_and_planned(site: SampleSite) -> None:
    named = {found.url for found in crawl4r.map(site.url, **LOOPBACK)}
    assert f"{site.url}{ROBOTS}" in named
    plan = crawl4r.plan(site.url, sample=5, **LOOPBACK)
    assert plan["pages"]["low"] <= plan["pages"]["estimate"] <= plan["pages"]["high"]


def test_options_are_those_of_the_settings() -> None:
    assert set(get_type_hints(options.CrawlOptions)) == set(SHORT_NAMES)


def test_every_public_name_can_be_imported_and_is_described() -> None:
    reference = (Path(__file__).parents[2] / "docs" / "reference" / "python.md").read_text("utf-8")
    for name in set(crawl4r.__all__) - {"__version__"}:
        assert getattr(crawl4r, name) is not None
        assert f"crawl4r.{name}(" in reference or f"### {name}\n" in reference, name


def test_the_examples_pass_the_strictest_types() -> None:
    examples = Path(__file__).parents[2] / "docs" / "examples"
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *examples.glob("*.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=examples.parents[1],
    )
    assert (checked.returncode, checked.stdout) == (0, "")
