"""Requests through a real forward proxy, alone and in a crawl."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import crawl4r
from crawl4r.reporting import PageRow
from tests.fetch.asking import answer_of, failure_of, get, open_transport
from tests.fetch.forward_proxy import ForwardProxy
from tests.hostile.canary import Canary
from tests.site.pages import page_bytes, page_paths
from tests.site.process import SiteProcess


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


def settings(
    *proxies: ForwardProxy, rotation: str = "round-robin", obey_robots: bool = True
) -> crawl4r.Settings:
    servers = [proxy.url for proxy in proxies]
    return crawl4r.load_settings(
        environment={},
        overrides={
            "agent": {"contact": "https://example.org"},
            "network": {"allow_private": ["127.0.0.1"]},
            "politeness": {"rate": 0, "per_host": 4, "obey_robots": obey_robots},
            "explore": {"enabled": False},
            "fetch": {
                "timeout": 5,
                "retries": 2,
                "backoff_base": 0.01,
                "proxies": {"servers": servers, "rotation": rotation},
            },
        },
    )


async def crawl(folder: Path, configured: crawl4r.Settings, *seeds: str) -> list[PageRow]:
    async with crawl4r.Workspace(folder, configured) as workspace, asyncio.timeout(30):
        await workspace.crawl(*seeds).finish()
        return list(workspace.pages())


def test_a_plain_request_goes_to_the_proxy_in_absolute_form(site: SiteProcess) -> None:
    async def fetch() -> None:
        async with ForwardProxy() as proxy, open_transport() as transport:
            url = site.url("/site/3/")
            answer = answer_of(await transport.fetch(get(url, proxy=proxy.url)))
            assert answer.body == page_bytes(3, 0, site.url("").rstrip("/"))
            assert answer.proxy == "127.0.0.1"
            assert proxy.asked == [f"GET {url}"]
            direct = answer_of(await transport.fetch(get(url)))
            assert (direct.proxy, len(proxy.asked)) == ("", 1)

    asyncio.run(fetch())


def test_the_credentials_of_a_proxy_are_for_the_proxy_alone(site: SiteProcess) -> None:
    async def fetch() -> None:
        async with ForwardProxy(login="me:secret") as proxy, open_transport() as transport:
            url = site.url("/headers")
            named = proxy.url.replace("http://", "http://me:secret@")
            answer = answer_of(await transport.fetch(get(url, proxy=named)))
            assert answer.status == 200
            assert b"roxy-" not in answer.body
            assert "secret" not in answer.proxy
            refused = answer_of(await transport.fetch(get(url, proxy=proxy.url)))
            assert refused.status == 407

    asyncio.run(fetch())


def test_a_proxy_that_is_down_is_a_failure_worth_another_try(site: SiteProcess) -> None:
    async def fetch() -> None:
        async with ForwardProxy() as gone:
            pass
        async with open_transport() as transport:
            failure = failure_of(await transport.fetch(get(site.url("/"), proxy=gone.url)))
            assert (failure.verdict, failure.transient) == ("network-error", True)

    asyncio.run(fetch())


def test_a_proxy_on_a_closed_address_is_never_connected_to(site: SiteProcess) -> None:
    async def fetch() -> None:
        with Canary() as canary:
            async with open_transport("127.0.0.1") as transport:
                answer = await transport.fetch(get(site.url("/"), proxy=canary.url("")))
            assert failure_of(answer).verdict == "egress-refused"
            assert canary.visits == 0

    asyncio.run(fetch())


def test_the_environment_cannot_lead_requests_around_the_proxy_or_into_another(
    site: SiteProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fetch() -> None:
        async with ForwardProxy() as proxy, open_transport() as transport:
            monkeypatch.setenv("http_proxy", proxy.url)
            monkeypatch.setenv("ALL_PROXY", proxy.url)
            assert answer_of(await transport.fetch(get(site.url("/")))).proxy == ""
            assert proxy.asked == []
            monkeypatch.setenv("no_proxy", "*")
            monkeypatch.setenv("NO_PROXY", "*")
            await transport.fetch(get(site.url("/"), proxy=proxy.url))
            assert proxy.asked == [f"GET {site.url('/')}"]

    asyncio.run(fetch())


@pytest.mark.parametrize("rotation", ["round-robin", "least-used", "random"])
def test_a_crawl_shares_its_pages_among_its_proxies(
    site: SiteProcess, tmp_path: Path, rotation: str
) -> None:
    async def run() -> None:
        async with ForwardProxy() as one, ForwardProxy() as two:
            rows = await crawl(
                tmp_path, settings(one, two, rotation=rotation), site.url("/site/20/")
            )
            assert {row.url for row in rows if row.verdict == "ok"} == {
                site.url(path) for path in page_paths(20)
            }
            pages = [line for line in one.asked + two.asked if "/site/20/" in line]
            assert len(pages) == len(set(pages)) == 20
            assert min(len(one.asked), len(two.asked)) >= (2 if rotation == "random" else 9)

    asyncio.run(run())


def test_robots_txt_is_asked_for_through_the_proxy_too(site: SiteProcess, tmp_path: Path) -> None:
    """Whoever needs a proxy may have no other way out, or may not want to be seen."""

    async def run() -> None:
        async with ForwardProxy() as proxy:
            before = len(site.requests())
            await crawl(tmp_path, settings(proxy), site.url("/site/3/"))
            served = [f"GET {site.url(record.path)}" for record in site.requests()[before:]]
            assert sorted(proxy.asked) == sorted(served)

    asyncio.run(run())


def test_a_crawl_survives_a_dead_proxy_among_living_ones(site: SiteProcess, tmp_path: Path) -> None:
    async def run() -> None:
        async with ForwardProxy() as gone:
            pass
        async with ForwardProxy() as alive:
            rows = await crawl(tmp_path, settings(gone, alive), site.url("/site/20/"))
            assert [row.verdict for row in rows] == ["ok"] * 20

    asyncio.run(run())


@pytest.mark.parametrize("obey_robots", [True, False])
def test_a_proxy_is_no_way_around_the_gate(
    site: SiteProcess, tmp_path: Path, obey_robots: bool
) -> None:
    """The proxy stands inside the network: what it is asked for must be judged before it is."""

    async def run() -> None:
        with Canary() as canary:
            async with ForwardProxy() as proxy:
                seed = site.url(f"/redirect-to?url={canary.url('/secret')}")
                rows = await crawl(tmp_path, settings(proxy, obey_robots=obey_robots), seed)
            assert canary.visits == 0
            verdicts = {row.url: row.verdict for row in rows}
            assert verdicts[canary.url("/secret")] == "egress-refused"

    asyncio.run(run())
