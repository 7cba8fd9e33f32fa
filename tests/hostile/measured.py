"""The real command under attack: how it ended, and what it cost. `waiter.py` starts and watches it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.interfaces.cli.running import EXECUTABLE, PATIENCE, Answer, environment

_WAITER = Path(__file__).with_name("waiter.py")
MOST_CPU = 20.0  # seconds, of the command and all it starts
MOST_MEMORY = 400 << 20  # bytes


@dataclass(frozen=True, slots=True)
class Ordeal:
    """A command that has ended; `memory` is the peak of its own process, without its readers."""

    answer: Answer
    cpu: float  # seconds
    memory: int  # bytes

    def within_limits(self) -> Self:
        assert self.cpu < MOST_CPU, f"{self.cpu:.1f} s of CPU: {self.answer.err[-2000:]}"
        assert self.memory < MOST_MEMORY, f"{self.memory >> 20} MB: {self.answer.err[-2000:]}"
        return self


class Suffering:
    """A command that runs beside the test, to be waited for with `end`."""

    def __init__(self, *arguments: str | Path, env: dict[str, str] | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._report = Path(self._folder.name, "report")
        self._out, self._err = Path(self._folder.name, "out"), Path(self._folder.name, "err")
        command = [sys.executable, "-I", _WAITER, self._report, EXECUTABLE, *arguments]
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._waiting = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment(env),
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._waiting.poll() is None:
            os.killpg(self._waiting.pid, 9)
            self._waiting.wait()
        self._folder.cleanup()

    @property
    def out(self) -> str:
        return self._out.read_text("utf-8", "replace")

    @property
    def err(self) -> str:
        return self._err.read_text("utf-8", "replace")

    def send(self, signal: int) -> None:
        """To the command; who waits for it takes no notice."""
        os.killpg(self._waiting.pid, signal)

    def end(self) -> Ordeal:
        self._waiting.wait(PATIENCE * 4)
        told: dict[str, Any] = json.loads(self._report.read_bytes())
        answer = Answer(told["code"], self._out.read_bytes(), self.err).without_traceback()
        return Ordeal(answer, told["cpu"], told["memory"])


def suffer(*arguments: str | Path, env: dict[str, str] | None = None) -> Ordeal:
    """Run a command to its end. A traceback fails the test, whatever the exit code."""
    with Suffering(*arguments, env=env) as command:
        return command.end()
