"""Token counts: the embedder's own where its package is installed, an estimate elsewhere."""

import sys
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers, processors

from crawl4r.content.chunks.tokens import (
    PACKAGE,
    EstimatedTokenizer,
    Tokenizer,
    WordPieceTokenizer,
    find_tokenizer_file,
    load_tokenizer,
)

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "token", "##s", "a", "##b", "!"]
TEXT = st.text(st.sampled_from("ab tokens!\n\ud800é中"), max_size=40)


def write_model_package(folder: Path) -> Path:
    """A package as the real one is built, also in what its file says of 128 tokens."""
    tokenizer = tokenizers.Tokenizer(
        models.WordPiece({piece: at for at, piece in enumerate(PIECES)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=4)
    (folder / PACKAGE / "model").mkdir(parents=True)
    (folder / PACKAGE / "__init__.py").write_text("raise ImportError('loads torch')")
    file = folder / PACKAGE / "model" / "tokenizer.json"
    tokenizer.save(str(file))
    return file


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> WordPieceTokenizer:
    return WordPieceTokenizer(write_model_package(tmp_path_factory.mktemp("model")))


def test_the_file_is_found_without_importing_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_model_package(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert find_tokenizer_file() == file
    assert load_tokenizer().name == "all-MiniLM-L6-v2"
    assert PACKAGE not in sys.modules


def test_without_the_package_an_estimate_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert find_tokenizer_file() is None
    tokenizer = load_tokenizer()
    assert tokenizer.name == "estimate"
    assert tokenizer.count(["two words"]) == [2]


def test_nothing_is_cut_off_padded_or_added(small: WordPieceTokenizer) -> None:
    assert small.count(["tokens " * 1000, "", "a"]) == [2000, 0, 1]


def test_offsets_are_characters_of_the_text(small: WordPieceTokenizer) -> None:
    text = "中 Tokens ab!"
    assert [text[start:end] for start, end in small.offsets(text)] == [
        "中",
        "Token",
        "s",
        "a",
        "b",
        "!",
    ]


def test_half_a_surrogate_pair_is_counted_as_one_unknown(small: WordPieceTokenizer) -> None:
    assert small.count(["a \ud800 b"]) == [3]
    assert small.offsets("\ud800 a")[1] == (2, 3)


@given(text=TEXT)
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("estimates", [True, False])
def test_there_are_as_many_offsets_as_tokens_and_they_go_forward(
    small: WordPieceTokenizer, estimates: bool, text: str
) -> None:
    tokenizer: Tokenizer = EstimatedTokenizer() if estimates else small
    offsets = tokenizer.offsets(text)
    assert tokenizer.count([text]) == [len(offsets)]
    places = [place for span in offsets for place in span]
    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) for start, end in offsets)


ESTIMATES = {
    "words": ("The quick brown fox.", 5),
    "a long word": ("internationalisation", 4),
    "numbers and signs": ("v1.25 == x_1", 9),
    "ideographs": ("中文字", 3),
    "blanks": (" \n\t", 0),
}


@pytest.mark.parametrize(("text", "expected"), ESTIMATES.values(), ids=ESTIMATES)
def test_the_estimate_counts_stretches_and_signs(text: str, expected: int) -> None:
    assert EstimatedTokenizer().count([text]) == [expected]


@pytest.mark.skipif(find_tokenizer_file() is None, reason="the model package is not installed")
def test_the_embedder_counts_as_bert_does() -> None:
    tokenizer = load_tokenizer()
    text = "Crawling isn't scraping: https://example.org/größe 中文 🎉"
    words = [text[start:end].lower() for start, end in tokenizer.offsets(text)]
    assert "".join(words) == text.lower().replace(" ", "")
    assert tokenizer.count(["hello world", "unaffable", "x" * 101]) == [2, 3, 1]
    estimate = EstimatedTokenizer().count([text])[0]
    assert tokenizer.count([text])[0] <= estimate * 1.2
