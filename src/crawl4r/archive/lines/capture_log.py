"""A log with one line per capture, completed from state.db.

The file is a projection of the database. Each line holds its capture's id. Opening the file cuts a torn
tail and writes missing lines, so that after any crash each line exists exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from crawl4r.archive.captures import Captures
from crawl4r.model import Capture
from crawl4r.storage.line_file import LineFile

_BATCH = 1000  # captures per read of missing lines


class LineForm(NamedTuple):
    """The format of a log's lines."""

    header: bytes  # the first line with its line end, or empty
    # (capture, stored path, name of its crawl) -> line without its end
    line: Callable[[Capture, str, str | None], bytes]
    capture_id: Callable[[bytes], int]  # of a line without its end; 0 for a foreign line


class CaptureLog:
    """Append with `add`; `locate` returns the stored path of a hash."""

    def __init__(
        self, path: Path, form: LineForm, captures: Captures, locate: Callable[[str], str]
    ) -> None:
        self._form = form
        self._captures = captures
        self._locate = locate
        self._file = LineFile(path, form.header)
        # The line of a capture past the newest belongs to a commit that the database has lost.
        newest = captures.last_id()
        line, end = self._file.last_line(lambda line: 0 < form.capture_id(line) <= newest)
        self._file.cut(end)
        self._catch_up(form.capture_id(line) if line else 0)

    def add(self, captures: Iterable[Capture]) -> None:
        """Append committed captures."""
        line, locate, name = self._form.line, self._locate, self._captures.crawl_name
        lines = [line(c, locate(c.sha256) if c.sha256 else "", name(c.crawl)) for c in captures]
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
