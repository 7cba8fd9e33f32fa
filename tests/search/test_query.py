"""The query language."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl4r.content.markdown.blocks import ChunkKind
from crawl4r.errors import UsageError
from crawl4r.formats.media_kind import Kind
from crawl4r.search.port import Clause, Filters
from crawl4r.search.query import (
    LONGEST_QUERY,
    LONGEST_READ,
    MOST_CLAUSES,
    TYPES,
    parse,
    parse_checked,
)


def clauses(text: str) -> tuple[Clause, ...]:
    return parse(text).keywords.clauses


def words(text: str) -> list[str]:
    """The words of plain clauses: syntax of any kind fails."""
    found = clauses(text)
    assert not any(c.is_prefix or c.is_excluded or c.is_required for c in found), found
    return [" ".join(clause.words) for clause in found]


def epoch(*day: int) -> float:
    return datetime(*day, tzinfo=UTC).timestamp()  # type: ignore[arg-type, misc]


def test_words_keep_how_often_they_were_written_whatever_their_case() -> None:
    assert clauses("Heat heat, transfer HEAT?") == (Clause(("heat",), 3), Clause(("transfer",), 1))


def test_phrases_prefixes_and_signs() -> None:
    assert clauses(
        '"Boundary Layer" connect* -flutter -"wing tip" +mach +"shock wave" "a lay*"'
    ) == (
        Clause(("boundary", "layer")),
        Clause(("connect",), is_prefix=True),
        Clause(("flutter",), is_excluded=True),
        Clause(("wing", "tip"), is_excluded=True),
        Clause(("mach",), is_required=True),
        Clause(("shock", "wave"), is_required=True),
        Clause(("a", "lay"), is_prefix=True),
    )


def test_what_is_excluded_or_a_condition_is_not_for_the_embedder() -> None:
    parsed = parse('How do "Wings" fly* -flutter +fast site:example.org')
    assert parsed.plain == "How do Wings fly fast"
    assert parsed.notes == ()


def test_a_word_that_is_also_required_is_one_clause() -> None:
    assert clauses("wing +wing") == (Clause(("wing",), 2, is_required=True),)


def test_conditions() -> None:
    parsed = parse(
        'x site:Example.ORG site:https://docs.example.net/a type:PDF lang:de-AT tag:"two words"'
        " tag:b collection:Papers before:2024-05-01 after:2023"
    )
    assert parsed.filters == Filters(
        domains=("example.org", "docs.example.net"),
        types=("pdf",),
        languages=("de",),
        tags=("two words", "b"),
        collections=("Papers",),
        before=epoch(2024, 5, 1),
        since=epoch(2023, 1, 1),
    )
    assert clauses("x type:code") == (Clause(("x",)),)


@pytest.mark.parametrize(
    ("written", "moment"),
    [("2024", (2024, 1, 1)), ("2024-05", (2024, 5, 1)), ("2024-5-3", (2024, 5, 3))],
)
def test_a_date_is_the_first_moment_of_a_year_month_or_day(
    written: str, moment: tuple[int, int, int]
) -> None:
    assert parse(f"after:{written}").filters.since == epoch(*moment)
    assert parse(f"before:{written}").filters.before == epoch(*moment)


def test_the_narrowest_dates_hold() -> None:
    filters = parse("after:2020 after:2022 before:2024 before:2023").filters
    assert (filters.since, filters.before) == (epoch(2022, 1, 1), epoch(2023, 1, 1))


@pytest.mark.parametrize(
    "written", ["after:2024-13", "before:2024-02-30", "after:20245", "before:0"]
)
def test_a_bad_date_is_a_mistake_that_names_what_dates_look_like(written: str) -> None:
    field, value = written.split(":")
    with pytest.raises(UsageError, match=f"{value}.*is not a date.*{field}:2026-05-31"):
        parse_checked(f"wing {written}")
    assert parse_checked(f'"{written}"').filters == Filters(), "in quotes it is words"


def test_an_unknown_type_or_language_is_a_mistake_that_lists_those_there_are() -> None:
    with pytest.raises(UsageError, match="'spreadsheet' is not a type") as found:
        parse_checked("wing type:spreadsheet")
    assert all(name in str(found.value) for name in TYPES)
    with pytest.raises(UsageError, match=r"'english' is not a language code.* de .* en "):
        parse_checked("wing lang:english")
    with pytest.raises(UsageError, match="'xx' is not a language code"):
        parse_checked("wing lang:xx")
    assert parse_checked("wing lang:gsw").filters.languages == ("gsw",)


def test_the_types_of_a_query_are_those_of_documents_and_passages() -> None:
    assert set(TYPES) == ({*Kind} | {*ChunkKind}) - {Kind.OTHER}


@pytest.mark.parametrize("text", ["", " \t", "type:table", "-wing", "site:a.example -wing"])
def test_a_query_without_words_is_a_mistake(text: str) -> None:
    with pytest.raises(UsageError, match="to look for"):
        parse_checked(text)


def test_a_query_is_not_longer_than_people_type() -> None:
    parse_checked("a" * LONGEST_QUERY)
    with pytest.raises(UsageError, match=r"1,001 characters.*1,000"):
        parse_checked("a" * (LONGEST_QUERY + 1))


def test_a_site_cannot_be_excluded_and_the_notes_say_so() -> None:
    parsed = parse("wing -site:example.org")
    assert (parsed.filters, len(parsed.keywords.clauses)) == (Filters(), 1)
    assert "-site:example.org" in parsed.notes[0]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("C++", ["c++"]),
        ("std::map", ["std::map"]),
        ("x -1 +49", ["x", "-1", "+49"]),
        ("foo:bar a:b:c", ["foo:bar", "a:b:c"]),
        ("me@example.org", ["me@example.org"]),
        ("ps -ef", ["ps", "-ef"]),
        ("tar --help", ["tar", "--help"]),
        ("https://example.org/a?b=c", ["https://example.org/a?b=c"]),
        ("f(*args) **bold**", ["f(*args", "bold"]),
        ('a 5" disk "unbalanced quote', ["a", "5", "disk", "unbalanced", "quote"]),
        (
            "site: type: lang: after: 2024",
            ["site", "type", "lang", "after", "2024"],
        ),
        (r"back\slash \ e-mail", [r"back\slash", "e-mail"]),
    ],
)
def test_what_only_looks_like_syntax_is_words(written: str, found: list[str]) -> None:
    assert words(written) == found
    assert parse(written).filters == Filters()


@pytest.mark.parametrize(
    "text", ["", " ", "- + * | & !", '"', '""', '-""', "🙂", "\x00\x07", "\ud800"]
)
def test_without_words_nothing_is_asked(text: str) -> None:
    assert clauses(text) == ()


def test_typographic_quotes_are_quotes() -> None:
    assert clauses("\u201cheat flux\u201d") == (Clause(("heat", "flux")),)


def test_long_queries_are_cut_and_noted() -> None:
    parsed = parse(" ".join(f"word{i}" for i in range(5_000)))
    assert len(parsed.keywords.clauses) == MOST_CLAUSES
    assert len(parsed.plain) <= LONGEST_READ
    assert len(parsed.notes) == 2


SYNTAX = st.sampled_from(
    ['"', "-", "+", "*", ":", "site:", "after:", "\\", " ", "a", "é", "東", "\x00"]
)


@given(st.one_of(st.text(), st.lists(SYNTAX, max_size=40).map("".join)))
def test_no_text_is_an_error(text: str) -> None:
    parsed = parse(text)
    for clause in parsed.keywords.clauses:
        assert clause.words and clause.times > 0
        assert all(word == word.lower() or not word.isascii() for word in clause.words)
    parsed.plain.encode()


@given(st.lists(st.from_regex(r"[A-Za-z0-9éßñд東]{1,12}", fullmatch=True)))
def test_without_syntax_plain_gives_the_words_back(written: list[str]) -> None:
    parsed = parse(" ".join(written))
    assert parsed.plain.split() == written
    assert sum(clause.times for clause in parsed.keywords.clauses) == len(written)
