"""Which of libcurl's sockets are ready, whatever it did with their numbers."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pycurl
import pytest

from crawl4r.fetch.curl_sockets import READ, WRITE, CurlSockets

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def sockets() -> Iterator[CurlSockets]:
    with CurlSockets() as made:
        yield made


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_a_socket_is_ready_for_what_was_asked_of_it(sockets: CurlSockets, pair: Pair) -> None:
    ours, theirs = pair
    fd = ours.fileno()
    sockets.watch(fd, READ)
    assert sockets.ready() == []
    sockets.watch(fd, WRITE)
    assert sockets.ready() == [(fd, WRITE)]
    theirs.send(b"x")
    assert sockets.ready() == [(fd, WRITE)]
    sockets.watch(fd, READ | WRITE)
    assert sockets.ready() == [(fd, READ | WRITE)]
    sockets.watch(fd, READ)
    assert sockets.ready() == [(fd, READ)]


def test_what_is_forgotten_is_never_ready(sockets: CurlSockets, pair: Pair) -> None:
    fd = pair[0].fileno()
    sockets.watch(fd, pycurl.POLL_REMOVE)
    sockets.watch(fd, WRITE)
    sockets.watch(fd, pycurl.POLL_REMOVE)
    sockets.watch(fd, pycurl.POLL_REMOVE)
    assert sockets.ready() == []
    sockets.watch(fd, WRITE)
    assert sockets.ready() == [(fd, WRITE)]


def test_a_connection_that_ends_is_ready_to_be_read(sockets: CurlSockets, pair: Pair) -> None:
    ours, theirs = pair
    sockets.watch(ours.fileno(), READ)
    theirs.close()
    ((fd, what),) = sockets.ready()
    assert fd == ours.fileno()
    assert what & READ


def test_a_closed_socket_can_be_forgotten(sockets: CurlSockets) -> None:
    ours, theirs = socket.socketpair()
    fd = ours.fileno()
    sockets.watch(fd, READ)
    ours.close()
    theirs.close()
    sockets.watch(fd, pycurl.POLL_REMOVE)
    assert sockets.ready() == []


@pytest.mark.parametrize("before", [READ, WRITE])
def test_a_new_socket_with_the_number_of_a_closed_one_is_watched(
    sockets: CurlSockets, pair: Pair, before: int
) -> None:
    """libcurl need not say that it closed one before it speaks of the next."""
    ours, _ = pair
    first, other = socket.socketpair()
    number = first.fileno()
    sockets.watch(number, before)
    first.close()
    other.close()
    os.dup2(ours.fileno(), number)
    try:
        sockets.watch(number, WRITE)
        assert sockets.ready() == [(number, WRITE)]
    finally:
        os.close(number)


def test_the_whole_is_ready_when_one_of_them_is(pair: Pair) -> None:
    inner, outer = CurlSockets(), CurlSockets()
    inner.watch(pair[0].fileno(), READ)
    outer.watch(inner.fileno(), READ)
    assert outer.ready() == []
    pair[1].send(b"x")
    assert outer.ready() == [(inner.fileno(), READ)]
    inner.close()
    outer.close()
