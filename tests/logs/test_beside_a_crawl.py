"""What a crawl writes beside itself: every capture, every link, every number that is committed."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import crawl4r
from crawl4r.archive.lines.metrics_csv import GAUGES, HEADER, MetricsLog
from crawl4r.errors import StorageDamaged
from crawl4r.storage.database import Database
from tests.interfaces.cli.test_loading import loaded_by
from tests.logs.tables import (
    EDGES,
    FORMULA,
    METADATA,
    METRICS,
    PAGES,
    about,
    assert_metrics_agree,
    contents,
    rows,
    state,
)
from tests.logs.world import SLOW, World, article, crawl, furnish, serving, settings_with

COLUMNS = [
    "timestamp", "url", "page_type", "depth", "referrer", "http_status", "content_type", "encoding",
    "content_sha256", "content_bytes", "stored_path", "etag", "last_modified", "fetch_latency_ms",
    "retries", "proxy_id", "metadata",
]  # fmt: skip


@pytest.fixture
def world() -> Iterator[World]:
    with serving() as running:
        furnish(running)
        yield running


@pytest.fixture
def workspace(world: World, tmp_path: Path) -> Path:
    crawl(tmp_path / "ws", world.url + "/")
    return tmp_path / "ws"


def by_path(world: World, table: list[dict[str, str]]) -> dict[str, dict[str, str]]:
    return {row["url"].removeprefix(world.url): row for row in table}


def edges_of(world: World, workspace: Path) -> list[tuple[str, str]]:
    """Source and target, without the host of the world."""
    pairs = [(row["source"], row["target"]) for row in rows(workspace / EDGES)]
    return [(a.removeprefix(world.url), b.removeprefix(world.url)) for a, b in pairs]


def test_pages_has_seventeen_columns_and_a_row_for_each_capture(
    world: World, workspace: Path
) -> None:
    table = rows(workspace / PAGES)
    assert list(table[0]) == COLUMNS
    lines = [json.loads(line) for line in (workspace / METADATA).read_text().splitlines()]
    assert [about(row)["capture_id"] for row in table] == [line["capture_id"] for line in lines]
    assert [row["url"] for row in table] == [line["url"] for line in lines]
    assert [row["content_sha256"] for row in table] == [line["sha256"] or "" for line in lines]
    pages = by_path(world, table)
    first = pages["/"]
    assert (first["http_status"], first["depth"], first["content_type"]) == (
        "200",
        "0",
        "text/html",
    )
    assert first["timestamp"].endswith("Z") and len(first["timestamp"]) == 24
    assert pages["/a"]["referrer"] == world.url + "/"
    assert (pages["/gone"]["http_status"], about(pages["/gone"])["verdict"]) == (
        "404",
        "http-error",
    )
    assert about(pages["/old"])["reason"] == f"to {world.url}/a"
    assert about(pages["/blocked"])["verdict"] == "blocked"
    assert pages["/copy"]["stored_path"] == pages["/a"]["stored_path"]
    assert pages["/latin"]["last_modified"] == "'@yesterday"


def test_what_was_never_answered_has_no_row(world: World, workspace: Path) -> None:
    assert not {"/private/x", "/broken"} & by_path(world, rows(workspace / PAGES)).keys()


def test_no_cell_of_any_file_begins_like_a_formula(workspace: Path) -> None:
    for file in (PAGES, EDGES, METRICS):
        cells = [cell for row in rows(workspace / file) for cell in row.values()]
        assert [cell for cell in cells if FORMULA.match(cell)] == []


def test_edges_are_those_of_kept_html_pages(world: World, workspace: Path) -> None:
    found = edges_of(world, workspace)
    sources = Counter(source for source, _ in found)
    assert sources.keys() == {"/", "/a", "/b", "/copy", "/latin", "/large"}
    assert ("/b", "/a") in found
    assert ("/latin", "/%C3%A9") in found
    assert ("/", "http://elsewhere.invalid/x?a=1&b=2") in found
    assert Counter(found)["/", "/b"] == 2
    table = rows(workspace / EDGES)
    assert list(table[0]) == ["source", "target", "anchor", "rel"]
    named = {row["anchor"]: row["rel"] for row in table}
    assert named["'=SUM(A1)"] == ""
    assert named["'-1+1"] == ""  # on the page that was read in the sandbox
    assert named["moved"] == "nofollow external"
    assert named["déjà vu"] == ""


def test_a_refresh_of_an_unchanged_site_adds_no_edges(world: World, workspace: Path) -> None:
    before = contents(workspace)
    crawl(workspace, world.url + "/", refresh=True)
    after = contents(workspace)
    assert after[EDGES] == before[EDGES]
    assert after[PAGES].startswith(before[PAGES])
    again = by_path(world, rows(workspace / PAGES)[len(before[PAGES].splitlines()) - 1 :])
    first = by_path(world, rows(workspace / PAGES)[: len(before[PAGES].splitlines()) - 1])
    assert (again["/a"]["http_status"], again["/a"]["content_bytes"]) == ("304", "0")
    for column in ("content_sha256", "stored_path"):
        assert again["/a"][column] == first["/a"][column] != ""
    assert (again["/b"]["http_status"], again["/b"]["content_bytes"]) != ("304", "0")


def test_new_bytes_add_their_edges_and_old_ones_that_come_back_add_theirs(
    world: World, workspace: Path
) -> None:
    old = world.answers["/b"]
    before = len(edges_of(world, workspace))
    world.put("/b", article("B", '<a href="/new">new</a>'))
    crawl(workspace, world.url + "/", refresh=True)
    assert edges_of(world, workspace)[before:] == [("/b", "/new")]
    world.answers["/b"] = old
    crawl(workspace, world.url + "/", refresh=True)
    assert edges_of(world, workspace)[before + 1 :] == [("/b", "/"), ("/b", "/a")]


def test_nothing_is_written_unasked(world: World, tmp_path: Path) -> None:
    crawl(tmp_path / "ws", world.url + "/", logs={"enabled": False})
    assert not (tmp_path / "ws" / "logs").exists()
    schema = str(state(tmp_path / "ws", "SELECT name FROM sqlite_master"))
    assert "urls_failed" not in schema


@pytest.mark.parametrize("only", ["pages", "edges", "metrics"])
def test_each_file_can_be_had_alone(world: World, tmp_path: Path, only: str) -> None:
    chosen = {name: name == only for name in ("pages", "edges", "metrics")}
    crawl(tmp_path / "ws", world.url + "/", logs=chosen)
    names = {"pages": PAGES, "edges": EDGES, "metrics": METRICS}
    assert [file.name for file in (tmp_path / "ws" / "logs").iterdir()] == [names[only].name]


def test_logs_that_are_asked_for_later_tell_of_earlier_pages_too(
    world: World, workspace: Path, tmp_path: Path
) -> None:
    crawl(tmp_path / "late", world.url + "/", logs={"enabled": False})
    crawl(tmp_path / "late", world.url + "/")
    assert len(rows(tmp_path / "late" / PAGES)) == len(rows(workspace / PAGES))
    early, late = edges_of(world, workspace), edges_of(world, tmp_path / "late")
    assert sorted(early) == sorted(late)


def test_other_rules_for_urls_begin_the_edges_anew(world: World, workspace: Path) -> None:
    crawl(workspace, world.url + "/", scope={"sort_params": False, "drop_tracking": False})
    assert ("/", "http://elsewhere.invalid/x?utm_source=y&b=2&a=1") in edges_of(world, workspace)
    assert len(edges_of(world, workspace)) == len(set(rows_as_tuples(workspace)))


def rows_as_tuples(workspace: Path) -> list[tuple[str, ...]]:
    return [(*row.values(), str(number)) for number, row in enumerate(rows(workspace / EDGES))]


@pytest.mark.parametrize("damage", ["lost", "emptied", "another file", "garbage behind", "cut"])
def test_edges_that_cannot_be_gone_on_from_are_made_again(
    world: World, workspace: Path, damage: str
) -> None:
    file = workspace / EDGES
    whole = file.read_bytes()
    ruins = {
        "emptied": b"",
        "another file": b"a,b\n" * len(whole),
        "garbage behind": whole + b'x,"y',
        "cut": whole[: len(whole) // 2],
    }
    if damage == "lost":
        file.unlink()
    else:
        file.write_bytes(ruins[damage])
    crawl(workspace, world.url + "/")
    assert file.read_bytes() == whole


def test_a_store_that_lost_a_page_is_reported(world: World, workspace: Path) -> None:
    (workspace / EDGES).unlink()
    with closing(sqlite3.connect(workspace / "state.db")) as connection:
        connection.execute("DELETE FROM blobs WHERE sha256 = (SELECT sha256 FROM captures LIMIT 1)")
        connection.commit()
    for file in workspace.glob("state.sum"):
        file.unlink()
    with pytest.raises(StorageDamaged, match="not in the store"):
        crawl(workspace, world.url + "/")


def test_the_last_metrics_are_what_the_state_says(workspace: Path) -> None:
    assert_metrics_agree(workspace)
    tallies = {row["metric"]: int(row["value"]) for row in rows(workspace / METRICS)}
    assert tallies["pages"] > 5
    assert tallies["status_4xx"] == 2  # /gone and /é
    assert (tallies["refused"], tallies["failed"]) == (2, 2)


def test_metrics_are_taken_again_and_again_and_called_by_their_role(
    world: World, tmp_path: Path
) -> None:
    from crawl4r.workspace.run import CrawlRun

    async def work() -> None:
        settings = settings_with(
            logs={"metrics_seconds": 0.02}, politeness={"rate": 50, "per_host": 1}
        )
        async with crawl4r.Workspace(tmp_path / "ws", settings) as workspace:
            run = workspace.crawl(world.url + "/")
            assert isinstance(run, CrawlRun)
            run.role = "scrape"
            await run.finish()

    asyncio.run(work())
    table = rows(tmp_path / "ws" / "logs" / "scrape_metrics.csv")
    pages = [int(row["value"]) for row in table if row["metric"] == "pages"]
    assert len(pages) > 2
    assert pages == sorted(pages)
    assert [row["timestamp"] for row in table] == sorted(row["timestamp"] for row in table)
    assert_metrics_agree(tmp_path / "ws", Path("logs", "scrape_metrics.csv"))


TORN = {
    "half a row": b"2030-01-01T00:00:00.000Z,pag",
    "half a group": b"2030-01-01T00:00:00.000Z,pages,1\n2030-01-01T00:00:00.000Z,bytes,2\n",
    "zeros": bytes(5_000),
    "2 MB of zeros": bytes(2_000_000),
    "other lines": b"x\n" * 100,
}


@pytest.mark.parametrize("tail", TORN.values(), ids=TORN)
def test_a_torn_group_of_metrics_is_cut(world: World, workspace: Path, tail: bytes) -> None:
    file = workspace / METRICS
    whole = file.read_bytes()
    file.write_bytes(whole + tail)
    crawl(workspace, world.url + "/")
    assert file.read_bytes().startswith(whole)
    assert_metrics_agree(workspace)


def test_a_metrics_file_of_something_else_is_begun_anew(world: World, workspace: Path) -> None:
    (workspace / METRICS).write_bytes(b"oops")
    crawl(workspace, world.url + "/")
    assert (workspace / METRICS).read_bytes().startswith(HEADER)
    assert_metrics_agree(workspace)


def test_every_gauge_is_counted_in_a_small_index(tmp_path: Path) -> None:
    """Whatever a million URLs are about, none of their rows is read."""
    database = Database(tmp_path / "state.db")
    MetricsLog(tmp_path / "m.csv", database).close()
    for kind in GAUGES.values():
        sql = f"EXPLAIN QUERY PLAN SELECT count(*) FROM urls WHERE state = '{kind}'"
        plan = str(database.read(sql))
        assert re.search(r"USING (COVERING )?INDEX urls_", plan), plan
    database.close()


def test_a_page_that_takes_too_long_has_no_edges_and_the_others_have_theirs(
    world: World, tmp_path: Path
) -> None:
    world.put("/b", article("Slow", f'<a href="/a">a</a>{SLOW}'))
    patient, hasty = {"seconds": 60.0}, {"seconds": 0.3}
    crawl(tmp_path / "ws", world.url + "/", logs={"enabled": False}, reading=patient)
    crawl(tmp_path / "ws", world.url + "/", reading=hasty)
    sources = {source for source, _ in edges_of(world, tmp_path / "ws")}
    assert sources == {"/", "/a", "/copy", "/latin", "/large"}


def test_a_crawl_without_logs_loads_nothing_of_them() -> None:
    ours = {
        f"crawl4r.{name}"
        for name in ("edges", "edge_log", "app_logs", "archive.pages_csv", "archive.csv_cells")
    }
    assert (
        not loaded_by("import crawl4r.interfaces.cli.run_crawl, crawl4r.workspace.workspace") & ours
    )


def test_a_replaying_process_loads_little() -> None:
    heavy = {"asyncio", "click", "rich", "numpy", "pycurl", "yaml"}
    code = "import crawl4r.processes.worker, crawl4r.logs.edge_rows"
    assert not loaded_by(code) & heavy
