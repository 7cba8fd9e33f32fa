"""How fast are texts embedded, and how much of that is onnxruntime's own time?

    python -m bench.embedding [--chunks 60] [--rounds 5]

On chunks of Debian's Python documentation (package python3-doc), cut as a crawl cuts them. The
ratio compares with onnxruntime alone on the same texts, tokenized before, alternating with each
text; exit code 1: it is below .9. CPU is user and system time of this process, on one thread.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles

from bench.contenders import CRAWL4R
from bench.server import DOCUMENTATION

BAR = 0.9
QUERIES = (
    "how to run a subprocess with a timeout",
    "difference between a list and a tuple",
    "what does asyncio gather return when a task fails",
    "parse command line arguments",
    "read a csv file with a header",
)
LOADING = """
import sys, time
from pathlib import Path
began = time.perf_counter(), time.process_time()
from crawl4r.search.embed.minilm import MiniLmEmbedder
imported = time.perf_counter(), time.process_time()
embedder = MiniLmEmbedder(Path(sys.argv[1]), threads=1)
embedder.embed_query("the first")
ended = time.perf_counter(), time.process_time()
for line in Path("/proc/self/status").read_text().splitlines():
    if line.startswith(("VmRSS", "VmHWM")):
        print(line.split()[1], end=" ")
print(*(b - a for a, b in zip(imported, ended)), *(b - a for a, b in zip(began, imported)))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if Path(sys.prefix) != CRAWL4R.parent.parent:  # with the interpreter that has crawl4r
        python = str(CRAWL4R.parent / "python")
        command = [python, "-m", "bench.embedding", *sys.argv[1:]]
        return subprocess.run(command, check=False).returncode
    chunks = documentation_chunks(options.chunks)
    with tempfile.TemporaryDirectory() as name:
        loading(Path(name), options.rounds)
        ratio = bulk(Path(name), chunks, options.rounds)
        latency(Path(name), 200 * options.rounds)
    static(chunks, options.rounds)
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    return 0 if ratio >= BAR else 1


def documentation_chunks(count: int) -> list[str]:
    """Evenly taken from all pages."""
    from crawl4r.content.chunks.chunk import chunk_by_structure  # noqa: PLC0415
    from crawl4r.content.chunks.tokens import load_tokenizer  # noqa: PLC0415
    from crawl4r.documents.extractor import extract  # noqa: PLC0415
    from crawl4r.model import PageBody, ReadOptions  # noqa: PLC0415

    root = next(root for root in DOCUMENTATION.values() if "python" in str(root))
    tokenizer = load_tokenizer()
    texts: list[str] = []
    files = [file for file in sorted(root.rglob("*.html")) if not file.is_symlink()]
    for file in files[:: max(1, len(files) // 40)]:
        found = extract(
            PageBody(file.read_bytes(), f"https://docs.example/{file}"),
            ReadOptions(with_links=False),
        )
        markdown = found.document.markdown if found.document else ""
        chunks = chunk_by_structure(markdown, tokenizer.count)
        texts += [markdown[chunk.start : chunk.end] for chunk in chunks]
    chosen = texts[:: max(1, len(texts) // count)][:count]
    tokens = sum(tokenizer.count(chosen))
    print(f"{len(chosen)} chunks of python3-doc, {tokens / len(chosen):.0f} tokens on average")
    return chosen


def loading(cache: Path, rounds: int) -> None:
    """In new processes: the first makes the model, the others find it."""
    runs = []
    for _ in range(rounds + 1):
        command = [sys.executable, "-c", LOADING, str(cache)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        runs.append([float(figure) for figure in done.stdout.split()])
    # The order in which the kernel lists them: peak, then present.
    for name, rows in (("first, makes the model", runs[:1]), ("later", runs[1:])):
        peak, rss, wall, cpu, import_wall, _ = (
            median(column) for column in zip(*rows, strict=True)
        )
        print(
            f"load, {name}: {wall:.2f} s wall, {cpu:.2f} s CPU, after {import_wall:.2f} s of imports;"
            f" RSS {rss / 1024:.0f} MB, peak {peak / 1024:.0f} MB"
        )


def bulk(cache: Path, chunks: Sequence[str], rounds: int) -> float:
    """Prints rates; returns that of the embedder as a share of onnxruntime's."""
    from crawl4r.search.embed.minilm import MiniLmEmbedder  # noqa: PLC0415

    embedder = MiniLmEmbedder(cache, threads=1)
    tokens = [embedder._windows(text) for text in chunks]
    session = embedder._for_passages
    given = session.get_inputs()[0].name

    ours = [0.0] * rounds
    bare = [0.0] * rounds
    embedder.embed(chunks[:10])
    for number in range(rounds):
        for at, (text, rows) in enumerate(zip(chunks, tokens, strict=True)):
            work: list[tuple[list[float], Callable[[], object]]] = [
                (ours, lambda text=text: embedder.embed([text])),  # type: ignore[misc]
                (bare, lambda rows=rows: [session.run(None, {given: row}) for row in rows]),  # type: ignore[misc]
            ]
            # Chunk by chunk, each first in turn: the machine's load changes within seconds.
            for results, run in work if (number + at) % 2 else reversed(work):
                results[number] += cpu_of(run)
    ratio = median(b / o for o, b in zip(ours, bare, strict=True))
    print(
        f"MiniLM: {len(chunks) / median(ours):.1f} chunks a cpu-second "
        f"({len(chunks) / max(ours):.1f} to {len(chunks) / min(ours):.1f}); onnxruntime alone "
        f"{len(chunks) / median(bare):.1f}; ratio {ratio:.3f}, bar {BAR}"
    )
    in_parallel(cache, chunks)
    return ratio


def in_parallel(cache: Path, chunks: Sequence[str]) -> None:
    from crawl4r.search.embed.minilm import MiniLmEmbedder  # noqa: PLC0415

    embedder = MiniLmEmbedder(cache)
    embedder.embed(chunks[:10])
    began = time.perf_counter()
    cpu = cpu_of(lambda: embedder.embed(chunks))
    wall = time.perf_counter() - began
    embedder.close()
    print(
        f"MiniLM on all cores: {len(chunks) / wall:.1f} chunks a second of wall time, "
        f"{len(chunks) / cpu:.1f} a cpu-second"
    )


def latency(cache: Path, count: int) -> None:
    from crawl4r.search.embed.minilm import MiniLmEmbedder  # noqa: PLC0415

    embedder = MiniLmEmbedder(cache)
    walls, cpus = [], []
    for number in range(count):
        began = time.perf_counter()
        cpus.append(cpu_of(lambda: embedder.embed_query(QUERIES[number % len(QUERIES)])))  # noqa: B023
        walls.append(time.perf_counter() - began)
    cuts = quantiles(walls, n=100)
    print(
        f"query: p50 {1_000 * cuts[49]:.2f} ms, p99 {1_000 * cuts[98]:.2f} ms wall; "
        f"{1_000 * median(cpus):.2f} ms CPU"
    )


def static(chunks: Sequence[str], rounds: int) -> None:
    from crawl4r.errors import EmbedderMissing  # noqa: PLC0415
    from crawl4r.search.embed.static import StaticEmbedder  # noqa: PLC0415

    try:
        embedder = StaticEmbedder()
    except EmbedderMissing as missing:
        print(f"static: left out, {missing}")
        return
    embedder.embed(chunks[:10])
    cpus = [cpu_of(lambda: embedder.embed(chunks)) for _ in range(rounds)]
    print(f"static: {len(chunks) / median(cpus):.0f} chunks a cpu-second")


def cpu_of(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    sys.exit(main())
