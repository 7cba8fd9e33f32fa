"""Commands that crawl4r prints can be pasted: a shell reads the words that were meant, no others."""

from __future__ import annotations

import re
import shlex
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.hostile.commanding_site import Reply, html, serving
from tests.hostile.terminals import WIDE, in_terminal
from tests.interfaces.cli.running import LOOPBACK, run

EVIL = "x';evil;'$(evil)`evil`"  # a command that a shell would run if it were not quoted
EVIL_PATH = "/';evil;'$(evil)"  # none of its characters has to be escaped in a URL
DAYS = 90


def calendar_pages() -> dict[str, Reply]:
    """A calendar without end, in a folder whose name ends a quoted word and begins a command."""
    today = datetime.now(UTC).date()

    def day(number: int) -> str:
        return f"{EVIL_PATH}/{today + timedelta(number):%Y/%m/%d}"

    pages = {"/": Reply(html("Front", f'<a href="{day(0)}">Calendar</a>'))}
    for number in range(DAYS):
        links = " ".join(f'<a href="{day(number + more)}">on</a>' for more in (1, 2, 3))
        words = f"<p>There is nothing on this day; look at another. {links}</p>"
        pages[day(number)] = Reply(f"<!doctype html><title>Day</title>{words}".encode())
    return pages


def pasted_into_a_shell(command: str) -> list[str]:
    """The words that a shell makes of a command, which must run nothing on its way there."""
    script = f"evil() {{ echo it ran >&2; }}\nset -- {command}\nprintf '%s\\0' \"$@\""
    ended = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    assert ended.stderr == b""
    return ended.stdout.decode().removesuffix("\0").split("\0")


def test_a_shell_that_is_not_careful_runs_it() -> None:
    with pytest.raises(AssertionError, match="it ran"):
        pasted_into_a_shell(f"crawl4r crawl --deny '{EVIL_PATH}'")


def test_a_plan_quotes_the_words_of_a_site() -> None:
    with serving(calendar_pages()) as url:
        answer = run("plan", url, *LOOPBACK, "--sample", "60")
    assert answer.code == 0
    command = answer.text.splitlines()[-1].strip()
    words = pasted_into_a_shell(command)
    assert words == shlex.split(command)
    assert words[0].endswith("crawl4r") and words[1:3] == ["crawl", url]
    denied = [words[at + 1] for at, word in enumerate(words) if word == "--deny"]
    assert any("/';evil;'" in pattern for pattern in denied), "the words of the site are in it"
    suggested = re.findall(r"^ +(--deny .*)$", answer.text, re.MULTILINE)
    assert [pasted_into_a_shell(words)[1] for words in suggested] == denied


def test_the_next_steps_of_a_crawl_name_its_folder_whatever_it_is_called(tmp_path: Path) -> None:
    folder = tmp_path / f"my {EVIL} archive"
    with serving({"/": Reply(html("Front", "words"))}) as url:
        answer = run("crawl", url, "-w", folder, *LOOPBACK, env=WIDE)
    steps = re.findall(r"^ +(\S*crawl4r .*)$", answer.text, re.MULTILINE)
    assert steps
    for step in steps:
        assert pasted_into_a_shell(step)[-2:] == ["-w", str(folder)]


def test_the_next_steps_in_a_short_folder_are_quoted(tmp_path: Path) -> None:
    with serving({"/": Reply(html("Front", "words"))}) as url:
        code, seen = in_terminal("crawl", url, "-w", "a;b", *LOOPBACK, folder=tmp_path)
    assert code == 0
    steps = re.findall(
        r"^\s*(?:\x1b\[[0-9;]*m)*\s*(\S*crawl4r [^\x1b]*?)\s*\x1b", seen, re.MULTILINE
    )
    assert len(steps) >= 3
    for step in steps:
        assert shlex.split(step)[-2:] == ["-w", "a;b"]


HINTS = {
    "configure": (["configure", "http://a.example/", "-w", EVIL], ["crawl", "-w", EVIL]),
    "no crawl": (["pages", "-w", EVIL], ["crawl", "URL", "--workspace", EVIL]),
    "no spool": (
        ["spool", "scrape", "-w", EVIL],
        ["spool", "discover", "URL", "--workspace", EVIL],
    ),
}


@pytest.mark.parametrize(("arguments", "meant"), HINTS.values(), ids=HINTS)
def test_a_hint_with_a_folder_is_quoted(
    arguments: list[str], meant: list[str], tmp_path: Path
) -> None:
    _, seen = in_terminal(*arguments, folder=tmp_path)
    assert shlex.join(["crawl4r", *meant]) in seen
    assert pasted_into_a_shell(shlex.join(["crawl4r", *meant]))[1:] == meant


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("hints") / "ws"
    with serving({"/": Reply(html("Front", "words"))}) as url:
        run("crawl", url, "-w", workspace, *LOOPBACK, "--json")
    run("index", "-w", workspace, "--no-vectors")
    return workspace


@pytest.mark.parametrize("command", ["get", "get --markdown", "history", "similar"])
def test_a_hint_with_a_url_is_quoted(command: str, crawled: Path) -> None:
    url = f"http://a.example{EVIL_PATH}"
    name, *options = command.split()
    answer = run(name, url, *options, "-w", crawled)
    assert answer.code == 2
    (hint,) = re.findall(r"`(crawl4r why .*)`", answer.err)
    assert pasted_into_a_shell(hint) == ["crawl4r", "why", url, "-w", str(crawled)]
