"""TLS and HTTP/2, against a real nginx with a certificate of its own."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import crawl4r
from crawl4r.model import Verdict
from tests.fetch.asking import answer_of, failure_of, fetch_each, get, open_transport, serve_bytes
from tests.fetch.forward_proxy import ForwardProxy
from tests.fetch.nginx import NAME, Nginx, make_certificate
from tests.interfaces.cli.running import wait_until
from tests.site.pages import page_bytes, page_path

SIZE = 12


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    server = Nginx(tmp_path_factory.mktemp("nginx"))
    for number in range(SIZE):
        file = server.site / page_path(SIZE, number).lstrip("/")
        file = file / "index.html" if number == 0 else file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(page_bytes(SIZE, number, server.url("", NAME)))
    with server:
        yield server


def test_http2_is_spoken_where_it_is_offered(nginx: Nginx) -> None:
    answer = answer_of(fetch_each(nginx.url("/site/12/"), ca_file=str(nginx.certificate))[0])
    assert answer.http_version == "2"
    assert answer.body == page_bytes(SIZE, 0, nginx.url("", NAME))
    assert answer.header("content-encoding") == "gzip"


def test_http2_can_be_switched_off(nginx: Nginx) -> None:
    options = {"ca_file": str(nginx.certificate), "http2": False}
    assert answer_of(fetch_each(nginx.url("/site/12/"), **options)[0]).http_version == "1.1"


@pytest.mark.parametrize("http2", [True, False])
def test_one_tls_connection_is_used_again(nginx: Nginx, http2: bool) -> None:
    paths = [f"{page_path(SIZE, number)}?{http2}" for number in range(1, 7)]
    fetch_each(*map(nginx.url, paths), ca_file=str(nginx.certificate), http2=http2)
    wait_until(lambda: len(served(nginx, paths)) == 6)  # its log follows its answers
    assert len(set(served(nginx, paths))) == 1


def served(nginx: Nginx, paths: list[str]) -> list[int]:
    return [connection for connection, _, path in nginx.served() if path in paths]


def test_many_http2_requests_at_once_all_arrive_whole(nginx: Nginx) -> None:
    async def fetch() -> list[bytes]:
        async with open_transport(ca_file=str(nginx.certificate)) as transport:
            requests = [get(nginx.url(page_path(SIZE, n % SIZE) + f"?{n}")) for n in range(60)]
            answers = await asyncio.gather(*map(transport.fetch, requests))
            return [answer_of(answer).body for answer in answers]

    expected = [page_bytes(SIZE, number % SIZE, nginx.url("", NAME)) for number in range(60)]
    assert asyncio.run(fetch()) == expected


def test_a_certificate_nobody_vouches_for_is_refused_for_good(nginx: Nginx) -> None:
    failure = failure_of(fetch_each(nginx.url("/"))[0])
    assert failure.verdict is Verdict.NETWORK_ERROR
    assert failure.reason.startswith("certificate:")
    assert not failure.transient


def test_a_certificate_for_another_name_is_refused(nginx: Nginx) -> None:
    failure = failure_of(
        fetch_each(
            nginx.url("/", "other.test"),
            ca_file=str(nginx.certificate),
            resolve={"other.test": "127.0.0.1"},
        )[0]
    )
    assert failure.reason.startswith("certificate:")


def test_a_certificate_of_another_authority_is_refused(nginx: Nginx, tmp_path: Path) -> None:
    make_certificate(tmp_path, NAME)
    answer = fetch_each(nginx.url("/"), ca_file=str(tmp_path / "certificate.pem"))[0]
    assert failure_of(answer).reason.startswith("certificate:")


def test_plain_http_on_a_tls_port_is_an_answer_and_tls_on_a_plain_port_is_none(
    nginx: Nginx,
) -> None:
    plain = nginx.url("/").replace("https:", "http:")
    assert answer_of(fetch_each(plain)[0]).status == 400

    async def fetch() -> str:
        async with serve_bytes(b"HTTP/1.1 400 Bad\r\n\r\n") as url, open_transport() as transport:
            answer = await transport.fetch(get(url.replace("http:", "https:")))
            return failure_of(answer).reason

    assert asyncio.run(fetch()).startswith("tls:")


def test_a_proxy_is_asked_to_connect_and_sees_no_more_than_that(nginx: Nginx) -> None:
    async def fetch() -> None:
        async with (
            ForwardProxy(login="me:secret") as proxy,
            open_transport(ca_file=str(nginx.certificate)) as transport,
        ):
            named = proxy.url.replace("http://", "http://me:secret@")
            for _ in range(2):
                answer = answer_of(
                    await transport.fetch(get(nginx.url("/site/12/?secret"), proxy=named))
                )
                assert (answer.status, answer.http_version) == (200, "2")
            assert proxy.asked == [f"CONNECT 127.0.0.1:{nginx.port}"]

    asyncio.run(fetch())


def test_a_site_on_https_is_crawled_whole(nginx: Nginx, tmp_path: Path) -> None:
    settings = crawl4r.load_settings(
        environment={},
        overrides={
            "agent": {"contact": "https://example.org"},
            "politeness": {"rate": 0, "per_host": 4},
            "explore": {"enabled": False},
            "network": {
                "allow_private": [NAME],
                "resolve": {NAME: "127.0.0.1"},
                "ca_file": str(nginx.certificate),
            },
        },
    )

    async def crawl() -> None:
        async with crawl4r.Workspace(tmp_path, settings) as workspace:
            await workspace.crawl(nginx.url("/site/12/", NAME)).finish()
            for number in range(SIZE):
                page = workspace.get(nginx.url(page_path(SIZE, number), NAME))
                assert page is not None
                assert page.body == page_bytes(SIZE, number, nginx.url("", NAME))
                assert page.capture.http_version == "2"

    asyncio.run(crawl())
