"""Watch all of libcurl's sockets with one object, which the event loop watches.

libcurl changes the events of a socket three times per request. Readers and writers of the event loop
would cost several times as much, and `selectors` four times as much.
"""

from __future__ import annotations

import contextlib
import select
import selectors
import sys
from typing import Protocol

READ, WRITE = 1, 2  # libcurl's numbers, equal to those of `selectors`


class Readiness(Protocol):
    """A set of sockets by number. The object itself becomes readable when a socket is ready."""

    def watch(self, fd: int, what: int) -> None:
        """Wait for `what` (READ, WRITE or both) on a socket. Replaces earlier events."""

    def forget(self, fd: int) -> None:
        """Forget a socket. It may be closed already or unknown."""

    def ready(self) -> list[tuple[int, int]]:
        """The ready sockets with their events; an error counts as READ and WRITE."""

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
            except FileNotFoundError:  # closed; its number belongs to another socket now
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
    """The same for systems without epoll."""

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
