"""The words of searching that scripts rely on: import, index, search, similar."""

import json
from pathlib import Path

import pytest

from crawl4r.search.embed.minilm import is_installed
from tests.interfaces.cli.running import run

WORDS_ONLY = {"CRAWL4R_EMBEDDER__KIND": "none"}
RECORDS = [
    {"id": "one", "title": "Harbour", "text": "The keeper paints the lighthouse before sunrise."},
    {"id": "two", "title": "Valley", "text": "A train leaves every morning and brings letters."},
    {"url": "https://a.example/x", "title": "Savepoints", "text": "ROLLBACK TO SAVEPOINT undoes."},
]
FIELDS = {
    "url", "id", "score", "title", "section", "text", "start", "end", "captured_at", "sha256",
}  # fmt: skip


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    file = tmp_path / "records.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in RECORDS))
    assert run("import", file, "-w", tmp_path / "w", "--json").json == {"added": 3, "unchanged": 0}
    return tmp_path / "w"


def test_records_are_imported_indexed_and_found(workspace: Path) -> None:
    indexed = run("index", "-w", workspace, "--json", env=WORDS_ONLY).json
    assert (indexed["documents"], indexed["totals"]["passages"]) == (3, 3)
    found = run("search", "lighthouse", "-w", workspace, "--json", env=WORDS_ONLY).json
    (hit,) = found["results"]
    assert hit.keys() >= FIELDS
    assert (hit["id"], hit["title"], hit["text"]) == ("one", "Harbour", RECORDS[0]["text"])
    assert hit["text"][slice(*hit["highlights"][0])] == "lighthouse"
    shown = run("search", "savepoint", "-w", workspace, "--explain", env=WORDS_ONLY).text
    assert "https://a.example/x" in shown
    assert run("status", "-w", workspace, "--json").json["index"]["documents"] == 3


def test_many_queries_give_a_line_a_result(workspace: Path, tmp_path: Path) -> None:
    run("index", "-w", workspace, env=WORDS_ONLY)
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"id": "q1", "text": "train letters"}\n{"id": "q2", "text": "keeper"}\n')
    options = ("--queries", queries, "-w", workspace, "--limit", "100", "--json")
    lines = run("search", *options, env=WORDS_ONLY).lines
    assert [(line["query"], line["rank"], line["id"]) for line in lines] == [
        ("q1", 1, "two"),
        ("q2", 1, "one"),
    ]


def test_meaning_is_searched_with_the_local_model(workspace: Path) -> None:
    if not is_installed():
        pytest.skip("the model's package is not installed")
    assert run("index", "-w", workspace, "--json").json["embedded"] == 3
    found = run("search", "railway post", "-w", workspace, "--mode", "vector", "--json").json
    assert found["results"][0]["id"] == "two"
    near = run("similar", "https://a.example/x", "-w", workspace, "--json").json["results"]
    assert {hit["id"] for hit in near} == {"one", "two"}


def test_a_rebuild_gives_the_same_index(workspace: Path) -> None:
    before = run("index", "-w", workspace, "--json", env=WORDS_ONLY).json["totals"]
    again = run("index", "--rebuild", "-w", workspace, "--json", env=WORDS_ONLY).json
    assert again["totals"] == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "x"),
        ("search",),
        ("search", "x", "--mode", "vector"),
        ("search", "x", "--as-of", "yesterday"),
        ("search", "x", "--cursor", "nonsense"),
        ("similar", "https://nowhere.example/"),
    ],
)
def test_what_cannot_be_asked_is_explained(workspace: Path, arguments: tuple[str, ...]) -> None:
    if len(arguments) != 2:
        run("index", "-w", workspace, env=WORDS_ONLY)
    answer = run(*arguments, "-w", workspace, env=WORDS_ONLY)
    assert answer.code == 2
    assert answer.err.startswith("crawl4r: ")


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"id": "1", "text": "fine"}\n{"id": "2"}\n')
    answer = run("import", file, "-w", tmp_path / "w")
    assert answer.code == 2
    assert "line 2" in answer.err
