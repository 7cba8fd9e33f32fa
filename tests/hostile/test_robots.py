"""robots.txt that is huge, broken, silent or a maze: the outcome is named and no other host waits."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl4r.errors import SettingsError
from tests.fetch.memory import MEGABYTE, watch_memory
from tests.hostile.crawling import Crawled, crawl, quick_settings
from tests.site.process import SiteProcess

ROBOTS = {
    "127.0.2.1": f"size:{10 * MEGABYTE}",
    "127.0.2.2": "status:503",
    "127.0.2.3": "status:429",
    "127.0.2.4": "redirect-loop",
    "127.0.2.5": "redirects:4",
    "127.0.2.6": "redirects:6",
    "127.0.2.7": "close",
    "127.0.2.8": "status:404",
    "127.0.2.9": "status:403",
}
LARGE, OVERLOADED, TOO_MANY, LOOP, FOUR_HOPS, SIX_HOPS, CLOSED, MISSING, FORBIDDEN = ROBOTS
SILENT, NORMAL = "127.0.2.10", "127.0.2.11"


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    robots = {**ROBOTS, SILENT: "hang"}
    with SiteProcess(hosts=[*robots, NORMAL], robots=robots) as running:
        yield running


@pytest.fixture(scope="module")
def crawled(site: SiteProcess, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    paths = ("/site/3/", "/private/page", "/early/page", "/late/page")
    seeds = [site.url(path, host) for host in ROBOTS for path in paths]
    return crawl(
        tmp_path_factory.mktemp("robots"), seeds, quick_settings(politeness={"per_host": 1})
    )


def verdicts(site: SiteProcess, crawled: Crawled, host: str) -> dict[str, str | None]:
    start = site.url("", host)
    return {
        url.removeprefix(start): row.verdict
        for url, row in crawled.rows.items()
        if url.startswith(start + "/")
    }


@pytest.mark.parametrize("host", [LOOP, SIX_HOPS, MISSING, FORBIDDEN])
def test_rules_that_are_nowhere_forbid_nothing(
    site: SiteProcess, crawled: Crawled, host: str
) -> None:
    """RFC 9309 sections 2.3.1.2 and 2.3.1.3."""
    found = verdicts(site, crawled, host)
    assert found["/private/page"] == "http-error"  # asked for: a 404
    assert list(found.values()).count("ok") == 3


@pytest.mark.parametrize(
    ("host", "words"),
    [(OVERLOADED, "http-503"), (TOO_MANY, "http-429"), (CLOSED, "empty-reply")],
)
def test_a_site_that_could_not_be_asked_is_not_crawled_and_may_be_later(
    site: SiteProcess, crawled: Crawled, host: str, words: str
) -> None:
    rows = [row for url, row in crawled.rows.items() if f"//{host}:" in url]
    assert {(row.verdict, row.state) for row in rows} == {("robots-unreachable", "failed")}
    assert all(words in (row.reason or "") for row in rows)
    assert {record.path for record in site.requests() if record.host == host} == {"/robots.txt"}


def test_rules_behind_four_redirects_are_obeyed(site: SiteProcess, crawled: Crawled) -> None:
    found = verdicts(site, crawled, FOUR_HOPS)
    assert (found["/private/page"], found["/site/3/"]) == ("robots-denied", "ok")
    row = crawled.rows[site.url("/private/page", FOUR_HOPS)]
    assert row.state == "refused"
    assert row.reason == "robots.txt: Disallow: /private/ (line 2)"


def test_the_start_of_ten_megabytes_of_rules_is_obeyed(site: SiteProcess, crawled: Crawled) -> None:
    found = verdicts(site, crawled, LARGE)
    assert found["/early/page"] == "robots-denied"
    assert found["/late/page"] == "http-error"  # beyond what RFC 9309 section 2.5 asks us to read
    assert list(found.values()).count("ok") == 3


def test_rules_larger_than_a_page_may_be_are_still_read_at_their_start(
    site: SiteProcess, tmp_path: Path
) -> None:
    """RFC 9309 section 2.5: at least 500 KiB must be parsed, whatever follows."""
    settings = quick_settings(fetch={"max_bytes": MEGABYTE})
    with watch_memory() as growth:
        found = crawl(
            tmp_path, [site.url("/site/3/", LARGE), site.url("/early/x", LARGE)], settings
        )
    assert verdicts(site, found, LARGE)["/early/x"] == "robots-denied"
    assert len(found.urls("ok")) == 3
    assert growth.peak < 60 * MEGABYTE


def test_a_silent_robots_txt_is_given_up_after_the_time_limit_of_the_settings(
    site: SiteProcess, tmp_path: Path
) -> None:
    settings = quick_settings(fetch={"timeout": 1, "retries": 1, "backoff_base": 0.05})
    seeds = [site.url("/site/3/", SILENT), site.url("/site/3/", NORMAL)]
    found = crawl(tmp_path, seeds, settings, most_seconds=25)  # less than without them
    row = found.rows[site.url("/site/3/", SILENT)]
    assert (row.verdict, row.state) == ("robots-unreachable", "failed")
    assert "timeout" in (row.reason or "")
    assert len(found.urls("ok")) == 3


def test_rules_that_are_stale_at_once_do_not_send_a_crawl_round_in_circles(
    site: SiteProcess, tmp_path: Path
) -> None:
    try:
        settings = quick_settings(politeness={"robots_ttl": 0}, limits={"seconds": 2})
    except SettingsError:
        return  # refused outright
    found = crawl(tmp_path, [site.url("/site/3/", NORMAL)], settings)
    assert len(found.urls("ok")) == 3
