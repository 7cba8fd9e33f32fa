"""Runs `crawl4r` in the folder of the golden archive, with the surroundings of every run equal."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from tests.golden.harbour_site import HarbourSite
from tests.interfaces.cli.running import EXECUTABLE, PATIENCE, Answer, environment

_SETTINGS = {
    "CRAWL4R_INDEX__ENABLED": "true",
    "CRAWL4R_EXPLORE__ENABLED": "true",
    "CRAWL4R_EMBEDDER__KIND": "none",
    "CRAWL4R_POLITENESS__RATE": "0",
    "CRAWL4R_POLITENESS__CONCURRENCY": "1",  # pages are visited one after the other
    "CRAWL4R_FETCH__RETRIES": "0",
    "CRAWL4R_LOGS__METRICS_SECONDS": "3600",  # metrics are written once, at the end of a crawl
}
_TERMINAL = {"COLUMNS": "100", "TERM": "dumb", "TZ": "UTC", "LC_ALL": "C.UTF-8"}


class Runner:
    """`run("status -w harbour")` as a person would type it in `folder`."""

    def __init__(self, folder: Path, site: HarbourSite) -> None:
        self.folder = folder
        path = {"PATH": f"{EXECUTABLE.parent}{os.pathsep}{os.environ['PATH']}"}
        self._environment = environment(_SETTINGS | site.environment) | _TERMINAL | path

    def run(self, words: str, stdin: str = "", **more: str) -> Answer:
        """`more` is added to the environment. A traceback fails the test, whatever the exit code."""
        ended = subprocess.run(
            [EXECUTABLE, *shlex.split(words)],
            input=stdin.encode(),
            capture_output=True,
            cwd=self.folder,
            env=self._environment | more,
            timeout=PATIENCE * 4,
            check=False,
        )
        return Answer(ended.returncode, ended.stdout, ended.stderr.decode()).without_traceback()
