"""A cross-encoder on this machine: a folder with `model.onnx` and `tokenizer.json`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tokenizers

from crawl4r.errors import Crawl4rError, UsageError
from crawl4r.search.embed.weights import readable
from crawl4r.search.silent_onnxruntime import onnxruntime

_LONGEST = 512  # tokens of question and passage together
_MAX_BATCH = 16  # pairs of one batch ...
_MAX_BATCH_TOKENS = 4_096  # ... and tokens, with padding; more leaves the caches
_NEEDED = {"input_ids", "attention_mask"}
_KNOWN = _NEEDED | {"token_type_ids"}
_INTEGERS: dict[str, type[np.integer[Any]]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_PADDING = ("[PAD]", "<pad>")


class OnnxReranker:
    """See `port.Reranker`. Raises UsageError when the folder does not hold a cross-encoder."""

    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        """`threads=None` uses as many threads as there are cores."""
        self._folder = folder
        self._tokenizer = self._load_tokenizer()
        self._padding = self._padding_token()
        self._session = self._load_session(threads)
        self._types = self._input_types()
        self._output = self._score_output()
        try:
            self.scores("a question", ["an answer"])  # fail now rather than at the first search
        except Crawl4rError as problem:
            raise UsageError(str(problem)) from None

    @property
    def model(self) -> str:
        return self._folder.name

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        pairs = [(readable(query), readable(text)) for text in texts]
        encoded = self._tokenizer.encode_batch(pairs)
        scores = np.empty(len(pairs), np.float32)
        for batch in _batches_of_like_length([len(pair.ids) for pair in encoded]):
            scores[batch] = self._run([encoded[number] for number in batch])
        return [float(score) for score in scores]

    def close(self) -> None:
        """Does nothing: the garbage collector frees the model."""

    def _run(self, batch: list[Any]) -> npt.NDArray[np.float32]:
        width = max(len(pair.ids) for pair in batch)
        fields = {
            "input_ids": [pair.ids + [self._padding] * (width - len(pair.ids)) for pair in batch],
            "attention_mask": [_padded(pair.attention_mask, width) for pair in batch],
            "token_type_ids": [_padded(pair.type_ids, width) for pair in batch],
        }
        inputs = {name: np.array(fields[name], kind) for name, kind in self._types.items()}
        try:
            [scores] = self._session.run([self._output], inputs)
        except Exception as problem:  # onnxruntime's errors have no common base
            raise Crawl4rError(f"{self._folder} cannot rank: {problem}") from problem
        if scores.shape not in {(len(batch), 1), (len(batch),)}:
            raise Crawl4rError(
                f"{self._folder} gives an output of shape {scores.shape} for {len(batch)} pairs: "
                "not a cross-encoder, which scores each pair once"
            )
        if not np.isfinite(scores).all():
            raise Crawl4rError(f"{self._folder} gives a score that is not a number")
        return np.asarray(scores, np.float32).reshape(len(batch))

    def _load_tokenizer(self) -> tokenizers.Tokenizer:
        file = self._folder / "tokenizer.json"
        self._check_that_there_is(file)
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(file))
        except Exception as problem:  # tokenizers raises nothing more exact
            raise UsageError(f"{file} is not a tokenizer: {problem}") from None
        # Cut the longer of the two. Files often set a lower limit, and padding, which is done here.
        tokenizer.enable_truncation(_LONGEST, strategy="longest_first")
        tokenizer.no_padding()
        return tokenizer

    def _padding_token(self) -> int:
        found = (self._tokenizer.token_to_id(token) for token in _PADDING)
        return next((number for number in found if number is not None), 0)

    def _load_session(self, threads: int) -> Any:
        file = self._folder / "model.onnx"
        self._check_that_there_is(file)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3  # errors only; warnings concern its optimiser
        try:
            return onnxruntime.InferenceSession(
                str(file), options, providers=["CPUExecutionProvider"]
            )
        except Exception as problem:  # onnxruntime's errors have no common base
            raise UsageError(f"{file} is not a model that can be run: {problem}") from None

    def _check_that_there_is(self, file: Path) -> None:
        if not file.is_file():
            raise UsageError(
                f"{self._folder} has no {file.name}: a reranker is a folder with model.onnx and "
                "tokenizer.json"
            )

    def _input_types(self) -> dict[str, type[np.integer[Any]]]:
        found = {given.name: given.type for given in self._session.get_inputs()}
        if not found.keys() >= _NEEDED or not found.keys() <= _KNOWN:
            raise UsageError(
                f"{self._folder} wants {', '.join(sorted(found))}; a cross-encoder wants input_ids, "
                "attention_mask and perhaps token_type_ids"
            )
        if strange := {kind for kind in found.values() if kind not in _INTEGERS}:
            raise UsageError(f"{self._folder} wants token numbers as {', '.join(sorted(strange))}")
        return {name: _INTEGERS[kind] for name, kind in found.items()}

    def _score_output(self) -> str:
        given = self._session.get_outputs()
        names = [output.name for output in given]
        if len(given) > 1 and "logits" not in names:
            raise UsageError(
                f"{self._folder} gives {', '.join(names)}: which of them is the score of a pair?"
            )
        output = given[names.index("logits") if "logits" in names else 0]
        if len(output.shape) == 2 and isinstance(output.shape[1], int) and output.shape[1] != 1:
            raise UsageError(
                f"{self._folder} gives {output.shape[1]} numbers for a pair: a classifier or an "
                "embedder, not a cross-encoder with one score"
            )
        name: str = output.name
        return name


def _padded(row: list[int], width: int) -> list[int]:
    return row + [0] * (width - len(row))


def _batches_of_like_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Batches of pair numbers, sorted by length so that they need little padding."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        # The others would be padded to this pair, the longest so far.
        would_be = (len(batch) + 1) * lengths[number]
        if batch and (len(batch) == _MAX_BATCH or would_be > _MAX_BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch
