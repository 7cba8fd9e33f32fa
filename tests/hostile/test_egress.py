"""Which addresses are never connected to, however a site spells them. Canaries listen there."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.fetch.asking import serve_bytes
from tests.hostile.canary import Canary
from tests.hostile.crawling import Crawled, crawl, quick_settings
from tests.site.process import SiteProcess

HERE = "127.0.0.1"  # the only address that is allowed
INSIDE = "inside.example"  # a name with a private address
SPELLINGS = {
    "dotted": "127.0.0.9",
    "hexadecimal": "0x7f000009",
    "decimal": "2130706441",
    "two parts": "127.9",
    "octal": "0177.0.0.011",
    "mixed": "0x7f.0.9",
    "mapped": "[::ffff:127.0.0.9]",
    "mapped in hexadecimal": "[::ffff:7f00:9]",
    "compatible": "[::127.0.0.9]",
    "translated": "[64:ff9b::127.0.0.9]",
    "six to four": "[2002:7f00:9::]",
    "escaped": "%31%32%37.0.0.9",
    "ideographic stops": "127%E3%80%820%E3%80%820%E3%80%829",
    "a name": INSIDE,
    "a name in capitals": "INSIDE.Example.",
    "IPv6 loopback": "[::1]",
    "metadata service": "169.254.169.254",
    "private": "10.0.0.1",
    "carrier": "100.64.0.1",
    "unspecified": "0.0.0.0",
    "unspecified IPv6": "[::]",
    "unique local": "[fd00::1]",
    "link local": "[fe80::1]",
    "multicast": "224.0.0.1",
    "broadcast": "255.255.255.255",
}


@dataclass(frozen=True, slots=True)
class Escape:
    """A crawl whose every seed redirects to a spelling of a closed address."""

    crawled: Crawled
    targets: dict[str, str]  # canonical, by the name of the spelling
    visits: int


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess(hosts=[HERE]) as running:
        yield running


@pytest.fixture(scope="module")
def canaries() -> Iterator[tuple[Canary, Canary]]:
    """On one port, so that a spelling leads to one or the other."""
    with Canary() as dotted, Canary("::1", dotted.port) as loopback:
        yield dotted, loopback


@pytest.fixture(scope="module", params=[True, False], ids=["robots obeyed", "robots ignored"])
def escape(
    request: pytest.FixtureRequest,
    site: SiteProcess,
    canaries: tuple[Canary, Canary],
    tmp_path_factory: pytest.TempPathFactory,
) -> Escape:
    """With and without robots.txt: asking for it is one way out, asking for the page another."""
    settings = quick_settings(
        network={"allow_private": [HERE], "resolve": {INSIDE: "127.0.0.9"}},
        politeness={"obey_robots": request.param, "rate": 0, "per_host": 4},
    )
    targets = {
        name: canaries[0].url(f"/{number}", host)
        for number, (name, host) in enumerate(SPELLINGS.items())
    }
    seeds = [site.url(f"/redirect-to?url={quote(url)}") for url in targets.values()]
    canonical: dict[str, str] = {}

    crawled = crawl(
        tmp_path_factory.mktemp("egress"),
        seeds,
        settings,
        then=lambda ws: canonical.update({n: ws.canonical(url) for n, url in targets.items()}),
    )
    return Escape(crawled, canonical, sum(canary.visits for canary in canaries))


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_redirect_to_a_closed_address_is_refused_in_every_spelling(
    escape: Escape, name: str
) -> None:
    row = escape.crawled.rows[escape.targets[name]]
    assert (row.verdict, row.state) == ("egress-refused", "refused")
    assert row.status is None
    assert row.reason


def test_nobody_ever_connected_to_a_canary(escape: Escape) -> None:
    assert escape.visits == 0


def test_the_reason_names_the_address_and_how_to_open_it(escape: Escape) -> None:
    row = escape.crawled.rows[escape.targets["a name"]]
    assert row.reason is not None
    assert "127.0.0.9 is a loopback address" in row.reason
    assert "--allow-private 127.0.0.9" in row.reason


def test_the_canary_is_reached_when_it_is_allowed(
    canaries: tuple[Canary, Canary], tmp_path: Path
) -> None:
    """Otherwise the silence of the others would prove nothing."""
    before = canaries[0].visits
    settings = quick_settings(network={"allow_private": ["127.0.0.9"]})
    crawled = crawl(tmp_path, [canaries[0].url("/", "0x7f000009")], settings)
    assert canaries[0].visits > before
    assert crawled.urls("ok") == {canaries[0].url("/")}


@pytest.mark.parametrize("host", ["127.0.0.9", "2130706441", "[::ffff:127.0.0.9]"])
def test_a_seed_on_a_closed_address_is_refused_too(
    canaries: tuple[Canary, Canary], tmp_path: Path, host: str
) -> None:
    before = canaries[0].visits
    settings = quick_settings(network={"allow_private": []})
    crawled = crawl(tmp_path, [canaries[0].url("/", host)], settings)
    assert {row.verdict for row in crawled.rows.values()} == {"egress-refused"}
    assert canaries[0].visits == before


def test_a_link_or_a_refresh_to_a_closed_address_is_refused_too(
    site: SiteProcess, canaries: tuple[Canary, Canary], tmp_path: Path
) -> None:
    before = canaries[0].visits
    settings = quick_settings(
        network={"allow_private": [HERE]},
        scope={"hosts": [f"{HERE}:{site.port}", f"127.0.0.9:{canaries[0].port}"]},
    )
    crawled = crawl(tmp_path, [site.url(f"/meta-refresh?url={canaries[0].url('/')}")], settings)
    assert crawled.rows[canaries[0].url("/")].verdict == "egress-refused"
    assert canaries[0].visits == before


def test_a_robots_txt_that_redirects_to_a_closed_address_is_refused(
    canaries: tuple[Canary, Canary], tmp_path: Path
) -> None:
    before = canaries[0].visits
    location = canaries[0].url("/robots.txt").encode()
    wire = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n"

    async def serve_and_crawl() -> Crawled:
        settings = quick_settings(network={"allow_private": [HERE]})
        async with serve_bytes(wire) as url:
            return await asyncio.to_thread(crawl, tmp_path, [url], settings)

    crawled = asyncio.run(serve_and_crawl())
    assert {row.verdict for row in crawled.rows.values()} == {"egress-refused"}
    assert canaries[0].visits == before


def test_a_port_that_is_no_web_port_is_refused_even_on_an_open_address(
    site: SiteProcess, tmp_path: Path
) -> None:
    target = f"http://{HERE}:25/"
    settings = quick_settings(network={"allow_private": [HERE]})
    crawled = crawl(tmp_path, [site.url(f"/redirect-to?url={target}")], settings)
    assert crawled.rows[target].verdict == "egress-refused"
    assert "port 25" in (crawled.rows[target].reason or "")
