"""The test site does what the other tests believe it does."""

import gzip
import json
import re
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from html import unescape
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import brotli
import pytest

from tests.interfaces.cli.running import wait_until
from tests.polite.access import SLACK
from tests.site import bombs, content, encodings, links
from tests.site.pages import page_bytes, page_paths
from tests.site.process import SiteProcess
from tests.site.robots import rules_of_size

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    robots = {"127.0.0.1": "redirects:4", "127.0.0.2": "size:600000"}
    with SiteProcess(hosts=HOSTS, robots=robots) as running:
        yield running


def get(url: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    """Status, body and headers, errors included; header names with _ for -."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, headers=named), timeout=10)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.read(), dict(answer.headers)


def ask_raw(connection: socket.socket, path: str) -> HTTPResponse:
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: raw\r\n\r\n".encode())
    answer = HTTPResponse(connection)
    answer.begin()
    return answer


def read_to_end(site: SiteProcess, path: str) -> bytes:
    """All bytes on the wire until the site closes."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: connection.recv(65536), b""))


def wait_until_in_flight(site: SiteProcess, count: int, host: str = "127.0.0.1") -> None:
    wait_until(lambda: site.in_flight(host) == count)


def test_one_connection_serves_many_requests(site: SiteProcess) -> None:
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as connection:
        for path in ("/site/3/", "/body/chunked", "/status/404", "/status/204", "/nowhere"):
            ask_raw(connection, path).read()
    last = site.requests()[-5:]
    assert [record.status for record in last] == [200, 200, 404, 204, 404]
    assert len({record.connection for record in last}) == 1


def test_the_log_says_who_asked_what_and_when(site: SiteProcess) -> None:
    before = time.monotonic(), time.time()
    status, _, _ = get(site.url("/slow?ms=60", host="127.0.0.2"), User_Agent="me/1", X_Odd="yes")
    after = time.monotonic(), time.time()
    record = site.requests()[-1]
    assert (record.host, record.host_header) == ("127.0.0.2", f"127.0.0.2:{site.port}")
    assert (record.method, record.path, record.status) == ("GET", "/slow?ms=60", status)
    assert (record.user_agent, record.header("x-odd")) == ("me/1", "yes")
    assert before[0] - SLACK < record.arrived_monotonic < record.ended_monotonic - 0.05 < after[0]
    assert before[1] - 1 < record.arrived_wall < record.ended_wall < after[1] + 1
    assert (record.in_flight, record.is_complete) == (1, True)
    assert record.bytes_sent > 100


def test_requests_in_flight_are_counted_for_each_host(site: SiteProcess) -> None:
    hosts = ("127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.3")
    threads = [threading.Thread(target=get, args=[site.url("/site/3/", host)]) for host in hosts]
    for host in hosts:
        site.hold(host)
    for thread in threads:
        thread.start()
    wait_until_in_flight(site, 3)
    wait_until_in_flight(site, 1, "127.0.0.3")
    for host in hosts:
        site.release(host)
    for thread in threads:
        thread.join()
    last = site.requests()[-4:]
    assert sorted((r.host, r.in_flight) for r in last) == [
        ("127.0.0.1", 1),
        ("127.0.0.1", 2),
        ("127.0.0.1", 3),
        ("127.0.0.3", 1),
    ]


def test_a_host_that_is_held_answers_as_many_as_it_was_told(site: SiteProcess) -> None:
    held, before = "127.0.0.3", len(site.requests())
    site.hold(held, after=2)
    threads = [threading.Thread(target=get, args=[site.url("/site/3/", held)]) for _ in range(5)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(site.requests()) == before + 2)
    wait_until_in_flight(site, 3, held)
    assert get(site.url("/robots.txt", held))[0] == 404
    assert get(site.url("/site/3/"))[0] == 200
    site.hold(held, after=1)
    wait_until_in_flight(site, 2, held)
    site.release(held)
    for thread in threads:
        thread.join()
    assert len(site.requests()) == before + 7


def test_a_request_arrives_when_the_kernel_has_it(site: SiteProcess) -> None:
    """However long the site takes until it reads it."""
    process = site._process
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as connection:
        ask_raw(connection, "/site/3/").read()
        process.send_signal(signal.SIGSTOP)
        connection.sendall(b"GET /site/3/ HTTP/1.1\r\nHost: raw\r\n\r\n")
        sent = time.monotonic()
        time.sleep(0.2)
        process.send_signal(signal.SIGCONT)
        answer = HTTPResponse(connection)
        answer.begin()
        answer.read()
    assert site.requests()[-1].arrived_monotonic < sent + 0.1


def test_a_client_that_gives_up_is_no_longer_in_flight(site: SiteProcess) -> None:
    with socket.create_connection(("127.0.0.1", site.port)) as connection:
        connection.sendall(b"GET /hang HTTP/1.1\r\n\r\n")
        wait_until_in_flight(site, 1)
    wait_until_in_flight(site, 0)
    record = site.requests()[-1]
    assert (record.path, record.status, record.is_complete) == ("/hang", None, False)


def test_the_generated_site_is_reachable_and_byte_exact(site: SiteProcess) -> None:
    origin = site.url("")
    waiting, seen = ["/site/40/"], {"/site/40/"}
    while waiting:
        path = waiting.pop()
        _, body, _ = get(origin + path)
        number = int("".join(re.findall(r"(\d+)\.html", path)) or 0)
        assert body == page_bytes(40, number, origin)
        hrefs = [unescape(href) for href in re.findall(r'href="([^"]*)"', body.decode())]
        assert len(hrefs) == 10
        targets = {urlsplit(urldefrag(urljoin(origin + path, href)).url) for href in hrefs}
        fresh = {target.path for target in targets} - seen
        seen |= fresh
        waiting += fresh
    assert seen == page_paths(40)


def test_an_unchanged_page_is_a_304(site: SiteProcess) -> None:
    url = site.url("/site/5/p/3.html")
    _, _, headers = get(url)
    assert get(url, If_None_Match=headers["ETag"])[:2] == (304, b"")
    assert get(url, If_Modified_Since=headers["Last-Modified"])[:2] == (304, b"")
    assert get(url, If_None_Match='"other"')[0] == 200
    assert get(site.url("/site/5/p/5.html"))[0] == 404


def test_bombs_go_off_at_the_size_asked_for(site: SiteProcess) -> None:
    decoders = {
        "gzip": gzip.decompress,
        "br": brotli.decompress,
        "zstd": zstd.decompress,
        "double-gzip": lambda data: gzip.decompress(gzip.decompress(data)),
    }
    for kind, decode in decoders.items():
        _, body, headers = get(site.url(f"/bomb/{kind}?mb=20"))
        assert headers["Content-Encoding"] == bombs.CONTENT_ENCODINGS[kind]
        assert len(body) < 100_000
        assert len(decode(body)) == 20 * bombs.MEGABYTE


def test_robots_answers_depend_on_the_host(site: SiteProcess) -> None:
    assert get(site.url("/robots.txt"))[:2] == (200, b"User-agent: *\nDisallow: /private/\n")
    hops = [record.path for record in site.requests()[-5:]]
    assert hops == ["/robots.txt", *(f"/robots-hop/{left}" for left in (3, 2, 1, 0))]
    _, large, _ = get(site.url("/robots.txt", host="127.0.0.2"))
    assert large == rules_of_size(len(large)) == rules_of_size(600_000)
    assert get(site.url("/robots.txt", host="127.0.0.3"))[0] == 404


def test_a_robots_file_is_read_anew_each_time(tmp_path: Path) -> None:
    rules = tmp_path / "robots.txt"
    with SiteProcess(robots_files={"127.0.0.1": rules}) as own:
        for text in (b"User-agent: a\n", b"User-agent: b\n"):
            rules.write_bytes(text)
            assert get(own.url("/robots.txt"))[1] == text


def test_flaky_answers_recover_and_retry_after_is_sent(site: SiteProcess) -> None:
    url = site.url("/flaky/one?fail=2&status=429&retry_after=3")
    assert [get(url)[0] for _ in range(4)] == [429, 429, 200, 200]
    assert get(site.url("/status/503?retry_after=2"))[2]["Retry-After"] == "2"
    assert get(site.url("/status/503?retry_after=date:2"))[2]["Retry-After"].endswith("GMT")


def test_faults_are_faulty_on_the_wire(site: SiteProcess) -> None:
    assert read_to_end(site, "/close") == b""
    assert not read_to_end(site, "/garbage").startswith(b"HTTP")
    assert read_to_end(site, "/body/http10").startswith(b"HTTP/1.0 200")
    assert len(read_to_end(site, "/head/megabyte")) > 1 << 20
    assert read_to_end(site, "/body/short-length").count(b"HTTP/1.1 200") == 2
    with pytest.raises(ConnectionResetError):
        read_to_end(site, "/reset?after=10")


def test_an_endless_body_flows_until_the_client_leaves(site: SiteProcess) -> None:
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as connection:
        connection.sendall(b"GET /endless HTTP/1.1\r\n\r\n")
        assert sum(len(connection.recv(65536)) for _ in range(100)) > 100_000
    wait_until_in_flight(site, 0)


def test_credentials_and_cookies_are_checked_and_logged(site: SiteProcess) -> None:
    assert get(site.url("/auth/basic"))[0] == 401
    authorization = "Basic Y3Jhd2xlcjpvcGVuc2VzYW1l"
    assert get(site.url("/auth/basic"), Authorization=authorization)[0] == 200
    assert site.requests()[-1].header("authorization") == authorization
    cookie = get(site.url("/cookie/set"))[2]["Set-Cookie"].partition(";")[0]
    assert get(site.url("/cookie/check"))[0] == 403
    assert get(site.url("/cookie/check"), Cookie=cookie)[0] == 200
    assert ["X-Odd", "1"] in json.loads(get(site.url("/headers"), X_Odd="1")[1])


def test_every_other_route_answers(site: SiteProcess) -> None:
    paths = [f"/links/{name}" for name in links.PAGES]
    paths += [f"/charset/{name}" for name in content.CHARSETS]
    paths += [f"/lying/{name}" for name in content.LYING]
    paths += [f"/encoded/{name}" for name in encodings.ALL]
    paths += ["/calendar/2024/12/", "/session/", "/facets?color=red", "/deeper/", "/soft-404/x"]
    paths += [
        "/nested?n=9",
        "/stray?n=9",
        "/attributes?n=9",
        "/many-links?n=9",
        "/long-link?n=99",
        "/big?mb=1",
    ]
    paths += ["/redirect/2", "/redirect-odd/relative", "/meta-refresh", "/body/close-delimited"]
    paths += ["/body/chunked", "/body/empty", "/slow-headers?ms=1", "/drip?ms=1&n=5", "/"]
    assert {path: get(site.url(path))[0] for path in paths} == dict.fromkeys(paths, 200)


def test_it_ends_when_stdin_closes() -> None:
    with SiteProcess() as own, socket.create_connection(("127.0.0.1", own.port)) as connection:
        connection.sendall(b"GET /hang HTTP/1.1\r\n\r\n")
        wait_until_in_flight(own, 1)
        own.close()
    assert [record.is_complete for record in own.requests()] == [False]


def test_it_refuses_addresses_that_others_could_reach() -> None:
    with pytest.raises(RuntimeError):
        SiteProcess(hosts=["0.0.0.0"])
