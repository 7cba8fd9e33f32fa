"""The report agrees with the log of the server that was asked."""

import socket
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from crawl4r.storage.database import Database
from crawl4r.storage.tables import RobotsRecords
from tests.interfaces.cli.running import run, wait_until
from tests.polite.access import SLACK
from tests.reports.host.asking import CONTACT, arrival_gaps, counted, crawl, report, said
from tests.site.access_log import AccessRecord
from tests.site.pages import page_paths
from tests.site.process import SiteProcess

RATE = 10  # requests a second
PAGES = 30
# Seconds by which a busy machine may keep the server from seeing an arrival at once: the median of
# many gaps hardly feels it, the shortest of them may be shorter by all of it.
MEDIAN_SLACK, SHORTEST_SLACK = 0.01, 0.05
RULES = f"""\
User-agent: *
Disallow: /private/

Disallow: /site/{PAGES}/p/2
Disallow: /site/{PAGES}/p/7.html$
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    file = tmp_path / "robots.txt"
    file.write_text(RULES)
    return file


@pytest.fixture
def site(rules: Path) -> Iterator[SiteProcess]:
    """Fresh for each test, so that its log is the test's own."""
    with SiteProcess(robots_files={"127.0.0.1": rules}) as running:
        yield running


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "ws"


def denied_paths() -> tuple[set[str], set[str]]:
    """The pages that the last two lines of the rules refuse."""
    paths = page_paths(PAGES)
    return (
        {path for path in paths if path.startswith(f"/site/{PAGES}/p/2")},
        {f"/site/{PAGES}/p/7.html"},
    )


def test_counts_gaps_and_denied_urls_are_those_of_the_servers_log(
    site: SiteProcess, workspace: Path
) -> None:
    assert crawl(workspace, site.url(f"/site/{PAGES}/"), "--rate", str(RATE)).code == 0
    told, log = report(workspace, "127.0.0.1"), site.requests()
    assert said(told) == counted(log)
    assert told["at_once"] == max(record.in_flight for record in log) == 1
    gaps = arrival_gaps(log)
    assert told["gaps"]["count"] == len(gaps)
    assert told["gaps"]["median_s"] == pytest.approx(statistics.median(gaps), abs=MEDIAN_SLACK)
    assert told["gaps"]["min_s"] == pytest.approx(gaps[0], abs=SHORTEST_SLACK)
    assert 1 / RATE <= told["gaps"]["min_s"] <= told["gaps"]["p01_s"] <= told["gaps"]["median_s"]
    assert sum(bar["gaps"] for bar in told["gaps"]["histogram"]) == len(gaps)
    buckets = told["over_time"]["buckets"]
    assert sum(bucket["requests"] for bucket in buckets) == len(log)
    assert_lines_denied(told, log)
    assert told["verdict"]["kept"] is True


def assert_lines_denied(told: dict[str, Any], log: list[AccessRecord]) -> None:
    many, one = denied_paths()
    found = {(line["rule"], line["line"]): line for line in told["robots"]["lines"]}
    first, second = (f"Disallow: /site/{PAGES}/p/{end}" for end in ("2", "7.html$"))
    known = found[first, 4]["urls"]
    # Pages below a denied page are found only where others link to them.
    assert 0 < known <= len(many)
    assert (found[second, 5]["urls"], told["robots"]["urls_denied"]) == (1, known + 1)
    assert all(line["never_requested"] == line["urls"] for line in found.values())
    assert not {record.path for record in log} & (many | one)


def test_who_asked_is_told_with_its_contact(site: SiteProcess, workspace: Path) -> None:
    crawl(workspace, site.url("/site/2/"), "--rate", "0")
    (agent,) = report(workspace, "127.0.0.1")["agents"]
    (header,) = {record.user_agent for record in site.requests()}
    assert agent == {"user_agent": header, "contact": CONTACT, "requests": 2}


def test_a_crawl_delay_is_told_and_held_against_every_gap(
    site: SiteProcess, rules: Path, workspace: Path
) -> None:
    rules.write_text(f"{RULES}Crawl-delay: 0.3\n")
    crawl(workspace, site.url("/site/5/"), "--rate", "0")
    told, gaps = report(workspace, "127.0.0.1"), arrival_gaps(site.requests())
    assert (told["robots"]["crawl_delay_s"], told["gaps"]["under_crawl_delay"]) == (0.3, 0)
    assert told["gaps"]["min_s"] >= 0.3
    assert told["gaps"]["min_s"] == pytest.approx(gaps[0], abs=SHORTEST_SLACK)
    assert told["verdict"]["kept"] is True
    ask_for_delay(workspace, 1000)
    told = report(workspace, "127.0.0.1")
    assert told["gaps"]["under_crawl_delay"] == told["gaps"]["count"] == len(gaps)
    assert told["verdict"]["kept"] is False
    assert f"{len(gaps)} of {len(gaps)} gaps shorter" in told["verdict"]["sentence"]


def ask_for_delay(workspace: Path, seconds: int) -> None:
    """As if the site had asked for it ever since."""
    with closing(Database(workspace / "state.db")) as database:
        records = RobotsRecords(database)
        ((origin,),) = database.read("SELECT origin FROM robots")
        record = records.get(origin)
        assert record is not None
        records.put(replace(record, body=b"User-agent: *\nCrawl-delay: %d\n" % seconds))
        database.commit()


@pytest.mark.parametrize("wish", ["1", "date:2"])
def test_a_429_is_told_with_what_it_asked_for_and_how_long_we_stayed_away(
    site: SiteProcess, workspace: Path, wish: str
) -> None:
    busy = site.url(f"/flaky/one?fail=1&status=429&retry_after={wish}")
    crawl(workspace, busy, site.url("/site/3/"), "--rate", "0")
    told, log = report(workspace, "127.0.0.1"), site.requests()
    assert said(told) == counted(log)
    (refused,) = (record for record in log if record.status == 429)
    later = [r.arrived_monotonic for r in log if r.arrived_monotonic > refused.arrived_monotonic]
    (refusal,) = told["refusals"]["newest"]
    assert (told["refusals"]["count"], told["refusals"]["with_retry_after"]) == (1, 1)
    assert (refusal["status"], told["refusals"]["came_back_early"]) == (429, 0)
    assert 0 < refusal["asked_s"] <= 2
    assert refusal["stayed_away_s"] >= refusal["asked_s"]
    # From what we read of it to what we sent: within what the server saw, but for the ticks of a clock.
    assert refusal["stayed_away_s"] <= min(later) - refused.arrived_monotonic + SLACK
    assert told["requests"]["kinds"]["retries"] == 1
    assert told["errors"] == [{"verdict": "http-error", "reason": "http-429", "requests": 1}]


def test_a_429_that_is_never_tried_again_is_told_by_its_own_header(
    site: SiteProcess, workspace: Path
) -> None:
    refused = site.url("/status/429?retry_after=1")
    env = {"CRAWL4R_FETCH__RETRIES": "0"}
    crawl(workspace, refused, "--rate", "0", env=env)
    (refusal,) = report(workspace, "127.0.0.1")["refusals"]["newest"]
    assert (refusal["status"], refusal["asked_s"], refusal["stayed_away_s"]) == (429, 1, None)
    crawl(workspace, site.url("/site/2/"), "--rate", "0")
    (refusal,) = report(workspace, "127.0.0.1")["refusals"]["newest"]
    assert refusal["stayed_away_s"] >= 1


def test_retries_are_told_apart_from_pages(site: SiteProcess, workspace: Path) -> None:
    flaky = site.url("/flaky/one?fail=2&status=500")
    crawl(workspace, flaky, site.url("/site/3/"), "--rate", "0")
    told, log = report(workspace, "127.0.0.1"), site.requests()
    assert said(told) == counted(log)
    asked = sum(record.path.startswith("/flaky/") for record in log)
    assert (asked, told["requests"]["kinds"]["retries"]) == (3, 2)
    assert told["requests"]["kinds"]["pages"] == 4


def test_a_refresh_and_a_probe_are_told_apart(site: SiteProcess, workspace: Path) -> None:
    short = site.url("/redirect/1")  # it leads to a page with little on it, which is worth a probe
    crawl(workspace, site.url("/site/6/"), short, "--rate", "0")
    crawl(workspace, site.url("/site/6/"), "--refresh", "--rate", "0")
    told, log = report(workspace, "127.0.0.1"), site.requests()
    assert said(told) == counted(log)
    assert told["requests"]["kinds"]["revalidations"] >= 6
    assert told["requests"]["kinds"]["probes"] == 1
    assert told["requests"]["bytes"] > 0


def test_requests_at_once_are_as_many_as_the_server_saw(site: SiteProcess, workspace: Path) -> None:
    seeds = [site.url(f"/links/leaf-{number}.html") for number in range(8)]
    site.hold()
    with ThreadPoolExecutor(1) as pool:
        crawled = pool.submit(
            crawl, workspace, *seeds, "--rate", "0", "--per-host", "4", "--no-probe"
        )
        wait_until(lambda: site.held() == 4)
        held = time.monotonic()
        site.release()
        assert crawled.result().code == 0
    told, log = report(workspace, "127.0.0.1"), site.requests()
    assert told["at_once"] == max(record.in_flight for record in log) == 4
    assert said(told) == counted(log)
    longest = held - min(r.arrived_monotonic for r in log if r.path != "/robots.txt")
    assert told["latency"]["max_ms"] >= 1000 * (longest - SLACK)


def test_a_host_stands_for_all_its_ports_and_a_port_for_itself(
    site: SiteProcess, workspace: Path
) -> None:
    with SiteProcess() as other:
        crawl(workspace, site.url("/site/4/"), other.url("/site/7/"), "--rate", "0")
        logs = [running.requests() for running in (site, other)]
        for running, log in zip((site, other), logs, strict=True):
            told = report(workspace, f"127.0.0.1:{running.port}")
            assert said(told) == counted(log)
            assert [file["origin"] for file in told["robots"]["files"]] == [
                running.url("").rstrip("/")
            ]
        assert said(report(workspace, "127.0.0.1")) == counted(logs[0] + logs[1])
        assert said(report(workspace, site.url("/site/4/"))) == counted(logs[0])


def test_a_time_can_be_cut_out(site: SiteProcess, workspace: Path) -> None:
    crawl(workspace, site.url("/site/4/"), "--rate", "0")
    before = len(site.requests())
    between = datetime.fromtimestamp(time.time(), UTC).isoformat()
    crawl(workspace, site.url("/site/6/"), "--rate", "0")
    after = len(site.requests()) - before
    assert report(workspace, "127.0.0.1", "--until", between)["requests"]["total"] == before
    assert report(workspace, "127.0.0.1", "--since", between)["requests"]["total"] == after
    told = report(workspace, "127.0.0.1", "--since", between, "--until", between)
    assert told["requests"]["total"] == 0
    assert "nothing" in told["verdict"]["sentence"]


def test_what_reached_nobody_is_no_request(workspace: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # no server listens there
        port = unused.getsockname()[1]
        crawl(
            workspace,
            f"http://127.0.0.1:{port}/",
            "--max-seconds",
            "3",
            env={"CRAWL4R_FETCH__RETRIES": "0"},
        )
    told = report(workspace, "127.0.0.1")
    assert told["requests"]["total"] == 0
    assert told["requests"]["unsent"] >= 1
    assert told["errors"][0]["reason"].startswith("connect: ")


def test_what_was_imported_was_not_asked_for(workspace: Path, tmp_path: Path) -> None:
    lines = tmp_path / "pages.jsonl"
    lines.write_text('{"url": "https://example.org:8443/a", "text": "one"}\n')
    assert run("import", lines, "-w", workspace).code == 0
    assert report(workspace, "example.org")["requests"]["total"] == 0


def test_what_others_asked_for_is_not_on_our_receipt(
    site: SiteProcess, workspace: Path, tmp_path: Path
) -> None:
    crawl(workspace, site.url("/site/4/"), "--rate", "0")
    archive, other = tmp_path / "site.warc.gz", tmp_path / "other"
    assert run("export", "warc", "-w", workspace, "--out", archive).code == 0
    assert run("import", archive, "-w", other).code == 0
    told = report(other, "127.0.0.1")
    assert (told["requests"]["total"], told["requests"]["unsent"]) == (0, 0)


def test_captures_of_an_older_format_are_moved_back_to_when_they_were_asked_for(
    site: SiteProcess, workspace: Path
) -> None:
    crawl(workspace, *(site.url(f"/slow?ms=300&n={n}") for n in range(3)), "--rate", "0")
    now = report(workspace, "127.0.0.1")
    with closing(Database(workspace / "state.db")) as database:
        database.write(
            "UPDATE captures SET request = NULL, fetched_at = fetched_at + latency_ms / 1000.0"
        )
        database.commit()
    old = report(workspace, "127.0.0.1")
    assert old["requests"]["of_an_older_format"] == 3
    assert old["gaps"]["min_s"] == pytest.approx(now["gaps"]["min_s"], abs=0.001)
    assert old["at_once"] == now["at_once"] == 1
    assert any("older crawl4r" in note for note in old["notes"])
