"""What a result shows of a passage, and the link that leads to it."""

from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from crawl4r.search.query import parse
from crawl4r.search.rank.highlight import highlights
from crawl4r.search.rank.snippet import Snippet, snippet_of, with_fragment

WORDS = " ".join(f"word{n}" for n in range(300))


def lower(words: list[str]) -> list[str]:
    return [word.lower() for word in words]


def shown(text: str, query: str) -> Snippet:
    return snippet_of(text, highlights(text, parse(query).keywords, lower))


def test_a_short_text_is_shown_whole_and_without_ellipsis() -> None:
    assert str(shown("red and green", "green")) == "red and green"


def test_a_snippet_begins_and_ends_at_words_with_an_ellipsis_where_it_was_cut() -> None:
    snippet = shown(WORDS, "word150")
    assert str(snippet) == f"... {snippet.text} ..."
    words = snippet.text.split()
    assert set(words) <= set(WORDS.split())
    assert "word150" in words
    assert not shown(WORDS, "word0").is_cut_before
    assert not shown(WORDS, "word299").is_cut_after


def test_a_snippet_begins_with_the_sentence_that_answers() -> None:
    text = f"{WORDS}. The keeper paints the lighthouse. {WORDS}"
    assert shown(text, "lighthouse").text.startswith("The keeper paints")


def test_the_stretch_with_the_most_marks_is_shown() -> None:
    text = f"red here. {WORDS}. red and red and red. {WORDS}"
    assert len(shown(text, "red").marks) == 3


def test_text_without_blanks_is_cut_between_characters() -> None:
    snippet = snippet_of("e\u0301" * 1000, [])
    assert 300 < len(snippet.text) <= 361
    assert snippet.text.endswith("\u0301")


@given(
    st.text(alphabet=st.sampled_from("ab .\n\u6771\u0301"), max_size=1500), st.sampled_from("ab")
)
def test_a_snippet_is_a_stretch_of_its_text(text: str, query: str) -> None:
    snippet = shown(text, f"{query}*")
    assert snippet.text in text
    assert all(0 <= first < last <= len(snippet.text) for first, last in snippet.marks)
    words = unquote(with_fragment("https://a.example/", snippet).partition("text=")[2])
    assert words in " ".join(snippet.text.split())


def test_a_link_leads_to_words_of_the_snippet() -> None:
    text = f"{WORDS}. First line\n\nThe keeper paints the lighthouse before sunrise each day."
    snippet = shown(text, "lighthouse")
    link = with_fragment("https://a.example/x#part", snippet)
    address, words = link.split(":~:text=")
    assert address == "https://a.example/x#part"
    assert unquote(words) == "The keeper paints the lighthouse before sunrise each"


def test_a_fragment_has_no_sign_with_a_meaning_of_its_own() -> None:
    link = with_fragment("https://a.example/x", Snippet("a well-known line, with & and more words"))
    assert not set("-,& ") & set(link.split(":~:text=")[1])
    assert with_fragment("https://a.example/", Snippet("  ")) == "https://a.example/"
