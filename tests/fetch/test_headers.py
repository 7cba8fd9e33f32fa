"""The headers of requests, and credentials that only their origin gets."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import crawl4r
from crawl4r.errors import SettingsError
from crawl4r.fetch.headers import RequestHeaders, check_header, parse_head
from crawl4r.formats.content_coding import ACCEPTED
from crawl4r.model import Validators
from tests.fetch.asking import answer_of, fetch_each
from tests.site.identity import AUTHORIZATION, PASSWORD, USER
from tests.site.process import SiteProcess

HERE, ELSEWHERE = "127.0.0.1", "127.0.0.2"
SMUGGLED = ["a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\rb", "a\0b", "a\x0bb", "a\x7f"]


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess(hosts=[HERE, ELSEWHERE]) as running:
        yield running


def crawl(folder: Path, *seeds: str, refresh: bool = False, **fetch: Any) -> dict[str, str | None]:
    """Verdicts by URL."""
    settings = crawl4r.load_settings(
        environment={},
        overrides={
            "agent": {"contact": "https://example.org"},
            "network": {"allow_private": ["127.0.0.0/8"]},
            "politeness": {"rate": 0},
            "explore": {"enabled": False},
            "fetch": {"timeout": 5, "retries": 0, **fetch},
        },
    )

    async def run() -> dict[str, str | None]:
        async with crawl4r.Workspace(folder, settings) as workspace:
            await workspace.crawl(*seeds, refresh=refresh).finish()
            return {row.url: row.verdict for row in workspace.pages()}

    return asyncio.run(run())


@pytest.mark.parametrize("value", SMUGGLED)
def test_a_value_that_could_smuggle_a_line_is_refused(value: str) -> None:
    with pytest.raises(SettingsError, match=r"fetch\.headers\.X-Note"):
        check_header("X-Note", value, "fetch.headers.X-Note")


@pytest.mark.parametrize("name", ["", "a b", "a:b", "X-Evil\r\nY", "naïve", "a\0"])
def test_a_name_that_is_no_token_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="not a header name"):
        check_header(name, "1", "fetch.headers")


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "Connection"])
def test_headers_that_frame_the_request_are_ours(name: str) -> None:
    with pytest.raises(SettingsError, match="set by crawl4r itself"):
        check_header(name, "1", "fetch.headers")


@pytest.mark.parametrize(
    "section",
    [
        lambda value: {"fetch": {"headers": {"X-Note": value}}},
        lambda value: {"agent": {"user_agent": value}},
        lambda value: {"agent": {"contact": value}},
        lambda value: {"fetch": {"language": value}},
    ],
    ids=["fetch.headers", "agent.user_agent", "agent.contact", "fetch.language"],
)
def test_no_setting_that_becomes_a_header_can_smuggle_a_line(section: Any) -> None:
    for value in SMUGGLED:
        with pytest.raises(SettingsError):
            crawl4r.load_settings(environment={}, overrides=section(value))


def test_the_request_on_the_wire_says_who_we_are_and_what_we_read(site: SiteProcess) -> None:
    answer = answer_of(fetch_each(site.url("/headers"))[0])
    sent = {name.lower(): value for name, value in json.loads(answer.body)}
    assert sent["user-agent"] == "Crawlr/0 (tests; +https://example.org)"
    assert sent["accept-encoding"] == ACCEPTED
    assert sent["accept"].startswith("text/html")
    assert sent["host"] == f"{HERE}:{site.port}"
    assert {"cookie", "authorization", "referer"}.isdisjoint(sent)


@pytest.mark.parametrize(
    "stranger",
    [
        "http://example.org/",
        "https://example.org:8443/",
        "https://www.example.org/",
        "https://example.org.evil.example/",
        "https://evil.example/?https://example.org/",
    ],
)
def test_credentials_are_for_their_origin_alone(stranger: str) -> None:
    headers = RequestHeaders("me", auth={"https://example.org": "user:secret"})
    assert "Authorization: Basic dXNlcjpzZWNyZXQ=" in headers.for_url("https://example.org/a?b")
    assert not any("uthorization" in line for line in headers.for_url(stranger))


def test_credentials_do_not_follow_a_redirect_to_another_origin(
    site: SiteProcess, tmp_path: Path
) -> None:
    target = site.url("/auth/basic", ELSEWHERE)
    verdicts = crawl(
        tmp_path,
        site.url("/auth/basic"),
        site.url(f"/redirect-to?url={target}"),
        auth={site.url("").rstrip("/"): f"{USER}:{PASSWORD}"},
    )
    assert verdicts[site.url("/auth/basic")] == "ok"
    assert verdicts[target] == "http-error"
    credentials = {(r.host, r.header("authorization")) for r in site.requests()}
    assert (HERE, AUTHORIZATION) in credentials
    assert (ELSEWHERE, AUTHORIZATION) not in credentials


def test_an_authorization_header_of_the_settings_does_not_follow_a_redirect_either(
    site: SiteProcess, tmp_path: Path
) -> None:
    secret = "Bearer 0123456789"
    target = site.url("/headers", ELSEWHERE)
    seed = site.url(f"/redirect-to?url={target}")
    try:
        crawl(tmp_path, seed, headers={"Authorization": secret})
    except SettingsError:
        return  # refused outright, for `fetch.auth` knows origins and `fetch.headers` does not
    assert secret not in {r.header("authorization") for r in site.requests() if r.host == ELSEWHERE}


def test_cookies_stay_with_the_host_that_set_them(site: SiteProcess, tmp_path: Path) -> None:
    crawl(tmp_path, site.url("/cookie/set"), site.url("/headers?x", ELSEWHERE))
    cookies = {(r.host, r.path): r.header("cookie") for r in site.requests()}
    assert cookies[HERE, "/cookie/check"] == "flavour=oatmeal"
    assert not any(cookie for (host, _), cookie in cookies.items() if host == ELSEWHERE)


def test_validators_become_conditional_headers_unless_they_could_smuggle() -> None:
    headers = RequestHeaders("me")
    lines = headers.for_url("http://h/", Validators('"v1"', "Mon, 01 Jan 2024 00:00:00 GMT"))
    assert 'If-None-Match: "v1"' in lines
    assert "If-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT" in lines
    for evil in SMUGGLED:
        assert headers.for_url("http://h/", Validators(evil, evil)) == headers.for_url("http://h/")


def test_a_refresh_asks_conditionally_and_keeps_the_bytes_it_has(
    site: SiteProcess, tmp_path: Path
) -> None:
    seed = site.url("/site/3/")
    assert set(crawl(tmp_path, seed).values()) == {"ok"}
    assert set(crawl(tmp_path, seed, refresh=True).values()) == {"not-modified"}
    last = [r for r in site.requests() if r.path.startswith("/site/3/")][-3:]
    assert [r.status for r in last] == [304, 304, 304]
    assert all(r.header("if-none-match") for r in last)
    with crawl4r.Workspace(tmp_path, read_only=True) as workspace:
        page = workspace.get(seed)
        assert page is not None and page.body.startswith(b"<!doctype html>")


def test_the_headers_of_the_last_answer_are_read_however_odd() -> None:
    lines = [
        b"HTTP/1.1 103 Early Hints\r\n",
        b"Link: </style.css>\r\n",
        b"\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"X-Folded: one\r\n",
        b"  two\r\n",
        b"Set-Cookie: a=1\r\n",
        b"SET-COOKIE: b=2\r\n",
        b"no colon here\r\n",
        b"X-Latin1: caf\xe9\r\n",
        b"X-Empty:\r\n",
        b"\r\n",
    ]
    assert parse_head(b"".join(lines)) == [
        ("x-folded", "one two"),
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
        ("x-latin1", "café"),
        ("x-empty", ""),
    ]
