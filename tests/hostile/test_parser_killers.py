"""Pages that kill the HTML parser, among good ones: each costs itself and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.content.parser_killers import KILLERS
from tests.interfaces.cli.running import LOOPBACK, crawl, run
from tests.logs.world import World, article, serving

GOOD = 12
DEATH = "the reading process died of SIGSEGV"


@pytest.fixture(scope="module")
def site() -> Iterator[World]:
    """A front page that names them all in turn; a sitemap that is well, too."""
    with serving() as world:
        kills = [f"/kill/{number}" for number in range(len(KILLERS))]
        goods = [f"/good/{number}" for number in range(GOOD)]
        pairs = [path for pair in zip(goods, kills * GOOD, strict=False) for path in pair]
        links = "".join(f'<a href="{path}">{path}</a>' for path in pairs)
        world.put("/", article("Start", links))
        for number, path in enumerate(goods):
            words = f"The {number}th of the good pages tells of a lighthouse and its keeper."
            world.put(path, article(f"Good {number}", f"<p>{words}</p>"))
        for path, killer in zip(kills, KILLERS, strict=True):
            world.put(path, killer.decode())
        yield world


def test_a_crawl_keeps_every_good_page_and_says_of_the_others_how_they_were_lost(
    site: World, tmp_path: Path
) -> None:
    ended = crawl(f"{site.url}/", tmp_path / "ws", "--logs")
    assert ended.code == 0
    rows = {row["url"]: row for row in run("pages", "-w", tmp_path / "ws", "--json").lines}
    good = [f"{site.url}/good/{number}" for number in range(GOOD)]
    assert [rows[url]["verdict"] for url in good] == ["ok"] * GOOD
    for number, killer in enumerate(KILLERS):
        url = f"{site.url}/kill/{number}"
        story = run("why", url, "-w", tmp_path / "ws", "--json").json
        assert (story["verdict"], story["reason"]) == ("unreadable", DEATH)
        assert run("get", url, "-w", tmp_path / "ws", "--raw").out == killer


def test_what_follows_such_a_crawl_works(site: World, tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    assert crawl(f"{site.url}/", workspace, "--logs").code == 0
    assert run("replay", "--check", "-w", workspace).code == 0
    assert run("reprocess", "-w", workspace).code == 0
    assert run("export", "jsonl", "-w", workspace, "--out", tmp_path / "out.jsonl").code == 0
    exported = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    assert sum("of the good pages" in json.loads(line)["markdown"] for line in exported) == GOOD
    assert crawl(f"{site.url}/", workspace, "--refresh").code == 0


@pytest.mark.parametrize("number", range(len(KILLERS)))
def test_scraping_or_extracting_one_gives_a_verdict(
    site: World, tmp_path: Path, number: int
) -> None:
    scraped = run("scrape", f"{site.url}/kill/{number}", *LOOPBACK[2:], "--json")
    file = tmp_path / "page.html"
    file.write_bytes(KILLERS[number])
    extracted = run("extract", file, "--json")
    for answer in (scraped, extracted):
        assert answer.code == 0
        assert (answer.json["verdict"], answer.json["reason"]) == ("unreadable", DEATH)
    assert run("pagination", file, "--url", site.url).code == 1
