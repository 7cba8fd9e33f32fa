"""What a command costs: wall time, CPU of its whole process tree, peak memory; and who disturbed it."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import median
from typing import IO

FIRST_SAMPLE_SECONDS = 0.005  # doubled until SAMPLE_SECONDS, so that short runs are seen too
SAMPLE_SECONDS = 0.1
TICKS = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Usage:
    wall: float  # seconds
    cpu: float  # seconds, user + system, of every process of the command
    peak_rss: int  # bytes, summed over the processes alive at once; shared pages count in each
    exit_code: int  # negative: ended by that signal
    stdout: str
    stderr: str
    stolen: float  # share of the machine's time that its host gave to others meanwhile


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with the least and the greatest of the runs."""

    median: float
    least: float
    greatest: float

    @classmethod
    def of(cls, values: Iterable[float]) -> "Spread":
        ordered = sorted(values)
        return cls(median(ordered), ordered[0], ordered[-1])


@dataclass(slots=True)
class _Session:
    """Watches the processes of one session, found again even when their parent has died."""

    leader: int
    peak_rss: int = 0
    ticks: dict[int, int] = field(default_factory=dict)  # by process: CPU when last seen

    def processes(self) -> list[int]:
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(ProcessLookupError):
                    if os.getsid(int(name)) == self.leader:
                        found.append(int(name))
        return found

    def sample(self) -> None:
        resident = 0
        for process in self.processes():
            with contextlib.suppress(OSError, IndexError):
                # After the name in brackets: state is field 3, utime 14, stime 15, rss 24.
                stat = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
                self.ticks[process] = int(stat[11]) + int(stat[12])
                resident += int(stat[21]) * PAGE_BYTES
        self.peak_rss = max(self.peak_rss, resident, _high_water(self.leader))

    def watch(self, ended: threading.Event) -> None:
        pause = FIRST_SAMPLE_SECONDS
        while not ended.wait(pause):
            self.sample()
            pause = min(2 * pause, SAMPLE_SECONDS)

    def cpu(self) -> float:
        return sum(self.ticks.values()) / TICKS


def _high_water(process: int) -> int:
    """The kernel's own peak of one process.

    Not `ru_maxrss`: that starts from the memory of the process that called exec, so a small
    child of this large parent would look large.
    """
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    timeout: float = 3_600,
) -> Usage:
    """Run the command to its end and return its cost. What it leaves running is ended with it."""
    _compile_ours()
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stolen_before = _stolen_seconds()
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(environment) if environment is not None else None,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        session = _Session(process.pid)
        try:
            waited_cpu, exit_code = _wait(process, session, timeout)
        finally:
            wall = time.perf_counter() - started
            stolen = (_stolen_seconds() - stolen_before) / (wall * (os.cpu_count() or 1))
            _end_session(session)
        return Usage(
            wall=wall,
            # The kernel's sum knows only children that were waited for; the samples know the rest.
            cpu=max(waited_cpu, session.cpu()),
            peak_rss=session.peak_rss,
            exit_code=exit_code,
            stdout=_text(stdout),
            stderr=_text(stderr),
            stolen=stolen,
        )


def _stolen_seconds() -> float:
    """Of all processors since boot; 0 where the kernel does not tell."""
    with contextlib.suppress(OSError, IndexError):
        return int(Path("/proc/stat").read_text().split(maxsplit=9)[8]) / TICKS
    return 0.0


@cache
def _compile_ours() -> None:
    """As an installed package is, also where the environment wants no bytecode written."""
    source = Path(__file__).parent.parent / "src"
    subprocess.run([sys.executable, "-m", "compileall", "-q", source], check=True)


def _wait(process: subprocess.Popen[bytes], session: _Session, timeout: float) -> tuple[float, int]:
    ended = threading.Event()
    watcher = threading.Thread(target=session.watch, args=(ended,), daemon=True)
    alarm = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGKILL))
    watcher.start()
    alarm.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        alarm.cancel()
        ended.set()
        watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, process.returncode


def _end_session(session: _Session) -> None:
    session.sample()
    for process in session.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
