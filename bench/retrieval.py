"""Does search find what it should, and more of it than words or meaning alone?

    python -m bench.retrieval [COLLECTION...] [--docs] [--misses [--hard]] [--variants]
                              [--keep DIR]

A COLLECTION is a folder with corpus.jsonl, queries.jsonl and qrels.tsv: imported, indexed and asked
with crawl4r's own commands. `--docs` asks questions.jsonl, everyday questions with bars, and beside
it hard_questions.jsonl, without, of Debian's Python documentation (package python3-doc), crawled on
loopback; `--misses` lists the everyday ones that were missed, with `--hard` the hard ones, too;
`--variants` also asks with passages of other sizes. With none of them, the collections are those of
../shared/data/retrieval. `--keep` is where workspaces stay and are used again, since embedding takes
minutes; they hold what the code made of the pages at that time, so start with an empty one after a
change to it. Exit code 1: hybrid is not above both halves in nDCG@10, or the answers to the everyday
questions are below their bars.
"""

import argparse
import contextlib
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.contenders import CRAWL4R, PROJECT

COLLECTIONS = PROJECT.parent / "shared" / "data" / "retrieval"
RANKINGS = {
    "keyword": ("--mode", "keyword"),
    "vector": ("--mode", "vector"),
    "convex": ("--mode", "hybrid", "--fusion", "convex"),
    "rrf": ("--mode", "hybrid", "--fusion", "rrf"),
}
HALVES = ("keyword", "vector")
HYBRIDS = ("convex", "rrf")

Grades = Mapping[str, Mapping[str, int]]  # query -> document -> grade; 0 is judged not relevant


class Figures(NamedTuple):
    """Means over all queries with a relevant document; an unanswered one counts as 0."""

    ndcg_10: float
    recall_100: float
    mrr_10: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="*", type=Path, metavar="COLLECTION")
    parser.add_argument("--docs", action="store_true", help="two sets of questions on python3-doc")
    parser.add_argument("--misses", action="store_true", help="and what came instead of answers")
    parser.add_argument("--hard", action="store_true", help="misses of the hard questions, too")
    parser.add_argument("--variants", action="store_true", help="passages of other sizes, too")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where workspaces stay")
    options = parser.parse_args()
    if options.hard and not options.misses:
        parser.error("--hard goes with --misses")
    if Path(sys.prefix) != CRAWL4R.parent.parent:  # with the interpreter that has crawl4r
        python = str(CRAWL4R.parent / "python")
        command = [python, "-m", "bench.retrieval", *sys.argv[1:]]
        return subprocess.run(command, check=False).returncode
    asks_documentation = options.docs or options.misses or options.variants
    collections = options.collections
    if not collections and not asks_documentation:
        collections = sorted(file.parent for file in COLLECTIONS.glob("*/qrels.tsv"))
    with _workspaces(options.keep) as workspaces:
        is_fine = [score(folder, workspaces / folder.name) for folder in collections]
        if asks_documentation:
            from bench.questions import EVERYDAY, HARD, ask_documentation  # noqa: PLC0415

            misses = [*[EVERYDAY] * options.misses, *[HARD] * options.hard]
            is_fine.append(ask_documentation(workspaces, misses=misses, variants=options.variants))
    return 0 if is_fine and all(is_fine) else 1


@contextlib.contextmanager
def _workspaces(keep: Path | None) -> Iterator[Path]:
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
    else:
        with tempfile.TemporaryDirectory(prefix="crawl4r-bench-retrieval-") as folder:
            yield Path(folder)


def score(folder: Path, workspace: Path) -> bool:
    """Print what each ranking reaches on a collection; is the usual hybrid above both halves?"""
    started = time.monotonic()
    say(f"{folder.name}: importing and indexing")
    crawl4r("import", str(folder / "corpus.jsonl"), "-w", str(workspace))
    crawl4r("index", "-w", str(workspace))
    grades = _grades(folder / "qrels.tsv")
    results = {
        name: judged(_run(folder / "queries.jsonl", workspace, options), grades)
        for name, options in RANKINGS.items()
    }
    print(f"{folder.name}: {len(grades)} queries, {time.monotonic() - started:.0f} s")
    print(f"  {'':10}{'nDCG@10':>10}{'recall@100':>12}{'MRR@10':>10}")
    for name, figures in results.items():
        print(f"  {name:10}{figures[0]:10.4f}{figures[1]:12.4f}{figures[2]:10.4f}")
    for name in HYBRIDS:
        print(f"  {name} above both halves: {_above(results[name], results)}")
    best_half = max(results[half].ndcg_10 for half in HALVES)
    return results[HYBRIDS[0]].ndcg_10 > best_half


def _above(figures: Figures, results: Mapping[str, Figures]) -> str:
    """For each figure yes or no, and by how much."""
    words = []
    for place, name in enumerate(("nDCG@10", "recall@100", "MRR@10")):
        more = figures[place] - max(results[half][place] for half in HALVES)
        words.append(f"{name} {'yes' if more > 0 else 'no'} ({more:+.4f})")
    return ", ".join(words)


def _grades(file: Path) -> Grades:
    """Of queries with a relevant document only: nothing could be found for the others."""
    grades: dict[str, dict[str, int]] = {}
    for line in file.read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        grades.setdefault(query, {})[document] = int(grade)
    return {query: each for query, each in grades.items() if max(each.values()) > 0}


def _run(queries: Path, workspace: Path, options: Sequence[str]) -> dict[str, list[str]]:
    """What a ranking finds for each query, best first."""
    found: dict[str, list[str]] = {}
    asked = ("search", "--queries", str(queries), "--limit", "100", "--json", "-w", str(workspace))
    for line in crawl4r(*asked, *options).splitlines():
        hit = json.loads(line)
        found.setdefault(hit["query"], []).append(hit["id"])
    return found


def judged(run: Mapping[str, Sequence[str]], grades: Grades) -> Figures:
    totals = [0.0, 0.0, 0.0]
    for query, graded in grades.items():
        found = run.get(query, ())
        relevant = {document for document, grade in graded.items() if grade > 0}
        first = next((n for n, each in enumerate(found[:10], 1) if each in relevant), math.inf)
        ideal = _gain(sorted(graded.values(), reverse=True))
        totals[0] += _gain([graded.get(each, 0) for each in found]) / ideal
        totals[1] += len(relevant.intersection(found[:100])) / len(relevant)
        totals[2] += 1 / first
    return Figures(*(total / len(grades) for total in totals))


def _gain(grades: Sequence[int]) -> float:
    """Discounted and cumulated over the first ten; a document gains its grade."""
    return sum(max(grade, 0) / math.log2(rank + 2) for rank, grade in enumerate(grades[:10]))


def crawl4r(*arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """What the command prints on stdout; its bars and errors are seen on stderr as they come."""
    command = [str(CRAWL4R), *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return done.stdout


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
