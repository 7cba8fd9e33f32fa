"""Hostile input takes a process with it and nothing else (contract 7, T3)."""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from crawl4r.processes.sandbox import Sandbox, SandboxKilled
from crawl4r.processes.spawn import start_ahead
from tests.interfaces.cli.running import wait_until

GUARD = 30  # seconds after which a test that hangs is called a failure
TEST = Callable[[Sandbox], Awaitable[Any]]


@pytest.fixture(autouse=True)
def _jobs_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


def in_sandbox(
    use: TEST, config: Any = None, function: str = "sandbox_jobs:make", **limits: Any
) -> Any:
    async def main() -> Any:
        async with asyncio.timeout(GUARD), Sandbox(function, config, **limits) as sandbox:
            return await use(sandbox)

    return asyncio.run(main())


async def outcome(sandbox: Sandbox, job: str, body: bytes = b"") -> Any:
    """The job's result, or why it was stopped."""
    try:
        return await sandbox.run(job, body, Any)
    except SandboxKilled as killed:
        return killed.reason


def test_a_result_comes_back_as_json() -> None:
    async def use(sandbox: Sandbox) -> Any:
        return await sandbox.run("parts", "héllo".encode(), Any)

    assert in_sandbox(use) == {"text": "héllo", "list": [1, None, 2.5], "é": True}


def test_many_jobs_are_answered_each_with_its_own() -> None:
    async def use(sandbox: Sandbox) -> Any:
        bodies = [b"x" * size for size in range(60)]
        return await asyncio.gather(*(sandbox.run("length", body, Any) for body in bodies))

    assert in_sandbox(use, workers=2) == list(range(60))


def test_a_process_that_was_started_ahead_is_the_first_to_work() -> None:
    start_ahead("sandbox_jobs:make", 1)
    wait_until(
        lambda: bool(children_that_run("sandbox_jobs:make"))
    )  # its words come a moment later
    (ahead,) = children_that_run("sandbox_jobs:make")

    async def use(sandbox: Sandbox) -> Any:
        return await sandbox.run("who", b"", Any)

    assert in_sandbox(use) == ahead


def children_that_run(function: str) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if parent == os.getpid() and function.encode() in words:
                found.append(int(entry.name))
    return found


def test_large_bodies_and_large_answers_pass() -> None:
    async def use(sandbox: Sandbox) -> Any:
        return await sandbox.run("length", b"x" * 20_000_000, Any), await sandbox.run(
            "large", b"", Any
        )

    length, answer = in_sandbox(use)
    assert (length, len(answer)) == (20_000_000, 3_000_000)


def test_what_a_job_prints_goes_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    assert in_sandbox(lambda sandbox: sandbox.run("print", b"", Any)) is None
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        ("raise", "ValueError: no such page"),
        ("no json", "TypeError: "),
        ("exit", "the reading process ended with code 3"),
        ("abort", "the reading process died of SIGABRT"),
        ("crash", "the reading process died of SIGSEGV"),
        ("talk without end", "the reading process sent more than an answer"),
    ],
)
def test_a_job_that_fails_is_blamed_and_the_next_ones_run(job: str, reason: str) -> None:
    async def use(sandbox: Sandbox) -> Any:
        return await asyncio.gather(
            outcome(sandbox, job),
            outcome(sandbox, "length", b"12"),
            outcome(sandbox, "length", b"1"),
        )

    blamed, *others = in_sandbox(use)
    assert blamed.startswith(reason)
    assert others == [2, 1]


def test_a_job_that_dies_of_what_an_earlier_one_did_is_done_by_another_worker() -> None:
    async def use(sandbox: Sandbox) -> Any:
        jobs = ["break the next", "length", "length", "crash", "length"]
        return await asyncio.gather(*(outcome(sandbox, job, b"12") for job in jobs))

    blamed = "the reading process died of SIGSEGV"
    assert in_sandbox(use) == [2, 2, 2, blamed, 2]


def test_an_exception_costs_no_worker() -> None:
    async def use(sandbox: Sandbox) -> Any:
        first = await sandbox.run("pid", b"", Any)
        await outcome(sandbox, "raise")
        return first == await sandbox.run("pid", b"", Any), sandbox.killed

    assert in_sandbox(use) == (True, 0)


@pytest.mark.parametrize("job", ["talk nonsense", "talk in circles"])
def test_an_answer_that_is_no_json_is_blamed_and_nobody_waits_for_ever(job: str) -> None:
    async def use(sandbox: Sandbox) -> Any:
        async with asyncio.timeout(GUARD):
            return await outcome(sandbox, job), await sandbox.run("length", b"1", Any)

    reason, after = in_sandbox(use)
    assert isinstance(reason, str)
    assert after == 1


def test_a_job_past_its_time_is_killed_and_the_jobs_behind_it_answer() -> None:
    async def use(sandbox: Sandbox) -> Any:
        jobs = ["length", "loop", *["length"] * 6]
        return await asyncio.gather(*(outcome(sandbox, job, b"1") for job in jobs)), sandbox.killed

    outcomes, killed = in_sandbox(use, seconds=3.0)
    assert outcomes == [1, "reading took longer than 3 s", *[1] * 6]
    assert killed == 1


def test_another_worker_answers_while_one_is_stuck() -> None:
    async def use(sandbox: Sandbox) -> Any:
        stuck = asyncio.create_task(outcome(sandbox, "loop"))
        answers = [await sandbox.run("length", b"12", Any) for _ in range(5)]
        return stuck.done(), answers

    assert in_sandbox(use, workers=2, seconds=25.0) == (False, [2] * 5)


def test_the_time_a_worker_takes_to_start_is_not_the_pages_fault() -> None:
    """Python and the parser take a while to load on a busy machine; the page did nothing."""

    async def use(sandbox: Sandbox) -> Any:
        return await outcome(sandbox, "any", b"123")

    slow_start, limit = 1.5, 0.5
    assert in_sandbox(use, slow_start, "sandbox_jobs:make_slowly", seconds=limit) == 3


def test_a_job_that_eats_memory_is_stopped() -> None:
    async def use(sandbox: Sandbox) -> Any:
        return await outcome(sandbox, "eat memory"), await sandbox.run("length", b"1", Any)

    reason, after = in_sandbox(use, memory_bytes=256 * 1024**2)
    assert str(reason).startswith("MemoryError")
    assert after == 1


def test_a_worker_can_compute_and_answer_and_nothing_else() -> None:
    told = in_sandbox(lambda sandbox: sandbox.run("attempts", b"", dict[str, str]))
    assert len(told) > 15
    assert [name for name, outcome in told.items() if outcome.startswith("did it")] == []
    assert told["read a file"] == told["make a socket"] == told["fork"] == "PermissionError"


def test_an_answer_of_another_shape_is_blamed() -> None:
    async def use(sandbox: Sandbox) -> Any:
        with pytest.raises(SandboxKilled, match="did not answer what it was asked"):
            await sandbox.run("length", b"12", str)
        return await sandbox.run("length", b"12", int)

    assert in_sandbox(use) == 2


def test_later_jobs_run_with_the_new_config_and_earlier_ones_with_the_old() -> None:
    async def use(sandbox: Sandbox) -> Any:
        await sandbox.run("length", b"", Any)  # so that a worker is there
        before = [asyncio.create_task(sandbox.run("config", b"", Any)) for _ in range(2)]
        await asyncio.sleep(0)
        sandbox.reconfigure("new")
        after = [asyncio.create_task(sandbox.run("config", b"", Any)) for _ in range(4)]
        return await asyncio.gather(*before, *after), sandbox.killed

    assert in_sandbox(use, "old") == (["old"] * 2 + ["new"] * 4, 0)


def test_a_worker_that_was_starting_when_the_config_changed_runs_with_the_new_one() -> None:
    async def use(sandbox: Sandbox) -> Any:
        jobs = [asyncio.create_task(sandbox.run("config", b"", Any)) for _ in range(2)]
        for _ in range(3):
            await asyncio.sleep(0)
            sandbox.reconfigure("new")
        return await asyncio.gather(*jobs)

    assert in_sandbox(use, "old") == ["new"] * 2


def test_closing_ends_the_workers_and_whoever_waits_for_them() -> None:
    async def main() -> tuple[int, bool]:
        async with asyncio.timeout(GUARD), Sandbox("sandbox_jobs:make", None) as sandbox:
            worker = await sandbox.run("pid", b"", Any)
            waiting = asyncio.create_task(sandbox.run("loop", b"", Any))
            await asyncio.sleep(0)
        await asyncio.wait([waiting], timeout=GUARD)
        return worker, waiting.done()

    worker, is_done = asyncio.run(main())
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
    assert is_done
