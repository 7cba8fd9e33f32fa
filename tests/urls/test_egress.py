"""Which addresses may be connected to (R5)."""

from itertools import product

import pytest

from crawl4r.errors import SettingsError
from crawl4r.urls.egress import BAD_PORTS, AddressGate

# First and last address of every block that IANA's special-purpose registries call not globally
# reachable, of multicast and of what is reserved.
CLOSED_V4 = {
    "this network": ("0.0.0.0", "0.255.255.255"),
    "private 10": ("10.0.0.0", "10.255.255.255"),
    "carrier NAT": ("100.64.0.0", "100.127.255.255"),
    "loopback": ("127.0.0.1", "127.255.255.255"),
    "link-local": ("169.254.0.0", "169.254.255.255"),
    "cloud metadata": ("169.254.169.254", "169.254.170.2"),
    "private 172": ("172.16.0.0", "172.31.255.255"),
    "IETF protocols": ("192.0.0.0", "192.0.0.255"),
    "documentation 1": ("192.0.2.0", "192.0.2.255"),
    "private 192": ("192.168.0.0", "192.168.255.255"),
    "benchmarks": ("198.18.0.0", "198.19.255.255"),
    "documentation 2": ("198.51.100.0", "198.51.100.255"),
    "documentation 3": ("203.0.113.0", "203.0.113.255"),
    "multicast": ("224.0.0.0", "239.255.255.255"),
    "reserved": ("240.0.0.0", "255.255.255.254"),
    "broadcast": ("255.255.255.255", "255.255.255.255"),
}
CLOSED_V6 = {
    "unspecified": ("::", "::"),
    "loopback": ("::1", "::1"),
    "discard": ("100::", "100::ffff:ffff:ffff:ffff"),
    "IETF protocols": ("2001:1::4", "2001:1ff:ffff::1"),
    "benchmarks": ("2001:2::", "2001:2:0:ffff::"),
    "ORCHID": ("2001:10::", "2001:1f:ffff::"),
    "documentation": ("2001:db8::", "2001:db8:ffff::1"),
    "documentation 2": ("3fff::", "3fff:fff:ffff::1"),
    "segment routing": ("5f00::", "5f00:ffff::1"),
    "unique local": ("fc00::", "fdff:ffff::1"),
    "link-local": ("fe80::1", "febf::1"),
    "link-local with a zone": ("fe80::1%eth0", "fe80::1%1"),
    "site-local": ("fec0::1", "feff::1"),
    "multicast": ("ff00::", "ff02::1"),
    "unassigned": ("4000::1", "e000::1"),
}


@pytest.mark.parametrize(
    "ends",
    [*CLOSED_V4.values(), *CLOSED_V6.values()],
    ids=[*(f"IPv4 {name}" for name in CLOSED_V4), *(f"IPv6 {name}" for name in CLOSED_V6)],
)
def test_an_address_that_is_not_public_is_closed(ends: tuple[str, str]) -> None:
    for address in ends:
        assert AddressGate().refusal(address, 80) is not None, address


@pytest.mark.parametrize(
    "address",
    [
        *("1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0"),
        *("126.255.255.255", "128.0.0.0", "169.253.255.255", "172.15.255.255", "172.32.0.0"),
        *("192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"),
        *("2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001:830::200e"),
    ],
)
def test_a_public_address_is_open(address: str) -> None:
    assert AddressGate().refusal(address, 443) is None


WRAPPED = {
    "mapped": "::ffff:{0:x}:{1:x}",
    "translated": "::ffff:0:{0:x}:{1:x}",
    "compatible": "::{0:x}:{1:x}",
    "6to4": "2002:{0:x}:{1:x}::1",
    "NAT64": "64:ff9b::{0:x}:{1:x}",
    "local NAT64": "64:ff9b:1::{0:x}:{1:x}",
    "Teredo server": "2001:0:{0:x}:{1:x}::",
}


@pytest.mark.parametrize(
    ("form", "address"),
    list(product(WRAPPED.values(), ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1"])),
    ids=[" ".join(pair) for pair in product(WRAPPED, ["loop", "ten", "metadata", "home"])],
)
def test_ipv4_hidden_in_ipv6_is_closed_with_it(form: str, address: str) -> None:
    a, b, c, d = map(int, address.split("."))
    assert AddressGate().refusal(form.format(a << 8 | b, c << 8 | d), 80) is not None


def test_a_teredo_client_is_closed_with_its_ipv4_address() -> None:
    """The client's address is stored with its bits flipped: 127.0.0.1 is 80ff:fffe."""
    assert AddressGate().refusal("2001:0:808:808::80ff:fffe", 80) is not None


@pytest.mark.parametrize("address", ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"])
def test_a_public_ipv4_address_in_ipv6_is_open(address: str) -> None:
    assert AddressGate().refusal(address, 80) is None


def test_local_nat64_is_closed_whatever_it_seems_to_carry() -> None:
    """RFC 8215: where the IPv4 address stands is the operator's choice, so it cannot be read."""
    assert AddressGate().refusal("64:ff9b:1:7f00:0:100:808:808", 80) is not None


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "1.2.3", "::g", "8.8.8.8/32"])
def test_what_is_no_address_is_closed(text: str) -> None:
    assert AddressGate().refusal(text, 80) is not None


@pytest.mark.parametrize("port", sorted(BAD_PORTS))
def test_a_port_that_no_web_site_uses_is_closed_everywhere(port: int) -> None:
    gate = AddressGate(["10.0.0.0/8", "intranet"])
    assert f"port {port} is not a web port" in (gate.refusal("8.8.8.8", port) or "")
    assert gate.refusal("10.0.0.1", port) is not None
    assert gate.refusal("10.0.0.1", port, "intranet") is not None


@pytest.mark.parametrize("port", [80, 443, 8000, 8080, 8443, 3000, 65535])
def test_a_web_port_is_open(port: int) -> None:
    assert AddressGate().refusal("8.8.8.8", port) is None


def test_a_listed_network_is_open_and_its_neighbours_are_not() -> None:
    gate = AddressGate(["10.1.0.0/16", "192.168.0.7", " fd00::/8 ", "127.0.0.5/8"])
    for address in ("10.1.2.3", "192.168.0.7", "fd12::1", "127.9.9.9"):
        assert gate.refusal(address, 80) is None, address
    for address in ("10.2.0.0", "192.168.0.8", "fc00::1", "169.254.169.254"):
        assert gate.refusal(address, 80) is not None, address


def test_a_listed_network_is_open_in_its_mapped_form_too() -> None:
    gate = AddressGate(["10.0.0.0/8"])
    assert gate.refusal("::ffff:10.0.0.1", 80) is None
    assert gate.refusal("::ffff:127.0.0.1", 80) is not None


def test_a_listed_host_is_open_wherever_it_lives() -> None:
    gate = AddressGate(["Intranet.example"])
    assert gate.refusal("10.0.0.1", 80, "intranet.EXAMPLE") is None
    assert gate.refusal("10.0.0.1", 80, "www.intranet.example") is not None
    assert gate.refusal("10.0.0.1", 80) is not None


def test_the_refusal_says_how_to_open_the_address() -> None:
    reason = AddressGate().refusal("127.0.0.1", 80)
    assert reason == "127.0.0.1 is a loopback address; --allow-private 127.0.0.1 would open it"
    inside = AddressGate().refusal("::ffff:10.0.0.1", 80)
    assert inside == "::ffff:10.0.0.1 carries the non-public address 10.0.0.1"


@pytest.mark.parametrize(
    "entry", ["", "  ", "10.0.0.0/33", "10.0.0.0/x", "e.org:80", "http://e.org/"]
)
def test_a_bad_entry_is_an_error_of_its_key(entry: str) -> None:
    with pytest.raises(SettingsError) as problem:
        AddressGate(["10.0.0.0/8", entry])
    assert problem.value.key == "network.allow_private[1]"


@pytest.mark.parametrize("entry", ["10.0.0", "300.1.1.1", "*.e.org", "a b"])
def test_an_entry_that_can_never_match_is_an_error(entry: str) -> None:
    with pytest.raises(SettingsError):
        AddressGate([entry])
