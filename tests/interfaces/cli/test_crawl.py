"""`crawl4r crawl` and `resume`: what is visited, what is kept, when it ends."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

import crawl4r
from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies, page_requests
from tests.interfaces.cli.running import LOOPBACK, crawl, run
from tests.older_workspaces import set_back_to_11
from tests.site.pages import BRANCHES
from tests.site.process import SiteProcess

SUMMARY = {"ended", "workspace", "pages", "bytes", "known", "done", "pending", "failed", "refused"}


def states(workspace: Path) -> dict[str, list[str]]:
    """Paths of the known URLs by state."""
    found: dict[str, list[str]] = {}
    with crawl4r.open(workspace, read_only=True) as opened:
        for row in opened.pages():
            found.setdefault(row.state, []).append("/" + row.url.split("/", 3)[3])
    return found


def test_a_crawl_keeps_every_page_and_sums_it_up(site: SiteProcess, tmp_path: Path) -> None:
    answer = crawl(site.url("/site/30/"), tmp_path / "ws")
    assert answer.code == 0
    assert answer.json.keys() >= SUMMARY
    assert (answer.json["ended"], answer.json["pages"]) == ("nothing left", 30)
    assert (answer.json["pending"], answer.json["failed"]) == (0, 0)
    assert_every_page_is_stored_once(tmp_path / "ws", expected_bodies(site, 30))


def test_the_same_command_again_goes_on_where_it_was(site: SiteProcess, tmp_path: Path) -> None:
    url, before = site.url("/site/20/"), len(site.requests())
    assert crawl(url, tmp_path / "ws", "--max-pages", "7").json["pages"] == 7
    again = crawl(url, tmp_path / "ws", "--max-pages", "100")
    assert (again.code, again.json["pages"], again.json["new_pages"]) == (0, 20, 13)
    third = crawl(url, tmp_path / "ws")
    assert (third.code, third.json["pages"], third.json["visits"]) == (0, 20, 0)
    assert set(page_requests(site, before).values()) == {1}


@pytest.mark.parametrize("limit", [0, 1, 13])
def test_max_pages_is_exact_and_counts_over_all_runs(
    site: SiteProcess, tmp_path: Path, limit: int
) -> None:
    url, before = site.url("/site/20/"), len(site.requests())
    options = ("--max-pages", str(limit), "--per-host", "8", "--concurrency", "8")
    crawl(url, tmp_path / "ws", *options)
    second = crawl(url, tmp_path / "ws", *options)
    assert second.json["pages"] == limit
    assert len(states(tmp_path / "ws").get("done", [])) == limit
    assert sum(page_requests(site, before).values()) == limit


def test_depth_counts_links_from_the_seed(site: SiteProcess, tmp_path: Path) -> None:
    assert crawl(site.url("/site/40/"), tmp_path / "ws", "--depth", "0").json["pages"] == 1
    rows = run("pages", "--workspace", tmp_path / "ws", "--json").lines
    assert {row["verdict"] for row in rows if row["depth"] == 1} == {"capped"}
    deeper = crawl(site.url("/site/40/"), tmp_path / "deeper", "--depth", "1")
    assert deeper.code == 0
    rows = run("pages", "--workspace", tmp_path / "deeper", "--json", "--state", "done").lines
    assert len(rows) > BRANCHES
    assert {row["depth"] for row in rows} == {0, 1}


def test_each_strategy_reaches_every_page_in_its_own_order(
    site: SiteProcess, tmp_path: Path
) -> None:
    orders = {}
    for strategy in ("bfs", "dfs", "best-first"):
        before = len(site.requests())
        options = ("--strategy", strategy, "--keyword", "p/29")
        assert crawl(site.url("/site/40/"), tmp_path / strategy, *options).json["pages"] == 40
        orders[strategy] = list(page_requests(site, before))
    depths = {
        row["url"].removeprefix(site.url("")): row["depth"]
        for row in run("pages", "--workspace", tmp_path / "bfs", "--json").lines
    }
    in_order = [depths[path] for path in orders["bfs"]]
    assert in_order == sorted(in_order)
    assert orders["dfs"] != orders["bfs"]
    assert orders["best-first"].index("/site/40/p/29.html") <= orders["bfs"].index(
        "/site/40/p/29.html"
    )


def test_depth_first_goes_strictly_by_its_order_at_concurrency_1(
    site: SiteProcess, tmp_path: Path
) -> None:
    before = len(site.requests())
    url = site.url("/site/40/")
    assert crawl(url, tmp_path / "ws", "--strategy", "dfs", "--concurrency", "1").code == 0
    asked = list(page_requests(site, before))
    rows = run("pages", "--workspace", tmp_path / "ws", "--json").lines
    depths = {row["url"].removeprefix(site.url("")): row["depth"] for row in rows}
    named_by: dict[str, list[str]] = {}
    for row in rows:
        referrer = (row["referrer"] or "").removeprefix(site.url(""))
        named_by.setdefault(referrer, []).append(row["url"].removeprefix(site.url("")))
    expected, waiting = [], named_by[""]
    while waiting:
        page = max(waiting, key=lambda path: depths[path])  # of equals, the first that was found
        waiting = [path for path in waiting if path != page] + named_by.get(page, [])
        expected.append(page)
    assert asked == expected


def test_refresh_asks_with_validators_and_keeps_no_second_page(
    site: SiteProcess, tmp_path: Path
) -> None:
    url = site.url("/site/10/")
    crawl(url, tmp_path / "ws")
    before = len(site.requests())
    answer = crawl(url, tmp_path / "ws", "--refresh")
    assert (answer.code, answer.json["pages"], answer.json["new_pages"]) == (0, 10, 0)
    assert answer.json["verdicts"] == {"not-modified": 10}
    asked = [r for r in site.requests()[before:] if r.path != "/robots.txt"]
    assert [record.status for record in asked] == [304] * 10
    status = run("status", "--workspace", tmp_path / "ws", "--json").json
    assert (status["pages"], status["captures"]) == (10, 20)
    rows = run("pages", "--workspace", tmp_path / "ws", "--json").lines
    bodies = expected_bodies(site, 10)
    assert {row["url"]: row["bytes"] for row in rows} == {u: len(b) for u, b in bodies.items()}
    assert run("get", url, "--workspace", tmp_path / "ws", "--raw").out == bodies[url]


def test_retry_failed_tries_again_what_failed(site: SiteProcess, tmp_path: Path) -> None:
    seeds = [site.url("/site/3/"), site.url("/flaky/again?fail=2&status=500")]
    options = ("--workspace", tmp_path, *LOOPBACK, "--json")
    env = {"CRAWL4R_FETCH__RETRIES": "1", "CRAWL4R_FETCH__BACKOFF_BASE": "0"}
    first = run("crawl", *seeds, *options, env=env)
    assert (first.json["pages"], first.json["failed"]) == (3, 1)
    assert run("resume", *options, env=env).json["failed"] == 1
    again = run("resume", "--retry-failed", *options, env=env)
    assert (again.code, again.json["pages"], again.json["failed"]) == (0, 4, 0)


def test_resume_remembers_how_the_crawl_was_told(site: SiteProcess, tmp_path: Path) -> None:
    crawl(site.url("/site/20/"), tmp_path / "ws", "--max-pages", "4", "--deny", "p/1")
    resumed = run("resume", "--workspace", tmp_path / "ws", "--max-pages", "8", "--json")
    assert (resumed.code, resumed.json["pages"]) == (0, 8)
    assert "/site/20/p/1.html" in states(tmp_path / "ws")["refused"]


def test_resume_takes_a_nought_for_an_answer(site: SiteProcess, tmp_path: Path) -> None:
    """0 is a value: no delay, no depth. It must not be taken for an option that was not given."""
    crawl(site.url("/site/40/"), tmp_path / "ws", "--depth", "3", "--max-pages", "1")
    options = ("--depth", "0", "--max-pages", "100", "--json")
    run("resume", "--workspace", tmp_path / "ws", *options)
    capped = run("pages", "--workspace", tmp_path / "ws", "--verdict", "capped", "--json").lines
    assert capped != []


def test_a_crawl_that_keeps_nothing_has_failed(site: SiteProcess, tmp_path: Path) -> None:
    gone = crawl(site.url("/status/404"), tmp_path / "gone")
    assert (gone.code, gone.json["pages"]) == (1, 0)
    closed = run("crawl", site.url("/site/3/"), "-w", tmp_path / "closed", "--json")
    assert (closed.code, closed.json["verdicts"]) == (1, {"egress-refused": 1})


def test_time_is_a_limit_that_leaves_work(site: SiteProcess, tmp_path: Path) -> None:
    answer = crawl(site.url("/site/200/"), tmp_path / "ws", "--rate", "5", "--max-seconds", "3")
    assert answer.json["ended"] == "max seconds"
    assert 0 < answer.json["pages"] < 200
    assert answer.json["pending"] > 0


def test_a_workspace_of_an_older_version_upgrades_itself(site: SiteProcess, tmp_path: Path) -> None:
    url = site.url("/site/12/")
    crawl(url, tmp_path / "ws", "--max-pages", "5")
    set_back_to_11(tmp_path / "ws")
    with contextlib.closing(sqlite3.connect(tmp_path / "ws" / "state.db")) as state:
        newer = (
            "tallies",
            "documents",
            "near_bands",
            "extractions",
            "site_blocks",
            "sites_sampled",
            "errands",
            "announcements",
            "unannounced",
            "revisits",
            "sources",
            "lessons",
        )
        drops = "".join(f"DROP TABLE {name};" for name in newer)
        drops += "ALTER TABLE captures DROP COLUMN request; DROP TABLE requests;"
        drops += "ALTER TABLE urls DROP COLUMN written; DROP INDEX urls_again;"
        state.executescript(f"{drops} PRAGMA user_version = 1;")
    answer = crawl(url, tmp_path / "ws", "--max-pages", "9")
    assert (answer.code, answer.json["pages"]) == (0, 9)


def test_people_get_a_summary_with_the_next_commands(site: SiteProcess, tmp_path: Path) -> None:
    answer = run("crawl", site.url("/site/3/"), "-w", tmp_path / "ws", *LOOPBACK)
    assert answer.code == 0
    assert "3" in answer.text and "pages kept" in answer.text
    assert "crawl4r pages" in answer.text
    assert "no contact" in answer.err
    quiet = run("crawl", site.url("/site/3/"), "-w", tmp_path / "quiet", *LOOPBACK, "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, b"", "")
