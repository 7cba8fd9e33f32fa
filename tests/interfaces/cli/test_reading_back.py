"""`pages`, `get`, `why` and `status`: what was stored, and what became of a URL."""

from __future__ import annotations

import functools
import hashlib
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from crawl4r.clock import epoch_of
from tests.faults.whole import expected_bodies
from tests.interfaces.cli.running import LOOPBACK, crawl, run
from tests.site.process import SiteProcess

FIELDS = ["url", "state", "status", "sha256", "bytes", "captured_at", "depth", "referrer"]
FIELDS += ["page_type", "verdict", "reason", "found_by", "kept"]


@pytest.fixture(scope="module")
def mixed(site: SiteProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl with something of everything: pages, a 404, a redirect, a robots rule, a foreign host."""
    workspace = tmp_path_factory.mktemp("mixed") / "ws"
    folder = workspace.parent
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /site/5/p/4.html\n")
    with SiteProcess(hosts=["127.0.0.2"], robots_files={"127.0.0.2": folder / "robots.txt"}) as own:
        paths = ("/site/5/", "/status/404", "/redirect/1", "/redirect-to?url=http://example.org/")
        seeds = [own.url(path, host="127.0.0.2") for path in paths]
        options = ("--workspace", workspace, "--rate", "0", "--allow-private", "127.0.0.0/8")
        assert run("crawl", *seeds, *options, "--host", f"127.0.0.2:{own.port}").code == 0
    return workspace


@functools.cache
def rows_of(workspace: Path) -> list[dict[str, object]]:
    return run("pages", "--workspace", workspace, "--json").lines


def row_of(workspace: Path, path: str) -> dict[str, object]:
    rows = rows_of(workspace)
    (row,) = [row for row in rows if row["url"] == path or urlsplit(str(row["url"])).path == path]
    return dict(row)


def test_pages_has_a_line_with_every_field_for_every_url(site: SiteProcess, crawled: Path) -> None:
    rows = run("pages", "--workspace", crawled, "--json").lines
    assert [list(row) for row in rows] == [FIELDS] * 12
    bodies = expected_bodies(site, 12)
    for row in rows:
        body = bodies.pop(row["url"])
        assert (row["state"], row["status"], row["verdict"]) == ("done", 200, "ok")
        assert row["sha256"] == hashlib.sha256(body).hexdigest()
        assert row["bytes"] == len(body)
        assert abs((epoch_of(row["captured_at"]) or 0.0) - time.time()) < 3600
        assert (row["referrer"] is None) == (row["depth"] == 0)
    assert bodies == {}


def test_pages_tells_what_became_of_urls_that_are_no_pages(mixed: Path) -> None:
    missing = row_of(mixed, "/status/404")
    assert (missing["state"], missing["status"], missing["verdict"]) == ("done", 404, "http-error")
    moved = row_of(mixed, "/redirect/1")
    assert (moved["status"], moved["verdict"]) == (302, "redirect")
    assert row_of(mixed, "/redirect/0")["status"] == 200
    denied = row_of(mixed, "/site/5/p/4.html")
    assert (denied["state"], denied["verdict"], denied["status"]) == (
        "refused",
        "robots-denied",
        None,
    )
    foreign = row_of(mixed, "http://example.org/")
    assert (foreign["state"], foreign["verdict"]) == ("refused", "out-of-scope")


def test_pages_can_be_filtered(mixed: Path) -> None:
    refused = run("pages", "--workspace", mixed, "--state", "refused", "--json").lines
    assert {row["verdict"] for row in refused} == {"robots-denied", "out-of-scope"}
    kept = run("pages", "--workspace", mixed, "--verdict", "ok", "--json").lines
    assert len(kept) == 5
    assert "robots.txt" in run("pages", "--workspace", mixed, "--verdict", "robots-denied").text


def test_get_finds_a_page_by_url_however_it_is_spelled(site: SiteProcess, crawled: Path) -> None:
    url = site.url("/site/12/p/3.html")
    body = expected_bodies(site, 12)[url]
    for spelled in (url, f"{url.replace('http', 'HTTP')}?utm_source=mail#part-2"):
        answer = run("get", spelled, "--workspace", crawled, "--raw")
        assert (answer.code, answer.out, answer.err) == (0, body, "")
    assert run("get", url, "--workspace", crawled).text == body.decode()


def test_get_finds_bytes_by_their_hash(site: SiteProcess, crawled: Path) -> None:
    body = expected_bodies(site, 12)[site.url("/site/12/")]
    sha256 = hashlib.sha256(body).hexdigest()
    answer = run("get", "--sha256", sha256.upper(), "--workspace", crawled, "--raw")
    assert (answer.code, answer.out) == (0, body)
    assert run("get", "--sha256", "00" * 32, "--workspace", crawled).code == 2
    wrong = run("get", "--sha256", "no-hash", "--workspace", crawled)
    assert (wrong.code, "--sha256" in wrong.err) == (2, True)


def test_get_knows_what_a_page_was_at_a_moment(site: SiteProcess, tmp_path: Path) -> None:
    url = site.url("/flaky/history?fail=1&status=404")
    crawl(url, tmp_path / "ws")
    between = time.time()
    crawl(url, tmp_path / "ws", "--refresh")
    newest = run("get", url, "-w", tmp_path / "ws", "--json")
    assert newest.json["status"] == 200
    assert "Recovered" in newest.json["text"]
    assert (epoch_of(newest.json["captured_at"]) or 0.0) > between
    first = run("get", url, "-w", tmp_path / "ws", "--at", str(between), "--json")
    assert first.code == 2
    assert "no stored bytes" in first.err
    iso = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + 60))
    assert run("get", url, "-w", tmp_path / "ws", "--at", iso, "--raw").code == 0


def test_get_shows_headers_and_the_whole_capture(site: SiteProcess, crawled: Path) -> None:
    url = site.url("/site/12/")
    headers = run("get", url, "--workspace", crawled, "--headers").text.lower()
    assert "etag:" in headers and "content-type: text/html; charset=utf-8" in headers
    capture = run("get", url, "--workspace", crawled, "--json").json
    assert (capture["url"], capture["status"], capture["verdict"]) == (url, 200, "ok")


def test_why_tells_the_whole_story(mixed: Path) -> None:
    url = str(row_of(mixed, "/site/5/p/4.html")["url"])
    story = run("why", url, "--workspace", mixed, "--json").json
    assert (story["known"], story["state"], story["verdict"]) == (True, "refused", "robots-denied")
    assert story["scope_now"]["admitted"] is True
    assert (story["robots"]["allowed"], story["robots"]["line"]) == (False, 2)
    assert story["referrer"].endswith("/site/5/")
    assert story["captures"] == []
    told = run("why", url, "--workspace", mixed).text
    assert "robots.txt" in told and "line 2" in told and "/site/5/" in told


def test_why_tells_of_urls_that_were_never_seen(site: SiteProcess, crawled: Path) -> None:
    story = run("why", "https://elsewhere.example/", "--workspace", crawled, "--json").json
    assert (story["known"], story["scope_now"]["admitted"]) == (False, False)
    assert "would be admitted" in run("why", site.url("/new"), "--workspace", crawled).text


def test_why_lists_every_failed_attempt(site: SiteProcess, tmp_path: Path) -> None:
    url = site.url("/flaky/why?fail=9&status=500")
    env = {"CRAWL4R_FETCH__RETRIES": "2", "CRAWL4R_FETCH__BACKOFF_BASE": "0"}
    assert run("crawl", url, "-w", tmp_path, *LOOPBACK, "--quiet", env=env).code == 1
    story = run("why", url, "--workspace", tmp_path, "--json").json
    assert story["state"] == "failed"
    assert len(story["failed_attempts"]) + len(story["captures"]) == 3


@pytest.mark.parametrize("store", ["segments", "files"])
def test_status_counts_what_is_there(site: SiteProcess, tmp_path: Path, store: str) -> None:
    crawl(site.url("/site/12/"), tmp_path, "--store", store)
    status = run("status", "--workspace", tmp_path, "--json").json
    bodies = expected_bodies(site, 12)
    assert status["urls"] == {"done": 12}
    assert (status["pages"], status["captures"], status["running"]) == (12, 12, None)
    assert status["bytes"] == sum(map(len, bodies.values()))
    assert status["blobs"] == 12
    assert 0 < status["stored_bytes"] < status["bytes"]
    assert "12 kept" in run("status", "--workspace", tmp_path).text
