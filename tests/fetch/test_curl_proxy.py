"""Requests through a real forward proxy, alone and in a crawl."""

import asyncio
import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import crawl4r
from crawl4r.fetch.proxies import proxy_id
from crawl4r.reports.url_story import PageRow
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


def with_logs(servers: list[str]) -> crawl4r.Settings:
    return crawl4r.load_settings(
        environment={},
        overrides={
            "agent": {"contact": "https://example.org"},
            "network": {"allow_private": ["127.0.0.1"]},
            "politeness": {"rate": 0},
            "explore": {"enabled": False},
            "fetch": {"proxies": {"servers": servers}},
            "content": {"extract": False},
            "index": {"enabled": False},
            "logs": {"enabled": True},
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
            assert answer.proxy == f"127.0.0.1:{proxy.port}"
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
    """A user of a proxy may have no other route, or may want to stay hidden."""

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


def test_captures_and_logs_tell_two_ports_and_two_users_of_a_host_apart(
    site: SiteProcess, tmp_path: Path
) -> None:
    async def work() -> list[str]:
        async with ForwardProxy() as one, ForwardProxy() as other:
            users = [
                one.url.replace("http://", f"http://{name}:secret@") for name in ("ann", "bob")
            ]
            configured = with_logs([one.url, other.url, *users])
            await crawl(tmp_path, configured, site.url("/site/12/"))
            return [str(one.port), str(other.port)]

    one, other = asyncio.run(work())
    with crawl4r.open(tmp_path, read_only=True) as opened:
        used = {capture.proxy for capture in opened.captures.after(0)}
    plain = {f"127.0.0.1:{one}", f"127.0.0.1:{other}"}
    assert plain < used
    marks = used - plain
    assert len(marks) == 2
    assert all(mark.startswith(f"127.0.0.1:{one}#") for mark in marks)
    with (tmp_path / "logs" / "pages.csv").open() as file:
        assert {row["proxy_id"] for row in csv.DictReader(file)} == used
    metadata = (tmp_path / "metadata" / "crawl_metadata.jsonl").read_text().splitlines()
    assert {json.loads(line)["proxy_id"] for line in metadata} == used
    for word in (b"ann", b"bob", b"secret"):
        assert word not in (tmp_path / "metadata" / "crawl_metadata.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://Proxy.example:3128", "proxy.example:3128"),
        ("http://proxy.example", "proxy.example:1080"),
        ("https://proxy.example/", "proxy.example:443"),
        ("socks5://[::1]:9050", "[::1]:9050"),
        ("http://[::1]", "[::1]:1080"),
        ("proxy.example:8080", "proxy.example:8080"),
    ],
)
def test_a_proxy_is_named_by_its_host_and_port(url: str, name: str) -> None:
    assert proxy_id(url) == name


@pytest.mark.parametrize(
    "password", ["secret", "s@cret", "s/ecret", "sec:ret", "://secret", "8080"]
)
def test_the_name_of_a_proxy_shows_no_user_and_no_password(password: str) -> None:
    ids = [proxy_id(f"http://{user}:{password}@proxy.example:3128") for user in ("ann", "bob")]
    assert len(set(ids)) == 2
    for found in ids:
        place, _, mark = found.partition("#")
        assert place == "proxy.example:3128"
        assert re.fullmatch(r"[0-9a-f]{8}", mark)
