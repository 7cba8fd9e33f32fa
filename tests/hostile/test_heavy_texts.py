"""Pages whose bytes are few and whose text is long, deep or costly to cut, to compare and to index."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import crawl4r
from tests.hostile.measured import Ordeal, suffer
from tests.hostile.serving import HTML, PROSE, Site, article, serving
from tests.interfaces.cli.running import LOOPBACK, run

WORDS_ONLY = {"CRAWL4R_EMBEDDER__KIND": "none"}
ROWS = "".join(f"<tr><td>a{row}<td>b{row}" for row in range(60_000))

HEAVY = {
    "a table of 60,000 rows": (HTML, article("T", PROSE, f"<table><tr><td colspan=2>x{ROWS}")),
    "4 MB of newlines": (HTML, article("T", PROSE, "\n" * 4_000_000)),
    "4 MB of newlines in a pre": (HTML, article("T", PROSE, f"<pre>x{chr(10) * 4_000_000}y</pre>")),
    "deep JSON": ("application/json", "[" * 900 + "1," * 30_000 + "1" + "]" * 900),
    "32 MB of text": ("text/plain; charset=utf-8", "lantern and keel " * 1_900_000),
    "8 MB of one word": ("text/plain; charset=utf-8", "a" * 8_000_000),
    "300,000 list items": (HTML, article("T", PROSE, "<ul>" + "<li>x" * 300_000)),
    "300,000 headings": ("text/markdown", "# a\n" * 300_000),
}


def crawled(site: Site, workspace: Path, *options: str) -> Ordeal:
    words = ("--workspace", workspace, *LOOPBACK, "--index", "--json", *options)
    return suffer("crawl", site.url, *words, env=WORDS_ONLY).within_limits()


def assert_the_good_page_is_found(workspace: Path, url: str) -> None:
    found = run("search", "lighthousekeeper", "-w", workspace, "--json", env=WORDS_ONLY).json
    assert [hit["url"] for hit in found["results"]] == [url]


@pytest.mark.parametrize("name", HEAVY)
def test_a_heavy_text_costs_a_bounded_amount_and_no_other_page(name: str, tmp_path: Path) -> None:
    site = Site()
    site.put_article("/good", "lighthousekeeper")
    site.put("/heavy", *HEAVY[name])
    with serving(site):
        assert crawled(site, tmp_path).answer.code == 0
        assert_the_good_page_is_found(tmp_path, f"{site.url}/good")
        with crawl4r.open(tmp_path, read_only=True) as opened:
            told = {row.url: (row.verdict, row.reason) for row in opened.pages()}
        assert told[f"{site.url}/heavy"][0] in {"ok", "no-text"}, told
        rebuilt = suffer("index", "--rebuild", "-w", tmp_path, env=WORDS_ONLY).within_limits()
        assert rebuilt.answer.code == 0
        assert_the_good_page_is_found(tmp_path, f"{site.url}/good")


def test_long_texts_that_changed_everywhere_are_compared_at_a_bounded_cost(tmp_path: Path) -> None:
    """Two texts of 3 MB: a comparison line by line needs more than a minute."""
    chance = random.Random(3)
    words = [f"word{number}" for number in range(500)]
    site = Site()
    site.put_article("/good", "lighthousekeeper")
    with serving(site):
        for _ in range(2):
            lines = "\n".join(" ".join(chance.choices(words, k=6)) for _ in range(60_000))
            site.put("/heavy", "text/plain; charset=utf-8", lines)
            assert crawled(site, tmp_path, "--refresh").answer.code == 0
        shown = suffer("diff", f"{site.url}/heavy", "-w", tmp_path).within_limits()
        assert shown.answer.code == 0
        assert "+" in shown.answer.text
        assert_the_good_page_is_found(tmp_path, f"{site.url}/good")
