"""A cross-encoder from a folder, with models small enough to be made here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from onnx import TensorProto, helper, numpy_helper
from tokenizers import models, pre_tokenizers, processors

from crawl4r.errors import UsageError
from crawl4r.search.rank.rerank_onnx import OnnxReranker

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "sat", "on", "mat", "dog", "ran"]
BERT = ("input_ids", "attention_mask", "token_type_ids")


def write_tokenizer(folder: Path) -> None:
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.enable_padding(length=900)  # as files from a training have it; not to be obeyed
    tokenizer.save(str(folder / "tokenizer.json"))


def overlap_nodes(output: str) -> tuple[list[Any], list[Any]]:
    """The dot product of the words of question and passage, each word a direction of its own."""
    table = np.eye(len(WORDS), dtype=np.float32)
    table[:4] = 0  # marks, padding and unknown words mean nothing
    constants = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.array([1], np.int64), "one"),
        numpy_helper.from_array(np.array([2], np.int64), "last"),
    ]
    node = helper.make_node
    nodes = [
        node("Gather", ["table", "input_ids"], ["words"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        node("Mul", ["mask", "types"], ["in_passage"]),
        node("Sub", ["mask", "in_passage"], ["in_question"]),
        node("Unsqueeze", ["in_passage", "last"], ["passage_mask"]),
        node("Unsqueeze", ["in_question", "last"], ["question_mask"]),
        node("Mul", ["words", "passage_mask"], ["passage_words"]),
        node("Mul", ["words", "question_mask"], ["question_words"]),
        node("ReduceSum", ["passage_words", "one"], ["passage"], keepdims=0),
        node("ReduceSum", ["question_words", "one"], ["question"], keepdims=0),
        node("Mul", ["passage", "question"], ["product"]),
        node("ReduceSum", ["product", "one"], [output], keepdims=1),
    ]
    return nodes, constants


def write_model(
    folder: Path,
    nodes: Sequence[Any],
    constants: Sequence[Any],
    *,
    inputs: Sequence[str] = BERT,
    outputs: dict[str, list[Any]],
    kind: int = TensorProto.INT64,
) -> None:
    given = [helper.make_tensor_value_info(name, kind, ["pairs", "length"]) for name in inputs]
    made = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in outputs.items()
    ]
    graph = helper.make_graph(list(nodes), "toy", given, made, list(constants))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    (folder / "model.onnx").write_bytes(model.SerializeToString())


def write_overlap(folder: Path, kind: int = TensorProto.INT64) -> Path:
    write_tokenizer(folder)
    nodes, constants = overlap_nodes("logits")
    write_model(folder, nodes, constants, outputs={"logits": ["pairs", 1]}, kind=kind)
    return folder


@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.INT32])
def test_passages_are_scored_with_the_question_in_sight(tmp_path: Path, kind: int) -> None:
    reranker = OnnxReranker(write_overlap(tmp_path, kind))
    texts = ["the dog ran", "the cat sat on the mat", "", "mat", "unheard-of words"]
    assert reranker.scores("the cat sat", texts) == [1, 4, 0, 0, 0]
    assert reranker.scores("the cat sat", []) == []
    assert reranker.model == tmp_path.name
    reranker.close()


def test_scores_do_not_depend_on_neighbours(tmp_path: Path) -> None:
    """Batches are made by length, and padding must not count."""
    reranker = OnnxReranker(write_overlap(tmp_path))
    texts = [" ".join(["cat", "dog", "mat"][: 1 + n % 3] * (1 + n * 7 % 40)) for n in range(100)]
    together = reranker.scores("cat mat", texts)
    assert together == [reranker.scores("cat mat", [text])[0] for text in texts]
    assert together == [text.split().count("cat") + text.split().count("mat") for text in texts]


def test_a_long_passage_is_cut_at_512_tokens_and_a_long_question_too(tmp_path: Path) -> None:
    reranker = OnnxReranker(write_overlap(tmp_path))
    [score] = reranker.scores("cat", ["cat " * 5000])
    assert score == 512 - 4  # three marks and the question
    [score] = reranker.scores("cat " * 5000, ["cat " * 5000])
    assert score == pytest.approx((509 / 2) ** 2, rel=0.01)


def test_broken_text_is_ranked_as_well(tmp_path: Path) -> None:
    reranker = OnnxReranker(write_overlap(tmp_path))
    assert reranker.scores("cat \ud800", ["\udfff cat"]) == [1]


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no tokenizer\.json: a reranker is a folder with"):
        OnnxReranker(tmp_path)
    write_tokenizer(tmp_path)
    with pytest.raises(UsageError, match=r"has no model\.onnx"):
        OnnxReranker(tmp_path)


def test_broken_files_are_named(tmp_path: Path) -> None:
    write_overlap(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(UsageError, match=r"model\.onnx is not a model that can be run"):
        OnnxReranker(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UsageError, match=r"tokenizer\.json is not a tokenizer"):
        OnnxReranker(tmp_path)


def constant_output(name: str, shape: list[int], value: float = 0.5) -> tuple[Any, Any]:
    constant = numpy_helper.from_array(np.full(shape, value, np.float32), f"constant_{name}")
    return helper.make_node("Identity", [f"constant_{name}"], [name]), constant


@pytest.mark.parametrize(
    ("inputs", "outputs", "kind", "words"),
    [
        (["tokens"], {"logits": [1, 1]}, TensorProto.INT64, "wants tokens; a cross-encoder wants"),
        ([*BERT, "pixels"], {"logits": [1, 1]}, TensorProto.INT64, "pixels, token_type_ids"),
        (BERT, {"logits": [1, 1]}, TensorProto.FLOAT, r"token numbers as tensor\(float\)"),
        (BERT, {"logits": [1, 3]}, TensorProto.INT64, "3 numbers for a pair"),
        (BERT, {"a": [1, 1], "b": [1, 1]}, TensorProto.INT64, "gives a, b: which of them"),
        (BERT[:2], {"logits": [1, 8, 4]}, TensorProto.INT64, r"shape \(1, 8, 4\) for 1 pairs"),
    ],
    ids=["inputs", "more inputs", "floats", "classes", "outputs", "an embedder"],
)
def test_a_model_that_is_no_cross_encoder_is_refused(
    tmp_path: Path, inputs: Sequence[str], outputs: dict[str, list[Any]], kind: int, words: str
) -> None:
    write_tokenizer(tmp_path)
    made = [constant_output(name, shape) for name, shape in outputs.items()]
    nodes, constants = zip(*made, strict=True)
    write_model(tmp_path, nodes, constants, inputs=inputs, outputs=outputs, kind=kind)
    with pytest.raises(UsageError, match=words):
        OnnxReranker(tmp_path)


def test_a_score_that_is_no_number_is_refused(tmp_path: Path) -> None:
    write_tokenizer(tmp_path)
    node, constant = constant_output("logits", [1, 1], float("nan"))
    write_model(tmp_path, [node], [constant], outputs={"logits": [1, 1]})
    with pytest.raises(UsageError, match="not a number"):
        OnnxReranker(tmp_path)
