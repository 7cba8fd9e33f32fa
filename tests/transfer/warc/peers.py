"""Replay tools in environments of their own, made once and kept in a cache folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest

from tests.debian import install, program

CACHE = Path(os.environ.get("CRAWL4R_TEST_CACHE", Path.home() / ".cache" / "crawl4r-tests"))
PATIENCE = 60.0  # seconds


def environment(requirement: str) -> Path:
    """The `bin` folder of an environment with this package; the test is skipped without one."""
    name = requirement.removesuffix(".*").replace("==", "-")
    folder = CACHE / f"{name}-py{sys.version_info.major}.{sys.version_info.minor}"
    ready = folder / "ready"
    folder.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:  # tests of another run may be at it
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            venv.create(folder, with_pip=True, clear=True)
            pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
            made = subprocess.run(
                [*pip, "--disable-pip-version-check", requirement],
                capture_output=True, text=True, check=False, timeout=900,
            )  # fmt: skip
            if made.returncode:
                shutil.rmtree(folder, ignore_errors=True)
                last = (made.stderr.strip().splitlines() or ["no word"])[-1]
                pytest.skip(f"{requirement} cannot be installed here: {last}")
            ready.touch()
    return folder / "bin"


class Pywb:
    """A running pywb with one collection."""

    def __init__(self, port: int, collection: str) -> None:
        self._port = port
        self._collection = collection

    def url(self, url: str, moment: str = "", kind: str = "") -> str:
        return f"http://127.0.0.1:{self._port}{self._path(url, moment, kind)}"

    def get(self, url: str, moment: str = "", kind: str = "") -> tuple[HTTPResponse, bytes]:
        """One answer, redirects not followed; `kind` id_ is what was stored, without rewriting."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request("GET", self._path(url, moment, kind))
            answer = connection.getresponse()
            return answer, answer.read()

    def _path(self, url: str, moment: str, kind: str) -> str:
        return (
            f"/{self._collection}/{moment}{kind}/{url}"
            if moment or kind
            else f"/{self._collection}/{url}"
        )


@contextlib.contextmanager
def serving(folder: Path, collection: str) -> Iterator[Pywb]:
    """pywb on a port of its own, with the collections that are in the folder."""
    wayback = environment("pywb==2.10.*") / "wayback"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "config.yaml").write_text("framed_replay: false\n")
    with (folder / "pywb.log").open("wb") as log:
        process = subprocess.Popen(
            [wayback, "-p", str(port), "-b", "127.0.0.1", "-d", folder],
            cwd=folder, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            _wait_for(port, process, folder / "pywb.log")
            yield Pywb(port, collection)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError(f"pywb does not answer: {log.read_text()}")


def dom_of(url: str, profile: Path) -> str:
    """The page as a browser has it after its scripts ran; it reaches nothing but this machine."""
    if not program("chromium"):
        install("chromium")
    chromium = program("chromium") or pytest.skip("there is no chromium to look at pages with")
    command = [
        chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--virtual-time-budget=10000",
        "--dump-dom", url,
    ]  # fmt: skip
    shown = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=PATIENCE * 2
    )
    return shown.stdout
