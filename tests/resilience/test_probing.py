"""Is there a network? Asked of real sockets on loopback."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from crawl4r.resilience.probes import (
    REFUSES,
    Endpoint,
    Prober,
    endpoint_of,
    endpoints_of,
    is_there,
    place_of_proxy,
)
from crawl4r.urls.egress import AddressGate

OPEN = AddressGate(["127.0.0.0/8"])
SHUT = AddressGate()


@pytest.fixture
def listening() -> Iterator[Endpoint]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Endpoint("127.0.0.1", server.getsockname()[1])


@pytest.fixture
def closed() -> Endpoint:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port: int = server.getsockname()[1]
    return Endpoint("127.0.0.1", port)


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("example.org:443", ("example.org", 443)),
        ("https://example.org/a?b", ("example.org", 443)),
        ("http://example.org", ("example.org", 80)),
        ("http://user:secret@proxy.example:3128", ("proxy.example", 3128)),
        ("socks5h://proxy.example", ("proxy.example", 1080)),
        ("[2001:db8::1]:8080", ("2001:db8::1", 8080)),
    ],
)
def test_hosts_with_a_port_and_urls_are_understood(text: str, endpoint: tuple[str, int]) -> None:
    assert endpoint_of(text) == Endpoint(*endpoint)


@pytest.mark.parametrize(
    ("proxy", "endpoint"),
    [
        ("http://user:secret@proxy.example", ("proxy.example", 1080)),
        ("https://proxy.example/", ("proxy.example", 443)),
        ("socks5h://[2001:db8::1]:9050", ("2001:db8::1", 9050)),
    ],
)
def test_a_proxy_is_known_as_one(proxy: str, endpoint: tuple[str, int]) -> None:
    assert endpoint_of(place_of_proxy(proxy)) == Endpoint(*endpoint, is_proxy=True)


def test_a_refusal_by_another_machine_proves_that_there_is_a_network() -> None:
    """One by this machine does not, see the closed port below."""
    assert is_there({"a.example:80": "dns: no answer", "b.example:80": REFUSES}) is True


@pytest.mark.parametrize("text", ["", "example.org", "example.org:http", "a:99999", "ftp://a/"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        endpoint_of(text)


def test_few_different_ones_are_asked() -> None:
    urls = [f"http://{number}.example/{page}" for page in (1, 2) for number in range(9)]
    assert [endpoint.host for endpoint in endpoints_of(urls)] == [
        "0.example",
        "1.example",
        "2.example",
    ]


def test_one_that_answers_is_enough(listening: Endpoint, closed: Endpoint) -> None:
    answers = Prober(OPEN.refusal).ask([closed, listening])
    assert answers[str(listening)] == ""
    assert is_there(answers) is True


def test_a_closed_port_and_an_unknown_name_are_told_apart(closed: Endpoint) -> None:
    unknown = Endpoint("no-such-host.invalid", 80)
    answers = Prober(OPEN.refusal, seconds=20.0).ask([closed, unknown])
    assert answers[str(closed)].startswith("connect: ")
    assert answers[str(unknown)].startswith("dns: ")
    assert is_there(answers) is False


def test_the_egress_gate_stands_before_every_probe(listening: Endpoint) -> None:
    """And what it refuses says nothing of the network."""
    answers = Prober(SHUT.refusal).ask([listening])
    assert "egress gate" in answers[str(listening)]
    assert is_there(answers) is None
    assert is_there({}) is None


def test_a_name_is_looked_up_where_the_settings_say(listening: Endpoint) -> None:
    named = Endpoint("site.invalid", listening.port)
    assert Prober(OPEN.refusal, {"site.invalid": "127.0.0.1"}).ask([named]) == {str(named): ""}
