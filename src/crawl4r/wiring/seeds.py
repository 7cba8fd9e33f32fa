"""Choose https or http for seeds without a scheme, by the way their host answers.

The probe only connects and makes the TLS handshake. It sends no request, so robots.txt and the host
budget do not apply. The egress gate judges each address as for a page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import NamedTuple

from crawl4r.fetch.port import Request, Transport
from crawl4r.model import Failure, Verdict
from crawl4r.settings.load import Settings
from crawl4r.urls.canonical import as_seed, canonicalize, has_scheme, split
from crawl4r.urls.egress import AddressGate
from crawl4r.wiring.crawl import make_curl

_PATIENCE = 4.0  # seconds for https before the probe tries http


class FoundSeed(NamedTuple):
    typed: str
    url: str | None  # canonical; None when nothing answers
    why_not: str = ""  # why https failed; if http failed too, the end of an error message


class _SchemeAnswer(NamedTuple):
    scheme: str | None
    why_not: str = ""


async def find_schemes(
    settings: Settings, typed: Iterable[str], is_kept: Callable[[str], bool]
) -> list[FoundSeed]:
    """Add a scheme to each seed without one: that of the known URL, else the one that answers.

    Raises InvalidUrl for text that is no URL, before it contacts any host.
    """
    rules = settings.scope.canonical()
    urls = {seed: canonicalize(as_seed(seed), None, rules) for seed in typed}
    kept = {
        seed: next((each for each in (url, _by_http(url)) if is_kept(each)), None)
        for seed, url in urls.items()
        if not has_scheme(seed)
    }
    unknown = {split(urls[seed]).netloc for seed in kept if not kept[seed]}
    answers = await _ask_all(settings, unknown)
    found = []
    for seed, url in urls.items():
        if seed not in kept or kept[seed]:
            found.append(FoundSeed(seed, kept.get(seed, url)))
            continue
        scheme, why_not = answers[split(url).netloc]
        spelled = {"https": url, "http": _by_http(url), None: None}[scheme]
        found.append(FoundSeed(seed, spelled, why_not))
    return found


async def _ask_all(settings: Settings, places: Iterable[str]) -> dict[str, _SchemeAnswer]:
    transport = make_curl(settings, AddressGate(settings.network.allow_private))
    proxy = next(iter(settings.fetch.proxies.servers), None)
    slots = asyncio.Semaphore(settings.politeness.concurrency)

    async def ask(place: str) -> _SchemeAnswer:
        async with slots:
            return await _ask(transport, place, proxy)

    try:
        async with asyncio.TaskGroup() as tasks:
            asked = {place: tasks.create_task(ask(place)) for place in places}
        return {place: task.result() for place, task in asked.items()}
    finally:
        await transport.close()


async def _ask(transport: Transport, place: str, proxy: str | None) -> _SchemeAnswer:
    https = await _connect_soon(transport, f"https://{place}/", proxy)
    if https is None:
        return _SchemeAnswer("https")
    if https.verdict is Verdict.EGRESS_REFUSED:
        return _SchemeAnswer(None, f"is refused by the egress gate: {https.reason}")
    http = await _connect(transport, _by_http(f"https://{place}/"), proxy)
    if http is None:
        return _SchemeAnswer("http", https.reason)
    reasons = "; ".join(dict.fromkeys([https.reason, http.reason]))
    return _SchemeAnswer(None, f"answers neither by https nor by http: {reasons}")


async def _connect_soon(transport: Transport, url: str, proxy: str | None) -> Failure | None:
    """The failure after the timeout: a server with http alone may wait for more bytes."""
    try:
        async with asyncio.timeout(_PATIENCE):
            return await _connect(transport, url, proxy)
    except TimeoutError:
        return Failure(Verdict.NETWORK_ERROR, f"tls: no handshake within {_PATIENCE:g} s", False)


async def _connect(transport: Transport, url: str, proxy: str | None) -> Failure | None:
    answer = await transport.fetch(Request(url, [], proxy, connects_only=True))
    return answer if isinstance(answer, Failure) else None


def _by_http(url: str) -> str:
    return canonicalize("http" + url.removeprefix("https"))
