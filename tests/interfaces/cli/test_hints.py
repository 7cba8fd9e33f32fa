"""What a crawl says at its end is true, and its commands work when they are pasted."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.interfaces.cli.running import (
    EXECUTABLE,
    LOOPBACK,
    Answer,
    Background,
    environment,
    run,
    wait_until,
)
from tests.site.process import SiteProcess

WIDTHS = (40, 60, 80, 200)


def commands_in(answer: Answer) -> list[str]:
    """A command stands on a line of its own, four columns in."""
    lines = answer.text.partition("Next:\n")[2].splitlines()
    return [line.strip() for line in lines if line.startswith("    ")]


def paste(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    env = environment({"PATH": f"{EXECUTABLE.parent}:/usr/bin:/bin"})
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_every_command_is_whole_and_works_when_pasted(
    site: SiteProcess, tmp_path: Path, width: int
) -> None:
    workspace = tmp_path / ("a rather long name of a workspace " * 4).strip()
    env = {"COLUMNS": str(width), "CRAWL4R_INDEX__ENABLED": "true"}
    env["PATH"] = f"{EXECUTABLE.parent}:/usr/bin:/bin"
    urls = (site.url("/site/3/"), site.url("/status/404"))
    answer = run("crawl", *urls, "-w", workspace, *LOOPBACK, env=env)
    commands = commands_in(answer)
    assert [command.split()[1] for command in commands] == [
        "get", "search", "export", "pages", "why",
    ]  # fmt: skip
    for command in commands:
        assert command.startswith("crawl4r ") and str(workspace) in command
        pasted = paste(command, tmp_path)
        assert pasted.returncode == 0, (command, pasted.stderr)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_of_the_summary_is_broken(site: SiteProcess, tmp_path: Path, width: int) -> None:
    urls = (site.url("/site/3/"), site.url("/status/404"), site.url("/status/410"))
    words = ("documents:", "language", "visits", "second)", "known:", "http-error:", "kept,")
    answer = run("crawl", *urls, "-w", tmp_path, *LOOPBACK, env={"COLUMNS": str(width)})
    assert set(words) <= set(answer.text.split())


def test_after_ctrl_c_the_hint_is_resume_and_it_goes_on(site: SiteProcess, tmp_path: Path) -> None:
    site.hold(after=5)
    url, workspace = site.url("/site/20/"), tmp_path / "ws"
    with Background("crawl", url, "-w", workspace, *LOOPBACK) as crawl:
        wait_until(lambda: site.held() == 1)
        crawl.send(signal.SIGINT)
        crawl.wait_until_it_says("finishing")
        site.release()
        stopped = crawl.end()
    assert stopped.text.startswith("Stopped. Nothing is lost.")
    resume = next(command for command in commands_in(stopped) if " resume " in command)
    assert paste(resume.replace(resume.split()[0], str(EXECUTABLE)), tmp_path).returncode == 0
    assert run("status", "-w", workspace, "--json").json["pages"] == 20


def test_a_limit_is_raised_by_the_hint(site: SiteProcess, tmp_path: Path) -> None:
    url = site.url("/site/20/")
    answer = run("crawl", url, "-w", tmp_path, *LOOPBACK, "--max-pages", "5")
    assert answer.text.startswith("The page limit is reached.")
    assert f"resume --max-pages 10 -w {tmp_path}" in commands_in(answer)[0]


def test_what_an_option_keeps_out_is_named_with_the_option(
    site: SiteProcess, tmp_path: Path
) -> None:
    whole = run("crawl", site.url("/site/12/"), "-w", tmp_path / "whole", *LOOPBACK)
    assert whole.text.startswith("Every page in scope is done.")
    cut = run("crawl", site.url("/site/60/"), "-w", tmp_path / "cut", *LOOPBACK, "--depth", "1")
    assert "Every page" not in cut.text
    assert "options kept" in cut.text.splitlines()[0]
    assert "capped (change --depth)" in cut.text


def test_a_cap_of_a_group_is_named_with_its_setting(site: SiteProcess, tmp_path: Path) -> None:
    env = {"CRAWL4R_LIMITS__GROUPS": "{all: {per: '^http', max: 2}}"}
    answer = run("crawl", site.url("/site/5/"), "-w", tmp_path, *LOOPBACK, env=env)
    assert "capped (change limits.groups): cap of 2 reached for all" in answer.text


@pytest.mark.parametrize("options", [(), ("--json",), ("--quiet",)])
def test_the_last_line_says_why_nothing_was_kept(
    site: SiteProcess, tmp_path: Path, options: tuple[str, ...]
) -> None:
    answer = run("crawl", site.url("/site/3/"), "-w", tmp_path, "--rate", "0", *options)
    assert answer.code == 1
    last = answer.err.splitlines()[-1]
    assert last.startswith("crawl4r: nothing could be kept: ")
    assert "127.0.0.1 is a loopback address" in last
    assert "--allow-private 127.0.0.1" in last


def test_import_and_status_name_the_command_that_makes_pages_searchable(tmp_path: Path) -> None:
    file, workspace = tmp_path / "r.jsonl", tmp_path / "ws"
    file.write_text('{"id": "1", "title": "T", "text": "Some words of a text."}\n')
    imported = run("import", file, "-w", workspace)
    for answer in (imported, run("status", "-w", workspace)):
        assert answer.text.splitlines()[-1].endswith(f"crawl4r index -w {workspace}")


def test_the_hints_of_a_discoverer_name_the_workspace_and_its_own_side(
    site: SiteProcess, tmp_path: Path
) -> None:
    workspace, url = tmp_path / "ws", site.url("/site/5/")
    found = run("spool", "discover", url, "-w", workspace, *LOOPBACK, "--max-pages", "2")
    again, scrape = commands_in(found)
    assert again.endswith(f"spool discover --max-pages 4 -w {workspace}")
    assert scrape.endswith(f"spool scrape -w {workspace}")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # no server listens there
        closed = f"http://127.0.0.1:{unused.getsockname()[1]}/"
        options = (closed, "-w", tmp_path / "closed", *LOOPBACK)
        lost = run("spool", "discover", *options, env={"CRAWL4R_FETCH__RETRIES": "0"})
    assert f"spool discover --retry-failed -w {tmp_path / 'closed'}" in lost.err.splitlines()[-1]
