"""`crawl --name`, `crawls`, `delete`, `restore`: several crawls in a store, and what people delete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import crawl4r
from crawl4r.sample.server import SampleSite
from tests.interfaces.cli.running import LOOPBACK, Answer, Background, run, wait_until
from tests.site.process import SiteProcess

ROBOTS = "guide/robots.html"
QUERY = "robots.txt matching"
MANY = 200


@pytest.fixture
def sample() -> Any:
    with SampleSite() as site:
        yield site


def crawl(workspace: Path, url: str, *words: str) -> Answer:
    answer = run("crawl", url, "-w", workspace, *LOOPBACK, "--json", *words)
    assert answer.code == 0, answer.err
    return answer


def crawls(workspace: Path) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in run("crawls", "-w", workspace, "--json").lines}


def found(workspace: Path) -> list[str]:
    answer = run("search", QUERY, "-w", workspace, "--mode", "keyword", "--json").json
    return ["/" + hit["url"].split("/", 3)[3] for hit in answer["results"]]


def test_two_crawls_share_a_store_and_each_keeps_its_own_scope(
    sample: SampleSite, tmp_path: Path
) -> None:
    """The second one is not kept from pages that the first has, nor from links that it refused."""
    first = crawl(tmp_path, sample.url, "--max-pages", "3", "--no-index").json
    second = crawl(
        tmp_path,
        sample.url,
        "--name",
        "guide",
        "--allow",
        "/$",
        "--allow",
        "/guide/",
        "--no-index",
        "--fresh-for",
        "0",
    ).json
    assert (first["pages"], second["ended"]) == (3, "nothing left")
    assert second["pages"] > 15
    listed = crawls(tmp_path)
    assert [row["pages"] for row in listed.values()] == [3, second["pages"]]
    assert [row["state"] for row in listed.values()] == ["stopped", "done"]
    assert listed["guide"]["waiting"] == 0 < next(iter(listed.values()))["waiting"]
    story = run("why", sample.url, "-w", tmp_path, "--json").json
    assert (story["crawl"], len(story["captures"])) == ("guide", 2)
    assert [other["crawl"] for other in story["other_crawls"]] == [next(iter(listed))]
    third = crawl(tmp_path, sample.url, "--name", next(iter(listed)), "--max-pages", "5").json
    assert third["pages"] == 5
    assert crawls(tmp_path)["guide"]["pages"] == second["pages"]


def test_each_crawl_remembers_its_own_options(sample: SampleSite, tmp_path: Path) -> None:
    crawl(tmp_path, sample.url, "--name", "few", "--max-pages", "2", "--no-index")
    crawl(tmp_path, sample.url, "--name", "some", "--max-pages", "4", "--no-index")
    answer = run("resume", "-w", tmp_path, "--name", "few", "--json")
    assert (answer.json["pages"], answer.json["options"]["max_pages"]) == (2, 2)


def test_a_deleted_crawl_leaves_its_documents_unless_they_are_asked_for(
    sample: SampleSite, tmp_path: Path
) -> None:
    crawl(tmp_path, sample.url, "--max-pages", "2", "--name", "home")
    guide = crawl(tmp_path, f"{sample.url}{ROBOTS}", "--name", "guide", "--allow", "/guide/").json
    before = run("status", "-w", tmp_path, "--json").json
    foretold = run(
        "crawls", "delete", "guide", "-w", tmp_path, "--documents", "--dry-run", "--json"
    ).json
    assert run("status", "-w", tmp_path, "--json").json["documents"] == before["documents"]
    deleted = run("crawls", "delete", "guide", "-w", tmp_path, "--documents", "--json").json
    assert deleted == foretold | {"dry_run": False}
    assert len(deleted["documents"]) == guide["pages"] - 1  # robots.html is of `home` too
    after = run("status", "-w", tmp_path, "--json").json
    assert after["documents"] == before["documents"] - len(deleted["documents"])
    assert after["captures"] == before["captures"]
    assert list(crawls(tmp_path)) == ["home"]
    gone = run("crawls", "delete", "guide", "-w", tmp_path)
    assert (gone.code, "there are: home" in gone.err) == (2, True)
    crawl(tmp_path, f"{sample.url}{ROBOTS}", "--name", "again", "--allow", "/guide/")
    assert run("status", "-w", tmp_path, "--json").json["documents"] == before["documents"]


@pytest.mark.parametrize(
    "after", [("crawl", "--refresh"), ("reprocess",), ("index", "--rebuild"), ("index",)]
)
def test_a_deleted_document_stays_deleted_until_it_is_restored(
    sample: SampleSite, tmp_path: Path, after: tuple[str, ...]
) -> None:
    url = f"{sample.url}{ROBOTS}"
    crawl(tmp_path, sample.url, "--max-pages", "6", "--index")
    assert f"/{ROBOTS}" in found(tmp_path)
    assert run("delete", url, "-w", tmp_path, "--dry-run", "--json").json["deleted"] == [url]
    assert f"/{ROBOTS}" in found(tmp_path)
    assert run("delete", url, "-w", tmp_path, "--json").json["deleted"] == [url]
    assert run(after[0], *after[1:], "-w", tmp_path, "--json").code == 0
    assert f"/{ROBOTS}" not in found(tmp_path)
    out = tmp_path / "out.jsonl"
    run("export", "jsonl", "-w", tmp_path, "-o", out, "--with-near", "--with-gone")
    exported = [json.loads(line)["url"] for line in out.read_text().splitlines()]
    assert exported and url not in exported
    assert run("get", url, "--markdown", "-w", tmp_path).code != 0
    assert b"robots" in run("get", url, "--raw", "-w", tmp_path).out
    story = run("why", url, "-w", tmp_path, "--json").json
    assert story["document"]["deleted_at"] is not None
    assert story["index"] == {"left_out": "deleted by a user"}
    assert run("restore", url, "-w", tmp_path, "--json").json["restored"] == [url]
    assert f"/{ROBOTS}" in found(tmp_path)


def test_what_cannot_be_deleted_is_told_by_name(sample: SampleSite, tmp_path: Path) -> None:
    crawl(tmp_path, sample.url, "--max-pages", "2", "--no-index")
    missing = run("delete", f"{sample.url}nowhere", sample.url, "-w", tmp_path)
    assert (missing.code, "there is no document of" in missing.err) == (2, True)
    with crawl4r.open(tmp_path, read_only=True) as workspace:
        assert not workspace.is_deleted(sample.url)
    twice = [run("delete", sample.url, "-w", tmp_path).text for _ in range(2)]
    assert twice == [f"deleted {sample.url}\n", "deleted already\n"]
    never = run("restore", f"{sample.url}nowhere", "-w", tmp_path)
    assert never.text == "none of these is deleted\n"
    bad = run("crawl", sample.url, "-w", tmp_path, "--name", "../x", *LOOPBACK)
    assert (bad.code, "no name for a crawl" in bad.err) == (2, True)


def test_nothing_is_deleted_while_a_crawl_runs(site: SiteProcess, tmp_path: Path) -> None:
    url = site.url(f"/site/{MANY}/")
    slow = ("--rate", "20", "--allow-private", "127.0.0.1")
    with Background("crawl", url, "-w", tmp_path, *slow, "--name", "slow") as running:
        wait_until(lambda: (tmp_path / "state.db").exists() and bool(crawls(tmp_path)))
        assert crawls(tmp_path)["slow"]["state"] == "running"
        answer = run("crawls", "delete", "slow", "-w", tmp_path)
        assert (answer.code, "is using" in answer.err) == (2, True)
        running.process.kill()
        running.process.wait()
    assert crawls(tmp_path)["slow"]["state"] == "interrupted"
    assert run("crawls", "delete", "slow", "-w", tmp_path).code == 0
    assert crawls(tmp_path) == {}
