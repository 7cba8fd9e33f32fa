"""Users see what they saw: the answers of commands, exports, logs and exit codes, held against files.

`CRAWL4R_GOLDEN=write python -m pytest tests/golden` writes the files in `expected/` anew.
"""

from __future__ import annotations

import pytest

from tests.golden.archive import Archive, is_model_installed
from tests.golden.commands import MAKING, READING, Command
from tests.golden.comparing import assert_golden
from tests.golden.exits import EXITS, surroundings_of_exits
from tests.golden.normalising import Normaliser
from tests.golden.shapes import (
    event_fields,
    help_of_all,
    layout,
    markdown_tree,
    parquet_rows,
    wacz_members,
    warc_records,
)
from tests.interfaces.cli.running import Answer

LOGS = (
    "harbour/logs/pages.csv",
    "harbour/logs/edges.csv",
    "harbour/logs/crawl_metrics.csv",
    "harbour/metadata/crawl_metadata.jsonl",
    "older/logs/crawl_metrics.csv",
    "separated/logs/discover_metrics.csv",
    "separated/logs/scrape_metrics.csv",
)

_names = pytest.mark.parametrize("command", [*MAKING, *READING], ids=lambda command: command.name)


@_names
def test_a_command_answers_as_before(command: Command, archive: Archive) -> None:
    if command.needs_model and not is_model_installed():
        pytest.skip("the local model is not installed")
    answer = archive.answer_to(command)
    assert answer.code == command.code, answer.err
    assert_golden(command.file, _shown(command, answer, archive.normal))


def _shown(command: Command, answer: Answer, normal: Normaliser) -> str:
    if command.is_json:
        return normal.json_text(answer.text, command.varying)
    errors = f"--- stderr ---\n{answer.err}" if command.with_errors else ""
    return normal.text(answer.text + errors)


def test_markdown_is_exported_as_before(archive: Archive) -> None:
    assert_golden("export.md.txt", markdown_tree(archive.folder / "texts", archive.normal))


def test_json_lines_are_exported_as_before(archive: Archive) -> None:
    text = archive.normal.json_text(archive.text("harbour.jsonl"))
    assert_golden("export.jsonl", text)


@pytest.mark.parametrize("table", ["pages.csv", "edges.csv"])
def test_tables_are_exported_as_before(table: str, archive: Archive) -> None:
    text = archive.normal.csv(archive.text(f"tables/{table}"))
    assert_golden(f"export.{table}", text)


def test_a_warc_file_is_exported_as_before(archive: Archive) -> None:
    assert_golden("export.warc.txt", warc_records(archive.folder / "harbour.warc"))


def test_a_package_is_exported_as_before(archive: Archive) -> None:
    assert_golden("export.wacz.txt", wacz_members(archive.folder / "harbour.wacz"))


def test_parquet_is_exported_as_before(archive: Archive) -> None:
    file = archive.folder / "harbour.parquet"
    assert_golden("export.parquet.txt", parquet_rows(file, archive.normal))


@pytest.mark.parametrize("log", LOGS)
def test_a_crawl_logs_as_before(log: str, archive: Archive) -> None:
    write = archive.normal.csv if log.endswith(".csv") else archive.normal.json_text
    assert_golden(f"log.{log.replace('/', '.')}", write(archive.text(log)))


def test_what_a_discoverer_hands_over_is_as_before(archive: Archive) -> None:
    (segment,) = (archive.folder / "separated" / "spool" / "discoveries").iterdir()
    text = archive.normal.json_text(segment.read_text("utf-8"))
    assert_golden("log.discoveries.jsonl", text)


@pytest.mark.parametrize("name", ["crawl", "crawl_unreachable", "crawl_nothing"])
def test_events_are_logged_as_before(name: str, archive: Archive) -> None:
    assert_golden(f"events.{name}.txt", event_fields(archive.answers[name].err))


@pytest.mark.parametrize("workspace", ["harbour", "separated", "older"])
def test_a_workspace_has_files_as_before(workspace: str, archive: Archive) -> None:
    text = archive.normal.text(layout(archive.folder / workspace))
    assert_golden(f"layout.{workspace}.txt", text)


def test_a_configuration_is_written_as_before(archive: Archive) -> None:
    assert_golden("configured.yaml", archive.text("configured/crawl4r.yaml"))


def test_commands_have_options_as_before(archive: Archive) -> None:
    text = help_of_all(lambda command: archive.runner.run(f"{command} --help").text)
    assert_golden("help.txt", text)


def test_commands_end_with_codes_as_before(archive: Archive) -> None:
    with surroundings_of_exits(archive.folder, archive.site):
        lines = [
            f"{archive.runner.run(each.words, each.stdin, **dict(each.settings)).code}"
            f"  crawl4r {each.words}\n"
            for each in EXITS
        ]
    assert_golden("exit_codes.txt", "".join(lines))
