"""metadata/crawl_metadata.jsonl: one line a capture, rebuilt from state.db wherever it falls short.

The file is a projection. Each line carries its capture's id; on opening, a torn tail is cut and what
is missing is written again, so that after any crash there is every line once and none twice.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from crawl4r.archive.captures import Captures
from crawl4r.errors import StorageFull, WorkspaceError
from crawl4r.model import Capture
from crawl4r.state.durable import write_all

_TAIL_BYTES = 1024 * 1024


class MetadataLog:
    """Append with `add`; `locate` gives the stored path for a hash."""

    def __init__(self, path: Path, captures: Captures, locate: Callable[[str], str]) -> None:
        self._path = path
        self._captures = captures
        self._locate = locate
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as problem:
            raise WorkspaceError(f"cannot open {path}: {problem.strerror}") from problem
        last, self._end = _last_whole_line(self._fd, captures.last_id())
        self._cut()
        self._catch_up(last)

    def add(self, captures: Iterable[Capture]) -> None:
        """Append committed captures."""
        lines = [json.dumps(self._record(c), ensure_ascii=False) for c in captures]
        if lines:
            self._append(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))

    def close(self) -> None:
        os.close(self._fd)

    def _append(self, data: bytes) -> None:
        try:
            os.lseek(self._fd, self._end, os.SEEK_SET)
            write_all(self._fd, data)
        except OSError as problem:
            with contextlib.suppress(StorageFull):
                self._cut()  # no torn line even for those who read the file now
            raise self._full(problem) from problem
        self._end += len(data)

    def _cut(self) -> None:
        try:
            os.ftruncate(self._fd, self._end)
        except OSError as problem:
            raise self._full(problem) from problem

    def _full(self, problem: OSError) -> StorageFull:
        return StorageFull(
            f"cannot write {self._path}: {problem.strerror}; "
            "free some space and run the command again"
        )

    def _catch_up(self, last: int) -> None:
        batch: list[Capture] = []
        for capture in self._captures.after(last):
            batch.append(capture)
            if len(batch) == 1000:
                self.add(batch)
                batch.clear()
        self.add(batch)

    def _record(self, c: Capture) -> dict[str, Any]:
        return {
            "capture": c.id,
            "url": c.url,
            "fetched_at": c.fetched_at,
            "status": c.status,
            "verdict": c.verdict,
            "reason": c.reason,
            "page_type": c.page_type,
            "depth": c.depth,
            "referrer": c.referrer,
            "content_type": c.content_type,
            "encoding": c.encoding,
            "content_sha256": c.sha256,
            "content_bytes": c.bytes,
            "stored_path": self._locate(c.sha256) if c.sha256 else "",
            "etag": c.etag,
            "last_modified": c.last_modified,
            "fetch_latency_ms": c.latency_ms,
            "retries": c.retries,
            "proxy_id": c.proxy,
        }


def _last_whole_line(fd: int, newest: int) -> tuple[int, int]:
    """The capture id on the last whole line, and where that line ends; zeros for an empty file.

    A line of a capture past `newest` was written for a commit that the database has lost since.
    """
    end = os.lseek(fd, 0, os.SEEK_END)
    while end > 0:
        start = max(0, end - _TAIL_BYTES)
        tail = os.pread(fd, end - start, start)
        position = len(tail)
        while (newline := tail.rfind(b"\n", 0, position)) >= 0:
            line_start = tail.rfind(b"\n", 0, newline) + 1
            if line_start == 0 and start > 0:
                break
            if 0 < (capture_id := _capture_id(tail[line_start:newline])) <= newest:
                return capture_id, start + newline + 1
            position = newline
        if start == 0:
            break
        end = start + max(position, 1) if position < len(tail) else start
    return 0, 0


def _capture_id(line: bytes) -> int:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return 0
    found = record.get("capture") if isinstance(record, dict) else None
    return found if isinstance(found, int) else 0
