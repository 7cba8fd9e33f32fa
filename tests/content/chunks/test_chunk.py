"""Chunks are exact ranges of the document, cut at its own breaks."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl4r.content.chunks.chunk import (
    Chunk,
    ChunkKind,
    CountTokens,
    chunk_by_structure,
    chunk_by_window,
)
from crawl4r.content.markdown.blocks import plain_words, scan_blocks
from tests.content.chunks.markdown_documents import (
    BODY,
    DOCUMENT,
    FENCE,
    LINE,
    PARAGRAPH,
    TABLE,
    indented,
)

PROSE, CODE, TABLE_KIND, LIST = ChunkKind


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def count_characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def count_more_in_company(texts: Sequence[str]) -> list[int]:
    """A tokenizer whose tokens do not add up: a text has more of them than its parts together."""
    return [words + words // 3 for words in count_words(texts)]


COUNTERS = st.sampled_from([count_words, count_characters, count_more_in_company])
LIMITS = st.integers(1, 40)


def texts(markdown: str, chunks: Sequence[Chunk]) -> list[str]:
    return [markdown[chunk.start : chunk.end] for chunk in chunks]


def cut(markdown: str, limit: int = 512, smallest: int = 0) -> list[str]:
    return texts(
        markdown, chunk_by_structure(markdown, count_words, max_tokens=limit, min_tokens=smallest)
    )


# --- promises for every document -----------------------------------------------------------------


@given(DOCUMENT, COUNTERS, LIMITS, st.integers(0, 20))
@settings(max_examples=80, deadline=None)
def test_chunks_joined_are_the_document_and_none_is_too_large(
    markdown: str, count: CountTokens, limit: int, smallest: int
) -> None:
    chunks = chunk_by_structure(markdown, count, max_tokens=limit, min_tokens=smallest)
    assert "".join(texts(markdown, chunks)) == markdown
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert [chunk.tokens for chunk in chunks] == list(count(texts(markdown, chunks)))
    assert all(chunk.tokens <= limit or chunk.end - chunk.start == 1 for chunk in chunks)
    assert all(chunk.start < chunk.end for chunk in chunks)
    assert len({chunk.id for chunk in chunks}) == len(chunks)


@given(DOCUMENT, COUNTERS, st.integers(2, 40), st.data())
@settings(max_examples=66, deadline=None)
def test_windows_cover_the_document_and_each_is_exact(
    markdown: str, count: CountTokens, size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    windows = chunk_by_window(markdown, count, size=size, overlap=overlap)
    assert [window.tokens for window in windows] == list(count(texts(markdown, windows)))
    assert all(window.tokens <= size or window.end - window.start == 1 for window in windows)
    reached = 0
    for window in windows:
        assert window.start <= reached
        reached = max(reached, window.end)
    assert reached == len(markdown)
    assert all(a.start < b.start for a, b in pairwise(windows))


def test_half_of_a_window_does_not_stay_where_the_next_one_says_it_all() -> None:
    markdown = "# one one\n\n# one one one\n\n"
    windows = chunk_by_window(markdown, count_more_in_company, size=6, overlap=3)
    assert texts(markdown, windows) == ["# one one\n\n", "# one one one\n\n"]


def test_halves_of_two_windows_keep_the_order_of_the_document() -> None:
    lengths = (3, 4, 5, 9)
    markdown = "# one\n\n# one\n\n<div>\n# no heading\n</div>\n\n"
    markdown += "".join(f"#{' one' * length}\n\n" for length in lengths)
    windows = chunk_by_window(markdown, count_more_in_company, size=24, overlap=12)
    starts = [window.start for window in windows]
    assert starts == sorted(set(starts))
    assert windows[-1].end == len(markdown)


@given(DOCUMENT)
@settings(max_examples=66, deadline=None)
def test_the_blocks_cover_the_document_and_begin_at_lines(markdown: str) -> None:
    blocks = scan_blocks(markdown)
    assert "".join(markdown[block.start : block.end] for block in blocks) == markdown
    assert all(markdown[block.start - 1] in "\r\n" for block in blocks if block.start)


@given(DOCUMENT, LIMITS)
@settings(max_examples=33, deadline=None)
def test_the_same_document_gives_the_same_chunks(markdown: str, limit: int) -> None:
    first, second = (chunk_by_structure(markdown, count_words, max_tokens=limit) for _ in "ab")
    assert first == second


@given(st.lists(BODY, min_size=1, max_size=8), st.data(), st.integers(12, 40))
@settings(max_examples=80, deadline=None)
def test_a_fence_or_table_that_fits_is_never_split(
    parts: list[str], data: st.DataObject, limit: int
) -> None:
    whole = data.draw(st.one_of(FENCE, FENCE.map(lambda fence: indented(fence, "  ")), TABLE))
    lead = "- item\n\n" if whole.startswith(" ") else data.draw(st.sampled_from(["", "# Title\n"]))
    at = data.draw(st.integers(0, len(parts)))
    before = "".join(part + "\n\n" for part in parts[:at]) + "text\n\n" + lead
    markdown = before + whole + "\n\n" + "\n\n".join(parts[at:])
    chunks = chunk_by_structure(markdown, count_words, max_tokens=limit)
    start, end = len(before), len(before) + len(whole)
    if len(whole.split()) <= limit:
        assert any(chunk.start <= start and end <= chunk.end for chunk in chunks)


@given(st.lists(LINE, min_size=2, max_size=30), st.integers(8, 20))
@settings(max_examples=66, deadline=None)
def test_a_large_table_is_split_between_rows(cells: list[str], limit: int) -> None:
    rows = [f"| {' '.join(cell.split()[:4])} |\n" for cell in cells]
    markdown = "| a |\n|---|\n" + "".join(rows)
    for text in cut(markdown, limit):
        assert text.startswith("|")
        assert text.endswith("|\n")


@given(st.lists(st.lists(BODY, max_size=3), min_size=2, max_size=5), PARAGRAPH, LIMITS, st.data())
@settings(max_examples=66, deadline=None)
def test_an_edit_in_one_section_leaves_the_ids_of_the_others(
    bodies: list[list[str]], edit: str, limit: int, data: st.DataObject
) -> None:
    edited = data.draw(st.integers(0, len(bodies) - 1))

    def others(sections: list[list[str]]) -> list[str]:
        markdown = "".join(
            "\n\n".join([f"# Part {number}", *body]) + "\n\n"
            for number, body in enumerate(sections)
        )
        chunks = chunk_by_structure(markdown, count_words, max_tokens=limit)
        return [chunk.id for chunk in chunks if chunk.headings[0] != f"Part {edited}"]

    before = others(bodies)
    assert others([*bodies[:edited], [edit], *bodies[edited + 1 :]]) == before
    assert others([*bodies[:edited], [], *bodies[edited + 1 :]]) == before


# --- where it cuts -------------------------------------------------------------------------------

CUTS = {
    "nothing": ("", []),
    "blank lines alone": ("\n \n", ["\n \n"]),
    "small blocks are packed": ("a\n\nb\n\nc", ["a\n\nb\n\nc"]),
    "no chunk across a heading": ("a\n\n# H\n\nb\n# I\nc", ["a\n\n", "# H\n\nb\n", "# I\nc"]),
    "a setext heading": ("a\n\nH\n===\nb\n\nI\n--\nc", ["a\n\n", "H\n===\nb\n\n", "I\n--\nc"]),
    "a heading stays with the first below it": ("# H\n\n## I\n\na", ["# H\n\n## I\n\na"]),
    "a heading with nothing below it": ("## H\n\n## I\n\na", ["## H\n\n", "## I\n\na"]),
    "a sign in a fence is no heading": ("```\n# a\n```\nb", ["```\n# a\n```\nb"]),
    "a shorter fence does not close": (
        "````\n```\n# a\n````\n# H",
        ["````\n```\n# a\n````\n", "# H"],
    ),
    "another fence does not close": ("~~~\n```\n# a\n~~~\n# H", ["~~~\n```\n# a\n~~~\n", "# H"]),
    "an open fence takes the rest": ("```\n# a\n\n# b", ["```\n# a\n\n# b"]),
    "a fence in an item": (
        "- a\n\n  ```\n  # b\n  ```\n# H",
        ["- a\n\n  ```\n  # b\n  ```\n", "# H"],
    ),
    "a fence in a quote": ("> ```\n> # a\n> ```\n# H", ["> ```\n> # a\n> ```\n", "# H"]),
    "indented code": ("a\n\n    # b\n\n# H", ["a\n\n    # b\n\n", "# H"]),
    "a comment": ("<!--\n# a\n\n# b\n-->\n# H", ["<!--\n# a\n\n# b\n-->\n", "# H"]),
    "raw HTML": ("<pre>\n# a\n\n# b</pre>\n# H", ["<pre>\n# a\n\n# b</pre>\n", "# H"]),
    "a heading within an item": ("- # a\n- b", ["- # a\n- b"]),
    "a rule is no heading": ("a\n\n---\n\nb", ["a\n\n---\n\nb"]),
    "no blank after the signs": ("#a\n\n#!/bin/sh", ["#a\n\n#!/bin/sh"]),
    "seven signs": ("####### a", ["####### a"]),
    "carriage returns": ("a\r\n\r\n# H\r\nb\r\n", ["a\r\n\r\n", "# H\r\nb\r\n"]),
    "old carriage returns": ("a\r\r# H\rb", ["a\r\r", "# H\rb"]),
    "a line separator ends no line": ("a\u2028# b", ["a\u2028# b"]),
}


@pytest.mark.parametrize(("markdown", "expected"), CUTS.values(), ids=CUTS)
def test_a_document_is_cut_at_its_headings(markdown: str, expected: list[str]) -> None:
    assert cut(markdown) == expected


SPLITS = {
    "between paragraphs": ("a b c\n\nd e\n\nf", 5, ["a b c\n\nd e\n\n", "f"]),
    "between sentences": ("a b. c d! e f", 4, ["a b. c d! ", "e f"]),
    "between ideographic sentences": ("一二。三四。", 4, ["一二。三四。"]),
    "between lines": ("a b\nc d\ne f", 4, ["a b\nc d\n", "e f"]),
    "between words": ("a b c d e", 2, ["a b ", "c d ", "e"]),
    "between items": ("- a b\n- c d\n- e f", 6, ["- a b\n- c d\n", "- e f"]),
    "between nested items, outer ones first": (
        "- a\n  - b\n  - c\n- d\n  - e",
        6,
        ["- a\n  - b\n  - c\n", "- d\n  - e"],
    ),
    "between lines of code": ("```\na b\nc d\n```", 3, ["```\na b\n", "c d\n```"]),
    "a paragraph after a heading": ("# H\n\na b. c d. e f", 6, ["# H\n\na b. c d. ", "e f"]),
    "code that fits alone leaves its heading": (
        "# H\n\n```\na b c d\n```",
        6,
        ["# H\n\n", "```\na b c d\n```"],
    ),
    "a list that fits is not begun below a text": (
        "a b c\n\n- d\n- e\n- f",
        6,
        ["a b c\n\n", "- d\n- e\n- f"],
    ),
}


@pytest.mark.parametrize(("markdown", "limit", "expected"), SPLITS.values(), ids=SPLITS)
def test_what_does_not_fit_is_split(markdown: str, limit: int, expected: list[str]) -> None:
    assert cut(markdown, limit) == expected


def test_a_small_last_chunk_takes_blocks_from_the_one_before() -> None:
    markdown = "a a a\n\nb b b\n\nc c c\n\nd"
    assert cut(markdown, 9) == ["a a a\n\nb b b\n\nc c c\n\n", "d"]
    assert cut(markdown, 9, smallest=3) == ["a a a\n\nb b b\n\n", "c c c\n\nd"]


def test_a_word_beyond_the_limit_is_cut_between_characters() -> None:
    chunks = chunk_by_structure("abcdefgh", count_characters, max_tokens=3)
    assert texts("abcdefgh", chunks) == ["abc", "def", "gh"]


def test_a_character_is_never_cut() -> None:
    def three_each(parts: Sequence[str]) -> list[int]:
        return [3 * len(part) for part in parts]

    assert [chunk.tokens for chunk in chunk_by_structure("ab", three_each, max_tokens=2)] == [3, 3]


def test_the_headings_above_a_chunk_are_its_path() -> None:
    markdown = "intro\n\n# A\n\na\n\n### C\n\nc\n\n## B\n\nb\n\n# D\n\n## E\n\ne"
    paths = [chunk.headings for chunk in chunk_by_structure(markdown, count_words)]
    assert paths == [(), ("A",), ("A", "C"), ("A", "B"), ("D", "E")]


HEADINGS = {
    "closing signs": ("Title ##", "Title"),
    "a sign of its own": ("C#", "C#"),
    "emphasis and code": ("The **very** _best_ `snake_case`", "The very best snake_case"),
    "a link": ("[Title](/x) and ![alt](y.png)", "Title and alt"),
    "a permalink": ("Title[¶](#title)", "Title"),
    "escapes": (r"1 \* 2 \# 3", "1 * 2 # 3"),
    "tags and anchors": ('<a id="x"></a>Title {#x}', "Title"),
    "comparisons": ("a < b", "a < b"),
}


@pytest.mark.parametrize(("heading", "expected"), HEADINGS.values(), ids=HEADINGS)
def test_a_heading_is_kept_as_plain_words(heading: str, expected: str) -> None:
    assert plain_words(heading) == expected


KINDS = {
    "prose": ("# Title\n\nwords and words", PROSE),
    "code": ("# A long title of words\n\n```\na b c\n```", CODE),
    "a table": ("a b\n\n| a | b |\n|---|---|\n| 1 | 2 |", TABLE_KIND),
    "a list": ("a\n\n1. b c d\n2. e f g", LIST),
    "code in a list": ("- a\n\n  ```\n  b c d e f g h\n  ```", CODE),
    "headings alone": ("# A\n\n## B", PROSE),
    "bars without dashes": ("a | b\nc | d", PROSE),
    "an HTML table": ("<table><tr><td>a</table>", TABLE_KIND),
}


@pytest.mark.parametrize(("markdown", "expected"), KINDS.values(), ids=KINDS)
def test_the_kind_is_what_most_of_a_chunk_is(markdown: str, expected: ChunkKind) -> None:
    (chunk,) = chunk_by_structure(markdown, count_words)
    assert chunk.kind is expected


def test_equal_chunks_have_ids_of_their_own_and_blanks_make_no_other_id() -> None:
    ids = [chunk.id for chunk in chunk_by_structure("# A\n\na\n\n# A\n\na\n", count_words)]
    assert len(set(ids)) == 2
    assert [chunk.id for chunk in chunk_by_structure("# A\n\na\n\n\n# A\n\na", count_words)] == ids


def test_windows_overlap_by_as_much_as_was_asked() -> None:
    markdown = "a b c d e f g h"
    windows = chunk_by_window(markdown, count_words, size=4, overlap=2)
    assert texts(markdown, windows) == ["a b c d ", "c d e f ", "e f g h"]


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (8, 5), (8, -1)])
def test_windows_that_would_hardly_move_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="window"):
        chunk_by_window("a", count_words, size=size, overlap=overlap)


# --- hostile documents ---------------------------------------------------------------------------

HOSTILE = {
    "a long list": "- item of words\n" * 10_000,
    "lists in lists": "".join(" " * (2 * depth) + "- x\n" for depth in range(500)),
    "items in one line": "- " * 20_000,
    "quotes in quotes": (">" * 300 + " x\n") * 300,
    "fences that never close": "```\n~~~\n" * 10_001,
    "comments that never close": "<!--\n" * 20_000,
    "headings alone": "# h\n" * 10_000,
    "a long paragraph": "word " * 30_000,
    "one word": "x" * 500_000,
    "brackets": "# " + "[" * 200_000 + "\n" + "[](" * 50_000,
    "nearly a rule": "- " * 20_000 + "x\n" + "_ " * 20_000 + "x",
    "nearly a table": "|" * 100_000 + "\n" + "|-" * 50_000 + "x",
    "stops": "! " * 20_000 + "." * 100_000,
    "blank lines": "\n" * 100_000,
    "blanks": " " * 200_000 + "x",
}


@pytest.mark.parametrize("cutter", [chunk_by_structure, chunk_by_window])
@pytest.mark.parametrize("markdown", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_document_is_counted_in_few_calls_and_few_times_over(
    markdown: str, cutter: Callable[[str, CountTokens], list[Chunk]]
) -> None:
    calls: list[int] = []

    def count(parts: Sequence[str]) -> list[int]:
        calls.append(sum(map(len, parts)))
        return [max(len(part) // 4, len(part.split())) for part in parts]

    chunks = cutter(markdown, count)
    assert chunks[-1].end == len(markdown)
    assert len(calls) <= 16
    assert sum(calls) <= 12 * len(markdown)


# --- overlaps ------------------------------------------------------------------------------------


@given(DOCUMENT, COUNTERS, LIMITS, st.data())
@settings(max_examples=80, deadline=None)
def test_chunks_that_overlap_cover_the_document_and_none_is_too_large(
    markdown: str, count: CountTokens, limit: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, limit // 2))
    chunks = chunk_by_structure(markdown, count, max_tokens=limit, overlap=overlap)
    assert [chunk.tokens for chunk in chunks] == list(count(texts(markdown, chunks)))
    assert all(chunk.tokens <= limit or chunk.end - chunk.start == 1 for chunk in chunks)
    covered = 0
    for chunk in chunks:
        assert chunk.start <= covered < chunk.end
        covered = chunk.end
    assert covered == len(markdown)
    assert len({chunk.id for chunk in chunks}) == len(chunks)


def test_a_chunk_repeats_whole_sentences_of_its_own_section_alone() -> None:
    sentences = " ".join(f"Here is sentence number {n}." for n in range(20))
    markdown = f"# One\n\n{sentences}\n\n# Two\n\n{sentences}"
    chunks = chunk_by_structure(markdown, count_words, max_tokens=40, overlap=12)
    begins = [text[:7].strip() for text in texts(markdown, chunks)]
    assert begins == ["# One", *["Here is"] * 3, "# Two", *["Here is"] * 3]
    for before, after in pairwise(chunks):
        repeated = markdown[after.start : before.end]
        assert repeated.count("number") == (0 if after.headings != before.headings else 2)
    whole = chunk_by_structure("# One\n\nOne two three.", count_words, max_tokens=6, overlap=3)
    assert len(whole) == 1, "what fits as a whole is not cut"


def test_a_chunk_of_code_repeats_whole_lines_and_one_of_a_long_sentence_words() -> None:
    code = "\n".join(f"line {n} of the program" for n in range(30))
    markdown = f"```\n{code}\n```"
    chunks = chunk_by_structure(markdown, count_words, max_tokens=40, overlap=12)
    assert all(text.startswith("line") for text in texts(markdown, chunks)[1:])
    sentence = " ".join(f"word{n}" for n in range(100))
    first, second, *_ = chunk_by_structure(sentence, count_words, max_tokens=40, overlap=12)
    assert len(sentence[second.start : first.end].split()) == 12


def test_an_overlap_of_more_than_half_a_chunk_is_refused() -> None:
    with pytest.raises(ValueError, match="at most half"):
        chunk_by_structure("words", count_words, max_tokens=10, overlap=6)
