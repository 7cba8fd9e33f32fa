"""Describe a block as a row of numbers for the model that separates content from boilerplate.

The numbers describe the text, the elements around it and their class names, its containers, the page's
core (the deepest elements that hold most of the good text), the neighbouring blocks and the whole page.
They use no knowledge of single sites.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crawl4r.content.extract.blocks import FLAGS, BlockPage

Numbers: TypeAlias = NDArray[np.float32]
Indexes: TypeAlias = NDArray[np.int64]

_LEVELS = 5  # containers around a block that count
_CORES = (0.5, 0.7, 0.9)  # shares of the good text that make a container a core
_WINDOWS = (5, 15)  # blocks to either side
_TAG_NAMES = "p h1 h2 h3 h4 li td th pre div dt dd button figcaption section article"
_TAGS = {tag: number for number, tag in enumerate(_TAG_NAMES.split())}
_MAX_NAMES = 400  # characters read of an element's names
_START = 600  # characters of a block searched for words
_HEAD = 20  # words of a block examined one by one
_PRICED = 300  # characters of a block searched for a price
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?[€£]|\bUSD\b|\bEUR\b")
_PRICE_SIGNS = frozenset("$€£¥₹")
_WORD = re.compile(r"\w{3,}")
_NAME_PART = re.compile(r"[a-z]{2,}|[A-Z][a-z]+|[A-Z]{2,}")
# Words that sentences need and menus do not, in the large languages of Latin script.
_STOP_WORD_LIST = (
    "the a an of to and in is for that with on it as be are this was by or from at you we i not have"
    " has can your will they which their if but one more all when there what so how my about would"
    " been were who had he she his her our its than into also other these them then do does did just"
    " no some any out up only may should could very because most such even where those while after"
    " over use used using get like der die das und ist nicht ein eine mit zu den von auf für im dem"
    " des sich auch le la les et est un une dans pour que qui sur pas par avec el los las y en es del"
    " por con para una su se como mais ao da dos em não uma"
)
_STOP_WORDS = frozenset(_STOP_WORD_LIST.split())


def name_parts(names: str) -> list[str]:
    """The words in class names and ids: each name, and its parts between dashes or capitals."""
    names = names[:_MAX_NAMES]
    whole = [name.lower() for name in names.split()]
    return list(dict.fromkeys(whole + [part.lower() for part in _NAME_PART.findall(names)]))


class NameWeights:
    """The weight of an element's names: above 0 for content, below 0 for boilerplate."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = weights
        self._known: dict[str, tuple[float, float]] = {}

    def range(self, names: str) -> tuple[float, float]:
        """The lowest and the highest weight of the parts and 0."""
        known = self._known.get(names)
        if known is None:
            found = [self.weights.get(part, 0.0) for part in name_parts(names)]
            known = min(found, default=0.0), max(found, default=0.0)
            known = min(known[0], 0.0), max(known[1], 0.0)
            if len(self._known) < 20_000:
                self._known[names] = known
        return known


def features(page: BlockPage, weights: NameWeights) -> Numbers:
    """The features, one row per block. `page` must have blocks."""
    return _Features(page, weights).table()


class _Features:
    def __init__(self, page: BlockPage, weights: NameWeights) -> None:
        self.page = page
        self.count = len(page.blocks)
        self.order = np.arange(self.count)
        self.container = np.array([block.container for block in page.blocks])
        self.first = np.array([container.first for container in page.containers])
        self.last = np.array([container.last for container in page.containers])
        self.flags = np.array([container.flags for container in page.containers])
        self.tag = np.array([_TAGS.get(each.tag, -1) for each in page.containers])[self.container]
        self._read_texts()
        self._read_names(weights)

    def table(self) -> Numbers:
        parts = [
            self.texts, self._elements(), self._position(), self._paths(), self._surroundings(),
            self._cores(), self._headline(), self._windows(), self._whole_page(),
        ]  # fmt: skip
        return np.concatenate(parts, axis=1, dtype=np.float32)

    def _read_texts(self) -> None:
        title = frozenset(_WORD.findall(self.page.title.lower()))
        copies: dict[str, int] = {}
        rows = []
        lowered = [block.text.strip().lower() for block in self.page.blocks]
        for text in lowered:
            copies[text] = copies.get(text, 0) + 1
        for block, lower in zip(self.page.blocks, lowered, strict=True):
            linked = block.linked / len(lower)
            rows.append((*_describe(block.text, block.words, lower, title), linked, copies[lower]))
        table = np.array(rows)
        self.words, self.prices = table[:, 0], table[:, -3]
        in_link = (self.flags[self.container] >> FLAGS.index("link")) & 1
        self.link_share = np.where(in_link, 1.0, np.minimum(table[:, -2], 1.0))
        # Good text: sentences that are not links.
        is_good = (self.words >= 8) & (self.link_share < 0.4) & (table[:, 1] > 0.15)
        self.good = np.where(is_good, self.words, 0.0)
        table[:, -2] = self.link_share
        for column in (0, 3, -1):
            table[:, column] = np.log1p(table[:, column])
        self.texts = table

    def _read_names(self, weights: NameWeights) -> None:
        """The name weights along the path to each container, and the number of similar siblings."""
        alike: dict[tuple[int, str, str], int] = {}
        keys = [(each.parent, each.tag, each.names) for each in self.page.containers]
        for key in keys:
            alike[key] = alike.get(key, 0) + 1
        rows: list[tuple[float, ...]] = []
        for number, (container, key) in enumerate(zip(self.page.containers, keys, strict=True)):
            low, high = weights.range(container.names)
            own = low + high
            if not number:
                rows.append((low, high, 1, low, high, own, own, own, 1))
                continue
            _, _, _, lowest, highest, faded, total, nearest, most = rows[container.parent]
            repeats = alike[key]
            rows.append((
                low, high, repeats, min(lowest, low), max(highest, high), faded * 0.8 + own,
                total + own, own if low or high else nearest, max(most, repeats),
            ))  # fmt: skip
        self.names = np.array(rows)
        self.names[:, (2, 8)] = np.log(self.names[:, (2, 8)])

    def _sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over the blocks of each container."""
        sums: NDArray[np.float64] = np.concatenate(([0.0], np.cumsum(values)))
        over: NDArray[np.float64] = sums[self.last] - sums[self.first]
        return over

    def _elements(self) -> NDArray[np.bool_]:
        bits = (self.flags[self.container, None] >> np.arange(len(FLAGS))) & 1
        return np.concatenate((bits > 0, self.tag[:, None] == np.arange(len(_TAGS))), axis=1)

    def _position(self) -> NDArray[np.float64]:
        depth = np.array([each.depth for each in self.page.containers])[self.container]
        return np.stack(
            (
                depth,
                self.order / self.count,
                (np.cumsum(self.words) - self.words) / self.words.sum(),
                (np.cumsum(self.good) - self.good) / max(self.good.sum(), 1.0),
            ),
            axis=1,
        )

    def _paths(self) -> NDArray[np.float64]:
        rows: NDArray[np.float64] = self.names[self.container]
        return rows

    def _surroundings(self) -> NDArray[np.float64]:
        """The containers around a block that hold more than it, innermost first, no wrappers."""
        blocks = self.last - self.first
        words, linked = self._sums(self.words), self._sums(self.words * self.link_share)
        good = self._sums(self.good)
        some = np.maximum(words, 1.0)
        about = np.stack(
            (
                np.log1p(words), linked / some, words / self.words.sum(),
                np.log1p(words / np.maximum(blocks, 1)), good / max(self.good.sum(), 1.0),
                good / some, np.log1p(blocks), *self.names[:, :3].T,
            ),
            axis=1,
        )  # fmt: skip
        wider = self._wider()
        around = np.where(blocks[self.container] <= 1, wider[self.container], self.container)
        levels = []
        for _ in range(_LEVELS):
            levels.append(about[around])
            around = wider[around]
        return np.concatenate(levels, axis=1)

    def _wider(self) -> Indexes:
        """For each container the nearest outer one that holds more blocks."""
        wider = [0] * len(self.page.containers)
        for number, each in enumerate(self.page.containers[1:], 1):
            outer = self.page.containers[each.parent]
            same = outer.first == each.first and outer.last == each.last
            wider[number] = wider[each.parent] if same else each.parent
        return np.array(wider)

    def _cores(self) -> NDArray[np.float64]:
        good, words = self._sums(self.good), self._sums(self.words)
        columns = []
        for share in _CORES:
            core = np.flatnonzero(good >= share * good[0])[-1]
            columns += [
                (self.order >= self.first[core]) & (self.order < self.last[core]),
                self.order >= self.last[core],
                np.full(self.count, words[core] / words[0]),
            ]
        return np.stack(columns, axis=1)

    def _headline(self) -> NDArray[np.float64]:
        """The distance of the block from the h1 that resembles the title most."""
        headings = np.flatnonzero(self.tag == _TAGS["h1"])
        if not len(headings):
            return np.tile((0.0, -1.0, 0.0), (self.count, 1))
        likeness = self.texts[headings, 7]
        distance = self.order - headings[np.argmax(likeness)]
        signed = np.sign(distance) * np.log1p(np.abs(distance))
        return np.stack((np.full(self.count, len(headings)), distance >= 0, signed), axis=1)

    def _windows(self) -> NDArray[np.float64]:
        columns = []
        sums = [
            np.concatenate(([0.0], np.cumsum(values)))
            for values in (self.words, self.words * self.link_share, self.good)
        ]
        for reach in _WINDOWS:
            begin = np.maximum(self.order - reach, 0)
            end = np.minimum(self.order + reach + 1, self.count)
            words, linked, good = (each[end] - each[begin] for each in sums)
            columns += [np.log1p(words), linked / words, good / words]
        return np.stack(columns, axis=1)

    def _whole_page(self) -> NDArray[np.float64]:
        words, good = self.words.sum(), max(self.good.sum(), 1.0)
        flags = self.flags[self.container]
        in_main = (flags >> FLAGS.index("main")) & 1
        in_article = (flags >> FLAGS.index("article")) & 1
        paragraphs = ((self.words >= 12) & (self.link_share < 0.5)).sum()
        articles = sum(each.tag == "article" for each in self.page.containers)
        row = (
            np.log1p(words), (self.words * self.link_share).sum() / words, good / words,
            np.log1p(self.count), self.prices.mean(), self.prices.sum(), np.log1p(paragraphs),
            (self.words * in_main).sum() / words, (self.good * in_main).sum() / good,
            (self.good * in_article).sum() / good, articles,
        )  # fmt: skip
        return np.tile(row, (self.count, 1))


def _describe(text: str, count: int, lower: str, title: frozenset[str]) -> tuple[float, ...]:
    """The features of one text: first its number of words, last whether it names a price."""
    lower_words = lower[:_START].split()
    initials = [word[0] for word in text.split(None, _HEAD)[:_HEAD]]
    return (
        count,
        sum(map(_STOP_WORDS.__contains__, lower_words)) / len(lower_words),
        text.count(",") / count,
        text.count(". ") + text.count("? ") + text.count("! "),
        lower[-1] in '.!?:…"”',
        sum(map(str.isupper, initials)) / len(initials),
        sum(map(str.isdigit, initials)) / len(initials),
        len(title.intersection(lower_words)) / (len(title) + 1),
        len(lower) / count,
        _has_price(text[:_PRICED]),
    )


def _has_price(text: str) -> bool:
    """Whether a text names a price. A search for the currency signs first excludes most texts."""
    if text.isascii():
        may_have = "$" in text or "USD" in text or "EUR" in text
    else:
        may_have = not _PRICE_SIGNS.isdisjoint(text) or "USD" in text or "EUR" in text
    return may_have and _PRICE.search(text) is not None
