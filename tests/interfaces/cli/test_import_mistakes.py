"""`crawl4r import` of what it cannot read: our own words, and what to do."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.interfaces.cli.running import run

JUNK = bytes(range(256)) * 8
MISTAKES = {
    "junk.bin": (JUNK, "is not text: import reads JSON lines, WARC and WACZ"),
    "junk.jsonl": (b'\x00{"id": "1"}', "is not text"),
    "empty.jsonl": (b"", "is empty: there is nothing to import"),
    "empty.warc": (b"", "is empty"),
    "page.html": (b"\n<!doctype html><p>a", "HTML or XML"),
    "words.txt": (b"just words\n", "line 1: is not JSON, at character 1: each line is an object"),
    "half.jsonl": (b'{"id": "1", "text": "a"}\n{"id": "2", "te', "line 2: is not JSON"),
    "deep.jsonl": (b"[" * 100_000 + b"]" * 100_000, "line 1: "),
    "junk.gz": (gzip.compress(JUNK), "no WARC file in it: unpack it first"),
    "cut.wacz": (b"PK\x03\x04junk", "it is damaged, cut off or no ZIP package"),
}
PARSERS = ("Expecting", "line 1 column", "is not a zip", "zipfile", "JSONDecode", "codec")


@pytest.mark.parametrize("name", MISTAKES)
def test_a_file_that_cannot_be_imported_is_refused_in_our_words(tmp_path: Path, name: str) -> None:
    content, words = MISTAKES[name]
    file = tmp_path / name
    file.write_bytes(content)
    answer = run("import", file, "-w", tmp_path / "ws")
    assert (answer.code, answer.out) == (2, b"")
    last = answer.err.splitlines()[-1]
    assert str(file) in last
    assert words in last
    assert not [word for word in PARSERS if word in answer.err]


@pytest.mark.parametrize("name", ["junk.bin", "empty.jsonl", "page.html", "empty.warc"])
def test_what_is_refused_at_its_first_bytes_makes_no_workspace(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(MISTAKES[name][0])
    run("import", tmp_path / name, "-w", tmp_path / "ws")
    assert not (tmp_path / "ws").exists()


def test_a_folder_and_a_file_that_is_not_there_are_named(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none"):
        answer = run("import", place, "-w", tmp_path / "ws")
        assert answer.code == 2
        assert str(place) in answer.err


def test_an_archive_of_which_nothing_can_be_read_does_not_end_well(tmp_path: Path) -> None:
    file = tmp_path / "cut.warc"
    file.write_bytes(
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://e.org/\r\n"
        b"WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Length: 5000\r\n\r\nHTTP/1.1 200 OK\r\n"
    )
    answer = run("import", file, "-w", tmp_path / "ws")
    assert answer.code == 1
    assert f"nothing of {file} could be imported: at 0: " in answer.err.splitlines()[-1]


def test_words_of_any_language_are_no_junk(tmp_path: Path) -> None:
    file = tmp_path / "tea.jsonl"
    file.write_text(
        '\n{"id": "1", "title": "茶", "text": "Grüner Tee wird aufgegossen."}\n', "utf-8"
    )
    answer = run("import", file, "-w", tmp_path / "ws", "--json")
    assert (answer.code, answer.json["added"]) == (0, 1)
