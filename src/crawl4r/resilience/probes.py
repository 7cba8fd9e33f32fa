"""Probe the network with TCP connects, through the egress gate, to hosts that should answer.

All calls block, and DNS may block for long, so each probe has a thread, which is abandoned after the
deadline.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from crawl4r.clock import REAL_CLOCK, Clock

_PORTS = {
    "http": 80,
    "https": 443,
    "socks4": 1080,
    "socks4a": 1080,
    "socks5": 1080,
    "socks5h": 1080,
}
_CURLS_PROXY_PORT = 1080  # for a proxy address without a port
_PROXY = "+proxy"  # suffix of the scheme of a proxy's address
_MOST = 3  # endpoints per round; one answer is enough
_REFUSED = "refused by the egress gate: "
REFUSES = "the host refuses connections, so there is a network"

# (address, port, host) -> reason to refuse a connection, or None.
Refusal = Callable[[str, int, str], str | None]


class Endpoint(NamedTuple):
    """A host and port to connect to."""

    host: str
    port: int
    is_proxy: bool = False

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def endpoint_of(text: str) -> Endpoint:
    """Parse `host:port`, a URL or a result of `place_of_proxy`. Raises ValueError for other text."""
    parts = urlsplit(text if "://" in text else f"//{text}")
    port = parts.port or _PORTS.get(parts.scheme.removesuffix(_PROXY))
    if not parts.hostname or port is None:
        raise ValueError(f"{text!r} is neither like host:443 nor a URL")
    return Endpoint(parts.hostname, port, parts.scheme.endswith(_PROXY))


@lru_cache(maxsize=256)
def place_of_proxy(proxy: str) -> str:
    """A proxy's address for `endpoint_of`, with libcurl's default port if it names none."""
    scheme, _, rest = proxy.rstrip("/").partition("://")
    authority = rest.rpartition("@")[2]
    has_port = authority.rpartition(":")[2].isdigit()
    port = "" if has_port or scheme == "https" else f":{_CURLS_PROXY_PORT}"
    return f"{scheme}{_PROXY}://{authority}{port}"


def endpoints_of(texts: Iterable[str]) -> list[Endpoint]:
    """The first few distinct endpoints."""
    return list(dict.fromkeys(endpoint_of(text) for text in texts))[:_MOST]


def is_there(answers: Mapping[str, str]) -> bool | None:
    """Whether the network works, by the results of probes; None without a usable probe."""
    asked = [problem for problem in answers.values() if not problem.startswith(_REFUSED)]
    return any(map(_answers, asked)) if asked else None


def _answers(problem: str) -> bool:
    return problem in {"", REFUSES}


def in_words(answers: Mapping[str, str]) -> str:
    return "; ".join(f"{place}: {problem or 'answers'}" for place, problem in answers.items())


class Prober:
    """Probes several endpoints at once."""

    def __init__(
        self,
        refusal: Refusal,
        resolve: Mapping[str, str] | None = None,
        seconds: float = 5.0,
        clock: Clock = REAL_CLOCK,
    ) -> None:
        """`resolve` gives addresses instead of DNS; `seconds` is the deadline of a round."""
        self._refusal = refusal
        self._resolve = resolve or {}
        self._seconds = seconds
        self._on_machine = clock.on_machine(seconds)
        self._stuck: dict[Endpoint, threading.Thread] = {}  # of earlier rounds

    def ask(self, endpoints: Iterable[Endpoint]) -> dict[str, str]:
        """The problem of each endpoint; empty for one that answers.

        Returns at the first answer, without the slower endpoints.
        """
        waiting = list(dict.fromkeys(endpoints))
        answers: queue.SimpleQueue[tuple[Endpoint, str]] = queue.SimpleQueue()
        for endpoint in waiting:
            self._start(endpoint, answers)
        found: dict[str, str] = {}
        deadline = time.monotonic() + self._on_machine
        while waiting:
            try:
                endpoint, problem = answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                late = f"no connection within {self._seconds:g} s"
                return found | {str(endpoint): late for endpoint in waiting}
            waiting.remove(endpoint)
            found[str(endpoint)] = problem
            if _answers(problem):
                break
        return found

    def _start(self, endpoint: Endpoint, answers: queue.SimpleQueue[tuple[Endpoint, str]]) -> None:
        stuck = self._stuck.get(endpoint)
        if stuck and stuck.is_alive():  # its DNS look-up still blocks since the last round
            return

        def probe() -> None:
            answers.put((endpoint, self._problem_of(endpoint)))

        self._stuck[endpoint] = threading.Thread(target=probe, name="probe", daemon=True)
        self._stuck[endpoint].start()

    def _problem_of(self, endpoint: Endpoint) -> str:
        host, port, is_proxy = endpoint
        try:
            found = socket.getaddrinfo(self._resolve.get(host, host), port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as problem:
            return f"dns: {problem}"
        word = "no address"
        for family, kind, protocol, _, address in found:
            if refusal := self._refusal(str(address[0]), port, host):
                word = _REFUSED + refusal
                continue
            try:
                with socket.socket(family, kind, protocol) as connection:
                    connection.settimeout(self._on_machine)
                    connection.connect(address)
            except ConnectionRefusedError as problem:
                # A failing proxy means no network, even on loopback, which always answers.
                if not is_proxy and not ip_address(str(address[0])).is_loopback:
                    return REFUSES
                word = f"connect: {problem.strerror}"
            except OSError as problem:
                word = f"connect: {problem.strerror or problem}"
            else:
                return ""
        return word
