"""Words of the report that scripts rely on, and what it says when there is nothing to report."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawl4r.storage.database import Database
from tests.interfaces.cli.running import run
from tests.reports.host.asking import crawl
from tests.site.process import SiteProcess

WORDS = {
    "host": None,
    "agents": ["user_agent", "contact", "requests"],
    "period": {"first_at", "last_at", "since", "until"},
    "requests": {"total", "kinds", "statuses", "bytes", "unsent", "of_an_older_format"},
    "at_once": None,
    "gaps": {"count", "min_s", "p01_s", "median_s", "under_crawl_delay", "histogram"},
    "most": {"minute", "day"},
    "refusals": {
        "count",
        "with_retry_after",
        "came_back_early",
        "longest_asked_s",
        "shortest_stay_s",
        "newest",
    },
    "robots": {
        "asked",
        "first_asked_at",
        "last_asked_at",
        "was_first",
        "files",
        "crawl_delay_s",
        "urls_denied",
        "urls_not_judged",
        "lines",
    },
    "paths": ["path", "requests"],
    "errors": ["verdict", "reason", "requests"],
    "latency": {"median_ms", "p95_ms", "max_ms"},
    "over_time": {"bucket_s", "buckets"},
    "now": {"next_at", "slowed_to_s", "failures", "breaker_open_until"},
    "verdict": {"kept", "lead", "sentence", "findings"},
    "notes": None,
}
KINDS = ["pages", "revalidations", "retries", "robots", "probes", "guesses", "other"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    rules = tmp_path_factory.mktemp("rules") / "robots.txt"
    rules.write_text("User-agent: *\nDisallow: /site/5/p/3\n")
    with SiteProcess(robots_files={"127.0.0.1": rules}) as running:
        yield running


@pytest.fixture(scope="module")
def workspace(site: SiteProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("words")
    crawl(folder, site.url("/site/5/"), site.url("/status/404"), "--rate", "0", "--no-probe")
    return folder


def test_the_words_of_the_json_are_these(workspace: Path) -> None:
    told: dict[str, Any] = run("report", "127.0.0.1", "-w", workspace, "--json").json
    assert told.keys() == WORDS.keys()
    for name, words in WORDS.items():
        if isinstance(words, set):
            assert told[name].keys() == words, name
        elif isinstance(words, list):
            assert [*told[name][0]] == words, name
    assert [*told["requests"]["kinds"]] == KINDS
    assert told["requests"]["statuses"] == {"200": 5, "404": 1}
    assert [*told["gaps"]["histogram"][0]] == ["from_s", "to_s", "gaps"]
    assert [*told["over_time"]["buckets"][0]] == ["at", "requests", "median_ms", "p95_ms"]
    assert [*told["robots"]["lines"][0]] == ["rule", "line", "urls", "never_requested"]
    assert [*told["verdict"]["findings"][0]] == ["kept", "text"]


def test_people_read_which_line_refused_how_many(workspace: Path) -> None:
    text = run("report", "127.0.0.1", "-w", workspace).text
    assert "Disallow: /site/5/p/3 (line 2): 1 URL never requested" in text
    assert "Everything that the host asked for was kept." in text
    assert "at once: 1 at most" in text


def test_paths_are_counted_by_their_first_part(workspace: Path) -> None:
    told = run("report", "127.0.0.1", "-w", workspace, "--json").json
    paths = {path["path"]: path["requests"] for path in told["paths"]}
    assert paths == {"/site/": 4, "/status/": 1, "/robots.txt": 1}


def test_a_host_may_be_spelled_as_people_spell_it(workspace: Path, site: SiteProcess) -> None:
    spellings = ("127.0.0.1", "http://127.0.0.1/", site.url("/site/5/"), f"127.0.0.1:{site.port}")
    totals = {
        run("report", spelling, "-w", workspace, "--json").json["requests"]["total"]
        for spelling in spellings
    }
    assert totals == {6}


def test_an_unknown_host_is_answered_with_those_that_are_known(workspace: Path) -> None:
    answer = run("report", "example.org", "-w", workspace)
    assert answer.code == 2
    assert "example.org is not known here" in answer.err and "127.0.0.1" in answer.err


@pytest.mark.parametrize("host", ["", "javascript:alert(1)", "http://", "/etc/passwd"])
def test_what_is_no_host_is_refused(workspace: Path, host: str) -> None:
    assert run("report", host, "-w", workspace).code == 2


def test_a_workspace_without_a_crawl_is_named(tmp_path: Path) -> None:
    answer = run("report", "example.org", "-w", tmp_path)
    assert (answer.code, str(tmp_path) in answer.err) == (2, True)


def test_an_empty_workspace_knows_no_host(tmp_path: Path) -> None:
    Database(tmp_path / "state.db").close()
    answer = run("report", "example.org", "-w", tmp_path)
    assert answer.code == 2
    assert "no host was asked anything yet" in answer.err


@pytest.mark.parametrize("option", ["--since", "--until"])
def test_a_time_that_is_none_is_named(workspace: Path, option: str) -> None:
    answer = run("report", "127.0.0.1", "-w", workspace, option, "yesterday")
    assert answer.code == 2
    assert option in answer.err


def test_a_damaged_row_is_said_to_be_damaged(site: SiteProcess, tmp_path: Path) -> None:
    crawl(tmp_path, site.url("/site/3/"), "--rate", "0")
    with closing(Database(tmp_path / "state.db")) as database:
        database.write("UPDATE captures SET latency_ms = 'soon' WHERE id = 1")
        database.commit()
    answer = run("report", "127.0.0.1", "-w", tmp_path)
    assert answer.code == 4
    assert "damaged" in answer.err
