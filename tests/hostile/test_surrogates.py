"""Half of a surrogate pair, which JSON can spell and UTF-8 cannot: in all that a page may say."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from crawl4r.formats import zstd
from tests.hostile.measured import suffer
from tests.hostile.serving import HTML, PROSE, Site, article, serving
from tests.interfaces.cli.running import LOOPBACK, run

KINDS = ("jsonl", "markdown", "csv", "parquet", "warc")
WORDS_ONLY = {"CRAWL4R_EMBEDDER__KIND": "none"}
LINKED_DATA = {
    "@type": "Article",
    "headline": "\ud800H",
    "description": "\ud800X",
    "author": {"name": "\udfffA"},
    "keywords": ["\ud800k"],
}
FEED = {
    "version": "https://jsonfeed.org/version/1.1",
    "title": "F \ud800",
    "items": [{"id": "1\udc00", "url": "/\ud800", "title": "T\ud800", "content_text": "x \ud800"}],
}


def bad_site() -> Site:
    """JSON that spells half a pair in a page's data, as a page, and as a feed; a good page beside."""
    site = Site()
    site.put_article("/good", "lantern")
    script = f'<script type="application/ld+json">{json.dumps(LINKED_DATA)}</script>'
    site.put("/data", HTML, article("Data", f"anchor {PROSE}", head=script))
    site.put("/page.json", "application/json", json.dumps({"said": f"capstan \ud800 {PROSE}"}))
    site.put("/feed.json", "application/feed+json", json.dumps(FEED))
    return site


def assert_all_commands_work(workspace: Path, *words: str) -> None:
    """Each of them, and each word is found."""
    exports = [("export", kind, "--out", workspace.with_name(kind)) for kind in KINDS]
    for command in (*exports, ("index",), ("reprocess",), ("index", "--rebuild")):
        told = run(*command, "-w", workspace, env=WORDS_ONLY).without_traceback()
        assert told.code == 0, told.err
        if "index" in command:
            for word in words:
                found = run("search", word, "-w", workspace, "--json", env=WORDS_ONLY)
                assert len(found.json["results"]) == 1, (word, found.text)


def test_half_a_pair_in_what_a_page_says_poisons_nothing(tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    with serving(bad_site()) as site:
        options = ("-w", workspace, *LOOPBACK, "--index", "--json")
        crawled = suffer("crawl", site.url, *options, env=WORDS_ONLY).within_limits().answer
        assert crawled.code == 0, crawled.err
        rows = {row["url"]: row for row in run("pages", "-w", workspace, "--json").lines}
        assert {rows[site.url + path]["verdict"] for path in site.pages} == {"ok"}
        assert run("resume", "-w", workspace).without_traceback().code == 0
        assert_all_commands_work(workspace, "lantern", "anchor", "capstan")
    kept = {
        row["url"]: row for row in map(json.loads, (tmp_path / "jsonl").read_text().splitlines())
    }
    assert kept[f"{site.url}/data"]["description"] == "\ufffdX"


def test_half_a_pair_in_an_imported_line_poisons_nothing(tmp_path: Path) -> None:
    workspace, lines = tmp_path / "ws", tmp_path / "pages.jsonl"
    good = {"url": "https://example.org/good", "text": f"lantern {PROSE}"}
    bad = {
        "url": "https://example.org/bad",
        "title": "\ud800T",
        "text": f"capstan \udfff {PROSE}",
        "keywords": ["\ud800"],
    }
    lines.write_text("".join(json.dumps(row) + "\n" for row in (bad, good)))
    told = suffer("import", lines, "-w", workspace, "--json").within_limits().answer
    assert told.code == 0, told.err
    assert_all_commands_work(workspace, "lantern", "capstan")


def test_a_workspace_that_an_older_version_poisoned_works_again(tmp_path: Path) -> None:
    """It kept such texts as they were, and could neither index nor export any page after that."""
    workspace = tmp_path / "ws"
    with serving(bad_site()) as site:
        run("crawl", site.url, "-w", workspace, *LOOPBACK, "--no-index")
        (workspace / "state.sum").unlink()
        text = f"capstan \ud800 {PROSE}".encode("utf-8", "surrogatepass")
        with closing(sqlite3.connect(workspace / "state.db")) as state, state:
            state.execute(
                "UPDATE documents SET content = ?, metadata = replace(metadata, '{', ?) WHERE url = ?",
                (zstd.compress(text), '{"image": "\\ud800", ', f"{site.url}/page.json"),
            )
        assert run("resume", "-w", workspace).without_traceback().code == 0
        assert_all_commands_work(workspace, "lantern", "anchor", "capstan")
