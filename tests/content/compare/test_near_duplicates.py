"""Near-duplicates are found, others rarely, with equal numbers on every machine."""

import random
import subprocess
import sys
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from crawl4r.content.compare.minhash import signature
from crawl4r.content.compare.near_duplicates import bands, similarity

CHOICE = random.Random(7)
VOCABULARY = ["".join(CHOICE.choices("abcdefghijklmnoprstuv", k=6)) for _ in range(3000)]


def page(words: int) -> list[str]:
    return CHOICE.choices(VOCABULARY, k=words)


def edited(words: list[str], share: float) -> list[str]:
    """The same page with some words changed, as many as make the wanted Jaccard similarity."""
    kept = 2 * share / (1 + share)  # of the shingles of either page
    changes = round(len(words) * (1 - kept) / 4)
    result = list(words)
    for at in range(changes):
        result[(at * len(words)) // changes + 2] = f"new{at}"
    return result


def share_a_band(a: list[str], b: list[str]) -> bool:
    keys = [set(bands(signature(" ".join(words)))) for words in (a, b)]
    return not keys[0].isdisjoint(keys[1])


def test_the_estimate_is_close_to_the_true_similarity() -> None:
    for share in (0.3, 0.6, 0.9):
        for size in (400, 3000):
            pages = [page(size) for _ in range(10)]
            estimates = [
                similarity(signature(" ".join(words)), signature(" ".join(edited(words, share))))
                for words in pages
            ]
            assert abs(sum(estimates) / 10 - share) < 0.04
            assert max(abs(estimate - share) for estimate in estimates) < 0.15


def test_near_duplicates_share_a_band_and_others_hardly_ever() -> None:
    pages = [page(1000) for _ in range(100)]
    assert sum(share_a_band(words, edited(words, 0.93)) for words in pages) >= 99
    assert sum(share_a_band(words, edited(words, 0.55)) for words in pages) <= 10
    assert not any(share_a_band(a, b) for a, b in pairwise(pages))


def test_case_blanks_punctuation_and_markup_make_no_difference() -> None:
    words = page(60)
    other = "# " + "\n\n- **".join(word.upper() for word in words) + "!"
    assert signature(other) == signature(" ".join(words))


def test_too_short_a_text_has_no_signature_and_resembles_nothing() -> None:
    assert signature("") == signature(" ".join(page(15))) == b""
    assert len(signature(" ".join(page(25)))) == 256
    assert bands(b"") == []
    assert similarity(b"", b"") == similarity(b"", signature(" ".join(page(99)))) == 0.0


def test_a_text_without_blanks_between_words_is_read_by_the_character() -> None:
    text = "人人生而自由在尊严和权利上一律平等他们赋有理性和良心并应以兄弟关系的精神相对待" * 2
    assert similarity(signature(text), signature("他" + text)) > 0.85


def test_words_are_told_apart_by_their_beginnings_and_their_lengths() -> None:
    long = ["x" * 40 + word for word in page(50)]
    assert signature(" ".join(long)) == signature(" ".join("x" * 46 for _ in long))
    assert signature(" ".join("x" * 46 for _ in long)) != signature(
        " ".join("x" * 47 for _ in long)
    )


def test_what_lies_beyond_the_cap_does_not_count() -> None:
    long = "\n".join(" ".join(page(50)) for _ in range(1000))
    assert signature(long + " and more") == signature(long)
    assert signature("more, and " + long) != b""


@given(st.text(max_size=300))
@settings(max_examples=60, deadline=None)
def test_every_text_has_a_signature_of_one_size_and_keys_that_sqlite_can_hold(text: str) -> None:
    own = signature(text)
    assert len(own) in (0, 256)
    assert own == signature(text)
    assert all(0 <= key < 2**63 for key in bands(own))
    assert len(set(bands(own))) == (16 if own else 0)
    if own:
        assert similarity(own, own) == 1.0


def test_another_process_computes_the_same() -> None:
    text = " ".join(f"word{at * at}" for at in range(200))
    script = (
        "import sys; from crawl4r.content.compare.minhash import signature;"
        "from crawl4r.content.compare.near_duplicates import bands;"
        "own = signature(sys.argv[1]); print(own.hex(), bands(own))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, text], capture_output=True, text=True, check=True
    )
    assert run.stdout.split(" ", 1) == [signature(text).hex(), f"{bands(signature(text))}\n"]


def test_the_numbers_are_those_that_workspaces_already_hold() -> None:
    text = " ".join(f"word{at * at}" for at in range(200))
    assert signature(text)[:8].hex() == "8506293170d94e90"
