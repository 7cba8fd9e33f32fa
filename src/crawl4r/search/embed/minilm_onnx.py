"""all-MiniLM-L6-v2 as an ONNX graph, made from its weights with int8 in place of most floats.

The input has one row of token numbers for each text, all of equal length: without padding there is no
mask to compute, and no vector depends on the length of other texts. The output has one vector of unit
length for each row.

Weights are int8 with a scale for each output channel; activations are quantised as they come. Before
that, channels that a normalisation makes large are made smaller and their weights larger, so that a
few of them do not take the precision of all others (measured: the worst cosine to full precision of
270 texts rises from .987 to .991, at no cost).
Operators were chosen by CPU time: `QAttention` is as quick as any attention, `Gelu` quicker than
`BiasGelu` and `FastGelu`, and `Add` with `LayerNormalization` takes a quarter of the time of
`SkipLayerNormalization`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper

from crawl4r.search.embed.weights import Tensor

DIMENSION = 384
INPUT = "tokens"
OUTPUT = "vectors"

_LAYERS, _HEADS = 6, 12
_BLOCK = 128  # weights that share a scale in `Precision.CLOSE`
_UNSIGNED_ZERO = 128
_EPSILON = 1e-12
_MICROSOFT = "com.microsoft"
_OPSET, _IR_VERSION = 18, 9

Weights = Mapping[str, Tensor]
Quantised = tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]


class Precision(StrEnum):
    QUICK = "int8"  # for passages, of which there are many
    CLOSE = "close"  # for queries, each compared with every passage: only the weights are int8
    EXACT = "exact"  # original floats, a reference for the others


def onnx_model(weights: Weights, precision: Precision = Precision.QUICK) -> bytes:
    """The model in the ONNX format. The same weights give the same bytes."""
    graph = _Graph(weights, precision)
    flow = graph.embeddings()
    norm = "embeddings.LayerNorm"
    for number in range(_LAYERS):
        name = f"encoder.layer.{number}"
        flow = graph.layer(flow, name, norm)
        norm = f"{name}.output.LayerNorm"
    mean = graph.node("ReduceMean", flow, graph.constant(np.array([1])), keepdims=0)
    graph.node("LpNormalization", mean, axis=-1, p=2, named=OUTPUT)
    return graph.serialized()


def quantise(matrix: Tensor, axis: int) -> Quantised:
    """Quantise to symmetric int8; returns the values and the scales along the kept axis."""
    scales = np.abs(matrix).max(axis=1 - axis, keepdims=True).astype(np.float32) / 127
    scales[scales == 0] = 1
    return np.rint(matrix / scales).astype(np.int8), scales


class _Graph:
    """Builds the nodes in the order of computation. Every method returns the name of a value."""

    def __init__(self, weights: Weights, precision: Precision) -> None:
        self._weights = weights
        self._precision = precision
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def node(
        self, kind: str, *inputs: str, domain: str = "", named: str = "", **attributes: Any
    ) -> str:
        name = named or f"{kind}.{len(self._nodes)}"
        self._nodes.append(
            helper.make_node(kind, inputs, [name], name, domain=domain, **attributes)
        )
        return name

    def constant(self, value: npt.NDArray[Any]) -> str:
        name = f"constant.{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def embeddings(self) -> str:
        """Token and position; the token type is 0 for a single text, so it is added here."""
        places = self._weights["embeddings.position_embeddings.weight"]
        types = self._weights["embeddings.token_type_embeddings.weight"]
        one, two, zero = (self.constant(np.array([number])) for number in (1, 2, 0))
        length = self.node("Slice", self.node("Shape", INPUT), one, two)
        place = self.node("Slice", self.constant(places + types[0]), zero, length, zero)
        total = self.node("Add", self._words(), place)
        return self._normalized(total, "embeddings.LayerNorm")

    def _words(self) -> str:
        table = self._weights["embeddings.word_embeddings.weight"]
        if self._precision is Precision.EXACT:
            return self.node("Gather", self.constant(table), INPUT)
        integers, scales = quantise(table, axis=0)
        rows = self.node("Gather", self.constant(integers), INPUT)
        scale = self.node("Gather", self.constant(scales), INPUT)
        return self.node("Mul", self.node("Cast", rows, to=TensorProto.FLOAT), scale)

    def layer(self, flow: str, name: str, norm_before: str) -> str:
        attended = self._attention(flow, name, norm_before)
        attended = self._dense(attended, f"{name}.attention.output.dense")
        norm = f"{name}.attention.output.LayerNorm"
        flow = self._normalized(self.node("Add", attended, flow), norm)
        inner = self.node(
            "Gelu", self._dense(flow, f"{name}.intermediate.dense", norm), domain=_MICROSOFT
        )
        outer = self._dense(inner, f"{name}.output.dense")
        return self._normalized(self.node("Add", outer, flow), f"{name}.output.LayerNorm")

    def _attention(self, flow: str, name: str, norm_before: str) -> str:
        parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        matrix = np.concatenate([self._weights[f"{part}.weight"].T for part in parts], axis=1)
        bias = self.constant(np.concatenate([self._weights[f"{part}.bias"] for part in parts]))
        if self._precision is Precision.EXACT:
            exact = self.constant(matrix)
            return self.node("Attention", flow, exact, bias, domain=_MICROSOFT, num_heads=_HEADS)
        if self._precision is Precision.CLOSE:
            parts = [f"{name}.{part}" for part in ("query", "key", "value")]
            product = self.node("Add", self._closely(flow, matrix), bias)
            self._nodes.append(helper.make_node("Split", [product], parts, axis=-1, num_outputs=3))
            return self.node("MultiHeadAttention", *parts, domain=_MICROSOFT, num_heads=_HEADS)
        flow, matrix = self._levelled(flow, matrix, norm_before)
        values, scale, zero = (f"{what}.{len(self._nodes)}" for what in ("values", "scale", "zero"))
        self._nodes.append(helper.make_node("DynamicQuantizeLinear", [flow], [values, scale, zero]))
        integers, scales, zeros = self._quantised(matrix)
        no_mask = ""
        inputs = (values, integers, bias, scale, scales, no_mask, zero, zeros)
        return self.node("QAttention", *inputs, domain=_MICROSOFT, num_heads=_HEADS)

    def _dense(self, flow: str, name: str, norm_before: str = "") -> str:
        matrix, bias = self._weights[f"{name}.weight"].T, self._weights[f"{name}.bias"]
        if self._precision is not Precision.QUICK:
            is_exact = self._precision is Precision.EXACT
            product = (
                self.node("MatMul", flow, self.constant(matrix))
                if is_exact
                else self._closely(flow, matrix)
            )
            return self.node("Add", product, self.constant(bias))
        if norm_before:
            flow, matrix = self._levelled(flow, matrix, norm_before)
        return self.node(
            "DynamicQuantizeMatMul", flow, *self._quantised(matrix), self.constant(bias),
            domain=_MICROSOFT,
        )  # fmt: skip

    def _closely(self, flow: str, matrix: Tensor) -> str:
        """A product with 8-bit weights, a scale for each block of a channel and exact activations: a
        query is short, so reading the weights takes most of the time."""
        inputs, outputs = matrix.shape
        blocks = matrix.T.reshape(outputs, inputs // _BLOCK, _BLOCK)
        scales = np.abs(blocks).max(axis=2, keepdims=True).astype(np.float32) / 127
        scales[scales == 0] = 1
        integers = (np.rint(blocks / scales) + _UNSIGNED_ZERO).astype(np.uint8)
        return self.node(
            "MatMulNBits", flow, self.constant(integers), self.constant(scales[..., 0]),
            domain=_MICROSOFT, K=inputs, N=outputs, bits=8, block_size=_BLOCK, accuracy_level=4,
        )  # fmt: skip

    def _levelled(self, flow: str, matrix: Tensor, norm_before: str) -> tuple[str, Tensor]:
        """The same product with channels of similar size. The normalisation gives the size of each
        channel: about its bias plus three times its weight."""
        weight, bias = (self._weights[f"{norm_before}.{part}"] for part in ("weight", "bias"))
        reach = np.abs(bias) + 3 * np.abs(weight)
        share = np.sqrt(reach / np.maximum(np.abs(matrix).max(axis=1), 1e-5))
        share = (share / np.exp(np.log(share).mean())).astype(np.float32)
        return self.node("Mul", flow, self.constant(1 / share)), matrix * share[:, None]

    def _quantised(self, matrix: Tensor) -> tuple[str, str, str]:
        """Unsigned, because products of signed and unsigned bytes saturate on CPUs without VNNI (AVX2):
        vectors would depend on the machine."""
        integers, scales = quantise(matrix, axis=1)
        unsigned = (integers.astype(np.int16) + _UNSIGNED_ZERO).astype(np.uint8)
        zeros = np.full(scales.size, _UNSIGNED_ZERO, np.uint8)
        return self.constant(unsigned), self.constant(scales.ravel()), self.constant(zeros)

    def _normalized(self, flow: str, name: str) -> str:
        scale = self.constant(self._weights[f"{name}.weight"])
        bias = self.constant(self._weights[f"{name}.bias"])
        return self.node("LayerNormalization", flow, scale, bias, axis=-1, epsilon=_EPSILON)

    def serialized(self) -> bytes:
        tokens = helper.make_tensor_value_info(INPUT, TensorProto.INT64, ["texts", "length"])
        vectors = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["texts", DIMENSION])
        graph = helper.make_graph(self._nodes, "MiniLM", [tokens], [vectors], self._constants)
        versions = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=_IR_VERSION)
        serialized: bytes = model.SerializeToString(deterministic=True)
        return serialized
