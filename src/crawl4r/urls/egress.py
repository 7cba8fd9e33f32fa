"""The egress gate: which addresses may this crawler connect to?

The gate judges the address of a socket just before it connects, not a name, so that DNS, redirects
and odd spellings cannot get around it. Public unicast is open; everything else (private,
loopback, link-local with the clouds' metadata services, multicast, reserved, and IPv4 hidden inside
IPv6) is closed unless the user listed the network or the host.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from crawl4r.errors import SettingsError
from crawl4r.safe_text import command_line

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NAT64 = ip_network("64:ff9b::/96")
# Special by IANA's registries, but global according to older Pythons.
_ALSO_CLOSED = [
    ip_network(text)
    for text in ("192.0.0.0/24", "192.88.99.0/24", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64")
    + ("2001:2::/48", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10")
]
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?"
_HOST_NAME = re.compile(rf"(?:{_LABEL}\.)*(?!\d+$){_LABEL}")
_V4_COMPATIBLE = ip_network("::/96")
# Ports of other services that a crafted http:// URL could talk to (WHATWG's bad ports).
BAD_PORTS = frozenset(
    [1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102]
    + [103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427]
    + [465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989]
    + [990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665]
    + [6666, 6667, 6668, 6669, 6679, 6697, 10080]
)


class AddressGate:
    """Returns the reason why an address and port are closed, or None when they are open."""

    def __init__(self, allow_private: Iterable[str] = ()) -> None:
        self.replace(allow_private)

    def replace(self, allow_private: Iterable[str]) -> None:
        """Replace the list of allowed networks and hosts."""
        self._networks: list[Network] = []
        self._hosts: set[str] = set()
        for index, entry in enumerate(allow_private):
            self._admit(entry.strip(), f"network.allow_private[{index}]")
        self._judged = lru_cache(maxsize=4096)(self._judge)

    def _admit(self, entry: str, key: str) -> None:
        if not entry:
            raise SettingsError(key, "is empty; give a network like 10.0.0.0/8 or a host name")
        try:
            self._networks.append(ip_network(entry, strict=False))
        except ValueError:
            if not _HOST_NAME.fullmatch(entry.lower()):
                raise SettingsError(
                    key, f"{entry!r} is neither a network like 10.0.0.0/8 nor a host name"
                ) from None
            self._hosts.add(entry.lower())

    def refusal(self, address: str, port: int, host: str = "") -> str | None:
        """Why the gate refuses a connection to `address`, or None when it allows it.

        `host` is the name that resolved to it; a listed host may have any address.
        """
        if port in BAD_PORTS:
            return f"port {port} is not a web port, and browsers refuse it too: check the URL"
        if host and host.lower() in self._hosts:
            return None
        return self._judged(address)

    def _judge(self, text: str) -> str | None:
        try:
            address = ip_address(text.partition("%")[0])
        except ValueError:
            return f"{text!r} is not an address"
        if any(
            address in network for network in self._networks if network.version == address.version
        ):
            return None
        for inner in _embedded(address):
            if self._judge(str(inner)) is not None:
                return f"{text} carries the non-public address {inner}"
        kind = _closed_kind(address)
        if kind is None:
            return None
        return f"{text} is {kind}; {command_line('--allow-private', text)} would open it"


def _embedded(address: Address) -> list[IPv4Address]:
    """The IPv4 addresses that a packet to this IPv6 address can reach."""
    if isinstance(address, IPv4Address):
        return []
    found = []
    if address.ipv4_mapped:
        found.append(address.ipv4_mapped)
    if address.sixtofour:
        found.append(address.sixtofour)
    if address.teredo:
        found.extend(address.teredo)
    low = IPv4Address(int(address) & 0xFFFF_FFFF)
    if address in _NAT64:
        found.append(low)
    if address in _V4_COMPATIBLE and int(address) > 1:
        found.append(low)
    return found


def _closed_kind(address: Address) -> str | None:
    for kind in ("loopback", "link_local", "multicast", "unspecified", "reserved", "private"):
        if getattr(address, "is_" + kind) and not _is_translated(address):
            return f"a {kind.replace('_', '-')} address" if kind != "unspecified" else "unspecified"
    if any(address in network for network in _ALSO_CLOSED):
        return "a special-purpose address"
    if not address.is_global and not _is_translated(address):
        return "not a public address"
    return None


def _is_translated(address: Address) -> bool:
    """Whether the address translates an IPv4 address, which the gate has already judged."""
    if isinstance(address, IPv4Address):
        return False
    return address.ipv4_mapped is not None or address in _NAT64
