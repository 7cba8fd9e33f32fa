"""What a newcomer types first."""

from __future__ import annotations

import subprocess

import pytest

import crawl4r
from tests.cli.running import EXECUTABLE, Answer, environment, run

COMMANDS = (
    "check-policy",
    "completion",
    "configure",
    "crawl",
    "demo",
    "get",
    "pages",
    "reset",
    "resume",
    "status",
    "urls canonical",
    "why",
)


def examples_in(help_text: str, command: str) -> list[str]:
    lines = [line.strip() for line in help_text.splitlines()]
    return [line for line in lines if f"crawl4r {command}" in line and "Usage:" not in line]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(command: str) -> None:
    answer = run(*command.split(), "--help")
    assert answer.code == 0
    assert answer.err == ""
    assert examples_in(answer.text, command)


def test_the_list_of_commands_names_each_one_with_a_line() -> None:
    answer = run("--help")
    assert answer.code == 0
    listed = {line.split()[0] for line in _commands_section(answer).splitlines() if line.strip()}
    assert listed == {command.split()[0] for command in COMMANDS}
    for line in _commands_section(answer).splitlines():
        assert len(line.split()) > 1
    assert examples_in(answer.text, "crawl")


def test_help_says_what_the_options_are_when_they_are_not_given() -> None:
    text = run("crawl", "--help").text
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


def _commands_section(answer: Answer) -> str:
    return answer.text.partition("Commands:\n")[2]
