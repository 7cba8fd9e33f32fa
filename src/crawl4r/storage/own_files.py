"""Files that crawl4r makes itself: never through a symbolic link that somebody left in their place."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

PRIVATE = 0o600  # for what may hold a password
_READABLE = 0o666  # less what the umask takes away


def open_own(path: Path, flags: int, mode: int = _READABLE) -> int:
    """`os.open` for one of our files. A symbolic link there is refused with OSError."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode)


def open_new(path: Path, mode: int = _READABLE) -> int:
    """A new and empty file to write; what has this name already, a link too, is removed."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    return open_own(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)


@contextlib.contextmanager
def replacing(path: Path, mode: int = _READABLE) -> Iterator[IO[bytes]]:
    """Write beside `path` and move it there when it is complete: no half file under the right name.

    A symbolic link of that name is replaced, and what it points to left alone.
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
    """Make this the text of a file. Nobody reads half of it; on a full disk its old bytes are replaced.

    Nothing is synced: for what is told now and then, and never needed. OSError when neither works.
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
    """A full disk has no room for another file, but the file that is there can say something else."""
    fd = open_own(path, os.O_WRONLY)
    try:
        os.pwrite(fd, text.ljust(os.fstat(fd).st_size), 0)
    finally:
        os.close(fd)


def links_in(folder: Path, levels: int) -> Iterator[Path]:
    """Symbolic links in a folder and so many levels of it; the folder itself may be one.

    No link is followed.
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield Path(entry.path)
            elif levels > 1 and entry.is_dir(follow_symlinks=False):
                yield from links_in(Path(entry.path), levels - 1)
