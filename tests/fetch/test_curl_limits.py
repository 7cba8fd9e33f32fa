"""The transport against a server that is slow, broken, endless or gone; and when we let go."""

import asyncio
import os
import socket
import time
from collections.abc import Iterator

import pytest

from crawl4r.fetch.curl import FetchLimits
from crawl4r.model import Verdict
from tests.fetch.asking import answer_of, failure_of, fetch_each, get, open_transport, until
from tests.fetch.memory import MEGABYTE, watch_memory
from tests.interfaces.cli.running import PATIENCE, wait_until
from tests.site.process import SiteProcess

SMALL = FetchLimits(timeout=10, max_bytes=MEGABYTE, max_decoded_bytes=2 * MEGABYTE)
IMPATIENT = FetchLimits(connect_timeout=0.3, timeout=0.5)


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


def wait_until_nobody_is_served(site: SiteProcess) -> None:
    wait_until(lambda: site.in_flight() == 0)


@pytest.mark.parametrize("path", ["/hang", "/drip?ms=50", "/slow-headers?ms=200&n=999"])
def test_an_answer_that_takes_too_long_is_given_up(site: SiteProcess, path: str) -> None:
    started = time.monotonic()
    failure = failure_of(fetch_each(site.url(path), limits=IMPATIENT)[0])
    assert time.monotonic() - started > 0.45
    assert failure.verdict is Verdict.NETWORK_ERROR
    assert failure.reason.startswith("timeout:")
    assert failure.transient
    wait_until_nobody_is_served(site)


@pytest.mark.parametrize("path", ["/endless", "/endless?chunked=1", "/big?mb=20", "/big?mb=1"])
def test_a_request_may_be_content_with_the_start_of_a_body(site: SiteProcess, path: str) -> None:
    async def fetch() -> None:
        async with open_transport(limits=SMALL) as transport:
            answer = answer_of(await transport.fetch(get(site.url(path), cut_at=100_000)))
            assert answer.status == 200
            assert 100_000 <= len(answer.body) < 200_000
            whole = answer_of(await transport.fetch(get(site.url("/site/3/"), cut_at=100_000)))
            assert whole.body.endswith(b"</html>\n")
            page = answer_of(await transport.fetch(get(site.url("/big?mb=1"))))
            assert len(page.body) == MEGABYTE

    asyncio.run(fetch())
    wait_until_nobody_is_served(site)


def test_a_drip_below_the_slowest_speed_is_given_up_before_the_time_limit(
    site: SiteProcess,
) -> None:
    limits = FetchLimits(timeout=300, slowest=100, slow_seconds=1)
    failure = failure_of(fetch_each(site.url("/drip?ms=100&n=600"), limits=limits)[0])
    assert failure.reason.startswith("timeout:")


@pytest.mark.parametrize(
    ("path", "word", "transient"),
    [
        ("/reset", "reset", True),
        ("/close", "empty-reply", True),
        ("/garbage", "not-http", False),
        ("/body/truncated", "truncated", True),
        ("/body/unended-chunks", "truncated", True),
        ("/body/broken-chunks", "chunk", True),
        ("/body/two-lengths", "Content-Length", False),
        ("/head/no-colon", "not-http", False),
    ],
)
def test_a_broken_answer_has_a_name(
    site: SiteProcess, path: str, word: str, transient: bool
) -> None:
    failure = failure_of(fetch_each(site.url(path))[0])
    assert failure.verdict is Verdict.NETWORK_ERROR
    assert word in failure.reason
    assert failure.transient is transient


def test_nobody_listening_is_a_failure_worth_another_try() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    failure = failure_of(fetch_each(f"http://127.0.0.1:{port}/")[0])
    assert failure.reason.startswith("connect:")
    assert failure.transient


@pytest.mark.parametrize(
    "path", ["/head/megabyte", "/head/endless", "/head/ten-thousand", "/head/long-line"]
)
def test_too_many_headers_are_hostile_and_not_worth_another_try(
    site: SiteProcess, path: str
) -> None:
    with watch_memory() as growth:
        failure = failure_of(fetch_each(site.url(path))[0])
    assert failure.verdict is Verdict.HOSTILE
    assert failure.reason.startswith("headers-too-large: ")
    assert len(failure.reason) > len("headers-too-large: ")
    assert not failure.transient
    assert not failure.hurts_host
    assert growth.peak < 20 * MEGABYTE


@pytest.mark.parametrize("path", ["/head/folded", "/head/duplicated", "/head/non-ascii"])
def test_merely_strange_headers_do_no_harm(site: SiteProcess, path: str) -> None:
    assert answer_of(fetch_each(site.url(path))[0]).status == 200


@pytest.mark.parametrize("path", ["/big?mb=2", "/endless", "/endless?chunked=1", "/big?mb=4000"])
def test_a_body_over_the_limit_is_too_large_whether_announced_or_not(
    site: SiteProcess, path: str
) -> None:
    with watch_memory() as growth:
        failure = failure_of(fetch_each(site.url(path), limits=SMALL)[0])
    assert failure.verdict is Verdict.TOO_LARGE
    assert (failure.transient, failure.hurts_host) == (False, False)
    assert growth.peak < 20 * MEGABYTE
    wait_until_nobody_is_served(site)


def test_a_body_of_exactly_the_limit_is_taken(site: SiteProcess) -> None:
    assert len(answer_of(fetch_each(site.url("/big?mb=1"), limits=SMALL)[0]).body) == MEGABYTE


@pytest.mark.parametrize("kind", ["gzip", "br", "zstd", "double-gzip"])
def test_the_limit_on_decoded_bytes_is_exact(site: SiteProcess, kind: str) -> None:
    exact, more = fetch_each(
        site.url(f"/bomb/{kind}?mb=2"), site.url(f"/bomb/{kind}?mb=3"), limits=SMALL
    )
    assert len(answer_of(exact).body) == 2 * MEGABYTE
    assert failure_of(more).verdict is Verdict.TOO_LARGE
    assert str(2 * MEGABYTE) in failure_of(more).reason


def test_a_cancelled_fetch_leaves_the_transport_usable(site: SiteProcess) -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    async def fetch() -> None:
        async with open_transport() as transport:
            assert answer_of(await transport.fetch(get(site.url("/site/3/")))).status == 200
            before = open_files()
            for turns in (0, 1, 2, 5, None) * 4:
                task = asyncio.create_task(transport.fetch(get(site.url("/hang"))))
                for _ in range(turns or 0):
                    await asyncio.sleep(0)
                if turns is None:
                    await until(lambda: site.in_flight() == 1)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            answers = await asyncio.gather(
                *(transport.fetch(get(site.url(f"/site/9/p/{n}.html"))) for n in range(1, 9))
            )
            assert [answer_of(answer).status for answer in answers] == [200] * 8
            assert open_files() <= before + 8

    asyncio.run(fetch())
    wait_until_nobody_is_served(site)


def test_cancelling_one_of_many_does_not_touch_the_others(site: SiteProcess) -> None:
    async def fetch() -> None:
        async with open_transport() as transport:
            urls = [site.url(f"/links/leaf-{number}.html") for number in range(20)]
            site.hold()
            tasks = [asyncio.create_task(transport.fetch(get(url))) for url in urls]
            await until(lambda: site.held() == 20)
            for task in tasks[::2]:
                task.cancel()
            site.release()
            answers = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(answer, asyncio.CancelledError) for answer in answers[::2])
            assert [answer_of(answer).status for answer in answers[1::2]] == [200] * 10

    asyncio.run(fetch())


def test_closing_ends_requests_under_way_as_failures(site: SiteProcess) -> None:
    async def fetch() -> None:
        async with open_transport() as transport:
            task = asyncio.create_task(transport.fetch(get(site.url("/hang"))))
            await until(lambda: site.in_flight() == 1)
        async with asyncio.timeout(PATIENCE):
            await asyncio.wait([task])
        assert not task.cancelled()  # no code cancelled it
        assert failure_of(task.result()).verdict is Verdict.NETWORK_ERROR

    asyncio.run(fetch())
    wait_until_nobody_is_served(site)
