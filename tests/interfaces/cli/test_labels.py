"""Collections and tags: given by crawls and by people, asked for by search and export, and lasting."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl4r.sample.server import SampleSite
from tests.interfaces.cli.running import LOOPBACK, run

QUERY = "robots.txt matching"


@pytest.fixture(scope="module")
def sample() -> Iterator[SampleSite]:
    with SampleSite() as site:
        yield site


@pytest.fixture(scope="module")
def store(sample: SampleSite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two crawls of the same guide: one for a collection and a tag, one for none. Only to look at."""
    path = tmp_path_factory.mktemp("labels") / "kb"
    few = ("--max-pages", "3", "--name", "few", "--no-index")
    assert run("crawl", sample.url, "-w", path, *LOOPBACK, *few).code == 0
    guide = (
        "--name",
        "guide",
        "--collection",
        "news",
        "--collection",
        "my papers",
        "--tag",
        "weekly",
    )
    answer = run(
        "crawl", sample.url, "-w", path, *LOOPBACK, *guide, "--allow", "/$", "--allow", "/guide/"
    )
    assert answer.code == 0, answer.err
    assert run("index", "-w", path).code == 0
    return path


def found(workspace: Path, *words: str) -> list[str]:
    keyword = ("--mode", "keyword", "--limit", "200", "--json")
    answer = run("search", QUERY, "-w", workspace, *keyword, *words)
    assert answer.code == 0, answer.err
    return [hit["url"] for hit in answer.json["results"]]


def counts(workspace: Path, kind: str) -> dict[str, int]:
    return {row["name"]: row["documents"] for row in run(kind, "-w", workspace, "--json").lines}


def exported(workspace: Path, out: Path, *words: str) -> list[dict[str, object]]:
    assert run("export", "jsonl", "-w", workspace, "-o", out, *words).code == 0
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_a_crawl_gives_its_documents_a_collection_and_a_tag(store: Path, tmp_path: Path) -> None:
    collections = counts(store, "collections")
    assert collections.keys() == {"news", "my papers"}
    assert counts(store, "tags") == {"weekly": collections["news"]}
    rows = exported(store, tmp_path / "all.jsonl", "--with-near")
    news = exported(store, tmp_path / "news.jsonl", "--with-near", "--collection", "news")
    assert len(rows) > len(news) == collections["news"]
    assert {(tuple(row["collections"]), tuple(row["tags"])) for row in news} == {
        (("my papers", "news"), ("weekly",))
    }
    assert exported(store, tmp_path / "tag.jsonl", "--with-near", "--tag", "weekly") == news


@pytest.mark.parametrize(
    "words", [("--collection", "news"), ("--tag", "weekly"), ("--collection", "my papers")]
)
def test_a_search_stays_within_a_collection_or_a_tag(
    store: Path, tmp_path: Path, words: tuple[str, str]
) -> None:
    inside = set(found(store, *words))
    members = {row["url"] for row in exported(store, tmp_path / "in.jsonl", *words)}
    assert inside
    assert inside == set(found(store)) & members


def test_an_unknown_name_is_refused_with_those_there_are(store: Path, tmp_path: Path) -> None:
    for command in (
        ("search", QUERY, "--collection", "gone"),
        ("export", "jsonl", "-o", tmp_path / "x", "--tag", "gone"),
        ("collections", "remove", "gone", "https://example.org/"),
        ("tags", "delete", "gone"),
    ):
        answer = run(*command, "-w", store)
        assert answer.code == 2
        assert "'gone' in this store; there are: " in answer.err
    answer = run("crawl", "http://127.0.0.1:1/", "-w", tmp_path, "--tag", "   ")
    assert answer.code == 2
    assert "tags: '' is no name" in answer.err


def test_labels_change_without_new_vectors_and_outlive_a_rebuild(
    sample: SampleSite, tmp_path: Path
) -> None:
    crawl = run("crawl", sample.url, "-w", tmp_path, *LOOPBACK, "--max-pages", "12", "--json")
    assert crawl.code == 0, crawl.err
    assert run("index", "-w", tmp_path).code == 0
    urls = list(dict.fromkeys(found(tmp_path)))
    before = run("status", "-w", tmp_path, "--json").json["index"]
    added = run("tags", "add", "keep", urls[0], "-w", tmp_path, "--json").json
    assert added["add"] == [urls[0]]
    assert set(found(tmp_path, "--tag", "keep")) == {urls[0]}
    hybrid = run("search", QUERY, "-w", tmp_path, "--tag", "keep", "--json").json["results"]
    assert {hit["url"] for hit in hybrid} == {urls[0]}
    assert run("status", "-w", tmp_path, "--json").json["index"] == before
    run("reprocess", "-w", tmp_path)
    run("index", "-w", tmp_path, "--rebuild")
    assert set(found(tmp_path, "--tag", "keep")) == {urls[0]}
    assert (
        run("tags", "remove", "keep", urls[0], "-w", tmp_path, "--json").json["remove"]
        == added["add"]
    )
    assert found(tmp_path, "--tag", "keep") == []
    assert run("tags", "delete", "keep", "-w", tmp_path, "--dry-run").code == 0
    assert counts(tmp_path, "tags") == {"keep": 0}
    assert run("tags", "delete", "keep", "-w", tmp_path).code == 0
    assert counts(tmp_path, "tags") == {}


def test_a_collection_that_a_crawl_gets_later_is_for_its_earlier_pages_too(
    sample: SampleSite, tmp_path: Path
) -> None:
    crawl = ("crawl", sample.url, "-w", tmp_path, *LOOPBACK, "--no-index")
    run(*crawl, "--max-pages", "3")
    run(*crawl, "--max-pages", "3", "--collection", "late")
    assert (
        counts(tmp_path, "collections")["late"]
        == run("status", "-w", tmp_path, "--json").json["documents"]
    )


def test_a_collection_says_which_bytes_gc_keeps(sample: SampleSite, tmp_path: Path) -> None:
    words = ("--max-pages", "2", "--no-index", "--collection", "news")
    assert run("crawl", sample.url, "-w", tmp_path, *LOOPBACK, *words).code == 0
    kept = run("collections", "keep", "news", "--captures", "3", "--days", "90", "-w", tmp_path)
    assert "the newest 3 good captures of each page and captures younger than 90 days" in kept.text
    assert run("gc", "-w", tmp_path, "--dry-run", "--json").json["dropped"] == 0
    assert run("collections", "keep", "none", "-w", tmp_path).code == 2
    assert (
        "gc keeps what its options say" in run("collections", "keep", "news", "-w", tmp_path).text
    )
