"""Which of libcurl's sockets are ready? One object for all of them, which the event loop watches.

libcurl changes its mind about a socket three times a request. Readers and writers of the loop's own
would cost several times as much, and `selectors` four times.
"""

from __future__ import annotations

import contextlib
import select
import selectors
import sys
from typing import Protocol

READ, WRITE = 1, 2  # libcurl's numbers, which are those of `selectors` too


class Readiness(Protocol):
    """Sockets by their numbers. The object itself is ready to be read when one of them is ready."""

    def watch(self, fd: int, what: int) -> None:
        """Wait for one of `what` (READ, WRITE or both), whatever was waited for before."""

    def forget(self, fd: int) -> None:
        """Also one that is closed already, or was never watched."""

    def ready(self) -> list[tuple[int, int]]:
        """The sockets that are ready now, and for what; an error is both."""

    def fileno(self) -> int: ...

    def close(self) -> None: ...


def make_readiness() -> Readiness:
    return EpollReadiness() if sys.platform == "linux" else SelectorReadiness()


class EpollReadiness:
    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._watched: set[int] = set()

    def watch(self, fd: int, what: int) -> None:
        events = (select.EPOLLIN if what & READ else 0) | (select.EPOLLOUT if what & WRITE else 0)
        if fd in self._watched:
            try:
                self._epoll.modify(fd, events)
                return
            except FileNotFoundError:  # closed since, and another socket has its number now
                pass
        self._watched.add(fd)
        self._epoll.register(fd, events)

    def forget(self, fd: int) -> None:
        if fd in self._watched:
            self._watched.discard(fd)
            with contextlib.suppress(OSError):
                self._epoll.unregister(fd)

    def ready(self) -> list[tuple[int, int]]:
        return [
            (
                fd,
                (READ if event & ~select.EPOLLOUT else 0)
                | (WRITE if event & ~select.EPOLLIN else 0),
            )
            for fd, event in self._epoll.poll(0)
        ]

    def fileno(self) -> int:
        return self._epoll.fileno()

    def close(self) -> None:
        self._epoll.close()


class SelectorReadiness:
    """The same where there is no epoll."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def watch(self, fd: int, what: int) -> None:
        if fd in self._selector.get_map():
            self._selector.modify(fd, what)
        else:
            self._selector.register(fd, what)

    def forget(self, fd: int) -> None:
        with contextlib.suppress(KeyError):
            self._selector.unregister(fd)

    def ready(self) -> list[tuple[int, int]]:
        return [(key.fd, ready) for key, ready in self._selector.select(0)]

    def fileno(self) -> int:
        return self._selector.fileno()

    def close(self) -> None:
        self._selector.close()
