"""What a text is indexed as: its words, stemmed as the language of its document demands.

All languages share one field, so that BM25 knows one number of documents and one average length: a
field a language would make the documents of the rarer ones look too long by as much as they are rare.
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
UNSTEMMED = "none"  # what a language without a stemmer of its own is indexed with
# Left out of questions, not of texts: Snowball's English list adds .007 nDCG@10 on cranfield, .002 on
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
LONGEST_BYTES = 100  # of a word; what is longer is data, and nobody types it
REMEMBERED_STEMS = 100_000  # some 15 MB

# Scripts that put no spaces between words: Thai, Lao, Myanmar, Khmer, Kana, Han. Hangul has spaces,
# but its endings stick to the words.
_UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_UNSPACED}]+")
_LONG_RUN = re.compile(r"\S{1000}")
_TONE_MARKS = re.compile("[\u0e47-\u0e4e\u0ec8-\u0ecd]")  # the tokenizer would cut at them


def stemmer_of(language: str) -> str:
    """The name of the stemmer for an ISO 639 code; English when the language is unknown."""
    if not language:
        return "english"
    return STEMMERS.get(language.lower().partition("-")[0], UNSTEMMED)


class Stemming:
    """Texts to the stems of their words. It remembers stems, since words come again."""

    def __init__(self, stemmer: str) -> None:
        self._known = _Stems(_stem_analyzer(stemmer))

    def __call__(self, words: Sequence[str]) -> list[str]:
        stems = list(map(self._known.__getitem__, words))
        if len(self._known) > REMEMBERED_STEMS:
            self._known.clear()
        return stems


class _Stems(dict[str, str]):
    """Stems by word, made when they are first asked for: looking them up must cost nothing else."""

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
    # After the stemmers: they know their endings by the accents.
    return builder.filter(Filter.ascii_fold()).build()


@cache
def _without_stop_words(stemmer: str) -> TextAnalyzer:
    return TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.stopword(stemmer)).build()


def spaced(text: str) -> str:
    """The text with a space between words, also where its script has none.

    A run of such letters becomes overlapping pairs and its last letter, so that every letter begins
    a word: 東京都 is 東京 京都 都.
    """
    if text.isascii():
        return text
    if not unicodedata.is_normalized("NFKC", text):  # asking is quicker than doing
        text = _normalized(text)
    return _RUN.sub(_pairs_and_last, text)


def spaced_query(word: str) -> str:
    """The same for a word that is looked for: what it ends with may go on in the text."""
    if word.isascii():
        return word
    return _RUN.sub(_pairs, _normalized(word))


def _normalized(text: str) -> str:
    """NFKC. It sorts the marks on a letter, and takes the square of their number for it: no letter of
    any language has thirty (Unicode calls a text without more "stream-safe")."""
    if _LONG_RUN.search(text):
        text = _many_marks().sub(r"\1", text)
    return unicodedata.normalize("NFKC", text)


@cache
def _many_marks() -> re.Pattern[str]:
    marks = "".join(c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.combining(c))
    return re.compile(f"([{marks}]{{30}})[{marks}]+")


def query_words(word: str, stemmer: str) -> list[str]:
    """What a word of a query is looked up as; several words stand next to each other in a text."""
    stem = _stem_analyzer(stemmer).analyze
    return [stem(each)[0] for each in split_words(spaced_query(word))]


def without_stop_words(clauses: Sequence[Clause], stemmers: Sequence[str]) -> list[Clause]:
    """The clauses that say something; what is in a phrase or required was meant."""

    def is_stop_word(clause: Clause) -> bool:
        is_meant = len(clause.words) > 1 or clause.is_prefix or clause.is_required
        return not is_meant and _is_stop_word(clause.words[0], stemmers)

    return [clause for clause in clauses if clause.is_excluded or not is_stop_word(clause)]


def asks_for_something(clauses: Sequence[Clause]) -> bool:
    return any(not clause.is_excluded for clause in clauses)


def is_one_letter_of_a_run(word: str) -> bool:
    """Whether the word can only be found as the beginning of a pair."""
    return len(word) == 1 and _RUN.match(word) is not None


def _pairs(match: re.Match[str]) -> str:
    run = _TONE_MARKS.sub("", match[0])
    return f" {' '.join(run[i : i + 2] for i in range(max(len(run) - 1, 1)))} "


def _pairs_and_last(match: re.Match[str]) -> str:
    run = _TONE_MARKS.sub("", match[0])
    return f" {' '.join(run[i : i + 2] for i in range(len(run)))} "


def _is_stop_word(word: str, stemmers: Sequence[str]) -> bool:
    """Whether the word says nothing where these are the languages.

    Of other languages than English only if all agree: German "war" is English war.
    """
    if "english" in stemmers and word in ENGLISH_STOP_WORDS:
        return True
    return bool(stemmers) and all(
        stemmer in STOP_LISTS and not _without_stop_words(stemmer).analyze(word)
        for stemmer in stemmers
    )
