"""Split a text into words and stem them by the language of its document.

All languages share one field, so that BM25 has one number of documents and one average length. With
a field for each language, documents of rare languages would look too long.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import cache

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from crawl4r.search.port import Clause


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STEMMERS = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian", "nb": "norwegian",
    "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
UNSTEMMED = "none"  # for languages without a stemmer
# Removed from queries, not from texts: Snowball's English list adds .007 nDCG@10 on cranfield, .002 on
# vaswani, and halves the time; tantivy's own list (Lucene's 33 words) adds nothing.
ENGLISH_STOP_WORDS = _words(
    "i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she "
    "her hers herself it its itself they them their theirs themselves what which who whom this that "
    "these those am is are was were be been being have has had having do does did doing would should "
    "could ought a an the and but if or because as until while of at by for with about against "
    "between into through during before after above below to from up down in out on off over under "
    "again further then once here there when where why how all any both each few more most other "
    "some such no nor not only own same so than too very"
)
STOP_LISTS = _words(
    "danish dutch finnish french german hungarian italian norwegian portuguese russian spanish "
    "swedish"
)  # that tantivy brings
LONGEST_BYTES = 100  # of a word; a longer one is data, not a search term
REMEMBERED_STEMS = 100_000  # some 15 MB

# Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, Kana, Han. Hangul has spaces,
# but its endings stick to the words.
_UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_UNSPACED}]+")
_LONG_RUN = re.compile(r"\S{1000}")
_TONE_MARKS = re.compile("[\u0e47-\u0e4e\u0ec8-\u0ecd]")  # the tokenizer splits at them


def stemmer_of(language: str) -> str:
    """The name of the stemmer for an ISO 639 code; English when the language is unknown."""
    if not language:
        return "english"
    return STEMMERS.get(language.lower().partition("-")[0], UNSTEMMED)


class Stemming:
    """Turns texts into stems. It caches the stems of frequent words."""

    def __init__(self, stemmer: str) -> None:
        self._known = _Stems(_stem_analyzer(stemmer))

    def __call__(self, words: Sequence[str]) -> list[str]:
        stems = list(map(self._known.__getitem__, words))
        if len(self._known) > REMEMBERED_STEMS:
            self._known.clear()
        return stems


class _Stems(dict[str, str]):
    """A dict from word to stem that computes a missing stem once, to keep look-ups cheap."""

    def __init__(self, analyzer: TextAnalyzer) -> None:
        self._stem = analyzer.analyze

    def __missing__(self, word: str) -> str:
        stem: str = self._stem(word)[0]
        self[word] = stem
        return stem


def split_words(text: str) -> list[str]:
    """The words of a text, or of a word of a query, in lower case."""
    return _splitter().analyze(text)


@cache
def _splitter() -> TextAnalyzer:
    builder = TextAnalyzerBuilder(Tokenizer.simple())
    return builder.filter(Filter.remove_long(LONGEST_BYTES)).filter(Filter.lowercase()).build()


@cache
def _stem_analyzer(stemmer: str) -> TextAnalyzer:
    """One word to one stem without accents."""
    builder = TextAnalyzerBuilder(Tokenizer.raw())
    if stemmer != UNSTEMMED:
        builder = builder.filter(Filter.stemmer(stemmer))
    # After the stemmers, which need the accents to recognise endings.
    return builder.filter(Filter.ascii_fold()).build()


@cache
def _without_stop_words(stemmer: str) -> TextAnalyzer:
    return TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.stopword(stemmer)).build()


def spaced(text: str) -> str:
    """Insert spaces between words of scripts without spaces.

    A run of such letters becomes overlapping pairs and its last letter, so that every letter begins
    a word: 東京都 is 東京 京都 都.
    """
    if text.isascii():
        return text
    if not unicodedata.is_normalized("NFKC", text):  # the check is faster than normalising
        text = _normalized(text)
    return _RUN.sub(_pairs_and_last, text)


def spaced_query(word: str) -> str:
    """The same for a search term, whose last letter may begin a longer word in the text."""
    if word.isascii():
        return word
    return _RUN.sub(_pairs, _normalized(word))


def _normalized(text: str) -> str:
    """NFKC with at most 30 marks on a letter (Unicode's "stream-safe" form): sorting the marks takes
    quadratic time."""
    if _LONG_RUN.search(text):
        text = _many_marks().sub(r"\1", text)
    return unicodedata.normalize("NFKC", text)


@cache
def _many_marks() -> re.Pattern[str]:
    marks = "".join(c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.combining(c))
    return re.compile(f"([{marks}]{{30}})[{marks}]+")


def query_words(word: str, stemmer: str) -> list[str]:
    """The terms for a word of a query; several terms must be neighbours in the text."""
    stem = _stem_analyzer(stemmer).analyze
    return [stem(each)[0] for each in split_words(spaced_query(word))]


def without_stop_words(clauses: Sequence[Clause], stemmers: Sequence[str]) -> list[Clause]:
    """The clauses without stop words. Phrases and required words stay."""

    def is_stop_word(clause: Clause) -> bool:
        is_meant = len(clause.words) > 1 or clause.is_prefix or clause.is_required
        return not is_meant and _is_stop_word(clause.words[0], stemmers)

    return [clause for clause in clauses if clause.is_excluded or not is_stop_word(clause)]


def asks_for_something(clauses: Sequence[Clause]) -> bool:
    return any(not clause.is_excluded for clause in clauses)


def is_one_letter_of_a_run(word: str) -> bool:
    """Whether a search finds the word only as the first letter of a pair."""
    return len(word) == 1 and _RUN.match(word) is not None


def _pairs(match: re.Match[str]) -> str:
    run = _TONE_MARKS.sub("", match[0])
    return f" {' '.join(run[i : i + 2] for i in range(max(len(run) - 1, 1)))} "


def _pairs_and_last(match: re.Match[str]) -> str:
    run = _TONE_MARKS.sub("", match[0])
    return f" {' '.join(run[i : i + 2] for i in range(len(run)))} "


def _is_stop_word(word: str, stemmers: Sequence[str]) -> bool:
    """Whether the word is a stop word in these languages.

    For languages other than English all must agree: German "war" is a stop word, English "war" is none.
    """
    if "english" in stemmers and word in ENGLISH_STOP_WORDS:
        return True
    return bool(stemmers) and all(
        stemmer in STOP_LISTS and not _without_stop_words(stemmer).analyze(word)
        for stemmer in stemmers
    )
