"""Files that are made again: durable before they are moved, and a disk that fails is heard."""

from __future__ import annotations

import errno
import os
from contextlib import closing
from pathlib import Path

import pytest

from crawl4r.errors import StorageFull
from crawl4r.storage.replaced_files import ReplacedFiles

PIECE = b"x" * 1024**2


def made(folder: Path) -> ReplacedFiles:
    return ReplacedFiles(folder, {"edges": folder / "edges.csv"}, {"edges": b"header\n"})


def test_what_was_taken_is_there_once_it_is_moved(tmp_path: Path) -> None:
    with closing(made(tmp_path)) as files:
        for _ in range(20):
            files.take("edges", PIECE)
        assert not (tmp_path / "edges.csv").exists()
        assert files.complete() == {"edges": 7 + 20 * len(PIECE)}
        files.move()
    assert (tmp_path / "edges.csv").read_bytes() == b"header\n" + 20 * PIECE


def test_a_disk_that_fails_while_rows_still_come_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel reports it once: a later sync of the file succeeds."""
    sync = os.fsync
    failures = [OSError(errno.EIO, "Input/output error")]

    def fail_once(fd: int) -> None:
        if failures:
            raise failures.pop()
        sync(fd)

    monkeypatch.setattr(os, "fsync", fail_once)

    def fill() -> None:
        for _ in range(20):
            files.take("edges", PIECE)
        files.complete()

    with closing(made(tmp_path)) as files, pytest.raises(StorageFull, match="Input/output error"):
        fill()
    assert not failures
    assert not (tmp_path / "edges.csv").exists()
