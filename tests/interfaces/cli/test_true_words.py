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
    assert (again.code, "runs already" in again.err) == (2, True)
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


def test_diff_says_why_there_is_nothing_to_compare(
    crawled: Path, site: SiteProcess, tmp_path: Path
) -> None:
    never = run("diff", site.url("/no/such/page"), "-w", crawled)
    assert "was never captured" in never.err
    assert commands_of(never.err)[0].startswith("crawl4r why ")
    once = run("diff", site.url("/site/12/"), "-w", crawled)
    assert "only one capture with text" in once.err
    assert commands_of(once.err) == [f"crawl4r crawl --refresh -w {crawled}"]
    url = site.url("/status/404")
    crawl(url, tmp_path)
    assert "has no capture with text" in run("diff", url, "-w", tmp_path).err


def test_diff_of_a_page_that_stayed_the_same_names_its_visits(
    site: SiteProcess, tmp_path: Path
) -> None:
    url = site.url("/site/1/")
    crawl(url, tmp_path)
    crawl(url, tmp_path, "--refresh")
    assert run("history", url, "-w", tmp_path, "--json").json[-1]["status"] == 304
    answer = run("diff", url, "-w", tmp_path)
    assert "is unchanged since its only capture with text" in answer.err


def test_get_says_when_a_page_is_younger_than_the_moment(crawled: Path, site: SiteProcess) -> None:
    answer = run("get", site.url("/site/12/"), "-w", crawled, "--at", "2020-01-01")
    assert "has no stored bytes from before 2020-01-01" in answer.err
    assert commands_of(answer.err)[0].startswith("crawl4r history ")


def test_get_refuses_what_markdown_would_ignore(crawled: Path, site: SiteProcess) -> None:
    for other in (("--at", "2020-01-01"), ("--headers",), ("--raw",)):
        answer = run("get", site.url("/site/12/"), "-w", crawled, "--markdown", *other)
        assert (answer.code, answer.text) == (2, "")
        assert other[0] in answer.err


def test_check_policy_takes_the_option_that_it_names(tmp_path: Path) -> None:
    words = ("check-policy", "http://127.0.0.1:8000/", "-w", tmp_path / "none")
    closed = run(*words)
    assert closed.code == 1
    found = re.search(r"(--allow-private \S+) would open it", closed.text)
    assert found is not None
    assert run(*words, *found[1].split()).code == 0


def test_configure_names_a_crawl_that_can_start(tmp_path: Path) -> None:
    without = run("configure", "-w", tmp_path / "a")
    assert commands_of(without.text) == [f"crawl4r crawl URL -w {tmp_path / 'a'}"]
    seeded = run("configure", "https://a.example/", "-w", tmp_path / "b")
    assert commands_of(seeded.text) == [f"crawl4r crawl -w {tmp_path / 'b'}"]


def test_one_of_a_thing_is_not_called_many(site: SiteProcess, tmp_path: Path) -> None:
    answer = run("crawl", site.url("/site/1/"), "-w", tmp_path, *LOOPBACK[2:])
    assert "1 request a second" in answer.err
    assert {"1  page kept", "1  visit", "1  URL known"} <= {
        found[0] for found in re.finditer(r"1  \w+(?: \w+)?(?=,|:| in)|1  visit", answer.text)
    }
    assert "(s)" not in answer.text + answer.err


def test_why_names_the_command_that_lets_a_language_in(tmp_path: Path) -> None:
    record = '{"url": "https://a.example/", "title": "Der Hafen", "language": "de", "text": "%s"}'
    words = "Der Hafen ist seit vielen Jahrhunderten ein wichtiger Ort für die Menschen. " * 8
    (tmp_path / "r.jsonl").write_text(record % words)
    run("import", tmp_path / "r.jsonl", "-w", tmp_path / "w")
    env = {"CRAWL4R_EMBEDDER__KIND": "none"}
    run("index", "-w", tmp_path / "w", env=env)
    told = run("why", "https://a.example/", "-w", tmp_path / "w", env=env).text
    assert "as an import" in told
    assert "not in the search index: language de" in told
    _, *words_of_it = told.splitlines()[-1].split()
    assert paste(" ".join(["crawl4r", *words_of_it]), tmp_path).returncode == 0
    assert "searchable: 1 passage," in run("why", "https://a.example/", "-w", tmp_path / "w").text


def test_advice_belongs_to_the_problem_that_is_named(site: SiteProcess, tmp_path: Path) -> None:
    refused, gone = "http://10.0.0.1/", [site.url(f"/status/404?n={n}") for n in range(2)]
    both = run("crawl", refused, *gone, "-w", tmp_path / "a", *LOOPBACK)
    assert "egress-refused" in both.err
    assert "check the URL" not in both.err
    assert "(check the URL)" in run("crawl", gone[0], "-w", tmp_path / "b", *LOOPBACK).err


def test_the_searches_of_the_demo_work_when_they_are_pasted(tmp_path: Path) -> None:
    shown = run("demo", "-w", tmp_path / "my demo", env={"COLUMNS": "60"}).text
    searches = re.findall(
        r"^\S*(crawl4r search ['\"].*)$", shown.partition("What became")[2], re.MULTILINE
    )
    assert len(searches) == 2
    for search in searches:
        pasted = paste(search, tmp_path)
        assert pasted.returncode == 0, pasted.stderr
        assert " 1. " in pasted.stdout
