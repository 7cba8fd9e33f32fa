"""`--log-json`: whatever happens, each line on stderr is a JSON object."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.faults.small_disk import small_disk
from tests.interfaces.cli.running import LOOPBACK, Background, environment, run, wait_until
from tests.site.process import SiteProcess


def events_in(err: str) -> list[dict[str, Any]]:
    """Every line; a byte that belongs to none fails the test."""
    assert not err or err.endswith("\n")
    found = [json.loads(line) for line in err.splitlines()]
    for line in found:
        assert isinstance(line["event"], str), line
        assert line["level"] in {"debug", "info", "warning", "error", "critical"}
    return found


def names_in(err: str) -> list[str]:
    return [line["event"] for line in events_in(err)]


def test_a_crawl_presents_itself_and_asks_for_a_contact(site: SiteProcess, tmp_path: Path) -> None:
    url = site.url("/site/3/")
    answer = run("crawl", url, "-w", tmp_path / "ws", *LOOPBACK, "--log-json")
    first, second = events_in(answer.err)
    assert (first["event"], first["obeys_robots"], first["rate"]) == ("crawl_presented", True, 0)
    assert (second["event"], second["advice"]) == (
        "contact_missing",
        "add --contact URL_OR_ADDRESS",
    )
    again = run("resume", "-w", tmp_path / "ws", "--verbose", "--log-json")
    assert {"crawl_presented", "crawl_started", "crawl_ended"} <= set(names_in(again.err))
    quiet = run("crawl", url, "-w", tmp_path / "ws", *LOOPBACK, "-q", "--log-json")
    assert names_in(quiet.err) == ["contact_missing"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["crawl", "--depth", "x"], "is not a valid integer"),
        (["crawl", "--depht", "3"], "No such option"),
        (["crawl"], "nothing to crawl"),
        (["crawl", "http://e.org/", "--proxy", "nonsense"], "fetch.proxies.servers"),
        (["crawl", "http://e.org/", "--budget", "5"], "add --refresh"),
        (["resume"], "there is no crawl"),
        (["spool", "scrape"], "there is no spool"),
        (["spool", "discover", "--depth", "-1"], "is not in the range"),
        (["supervise"], "Missing argument"),
        (["supervise", "--", "supervise"], "does not supervise itself"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, words: list[str], problem: str) -> None:
    place = [] if words[0] == "supervise" else ["-w", str(tmp_path / "ws")]
    name, *rest = words
    answer = (
        run(name, *rest[:1], "--log-json", *rest[1:], *place)
        if name == "spool"
        else run(name, "--log-json", *rest, *place)
    )
    (line,) = events_in(answer.err)
    assert (answer.code, line["event"], line["code"]) == (2, "command_failed", 2)
    assert problem in line["problem"]


def test_a_bad_file_of_settings_and_a_bad_reload_are_lines(
    site: SiteProcess, tmp_path: Path
) -> None:
    file = tmp_path / "crawl4r.yaml"
    file.write_text("politeness: {speed: 1}\n")
    options = ("-w", tmp_path, *LOOPBACK, "--log-json")
    refused = run("crawl", site.url("/site/3/"), *options)
    (line,) = events_in(refused.err)
    assert "politeness.speed" in line["problem"]
    file.unlink()
    site.hold()
    with Background("crawl", site.url("/site/3/"), *options) as crawl:
        wait_until(lambda: site.held() == 1)
        file.write_text("politeness: [\n")
        crawl.send(signal.SIGHUP)
        crawl.wait_until_it_says("settings_reloaded")
        site.release()
        assert crawl.end().code == 0
        assert "settings_reloaded" in names_in(crawl.err)


def test_ctrl_c_once_and_twice_is_told_in_lines(site: SiteProcess, tmp_path: Path) -> None:
    options = ("-w", tmp_path, *LOOPBACK, "--log-json")
    with Background("crawl", site.url("/hang?log"), *options) as crawl:
        wait_until(lambda: site.in_flight() == 1)
        crawl.send(signal.SIGINT)
        crawl.wait_until_it_says("once more to stop at once")
        crawl.send(signal.SIGINT)
        answer = crawl.end()
    said = [line["text"] for line in events_in(answer.err) if line["event"] == "said"]
    assert (answer.code, said) == (3, ["finishing the pages in flight; once more to stop at once"])


def test_both_sides_of_separated_mode_write_lines(site: SiteProcess, tmp_path: Path) -> None:
    options = ("-w", tmp_path, *LOOPBACK, "--verbose", "--log-json")
    answer = run("spool", "run", site.url("/site/20/"), *options)
    assert answer.code == 0
    kept = [line["url"] for line in events_in(answer.err) if line["event"] == "page_kept"]
    assert len(kept) == 2 * 20


@pytest.mark.parametrize("before", [True, False])
def test_a_supervised_crawl_writes_lines_too(
    site: SiteProcess, tmp_path: Path, before: bool
) -> None:
    """Wherever the option stands, both processes write to one stderr."""
    inner = ("crawl", site.url("/hang?kill"), "-w", str(tmp_path), *LOOPBACK)
    words = ("--log-json", "--", *inner) if before else ("--", *inner, "--log-json")
    with Background("supervise", "--backoff", "0", "--max-restarts", "1", *words) as both:
        for _ in range(2):
            wait_until(lambda: site.in_flight() == 1)
            os.kill(int((tmp_path / "crawl.lock").read_text()), signal.SIGKILL)
            wait_until(lambda: site.in_flight() == 0)
        answer = both.end()
    found = names_in(answer.err)
    assert found.count("crawl_presented") == 2
    assert {"crawl_restarted", "crawl_not_restarted"} <= set(found)


def test_a_full_disk_is_one_line(site: SiteProcess, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 600 * 1024) as disk:
        url = site.url("/site/400/")
        answer = run("crawl", url, "-w", disk / "ws", *LOOPBACK, "--no-extract", "--log-json")
    last = events_in(answer.err)[-1]
    assert (answer.code, last["event"], last["code"]) == (4, "command_failed", 4)
    assert "free some space" in last["problem"] or "cannot write" in last["problem"]


LOUD = """
import os, sys, warnings
from crawl4r.interfaces.cli import main
from crawl4r.interfaces.cli import run_crawl

def crawl(*arguments, **options):
    warnings.warn("an old way")
    os.write(2, b"panicked at src/lib.rs\\n\\xff no end of the line")
    print("printed", end="", file=sys.stderr)
    {last}

original = run_crawl._crawl
run_crawl._crawl = lambda *a: (crawl(), original(*a))[1]
main.main()
"""


@pytest.mark.parametrize("last", ["pass", "raise KeyError('no such thing')"])
def test_what_libraries_and_bugs_write_becomes_lines(
    site: SiteProcess, tmp_path: Path, last: str
) -> None:
    words = ("crawl", site.url("/site/3/"), "-w", str(tmp_path), *LOOPBACK, "--log-json")
    ended = subprocess.run(
        [sys.executable, "-c", LOUD.format(last=last), *words],
        capture_output=True,
        env=environment(),
        timeout=60,
        check=False,
    )
    found = events_in(ended.stderr.decode())
    said = "\n".join(line["text"] for line in found if line["event"] == "said")
    for words_of in ("an old way", "panicked at src/lib.rs", "no end of the line", "printed"):
        assert words_of in said
    crash = [line for line in found if line["event"] == "command_failed"]
    assert ended.returncode == len(crash) == (last != "pass")
    assert all("KeyError" in line["traceback"] for line in crash)
