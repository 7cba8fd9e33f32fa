"""A proxy before PostgreSQL that loses connections at chosen moments."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_BYTES = 65536


class LosingProxy:
    """Passes bytes on between each client and the server, until it is told to lose a connection.

    With `when` "before" the connection is lost before the server gets the statement; with "sent" right
    after; with "after" when the server has answered it.
    """

    def __init__(self, dsn: str) -> None:
        known = conninfo_to_dict(dsn)
        self._server = f"{known['host']}/.s.PGSQL.{known.get('port', 5432)}"
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        changes: dict[str, Any] = {"host": "127.0.0.1", "port": port}
        self.dsn = make_conninfo(dsn, **changes, sslmode="disable", gssencmode="disable")
        self.losses = 0
        self._statement = b""
        self._when = ""
        self._on_statement: Callable[[], None] | None = None
        threading.Thread(target=self._serve, daemon=True).start()

    def lose_at(
        self, statement: str, when: str, on_statement: Callable[[], None] | None = None
    ) -> None:
        """Lose the next connection that sends this. `on_statement` is called before it is passed on."""
        self._when, self._on_statement = when, on_statement
        self._statement = statement.encode() + b"\0"

    def close(self) -> None:
        """Accept no more clients; may be called again."""
        if self._listener.fileno() < 0:
            return
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listener.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        server.connect(self._server)
        is_lost = threading.Event()
        back = threading.Thread(target=self._answer, args=(client, server, is_lost), daemon=True)
        back.start()
        with suppress(OSError), client, server:
            while data := client.recv(_BYTES):
                if not self._statement or self._statement not in data:
                    server.sendall(data)
                    continue
                self._statement = b""
                self.losses += 1
                if self._on_statement:
                    self._on_statement()
                if self._when == "before":
                    break
                if self._when == "after":
                    is_lost.set()  # the answer is read, and goes nowhere
                server.sendall(data)
                if self._when == "after":
                    back.join()
                break
            client.shutdown(socket.SHUT_RDWR)
            server.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def _answer(client: socket.socket, server: socket.socket, is_lost: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(_BYTES):
                if is_lost.is_set():
                    return
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)
