"""Create crawl4r's own files, without following a symbolic link in their place."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

PRIVATE = 0o600  # for files that may hold a password
_READABLE = 0o666  # restricted by the umask


def open_own(path: Path, flags: int, mode: int = _READABLE) -> int:
    """`os.open` for one of our files. Raises OSError for a symbolic link."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode)


def open_new(path: Path, mode: int = _READABLE) -> int:
    """Create an empty file for writing; removes an existing file or link of this name."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    return open_own(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)


@contextlib.contextmanager
def replacing(path: Path, mode: int = _READABLE) -> Iterator[IO[bytes]]:
    """Write a temporary file and rename it to `path` when complete.

    A symbolic link at `path` is replaced; its target stays unchanged.
    """
    part = path.with_name(f".{path.name[:60]}.part")
    try:
        with os.fdopen(open_new(part, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def replace_or_overwrite(path: Path, text: bytes) -> None:
    """Replace the text of a file atomically; on a full disk overwrite the old bytes instead.

    Does not sync, so use it only for status files. Raises OSError when both ways fail.
    """
    new = path.with_name(f"{path.name}.new")
    try:
        with os.fdopen(open_new(new), "wb") as file:
            file.write(text)
        os.rename(new, path)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        _overwrite(path, text)


def _overwrite(path: Path, text: bytes) -> None:
    """Overwrite the existing file, because a full disk has no room for a new one."""
    fd = open_own(path, os.O_WRONLY)
    try:
        os.pwrite(fd, text.ljust(os.fstat(fd).st_size), 0)
    finally:
        os.close(fd)


def links_in(folder: Path, levels: int) -> Iterator[Path]:
    """Find symbolic links in a folder down to `levels`; the folder itself may be one.

    Follows no link.
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield Path(entry.path)
            elif levels > 1 and entry.is_dir(follow_symlinks=False):
                yield from links_in(Path(entry.path), levels - 1)
