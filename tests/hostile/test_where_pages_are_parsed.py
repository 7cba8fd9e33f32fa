"""No command parses what strangers wrote in a process that owns anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.content.extract.making_pdf import pdf_saying
from tests.interfaces.cli.running import LOOPBACK, Answer, run
from tests.logs.world import Answer as Page
from tests.logs.world import World, article, serving

Command = Callable[..., Answer]


@pytest.fixture(scope="module")
def site() -> Iterator[World]:
    """A page, a sitemap, a feed, a PDF file, and something for every missing page."""
    with serving() as world:
        world.put("/", article("Start", '<a href="/p?page=2">2</a><a href="/f.pdf">PDF</a>', FEED))
        world.put("/p?page=2", article("Second"))
        world.put("/named", "<title>Odd</title><p>little")  # worth a look at what is missing
        world.answers["/f.pdf"] = Page(pdf_saying("A paper"), content_type="application/pdf")
        robots = f"Sitemap: {world.url}/map.xml".encode()
        world.answers["/robots.txt"] = Page(robots, content_type="text/plain")
        located = f"<urlset><url><loc>{world.url}/named</loc></url></urlset>".encode()
        world.answers["/map.xml"] = Page(located, content_type="text/xml")
        item = f"<rss><channel><item><link>{world.url}/named</link></item></channel></rss>"
        world.answers["/feed"] = Page(item.encode(), content_type="application/rss+xml")
        yield world


FEED = '<link rel="alternate" type="application/rss+xml" href="/feed">'


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Command]:
    told = tmp_path / "parsed-in-the-open"
    env = {
        "PARSED_IN_THE_OPEN": str(told),
        "PYTHONPATH": str(Path(__file__).parent / "watched_parsers"),
        "CRAWL4R_EXPLORE__ENABLED": "true",
    }
    yield lambda *words: run(*words, env=env)
    assert not told.exists(), told.read_text()


def test_a_crawl_and_what_is_made_of_it(site: World, watched: Command, tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    ended = watched("crawl", site.url, "-w", workspace, *LOOPBACK, "--logs", "--json")
    assert ended.json["documents"] >= 3  # so the parsers were used
    urls = {row["url"] for row in run("pages", "-w", workspace, "--json").lines}
    assert f"{site.url}/named" in urls  # by the sitemap or the feed
    assert watched("reprocess", "-w", workspace).code == 0
    assert watched("replay", "--documents", "-w", workspace).code == 0
    warc = tmp_path / "warc"
    assert watched("export", "warc", "-w", workspace, "--out", warc).code == 0
    files = sorted(warc.glob("*.warc.gz"))
    assert watched("import", *files, "-w", tmp_path / "other").code == 0


@pytest.mark.parametrize("command", ["scrape", "map", "plan"])
def test_a_look_at_a_site(site: World, watched: Command, command: str) -> None:
    assert watched(command, f"{site.url}/", *LOOPBACK[2:], "--json").code == 0


def test_files_of_the_user(watched: Command, tmp_path: Path) -> None:
    page, paper = tmp_path / "page.html", tmp_path / "paper.pdf"
    page.write_text(article("A page", '<a rel="next" href="/2">Next</a>'))
    paper.write_bytes(pdf_saying("A paper"))
    assert watched("extract", page, "--json").json["title"] == "A page"
    assert "A paper" in watched("extract", paper, "--json").json["text"]
    assert watched("pagination", page, "--url", "http://e.org/1", "--json").json["next"]
    records = tmp_path / "records.jsonl"
    records.write_text(json.dumps({"url": "http://e.org/", "text": "<p>A record</p>"}) + "\n")
    assert watched("import", records, "-w", tmp_path / "ws").code == 0
