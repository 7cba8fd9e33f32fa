"""A store with one file per page, `aa/bb/<sha256>.html.zst`: slower, but readable by any tool."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from crawl4r.archive.blobs.port import Compacted, OnCompacted
from crawl4r.errors import StorageDamaged, StorageFull, WorkspaceError
from crawl4r.formats.zstd import ZstdCompressor, ZstdError, decompress
from crawl4r.storage.fsync import sync_folder

_NAME = re.compile(r"[0-9a-f]{64}\.(?:html|bin)\.zst")
_HTML = ("text/html", "application/xhtml+xml", "")


class FileBlobs:
    """See `port.Blobs`. Each file is written under another name, synced and renamed."""

    def __init__(
        self, folder: Path, *, level: int = 3, permissions: int = 0o644, writable: bool = True
    ) -> None:
        self._folder = folder
        self._level = level
        self._permissions = permissions
        self._added: dict[str, tuple[Path, bytes]] = {}
        self._removed = 0  # bytes on disk, since the last `compact`
        if writable:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as problem:
                raise WorkspaceError(f"cannot make {folder}: {problem.strerror}") from problem
            for left_over in folder.glob("*/*/.new-*"):
                left_over.unlink(missing_ok=True)

    def add(self, body: bytes, content_type: str) -> tuple[str, bool]:
        sha256 = hashlib.sha256(body).hexdigest()
        if sha256 in self._added or self._find(sha256):
            return sha256, False
        suffix = "html" if content_type in _HTML else "bin"
        path = self._folder / sha256[:2] / sha256[2:4] / f"{sha256}.{suffix}.zst"
        frame = ZstdCompressor(level=self._level).compress(body, mode=ZstdCompressor.FLUSH_FRAME)
        self._added[sha256] = (path, frame)
        return sha256, True

    def flush(self) -> None:
        folders = set()
        try:
            for path, frame in self._added.values():
                folders.update(self._make_folder(path.parent))
                self._write(path, frame)
                folders.add(path.parent)
            for folder in folders:
                sync_folder(folder)
        except OSError as problem:
            raise StorageFull(
                f"cannot write below {self._folder}: {problem.strerror}; "
                "free some space and run the command again"
            ) from problem
        finally:
            self._added.clear()

    def read(self, sha256: str) -> bytes | None:
        path = self._find(sha256)
        if path is None:
            return None
        try:
            body = decompress(path.read_bytes())
        except ZstdError as problem:
            raise StorageDamaged(f"{path} is damaged: {problem}") from problem
        if hashlib.sha256(body).hexdigest() != sha256:
            raise StorageDamaged(f"{path}: the bytes do not match their hash")
        return body

    def locate(self, sha256: str) -> str:
        added = self._added.get(sha256)
        path = added[0] if added else self._find(sha256)
        return str(path.relative_to(self._folder)) if path else ""

    def totals(self) -> tuple[int, int]:
        sizes = [path.stat().st_size for path in self._folder.glob("??/??/*.zst")]
        return len(sizes), sum(sizes)

    def stored(self) -> Iterator[tuple[str, int]]:
        for folder in sorted(self._folder.glob("??/??")):
            sizes: dict[str, int] = {}  # a hash may have two files, of two kinds of content
            for path in folder.glob("*.zst"):
                sha256 = path.name.partition(".")[0]
                if _NAME.fullmatch(path.name) and sha256.startswith(
                    folder.parent.name + folder.name
                ):
                    sizes[sha256] = sizes.get(sha256, 0) + path.stat().st_size
            yield from sorted(sizes.items())

    def remove(self, hashes: Iterable[str]) -> None:
        for sha256 in hashes:
            while path := self._find(sha256):
                size = path.stat().st_size
                try:
                    path.unlink()
                except OSError as problem:
                    raise StorageFull(f"cannot delete {path}: {problem.strerror}") from problem
                self._removed += size

    def foresee(self, doomed: Iterable[str]) -> Compacted:
        paths = (path for sha256 in doomed for path in self._paths(sha256) if path.exists())
        return Compacted(freed=sum(path.stat().st_size for path in paths))

    def compact(self, on_progress: OnCompacted = lambda done, total: None) -> Compacted:
        """`remove` has deleted the files; their folders are of use to later ones."""
        freed, self._removed = self._removed, 0
        return Compacted(freed=freed)

    def close(self) -> None:
        self._added.clear()

    def _find(self, sha256: str) -> Path | None:
        return next((path for path in self._paths(sha256) if path.exists()), None)

    def _paths(self, sha256: str) -> list[Path]:
        """Where these bytes may be, by their kind of content."""
        folder = self._folder / sha256[:2] / sha256[2:4]
        return [folder / f"{sha256}.{suffix}.zst" for suffix in ("html", "bin")]

    def _make_folder(self, folder: Path) -> list[Path]:
        """The folders to sync because they got a new entry."""
        if folder.exists():
            return []
        folder.mkdir(parents=True)
        return [folder.parent, folder.parent.parent]

    def _write(self, path: Path, frame: bytes) -> None:
        fd, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(frame)
                file.flush()
                os.fchmod(file.fileno(), self._permissions)
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
