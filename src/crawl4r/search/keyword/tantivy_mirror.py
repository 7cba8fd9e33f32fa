"""A temporary folder for reading a read-only index: tantivy needs a lock file even to read."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from crawl4r.errors import StorageFull, WorkspaceError

_META = "meta.json"
_ATTEMPTS = 5  # tries to link all files of one commit while a writer is active


class Mirror:
    """Links to the files of an index, in a temporary folder; `refresh` links the newest commit."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._place = tempfile.TemporaryDirectory(prefix="crawl4r-")
        self.path = Path(self._place.name)
        try:
            self.refresh()
        except BaseException:
            self.close()
            raise

    def refresh(self) -> None:
        try:
            for _ in range(_ATTEMPTS):
                meta = (self._folder / _META).read_bytes()
                self._link()
                if (self._folder / _META).read_bytes() == meta:  # all links are of one commit
                    (self.path / "meta.new").write_bytes(meta)
                    (self.path / "meta.new").replace(self.path / _META)
                    return
        except OSError as problem:
            raise StorageFull(
                f"cannot read {self._folder} through {self.path}: {problem}"
            ) from problem
        raise WorkspaceError(f"{self._folder} is being written to all the time; run it again later")

    def close(self) -> None:
        self._place.cleanup()

    def _link(self) -> None:
        for name in os.listdir(self._folder):
            if name == ".managed.json":
                shutil.copyfile(self._folder / name, self.path / name)
            elif name != _META and not name.startswith("."):
                with contextlib.suppress(FileExistsError):
                    (self.path / name).symlink_to((self._folder / name).absolute())
