"""Kill commands at operations, not at times: see `dying` for the notation."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

from tests.interfaces.cli.running import PATIENCE, environment
from tests.site.process import REPOSITORY

KILLS_A_WORKSPACE = 5
KILLED = {-signal.SIGKILL, -signal.SIGXFSZ}  # the second in the middle of a commit


def plan(chance: random.Random, points: Mapping[str, int], share: float = 1) -> list[str]:
    """Every point once; with `CRAWL4R_KILLS` again and again, until there is a share of so many kills.

    `points` has moment, operation and path, and up to which time the operation is sure to come in a
    workspace that is new.
    """
    wanted = int(os.environ.get("CRAWL4R_KILLS", "0")) * share
    kills: list[str] = []
    while not kills or len(kills) < wanted:
        order = chance.sample(sorted(points), len(points))
        kills += [f"{point}#{chance.randint(1, points[point])}" for point in order]
    return kills


def start_dying(
    *arguments: str | Path,
    at: str,
    by: signal.Signals = signal.SIGKILL,
    env: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faults.dying", *map(str, arguments)],
        cwd=REPOSITORY,
        env=environment({**(env or {}), "CRAWL4R_DIE": at, "CRAWL4R_DIE_BY": by.name}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def was_killed(process: subprocess.Popen[bytes]) -> bool:
    """At its end. One that was not killed must have ended well."""
    _, said = process.communicate(timeout=4 * PATIENCE)
    assert process.returncode in {0, *KILLED}, f"{process.returncode}: {said.decode()}"
    return process.returncode != 0


def killed_workspaces(
    folder: Path, kills: Sequence[str], start: Callable[[Path, str], subprocess.Popen[bytes]]
) -> Iterator[tuple[Path, int]]:
    """Workspaces, and how often `start` was killed in each, until every kill has hit.

    A command that comes to its end is done in this workspace; the kill is tried again in a new one, in
    which it must hit.
    """
    waiting = deque(kills)
    for number in count():
        workspace, hits = folder / f"ws-{number}", 0
        while waiting and hits < KILLS_A_WORKSPACE:
            if not was_killed(start(workspace, waiting[0])):
                assert hits, f"{waiting[0]} does not come"
                break
            waiting.popleft()
            hits += 1
        yield workspace, hits
        if not waiting:
            return
