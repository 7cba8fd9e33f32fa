"""A file with one line a capture, rebuilt from state.db wherever it falls short.

The file is a projection. Each line carries its capture's id; on opening, a torn tail is cut and what
is missing is written again, so that after any crash there is every line once and none twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from crawl4r.archive.captures import Captures
from crawl4r.model import Capture
from crawl4r.storage.line_file import LineFile

_BATCH = 1000  # captures at once, when many are missing


class LineForm(NamedTuple):
    """What a log's lines look like."""

    header: bytes  # the first line, with its end; empty when there is none
    line: Callable[[Capture, str], bytes]  # of a capture and its stored path, without the end
    capture_id: Callable[[bytes], int]  # of a line without its end; 0 when it is none of ours


class CaptureLog:
    """Append with `add`; `locate` gives the stored path for a hash."""

    def __init__(
        self, path: Path, form: LineForm, captures: Captures, locate: Callable[[str], str]
    ) -> None:
        self._form = form
        self._captures = captures
        self._locate = locate
        self._file = LineFile(path, form.header)
        # A line of a capture past the newest was written for a commit that the database has lost.
        newest = captures.last_id()
        line, end = self._file.last_line(lambda line: 0 < form.capture_id(line) <= newest)
        self._file.cut(end)
        self._catch_up(form.capture_id(line) if line else 0)

    def add(self, captures: Iterable[Capture]) -> None:
        """Append committed captures."""
        line, locate = self._form.line, self._locate
        lines = [line(c, locate(c.sha256) if c.sha256 else "") for c in captures]
        if lines:
            lines.append(b"")
            self._file.append(b"\n".join(lines))

    def close(self) -> None:
        self._file.close()

    def _catch_up(self, last: int) -> None:
        batch: list[Capture] = []
        for capture in self._captures.after(last):
            batch.append(capture)
            if len(batch) == _BATCH:
                self.add(batch)
                batch.clear()
        self.add(batch)
