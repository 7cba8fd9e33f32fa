"""The bulk tier: a table of words, read from a package without importing it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from tokenizers import models, pre_tokenizers

from crawl4r.errors import EmbedderMissing
from crawl4r.search.embed.static import PACKAGE, StaticEmbedder

WORDS = ["[UNK]", "red", "green", "apple"]
TABLE = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 2]], np.float16)


def write_package(folder: Path) -> None:
    """A package laid out as the real one is."""
    (folder / "wordllama" / "weights").mkdir(parents=True)
    (folder / "wordllama" / "tokenizers").mkdir()
    (folder / "wordllama" / "__init__.py").write_text("raise ImportError('asks a hub')")
    tokenizer = tokenizers.Tokenizer(
        models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "wordllama" / PACKAGE.tokenizer))
    entry = {"dtype": "F16", "shape": TABLE.shape, "data_offsets": [0, TABLE.nbytes]}
    header = json.dumps({"__metadata__": {}, "embedding.weight": entry}).encode()
    file = folder / "wordllama" / PACKAGE.weights
    file.write_bytes(len(header).to_bytes(8, "little") + header + TABLE.tobytes())


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StaticEmbedder:
    write_package(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return StaticEmbedder()


def test_a_vector_is_the_mean_of_the_words(small: StaticEmbedder) -> None:
    vectors = small.embed(["red", "red red green", "apple"])
    assert vectors == pytest.approx(
        np.array([[1, 0, 0], [np.sqrt(0.5), np.sqrt(0.5), 0], [0, 0, 1]])
    )
    assert vectors.dtype == np.float32
    assert small.dimension == 3
    assert small.embed_query("apple").tolist() == [0, 0, 1]
    assert "wordllama" not in sys.modules


@pytest.mark.parametrize("text", ["", "unheard-of", "\ud800", "🎉" * 10_000])
def test_a_text_without_a_known_word_gets_the_first_axis(small: StaticEmbedder, text: str) -> None:
    assert small.embed([text]).tolist() == [[1, 0, 0]]


def test_a_table_that_is_cut_off_is_named(small: StaticEmbedder, tmp_path: Path) -> None:
    file = tmp_path / "wordllama" / PACKAGE.weights
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(EmbedderMissing, match="wordllama is damaged"):
        StaticEmbedder()


def test_without_the_package_the_error_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(EmbedderMissing, match=r"`pip install --no-deps wordllama`"):
        StaticEmbedder()


def is_installed() -> bool:
    try:
        return bool(PACKAGE.folder())
    except EmbedderMissing:
        return False


@pytest.mark.skipif(not is_installed(), reason="the package wordllama is not installed")
def test_the_real_table_knows_what_belongs_together() -> None:
    embedder = StaticEmbedder()
    texts = ["a recipe for bread and cake", "the database stores rows", "1 MB " * 200_000, "🎉"]
    vectors = embedder.embed(texts)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert int((vectors[:2] @ embedder.embed_query("SQL tables")).argmax()) == 1
    assert int((vectors[:2] @ embedder.embed_query("baking with flour")).argmax()) == 0
