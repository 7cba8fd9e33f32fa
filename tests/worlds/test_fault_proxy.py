"""The proxy does each fault, as seen by a plain socket."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.interfaces.cli.running import wait_until
from tests.worlds.changing import Changing
from tests.worlds.fault_proxy import Fault, FaultProxy
from tests.worlds.process import WorldProcess

PATIENCE = 10.0  # seconds
LITTLE_PATIENCE = 0.3  # seconds, for answers that never come
PATH = "/page/3"


@pytest.fixture(scope="module")
def site() -> Iterator[WorldProcess]:
    with WorldProcess(Changing(20)) as running:
        yield running


@pytest.fixture(scope="module")
def running(site: WorldProcess) -> Iterator[FaultProxy]:
    with FaultProxy(site.port) as proxy:
        yield proxy


@pytest.fixture
def proxy(running: FaultProxy) -> FaultProxy:
    running.behave()
    return running


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def ask(connection: socket.socket, *headers: str, path: str = PATH) -> None:
    lines = [f"GET {path} HTTP/1.1", "Host: raw", *headers, "", ""]
    connection.sendall("\r\n".join(lines).encode())


def read_to_end(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


def answer_at(port: int, *headers: str, path: str = PATH) -> bytes:
    with connect(port) as connection:
        ask(connection, "Connection: close", *headers, path=path)
        return read_to_end(connection)


def body_of(answer: bytes) -> bytes:
    return answer.partition(b"\r\n\r\n")[2]


def read_how(connection: socket.socket) -> tuple[bytes, str]:
    """All that comes, and how it stops: by an orderly end, a reset, or silence."""
    received = b""
    try:
        while data := connection.recv(65536):
            received += data
    except ConnectionResetError:
        return received, "reset"
    except TimeoutError:
        return received, "silence"
    return received, "end"


def length_of(answer: bytes) -> int:
    head = answer.partition(b"\r\n\r\n")[0].decode().lower()
    return int(head.partition("content-length: ")[2].split("\r\n")[0])


def test_a_proxy_that_behaves_changes_nothing(site: WorldProcess, proxy: FaultProxy) -> None:
    before = proxy.counts()
    answer = answer_at(proxy.port)
    assert body_of(answer) == body_of(answer_at(site.port))
    assert len(body_of(answer)) == length_of(answer) > 1000
    after = proxy.counts()
    grown = {name: after[name] - before.get(name, 0) for name in after}
    expected = {"connections": 1, "requests": 1, "normal": 1, "bytes": len(answer)}
    assert {name: count for name, count in grown.items() if count} == expected


def test_one_connection_carries_many_requests(proxy: FaultProxy) -> None:
    with connect(proxy.port) as connection:
        for number in range(1, 4):
            ask(connection, path=f"/page/{number}")
            answer = b""
            while not answer or len(body_of(answer)) < length_of(answer):
                answer += connection.recv(65536)
            assert f"page {number}</title>".encode() in answer


def test_refused_connections_reach_nobody_and_the_port_stays_ours(proxy: FaultProxy) -> None:
    before = proxy.counts().get("connections", 0)
    proxy.follow(Fault.REFUSE)
    for _ in range(2):
        with pytest.raises(ConnectionRefusedError):
            connect(proxy.port)
    proxy.behave()
    assert answer_at(proxy.port).startswith(b"HTTP/1.1 200")
    assert proxy.counts()["connections"] == before + 1


def test_a_reset_at_once_comes_before_a_byte_and_the_site_is_not_asked(
    site: WorldProcess, proxy: FaultProxy
) -> None:
    asked = len(site.requests())
    proxy.follow(Fault.RESET)
    # The kernel may know of it as early as in connect.
    with pytest.raises(ConnectionResetError), connect(proxy.port) as connection:
        connection.recv(1)
    assert len(site.requests()) == asked
    assert proxy.counts()["reset"] == 1


def test_a_stalled_connection_is_made_and_silent_and_stays_so(
    site: WorldProcess, proxy: FaultProxy
) -> None:
    asked = len(site.requests())
    proxy.follow(Fault.STALL)
    with connect(proxy.port) as connection:
        ask(connection)
        wait_until(lambda: proxy.counts().get("stall") == 1)
        proxy.behave()
        connection.settimeout(LITTLE_PATIENCE)
        assert read_how(connection) == (b"", "silence")
    assert len(site.requests()) == asked


def test_garbage_is_no_http_and_ends(proxy: FaultProxy) -> None:
    proxy.follow(Fault.GARBAGE)
    answer = answer_at(proxy.port)
    assert len(answer) == 1024
    assert b"HTTP" not in answer


def test_a_drip_brings_the_whole_answer_slowly(site: WorldProcess, proxy: FaultProxy) -> None:
    whole = answer_at(site.port, path="/nowhere")
    proxy.follow(Fault.DRIP, ms=2)
    with connect(proxy.port) as connection:
        ask(connection, "Connection: close", path="/nowhere")
        first = connection.recv(65536)
        assert len(first) < len(whole)
        answer = first + read_to_end(connection)
    assert body_of(answer) == body_of(whole)


@pytest.mark.parametrize(("after", "expected"), [(100, 100), (10**6, None)])
def test_a_truncated_body_ends_in_order_before_its_length(
    proxy: FaultProxy, after: int, expected: int | None
) -> None:
    proxy.follow(Fault.TRUNCATE, after=after)
    answer = answer_at(proxy.port)
    assert len(body_of(answer)) == (expected or length_of(answer) // 2)


def test_a_reset_in_the_body_comes_after_the_head_and_some_of_it(proxy: FaultProxy) -> None:
    proxy.follow(Fault.RESET_IN_BODY)
    with connect(proxy.port) as connection:
        ask(connection)
        answer, how = read_how(connection)
    assert how == "reset"
    assert len(body_of(answer)) == 100 < length_of(answer)


def test_a_stall_in_the_body_never_ends(proxy: FaultProxy) -> None:
    proxy.follow(Fault.STALL_IN_BODY, after=200)
    with connect(proxy.port) as connection:
        ask(connection)
        first = connection.recv(65536)
        connection.settimeout(LITTLE_PATIENCE)
        rest, how = read_how(connection)
    assert how == "silence"
    assert len(body_of(first + rest)) == 200


def test_an_answer_without_a_body_is_cut_in_its_head(site: WorldProcess, proxy: FaultProxy) -> None:
    whole = answer_at(site.port, "If-None-Match: *")
    assert whole.startswith(b"HTTP/1.1 304")
    proxy.follow(Fault.TRUNCATE)
    cut = answer_at(proxy.port, "If-None-Match: *")
    assert cut
    assert b"\r\n\r\n" not in cut


def test_a_fault_strikes_as_often_as_told_and_then_all_is_normal(proxy: FaultProxy) -> None:
    before = proxy.counts().get("garbage", 0)
    proxy.follow(Fault.GARBAGE, times=2)
    starts = [answer_at(proxy.port)[:4] for _ in range(4)]
    assert [start == b"HTTP" for start in starts] == [False, False, True, True]
    assert proxy.counts()["garbage"] == before + 2


@pytest.mark.parametrize("fault", [Fault.REFUSE, Fault.RESET])
def test_a_request_on_an_open_connection_meets_the_fault_too(
    proxy: FaultProxy, fault: Fault
) -> None:
    with connect(proxy.port) as connection:
        ask(connection, path="/nowhere")
        assert connection.recv(65536).startswith(b"HTTP/1.1 404")
        proxy.follow(fault)
        ask(connection)
        assert read_how(connection) == (b"", "reset")


def test_faults_that_cannot_be_counted_are_not_promised(proxy: FaultProxy) -> None:
    with pytest.raises(ValueError, match="cannot be counted"):
        proxy.follow(Fault.REFUSE, times=3)
