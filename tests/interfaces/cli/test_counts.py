"""One number for one thing: the summary of a crawl, `status` and `pages` count alike."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from crawl4r.errors import StorageError
from crawl4r.settings.load import load_settings
from crawl4r.workspace.workspace import Workspace
from tests.interfaces.cli.running import LOOPBACK, crawl, run
from tests.older_workspaces import set_back_to_8
from tests.site.process import SiteProcess
from tests.tenacity.hurried import ABOUT_US

ALIKE = (
    "pages", "bytes", "captures", "stored_bytes", "documents", "urls", "known", "done", "pending",
    "failed", "refused", "endings", "index",
)  # fmt: skip
SEPARATED = ("spool", "run")


def status_of(workspace: Path) -> dict[str, Any]:
    told: dict[str, Any] = run("status", "-w", workspace, "--json").json
    return told


def assert_pages_agree(workspace: Path) -> dict[str, Any]:
    """The status, once it is shown that it counts what `pages` lists."""
    status = status_of(workspace)
    rows = run("pages", "-w", workspace, "--json").lines
    assert status["pages"] == sum(row["kept"] for row in rows)
    assert status["known"] == len(rows)
    states = [row["state"] for row in rows]
    assert status["urls"] == {state: states.count(state) for state in set(states)}
    unfinished = sum(states.count(state) for state in ("pending", "leased", "waiting"))
    assert status["pending"] == unfinished
    for state in ("done", "failed", "refused"):
        assert status[state] == states.count(state)
    return status


def assert_all_agree(summary: dict[str, Any], workspace: Path) -> dict[str, Any]:
    status = assert_pages_agree(workspace)
    assert {name: summary[name] for name in ALIKE} == {name: status[name] for name in ALIKE}
    return status


def test_they_agree_about_failures_refusals_and_redirects(
    site: SiteProcess, tmp_path: Path
) -> None:
    seeds = ("/site/5/", "/redirect/2", "/status/404", "/status/500", "/private/x")
    urls = [site.url(path) for path in seeds]
    options = ("-w", tmp_path, *LOOPBACK, "--deny", "page-3", "--json")
    env = {"CRAWL4R_FETCH__RETRIES": "0"}
    summary = run("crawl", *urls, *options, env=env).json
    status = assert_all_agree(summary, tmp_path)
    assert status["pages"] >= 4 and status["known"] > status["pages"]
    again = run("crawl", "-w", tmp_path, *LOOPBACK, "--refresh", "--json", env=env).json
    assert again["pages"] == summary["pages"]
    assert_all_agree(again, tmp_path)


def test_they_agree_about_what_was_imported_and_a_limit_does_not_count_it(
    site: SiteProcess, tmp_path: Path
) -> None:
    file = tmp_path / "records.jsonl"
    records = [{"id": str(n), "title": f"T{n}", "text": f"Words of {n}. " * 30} for n in range(7)]
    file.write_text("\n".join(map(json.dumps, records)))
    workspace = tmp_path / "ws"
    assert run("import", file, "-w", workspace, "--json").json["added"] == 7
    imported = assert_pages_agree(workspace)
    assert imported["pages"] == 7 and imported["bytes"] == sum(map(len, map(json.dumps, records)))
    assert run("import", file, "-w", workspace, "--json").json["added"] == 0
    assert assert_pages_agree(workspace)["pages"] == 7
    summary = crawl(site.url("/site/9/"), workspace, "--max-pages", "4").json
    assert (summary["ended"], summary["pages"], summary["new_pages"]) == ("max pages", 11, 4)
    assert_all_agree(summary, workspace)


def test_they_agree_in_separated_mode(site: SiteProcess, tmp_path: Path) -> None:
    summary = run(*SEPARATED, site.url("/site/6/"), "-w", tmp_path, *LOOPBACK, "--json").json
    assert summary["pages"] == 6
    assert_all_agree(summary, tmp_path)


def test_they_agree_with_an_index_also_in_a_second_run(site: SiteProcess, tmp_path: Path) -> None:
    env = {"CRAWL4R_INDEX__ENABLED": "true"}
    url, options = site.url("/site/6/"), ("-w", tmp_path, *LOOPBACK, "--json")
    for _ in range(2):
        summary = run("crawl", url, *options, env=env).json
        status = assert_all_agree(summary, tmp_path)
        assert summary["passages"] == status["index"]["passages"] > 0


def test_an_older_workspace_counts_its_imports_once_it_is_opened(tmp_path: Path) -> None:
    file, workspace = tmp_path / "r.jsonl", tmp_path / "ws"
    file.write_text(json.dumps({"id": "1", "title": "T", "text": "Words. " * 50}))
    run("import", file, "-w", workspace, "--json")
    expected = assert_pages_agree(workspace)
    set_back_to_8(workspace, "DELETE FROM tallies;")
    assert run("crawl", "-w", workspace, "--json").code == 2  # it was opened; it has no seeds
    upgraded = assert_pages_agree(workspace)
    assert (upgraded["pages"], upgraded["bytes"]) == (expected["pages"], expected["bytes"])


def test_what_could_not_be_committed_was_not_kept(site: SiteProcess, tmp_path: Path) -> None:
    """By a trigger on the last table that a commit writes to."""
    settings = load_settings(environment={}, overrides=ABOUT_US)

    async def crawl_in_vain() -> None:
        async with Workspace(tmp_path, settings) as opened:
            opened.database.write(
                "CREATE TRIGGER full BEFORE UPDATE ON hosts BEGIN SELECT RAISE(FAIL, 'full'); END"
            )
            opened.database.commit()
            crawling = opened.crawl(site.url("/links/leaf.html"))
            with pytest.raises(StorageError):
                await crawling.finish()
            assert crawling.crawl is not None
            assert (crawling.crawl.keeper.pages, crawling.crawl.keeper.bytes) == (0, 0)

    asyncio.run(crawl_in_vain())
    assert assert_pages_agree(tmp_path)["pages"] == 0
