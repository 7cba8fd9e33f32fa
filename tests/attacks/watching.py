"""Run the real command and measure it: its ending, its output, its CPU and memory."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.interfaces.cli.running import EXECUTABLE

CPU_SECONDS = 30.0  # that the process itself may compute; the bar is 20 on an idle core
WALL_SECONDS = 300.0  # for a machine that has other things to do
_BETWEEN_LOOKS = 0.02  # seconds
_TICKS = os.sysconf("SC_CLK_TCK")
_MEGABYTE = 1024  # in kilobytes, which is what the kernel counts in

Word = str | bytes | Path


class Ended(NamedTuple):
    words: tuple[Word, ...]
    code: int  # negative: the signal it died of
    out: bytes
    err: bytes
    cpu: float  # seconds, of the process itself
    peak_mb: int  # of the process itself
    hung: str  # why it was ended; empty when it ended by itself

    @property
    def said(self) -> str:
        return self.err.decode("utf-8", "replace")


def run(
    words: Sequence[Word], folder: Path, environment: Mapping[str, str], stdin: bytes = b""
) -> Ended:
    """Run `crawl4r` with these words to its end, or to the end of its time."""
    given = folder / "stdin"
    given.write_bytes(stdin)
    command = [os.fsencode(EXECUTABLE), *map(_as_bytes, words)]
    with (
        given.open("rb") as source,
        (folder / "out").open("w+b") as out,
        (folder / "err").open("w+b") as err,
    ):
        process = subprocess.Popen(
            command,
            stdin=source,
            stdout=out,
            stderr=err,
            env=dict(environment),
            start_new_session=True,
        )
        used = _Used(process.pid)
        hung = _wait(process.pid, used)
        if hung:
            os.killpg(process.pid, signal.SIGKILL)
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        used.look()  # the times of a zombie are final
        code = process.wait()
        out.seek(0)
        err.seek(0)
        return Ended(tuple(words), code, out.read(), err.read(), used.cpu, used.peak_mb, hung)


class _Used:
    """CPU time and the peak of memory of a process, as far as seen."""

    def __init__(self, pid: int) -> None:
        self._folder = Path("/proc", str(pid))
        self.cpu = 0.0
        self.peak_mb = 0

    def look(self) -> None:
        try:
            times = (self._folder / "stat").read_text("ascii", "replace").rpartition(")")[2].split()
            status = (self._folder / "status").read_text("utf-8", "replace")
        except OSError:
            return
        self.cpu = (int(times[11]) + int(times[12])) / _TICKS
        for line in status.splitlines():
            if line.startswith("VmHWM:"):  # a zombie has none
                self.peak_mb = int(line.split()[1]) // _MEGABYTE


def _wait(pid: int, used: _Used) -> str:
    """Until it has ended, which is left to be reaped; or the limit that it ran into."""
    deadline = time.monotonic() + WALL_SECONDS
    while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        used.look()
        if used.cpu > CPU_SECONDS:
            return f"it computed for more than {CPU_SECONDS:g} s"
        if time.monotonic() > deadline:
            return f"it had not ended after {WALL_SECONDS:g} s"
        time.sleep(_BETWEEN_LOOKS)
    return ""


def _as_bytes(word: Word) -> bytes:
    """An argument cannot hold a NUL, which ends it; nor is one of more than 128 KB taken."""
    spelled = (
        word if isinstance(word, bytes) else os.fsencode(str(word).encode("utf-8", "surrogatepass"))
    )
    return spelled.replace(b"\0", b"")[:100_000]
