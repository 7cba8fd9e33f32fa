"""Every visit stands in one class of the metrics, and the classes add up to what the crawl tells."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crawl4r.archive.visit_classes import ANSWERED, ENDED, tally
from crawl4r.model import Ending, Failure, Lease, UrlState, Verdict, Visit
from crawl4r.storage.database import Database
from crawl4r.storage.tables import Notes
from tests.interfaces.cli.running import LOOPBACK, Answer, run
from tests.logs.tables import METRICS, PAGES, about, assert_metrics_agree, rows, state
from tests.older_workspaces import set_back_to_8
from tests.site.process import SiteProcess

MIXED = {
    "CRAWL4R_FETCH__RETRIES": "1",
    "CRAWL4R_FETCH__BACKOFF_BASE": "0.01",
    "CRAWL4R_FETCH__MAX_BYTES": "100000",
    "CRAWL4R_FETCH__TIMEOUT": "1",
    "CRAWL4R_FETCH__TYPES": "[text/*]",
    "CRAWL4R_POLITENESS__BREAKER_THRESHOLD": "1000",
    "CRAWL4R_POLITENESS__DELAY_CAP": "0.01",
    "CRAWL4R_CONTENT__PROBE": "false",
}
PATHS = (
    "/site/3/", "/redirect/1", "/status/503?n=1", "/status/503?n=2", "/status/429", "/status/404",
    "/status/418", "/status/799", "/close", "/garbage", "/hang", "/endless", "/body/truncated",
    "/", "/private/1", "/private/2", "/private/3", "/private/4", "/private/5", "/private/6",
)  # fmt: skip
EXPECTED = {
    "ended_ok_html": 4,  # three of the site, and where the redirect leads
    "ended_ok_other": 1,
    "ended_redirect": 1,
    "ended_http_error_4xx": 2,
    "ended_http_error_5xx": 4,  # two pages, each asked for twice
    "ended_http_error_429": 2,
    "ended_http_error_other": 1,
    "ended_too_large": 1,
    "ended_robots_denied": 6,
    "ended_egress_refused": 1,
    "ended_network_error_reset": 2,
    "ended_network_error_not_http": 1,
    "ended_network_error_timeout": 2,
    "ended_network_error_truncated": 2,
}
RETRIES = 6  # 503, 503, 429, reset, timeout, truncated
ANSWERS = {
    "status_2xx": 4 + 1 + 1 + 2,  # kept as HTML and as text; too large; truncated
    "status_3xx": 1,
    "status_4xx": 4,
    "status_5xx": 4,
    "status_other": 1,
    "not_modified": 0,
    "no_answer": 5,
    "not_asked": 6 + 1,
}


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[SiteProcess]:
    rules = tmp_path / "robots.txt"
    rules.write_text("User-agent: *\nDisallow: /private/\n")
    with SiteProcess(robots_files={"127.0.0.1": rules}) as running:
        yield running


def crawl(hostile: SiteProcess, workspace: Path, *options: str) -> Answer:
    seeds = [hostile.url(path) for path in PATHS]
    answer = run(
        "crawl", *seeds, "http://10.0.0.1/", "-w", workspace, *LOOPBACK, "--per-host", "8", "--logs",
        "--json", *options, env=MIXED,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    return answer


def metrics_of(workspace: Path) -> dict[str, int]:
    return {row["metric"]: int(row["value"]) for row in rows(workspace / METRICS)}


def assert_they_add_up(found: dict[str, int]) -> None:
    assert sum(found.get(name, 0) for name in ENDED) == found["visits"]
    assert sum(found[name] for name in ANSWERED) == found["visits"]
    states = ("done", "needs_browser", "pending", "waiting", "failed", "refused", "in_flight")
    assert sum(found[name] for name in states) == found["known"]


def verdicts_in(found: dict[str, int]) -> dict[str, int]:
    """Visits by verdict: what a verdict is divided into is one again."""
    names = {verdict.value: f"ended_{verdict.value.replace('-', '_')}" for verdict in Verdict}
    divided = {"ok": ("html", "other"), "http-error": ("429", "4xx", "5xx", "other")}
    counts: Counter[str] = Counter()
    for verdict, name in names.items():
        parts = [f"{name}_{part}" for part in divided.get(verdict, ())] or [name]
        if verdict == "network-error":
            parts = [each for each in found if each.startswith(f"{name}_")]
        counts[verdict] = sum(found.get(part, 0) for part in parts)
    return {verdict: count for verdict, count in counts.items() if count}


def test_every_visit_of_a_known_mix_is_counted_in_its_class(
    hostile: SiteProcess, tmp_path: Path
) -> None:
    summary = crawl(hostile, tmp_path / "ws").json
    found = metrics_of(tmp_path / "ws")
    assert {name: count for name, count in found.items() if name.startswith("ended_")} == EXPECTED
    assert {name: found[name] for name in ANSWERED} == ANSWERS
    assert (found["visits"], found["retries"]) == (sum(EXPECTED.values()), RETRIES)
    assert_they_add_up(found)
    assert_metrics_agree(tmp_path / "ws")
    assert (summary["visits"], summary["retries"]) == (found["visits"], found["retries"])
    assert summary["verdicts"] == verdicts_in(found)
    status = run("status", "-w", tmp_path / "ws", "--json").json
    assert (status["pages"], status["bytes"]) == (found["pages"], found["bytes"])
    urls = {name: found[name] for name in ("done", "failed", "refused")}
    assert status["urls"] == urls


def test_a_replayed_pages_csv_has_a_row_for_each_visit_that_ended_with_an_answer(
    hostile: SiteProcess, tmp_path: Path
) -> None:
    crawl(hostile, tmp_path / "ws")
    found = metrics_of(tmp_path / "ws")
    assert run("replay", "-w", tmp_path / "ws").code == 0
    table = Counter(str(about(row)["verdict"]) for row in rows(tmp_path / "ws" / PAGES))
    attempts = Counter(
        dict(state(tmp_path / "ws", "SELECT verdict, count(*) FROM attempts GROUP BY 1"))
    )
    asked = Counter(verdicts_in(found)) - Counter({"robots-denied": 6, "egress-refused": 1})
    assert table + attempts == asked


def test_a_refresh_adds_its_visits_to_those_before(hostile: SiteProcess, tmp_path: Path) -> None:
    crawl(hostile, tmp_path / "ws")
    before = metrics_of(tmp_path / "ws")
    summary = crawl(hostile, tmp_path / "ws", "--refresh").json
    after = metrics_of(tmp_path / "ws")
    assert_they_add_up(after)
    assert after["visits"] - before["visits"] == summary["visits"]
    assert after["ended_not_modified"] == after["not_modified"] == 3
    assert after["pages"] == before["pages"]


def test_an_older_workspace_is_counted_again_from_what_it_recorded(
    hostile: SiteProcess, tmp_path: Path
) -> None:
    """All but the visits that asked for nothing, which left no record."""
    crawl(hostile, tmp_path / "ws")
    path = tmp_path / "ws" / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        now = dict(connection.execute("SELECT name, value FROM tallies"))
    set_back_to_8(tmp_path / "ws", "UPDATE tallies SET value = 9 WHERE name = 'no_answer';")
    database = Database(path)
    again = Notes(database).tallies()
    database.close()
    unrecorded = {"visits": 7, "not_asked": 7, "ended_robots_denied": 6, "ended_egress_refused": 1}
    unrecorded["retries"] = RETRIES
    left = {name: count - unrecorded.get(name, 0) for name, count in now.items()}
    assert {name: count for name, count in again.items() if count} == {
        name: count for name, count in left.items() if count
    }


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("status", [None, 0, 99, 200, 204, 304, 399, 404, 429, 503, 600, 999])
def test_whatever_comes_of_a_visit_is_in_one_class_of_each_kind(
    verdict: Verdict, status: int | None
) -> None:
    lease = Lease(1, "http://e.org/", "e.org", 0)
    for reason in ("", "dns: no", "curl-77: odd"):
        ending = Ending(1, UrlState.WAITING, verdict, reason)
        failure = Failure(verdict, reason, True, status=status)
        counts = tally([Visit(lease, ending, failure=failure), Visit(lease, ending)])
        assert (counts["visits"], counts["retries"]) == (2, 2)
        assert sum(counts[name] for name in ENDED) == 2
        assert sum(counts[name] for name in ANSWERED) == 2
