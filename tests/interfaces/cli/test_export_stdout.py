"""`crawl4r export ... --out -`: the export alone on stdout, for the next program."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest

from tests.interfaces.cli.running import run


def test_documents_go_to_stdout_as_json_lines(crawled: Path) -> None:
    answer = run("export", "jsonl", "-w", crawled, "--out", "-")
    assert (answer.code, answer.err) == (0, "")
    assert len(answer.lines) == 12
    assert {"url", "markdown"} <= answer.lines[0].keys()


def test_captures_go_to_stdout_as_csv(crawled: Path) -> None:
    answer = run("export", "csv", "-w", crawled, "-o", "-")
    assert answer.code == 0
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) >= 12
    assert "url" in rows[0]


@pytest.mark.parametrize(
    ("told", "start"), [((), b"\x1f\x8b"), (("--compression", "none"), b"WARC/1")]
)
def test_captures_go_to_stdout_as_warc(crawled: Path, told: tuple[str, ...], start: bytes) -> None:
    answer = run("export", "warc", "-w", crawled, "--out", "-", *told)
    assert answer.code == 0
    assert answer.out.startswith(start)
    plain = answer.out if told else gzip.decompress(answer.out)
    assert plain.count(b"WARC-Type: response") >= 12


@pytest.mark.parametrize("form", ["markdown", "parquet", "wacz"])
def test_what_is_no_stream_says_why(crawled: Path, form: str) -> None:
    answer = run("export", form, "-w", crawled, "--out", "-")
    assert (answer.code, answer.out) == (2, b"")
    assert "--out -: " in answer.err
    assert not Path("-").exists()


def test_a_failure_leaves_stdout_empty(tmp_path: Path) -> None:
    answer = run("export", "jsonl", "-w", tmp_path, "--out", "-")
    assert (answer.code, answer.out) == (2, b"")
