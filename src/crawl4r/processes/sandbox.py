"""Run a pure function on hostile input in a process that owns nothing and can be killed.

A parser that loops, crashes or fills memory on one page only kills a worker: the sandbox blames the
page, starts a new worker and sends the following pages again. A worker is locked down before its first
job (`lockdown`). It answers in JSON, which is decoded into a type that the caller names: a subverted
worker can lie about a page, but it cannot run code here or return values of another type.
"""

from __future__ import annotations

import asyncio
import signal
from collections import deque
from typing import Any, TypeVar, cast

from msgspec import DecodeError, Struct, json

from crawl4r.clock import REAL_CLOCK, Clock
from crawl4r.processes.framing import FRAME, ProcessLimits
from crawl4r.processes.spawn import Process, spawn
from crawl4r.safe_text import decode_json

_PIPELINE = 3  # jobs that a worker holds, so that it is never idle
_START_SECONDS = 30.0  # that a worker may take to load its modules
_RECEIVE_CAP = 64 * 1024 * 1024  # bytes of one answer
_WALL_PATIENCE = 4  # times the CPU limit: the wall time of a job on a busy machine
_CHANCES = 3  # tries of a job whose workers were killed from outside, e.g. by the kernel
# Signals after a write outside of a buffer, which an earlier job may have caused.
_CORRUPTED = frozenset([signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL])
# Signals that a process causes itself. Any other may come from the kernel without memory.
_OWN_DOING = frozenset(
    {
        signal.SIGSEGV,
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGILL,
        signal.SIGFPE,
        signal.SIGSYS,
        signal.SIGPROF,
    }
)

Answer = TypeVar("Answer")


class SandboxKilled(Exception):
    """The job killed its worker; `reason` tells how."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Job(Struct):
    head: bytes
    body: bytes
    kind: Any  # the type of the answer
    answer: asyncio.Future[Any]
    deaths: int = 0  # of workers that held the job


class Sandbox:
    """A few workers that run `module:function`, each with `config` (JSON).

    `function(config)` is called once in the worker and returns the callable `(head, body) -> result`
    that then runs for each job. A worker starts when there is work for it.
    """

    def __init__(
        self,
        function: str,
        config: Any,
        *,
        workers: int = 1,
        seconds: float = 5.0,
        memory_bytes: int = 1024**3,
        clock: Clock = REAL_CLOCK,
    ) -> None:
        """`seconds`: the CPU time limit of one job."""
        self.clock = clock
        self._function = function
        self._limits = json.encode(ProcessLimits(memory_bytes, seconds))
        self._config = json.encode(config), self._limits
        self._seconds = seconds
        self._size = workers
        self._workers: list[_Worker] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._backlog: deque[_Job] = deque()
        self._is_closed = False
        self._starts_failed = 0  # since a worker was last ready
        self.killed = 0

    async def __aenter__(self) -> Sandbox:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._is_closed = True
        for worker in self._workers:
            worker.close()
            self._backlog.extend(worker.jobs)
        for job in self._backlog:
            job.answer.cancel()

    async def run(self, head: Any, body: bytes, kind: type[Answer]) -> Answer:
        """Run a job; returns the result as a `kind`. Raises SandboxKilled when the job failed."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        job = _Job(json.encode(head), body, kind, answer)
        self._place(job)
        return await answer

    @property
    def workers(self) -> int:
        """The number of running workers."""
        return len(self._workers)

    def reconfigure(self, config: Any) -> None:
        """Run later jobs with another config; workers finish what they hold and are replaced."""
        self._config = json.encode(config), self._limits
        for worker in list(self._workers):
            self._workers.remove(worker)
            worker.retire()
        self._grow()

    def _place(self, job: _Job) -> None:
        """Give a job to a free worker; else to a new one if possible, or the first with room."""
        worker = min(self._workers, key=lambda w: len(w.jobs), default=None)
        if worker is None or len(worker.jobs) >= self._most_jobs():
            self._backlog.append(job)
            self._grow()
        else:
            worker.send(job)

    def _has_room(self, worker: _Worker) -> None:
        while self._backlog and len(worker.jobs) < self._most_jobs():
            worker.send(self._backlog.popleft())

    def _lost(self, worker: _Worker, reason: str) -> None:
        """A worker died: blame its current job, start another worker, send the other jobs again."""
        if worker in self._workers:
            self._workers.remove(worker)
        self._starts_failed += not worker.is_ready
        if self._is_closed or (worker.is_retired and not worker.jobs):
            return
        self.killed += 1
        jobs = list(worker.jobs)
        if jobs:
            jobs[0].deaths += 1
            if _is_to_blame(jobs[0], worker):
                blamed = jobs.pop(0)
                if not blamed.answer.done():
                    blamed.answer.set_exception(SandboxKilled(reason))
        self._backlog.extendleft(reversed(jobs))
        for waiting in self._workers:
            self._has_room(waiting)
        self._grow()

    def _grow(self) -> None:
        """Start a worker if jobs wait and the limit allows it."""
        if self._backlog and self._may_grow() and not self._is_closed:
            task = asyncio.get_running_loop().create_task(self._start())
            self._starting.add(task)
            task.add_done_callback(self._started)

    def _started(self, task: asyncio.Task[None]) -> None:
        self._starting.discard(task)
        self._grow()  # the worker was not usable, or one is not enough

    def _most_jobs(self) -> int:
        """Jobs per worker: 1 while more workers may start, so that no job waits behind a stuck one."""
        return 1 if self._starting or self._may_grow() else _PIPELINE

    def _may_grow(self) -> bool:
        return len(self._workers) + len(self._starting) < self._size

    async def _start(self) -> None:
        if self._starts_failed:
            await asyncio.sleep(0.05 * 2 ** min(self._starts_failed, 7))
        if self._is_closed:
            return
        config = self._config
        try:
            worker = await _Worker.start(self, self._function, config, self._seconds)
        except OSError:  # no memory or process available now: the jobs wait
            self._starts_failed += 1
            return
        if self._is_closed or config is not self._config:  # closed or reconfigured in the meantime
            worker.retire()
            return
        self._workers.append(worker)
        self._has_room(worker)


class _Worker(asyncio.Protocol):
    def __init__(self, owner: Sandbox, process: Process, seconds: float) -> None:
        self._owner = owner
        self._process = process
        self._seconds = seconds
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._reason = ""
        self.is_ready = False  # the first page is not blamed for the loading time
        self.is_to_blame = False  # its job killed it or ran out of time
        self.is_retired = False
        self.may_be_corrupt = False  # it crashed, perhaps because of an earlier job
        self.jobs: deque[_Job] = deque()
        self._has_answered = False

    @classmethod
    async def start(
        cls, owner: Sandbox, function: str, config: tuple[bytes, bytes], seconds: float
    ) -> _Worker:
        process, channel = spawn(function)
        worker = cls(owner, process, seconds)
        await asyncio.get_running_loop().connect_accepted_socket(lambda: worker, channel)
        # Not as an argument: a scope of ten thousand hosts exceeds the limit of a command line.
        worker._write(*config)
        worker._restart_clock()
        return worker

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def send(self, job: _Job) -> None:
        self.jobs.append(job)
        self._write(job.head, job.body)
        if len(self.jobs) == 1:
            self._restart_clock()

    def _write(self, head: bytes, body: bytes) -> None:
        assert self._transport is not None
        self._transport.write(b"".join((FRAME.pack(len(head), len(body)), head, body)))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= FRAME.size:
            length, failed = FRAME.unpack_from(self._buffer)
            end = FRAME.size + length
            if length > _RECEIVE_CAP:
                return self._kill("the reading process sent more than an answer")
            if len(self._buffer) < end:
                return None
            answer = bytes(self._buffer[FRAME.size : end])
            del self._buffer[:end]
            self._answered(answer, bool(failed))
        return None

    def _answered(self, answer: bytes, failed: bool) -> None:
        if not self.is_ready:
            self.is_ready = True
            self._owner._starts_failed = 0
            return self._restart_clock()
        if not self.jobs:
            return self._kill("the reading process answered unasked")
        job = self.jobs[0]
        try:
            result = decode_json(answer, str if failed else job.kind)
        except (DecodeError, UnicodeDecodeError, RecursionError):
            return self._kill("the reading process did not answer what it was asked")
        self.jobs.popleft()
        self._has_answered = True
        if not job.answer.done():
            if failed:
                job.answer.set_exception(SandboxKilled(result))
            else:
                job.answer.set_result(result)
        if self.is_retired and not self.jobs:
            self.close()
        elif not self.is_retired:
            self._owner._has_room(self)
        self._restart_clock()
        return None

    def _restart_clock(self) -> None:
        """Watch the wall time of the current job; the jobs behind it have not started.

        The CPU limit ends a job that computes for too long. This limit is for a stuck worker, and long
        enough for a busy machine.
        """
        if self._deadline:
            self._deadline.cancel()
        self._deadline = None
        if self.jobs or not self.is_ready:
            limit = self._seconds * _WALL_PATIENCE if self.is_ready else _START_SECONDS
            self._deadline = asyncio.get_running_loop().call_later(
                self._owner.clock.of_machine(limit), self._out_of_time, limit
            )

    def _out_of_time(self, limit: float) -> None:
        self._kill(f"reading took longer than {limit:g} s")

    def _kill(self, reason: str) -> None:
        self._reason = reason
        self.is_to_blame = True
        self._process.kill()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._deadline:
            self._deadline.cancel()
        self._process.kill()
        code = self._process.wait()
        if not self.is_to_blame:
            self.is_to_blame = -code in _OWN_DOING
            self.may_be_corrupt = -code in _CORRUPTED and self._has_answered
            self._reason = _cause_of_death(code, self._seconds)
        self._owner._lost(self, self._reason)

    def retire(self) -> None:
        """Accept no more jobs, and end after the current ones."""
        self.is_retired = True
        if not self.jobs:
            self.close()

    def close(self) -> None:
        if self._deadline:
            self._deadline.cancel()
        if self._transport:
            self._transport.abort()
        self._process.kill()
        self._process.wait()


def _is_to_blame(job: _Job, worker: _Worker) -> bool:
    """Whether the current job killed its worker. After other jobs only a second crash counts."""
    if worker.may_be_corrupt and job.deaths == 1:
        return False
    return worker.is_to_blame or job.deaths > _CHANCES


def _cause_of_death(code: int, seconds: float) -> str:
    """A description of `Popen.returncode`."""
    if code == -signal.SIGPROF:
        return f"reading took longer than {seconds:g} s"
    if code < 0:
        return f"the reading process died of {signal.Signals(-code).name}"
    return f"the reading process ended with code {code}"
