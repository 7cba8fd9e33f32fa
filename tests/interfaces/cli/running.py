"""The real executable, run as a person or a script runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

EXECUTABLE = Path(sys.executable).with_name("crawl4r")
LOOPBACK = ("--rate", "0", "--allow-private", "127.0.0.1")
PATIENCE = 30.0  # seconds until a wait is given up; nothing here takes a tenth of it


@dataclass(frozen=True, slots=True)
class Answer:
    """How a command ended and what it said."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.text.splitlines()]

    def without_traceback(self) -> Self:
        assert "Traceback" not in self.err + self.out.decode(errors="replace"), self.err
        return self


def run(*arguments: str | Path, stdin: str = "", env: dict[str, str] | None = None) -> Answer:
    """Run a command to its end. A traceback fails the test, whatever the exit code."""
    ended = subprocess.run(
        _command(arguments),
        input=stdin.encode(),
        capture_output=True,
        env=environment(env),
        timeout=PATIENCE * 4,
        check=False,
    )
    return Answer(ended.returncode, ended.stdout, ended.stderr.decode()).without_traceback()


def crawl(url: str, workspace: Path, *options: str) -> Answer:
    """`crawl4r crawl` on loopback at full speed, with its summary as JSON."""
    return run("crawl", url, "--workspace", workspace, *LOOPBACK, *options, "--json")


class Background:
    """A command that runs beside the test; it ends with the `with` block at the latest."""

    def __init__(
        self,
        *arguments: str | Path,
        env: dict[str, str] | None = None,
        in_own_group: bool = False,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._out = Path(self._folder.name, "out")
        self._err = Path(self._folder.name, "err")
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                _command(arguments),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment(env),
                start_new_session=in_own_group,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._folder.cleanup()

    @property
    def err(self) -> str:
        return self._err.read_text("utf-8")

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def wait_until_it_says(self, words: str) -> None:
        wait_until(lambda: words in self.err or self.process.poll() is not None)
        assert words in self.err, f"{self.process.poll()}: {self.err}"

    def come_round(self) -> None:
        """Return when a crawl has gone through its event loop, and begun every visit that it may."""
        told = self.err.count("status_dumped")
        self.send(signal.SIGUSR1)
        wait_until(
            lambda: self.err.count("status_dumped") > told or self.process.poll() is not None
        )

    def end(self) -> Answer:
        code = self.process.wait(PATIENCE)
        return Answer(code, self._out.read_bytes(), self.err).without_traceback()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "what the test waits for does not come"
        time.sleep(0.005)


def environment(more: dict[str, str] | None = None) -> dict[str, str]:
    """Ours without settings of the person who runs the tests; without an index, which takes longer than
    all that most tests look at, without requests for unlinked pages, and without patience for a
    store that cannot be written."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CRAWL4R_")}
    off = {
        "CRAWL4R_INDEX__ENABLED": "false",
        "CRAWL4R_EXPLORE__ENABLED": "false",
        "CRAWL4R_RESILIENCE__STORE_PATIENCE": "0",
        "CRAWL4R_POLITENESS__CHALLENGE_REST": "0",
    }
    return clean | off | (more or {})


def _command(arguments: tuple[str | Path, ...]) -> list[str]:
    return [str(EXECUTABLE), *map(str, arguments)]
