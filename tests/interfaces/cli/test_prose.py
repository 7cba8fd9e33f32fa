"""On a terminal no word, URL or command is cut; in a pipe a line stays a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl4r.interfaces.cli.view.prose import laid_out, wrapped, wrapped_markdown
from crawl4r.safe_text import command_line
from tests.hostile.terminals import in_terminal
from tests.interfaces.cli.running import LOOPBACK, run
from tests.interfaces.cli.test_hints import paste
from tests.site.process import SiteProcess

LONG = "https://docs.example.org/" + "a-long-chapter/" * 9
NARROW = {"COLUMNS": "80"}


def lines_of(shown: str) -> list[str]:
    return shown.replace("\r\n", "\n").rstrip("\n").split("\n")


def test_a_line_that_fits_stays_as_it_is() -> None:
    text = "  said:  `crawl4r index`   makes them"
    assert laid_out(text, len(text)) == text


def test_lines_end_between_words_and_hang() -> None:
    assert laid_out("  a line of seven words is here", 14).split("\n") == [
        "  a line of",
        "    seven",
        "    words is",
        "    here",
    ]


def test_a_command_gets_a_line_of_its_own_without_its_backquotes() -> None:
    text = "crawl4r: it was never captured; `crawl4r why x -w 'my docs'` says what happened"
    assert laid_out(text, 60).split("\n") == [
        "crawl4r: it was never captured;",
        "    crawl4r why x -w 'my docs'",
        "  says what happened",
    ]


def test_a_url_wider_than_the_terminal_begins_a_line_and_is_broken_by_the_terminal_alone() -> None:
    assert laid_out(f"crawl4r: {LONG} is not known", 80).split("\n") == [
        "crawl4r:",
        LONG,
        "  is not known",
    ]


def test_an_option_is_a_word() -> None:
    for width in range(15, 60):
        shown = laid_out("Error: did you mean '--max-bytes' or '--max-pages'?", width)
        assert {"'--max-bytes'", "'--max-pages'?"} <= set(shown.split())


def test_columns_are_counted_and_not_characters() -> None:
    assert wrapped("港の手引き 灯台と渡し船", 12).split("\n") == ["港の手引き", "灯台と渡し船"]


def test_backquotes_of_a_page_stay() -> None:
    text = "The page says `pip install something` in the midst of a line"
    assert wrapped(text, 30).replace("\n  ", " ") == text


def test_markdown_wraps_paragraphs_and_items_but_neither_code_nor_tables() -> None:
    code, table = "```\nx = 'a long line of code'\n```", "| a | wide | table | of | cells |"
    text = f"A paragraph of words\n\n- an item of many words\n\n{code}\n{table}"
    assert wrapped_markdown(text, 14) == (
        f"A paragraph of\nwords\n\n- an item of\n  many words\n\n{code}\n{table}"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("diff", "{url}"),
        ("diff", "{url}", "--from", "7", "--to", "8"),
        ("get", "{url}no"),
        ("history", "{url}no"),
        ("similar", "{url}no"),
        ("why", "{url}"),
    ],
)
def test_what_a_terminal_cuts_is_only_what_is_wider_than_it(
    words: tuple[str, ...], crawled: Path, site: SiteProcess
) -> None:
    url = site.url("/site/12/")
    typed = [word.format(url=url) for word in words]
    _, seen = in_terminal(*typed, "-w", crawled, env=NARROW)
    lines = lines_of(seen)
    assert [line for line in lines if len(line) > 80 and len(line.split()) > 1] == [
        line for line in lines if len(line) > 80 and line.startswith("    crawl4r ")
    ]
    piped = run(*typed, "-w", crawled)
    assert len((piped.err + piped.text).splitlines()) <= len(lines)


def test_the_command_of_an_error_works_when_its_line_is_pasted(
    crawled: Path, site: SiteProcess, tmp_path: Path
) -> None:
    unknown = site.url("/nothing/of/this/name")
    _, seen = in_terminal("history", unknown, "-w", crawled, env=NARROW)
    (command,) = (line.strip() for line in lines_of(seen) if line.startswith("    crawl4r "))
    assert command == command_line("crawl4r", "why", unknown, "-w", crawled)
    assert paste(command, tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("typed", "whole"),
    [
        (("crawl", "--max-page", "3"), "'--max-pages',"),
        (("http://a-host.example.org/a/path",), "crawl4r crawl http://a-host.example.org/a/path"),
    ],
)
def test_a_suggestion_for_a_mistyped_command_is_whole(typed: tuple[str, ...], whole: str) -> None:
    _, seen = in_terminal(*typed, env={"COLUMNS": "60"})
    assert any(whole in line for line in lines_of(seen))
    assert all(len(line) <= 60 for line in lines_of(seen))


def test_an_error_in_a_pipe_is_one_line(tmp_path: Path) -> None:
    answer = run("why", LONG, "-w", tmp_path, env={"COLUMNS": "40"})
    assert len(answer.err.splitlines()) == 1


def test_log_lines_of_a_crawl_are_laid_out_too(tmp_path: Path) -> None:
    options = ("-w", tmp_path, *LOOPBACK, "--verbose")
    _, seen = in_terminal("crawl", "http://10.0.0.1/", *options, env=NARROW)
    lines = lines_of(seen)
    (start,) = (number for number, line in enumerate(lines) if "page_refused" in line)
    assert lines[start + 1].startswith("  ")
    assert all(len(line) <= 80 for line in lines[start : start + 2])


def test_a_question_is_laid_out_and_ends_with_its_answers(crawled: Path) -> None:
    code, seen = in_terminal("reset", "-w", crawled, env={"COLUMNS": "30"})
    asked = seen.replace("\r", "").partition("crawl4r: stopped")[0]
    assert code == 3
    assert asked.rstrip("\n").endswith(" [y/N]: ")
    assert "This cannot be undone" in " ".join(asked.split())
    assert all(len(line) <= 31 or " " not in line.strip() for line in asked.split("\n"))
