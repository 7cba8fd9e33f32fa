"""`embed serve` against clients that stall, come in crowds, or are browsers led astray."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.measured import Suffering
from tests.interfaces.cli.running import PATIENCE, wait_until
from tests.search.embed.embedding_servers import HashEmbedder, our_service

HEAD = "POST /embed HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
QUESTION = b'{"inputs": "one cat"}'


class Service:
    """The command, and a client that sends what it likes."""

    def __init__(self, port: int) -> None:
        self.port = port

    def connect(self, wire: bytes = b"") -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        connection.sendall(wire)
        return connection

    def ask(
        self,
        host: str = "127.0.0.1",
        *,
        path: str = "/embed",
        body: bytes = QUESTION,
        more: str = "",
    ) -> tuple[int, Any]:
        head = HEAD.replace("/embed", path).format(host=host) + more
        head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        with self.connect(head.encode() + body) as connection:
            status, text = answer_on(connection)
        return status, json.loads(text)


def answer_on(connection: socket.socket) -> tuple[int, bytes]:
    """What comes until the other side closes; status 0 when it just closes."""
    whole = b""
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            whole += piece
    head, _, body = whole.partition(b"\r\n\r\n")
    return int(head.split()[1]) if head else 0, body


@contextlib.contextmanager
def serving(folder: Path, *options: str) -> Iterator[Service]:
    """The command must end well and have stayed within the limits, whatever was done to it."""
    with our_service(HashEmbedder()) as behind:
        env = {"CRAWL4R_EMBEDDER__KIND": "tei", "CRAWL4R_EMBEDDER__URL": behind}
        words = ("embed", "serve", "--port", "0", "-w", folder, *options)
        with Suffering(*words, env=env) as command:
            wait_until(lambda: "\n" in command.out)
            yield Service(int(command.out.strip().rpartition(":")[2]))
            command.send(signal.SIGTERM)
            ended = command.end().within_limits()
        assert (ended.answer.code, ended.answer.err) == (0, "")


def test_bodies_that_stall_are_ended_and_others_are_answered(tmp_path: Path) -> None:
    stalled = HEAD.format(host="localhost") + "Content-Length: 1000\r\n\r\nten bytes."
    with serving(tmp_path, "--request-timeout", "1", "--max-connections", "200") as service:
        open_ones = [service.connect(stalled.encode()) for _ in range(300)]
        answers = [answer_on(connection) for connection in open_ones]
        for connection in open_ones:
            connection.close()
        told = {status: json.loads(body) for status, body in answers if status}
        assert set(told) == {408, 503}
        assert told[408] == {
            "error": "the request did not arrive within 1 s",
            "error_type": "Timeout",
        }
        assert told[503]["error"] == "more than 200 connections are open"
        assert [status for status, _ in answers].count(408) == 200
        assert service.ask()[0] == 200


@pytest.mark.parametrize("wire", ["", "POST /embed HTT", HEAD.format(host="localhost")])
def test_a_head_that_stalls_is_ended(tmp_path: Path, wire: str) -> None:
    whole = HEAD.format(host="localhost") + f"Content-Length: {len(QUESTION)}\r\n\r\n"
    with serving(tmp_path, "--request-timeout", "1") as service:
        first, second = service.connect(wire.encode()), service.connect()
        second.sendall(whole.encode() + QUESTION + b"POST /em")  # another one begins and stalls
        assert answer_on(first)[0] == 408
        status, rest = answer_on(second)
        assert status == 200
        assert b"408 Request Timeout" in rest or b"HTTP/1.1" not in rest
        first.close()
        second.close()
        assert service.ask()[0] == 200


def test_only_our_own_names_are_answered(tmp_path: Path) -> None:
    with serving(tmp_path, "--allow-host", "models.example") as service:
        for host in ("localhost", "LocalHost:99", "127.0.0.1", "[::1]:8080", "models.example:80"):
            assert service.ask(host)[0] == 200
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "a b"):
            status, answer = service.ask(host)
            assert (status, answer["error_type"]) == (403, "Forbidden")
        assert "`--allow-host localhost.evil.example` lets it in" in str(
            service.ask("localhost.evil.example")
        )
        status, answer = service.ask("evil.example", path="/v1/embeddings")
        assert (status, answer["error"]["type"]) == (403, "permission_error")


def test_pages_of_other_sites_are_refused(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        for origin in ("https://evil.example", "null", "http://[", "https://evil.example:8080"):
            assert service.ask(more=f"Origin: {origin}\r\n")[0] == 403
        assert service.ask(more="Origin: http://localhost:3000\r\n")[0] == 200


def test_large_questions_at_once_and_wrong_ones_fill_no_memory(tmp_path: Path) -> None:
    size = 6_000_000
    large = HEAD.format(host="localhost") + f"Content-Length: {size}\r\n\r\n" + " " * (size - 1)
    wrong = b'{"inputs": [' + b"1," * (size // 2 - 10) + b"1]}"
    with serving(tmp_path, "--request-timeout", "20") as service:
        assert service.ask(body=wrong)[0] == 422
        assert service.ask(body=b'{"inputs": "a", "x": ' + b"[" * size)[0] == 422
        open_ones = [service.connect() for _ in range(100)]
        for connection in open_ones:
            with contextlib.suppress(ConnectionError):
                connection.sendall(large.encode())
        for connection in open_ones:
            connection.close()
        assert service.ask()[0] == 200
