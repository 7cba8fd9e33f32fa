"""Requests for crawls: how a second command hands its crawl to the process that crawls in the store.

    crawl4r crawl ──> orders/ID.order, locked as long as its process lives ──> the process that has the
         ^                                                                     store starts the crawl
         └──── orders/ID.answer: how it ended <───────────────────────────────────────┘

The crawl is a row of the store in any case: when the process that has the store ends before it answers,
one of those that wait takes the store, and goes on with what is durable.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from crawl4r.errors import WorkspaceError
from crawl4r.storage.lock import WorkspaceLock, holder_of
from crawl4r.storage.own_files import PRIVATE, open_own, replacing
from crawl4r.workspace.run_outcome import RunOutcome

_FOLDER, _ENGINE = "orders", "engine"
_ORDER, _STOP, _BEGUN, _ANSWER = ".order", ".stop", ".begun", ".answer"
_LARGEST = 4 * 1024**2  # bytes
_LOOK = os.O_RDONLY | os.O_NONBLOCK  # a pipe in the place of a file must not hold us


class CrawlRequest(Struct, frozen=True):
    """A crawl that one process asks another to run."""

    settings: dict[str, Any]
    seeds: list[str]
    name: str | None
    refresh: bool = False
    retry_failed: bool = False
    notes: dict[str, str] = field(default_factory=dict)  # of the crawl, by key


class CrawlAnswer(Struct, frozen=True):
    """How the crawl of a request ended, or why it never began."""

    outcome: RunOutcome | None = None
    error: str = ""


class PlacedRequest:
    """A request as the process that placed it sees it. `close` takes it back."""

    def __init__(self, workspace: Path, request: CrawlRequest) -> None:
        folder = workspace / _FOLDER
        self._base = folder / f"{os.getpid()}-{secrets.token_hex(8)}"
        path = self._path(_ORDER)
        part = path.with_name(f".{path.name}.part")
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            self._fd = open_own(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE)
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX)
                os.write(self._fd, msgspec.json.encode(request))
                os.rename(part, path)  # it is complete, and locked, when others see it
            except BaseException:
                os.close(self._fd)
                part.unlink(missing_ok=True)
                raise
        except OSError as problem:
            raise WorkspaceError(f"cannot write {path}: {problem.strerror}") from problem

    def answer(self) -> CrawlAnswer | None:
        """The end of the crawl; None as long as it goes on."""
        with contextlib.suppress(FileNotFoundError):
            return msgspec.json.decode(_read(self._path(_ANSWER)), type=CrawlAnswer)
        return None

    def begun(self) -> int | None:
        """The number of the crawl; None before it began."""
        with contextlib.suppress(FileNotFoundError, ValueError):
            return int(_read(self._path(_BEGUN)))
        return None

    def stop(self) -> None:
        """Ask for the end of the crawl, with its pages in flight kept."""
        with contextlib.suppress(OSError):
            os.close(open_own(self._path(_STOP), os.O_WRONLY | os.O_CREAT, PRIVATE))

    def close(self) -> None:
        for end in (_STOP, _ORDER, _BEGUN, _ANSWER):
            self._path(end).unlink(missing_ok=True)
        os.close(self._fd)

    def _path(self, end: str) -> Path:
        return self._base.with_name(f"{self._base.name}{end}")


class TakenRequest:
    """A request as the process that runs its crawl sees it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.key = path.stem

    def read(self) -> CrawlRequest:
        """Raises ValueError or OSError for a request that cannot be read."""
        return msgspec.json.decode(_read(self._path), type=CrawlRequest)

    @property
    def is_wanted(self) -> bool:
        """Whether the process that placed it lives."""
        try:
            fd = open_own(self._path, _LOOK)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            os.close(fd)
        return False

    @property
    def is_stopped(self) -> bool:
        return self._path.with_suffix(_STOP).exists()

    def begin(self, crawl: int) -> None:
        """Tell the number of the crawl."""
        self._tell(_BEGUN, str(crawl).encode())

    def give(self, answer: CrawlAnswer) -> None:
        """Tell how the crawl ended."""
        self._tell(_ANSWER, msgspec.json.encode(answer))

    def _tell(self, end: str, text: bytes) -> None:
        """On a full disk its process waits on, until this one ends."""
        path = self._path.with_suffix(end)
        with contextlib.suppress(OSError), replacing(path, PRIVATE) as file:
            file.write(text)

    def forget(self) -> None:
        """Delete what a dead process left."""
        for end in (_ORDER, _STOP, _BEGUN, _ANSWER):
            with contextlib.suppress(OSError):
                self._path.with_suffix(end).unlink(missing_ok=True)


class RequestDesk:
    """Where the process that has the store takes requests, until `close`."""

    def __init__(self, workspace: Path) -> None:
        self._folder = workspace / _FOLDER
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as problem:
            raise WorkspaceError(f"cannot make {self._folder}: {problem.strerror}") from problem
        self._lock = WorkspaceLock(self._folder, _ENGINE)

    def requests(self) -> Iterator[TakenRequest]:
        """Those of living processes that have no answer yet, in the order of their names."""
        for path in sorted(self._folder.glob(f"*{_ORDER}")):
            request = TakenRequest(path)
            if not request.is_wanted:
                request.forget()
            elif not path.with_suffix(_ANSWER).exists():
                yield request

    def close(self) -> None:
        self._lock.close()


def desk_of(workspace: Path) -> int | None:
    """The process that takes requests for this store; None when there is none."""
    return holder_of(workspace / _FOLDER, _ENGINE)


def has_requests(workspace: Path) -> bool:
    """Whether requests are there, of living processes or of dead ones."""
    return any((workspace / _FOLDER).glob(f"*{_ORDER}"))


def _read(path: Path) -> bytes:
    fd = open_own(path, _LOOK)
    with os.fdopen(fd, "rb") as file:
        return file.read(_LARGEST)
