"""Processes of the sandbox that share what a program has loaded.

Each test is a program of its own, because the test process has threads and would not fork.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from tests.interfaces.cli.running import wait_until

PREAMBLE = """
import asyncio, json, os, signal, threading
from pathlib import Path
from crawl4r.processes.sandbox import Sandbox, SandboxKilled
from crawl4r.processes.spawn import fork_ahead, spawn
"""


def program(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def told_by(code: str) -> Any:
    """What a program prints as JSON, and nothing else."""
    done = program(code)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_a_forked_process_is_a_worker_like_any_other() -> None:
    told = told_by("""
        async def main():
            async with Sandbox("sandbox_jobs:make", None, workers=2) as sandbox:
                who = await asyncio.gather(sandbox.run("who", b"", int), sandbox.run("who", b"", int))
                words = [Path(f"/proc/{pid}/cmdline").read_text() for pid in who]
                names = [Path(f"/proc/{pid}/comm").read_text() for pid in who]
                files = [len(os.listdir(f"/proc/{pid}/fd")) for pid in who]
                sessions = [os.getsid(pid) == pid for pid in who]
                await sandbox.run("print", b"", None)
                return [len(set(who)), words, names, files, sessions]

        fork_ahead("sandbox_jobs:make", 2)
        print(json.dumps([Path("/proc/self/cmdline").read_text(), *asyncio.run(main())]))
    """)
    ours, count, words, names, files, sessions = told
    assert count == 2
    assert words == [ours, ours]  # no program was started
    assert names == ["crawl4r-sandbox\n"] * 2
    assert files == [3, 3]  # of ours, or of each other's, nothing is open there
    assert sessions == [True, True]  # Ctrl-C is not for them


def test_one_that_dies_is_replaced_by_one_that_is_started() -> None:
    told = told_by("""
        async def main():
            async with Sandbox("sandbox_jobs:make", None) as sandbox:
                reasons = []
                for job in ("exit", "abort", "crash"):
                    try:
                        await sandbox.run(job, b"", int)
                    except SandboxKilled as killed:
                        reasons.append(killed.reason)
                return [reasons, await sandbox.run("length", b"12", int)]

        fork_ahead("sandbox_jobs:make", 1)
        told = asyncio.run(main())
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            print(json.dumps([*told, "all were waited for"]))
    """)
    assert told == [
        [
            "the reading process ended with code 3",
            "the reading process died of SIGABRT",
            "the reading process died of SIGSEGV",
        ],
        2,
        "all were waited for",
    ]


def test_beside_other_threads_nothing_is_forked() -> None:
    told = told_by("""
        async def main():
            async with Sandbox("sandbox_jobs:make", None) as sandbox:
                return Path(f"/proc/{await sandbox.run('who', b'', int)}/cmdline").read_text()

        ended = threading.Event()
        threading.Thread(target=ended.wait).start()
        fork_ahead("sandbox_jobs:make", 1)
        print(json.dumps(asyncio.run(main())))
        ended.set()
    """)
    assert "crawl4r.processes.worker" in told


def test_a_forked_process_ends_with_its_program() -> None:
    for ending in ("os.kill(os.getpid(), signal.SIGKILL)", "os._exit(0)", "pass"):
        done = program(f"""
            fork_ahead("sandbox_jobs:make", 1)
            print(spawn("sandbox_jobs:make").process._pid, flush=True)
            {ending}
        """)
        forked = Path(f"/proc/{int(done.stdout)}")
        wait_until(lambda forked=forked: not forked.exists())


def test_what_is_not_printed_yet_is_printed_once() -> None:
    done = program("""
        print("once")
        fork_ahead("sandbox_jobs:make", 1)
        spawn("sandbox_jobs:make").process.kill()
    """)
    assert done.stdout == "once\n"
