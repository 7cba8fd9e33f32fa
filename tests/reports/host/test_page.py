"""The page: whole, offline, and never more than text where strangers wrote."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawl4r.formats.html import body_of, parse_html
from crawl4r.storage.database import Database
from tests.interfaces.cli.running import run
from tests.reports.host.asking import crawl
from tests.site.process import SiteProcess

SCRIPT = "</title></style><script>alert(1)</script>"
QUOTES = """"'><img src=x onerror=alert(1)>"""
LINK = "javascript:alert(1)"
TURNED = "\u202egnp.exe\u2066"  # a terminal that obeys it shows exe.png
TERMINAL = "\x1b]0;owned\x07"
HOSTILE = (SCRIPT, QUOTES, LINK, TURNED, TERMINAL, "&lt;b&gt;", "{{7*7}}")
MAY_LOAD = ("src", "href", "action", "srcset", "data", "poster", "xlink:href", "formaction")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A workspace whose every text is an attack, wherever a text could come from outside."""
    workspace = tmp_path_factory.mktemp("hostile")
    with closing(Database(workspace / "state.db")) as database:
        for number, text in enumerate(HOSTILE, 1):
            record(database, number, text)
        database.commit()
    yield workspace


def record(database: Database, number: int, text: str) -> None:
    host, now = "example.org", time.time() - 1000 + number
    url = f"https://{host}/{text}/{text}?{text}"
    agent = json.dumps([f"User-Agent: Bot {text} (+{text})"])
    database.write("INSERT OR IGNORE INTO hosts (id, name) VALUES (1, ?)", (host,))
    database.write("INSERT INTO requests VALUES (?, ?)", (number, agent))
    for offset, (verdict, reason) in enumerate(
        [("http-error", text), ("robots-denied", f"robots.txt: Disallow: {text} (line {number})")]
    ):
        database.write(
            "INSERT INTO urls (id, crawl_id, url, host_id, state, priority, depth, found_by,"
            " found_at, rule, verdict, reason) VALUES (?, 1, ?, 1, 'done', 0, 0, 'seed', 0, '', ?, ?)",
            (number * 2 + offset, f"{url}{offset}", verdict, reason),
        )
    database.write("INSERT INTO pages VALUES (?, ?, 1, NULL, NULL)", (number * 2, f"{url}0"))
    database.write(
        "INSERT INTO captures (page_id, fetched_at, status, verdict, reason, bytes, content_type,"
        " encoding, headers, page_type, depth, latency_ms, retries, proxy, http_version, address,"
        " request) VALUES (?, ?, 429, 'http-error', ?, 9, '', '', ?, '', 0, 9, 0, '', '', '::1', ?)",
        (number * 2, now, text, json.dumps([["retry-after", text]]), number),
    )
    database.write("INSERT INTO errands VALUES (1, ?, ?, NULL, 9, ?)", (now, url, text))
    origin = f"https://{host}:{number}"
    body = f"User-agent: *\nDisallow: {text}\n".encode()
    database.write(
        "INSERT INTO robots VALUES (?, ?, 200, ?, ?, ?)", (origin, text, body, now, now + 1)
    )


def page_of(workspace: Path, host: str, folder: Path) -> str:
    file = folder / "page.html"
    answer = run("report", host, "-w", workspace, "--html", file)
    assert answer.code == 0, answer.err
    return file.read_text("utf-8")


def test_nothing_that_a_stranger_wrote_becomes_markup(hostile: Path, tmp_path: Path) -> None:
    source = page_of(hostile, "example.org", tmp_path)
    tree = parse_html(source)
    names = {node.tag for node in tree.iter_elements()}
    assert names.isdisjoint({"script", "img", "iframe", "object", "a", "form", "link", "b "})
    for node in tree.select("*"):
        attributes = node.attrs
        assert not [name for name in attributes if name.startswith("on")], node.html
        assert not [name for name in attributes if name in MAY_LOAD], node.html
    body = body_of(tree)
    text = body.text if body is not None else ""
    for word in (SCRIPT, QUOTES, LINK, "&lt;b&gt;", "{{7*7}}"):
        assert word in text
    assert len(tree.select("main")) == 1 and len(tree.select("svg")) == 4


def test_what_would_turn_or_hide_text_is_spelled_out(hostile: Path, tmp_path: Path) -> None:
    source = page_of(hostile, "example.org", tmp_path)
    assert not [c for c in source if not c.isprintable() and c != "\n"]
    assert r"\u202egnp.exe\u2066" in source and r"\x1b]0;owned" in source
    shown = run("report", "example.org", "-w", hostile).text
    assert not [c for c in shown if not c.isprintable() and c != "\n"]
    told = run("report", "example.org", "-w", hostile, "--json").json
    assert TURNED in {error["reason"] for error in told["errors"]}  # scripts get it as it was


def test_strangers_words_are_isolated_from_the_direction_around_them(
    hostile: Path, tmp_path: Path
) -> None:
    tree = parse_html(page_of(hostile, "example.org", tmp_path))
    isolated = " ".join(node.text for node in tree.select("bdi"))
    assert all(word in isolated for word in (SCRIPT, QUOTES, LINK))


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("honest")
    with SiteProcess() as site:
        seeds = (site.url("/site/8/"), site.url("/status/404"))
        crawl(folder, *seeds, "--rate", "0", "--no-probe")
    return folder


def test_the_page_needs_nothing_but_itself(honest: Path, tmp_path: Path) -> None:
    source = page_of(honest, "127.0.0.1", tmp_path)
    tree = parse_html(source)
    policy = tree.select_one('meta[http-equiv="Content-Security-Policy"]')
    assert policy is not None and "default-src 'none'" in (policy.attr("content") or "")
    assert not re.search(r"url\(|@import|src=|href=", source)
    assert "prefers-color-scheme: dark" in source and "@media print" in source
    labels = {node.attr("aria-label") for node in tree.select("svg")}
    assert {"Requests over time", "Gaps between requests", "Answers by status"} < labels


def test_the_page_says_what_the_json_says(honest: Path, tmp_path: Path) -> None:
    told: dict[str, Any] = run("report", "127.0.0.1", "-w", honest, "--json").json
    tree = parse_html(page_of(honest, "127.0.0.1", tmp_path))
    tiles = {
        node.select_one("span").text: node.select_one("b").text for node in tree.select(".tile")
    }
    assert tiles["requests"] == str(told["requests"]["total"])
    assert tiles["at once, at most"] == str(told["at_once"])
    assert tiles["in the busiest minute"] == str(told["most"]["minute"]["requests"])
    bars = [node.text for node in tree.select("svg rect title")]
    assert f"{told['requests']['statuses']['200']}  (" in " ".join(bars)
    for finding in told["verdict"]["findings"]:
        assert finding["text"] in (tree.select_one(".verdict ul").text)


def test_text_and_page_can_be_had_at_once(honest: Path, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    answer = run("report", "127.0.0.1", "-w", honest, "--html", file)
    assert f"page: {file}" in answer.text
    assert "requests: 10" in answer.text and file.exists()
    both = run("report", "127.0.0.1", "-w", honest, "--html", file, "--json")
    assert both.json["host"] == "127.0.0.1"


def test_a_page_that_cannot_be_written_is_named(honest: Path, tmp_path: Path) -> None:
    file = tmp_path / "no" / "page.html"
    answer = run("report", "127.0.0.1", "-w", honest, "--html", file)
    assert (answer.code, str(file) in answer.err) == (2, True)


def test_a_host_that_was_asked_nothing_has_a_page_too(honest: Path, tmp_path: Path) -> None:
    with closing(Database(honest / "state.db")) as database:
        database.write("INSERT OR IGNORE INTO hosts (name) VALUES ('quiet.example')")
        database.commit()
    source = page_of(honest, "quiet.example", tmp_path)
    assert "We asked nothing of quiet.example" in source
    assert not parse_html(source).select("svg")
