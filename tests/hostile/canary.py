"""A listener that must never be connected to, and knows whether it was."""

import socket
import threading
from types import TracebackType
from typing import Self

ADDRESS = "127.0.0.9"
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret"


class Canary:
    """Answers politely, so that a crawler that gets here also shows it in its archive."""

    def __init__(self, address: str = ADDRESS, port: int = 0) -> None:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = socket.create_server((address, port), family=family)
        self._address = f"[{address}]" if ":" in address else address
        self._thread = threading.Thread(target=self._listen)
        self.port: int = self._listener.getsockname()[1]
        self.visits = 0

    def url(self, path: str, host: str = "") -> str:
        """`host` is another spelling of this address."""
        return f"http://{host or self._address}:{self.port}{path}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._thread.join()
        self._listener.close()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.visits += 1
            with connection:
                connection.settimeout(1)
                try:
                    connection.recv(65536)
                    connection.sendall(_ANSWER)
                except OSError:
                    continue
