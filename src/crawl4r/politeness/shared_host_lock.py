"""One budget per host for several processes: lock files in a folder that they share.

A request locks a file of its host while it runs, so the kernel frees the place of a process that
dies. A file beside it holds the time of the host's next request.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from crawl4r.errors import StorageFull, WorkspaceError

_STATE = struct.Struct("<dqqd")
_LOOK_AGAIN = 0.05  # seconds between tries while all places are taken
_SOONEST = 0.005  # seconds
_STAND_BACK = 0.005  # seconds that the last process stands back for one that waits
_WAITS_FOR = 0.25  # seconds after which a waiting process counts as gone


class HeldPlace(Struct, frozen=True):
    """A place at a host, held until `release`."""

    host: str
    place: int
    fd: int
    next_at: float  # the time that this turn wrote
    before: float  # the time in the file before


class _TurnState(Struct):
    """Epoch seconds and process ids; zeros before the first process came."""

    next_at: float
    last: int  # the process that had the last turn
    waiting: int  # the process that was refused since
    waited_at: float


class HostLock:
    """Lets processes that share `folder` take turns at a host."""

    def __init__(self, folder: Path, wall: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._wall = wall
        self._me = os.getpid()
        self._ours: dict[str, set[int]] = {}  # places that this process holds, by host
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise WorkspaceError(f"cannot make {folder}: {problem.strerror}") from problem

    def acquire(self, host: str, places: int, delay: float) -> HeldPlace | float:
        """Begin a turn, or return the seconds after which to try again."""
        with self._locked(host) as (fd, state):
            now = self._wall()
            if state.next_at > now:
                self._wait_for(state, now)
                _write(fd, state)
                return min(state.next_at - now, delay + _LOOK_AGAIN)  # it may withdraw
            if state.last == self._me and self._somebody_waits(state, now):
                return _STAND_BACK
            taken = self._take_place(host, places)
            if taken is None:
                self._wait_for(state, now)
                _write(fd, state)
                return max(_SOONEST, min(_LOOK_AGAIN, delay / 10))
            turn = HeldPlace(host, *taken, now + delay, state.next_at)
            try:
                _write(fd, _TurnState(turn.next_at, self._me, 0, 0.0))
            except StorageFull:
                self._free(turn)
                raise
            return turn

    def release(self, turn: HeldPlace, wait: float | None) -> None:
        """Free the place; the host rests for `wait` seconds. None: no request was sent."""
        try:
            if wait is None or wait > 0:  # with 0 the next request may leave at once
                self._rest_for(turn, wait)
        finally:  # also when the disk is full: no process may wait for an unused place
            self._free(turn)

    def rest(self, host: str) -> float:
        """Seconds until any process may send to a host; negative when it may now."""
        with self._locked(host) as (_, state):
            return state.next_at - self._wall()

    def _rest_for(self, turn: HeldPlace, wait: float | None) -> None:
        with self._locked(turn.host) as (fd, state):
            if wait is not None:
                state.next_at = max(state.next_at, self._wall() + wait)
            elif state.next_at == turn.next_at:
                state.next_at = turn.before
            _write(fd, state)

    def _wait_for(self, state: _TurnState, now: float) -> None:
        if state.last != self._me:
            state.waiting, state.waited_at = self._me, now

    def _somebody_waits(self, state: _TurnState, now: float) -> bool:
        return state.waiting not in {0, self._me} and now - state.waited_at < _WAITS_FOR

    def _take_place(self, host: str, places: int) -> tuple[int, int] | None:
        """The first place that is free, and the file that holds it."""
        ours = self._ours.get(host, ())
        for number in range(places):
            if number in ours:
                continue
            fd = self._open(f"{_name(host)}.{number}")
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(fd)
            else:
                self._ours.setdefault(host, set()).add(number)
                return number, fd
        return None

    def _free(self, turn: HeldPlace) -> None:
        os.close(turn.fd)
        ours = self._ours[turn.host]
        ours.remove(turn.place)
        if not ours:  # drop empty entries: the number of hosts is unbounded
            del self._ours[turn.host]

    @contextmanager
    def _locked(self, host: str) -> Iterator[tuple[int, _TurnState]]:
        """The state of a host, locked against other processes for some microseconds."""
        fd = self._open(_name(host))
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            data = os.pread(fd, _STATE.size, 0)
            is_whole = len(data) == _STATE.size
            yield fd, _TurnState(*_STATE.unpack(data)) if is_whole else _TurnState(0, 0, 0, 0)
        finally:
            os.close(fd)

    def _open(self, name: str) -> int:
        file = f"{self._folder}/{name}"  # making a Path takes longer than opening the file
        try:
            return os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except OSError as problem:
            raise StorageFull(f"cannot write {file}: {problem.strerror}") from problem


def _write(fd: int, state: _TurnState) -> None:
    try:
        os.pwrite(fd, _STATE.pack(state.next_at, state.last, state.waiting, state.waited_at), 0)
    except OSError as problem:
        raise StorageFull(f"cannot write a turn at a host: {problem.strerror}") from problem


@lru_cache(maxsize=1024)
def _name(host: str) -> str:
    return sha256(host.encode("utf-8", "replace")).hexdigest()[:24]
