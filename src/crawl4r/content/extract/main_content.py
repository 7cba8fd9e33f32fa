"""Separate the content of a page from navigation, advertising and other boilerplate.

If a page has a `main` element without signs of boilerplate, that is the content. On any other page a
model (`main_content.npz`, made by `bench/train_main_content.py`) gives every text block a probability,
and the set of blocks with the best expected F1 is kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container as Holder
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from turbohtml import Document, Element, Node, Text

from crawl4r.content.extract.blocks import INLINE, BlockPage, walk
from crawl4r.content.extract.model import Model
from crawl4r.content.extract.whole_blocks import data_tables, fill_gaps, keep_whole, settle_lists
from crawl4r.formats.html import body_of, spaced_text

# By tag name, which the parser indexes; a test of each element would walk the whole tree.
_LANDMARKS = tuple(
    f"{tag}[role=main]" for tag in ("div", "section", "article", "body", "form", "table", "td")
)
_LANDMARK_SHARE = 0.1  # of the text of the body; a smaller landmark may be a teaser
# A landmark with one of these holds more than content.
_MIXED_IN = frozenset(["footer", "form", "header", "dialog", "button", "noscript", "main"])
_MIXED_CLASSES = re.compile("share|related|comment|sidebar|breadcrumb|newsletter|promo|author")
_NOTES = re.compile("footnote|topic")
_NOTE_TITLE = "p.sidebar-title"  # docutils' name for a box beside the text
_JUNK_IN_LANDMARK = frozenset(
    ["script", "style", "template", "svg", "iframe", "input", "select", "textarea"]
)
# All candidates of both kinds, in one walk over the tree.
_DOUBTFUL = ("div", "nav", "aside", *_MIXED_IN, *_JUNK_IN_LANDMARK)


class Pruned(NamedTuple):
    """The main content of a page: its body, and the text of that with a blank for each tag."""

    body: Element
    words: str


class _Landmark(NamedTuple):
    """A landmark that holds the content, and the elements to remove from it."""

    words: str
    junk: list[Element]  # inside the landmark
    around: list[Node]


@cache
def load_model() -> Model:
    """The bundled model. Load it before the process loses access to files."""
    with Path(__file__).with_name("main_content.npz").open("rb") as file:
        return Model.load(file)


def prune(tree: Document, repeated: Holder[int] = frozenset()) -> Pruned:
    """The body with only main content left in it; the tree is changed.

    `repeated`: fingerprints of blocks known to recur on most pages of this site, removed as
    boilerplate. Tables and code are kept or removed as a whole, headings stay above what they head.
    """
    return prune_by(load_model(), tree, repeated)


def prune_by(model: Model, tree: Document, repeated: Holder[int] = frozenset()) -> Pruned:
    """`prune` with a model that need not be the one that is shipped."""
    body = body_of(tree)
    if body is None:
        body = _without_body(tree)
        return Pruned(body, spaced_text(body))
    landmark = _clear_landmark(tree, body)
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
            fill_gaps(page, kept)
            settle_lists(page, kept, likely)
        kept &= ~_is_repeated(page, repeated)
        keep_whole(page, kept)
        _remove(page, kept)
    return Pruned(body, spaced_text(body))


def _clear_landmark(tree: Document, body: Element) -> _Landmark | None:
    """The one element that says it is the content, if nothing in it looks like anything else."""
    landmarks = list(tree.find_all("main"))
    for kind in _LANDMARKS:
        landmarks += tree.select(kind)
    if len(landmarks) != 1:
        return None
    (node,) = landmarks
    if node.tag == "main" and node.attr("role") == "main":
        return None  # pages with two landmarks tend to put all text there: use the model
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
    everything = length + sum(len(each.text) for each in around)
    if words.isspace() or length < _LANDMARK_SHARE * everything:
        return None
    return _Landmark(words, junk, around)


def _is_mixed_in(node: Element) -> bool:
    """Whether an element in a landmark is probably boilerplate."""
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
    """Cached, because the pages of a site share a few values."""
    return _MIXED_CLASSES.search(classes) is not None


def _around(inner: Node, body: Element) -> list[Node]:
    """All elements of the body that neither contain this one nor lie in it."""
    around: list[Node] = []
    while inner != body and inner.parent is not None:
        outer = inner.parent
        around += [each for each in outer.children if each != inner]
        inner = outer
    return around


def fingerprints(tree: Document) -> list[int]:
    """64-bit fingerprints of the page's text blocks, equal in every process.

    Case and white space do not count.
    """
    return [_fingerprint(block.text) for block in walk(tree).blocks]


def choose(page: BlockPage, likely: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The set of blocks with the highest expected F1 over words, given the probabilities `likely`."""
    words = np.array([block.words for block in page.blocks], np.float64)
    likely = likely.copy()
    for first, last in data_tables(page):
        likely[first:last] = np.average(likely[first:last], weights=words[first:last])
    order = np.argsort(-likely, kind="stable")
    right = np.cumsum((words * likely)[order])
    promised = 2 * right / (np.cumsum(words[order]) + right[-1])
    # Include all blocks as likely as the last one, so that no table is cut.
    kept: NDArray[np.bool_] = likely >= likely[order[np.argmax(promised)]]
    return kept


def _remove(page: BlockPage, kept: NDArray[np.bool_]) -> None:
    """Remove all other nodes from the tree."""
    # Inner nodes first, because removing a node removes the nodes below it.
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
    """Remove a text node, and inline elements that become empty."""
    parent = node.parent
    node.decompose()
    while isinstance(parent, Element) and parent.tag in INLINE and _is_empty(parent):
        emptied = parent
        parent = emptied.parent
        emptied.decompose()


def _is_empty(node: Element) -> bool:
    return next(iter(node), None) is None


def _is_repeated(page: BlockPage, repeated: Holder[int]) -> NDArray[np.bool_]:
    if repeated == frozenset():
        return np.zeros(len(page.blocks), bool)
    return np.array([_fingerprint(block.text) in repeated for block in page.blocks])


def _fingerprint(text: str) -> int:
    normal = " ".join(text.lower().split())
    return int.from_bytes(hashlib.blake2b(normal.encode(errors="replace"), digest_size=8).digest())


def _without_body(tree: Document) -> Element:
    """The root of a frameset page, which has no body and no text."""
    root = tree.root
    assert root is not None, "the parser makes a root for any input"
    return root
