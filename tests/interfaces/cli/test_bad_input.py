"""Mistakes: the message names the key or the path, the exit code is 2, and nothing is lost."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.whole import assert_every_page_is_stored_once, expected_bodies
from tests.interfaces.cli.running import LOOPBACK, Answer, Background, crawl, run, wait_until
from tests.site.process import SiteProcess

BAD_SETTINGS = {
    "politeness: {speed: 3}": "politeness.speed",
    "scope: {deny: ['a(']}": "scope.deny[0]",
    "scope: {allow: ['ok', '(?=look)']}": "scope.allow[1]",
    "limits: {groups: {a: {per: '(', max: 1}}}": "limits.groups.a.per",
    "politeness: {rate: fast}": "politeness.rate",
    "network: {allow_private: [300.0.0.0/8]}": "network.allow_private",
    'fetch: {headers: {X-A: "b\\r\\nc"}}': "fetch.headers.X-A",
    "a: [1": "crawl4r.yaml",
}


@pytest.fixture
def kept(site: SiteProcess, crawled: Path) -> Iterator[Path]:
    """The finished crawl, which must be as whole after the test as before."""
    yield crawled
    assert_every_page_is_stored_once(crawled, expected_bodies(site, 12))


def assert_refused(answer: Answer, *names: str) -> None:
    assert (answer.code, answer.out) == (2, b"")
    for name in names:
        assert name in answer.err


@pytest.mark.parametrize("text", BAD_SETTINGS)
def test_a_bad_setting_is_named(site: SiteProcess, tmp_path: Path, text: str) -> None:
    (tmp_path / "crawl4r.yaml").write_text(text)
    assert_refused(run("crawl", site.url("/site/3/"), "-w", tmp_path), BAD_SETTINGS[text])
    assert not (tmp_path / "state.db").exists()


def test_a_bad_setting_of_the_environment_or_the_command_is_named(kept: Path) -> None:
    seed = "http://127.0.0.1:1/"
    rate = run("crawl", seed, "-w", kept, env={"CRAWL4R_POLITENESS__RATE": "x"})
    assert_refused(rate, "politeness.rate")
    unknown = run("crawl", seed, "-w", kept, env={"CRAWL4R_POLITENESS__SPEED": "1"})
    assert_refused(unknown, "politeness.speed")
    assert_refused(crawl(seed, kept, "--deny", "("), "scope.deny[0]")
    assert_refused(crawl(seed, kept, "--strategy", "sideways"), "--strategy")


def test_a_profile_that_asks_for_a_contact_refuses_to_go_without(tmp_path: Path) -> None:
    answer = run("crawl", "https://github.com/a/b", "-w", tmp_path / "ws", "--profile", "github")
    assert_refused(answer, "agent.contact")
    unknown = run("crawl", "https://github.com/", "-w", tmp_path / "ws", "--profile", "gitlab")
    assert_refused(unknown, "gitlab", "github")


@pytest.mark.parametrize(
    "seed", ["mailto:me@example.org", "http://[::1", "/etc/passwd", "ftp://a/"]
)
def test_a_seed_that_is_no_url_is_named(kept: Path, seed: str) -> None:
    assert_refused(crawl(seed, kept), seed)


def test_a_seed_out_of_scope_is_named_with_the_rule(site: SiteProcess, kept: Path) -> None:
    seed = site.url("/site/12/")
    assert_refused(crawl(seed, kept, "--deny", "/site/"), seed, "deny /site/")
    assert_refused(crawl(seed, kept, "--host", "example.org"), seed, "not in scope")


def test_a_crawl_of_nothing_asks_for_a_seed(tmp_path: Path) -> None:
    assert_refused(run("crawl", "-w", tmp_path), "URL")


@pytest.mark.parametrize("in_the_way", ["ws", "ws/state.db", "ws/store", "ws/metadata"])
def test_a_workspace_that_cannot_be_written_is_named(
    site: SiteProcess, tmp_path: Path, in_the_way: str
) -> None:
    """We may be root, whom no permission stops: another kind of file does."""
    obstacle = tmp_path / in_the_way
    obstacle.parent.mkdir(exist_ok=True)
    if obstacle.name == "state.db":
        obstacle.mkdir()
    else:
        obstacle.write_text("mine")
    assert_refused(crawl(site.url("/site/3/"), tmp_path / "ws"), str(obstacle))
    assert obstacle.is_dir() or obstacle.read_text() == "mine"


def test_a_workspace_of_a_newer_version_is_left_alone(site: SiteProcess, tmp_path: Path) -> None:
    workspace, url = tmp_path / "ws", site.url("/site/12/")
    crawl(url, workspace)
    state = workspace / "state.db"
    with contextlib.closing(sqlite3.connect(state)) as database:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        database.execute("PRAGMA user_version = 99")
    assert_refused(crawl(url, workspace), str(state), "99", "newer")
    for command in (["pages"], ["get", url, "--raw"], ["resume"]):
        assert_refused(run(*command, "--workspace", workspace), str(state))
    with contextlib.closing(sqlite3.connect(state)) as database:
        database.execute(f"PRAGMA user_version = {version}")
    assert_every_page_is_stored_once(workspace, expected_bodies(site, 12))


def test_a_workspace_has_one_writer(site: SiteProcess, tmp_path: Path) -> None:
    hanging = site.url("/hang?two")
    with Background("crawl", hanging, "-w", tmp_path, *LOOPBACK, "--json") as first:
        wait_until(lambda: site.in_flight() == 1)
        second = run("reprocess", "-w", tmp_path)
        assert_refused(second, str(tmp_path), str(first.process.pid))
        assert_refused(crawl(hanging, tmp_path), str(first.process.pid))
        assert_refused(run("reset", "--yes", "-w", tmp_path), str(tmp_path))
        assert first.process.poll() is None
    (row,) = run("pages", "-w", tmp_path, "--json").lines
    assert row["url"] == hanging


@pytest.mark.parametrize("command", ["pages", "status", "get http://a/", "why http://a/", "resume"])
def test_a_workspace_that_is_not_there_is_named(tmp_path: Path, command: str) -> None:
    missing = tmp_path / "none"
    assert_refused(run(*command.split(), "--workspace", missing), str(missing))
    assert not missing.exists()


def test_bad_arguments_of_get_are_named(site: SiteProcess, kept: Path) -> None:
    url = site.url("/site/12/")
    assert_refused(run("get", url, "-w", kept, "--at", "yesterday"), "--at", "yesterday")
    assert_refused(run("get", url, "--sha256", "00" * 32, "-w", kept), "--sha256")
    assert_refused(run("get", site.url("/unknown"), "-w", kept), site.url("/unknown"))
    assert_refused(run("get", "http://[", "-w", kept), "http://[")
