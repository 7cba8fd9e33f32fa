"""What a command loads before it does anything: each of these costs a start 10 to 100 ms of CPU."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from crawl4r.interfaces.cli.main import group

CLI = "crawl4r.interfaces.cli"


def loaded_by(code: str) -> set[str]:
    """Modules that are there after `code`, in a fresh interpreter."""
    report = "import sys; print(*sys.modules, file=sys.__stdout__)"
    command = [sys.executable, "-c", f"{code}\n{report}"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        (
            f"import {CLI}.main",
            {"asyncio", "msgspec", "rich", "yaml", "crawl4r.workspace.workspace"},
        ),
        (
            f"import {CLI}.commands.crawl",
            {"asyncio", "msgspec", "rich", "yaml", "crawl4r.workspace.workspace"},
        ),
        (
            f"import {CLI}.run_crawl",
            {"rich", "numpy", "pyarrow", "pydantic", "crawl4r.documents.documenter"},
        ),
        (
            "import crawl4r.processes.worker, crawl4r.crawling.reading_process",
            {"asyncio", "click", "rich", "numpy", "pycurl", "sqlite3"},
        ),
        (
            "import crawl4r.processes.worker, crawl4r.documents.extractor",
            {"asyncio", "click", "rich", "pycurl", "sqlite3", "requests"},
        ),
        (
            f"import {CLI}.commands.replay",
            {"asyncio", "msgspec", "rich", "yaml", "crawl4r.workspace.workspace"},
        ),
        (
            f"import {CLI}.commands.extract, {CLI}.commands.scrape",
            {"asyncio", "rich", "yaml", "crawl4r.workspace.workspace"},
        ),
    ],
    ids=[
        "the list of commands",
        "the options of a crawl",
        "a crawl",
        "a reading process",
        "a process for documents",
        "a replay, before its processes start",
        "pages to be read, before that",
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(code: str, absent: set[str]) -> None:
    assert not loaded_by(code) & absent


def test_the_list_of_commands_loads_none_of_them() -> None:
    show = f"from {CLI}.main import group; group(['--help'], standalone_mode=False)"
    ours = {name for name in loaded_by(show) if name.startswith(f"{CLI}.")}
    names = {"main", "output", "json_log", "log_lines", "view", "view.prose"}
    assert ours == {f"{CLI}.{name}" for name in names}


def test_the_list_says_of_a_command_what_the_command_says_of_itself() -> None:
    context = click.Context(group)
    formatter = click.HelpFormatter(width=80)
    group.format_commands(context, formatter)
    listed = dict(
        line.split(maxsplit=1) for line in formatter.getvalue().splitlines() if "." in line
    )
    assert sorted(listed) == group.list_commands(context)
    for name, line in listed.items():
        command = group.get_command(context, name)
        assert command is not None
        assert command.get_short_help_str(200).rstrip(".") == line.rstrip("."), name


@pytest.mark.parametrize("start", ["", "c", "re", "-", "nothing-like-it"])
def test_completion_offers_what_the_commands_say_of_themselves(start: str) -> None:
    context = click.Context(group)
    ours = group.shell_complete(context, start)
    clicks = click.Group.shell_complete(group, context, start)
    assert [(item.value, item.help) for item in ours] == [(i.value, i.help) for i in clicks]
