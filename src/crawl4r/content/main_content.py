"""Which part of a page is its content, and which is navigation, advertising and the like.

A page whose `main` element holds nothing else is taken at its word. On any other, every text block gets
a probability from a model (`main_content.npz`, made by `bench/train_main_content.py`), and the blocks
are kept that together promise the best F1.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container as Holder
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from turbohtml import Document, Element, Node, Text

from crawl4r.content.blocks import INLINE, Container, Page, flag_bits, walk
from crawl4r.content.content_model import Model
from crawl4r.markup import body_of, spaced_text

# By name, for the parser knows its elements by that: to ask each of them is a walk over the tree.
_LANDMARKS = tuple(
    f"{tag}[role=main]" for tag in ("div", "section", "article", "body", "form", "table", "td")
)
_LANDMARK_SHARE = 0.1  # of the text of the body; less may be a teaser in an odd place
# What a landmark must not hold to be content and nothing else.
_MIXED_IN = frozenset(["footer", "form", "header", "dialog", "button", "noscript", "main"])
_MIXED_CLASSES = re.compile("share|related|comment|sidebar|breadcrumb|newsletter|promo|author")
_NOTES = re.compile("footnote|topic")
_NOTE_TITLE = "p.sidebar-title"  # docutils calls a box beside the text a sidebar
_JUNK_IN_LANDMARK = frozenset(
    ["script", "style", "template", "svg", "iframe", "input", "select", "textarea"]
)
# Whatever may be either, in one walk over the tree.
_DOUBTFUL = ("div", "nav", "aside", *_MIXED_IN, *_JUNK_IN_LANDMARK)
_LAYOUT = frozenset(
    ["table", "h1", "h2", "form", "nav", "article", "section", "main", "aside", "header", "footer"]
)
_ASIDE = flag_bits("nav", "header", "footer", "aside", "form", "dialog", "button")
_RUNNING_TEXT = frozenset(["p", "li", "dt", "dd"])
_LISTS = frozenset(["ul", "ol", "dl"])
_ITEMS = frozenset(["li", "dt", "dd"])
# What a list does not hold that is a list to its reader, and no row of cards or posts.
_CARD_PARTS = frozenset(
    ["h1", "h2", "h3", "h4", "h5", "h6", "article", "section", "nav", "aside", "header", "footer"]
    + ["form", "button", "figure", "table"]
)
_BLOCKS_AN_ITEM = 2.5  # a card has more
_LONG_ITEM = 60  # words; what is longer is text, which the model tells as well as any other
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])


class Pruned(NamedTuple):
    """What is left of a page: its body, and the text in that, a blank wherever a tag stands."""

    body: Element
    words: str


class _Landmark(NamedTuple):
    """The text of an element that says it is the content, and what is to go then."""

    words: str
    junk: list[Element]  # inside it
    around: list[Node]


@cache
def load_model() -> Model:
    """The model that ships with this module. Read once, before the process may open no file."""
    with Path(__file__).with_name("main_content.npz").open("rb") as file:
        return Model.load(file)


def prune(tree: Document, repeated: Holder[int] = frozenset(), size: int | None = None) -> Pruned:
    """The body with only main content left in it; the tree is changed.

    `repeated`: fingerprints of blocks known to recur on most pages of this site, removed as
    boilerplate. `size`: bytes of the page, if they are known. Tables and code are kept or removed as a
    whole, headings stay above what they head.
    """
    return prune_by(load_model(), tree, repeated, size)


def prune_by(
    model: Model, tree: Document, repeated: Holder[int] = frozenset(), size: int | None = None
) -> Pruned:
    """`prune` with a model that need not be the one that is shipped."""
    body = body_of(tree)
    if body is None:
        body = _without_body(tree)
        return Pruned(body, spaced_text(body))
    landmark = _clear_landmark(tree, body, size)
    if landmark is not None:
        for node in (*landmark.junk, *landmark.around):
            node.decompose()
        if repeated == frozenset():
            return Pruned(body, spaced_text(body) if landmark.junk else landmark.words)
    page = walk(tree)
    if page.blocks:
        kept = np.ones(len(page.blocks), bool)
        if landmark is None:
            likely = model.probabilities(page)
            kept = choose(page, likely)
            _fill_gaps(page, kept)
            _settle_lists(page, kept, likely)
        kept &= ~_is_repeated(page, repeated)
        _keep_whole(page, kept)
        _remove(page, kept)
    return Pruned(body, spaced_text(body))


def _clear_landmark(tree: Document, body: Element, size: int | None = None) -> _Landmark | None:
    """The one element that says it is the content, if nothing in it looks like anything else."""
    landmarks = list(tree.find_all("main"))
    for kind in _LANDMARKS:
        landmarks += tree.select(kind)
    if len(landmarks) != 1:
        return None
    (node,) = landmarks
    if node.tag == "main" and node.attr("role") == "main":
        return None  # who says it twice tends to put everything there: the model tells better
    junk = []
    for each in node.iter_elements(_DOUBTFUL):
        if each.tag in _JUNK_IN_LANDMARK:
            junk.append(each)
        elif _is_mixed_in(each):
            return None
    around = _around(node, body)
    texts = list(node.strings)
    words = " ".join(texts)
    length = len(words) - len(texts) + 1
    # A page has no more characters than bytes: mostly that settles it.
    if size is None or length < _LANDMARK_SHARE * size:
        everything = length + sum(len(each.text) for each in around)
        if length < _LANDMARK_SHARE * everything:
            return None
    if words.isspace():
        return None
    return _Landmark(words, junk, around)


def _is_mixed_in(node: Element) -> bool:
    """Whether an element in a landmark is likely no content."""
    tag, classes, role = node.tag, node.attr("class") or "", node.attr("role")
    if tag == "nav":
        return "contents" not in classes.split()
    if tag == "aside":
        is_note = role == "note" or _NOTES.search(classes) or node.select_one(_NOTE_TITLE)
        return not is_note
    if tag != "div":
        return True
    is_other = node.attr("hidden") is not None or role == "navigation"
    return is_other or (bool(classes) and _has_mixed_class(classes))


@lru_cache(maxsize=4096)
def _has_mixed_class(classes: str) -> bool:
    """The same few on all pages of a site."""
    return _MIXED_CLASSES.search(classes) is not None


def _around(inner: Node, body: Element) -> list[Node]:
    """Everything in the body that is not in this element, nor around it."""
    around: list[Node] = []
    while inner != body and inner.parent is not None:
        outer = inner.parent
        around += [each for each in outer.children if each != inner]
        inner = outer
    return around


def fingerprints(tree: Document) -> list[int]:
    """64-bit fingerprints of the page's text blocks, the same in every process.

    Case and white space do not count.
    """
    return [_fingerprint(block.text) for block in walk(tree).blocks]


def choose(page: Page, likely: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The blocks that together promise the highest F1 over words, when `likely` holds."""
    words = np.array([block.words for block in page.blocks], np.float64)
    likely = likely.copy()
    for first, last in _data_tables(page):
        likely[first:last] = np.average(likely[first:last], weights=words[first:last])
    order = np.argsort(-likely, kind="stable")
    right = np.cumsum((words * likely)[order])
    promised = 2 * right / (np.cumsum(words[order]) + right[-1])
    # Blocks as likely as the last one taken go with it: a table must not be cut.
    kept: NDArray[np.bool_] = likely >= likely[order[np.argmax(promised)]]
    return kept


def _data_tables(page: Page) -> list[tuple[int, int]]:
    """The blocks of each table that holds data, not the layout of the page."""
    layout = set()
    for each in page.containers:
        if each.tag in _LAYOUT:
            layout.add(each.parent)
    # A layout element marks every container around it, the innermost last: go from the end.
    for number in range(len(page.containers) - 1, 0, -1):
        if number in layout:
            layout.add(page.containers[number].parent)
    return [
        (each.first, each.last)
        for number, each in enumerate(page.containers)
        if each.tag == "table" and number not in layout and each.first < each.last
    ]


def _headed_tables(page: Page) -> set[tuple[int, int]]:
    """The blocks of each table that names its columns."""
    found = set()
    for each in page.containers:
        if each.tag == "th":
            table = each
            while table.depth and table.tag != "table":
                table = page.containers[table.parent]
            found.add((table.first, table.last))
    return found


def _keep_whole(page: Page, kept: NDArray[np.bool_]) -> None:
    """Keep what the blocks already kept would be torn without: tables, code, headings."""
    headed, tables = _headed_tables(page), _data_tables(page)
    for first, last in tables:
        # A caption or a heading may stand between the table and the text it belongs to.
        follows_text = kept[max(first - 2, 0) : first].any()
        belongs = follows_text and (kept[last : last + 3].any() or (first, last) in headed)
        if kept[first:last].any() or (belongs and _is_plain_text(page, first, last)):
            kept[first:last] = True
    tags = [page.containers[block.container].tag for block in page.blocks]
    for number, tag in enumerate(tags):
        if tag == "pre" and kept[max(number - 1, 0) : number + 2].any():
            kept[number] = True
    following = len(tags)  # the nearest block below that is kept, up to the next heading
    for number in range(len(tags) - 1, -1, -1):
        if tags[number] in _HEADINGS:
            kept[number] |= following < _section(page, number).last
            following = len(tags)
        if kept[number]:
            following = number
    headings = [number for number, tag in enumerate(tags) if tag in _HEADINGS]
    _keep_like_headings(page, kept, headings, dict(tables))


def _keep_like_headings(
    page: Page, kept: NDArray[np.bool_], headings: list[int], tables: Mapping[int, int]
) -> None:
    """Keep headings of plain sections that stand beside others, made alike, whose heading is kept;
    and the table right below one: a list of names looks like no text, but has its place there."""
    kinds = []
    for number in headings:
        section = _section(page, number)
        tag = page.containers[page.blocks[number].container].tag
        kinds.append((section.parent, section.tag, section.classes, tag))
    wanted = {kind for number, kind in zip(headings, kinds, strict=True) if kept[number]}
    for number, kind in zip(headings, kinds, strict=True):
        if kind not in wanted or not _is_plain_text(page, number, number + 1):
            continue
        last = tables.get(number + 1) or tables.get(number + 2, 0)  # a line may stand between
        is_below = number < last <= _section(page, number).last
        if not kept[number] and is_below and _is_plain_text(page, number, last):
            kept[number:last] = True
        kept[number] = True


def _fill_gaps(page: Page, kept: NDArray[np.bool_]) -> None:
    """Keep a paragraph or an item between others of its section that are kept."""
    for number in np.flatnonzero(~kept).tolist():
        if page.containers[page.blocks[number].container].tag not in _RUNNING_TEXT:
            continue
        section = _section(page, number)
        before = kept[max(number - 3, section.first) : number]
        after = kept[number + 1 : min(number + 4, section.last)]
        if before.any() and after.any() and _is_plain_text(page, number, number + 1):
            kept[number] = True


def _settle_lists(page: Page, kept: NDArray[np.bool_], likely: NDArray[np.float64]) -> None:
    """Keep a plain list as a whole or not at all.

    One of which the model keeps a part goes by the average over its items, as a table does; but a
    list of terms is hardly ever navigation, and stays. One of which it keeps nothing stays where
    kept text introduces it, or stands around it.
    """
    enough = likely[kept].min()
    for each in _plain_lists(page, kept):
        first, last = each.first, each.last
        words = np.array([block.words for block in page.blocks[first:last]])
        if not kept[first:last].any():
            is_kept = _belongs_to_text(page, kept, each)
        elif each.tag == "dl":
            is_kept = True
        else:
            is_kept = bool(np.average(likely[first:last], weights=words) >= enough)
            kept[first:last] &= is_kept
        if is_kept:
            kept[first:last] |= words <= _LONG_ITEM


def _belongs_to_text(page: Page, kept: NDArray[np.bool_], each: Container) -> bool:
    """Whether text that is kept stands right before a list, or before and after it."""
    first, last = each.first, each.last
    around = page.containers[each.parent]
    while around.last - around.first <= last - first + 1 and around.depth:
        around = page.containers[around.parent]
    begin, end = max(first - 2, around.first), min(last + 3, around.last)
    if each.tag == "dl":
        return bool(kept[begin:first].any() or kept[last:end].any())
    is_between = kept[max(first - 2, 0) : first].any() and kept[last : last + 3].any()
    follows = kept[max(first - 1, around.first) : first].any()
    return bool(is_between or follows) and _is_plain_text(page, first, last)


def _plain_lists(page: Page, kept: NDArray[np.bool_]) -> Iterator[Container]:
    """Each list that is no row of cards and that lacks an item; outer lists first."""
    for number, each in enumerate(page.containers):
        if each.tag not in _LISTS or each.flags & _ASIDE or kept[each.first : each.last].all():
            continue
        items = 0
        for inner in islice(page.containers, number + 1, None):
            if inner.depth <= each.depth:
                break
            if inner.tag in _CARD_PARTS and each.tag != "dl":
                items = 0
                break
            items += inner.tag in _ITEMS
        if each.last - each.first <= _BLOCKS_AN_ITEM * items:
            yield each


def _is_plain_text(page: Page, first: int, last: int) -> bool:
    """Whether blocks are not mainly links, and not in a part that is there for other ends."""
    blocks = page.blocks[first:last]
    linked = sum([block.linked for block in blocks])
    length = sum([len(block.text.strip()) for block in blocks])
    return linked < 0.4 * length and not page.containers[blocks[0].container].flags & _ASIDE


def _section(page: Page, number: int) -> Container:
    """The smallest container that holds more than this block."""
    section = page.containers[page.blocks[number].container]
    while section.last - section.first == 1 and section.depth:
        section = page.containers[section.parent]
    return section


def _remove(page: Page, kept: NDArray[np.bool_]) -> None:
    """Take everything else out of the tree."""
    # Inner nodes before outer ones: what is below a removed node no longer exists.
    for junk in page.junk:
        junk.decompose()
    count = np.concatenate(([0], np.cumsum(kept))).tolist()
    goes = [count[each.first] == count[each.last] for each in page.containers]
    goes[0] = False
    for number in np.flatnonzero(~kept):
        block = page.blocks[number]
        if not goes[block.container]:
            for text in block.nodes:
                _remove_text(text)
    for each, gone in zip(page.containers, goes, strict=True):
        if gone and not goes[each.parent]:
            is_cell = each.tag in ("td", "th", "tr") and each.first == each.last
            if not is_cell:
                each.node.decompose()
        elif not gone and each.tag == "noscript":
            each.node.unwrap()


def _remove_text(node: Text) -> None:
    """Remove a text node, and the inline elements that are empty without it."""
    parent = node.parent
    node.decompose()
    while isinstance(parent, Element) and parent.tag in INLINE and _is_empty(parent):
        emptied = parent
        parent = emptied.parent
        emptied.decompose()


def _is_empty(node: Element) -> bool:
    return next(iter(node), None) is None


def _is_repeated(page: Page, repeated: Holder[int]) -> NDArray[np.bool_]:
    if repeated == frozenset():
        return np.zeros(len(page.blocks), bool)
    return np.array([_fingerprint(block.text) in repeated for block in page.blocks])


def _fingerprint(text: str) -> int:
    normal = " ".join(text.lower().split())
    return int.from_bytes(hashlib.blake2b(normal.encode(errors="replace"), digest_size=8).digest())


def _without_body(tree: Document) -> Element:
    """The root of a page of frames, which has no body and no text of its own."""
    root = tree.root
    assert root is not None, "the parser makes a root for any input"
    return root
