"""What a command says is so, and what it names as the next step works."""

from __future__ import annotations

import re
from pathlib import Path

from crawl4r.interfaces.cli.commands import crawl as crawl_module
from crawl4r.interfaces.cli.saved_options import forgettable, typed
from tests.interfaces.cli.running import LOOPBACK, Background, crawl, run, wait_until
from tests.interfaces.cli.test_hints import paste
from tests.site.process import SiteProcess


def commands_of(text: str) -> list[str]:
    return list(re.findall(r"`(crawl4r [^`]+)`", text))


def test_a_command_of_an_error_names_the_workspace(site: SiteProcess, tmp_path: Path) -> None:
    place = tmp_path / "my docs"
    assert crawl(site.url("/site/3/"), place).code == 0
    answer = run("search", "anything", "-w", place)
    assert answer.code == 2
    (command,) = commands_of(answer.err)
    assert command == f"crawl4r index -w '{place}'"
    assert paste(command, tmp_path).returncode == 0
    assert run("search", "anything", "-w", place).code == 0
    known = run("search", "x", env={"CRAWL4R_WORKSPACE": str(tmp_path / "no")})
    assert "my docs" not in known.err


def test_remembered_options_are_shown_and_dropped_by_the_names_of_options() -> None:
    command = crawl_module.command
    options = {word for option in command.params for word in option.opts + option.secondary_opts}
    names = forgettable(option.name for option in command.params)
    assert {f"--{name}" for name in names if name != "all"} <= options
    shown = typed({"languages": ["de"], "hosts": ["a.example"], "index": False})
    assert shown == "--language de --host a.example --no-index"


def test_a_workspace_in_use_is_no_fault_of_the_options(site: SiteProcess, tmp_path: Path) -> None:
    site.hold(after=2)
    with Background("crawl", site.url("/site/20/"), "-w", tmp_path, *LOOPBACK) as first:
        wait_until(lambda: site.held() == 1)
        again = run("crawl", "-w", tmp_path)
        deletion = run("reset", "-w", tmp_path)
        site.release()
        assert first.end().code == 0
    assert (again.code, "is using" in again.err) == (2, True)
    assert "--forget" not in again.err
    assert (deletion.code, deletion.text) == (2, ""), "it does not ask what it cannot do"
    assert commands_of(deletion.err) == [f"crawl4r stop -w {tmp_path}"]


def test_pause_and_stop_say_when_nothing_runs(tmp_path: Path) -> None:
    told = run("pause", "-w", tmp_path)
    assert "no crawl runs" in told.text
    (command,) = commands_of(told.text)
    assert paste(command, tmp_path).returncode == 0
    assert not (tmp_path / "pause").exists()
    assert "nothing to stop" in run("stop", "-w", tmp_path, "--only", "discover").text
