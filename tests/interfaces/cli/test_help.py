"""What a newcomer types first."""

from __future__ import annotations

import re
import subprocess

import click
import pytest

import crawl4r
from crawl4r.interfaces.cli.main import group
from tests.interfaces.cli.running import EXECUTABLE, environment, run

CONTEXT = click.Context(group)
COMMANDS = [name for name in group.list_commands(CONTEXT) if name != "urls"] + ["urls canonical"]
INNER = ["urls", "embed install", "embed test", "spool discover", "spool run", "spool scrape"]


def examples_in(help_text: str, command: str) -> list[str]:
    lines = [line.strip() for line in help_text.splitlines()]
    return [line for line in lines if f"crawl4r {command}" in line and "Usage:" not in line]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(command: str) -> None:
    answer = run(*command.split(), "--help")
    assert answer.code == 0
    assert answer.err == ""
    assert examples_in(answer.text, command)


def test_the_list_of_commands_names_each_one_with_a_line_in_its_group() -> None:
    answer = run("--help", env={"COLUMNS": "80"})
    assert answer.code == 0
    groups = answer.text.partition("\nCrawl:\n")[2].splitlines()
    lines = [line for line in groups if line.startswith("  ")]
    assert sorted(line.split()[0] for line in lines) == sorted(group.list_commands(CONTEXT))
    assert all(len(line.split()) > 3 for line in lines)
    titles = [line for line in groups if line and not line.startswith(" ")]
    assert titles == ["Read:", "Search:", "Export and import:", "Operate:", "Set up and try:"]
    assert examples_in(answer.text, "crawl")


@pytest.mark.parametrize("command", ["crawl", "resume", "spool discover", "spool scrape"])
def test_the_options_of_a_crawl_stand_in_groups(command: str) -> None:
    text = run(*command.split(), "--help", env={"COLUMNS": "80"}).text
    sections = re.split(r"^(\w[\w ]*):\n", text, flags=re.MULTILINE)[1:]
    groups = dict(zip(sections[::2], sections[1::2], strict=True))
    titles = ["Which pages", "How fast and how politely", "What is made of the pages"]
    others = ["Other"] if command == "spool scrape" else []
    assert list(groups) == [*titles, "This workspace", "Output", *others]
    options = [
        re.findall(r"^  (?:-\w, )?--([a-z-]+)", group, re.MULTILINE) for group in groups.values()
    ]
    assert all(3 < len(group) < 15 for group in options[:5])
    assert {"max-pages", "deny", "refresh"} <= set(options[0])
    assert {"rate", "contact", "allow-private"} <= set(options[1])
    assert "workspace" in options[3]
    assert {"quiet", "help"} <= set(options[4])
    assert options[5:] == [["follow"]] * len(others)


@pytest.mark.parametrize("command", ["", *COMMANDS, *INNER])
def test_help_fits_a_terminal_of_80_columns(command: str) -> None:
    text = run(*command.split(), "--help", env={"COLUMNS": "80"}).text
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert [
        line for line in text.splitlines() if line.endswith("...") and "Usage" not in line
    ] == []


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["crwal", "https://example.org/"], "Did you mean crawl"),
        (["exprot"], "Did you mean export"),
        (["https://example.org/"], "crawl4r crawl https://example.org/"),
        (["zzzzzz"], "`crawl4r --help` lists them"),
        (["crawl", "--max-page", "3"], "--max-pages"),
    ],
)
def test_a_misspelt_word_gets_a_suggestion_in_the_last_line(words: list[str], advice: str) -> None:
    answer = run(*words)
    assert (answer.code, answer.out) == (2, b"")
    assert advice in answer.err.splitlines()[-1]


def test_help_says_what_the_options_are_when_they_are_not_given() -> None:
    text = " ".join(run("crawl", "--help").text.split())
    for default in ("[default: 16]", "[default: 1]", "[default: bfs]", "default: workspace"):
        assert default in text


def test_the_version_is_the_package_version() -> None:
    answer = run("--version")
    assert (answer.code, answer.err) == (0, "")
    assert crawl4r.__version__ in answer.text


@pytest.mark.parametrize(
    "arguments",
    [["no-such-command"], ["crawl", "--no-such-option"], ["get"], ["pages", "--state", "odd"]],
)
def test_a_mistyped_command_is_a_usage_error_on_stderr(arguments: list[str]) -> None:
    answer = run(*arguments)
    assert (answer.code, answer.out) == (2, b"")
    assert "Usage:" in answer.err or "Error:" in answer.err


def test_a_reader_that_goes_away_is_no_error() -> None:
    """`crawl4r --help | head -1` and the like."""
    with subprocess.Popen(
        [EXECUTABLE, "completion", "bash"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read().decode()
    assert (process.returncode, err) == (0, "")
