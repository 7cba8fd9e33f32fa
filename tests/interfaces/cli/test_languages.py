"""Pages in other languages: counted, named, and let in by an option."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.hostile.commanding_site import Reply, html, serving
from tests.interfaces.cli.running import LOOPBACK, run

WORDS_ONLY = {"CRAWL4R_EMBEDDER__KIND": "none", "CRAWL4R_INDEX__ENABLED": "true"}
GERMAN = (
    "Der Hafenmeister streicht den Leuchtturm vor Sonnenaufgang, und die Moewen sehen ihm dabei zu. "
    "Danach kehrt er in sein Haus zurueck und kocht sich eine Suppe aus Kartoffeln und Zwiebeln. "
)
PAGE = f"<!doctype html><html lang=de><title>Hafen</title><main><h1>Hafen</h1><p>{GERMAN * 4}</p>"


@pytest.fixture
def german() -> Iterator[str]:
    pages = {
        "/": Reply(html("Front", 'Also <a href="/hafen">in another language</a>.')),
        "/hafen": Reply(PAGE.encode()),
    }
    with serving(pages) as url:
        yield url


def found(workspace: Path) -> int:
    answer = run("search", "Leuchtturm", "-w", workspace, "--json", env=WORDS_ONLY).json
    return len(answer["results"])


def test_pages_in_other_languages_are_counted_wherever_one_looks(
    german: str, tmp_path: Path
) -> None:
    workspace = tmp_path / "w"
    crawled = run("crawl", german, "-w", workspace, *LOOPBACK, env=WORDS_ONLY).text
    hint = f"crawl4r index --language all -w {workspace}"
    assert "1 not searchable: 1 de" in " ".join(crawled.split())
    assert hint in crawled
    status = run("status", "-w", workspace, env=WORDS_ONLY)
    assert (
        f"languages: 1 document in another language cannot be searched (1 de); `{hint}`"
        in status.text
    )
    told = run("status", "-w", workspace, "--json", env=WORDS_ONLY).json["index"]
    assert (told["documents"], told["other_languages"]) == (1, {"de": 1})
    searched = run("search", "lighthouse", "-w", workspace, env=WORDS_ONLY).text
    assert hint in searched
    noted = run("search", "lighthouse", "-w", workspace, "--json", env=WORDS_ONLY).json["notes"]
    assert any(hint in note for note in noted)
    full = run("search", "lighthouse", "-n", "1", "-w", workspace, env=WORDS_ONLY).text
    assert hint not in full, "as many results as were asked for"
    assert run("crawl", "-w", workspace, *LOOPBACK, "--json", env=WORDS_ONLY).json[
        "other_languages"
    ] == {"de": 1}


def test_the_option_lets_in_what_was_left_out_and_is_remembered(
    german: str, tmp_path: Path
) -> None:
    workspace = tmp_path / "w"
    run("crawl", german, "-w", workspace, *LOOPBACK, env=WORDS_ONLY)
    assert found(workspace) == 0
    indexed = run("index", "--language", "all", "-w", workspace, "--json", env=WORDS_ONLY).json
    assert indexed["totals"]["other_languages"] == {}
    assert found(workspace) == 1
    run("index", "-w", workspace, env=WORDS_ONLY)
    assert found(workspace) == 1, "the next index goes by the same languages"
    run("resume", "-w", workspace, env=WORDS_ONLY)
    assert found(workspace) == 1
    run("index", "--language", "en", "-w", workspace, env=WORDS_ONLY)
    assert found(workspace) == 0


@pytest.mark.parametrize("language", [("all",), ("DE",), ("en", "de")])
def test_a_crawl_takes_the_languages_it_is_told(
    german: str, tmp_path: Path, language: tuple[str, ...]
) -> None:
    options = [word for each in language for word in ("--language", each)]
    run("crawl", german, "-w", tmp_path / "w", *LOOPBACK, *options, env=WORDS_ONLY)
    assert found(tmp_path / "w") == 1
    run("index", "-w", tmp_path / "w", env=WORDS_ONLY)
    assert found(tmp_path / "w") == 1, "and `index` keeps them"


def test_settings_let_every_language_in(german: str, tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    run("crawl", german, "-w", workspace, *LOOPBACK, env=WORDS_ONLY)
    (workspace / "crawl4r.yaml").write_text("index: {languages: [all]}\n")
    run("index", "-w", workspace, env=WORDS_ONLY)
    assert found(workspace) == 1


@pytest.mark.parametrize("command", ["crawl", "index"])
def test_what_is_no_language_is_refused_and_the_codes_are_listed(
    command: str, tmp_path: Path
) -> None:
    record = {"id": "one", "title": "Harbour", "text": "The keeper paints the lighthouse."}
    (tmp_path / "r.jsonl").write_text(json.dumps(record))
    run("import", tmp_path / "r.jsonl", "-w", tmp_path / "w")
    words = (command, "--language", "english", "-w", tmp_path / "w")
    answer = run(*words, *(["http://127.0.0.1:1/"] if command == "crawl" else []))
    assert answer.code == 2
    assert "'english' is not a language code" in answer.err
    assert " de " in answer.err and "all is every language" in answer.err


def test_passages_overlap_as_the_settings_say_after_a_rebuild(tmp_path: Path) -> None:
    text = " ".join(f"Sentence number{n} says something of its own." for n in range(200))
    (tmp_path / "r.jsonl").write_text(json.dumps({"id": "one", "title": "Long", "text": text}))
    workspace = tmp_path / "w"
    run("import", tmp_path / "r.jsonl", "-w", workspace)
    before = run("index", "-w", workspace, "--json", env=WORDS_ONLY).json["totals"]["passages"]
    (workspace / "crawl4r.yaml").write_text("index: {overlap_tokens: 128, min_tokens: 0}\n")
    refused = run("index", "-w", workspace, env=WORDS_ONLY)
    assert refused.code == 2
    assert "overlap" in refused.err and "`crawl4r index --rebuild -w " in refused.err
    again = run("index", "--rebuild", "-w", workspace, "--json", env=WORDS_ONLY)
    assert again.json["totals"]["passages"] > before
    assert run("index", "-w", workspace, env=WORDS_ONLY).code == 0
    options = ("--per-document", "0", "--limit", "50", "--json", "-w", workspace)
    hits = run("search", "sentence", *options, env=WORDS_ONLY).json["results"]
    hits.sort(key=lambda hit: hit["start"])
    assert all(a["start"] < b["start"] < a["end"] < b["end"] for a, b in pairwise(hits))
    assert all(hit["text"].startswith("Sentence") for hit in hits)
