"""Models that come as Python packages: read their files without importing the packages.

Importing such a package would load torch, or contact a hub on the network.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tokenizers

from crawl4r.errors import EmbedderMissing

Tensor = npt.NDArray[np.float32] | npt.NDArray[np.float16]

LONGEST_TEXT = 32_768  # characters; far more than any chunk, and tokenized in some 20 ms

_TYPES = {"F32": "<f4", "F16": "<f2"}
_LENGTH_BYTES = 8


class ModelPackage(NamedTuple):
    """A package with a model in it."""

    name: str  # the name to import
    weights: str  # the path of its safetensors file
    tokenizer: str  # the path of its tokenizer's file
    remedy: str  # the command that installs it

    def folder(self) -> Path:
        """The folder of the package. Raises EmbedderMissing unless both files exist."""
        spec = find_spec(self.name)
        for location in (spec and spec.submodule_search_locations) or ():
            folder = Path(location)
            if (folder / self.weights).is_file() and (folder / self.tokenizer).is_file():
                return folder
        problem = "is not installed" if spec is None else "lacks the model's files"
        raise EmbedderMissing(self.name, problem, self.remedy)

    def weights_file(self) -> Path:
        return self.folder() / self.weights

    def read_tokenizer(self) -> tokenizers.Tokenizer:
        """Load the tokenizer. Raises EmbedderMissing when the file cannot be read."""
        try:
            return tokenizers.Tokenizer.from_file(str(self.folder() / self.tokenizer))
        except EmbedderMissing:
            raise
        except Exception as error:  # the library raises nothing narrower
            raise self._damaged(self.tokenizer, error) from error

    def read_weights(self) -> dict[str, Tensor]:
        """Map the tensors into memory, by name. Raises EmbedderMissing on failure."""
        try:
            return read_tensors(self.weights_file())
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._damaged(self.weights, error) from error

    def _damaged(self, file: str, error: Exception) -> EmbedderMissing:
        return EmbedderMissing(self.name, f"is damaged ({file}: {error})", self.remedy)


def read_tensors(file: Path) -> dict[str, Tensor]:
    """The floating-point tensors of a safetensors file.

    The format: the length of the header; the header in JSON with type, shape and offsets of each
    tensor; the bytes of the tensors.
    """
    with file.open("rb") as opened:
        start = int.from_bytes(opened.read(_LENGTH_BYTES), "little") + _LENGTH_BYTES
        if start > file.stat().st_size:
            raise ValueError("the file is cut off")
        header = json.loads(opened.read(start - _LENGTH_BYTES))
    data = np.memmap(file, np.uint8, "r", offset=start)
    return {
        name: _tensor(data, entry) for name, entry in header.items() if entry.get("dtype") in _TYPES
    }


def _tensor(data: npt.NDArray[np.uint8], entry: dict[str, Any]) -> Tensor:
    first, end = entry["data_offsets"]
    tensor: Tensor = np.asarray(data[first:end]).view(_TYPES[entry["dtype"]])
    return tensor.reshape(entry["shape"])


def readable(text: str) -> str:
    """Prepare a text for a tokenizer: cut it, and replace lone surrogates."""
    text = text[:LONGEST_TEXT]
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
