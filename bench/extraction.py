"""How well main content is told from boilerplate: word-F1 over labelled pages, ours and the peers'.

    python -m bench.extraction           ours as shipped, trafilatura, resiliparse
    python -m bench.extraction --folds   ours, each page judged by a model that never saw it

Run it with the project's own interpreter; `--folds` also needs lightgbm (`bench.train_main_content`).
"""

import argparse
import gzip
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from bench.peers import environment

DATA = Path(__file__).parents[2] / "shared" / "data" / "extraction"
PEERS = ("trafilatura", "resiliparse")
ALL = "all"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A page and the text a reader says is its content."""

    number: str
    kind: str
    html: bytes
    truth: str


@dataclass(frozen=True, slots=True)
class Result:
    """One page by one extractor."""

    kind: str
    f1: float
    cpu: float  # seconds, parsing included


def labelled_pages() -> Iterator[Labelled]:
    """The pages of the set, in a fixed order."""
    for file in sorted((DATA / "truth").glob("*.json")):
        truth = json.loads(file.read_text("utf-8"))
        html = gzip.decompress((DATA / "html" / f"{file.stem}.html.gz").read_bytes())
        yield Labelled(file.stem, truth["page_type"], html, truth["main_content"])


def words(text: str) -> list[str]:
    """The words that count for F1, in order."""
    return _WORD.findall(text.lower())


def word_f1(found: Iterable[str], truth: Iterable[str]) -> float:
    """F1 over bags of words; two empty bags agree."""
    left, right = Counter(found), Counter(truth)
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0


def measure(extract: Callable[[bytes], str]) -> list[Result]:
    """Run an extractor over all pages; the first run over some of them only warms it up."""
    pages = list(labelled_pages())
    for page in pages[:10]:
        extract(page.html)
    results = []
    for page in pages:
        began = time.process_time()
        text = extract(page.html)
        cpu = time.process_time() - began
        results.append(Result(page.kind, word_f1(words(text), words(page.truth)), cpu))
    return results


def ours(html: bytes) -> str:
    """What is left of the page by crawl4r, as text."""
    from crawl4r.content.extract.main_content import prune  # noqa: PLC0415  the peers' runs do without
    from crawl4r.formats.html import parse_html  # noqa: PLC0415

    return prune(parse_html(html)).words


def trafilatura(html: bytes) -> str:
    """The peer as its documentation calls it."""
    import trafilatura as peer  # noqa: PLC0415  only in the peers' environment

    return peer.extract(html.decode("utf-8", "replace")) or ""


def resiliparse(html: bytes) -> str:
    """The peer as its documentation calls it."""
    from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415

    return str(extract_plain_text(html.decode("utf-8", "replace"), main_content=True))


def by_peer(name: str) -> list[Result]:
    """Measure a peer in the peers' own environment."""
    command = [str(environment.python()), "-m", "bench.extraction", "--peer", name]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [Result(*row) for row in json.loads(done.stdout)]


def table(results: Mapping[str, list[Result]]) -> str:
    """Mean F1 by page type and over all pages, a row an extractor."""
    kinds = [*sorted({result.kind for rows in results.values() for result in rows}), ALL]
    lines = ["".join(f"{head:>15}" for head in ("", *kinds, "CPU ms/page"))]
    for name, rows in results.items():
        means = [fmean(row.f1 for row in rows if kind in (row.kind, ALL)) for kind in kinds]
        cpu = 1_000 * fmean(row.cpu for row in rows)
        lines.append(f"{name:>15}" + "".join(f"{mean:15.3f}" for mean in means) + f"{cpu:15.2f}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", action="store_true", help="cross-validate our model")
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        results = measure({"trafilatura": trafilatura, "resiliparse": resiliparse}[arguments.peer])
        json.dump([(row.kind, row.f1, row.cpu) for row in results], sys.stdout)
    elif arguments.folds:
        from bench.train_main_content import cross_validate  # noqa: PLC0415  needs lightgbm

        print(table({"crawl4r, folds": cross_validate()}))
    else:
        print(table({"crawl4r": measure(ours)} | {peer: by_peer(peer) for peer in PEERS}))


if __name__ == "__main__":
    main()
