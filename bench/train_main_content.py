"""Train the model of `crawl4r.content.extract.main_content` on labelled pages, and write it.

    python -m venv /tmp/train && /tmp/train/bin/pip install lightgbm numpy turbohtml
    PYTHONPATH=src /tmp/train/bin/python -m bench.train_main_content

Blocks are labelled by aligning their words with the truth. What class names say is learnt first, by
the share of content below elements of that name; for training the forest each page's own names are
judged by the other pages only, or the forest would trust them too much.
"""

import sys
import time
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from bench.extraction import Labelled, Result, labelled_pages, word_f1, words
from crawl4r.content.extract.block_features import NameWeights, features, name_parts
from crawl4r.content.extract.blocks import BlockPage, walk
from crawl4r.content.extract.main_content import prune_by
from crawl4r.content.extract.model import Forest, Model
from crawl4r.formats.html import parse_html

WEIGHTS = Path(__file__).parents[1] / "src" / "crawl4r" / "content" / "main_content.npz"
FOLDS = 5
GRAM = 4  # words in a row that prove a block's place in the truth, where the order differs
PAGES_A_NAME = 6  # a name on fewer pages says nothing
PRIOR, PRIOR_PAGES = 0.4, 4.0  # what a name is believed to hold before it is seen
KIND_WEIGHTS = {
    "article": 0.8, "documentation": 1.0, "forum": 1.3, "service": 1.3, "listing": 1.7,
    "product": 1.7, "collection": 1.7,
}  # fmt: skip
DEPTH = 6
TREES = 180
SETTINGS = {
    "objective": "cross_entropy", "learning_rate": 0.055, "num_leaves": 24, "max_depth": DEPTH,
    "min_data_in_leaf": 60, "feature_fraction": 0.4, "bagging_fraction": 0.7, "bagging_freq": 1,
    "lambda_l2": 5, "max_bin": 127, "seed": 1, "num_threads": 1, "deterministic": True,
    "verbose": -1,
}  # fmt: skip

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled page with its blocks: how many words each has, and the share that is content."""

    labelled: Labelled
    page: BlockPage
    sizes: Floats
    content: Floats


def examples() -> list[Example]:
    """All labelled pages."""
    result = []
    for labelled in labelled_pages():
        page = walk(parse_html(labelled.html))
        rows = [words(block.text) for block in page.blocks]
        sizes = np.array([len(row) for row in rows], float)
        content = np.array(_covered(rows, words(labelled.truth)), float) / np.maximum(sizes, 1)
        result.append(Example(labelled, page, sizes, content))
    return result


def _covered(rows: list[list[str]], truth: list[str]) -> list[int]:
    """How many words of each block are in the truth: in its order, or else in rows of GRAM words."""
    flat = [word for row in rows for word in row]
    owner = [number for number, row in enumerate(rows) for _ in row]
    covered = [0] * len(rows)
    left = Counter(truth)
    for a, b, size in SequenceMatcher(None, flat, truth, autojunk=False).get_matching_blocks():
        for offset in range(size):
            covered[owner[a + offset]] += 1
            left[truth[b + offset]] -= 1
    grams = {tuple(truth[at : at + GRAM]) for at in range(len(truth) - GRAM + 1)}
    for number, row in enumerate(rows):
        if 2 * covered[number] < len(row):
            covered[number] = max(covered[number], _covered_by_grams(row, grams, left))
    return covered


def _covered_by_grams(row: list[str], grams: set[tuple[str, ...]], left: Counter[str]) -> int:
    inside = [False] * len(row)
    for at in range(len(row) - GRAM + 1):
        if tuple(row[at : at + GRAM]) in grams:
            inside[at : at + GRAM] = [True] * GRAM
    count = 0
    for word, is_inside in zip(row, inside, strict=True):
        if is_inside and left[word] > 0:
            left[word] -= 1
            count += 1
    return count


def learn_names(training: list[Example]) -> dict[str, float]:
    """For each name on enough pages the log-odds of content below it, against the prior."""
    shares: dict[str, list[float]] = {}
    for example in training:
        size = np.concatenate(([0.0], np.cumsum(example.sizes)))
        content = np.concatenate(([0.0], np.cumsum(example.sizes * example.content)))
        below: dict[str, list[float]] = {}
        for each in example.page.containers:
            count = size[each.last] - size[each.first]
            if count and content[-1]:
                for name in name_parts(each.names):
                    if 2 < len(name) < 25:
                        sums = below.setdefault(name, [0.0, 0.0])
                        sums[0] += content[each.last] - content[each.first]
                        sums[1] += count
        for name, (inside, count) in below.items():
            shares.setdefault(name, []).append(inside / count)
    weights = {}
    for name, found in sorted(shares.items()):
        share = (sum(found) + PRIOR * PRIOR_PAGES) / (len(found) + PRIOR_PAGES)
        weight = np.log(share / (1 - share)) - np.log(PRIOR / (1 - PRIOR))
        if len(found) >= PAGES_A_NAME and abs(weight) > 0.3:
            weights[name] = round(float(weight), 2)
    return weights


def train(training: list[Example]) -> tuple[dict[str, float], Forest]:
    """The weights of names and the forest."""
    usable = [each for each in training if each.page.blocks and each.content.any()]
    tables, parts = {}, 4
    for part in range(parts):
        others = [each for number, each in enumerate(usable) if number % parts != part]
        weights = NameWeights(learn_names(others))
        for number in range(part, len(usable), parts):
            tables[number] = features(usable[number].page, weights)
    # In a page every word counts alike; pages of the kinds that are hard and few count more.
    importance = [
        KIND_WEIGHTS[each.labelled.kind] * (100 * each.sizes / (each.sizes.sum() + 50) + 0.05)
        for each in usable
    ]
    data = lightgbm.Dataset(
        np.concatenate([tables[number] for number in range(len(usable))]),
        np.concatenate([each.content for each in usable]).clip(0, 1),
        weight=np.concatenate(importance),
    )
    model = lightgbm.train(SETTINGS, data, TREES)
    return learn_names(usable), _forest(model.dump_model()["tree_info"])


def _forest(trees: list[dict[str, Any]]) -> Forest:
    """The trees filled up to complete ones: a leaf above the last level stands for all below it."""
    nodes = 2**DEPTH - 1
    columns = np.zeros((len(trees), nodes), np.int32)
    limits = np.full((len(trees), nodes), np.inf, np.float32)
    leaves = np.zeros((len(trees), nodes + 1), np.float32)
    for tree, root in enumerate(trees):
        waiting = [(0, root["tree_structure"])]
        while waiting:
            place, node = waiting.pop()
            if "split_feature" in node:
                columns[tree, place] = node["split_feature"]
                limits[tree, place] = node["threshold"]
                waiting.append((2 * place + 1, node["left_child"]))
                waiting.append((2 * place + 2, node["right_child"]))
            elif place >= nodes:
                leaves[tree, place - nodes] = node["leaf_value"]
            else:
                waiting += [(2 * place + 1, node), (2 * place + 2, node)]
    return Forest(columns, limits, leaves)


def cross_validate() -> list[Result]:
    """Every page judged by a model trained on the pages of the other folds."""
    known = examples()
    by_kind = sorted(range(len(known)), key=lambda number: known[number].labelled.kind)
    fold = {number: place % FOLDS for place, number in enumerate(by_kind)}
    results = []
    for held in range(FOLDS):
        names, forest = train([each for number, each in enumerate(known) if fold[number] != held])
        model = Model(NameWeights(names), forest)
        for number, each in enumerate(known):
            if fold[number] == held:
                tree = parse_html(each.labelled.html)
                began = time.process_time()
                text = prune_by(model, tree).words
                cpu = time.process_time() - began
                f1 = word_f1(words(text), words(each.labelled.truth))
                results.append(Result(each.labelled.kind, f1, cpu))
        print(f"fold {held + 1} of {FOLDS} done", file=sys.stderr)
    return results


def main() -> None:
    names, forest = train(examples())
    Model(NameWeights(names), forest).save(WEIGHTS)
    print(f"{WEIGHTS}: {WEIGHTS.stat().st_size:,} bytes, {len(names):,} names")


if __name__ == "__main__":
    main()
