"""Which of libcurl's sockets are ready? One selector for all of them, which the event loop watches:
libcurl changes its mind about a socket three times a request, and readers of the loop cost more."""

from __future__ import annotations

import contextlib
import selectors

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE  # libcurl's numbers too


class CurlSockets(selectors.DefaultSelector):
    """Sockets by their numbers; ready to be read itself when one of them is ready."""

    def watch(self, fd: int, what: int) -> None:
        """Wait for one of `what`, whatever was waited for before; for nothing when it is neither."""
        # Also when nothing changes: libcurl may have closed a socket whose number this one has now.
        with contextlib.suppress(KeyError):
            self.unregister(fd)
        if what & (READ | WRITE):
            self.register(fd, what)

    def ready(self) -> list[tuple[int, int]]:
        """The sockets that are ready now, and for what; an error is both."""
        return [(key.fd, ready) for key, ready in self.select(0)]
