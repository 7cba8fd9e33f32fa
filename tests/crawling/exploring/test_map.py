"""`crawl4r map`, and the Common Crawl index as a source."""

from __future__ import annotations

import json
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.interfaces.cli.running import LOOPBACK, Background, run
from tests.worlds.news import News
from tests.worlds.process import WorldProcess

NEWS = News(articles=200)


@pytest.fixture(scope="module")
def site() -> Iterator[WorldProcess]:
    with WorldProcess(NEWS) as running:
        yield running


class Index(ThreadingHTTPServer):
    """Answers like a Common Crawl index: JSON lines for `url=host/*`, 404 when it knows nothing."""

    def __init__(self, pages: list[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.pages = pages
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/CC-MAIN-2026-40-index"

    def __enter__(self) -> Index:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Answers(BaseHTTPRequestHandler):
    server: Index

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        query = parse_qs(urlsplit(self.path).query)
        wanted = query.get("url", [""])[0].removesuffix("/*")
        found = [page for page in self.server.pages if urlsplit(page).netloc == wanted]
        is_index = urlsplit(self.path).path.endswith("-index")
        stamp = {"timestamp": "20260901120000", "status": "200", "mime": "text/html"}
        lines = "".join(json.dumps({"url": page, **stamp}) + "\n" for page in found)
        body = lines.encode() if is_index and found else b'{"message": "No Captures found"}'
        self.send_response(200 if is_index and found else 404)
        self.send_header("Content-Type", "text/x-ndjson")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_a_map_names_every_url_with_its_source_and_visits_none(site: WorldProcess) -> None:
    answer = run("map", site.url("/"), *LOOPBACK, "--json")
    assert answer.code == 0
    named = {line["url"]: line for line in answer.lines}
    assert len(named) == len(answer.lines)
    truth = NEWS.truth()
    assert site.urls(truth.articles) <= set(named)
    assert {"sitemap", "feed", "link"} <= {line["source"] for line in named.values()}
    dated = [line for line in named.values() if line["source"] == "sitemap"]
    assert all(line["lastmod"].endswith("Z") for line in dated)
    asked = {record.path for record in site.requests()}
    assert not asked & set(truth.articles)


def test_a_map_for_people_has_a_line_a_url(site: WorldProcess) -> None:
    answer = run("map", site.url("/"), *LOOPBACK, "--limit", "5")
    assert len(answer.text.splitlines()) == 5
    assert answer.err.splitlines()[-1].startswith("5 of ")
    assert answer.err.endswith(" URLs\n")


def test_an_index_of_common_crawl_names_pages_that_nobody_links_to(tmp_path: Path) -> None:
    bare = News(articles=100, sitemaps=False, archives=False, feed=False, month_links=False)
    with WorldProcess(bare) as site:
        pages = sorted(site.urls(bare.truth().articles))
        with Index([*pages, "http://elsewhere.test/x"]) as index:
            named = run("map", site.url("/"), *LOOPBACK, "--common-crawl", index.url, "--json")
            sources = Counter(line["source"] for line in named.lines)
            assert sources["common-crawl"] > 50
            env = {
                "CRAWL4R_EXPLORE__ENABLED": "true",
                "CRAWL4R_EXPLORE__ARCHIVES": "false",
                "CRAWL4R_EXPLORE__COMMON_CRAWL": index.url,
            }
            words = ("--no-extract", "--json")
            run("crawl", site.url("/"), "-w", tmp_path, *LOOPBACK, *words, env=env)
            assert any("url=" in path for path in index.asked)
        assert bare.truth().tally(site.requests()).articles == 100


def test_an_index_that_knows_nothing_does_no_harm(site: WorldProcess) -> None:
    with Index([]) as index:
        answer = run("map", site.url("/"), *LOOPBACK, "--common-crawl", index.url, "--json")
    assert answer.code == 0
    assert len(answer.lines) > 200


def test_a_map_says_on_stderr_what_it_reads(site: WorldProcess) -> None:
    answer = run("map", site.url("/"), *LOOPBACK, "--json")
    assert answer.err.splitlines()[0] == f"asking {site.url('/')} and its robots.txt"


def test_ctrl_c_ends_a_map_with_what_is_known_by_then() -> None:
    slow = ("--rate", "2", "--allow-private", "127.0.0.1")
    with (
        WorldProcess(NEWS) as site,
        Background("map", site.url("/"), *slow, "--json") as look,
    ):
        look.wait_until_it_says("reading sitemaps")
        look.send(signal.SIGINT)
        answer = look.end()
    assert answer.code == 3
    assert answer.lines, "the first page names some"
    assert "not all" in answer.err.splitlines()[-1]


@pytest.mark.parametrize("command", ["map", "plan"])
def test_a_site_without_a_scheme_is_looked_at_by_the_one_that_answers(
    site: WorldProcess, command: str
) -> None:
    place = site.url("/").removeprefix("http://")
    answer = run(command, place, *LOOPBACK, "--json")
    assert (answer.code, answer.lines != []) == (0, True), answer.err
