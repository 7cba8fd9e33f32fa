"""Debian's packages that tests need, installed where they may be."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

_PATIENCE = 900  # seconds; a browser is large
_LOCK = Path(tempfile.gettempdir(), f"crawl4r-tests-apt.{os.getuid()}.lock")


def program(name: str) -> str | None:
    """Where it is; servers may be in a place that only root looks at."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def install(*packages: str) -> None:
    """As far as that goes: look afterwards whether they are there. One process at a time does it."""
    apt_get = shutil.which("apt-get")
    if os.geteuid() != 0 or not apt_get:
        return
    # Runlevel 1: a package must not start a server of its own.
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    steps: Sequence[Sequence[str]] = (
        ["update"],
        ["install", "--yes", "--no-install-recommends", *packages],
    )
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for step in steps:
            command = [apt_get, "-qq", "-o", "DPkg::Lock::Timeout=300", *step]
            subprocess.run(
                command, env=environment, capture_output=True, check=False, timeout=_PATIENCE
            )
