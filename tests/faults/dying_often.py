"""python -m tests.faults.dying_often: runs a command that dies, for each line of its standard input.

A line is JSON: the arguments of `crawl4r`, and the settings of `dying`. Each command runs in a fork,
which has all modules loaded: a kill then costs milliseconds. The answer is the exit status.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from tests.faults import dying
from tests.interfaces.cli.running import environment
from tests.site.process import REPOSITORY


class DyingOften:
    """The process that forks, from the side of a test."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.dying_often"],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )

    def run(self, *arguments: str | Path, at: str = "", trace: Path | None = None) -> int:
        """The exit status, negative for a signal."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        told = {"CRAWL4R_DIE": at, "CRAWL4R_DIE_TRACE": str(trace or "")}
        line = json.dumps({"arguments": [str(each) for each in arguments], "told": told})
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


def main() -> None:
    for module in ("interfaces.cli.commands.gc", "workspace.workspace", "archive.garbage"):
        import_module(f"crawl4r.{module}")

    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if not pid:
            _run(order)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(code, flush=True)


def _run(order: dict[str, dict[str, str]]) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1):
        os.dup2(nowhere, fd)
    os.environ.update(order["told"])
    sys.argv = ["crawl4r", *order["arguments"]]
    code = 1
    try:
        dying.main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
