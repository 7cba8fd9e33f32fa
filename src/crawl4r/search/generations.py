"""index/: one folder a generation, and a file that names the one in use.

A rebuild fills a new folder beside the old one and becomes the current one by a rename, so that a
search sees the old index or the new one and nothing between.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from crawl4r.errors import StorageFull
from crawl4r.storage.fsync import sync_folder
from crawl4r.storage.made_files import is_generation

_POINTER = "current"
_WAITING = "current.new"
_PREFIX = "generation-"


class Generations:
    """The folders of one index. Only its writer may call methods other than `current`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def current(self) -> Path | None:
        """The generation to search, or None before there is one."""
        try:
            name = (self._folder / _POINTER).read_text().strip()
        except OSError:
            return None
        folder = self._folder / name
        return folder if name.startswith(_PREFIX) and folder.is_dir() else None

    def begin(self) -> Path:
        """Create an empty generation, which no search uses yet."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            numbers = [int(path.name.removeprefix(_PREFIX)) for path in self._all()]
            folder = self._folder / f"{_PREFIX}{max(numbers, default=0) + 1}"
            folder.mkdir()
        except OSError as problem:
            raise StorageFull(f"cannot write {self._folder}: {problem.strerror}") from problem
        return folder

    def switch_to(self, folder: Path) -> None:
        """Make searches use this generation, and remove the others."""
        waiting = self._folder / _WAITING
        try:
            with waiting.open("w") as file:
                file.write(folder.name)
                file.flush()
                os.fsync(file.fileno())
            waiting.replace(self._folder / _POINTER)
            sync_folder(self._folder)
        except OSError as problem:
            raise StorageFull(f"cannot write {waiting}: {problem.strerror}") from problem
        self.remove_others()

    def remove_others(self) -> None:
        """Delete the leftovers of a killed rebuild and of the generation before the last switch."""
        current = self.current()
        with contextlib.suppress(OSError):
            (self._folder / _WAITING).unlink(missing_ok=True)
        for path in self._all():
            if path != current and is_generation(path):
                with contextlib.suppress(OSError):
                    shutil.rmtree(path)

    def _all(self) -> list[Path]:
        return [
            path
            for path in self._folder.glob(f"{_PREFIX}*")
            if path.name.removeprefix(_PREFIX).isdigit()
        ]
