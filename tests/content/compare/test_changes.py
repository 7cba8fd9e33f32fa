"""Only changes with a meaning for readers count, and a diff shows only those."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl4r.content.compare.alignment import gaps
from crawl4r.content.compare.changes import TextChange, compare, diff
from tests.content.chunks.markdown_documents import DOCUMENT

UNCHANGED = {
    "nothing": ("", ""),
    "blanks": ("a b\n\nc", " a  b\n\n\n\nc\n"),
    "a paragraph wrapped elsewhere": ("one two\nthree. Four", "one\ntwo three.\nFour"),
    "a paragraph split": ("One. Two.", "One.\n\nTwo."),
    "line ends": ("a\nb\n", "a\r\nb\r\n"),
    "invisible characters": ("soft hyphen", "soft hy\u00adphen\u200b"),
    "time that passed": ("12 minutes ago", "an hour ago"),
    "a date": ("on 2026-11-15", "on 2025-01-02"),
    "a date and a time": ("2026-11-15T10:00:00Z", "2025-01-02T11:12:13.5+01:00"),
    "a written date": ("Posted Nov. 15, 2026 by X", "Posted May 1, 2025 by X"),
    "a European date": ("am 15.11.2026, 23:59", "am 1.2.2025, 00:01"),
    "a day before its month": ("15 November 2026", "1st May 2025"),
    "a counter": ("1,234 views", "12k views"),
    "a counter behind its name": ("Comments (7) Stars: 12", "Comments (12) Stars: 13"),
    "a session": ("[a](/x?sid=1f&y=2)", "[a](/x?sid=77&y=2)"),
    "a campaign": ("[a](/x?a=b&utm_source=c)", "[a](/x?a=b&utm_source=d)"),
    "a copyright year": ("© 2025 E", "© 2026 E"),
}


@pytest.mark.parametrize(("before", "after"), UNCHANGED.values(), ids=UNCHANGED)
def test_what_changes_by_itself_is_no_change(before: str, after: str) -> None:
    assert compare(before, after) == TextChange("unchanged", 0, 0, 0.0)
    assert diff(before, after) == ""


CHANGED = {
    "a word more": ("a b", "a b c", (1, 0)),
    "a word less": ("a b c", "a c", (0, 1)),
    "another word": ("a b c", "a x c", (1, 1)),
    "all": ("a b", "", (0, 2)),
    "a number": ("Price: 12", "Price: 13", (1, 1)),
    "a version": ("v1.2.3", "v1.2.4", (1, 1)),
    "a month that is a verb": ("it may 10 times", "it may 20 times", (1, 1)),
    "a duration": ("Learn it in 3 days", "Learn it in 4 days", (1, 1)),
    "a checksum": ("sha 1f2e3d4c5b6a7980", "sha 0f2e3d4c5b6a7980", (1, 1)),
    "the order": ("dog bites man", "man bites dog", (2, 2)),
    "a date where there was none": ("Updated", "Updated 2026-11-15", (1, 0)),
}


@pytest.mark.parametrize(("before", "after", "expected"), CHANGED.values(), ids=CHANGED)
def test_other_words_are_a_change(before: str, after: str, expected: tuple[int, int]) -> None:
    change = compare(before, after)
    assert change.kind == "changed"
    assert (change.added, change.removed) == expected
    assert diff(before, after) != ""


def test_the_ratio_is_the_share_of_words_that_differ() -> None:
    assert compare("a b c d", "a b c x").ratio == 0.25
    assert compare("a b", "c d").ratio == 1.0


def test_a_diff_shows_the_sentence_and_not_the_paragraph() -> None:
    before = "# T\n\nOne is here. Two is\nthere. Three. Four. Five. Six.\n\n| a |\n|---|\n| 1 |\n"
    after = before.replace("Two is", "Two was") + "| 2 |\n"
    assert diff(before, after, context=1, labels=("old", "new")).splitlines() == [
        "--- old",
        "+++ new",
        "@@ -2,3 +2,3 @@",
        " One is here.",
        "-Two is there.",
        "+Two was there.",
        " Three.",
        "@@ -10,1 +10,2 @@",
        " | 1 |",
        "+| 2 |",
    ]


def test_changes_close_to_each_other_share_a_hunk() -> None:
    before, after = "a\n\nb\n\nc\n\nd\n\ne", "a\n\nx\n\nc\n\ny\n\ne"
    assert diff(before, after, context=1).count("@@ -") == 1
    assert diff(before, after, context=0).count("@@ -") == 2


def test_code_keeps_its_indent_in_a_diff() -> None:
    assert "\n+    y\n" in diff("```\n    x\n```", "```\n    y\n```")


@given(DOCUMENT, DOCUMENT)
@settings(max_examples=60, deadline=None)
def test_a_diff_is_empty_exactly_where_nothing_changed(before: str, after: str) -> None:
    change = compare(before, after)
    assert (diff(before, after) == "") == (change.kind == "unchanged")
    assert (change.added + change.removed == 0) == (change.kind == "unchanged")
    assert 0 <= change.ratio <= 1
    assert compare(before, before).kind == "unchanged"


ITEMS = st.lists(st.sampled_from("abcdefgh"), max_size=15)


def longest_common(a: list[str], b: list[str]) -> int:
    row = [0] * (len(b) + 1)
    for item in a:
        above = row[:]
        for at, other in enumerate(b):
            row[at + 1] = above[at] + 1 if item == other else max(above[at + 1], row[at])
    return row[-1]


def removed(before: list[str], after: list[str]) -> int:
    return sum(gap.a_end - gap.a_start for gap in gaps(before, after))


@given(ITEMS, ITEMS)
@settings(max_examples=100, deadline=None)
def test_gaps_turn_one_sequence_into_the_other(before: list[str], after: list[str]) -> None:
    rebuilt: list[str] = []
    at = 0
    for gap in gaps(before, after):
        rebuilt += before[at : gap.a_start]
        assert len(rebuilt) == gap.b_start
        rebuilt += after[gap.b_start : gap.b_end]
        at = gap.a_end
    assert rebuilt + before[at:] == after


@given(ITEMS, ITEMS)
@settings(max_examples=100, deadline=None)
def test_without_anchors_the_edit_is_the_shortest(before: list[str], after: list[str]) -> None:
    # Every letter twice, and other ends, so that nothing is unique or trimmed.
    old = ["<", *before, *"abcdefgh", *"abcdefgh", ">"]
    new = ["(", *after, *"abcdefgh", *"abcdefgh", ")"]
    assert removed(old, new) == len(old) - longest_common(old, new)


class Counted(str):
    """A text that counts how often it is compared."""

    comparisons = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other


HOSTILE = {
    "the same few, shuffled": ("abc" * 3000, "cab" * 2500),
    "nothing in common": ("ab" * 4000, "cd" * 4000),
    "mirrored": ("".join(map(chr, range(256, 5000))), "".join(map(chr, range(4999, 255, -1)))),
    "one repeated": ("a" * 8000, "a" * 4000 + "b" + "a" * 3000 + "b"),
}


@pytest.mark.parametrize(("before", "after"), HOSTILE.values(), ids=HOSTILE)
def test_the_work_on_hostile_sequences_is_bounded(before: str, after: str) -> None:
    Counted.comparisons = 0
    gaps([Counted(item) for item in before], [Counted(item) for item in after])
    assert Counted.comparisons <= 300 * (len(before) + len(after))


@pytest.mark.parametrize(
    "text",
    [
        "1" * 50_000,
        "1," * 20_000,
        "May " * 10_000,
        "?sess" * 10_000,
        "12:" * 20_000,
        "x. Y. " * 9000,
    ],
    ids=["digits", "groups", "months", "sessions", "clocks", "sentences"],
)
def test_a_hostile_text_is_compared(text: str) -> None:
    assert compare(text, text + " Z").kind == "changed"
