"""A pool of proxies: choose one for each request, and rest failing ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256

from msgspec import Struct

from crawl4r.model import Failure, Response, Verdict

_PROXY_AUTHENTICATION = 407
_FAILURES_TO_REST = 3
_REST = 60.0  # seconds; doubles with every further failure
_REST_CAP = 1800.0
_PORTS = {"https": "443"}  # default ports, where libcurl has no suitable one
_CURLS_PORT = "1080"
_MARK = 8  # hexadecimal digits that distinguish users


@lru_cache(maxsize=256)
def proxy_id(url: str) -> str:
    """The name of a proxy in captures and logs: `host:port`, with a mark of its user if it has one.

    The mark reveals neither name nor password, and differs between users of a port.
    """
    scheme, has_scheme, rest = url.partition("://")
    user, _, place = (rest if has_scheme else url).rpartition("@")  # a password may contain @
    place = place.partition("/")[0]
    if not place.rpartition(":")[2].isdigit():
        place = f"{place}:{_PORTS.get(scheme.lower(), _CURLS_PORT)}"
    name = user.partition(":")[0]
    mark = f"#{sha256(name.encode()).hexdigest()[:_MARK]}" if user else ""
    return f"{place.lower()}{mark}"


class Rotation(StrEnum):
    ROUND_ROBIN = "round-robin"
    LEAST_USED = "least-used"
    RANDOM = "random"


class _Proxy(Struct):
    url: str
    used: int = 0
    failures: int = 0  # in a row
    rests_until: float = 0.0


class ProxyPool:
    """Gives each request a proxy, and receives its result."""

    def __init__(
        self,
        urls: Sequence[str],
        rotation: Rotation,
        clock: Callable[[], float],
        chance: random.Random,
    ) -> None:
        self._proxies = [_Proxy(url) for url in urls]
        self._rotation = rotation
        self._clock = clock
        self._chance = chance
        self._next = 0

    def pick(self) -> str | None:
        """The proxy for one request; None without proxies. If all rest, the first to return."""
        if not self._proxies:
            return None
        now = self._clock()
        awake = [proxy for proxy in self._proxies if proxy.rests_until <= now]
        if not awake:
            awake = [min(self._proxies, key=lambda proxy: proxy.rests_until)]
        proxy = self._choose(awake)
        proxy.used += 1
        return proxy.url

    def report(self, url: str, answer: Response | Failure) -> None:
        """Report a result. An answer resets the proxy; failures in a row double its rest.

        Failures that only the site can cause do not count.
        """
        if isinstance(answer, Response):
            self.report_outcome(url, worked=answer.status != _PROXY_AUTHENTICATION)
        elif answer.verdict is Verdict.NETWORK_ERROR:
            self.report_outcome(url, worked=False)

    def report_outcome(self, url: str, *, worked: bool) -> None:
        proxy = next((proxy for proxy in self._proxies if proxy.url == url), None)
        if proxy is None:
            return
        if worked:
            proxy.failures = 0
            proxy.rests_until = 0.0
            return
        proxy.failures += 1
        if proxy.failures >= _FAILURES_TO_REST:
            rest = min(_REST_CAP, _REST * 2.0 ** (proxy.failures - _FAILURES_TO_REST))
            proxy.rests_until = self._clock() + rest

    def _choose(self, awake: list[_Proxy]) -> _Proxy:
        if self._rotation is Rotation.RANDOM:
            return self._chance.choice(awake)
        if self._rotation is Rotation.LEAST_USED:
            return min(awake, key=lambda proxy: proxy.used)
        for _ in self._proxies:
            proxy = self._proxies[self._next % len(self._proxies)]
            self._next += 1
            if proxy in awake:
                return proxy
        return awake[0]
