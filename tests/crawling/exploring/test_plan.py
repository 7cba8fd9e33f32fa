"""`crawl4r plan`: the estimate of a crawl before it begins."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.github.server import GithubSite
from tests.interfaces.cli.running import LOOPBACK, Background, run
from tests.site.process import SiteProcess
from tests.worlds.news import News
from tests.worlds.process import WorldProcess
from tests.worlds.traps import Traps


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


def test_a_plan_tells_pages_and_hours_from_sitemaps_and_a_sample() -> None:
    news = News(articles=400)
    with WorldProcess(news) as site:
        polite = ("--rate", "20", "--allow-private", "127.0.0.1")
        plan = run("plan", site.url("/"), *polite, "--sample", "30", "--json").json
        requests = len(site.requests())
    pages = plan["pages"]
    assert pages.keys() == {"low", "estimate", "high", "at_least", "basis"}
    assert 400 <= pages["estimate"] <= 900
    assert pages["low"] <= pages["estimate"] <= pages["high"]
    assert pages["at_least"] >= 400
    assert plan["delay_s"] == 0.05
    assert plan["hours"] == round(pages["estimate"] * 0.05 / 3600, 2)
    assert plan["bytes"] > 0
    assert plan["sources"]["sitemap"] > 300
    assert requests < 100, "a look, and no crawl"


@pytest.mark.parametrize(
    ("world", "pages"),
    [
        pytest.param(News(articles=400, sitemaps=False), 470, id="lists"),
        pytest.param(News(articles=400, sitemaps=False, feed=False), 470, id="lists, no feed"),
        pytest.param(Traps(), len(Traps().truth().real), id="traps"),
    ],
)
def test_without_a_sitemap_a_plan_is_within_a_factor_of_two(
    world: News | Traps, pages: int
) -> None:
    with WorldProcess(world) as site:
        told = run("plan", site.url("/"), *LOOPBACK, "--json").json["pages"]
    assert pages / 2 <= told["estimate"] <= pages * 2


def test_two_plans_of_a_site_that_stays_as_it_is_agree() -> None:
    with WorldProcess(News(articles=60, sitemaps=False)) as site:
        plans = [
            run("plan", site.url("/"), *LOOPBACK, "--sample", "10", "--json").json for _ in range(2)
        ]
    assert plans[0]["sampled"] == 10
    assert plans[0] == plans[1]


def test_links_alone_tell_the_size_of_the_test_site(site: SiteProcess) -> None:
    plan = run("plan", site.url("/site/500/"), *LOOPBACK, "--json").json
    assert 250 <= plan["pages"]["estimate"] <= 1_000
    assert plan["pages"]["low"] <= 500 <= plan["pages"]["high"]
    assert plan["sampled"] == 50


def test_a_small_site_is_read_to_its_end(site: SiteProcess) -> None:
    pages = run("plan", site.url("/site/20/"), *LOOPBACK, "--json").json["pages"]
    assert (pages["low"], pages["estimate"], pages["high"]) == (20, 20, 20)
    assert pages["basis"] == "every page was read"


def test_a_plan_for_people_ends_with_the_command_to_run() -> None:
    with WorldProcess(Traps()) as site:
        answer = run("plan", site.url("/"), *LOOPBACK, "--sample", "400")
    assert answer.code == 0
    assert "pages   about" in answer.text
    assert f"crawl4r crawl {site.url('/')}" in answer.text
    assert "--deny" in answer.text, "traps were met, and are named"


def test_the_command_to_run_has_all_that_the_plan_was_given(site: SiteProcess) -> None:
    given = [*LOOPBACK, "--contact", "you@example.org", "--deny", "/p/1[0-9]"]
    lines = run("plan", site.url("/site/20/"), *given).text.splitlines()
    assert lines[-2] == "next:"
    words = shlex.split(lines[-1])
    assert words[1:3] == ["crawl", site.url("/site/20/")]
    for option, value in zip(given[::2], given[1::2], strict=True):
        assert words[words.index(option) + 1] == value


def test_a_plan_says_on_stderr_what_it_does_and_keeps_stdout_for_json(site: SiteProcess) -> None:
    answer = run("plan", site.url("/site/500/"), *LOOPBACK, "--json")
    assert len(answer.lines) == 1
    first, *others = answer.err.splitlines()
    assert first == f"asking {site.url('/site/500/')} and its robots.txt"
    assert any(re.match(r"sample page \d+ of 50: \d+ URLs known", line) for line in others)


def test_ctrl_c_ends_a_plan_with_an_estimate_that_says_it_is_partial(site: SiteProcess) -> None:
    slow = ("--rate", "4", "--allow-private", "127.0.0.1")
    with Background("plan", site.url("/site/500/"), *slow) as plan:
        plan.wait_until_it_says("sample page")
        plan.send(signal.SIGINT)
        answer = plan.end()
    assert answer.code == 3
    assert answer.text.startswith("partial: stopped after")
    assert "pages   about" in answer.text


def test_ctrl_c_before_anything_is_known_says_so(site: SiteProcess) -> None:
    for command in ("plan", "map"):
        with Background(command, site.url("/hang"), *LOOPBACK) as look:
            look.wait_until_it_says("asking")
            look.send(signal.SIGINT)
            answer = look.end()
        assert answer.code == 3
        assert "stopped before" in answer.err.splitlines()[-1]


@pytest.mark.parametrize("command", ["plan", "map"])
@pytest.mark.parametrize(
    ("url", "options", "reason"),
    [
        ("http://127.0.0.1:1024/", LOOPBACK, "connect"),
        ("http://no-such-host.invalid/", (), "resolve"),
        ("http://{port}/", (), "--allow-private 127.0.0.1 would open it"),
    ],
    ids=["connection refused", "no such name", "the egress gate"],
)
def test_nothing_reachable_is_code_1_with_the_reason_in_the_last_line(
    site: SiteProcess, command: str, url: str, options: tuple[str, ...], reason: str
) -> None:
    answer = run(command, url.format(port=f"127.0.0.1:{site.port}"), *options, "--json")
    assert answer.code == 1
    assert answer.out == b""
    last = answer.err.splitlines()[-1]
    assert last.startswith("crawl4r: nothing of http")
    assert reason in last.lower()


@pytest.mark.parametrize("command", ["plan", "map"])
def test_a_certificate_that_is_not_trusted_is_code_1(command: str, tmp_path: Path) -> None:
    with GithubSite(tmp_path) as site:
        answer = run(command, f"https://{site.address}/", "--allow-private", site.address)
    assert answer.code == 1
    assert "certificate" in answer.err.splitlines()[-1].lower()


@pytest.mark.parametrize("command", ["plan", "map"])
def test_a_site_that_robots_txt_denies_is_code_1_and_names_the_line(
    command: str, tmp_path: Path
) -> None:
    rules = tmp_path / "robots.txt"
    rules.write_text("User-agent: *\nDisallow: /\n")
    with SiteProcess(robots_files={"127.0.0.1": rules}) as site:
        answer = run(command, site.url("/site/20/"), *LOOPBACK)
    assert answer.code == 1
    assert "robots-denied" in answer.err.splitlines()[-1]
