"""kill -9 at any operation of a recovery: the old situation or a finished one, and it can run again.

A few operations by default; all of them with `CRAWL4R_EVERY_FAULT=1`.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from crawl4r.storage.condition import why_not_whole
from tests.faults.killing import start_dying, was_killed
from tests.interfaces.cli.running import crawl, environment, run
from tests.site.process import REPOSITORY, SiteProcess
from tests.workspace.recover.looking import STATE, recover, said_by

SOME = 14
SIZE = 8  # pages


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("whole") / "ws"
    with SiteProcess() as site:
        assert crawl(site.url(f"/site/{SIZE}/"), workspace, "--name", "mine").code == 0
    return workspace


@pytest.fixture(scope="module")
def damaged(whole: Path) -> Path:
    """Cut where the documents begin: there is something to salvage."""
    workspace = Path(shutil.copytree(whole, whole.with_name("damaged")))
    state = workspace / STATE
    state.write_bytes(state.read_bytes()[: state.stat().st_size // 4096 * 3 // 4 * 4096])
    (workspace / "state.db-wal").write_bytes(b"no log of SQLite" * 8)
    return workspace


def operations_of(workspace: Path, trace: Path) -> list[str]:
    """Every operation of a recovery but single statements, as a wish to die before it."""
    env = environment({"CRAWL4R_DIE_TRACE": str(trace)})
    command = [sys.executable, "-m", "tests.faults.dying", "recover", "-w", str(workspace)]
    subprocess.run(command, cwd=REPOSITORY, env=env, check=True, capture_output=True)
    counts: Counter[str] = Counter()
    wishes = []
    for operation in trace.read_text("utf-8").splitlines():
        counts[operation] += 1
        at = f"{operation}#{counts[operation]}"
        if operation.startswith("statement"):
            continue
        wishes.append(f"before {at}")
        if operation.startswith(("commit", "write", "pwrite")):
            wishes.append(f"during {at}")
    wishes += [f"before statement state.db.recovering#{n}" for n in (1, 20, 40)]
    return [*wishes, "before statement state.db#5", "before statement state.db#40"]


def test_a_killed_recovery_loses_nothing(whole: Path, damaged: Path, tmp_path: Path) -> None:
    traced = Path(shutil.copytree(damaged, tmp_path / "traced"))
    wishes = operations_of(traced, tmp_path / "trace")
    assert len(wishes) > 40
    if not os.environ.get("CRAWL4R_EVERY_FAULT"):
        swap = [wish for wish in wishes if " rename " in wish]
        rest = [wish for wish in wishes if wish not in swap]
        wishes = [*swap, *random.Random("kill a recovery").sample(rest, SOME - len(swap))]
    expected, old = said_by(whole), (damaged / STATE).read_bytes()
    for number, wish in enumerate(wishes):
        workspace = Path(shutil.copytree(damaged, tmp_path / f"ws-{number}"))
        assert was_killed(start_dying("recover", "-w", workspace, at=wish)), f"{wish} did not come"
        is_finished = _is_finished(workspace)
        kept = [workspace / STATE, *workspace.glob("state.db.damaged-*Z")]
        assert [path.read_bytes() == old for path in kept if path.exists()].count(True) == 1, wish
        if is_finished:  # 2: all that was left was to close it
            assert run("recover", "-w", workspace).code in {0, 2}, wish
        else:
            told = recover(workspace)
            assert told["salvaged"].get("crawls") == 1, wish
        assert said_by(workspace) == expected, wish
        left = {path.name for path in workspace.glob("state.db.*")}
        assert {name for name in left if "damaged" not in name} == set(), wish
        shutil.rmtree(workspace)


def _is_finished(workspace: Path) -> bool:
    return why_not_whole(workspace / STATE) is None
