"""The transport against a real server: connections, framings, cookies, answers."""

import asyncio
import gzip
import os
import time
import warnings
from collections.abc import Iterator

import pytest

from crawl4r.fetch.curl import FetchLimits
from crawl4r.model import Response
from tests.fetch.asking import (
    answer_of,
    failure_of,
    fetch_each,
    get,
    open_transport,
    serve_bytes,
    until,
)
from tests.interfaces.cli.running import PATIENCE
from tests.polite.access import SLACK
from tests.site.bodies import PAGE, POISON
from tests.site.encodings import PAGE as ENCODED_PAGE
from tests.site.encodings import RIGHT
from tests.site.pages import page_bytes
from tests.site.process import SiteProcess

HOSTS = ("127.0.0.1", "127.0.0.2")


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess(hosts=HOSTS) as running:
        yield running


def connections(site: SiteProcess, count: int) -> list[int]:
    """The connection numbers of the last `count` requests."""
    return [record.connection for record in site.requests()[-count:]]


def test_an_answer_says_what_came_from_where_and_when(site: SiteProcess) -> None:
    before = time.monotonic()
    answer = answer_of(fetch_each(site.url("/encoded/gzip"))[0])
    assert (answer.status, answer.http_version, answer.address) == (200, "1.1", "127.0.0.1")
    assert answer.body == ENCODED_PAGE
    assert answer.wire_bytes < len(ENCODED_PAGE)
    assert answer.content_type == "text/html"
    assert answer.header("Content-Encoding") == "gzip"
    assert all(name == name.lower() for name, _ in answer.headers)
    assert before <= answer.sent_at <= answer.sent_at + answer.latency <= time.monotonic()


def test_latency_counts_from_the_request_to_the_last_byte(site: SiteProcess) -> None:
    before = time.monotonic()
    answer = answer_of(fetch_each(site.url("/slow?ms=300"))[0])
    took = time.monotonic() - before
    assert 0.29 < answer.latency < took
    record = site.requests()[-1]
    assert before <= answer.sent_at <= record.arrived_monotonic + SLACK
    assert answer.sent_at + answer.latency >= record.arrived_monotonic + 0.29 - SLACK


def test_one_connection_is_used_again_and_again(site: SiteProcess) -> None:
    urls = [site.url(f"/site/9/p/{number}.html") for number in range(1, 9)]
    bodies = [answer_of(answer).body for answer in fetch_each(*urls)]
    assert bodies == [page_bytes(9, number, site.url("").rstrip("/")) for number in range(1, 9)]
    assert len(set(connections(site, 8))) == 1


def test_a_connection_belongs_to_one_host(site: SiteProcess) -> None:
    fetch_each(*[site.url("/site/3/", host) for host in (*HOSTS, *HOSTS)])
    one, two, one_again, two_again = connections(site, 4)
    assert (one, two) == (one_again, two_again)
    assert one != two


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("/body/chunked", "1.1"),
        ("/body/close-delimited", "1.1"),
        ("/body/http10", "1.0"),
        ("/body/short-length", "1.1"),
    ],
)
def test_every_lawful_framing_is_read_to_its_end(
    site: SiteProcess, path: str, version: str
) -> None:
    answer = answer_of(fetch_each(site.url(path))[0])
    assert (answer.body, answer.http_version) == (PAGE, version)


@pytest.mark.parametrize(("path", "status"), [("/body/empty", 200), ("/body/204-with-body", 204)])
def test_an_answer_without_a_body_is_an_answer(site: SiteProcess, path: str, status: int) -> None:
    answer = answer_of(fetch_each(site.url(path))[0])
    assert (answer.status, answer.body) == (status, b"")


@pytest.mark.parametrize("path", ["/body/short-length", "/body/204-with-body"])
def test_bytes_that_nobody_asked_for_are_never_the_next_answer(
    site: SiteProcess, path: str
) -> None:
    answers = fetch_each(*[site.url(path), site.url("/site/3/")] * 3)
    bodies = [answer_of(answer).body for answer in answers]
    assert POISON not in bodies
    assert set(bodies[1::2]) == {page_bytes(3, 0, site.url("").rstrip("/"))}


def test_a_redirect_is_an_answer_and_is_not_followed(site: SiteProcess) -> None:
    before = len(site.requests())
    answer = answer_of(fetch_each(site.url("/redirect/3"))[0])
    assert (answer.status, answer.header("location")) == (302, "/redirect/2")
    assert len(site.requests()) == before + 1


@pytest.mark.parametrize("name", RIGHT)
def test_every_coding_the_site_knows_is_removed(site: SiteProcess, name: str) -> None:
    assert answer_of(fetch_each(site.url(f"/encoded/{name}"))[0]).body == ENCODED_PAGE


def test_codings_named_on_two_header_lines_are_one_list() -> None:
    """RFC 9110 section 5.3: lines of one name are joined by commas, in order."""
    body = gzip.compress(gzip.compress(PAGE))
    wire = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\n"
    wire += b"Content-Length: %d\r\n\r\n%b" % (len(body), body)

    async def fetch() -> bytes:
        async with serve_bytes(wire) as url, open_transport() as transport:
            return answer_of(await transport.fetch(get(url))).body

    assert asyncio.run(fetch()) == PAGE


def test_an_early_hint_is_not_taken_for_the_answer() -> None:
    wire = b"HTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\n"
    wire += b"HTTP/1.1 200 OK\r\nX-Real: 1\r\nContent-Length: 2\r\n\r\nhi"

    async def fetch() -> Response:
        async with serve_bytes(wire) as url, open_transport() as transport:
            return answer_of(await transport.fetch(get(url)))

    answer = asyncio.run(fetch())
    assert (answer.status, answer.body, answer.header("x-hint")) == (200, b"hi", None)


def test_cookies_are_kept_for_one_job(site: SiteProcess) -> None:
    paths = [site.url("/cookie/set"), site.url("/cookie/check")]
    assert [answer_of(answer).status for answer in fetch_each(*paths)] == [200, 200]
    assert answer_of(fetch_each(paths[1])[0]).status == 403
    without = fetch_each(*paths, cookies=False)
    assert [answer_of(answer).status for answer in without] == [200, 403]


def test_a_cookie_set_on_one_connection_is_sent_on_another(site: SiteProcess) -> None:
    async def fetch() -> int:
        async with open_transport() as transport:
            await transport.fetch(get(site.url("/cookie/set")))
            hanging = asyncio.create_task(transport.fetch(get(site.url("/hang"))))
            await until(lambda: site.in_flight() == 1)
            status = answer_of(await transport.fetch(get(site.url("/cookie/check")))).status
            hanging.cancel()
            with pytest.raises(asyncio.CancelledError):
                await hanging
            one, another = connections(site, 2)
            assert one != another
            return status

    assert asyncio.run(fetch()) == 200


def test_a_name_can_be_given_an_address(site: SiteProcess) -> None:
    url = f"http://here.example:{site.port}/site/3/"
    answer = answer_of(fetch_each(url, resolve={"here.example": "127.0.0.2"})[0])
    assert answer.address == "127.0.0.2"
    assert site.requests()[-1].host_header == f"here.example:{site.port}"


def test_an_address_that_the_gate_closes_is_never_connected_to(site: SiteProcess) -> None:
    before = len(site.requests())

    async def fetch() -> None:
        async with open_transport("127.0.0.1") as transport:
            failure = failure_of(await transport.fetch(get(site.url("/", "127.0.0.2"))))
            assert failure.verdict == "egress-refused"
            assert "127.0.0.2 is a loopback address" in failure.reason
            assert (failure.transient, failure.hurts_host) == (False, False)
            assert answer_of(await transport.fetch(get(site.url("/")))).status == 200

    asyncio.run(fetch())
    assert len(site.requests()) == before + 1


def test_many_requests_run_at_once(site: SiteProcess) -> None:
    async def fetch() -> list[int]:
        limits = FetchLimits(timeout=PATIENCE)
        async with open_transport(limits=limits) as transport, asyncio.TaskGroup() as group:
            urls = [site.url(f"/links/leaf-{number}.html") for number in range(60)]
            site.hold()
            tasks = [group.create_task(transport.fetch(get(url))) for url in urls]
            await until(lambda: site.held() == 60)
            site.release()
        return [answer_of(task.result()).status for task in tasks]

    assert asyncio.run(fetch()) == [200] * 60


def test_connections_leave_no_socket_behind(site: SiteProcess) -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = open_files()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        fetch_each(*[site.url("/body/close-delimited")] * 20)
    assert open_files() == before
    assert not [str(warning.message) for warning in caught]
