"""File operations that make data durable against a power cut."""

from __future__ import annotations

import os
from pathlib import Path


def write_all(fd: int, data: bytes | bytearray) -> None:
    """Write every byte, because a write call may write fewer."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, because syncing a file does not sync its name."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
