"""One budget a host between processes: turns, gaps, and places that the dead give back."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crawl4r.politeness.host_budget import Health, HostRules
from crawl4r.politeness.host_budgets import HostBudgets
from crawl4r.politeness.shared_host_lock import HeldPlace, HostLock

WORKER = """
import json, sys, time
from pathlib import Path
from crawl4r.politeness.shared_host_lock import HeldPlace, HostLock
folder, delay, places, turns = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
lock = HostLock(folder)
while turns:
    turn = lock.acquire("e.org", places, delay)
    if not isinstance(turn, HeldPlace):
        time.sleep(turn)
        continue
    began = time.time()
    time.sleep(0.002)
    print(json.dumps([began, time.time()]), flush=True)
    lock.release(turn, delay)
    turns -= 1
"""

HOLDER = """
import sys, time
from pathlib import Path
from crawl4r.politeness.shared_host_lock import HostLock
turn = HostLock(Path(sys.argv[1])).acquire("e.org", 1, 0.0)
print("in", flush=True)
time.sleep(60)
"""


def start(folder: Path, delay: float, places: int, turns: int) -> subprocess.Popen[str]:
    arguments = [str(folder), str(delay), str(places), str(turns)]
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, *arguments], stdout=subprocess.PIPE, text=True
    )


def turns_of(process: subprocess.Popen[str]) -> list[tuple[float, float]]:
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return [tuple(json.loads(line)) for line in out.splitlines()]


@pytest.mark.parametrize("delay", [0.0, 0.02])
def test_two_processes_are_never_at_a_host_at_once_and_keep_the_gap(
    tmp_path: Path, delay: float
) -> None:
    both = [start(tmp_path, delay, 1, 40) for _ in range(2)]
    turns = sorted(turn for process in both for turn in turns_of(process))
    assert len(turns) == 80
    for (began, ended), (next_began, _) in itertools.pairwise(turns):
        assert next_began >= ended
        assert next_began - began >= delay


def test_several_places_are_for_all_processes_together(tmp_path: Path) -> None:
    all_turns = [turns_of(process) for process in [start(tmp_path, 0.0, 2, 30) for _ in range(3)]]
    moments = sorted(
        moment
        for turns in all_turns
        for began, ended in turns
        for moment in ((began, 1), (ended, -1))
    )
    at_once = most = 0
    for _, change in moments:
        at_once += change
        most = max(most, at_once)
    assert most <= 2


def test_nobody_starves_where_there_is_no_delay(tmp_path: Path) -> None:
    """While both want turns, each gets a fair part of them."""
    both = [turns_of(process) for process in [start(tmp_path, 0.0, 1, 300) for _ in range(2)]]
    begin, end = max(turns[0][0] for turns in both), min(turns[-1][1] for turns in both)
    parts = [sum(begin <= began <= end for began, _ in turns) for turns in both]
    assert min(parts) * 4 > max(parts)


def test_the_place_of_a_killed_process_is_free(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    lock = HostLock(tmp_path)
    assert isinstance(lock.acquire("e.org", 1, 0.0), float)
    assert isinstance(lock.acquire("other.org", 1, 0.0), HeldPlace)
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert isinstance(lock.acquire("e.org", 1, 0.0), HeldPlace)


def test_a_wait_that_one_process_was_asked_for_holds_for_all(tmp_path: Path) -> None:
    now = 1000.0
    first = HostLock(tmp_path, wall=lambda: now)
    second = HostLock(tmp_path, wall=lambda: now)
    turn = first.acquire("e.org", 1, 1.0)
    assert isinstance(turn, HeldPlace)
    first.release(turn, 120.0)  # Retry-After
    now = 1119.0
    assert isinstance(second.acquire("e.org", 1, 1.0), float)
    now = 1120.5
    assert isinstance(second.acquire("e.org", 1, 1.0), HeldPlace)


def test_a_turn_that_was_not_used_costs_nobody_anything(tmp_path: Path) -> None:
    now = 1000.0
    lock = HostLock(tmp_path, wall=lambda: now)
    turn = lock.acquire("e.org", 1, 1.0)
    assert isinstance(turn, HeldPlace)
    lock.release(turn, None)
    assert isinstance(lock.acquire("e.org", 1, 1.0), HeldPlace)


def test_a_file_of_nonsense_is_a_host_that_nobody_asked(tmp_path: Path) -> None:
    lock = HostLock(tmp_path)
    turn = lock.acquire("e.org", 1, 0.0)
    assert isinstance(turn, HeldPlace)
    lock.release(turn, 0.0)
    for path in tmp_path.iterdir():
        path.write_bytes(b"\x01\x02")
    assert isinstance(lock.acquire("e.org", 1, 0.0), HeldPlace)


def test_budgets_of_two_processes_share_pace_and_patience(tmp_path: Path) -> None:
    """As two crawls use them; both clocks show the same here."""
    now = 1000.0
    locks = [HostLock(tmp_path, wall=lambda: now) for _ in range(2)]
    ours, theirs = (HostBudgets(HostRules(delay=2.0), lock)["e.org"] for lock in locks)
    turn = ours.begin(now)
    assert turn is not None
    assert theirs.begin(now) is None
    assert theirs.ready_at(now) > now
    turn.end(now, Health.OVERLOADED, sent_at=now, latency=0.1, retry_after=30.0)
    now = 1010.0
    assert theirs.begin(now) is None
    now = 1031.0
    assert theirs.ready_at(now) <= now
    turn = theirs.begin(now)
    assert turn is not None
    turn.withdraw(now)
    assert ours.begin(now)


def test_places_are_shared_and_come_back(tmp_path: Path) -> None:
    ours, theirs = HostLock(tmp_path), HostLock(tmp_path)
    turns = [
        ours.acquire("e.org", 3, 0.0),
        theirs.acquire("e.org", 3, 0.0),
        ours.acquire("e.org", 3, 0.0),
    ]
    assert [turn.place for turn in turns if isinstance(turn, HeldPlace)] == [0, 1, 2]
    assert isinstance(ours.acquire("e.org", 3, 0.0), float)
    assert isinstance(theirs.acquire("e.org", 3, 0.0), float)
    assert isinstance(turns[0], HeldPlace)
    ours.release(turns[0], 0.0)
    again = theirs.acquire("e.org", 3, 0.0)
    assert isinstance(again, HeldPlace)
    assert again.place == 0
    assert isinstance(ours.acquire("e.org", 3, 0.0), float)


def test_no_file_is_opened_without_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = HostLock(tmp_path)
    turns = [lock.acquire("e.org", 64, 0.0) for _ in range(63)]
    assert all(isinstance(turn, HeldPlace) for turn in turns)
    opened: list[str] = []
    really_open = os.open

    def count(path: str, *more: int) -> int:
        opened.append(path)
        return really_open(path, *more)

    monkeypatch.setattr(os, "open", count)
    last = lock.acquire("e.org", 64, 0.0)
    assert isinstance(last, HeldPlace)
    assert len(opened) == 2  # the host's state, and the last place
    lock.release(last, 0.0)
    assert len(opened) == 2  # the next request may leave at once, so the file stays unchanged
    assert isinstance(turns[0], HeldPlace)
    lock.release(turns[0], 1.0)
    assert len(opened) == 3
