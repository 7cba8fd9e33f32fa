"""A disk that fails at any one operation on a log stops the crawl cleanly, and no row is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies
from tests.interfaces.cli.running import Answer, crawl, environment, run
from tests.logs.tables import EDGES, METADATA, METRICS, PAGES, assert_metrics_agree
from tests.site.process import REPOSITORY, SiteProcess

SIZE = 12  # pages
OPTIONS = ("--per-host", "8", "--concurrency", "8", "--no-extract", "--logs")
PLACES = ("LineFile", "CaptureLog", "EdgeLog", "MetricsLog", "ReplacedFiles")


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


def faulty(workspace: Path, *command: str, **faults: str) -> Answer:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.faults.inject", *command, "--workspace", workspace, "--json"],
        cwd=REPOSITORY,
        env=environment(faults),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Answer(ended.returncode, ended.stdout, ended.stderr.decode()).without_traceback()


def faults_of(trace: Path) -> list[str]:
    """The first and the second time at each place where a log is opened, cut, written or synced.

    A folder that is there need not be made.
    """
    chosen = [fault for fault in trace.read_text().splitlines() if any(p in fault for p in PLACES)]
    chosen = [fault for fault in chosen if not fault.startswith("mkdir")]
    return [fault for fault in chosen if int(fault.rpartition("#")[2]) <= 2]


def test_every_operation_on_a_log_may_fail_and_no_row_is_lost(
    site: SiteProcess, tmp_path: Path
) -> None:
    url = site.url(f"/site/{SIZE}/")
    command = ["crawl", url, "--rate", "0", "--allow-private", "127.0.0.1", *OPTIONS]
    trace = tmp_path / "trace"
    assert faulty(tmp_path / "ws", *command, CRAWL4R_FAULT_TRACE=str(trace)).code == 0
    faults = faults_of(trace)
    assert {fault.partition(" ")[0] for fault in faults} >= {"open", "write", "fsync", "ftruncate"}
    bodies = expected_bodies(site, SIZE)
    missed = []
    for number, fault in enumerate(faults):
        workspace = tmp_path / f"fault-{number}"
        reached = tmp_path / f"trace-{number}"
        answer = faulty(workspace, *command, CRAWL4R_FAULT=fault, CRAWL4R_FAULT_TRACE=str(reached))
        if fault not in reached.read_text().splitlines():
            assert answer.code == 0, f"{fault}: {answer}"
            missed.append(fault)  # a busy machine writes more at a time
            continue
        assert answer.code in {2, 4}, f"{fault}: {answer}"
        assert str(workspace) in answer.err, fault
        for path in (PAGES, EDGES, METRICS, METADATA):
            file = workspace / path
            assert not file.exists() or file.read_bytes()[-1:] in {b"", b"\n"}, f"{fault}: {path}"
        assert crawl(url, workspace, *OPTIONS).code == 0, fault
        assert_every_page_is_stored_once(workspace, bodies)
        assert_metrics_agree(workspace)
        checked = run("replay", "-w", workspace, "--check", "--json")
        assert (checked.code, checked.json["absent"]) == (0, []), f"{fault}: {checked.text}"
    assert len(missed) < len(faults) / 4, missed


def test_a_replay_that_finds_no_room_leaves_the_files_that_were_there(
    site: SiteProcess, tmp_path: Path
) -> None:
    workspace, trace = tmp_path / "ws", tmp_path / "trace"
    assert crawl(site.url(f"/site/{SIZE}/"), workspace, *OPTIONS).code == 0
    files = {path: (workspace / path).read_bytes() for path in (PAGES, EDGES, METADATA)}
    command = ["replay", "--no-documents"]
    assert faulty(workspace, *command, CRAWL4R_FAULT_TRACE=str(trace)).code == 0
    faults = faults_of(trace)
    assert any(fault.startswith("replace in ReplacedFiles") for fault in faults)
    for fault in faults:
        answer = faulty(workspace, *command, CRAWL4R_FAULT=fault)
        assert answer.code == 4, f"{fault}: {answer}"
        assert {path: (workspace / path).read_bytes() for path in files} == files, fault
    assert crawl(site.url(f"/site/{SIZE}/"), workspace, *OPTIONS).code == 0
    assert {path: (workspace / path).read_bytes() for path in files} == files


def test_a_full_disk_is_not_taken_for_a_damaged_store(site: SiteProcess, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    assert crawl(site.url("/site/80/"), tmp_path / "ws", *OPTIONS).code == 0
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=True)
    try:
        answer = run("replay", "-w", tmp_path / "ws", "--out", disk / "out")
        assert (answer.code, answer.text) == (4, "")
        assert str(disk) in answer.err and "damaged" not in answer.err
        assert list((disk / "out").iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)
