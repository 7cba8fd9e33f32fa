"""Words of a query in a text."""

from hypothesis import given
from hypothesis import strategies as st

from crawl4r.search.query import parse
from crawl4r.search.rank.highlight import highlights


def lower(words: list[str]) -> list[str]:
    """A stemmer for plurals alone."""
    return [word.lower().removesuffix("s") for word in words]


def marked(text: str, query: str) -> list[str]:
    return [text[a:b] for a, b in highlights(text, parse(query).keywords, lower)]


def test_words_are_marked_in_any_form_and_case() -> None:
    assert marked("A crawler and its Crawlers; no crawl.", "crawlers") == ["crawler", "Crawlers"]


def test_a_prefix_marks_the_whole_word() -> None:
    assert marked("connection connected conn", "connect*") == ["connection", "connected"]


def test_excluded_words_and_none_at_all_mark_nothing() -> None:
    assert marked("red green", "-red") == []
    assert marked("red green", "...") == []


@given(st.text(max_size=300), st.text(max_size=60))
def test_ranges_lie_in_the_text_one_after_the_other(text: str, query: str) -> None:
    end = 0
    for first, last in highlights(text, parse(query).keywords, lower):
        assert end <= first < last <= len(text)
        end = last
