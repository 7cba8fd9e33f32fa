"""A run goes by its own options: what it names, and what earlier crawls of the workspace named."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.cli.running import LOOPBACK, Answer, Background, run, wait_until
from tests.site.pages import BRANCHES, page_paths
from tests.site.process import SiteProcess

SIZE = 40
HIGH = "/p/3[0-9]"  # the last ten pages of the site


class Asked:
    """The paths that the site is asked for from now on."""

    def __init__(self, site: SiteProcess) -> None:
        self._site = site
        self._before = len(site.requests())

    def since(self) -> list[str]:
        """Those since the last call."""
        records = self._site.requests()
        new, self._before = records[self._before :], len(records)
        return [record.path for record in new if record.path.startswith(f"/site/{SIZE}/")]


@pytest.fixture
def pages(site: SiteProcess) -> Asked:
    return Asked(site)


def crawl(workspace: Path, *words: str) -> Answer:
    return run("crawl", *words, "--workspace", workspace, "--json")


def seed(site: SiteProcess) -> str:
    return site.url(f"/site/{SIZE}/")


def rows(workspace: Path) -> dict[str, dict[str, Any]]:
    """Known URLs by path."""
    listed = run("pages", "--workspace", workspace, "--json").lines
    return {"/" + row["url"].split("/", 3)[3]: row for row in listed}


def matching(pattern: str, paths: Iterable[str]) -> set[str]:
    return {path for path in paths if re.search(pattern, path)}


def test_a_forgotten_allow_private_is_mended_by_naming_it(
    site: SiteProcess, tmp_path: Path
) -> None:
    first = crawl(tmp_path, seed(site), "--rate", "0")
    assert (first.code, first.json["pages"]) == (1, 0)
    again = crawl(tmp_path, seed(site), "--allow-private", "127.0.0.1")
    assert (again.code, again.json["pages"], again.json["refused"]) == (0, SIZE, 0)


def test_a_refresh_goes_by_the_options_of_the_crawl(
    site: SiteProcess, pages: Asked, tmp_path: Path
) -> None:
    options = (*LOOPBACK, "--depth", "2", "--deny", HIGH, "--max-pages", "9")
    assert crawl(tmp_path, seed(site), *options).json["pages"] == 9
    kept = set(pages.since())
    answer = crawl(tmp_path, "--refresh")
    assert (answer.code, answer.json["pages"]) == (0, 9)
    assert answer.json["options"] == {
        "allow_private": ["127.0.0.1"],
        "deny": [HIGH],
        "depth": 2,
        "max_pages": 9,
        "rate": 0.0,
    }
    assert set(pages.since()) <= kept
    assert {row["state"] for path, row in rows(tmp_path).items() if path in kept} == {"done"}


def test_a_refresh_never_makes_a_kept_page_refused(
    site: SiteProcess, pages: Asked, tmp_path: Path
) -> None:
    crawl(tmp_path, seed(site), *LOOPBACK)
    pages.since()
    answer = crawl(tmp_path, "--refresh", "--forget", "allow-private")
    assert pages.since() == []
    assert (answer.json["pages"], answer.json["refused"], answer.json["done"]) == (SIZE, 0, SIZE)
    story = run("why", seed(site), "--workspace", tmp_path, "--json").json
    assert (story["state"], story["verdict"]) == ("done", "ok")
    assert story["reason"].startswith("not visited again: ")
    again = crawl(tmp_path, "--refresh", "--allow-private", "127.0.0.1")
    assert (again.code, again.json["visits"]) == (0, SIZE)
    assert set(pages.since()) == page_paths(SIZE)


def test_a_larger_depth_visits_what_was_too_deep(site: SiteProcess, tmp_path: Path) -> None:
    crawl(tmp_path, seed(site), *LOOPBACK, "--depth", "1")
    before = len([row for row in rows(tmp_path).values() if row["state"] == "done"])
    assert BRANCHES < before < SIZE
    assert crawl(tmp_path, "--depth", "9").json["pages"] == SIZE


def test_a_wider_allow_visits_what_no_pattern_matched(site: SiteProcess, tmp_path: Path) -> None:
    start = f"/site/{SIZE}/$"
    first = crawl(tmp_path, seed(site), *LOOPBACK, "--allow", start, "--allow", "/p/[1-4]\\.")
    assert first.json["pages"] == 1 + BRANCHES
    wider = crawl(tmp_path, "--allow", start, "--allow", "/p/")
    assert (wider.code, wider.json["pages"], wider.json["refused"]) == (0, SIZE, 0)


def test_a_dropped_deny_visits_what_it_kept_out(
    site: SiteProcess, pages: Asked, tmp_path: Path
) -> None:
    first = crawl(tmp_path, seed(site), *LOOPBACK, "--deny", HIGH)
    assert not matching(HIGH, pages.since())
    assert first.json["refused"]
    again = crawl(tmp_path, "--forget", "deny")
    assert (again.code, again.json["pages"], again.json["refused"]) == (0, SIZE, 0)


def test_a_deny_that_is_dropped_from_the_file_no_longer_holds(
    site: SiteProcess, tmp_path: Path
) -> None:
    file = tmp_path / "crawl4r.yaml"
    file.write_text(json.dumps({"scope": {"deny": [HIGH]}}))
    assert crawl(tmp_path, seed(site), *LOOPBACK).json["pages"] < SIZE
    file.write_text("{}")
    assert crawl(tmp_path).json["pages"] == SIZE


def test_a_new_deny_reaches_urls_that_wait(site: SiteProcess, pages: Asked, tmp_path: Path) -> None:
    crawl(tmp_path, seed(site), *LOOPBACK, "--max-pages", "8")
    waiting = {path for path, row in rows(tmp_path).items() if row["state"] == "pending"}
    pattern = "/p/[0-9]*[02468]\\.html"
    assert matching(pattern, waiting)
    kept = matching(pattern, pages.since())
    answer = crawl(tmp_path, "--deny", pattern, "--forget", "max-pages")
    assert not matching(pattern, pages.since())
    assert answer.json["pending"] == 0
    found = rows(tmp_path)
    assert {found[path]["state"] for path in kept} == {"done"}
    assert {found[path]["state"] for path in matching(pattern, waiting)} == {"refused"}


def test_a_deny_by_sighup_reaches_urls_that_wait(
    site: SiteProcess, pages: Asked, tmp_path: Path
) -> None:
    site.hold(after=1)
    command = ("crawl", seed(site), "--workspace", tmp_path, *LOOPBACK, "--json")
    with Background(*command) as running:
        wait_until(lambda: site.held() == 1)  # the first page named others; all but this one wait
        (tmp_path / "crawl4r.yaml").write_text(json.dumps({"scope": {"deny": ["/p/"]}}))
        running.send(signal.SIGHUP)
        running.wait_until_it_says("settings_reloaded")
        site.release()
        answer = running.end()
    assert (answer.json["pages"], answer.json["pending"]) == (2, 0)


def test_robots_that_no_longer_bind_are_asked_about_again(tmp_path: Path) -> None:
    robots = tmp_path / "robots.txt"
    robots.write_text(f"User-agent: *\nDisallow: /site/{SIZE}/p/\n")
    with SiteProcess(robots_files={"127.0.0.1": robots}) as site:
        assert crawl(tmp_path / "ws", seed(site), *LOOPBACK).json["pages"] == 1
        env = {"CRAWL4R_POLITENESS__OBEY_ROBOTS": "false"}
        answer = run("crawl", "--workspace", tmp_path / "ws", "--json", env=env)
    assert answer.json["pages"] == SIZE


def test_caps_are_those_of_this_run(site: SiteProcess, tmp_path: Path) -> None:
    file = tmp_path / "crawl4r.yaml"

    def with_cap(most: int) -> Any:
        group = {"per": "/site/([0-9]+)/p/", "max": most}
        file.write_text(json.dumps({"limits": {"groups": {"pages": group}}}))
        return crawl(
            tmp_path, *([] if (tmp_path / "state.db").exists() else [seed(site), *LOOPBACK])
        )

    assert with_cap(3).json["pages"] == 1 + 3
    assert with_cap(7).json["pages"] == 1 + 7
    assert with_cap(5).json["pages"] == 1 + 7  # what is kept stays
    file.write_text("{}")
    assert crawl(tmp_path).json["pages"] == SIZE


def test_a_smaller_cap_reaches_urls_that_wait(site: SiteProcess, tmp_path: Path) -> None:
    crawl(tmp_path, seed(site), *LOOPBACK, "--max-pages", "2")
    group = {"per": "/site/([0-9]+)/p/", "max": 3}
    (tmp_path / "crawl4r.yaml").write_text(json.dumps({"limits": {"groups": {"pages": group}}}))
    answer = crawl(tmp_path, "--forget", "max-pages")
    assert (answer.json["pages"], answer.json["pending"]) == (1 + 3, 0)


def test_page_types_are_those_of_this_run(site: SiteProcess, tmp_path: Path) -> None:
    file = tmp_path / "crawl4r.yaml"
    types = {"start": f"/site/{SIZE}/$", "low": "/p/[0-9]\\.html"}
    file.write_text(json.dumps({"scope": {"only_page_types": True, "page_types": types}}))
    assert crawl(tmp_path, seed(site), *LOOPBACK).json["pages"] == 10
    types["high"] = "/p/[0-9]+\\.html"
    file.write_text(json.dumps({"scope": {"only_page_types": True, "page_types": types}}))
    assert crawl(tmp_path).json["pages"] == SIZE


@pytest.mark.parametrize("command", ["crawl", "resume"])
def test_resume_and_crawl_go_on_by_the_same_options(
    site: SiteProcess, pages: Asked, tmp_path: Path, command: str
) -> None:
    crawl(tmp_path, seed(site), *LOOPBACK, "--deny", HIGH, "--max-pages", "5")
    answer = run(command, "--workspace", tmp_path, "--max-pages", "1000", "--json")
    assert (answer.code, answer.json["pending"]) == (0, 0)
    assert answer.json["options"]["max_pages"] == 1000
    assert not matching(HIGH, pages.since())


def test_an_option_that_is_off_can_be_named_and_remembered(
    site: SiteProcess, tmp_path: Path
) -> None:
    crawl(tmp_path, seed(site), *LOOPBACK, "--extract", "--max-pages", "2")
    answer = crawl(tmp_path, "--no-extract", "--max-pages", "3")
    assert answer.json["options"]["extract"] is False
    assert crawl(tmp_path, "--max-pages", "4").json["options"]["extract"] is False


def test_a_person_reads_which_options_are_in_force(site: SiteProcess, tmp_path: Path) -> None:
    crawl(tmp_path, seed(site), *LOOPBACK, "--deny", "a b", "--max-pages", "2")
    shown = run("crawl", "--workspace", tmp_path, "--max-pages", "3")
    assert "--deny 'a b'" in shown.err
    assert "--allow-private 127.0.0.1" in shown.err
    assert "--max-pages 2" not in shown.err


def test_a_seed_that_earlier_options_keep_out_is_told_with_them(
    site: SiteProcess, tmp_path: Path
) -> None:
    crawl(tmp_path, seed(site), *LOOPBACK, "--host", f"127.0.0.1:{site.port}", "--max-pages", "2")
    answer = run("crawl", "https://elsewhere.example/", "--workspace", tmp_path)
    assert answer.code == 2
    assert f"--host 127.0.0.1:{site.port}" in answer.err
    assert "--forget" in answer.err


def test_forgetting_what_is_no_option_is_a_mistake(site: SiteProcess, tmp_path: Path) -> None:
    answer = run("crawl", seed(site), "--workspace", tmp_path, "--forget", "dney")
    assert answer.code == 2
    assert "dney" in answer.err
    assert not (tmp_path / "state.db").exists()


def test_both_sides_of_separated_mode_remember(
    site: SiteProcess, pages: Asked, tmp_path: Path
) -> None:
    place = ("--workspace", tmp_path, "--json")
    options = (*LOOPBACK, "--deny", HIGH)
    assert run("spool", "discover", seed(site), *options, *place).code == 0
    pages.since()
    answer = run("spool", "scrape", *place)  # what it was not told, the discoverer was
    assert (answer.code, answer.json["pages"]) == (0, SIZE - 10)
    assert answer.json["options"]["deny"] == [HIGH]
    again = run("spool", "discover", "--forget", "deny", *place)
    assert (again.code, again.json["refused"]) == (0, 0)
    assert matching(HIGH, pages.since())
