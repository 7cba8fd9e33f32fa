"""Is hybrid search fast at 100,000 chunks, also with a filter, while it is written to, and cold?

    python -m bench.searching [--chunks 100000] [--keep DIR]

The text is Debian's Python and PostgreSQL documentation (packages python3-doc and postgresql-doc-15),
read and cut as a crawl does, then repeated with edits. A few thousand chunks have their real MiniLM
vector; the others have that of a neighbour with noise, at a cosine of .8 to .95. Made once into
`--keep`, a workspace that `crawl4r search -w` can ask too. Each figure comes from a process of its
own, each question is asked once, and beside each figure stands its bar. Figures mean something on
a machine that does nothing else: the last line says how busy it was.
"""

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.contenders import CRAWL4R
from bench.peers.environment import cache
from bench.searching_index import about, build, embedder_of_questions, open_index

QUESTIONS = 300  # a measurement
WARMING = 20  # questions that are not measured
COLD_STARTS = 5
PAUSE = 0.15  # seconds between questions while another process writes
WRITTEN = (10, 50)  # documents and passages of each, in one commit of the writer
EMBEDDED, EMBEDDED_EVERY = 48, 2.4  # passages that get a vector at once, and seconds: 20 a second
CANDIDATES = (2_000, 3_000, 5_000, 7_500, 10_000, 15_000)
BARS = {
    "p50 ms": 15.0,
    "p99 ms": 50.0,
    "p99 ms while indexing": 60.0,
    "filtered p50 as a multiple": 2.0,
    "recall@10, at least": 0.97,
    "RSS MB": 600.0,
    "cold s": 1.5,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, default=cache() / "searching", metavar="DIR")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if Path(sys.prefix) != CRAWL4R.parent.parent:  # with the interpreter that has crawl4r
        sys.exit(subprocess.run(_command(sys.argv[1:]), check=False).returncode)
    workspace = options.keep / str(options.chunks)
    if options.step:
        result = STEPS[options.step](workspace)
        print(json.dumps(result))
        return
    if not (workspace / "index" / "current").exists():
        build(options.keep, workspace, options.chunks)
    report(*(_in_a_process(step, options) for step in ("ask", "recall", "cold")))
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def report(asked: dict[str, Any], recalled: dict[str, Any], cold: dict[str, Any]) -> None:
    print(
        f"{asked['chunks']:,} chunks, {recalled['real']:,} of them with a vector of their own text"
    )
    for case in ("plain", "filtered", "while indexing"):
        laps = ", ".join(f"{name} {ms:.1f}" for name, ms in asked[case]["laps"].items())
        print(
            f"  {case}: p50 {asked[case]['p50']:.1f} ms, p99 {asked[case]['p99']:.1f} ms,"
            f" most {asked[case]['most']:.1f} ms, CPU {asked[case]['cpu']:.1f} ms; medians: {laps}"
        )
        slow = ", ".join(f"{name} {ms:.1f}" for name, ms in asked[case]["slow"].items())
        print(f"    the third slowest: {slow}")
    print(f"  written beside: {asked['written']} passages, {asked['commits']} keyword commits")
    print("  candidates | recall@10 | filtered | nearest p50 ms")
    for candidates, *row in recalled["table"]:
        print(" | ".join([f"  {candidates}", *(f"{cell:.4f}" for cell in row)]))
    print(
        f"  cold: {', '.join(f'{wall:.2f}' for wall in cold['walls'])} s, CPU {cold['cpu']:.2f} s"
    )
    figures = (
        asked["plain"]["p50"],
        asked["plain"]["p99"],
        asked["while indexing"]["p99"],
        asked["filtered"]["p50"] / asked["plain"]["p50"],
        recalled["recall"],
        asked["rss"],
        sorted(cold["walls"])[len(cold["walls"]) // 2],
    )
    for (name, bar), figure in zip(BARS.items(), figures, strict=True):
        is_met = figure >= bar if name.startswith("recall") else figure <= bar
        print(f"  {'met   ' if is_met else 'MISSED'} {name}: {figure:.4g} (bar {bar:g})")


def ask(workspace: Path) -> dict[str, Any]:
    """Latencies without and with a filter and while another process writes; memory."""
    from crawl4r.search.port import Filters  # noqa: PLC0415
    from crawl4r.wiring.search import SearchHandle  # noqa: PLC0415

    door = SearchHandle(workspace, _settings(workspace))
    questions = _questions(workspace)
    few = Filters(domains=("site3.docs.example",))
    _latencies(door, [next(questions) for _ in range(WARMING)], Filters())
    plain = _latencies(door, [next(questions) for _ in range(QUESTIONS)], Filters())
    _latencies(door, [next(questions) for _ in range(WARMING)], few)
    filtered = _latencies(door, [next(questions) for _ in range(QUESTIONS)], few)
    rss = _resident_mb()
    chunks = door.catalogue.totals()["passages"]
    command = _command(["--step", "write", *_place(workspace)])
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        writer.stdout.readline()  # it has begun
        written = _latencies(
            door, [next(questions) for _ in range(QUESTIONS)], Filters(), pause=PAUSE
        )
        writer.terminate()
        done = json.loads(writer.stdout.read().splitlines()[-1])
    return {
        "plain": plain, "filtered": filtered, "while indexing": written, **done,
        "rss": max(rss, _resident_mb()), "chunks": chunks,
    }  # fmt: skip


def _latencies(
    door: Any, questions: Sequence[str], where: Any, pause: float = 0.0
) -> dict[str, Any]:
    from crawl4r.search.request import SearchRequest  # noqa: PLC0415

    walls, laps = [], []
    used = time.process_time()
    for question in questions:
        started = time.perf_counter()
        answer = door.searcher().search(SearchRequest(question, filters=where))
        walls.append(1_000 * (time.perf_counter() - started))
        assert not answer.is_cached
        laps.append(answer.milliseconds)
        time.sleep(pause)
    cpu = 1_000 * (time.process_time() - used) / len(walls)
    names = [name for name in laps[0] if name != "total"]
    return {
        "p50": _percentile(walls, 50),
        "p99": _percentile(walls, 99),
        "most": max(walls),
        "cpu": cpu,
        "slow": laps[sorted(range(len(walls)), key=walls.__getitem__)[-min(3, len(walls))]],
        "laps": {name: _percentile([lap.get(name, 0.0) for lap in laps], 50) for name in names},
    }


def write(workspace: Path) -> dict[str, int]:
    """As `crawl4r index` would with changed pages, until SIGTERM; what was put is taken out again."""
    from crawl4r.search.generations import Generations  # noqa: PLC0415

    folder = Generations(workspace / "index").current()
    assert folder
    index = open_index(folder, writable=True)
    done = {"written": 0, "commits": 0}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        _forget_written(index)
        print("begun", flush=True)
        while True:
            waiting = _revise(index)
            done["commits"] += 1
            for at in range(0, len(waiting), EMBEDDED):
                time.sleep(EMBEDDED_EVERY)
                done["written"] += _give_vectors(index, waiting[at : at + EMBEDDED])
    except SystemExit:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        index.catalogue.rollback()
        _forget_written(index)
        index.close()
        return done


def _revise(index: Any) -> list[Any]:
    """New versions of some documents, with words at once and vectors to come."""
    from crawl4r.indexing.passages import searchable  # noqa: PLC0415
    from crawl4r.search.indexed_passage import IndexedPassage, Version  # noqa: PLC0415

    chance = random.Random()
    puts, waiting = [], []
    now = time.time()
    for number, url in enumerate(_written_urls()):
        texts = index.catalogue.find([chance.randrange(1, 10_000) for _ in range(WRITTEN[1])])
        if before := index.catalogue.current(url):
            old = index.catalogue.passages_of(before)
            index.catalogue.retire(before, now)
            index.vectors.retire([found.entry.number for found in old], now)
            retired = before._replace(retired_at=now)
            puts += [searchable(IndexedPassage(found.entry, retired)) for found in old]
        version = Version(
            url, "", url, f"Page {number}", "written.example", "en", "html", "", (), 0, "", "", now
        )
        entries = [found.entry._replace(is_embedded=False) for found in texts.values()]
        added = index.catalogue.add(version, entries)
        waiting += added
        puts += [searchable(found) for found in added]
    index.keyword.put(puts)
    index.keyword.commit()
    index.catalogue.commit()
    return waiting


def _give_vectors(index: Any, some: Sequence[Any]) -> int:
    import numpy as np  # noqa: PLC0415

    noise = np.random.default_rng().standard_normal(
        (len(some), index.vectors.dimension), np.float32
    )
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    index.vectors.put([(found.entry.number, found.passage().facets) for found in some], noise)
    index.catalogue.mark_embedded([found.entry.number for found in some])
    index.catalogue.commit()
    return len(some)


def _forget_written(index: Any) -> None:
    for url in _written_urls():
        for version in index.catalogue.versions_of(url):
            numbers = [found.entry.number for found in index.catalogue.passages_of(version)]
            index.keyword.delete(numbers)
            index.vectors.delete(numbers)
            index.catalogue.delete(version)
    index.keyword.commit()
    index.catalogue.commit()


def _written_urls() -> list[str]:
    return [f"https://written.example/{number}" for number in range(WRITTEN[0])]


def recall(workspace: Path) -> dict[str, Any]:
    """Of the ten nearest by exact f32, how many the index finds; with other numbers of candidates."""
    import numpy as np  # noqa: PLC0415

    from crawl4r.search.generations import Generations  # noqa: PLC0415
    from crawl4r.search.port import Filters  # noqa: PLC0415
    from crawl4r.search.vectors import scan  # noqa: PLC0415

    folder = Generations(workspace / "index").current()
    assert folder
    index = open_index(folder, writable=False)
    embedder = embedder_of_questions()
    asked = _questions(workspace)
    questions = np.stack([embedder.embed_query(next(asked)) for _ in range(QUESTIONS)])
    exact = np.load(workspace / "exact.npy")
    scores = questions @ exact.T
    truth = np.argsort(-scores, axis=1)[:, :10] + 1
    few = Filters(domains=("site3.docs.example",))
    passages = index.catalogue.find(range(1, len(exact) + 1))
    outside = [n - 1 for n, found in passages.items() if found.version.domain not in few.domains]
    scores[:, outside] = -2
    filtered_truth = np.argsort(-scores, axis=1)[:, :10] + 1

    def measure() -> tuple[float, float, float]:
        walls, found = [], []
        for question in questions:
            started = time.perf_counter()
            found.append(index.vectors.nearest(question, 100, Filters())[:10])
            walls.append(1_000 * (time.perf_counter() - started))
        found_few = [index.vectors.nearest(question, 100, few)[:10] for question in questions]
        return _share(found, truth), _share(found_few, filtered_truth), _percentile(walls, 50)

    measure()
    ours = measure()
    table = [("as it is", *ours)]
    for scan._CANDIDATES in CANDIDATES:
        table.append((scan._CANDIDATES, *measure()))
    return {"recall": ours[0], "real": about(workspace)["real"], "table": table}


def _share(found: Sequence[Any], truth: Any) -> float:
    right = sum(
        len({hit.number for hit in hits} & set(best.tolist()))
        for hits, best in zip(found, truth, strict=True)
    )
    return right / truth.size


def cold(workspace: Path) -> dict[str, Any]:
    """`crawl4r search` as a command; its files are in the kernel's cache."""
    questions = _questions(workspace)
    walls = []
    for _ in range(COLD_STARTS):
        command = [CRAWL4R, "search", next(questions), "--workspace", workspace, "--json"]
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        walls.append(time.perf_counter() - started)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"walls": walls, "cpu": (used.ru_utime + used.ru_stime) / COLD_STARTS}


STEPS = {"ask": ask, "recall": recall, "cold": cold, "write": write}


def _in_a_process(step: str, options: argparse.Namespace) -> dict[str, Any]:
    place = _place(options.keep / str(options.chunks))
    ended = subprocess.run(
        _command(["--step", step, *place]), stdout=subprocess.PIPE, text=True, check=True
    )
    result: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return result


def _command(arguments: Sequence[str]) -> list[str]:
    return [str(CRAWL4R.parent / "python"), "-m", "bench.searching", *arguments]


def _place(workspace: Path) -> list[str]:
    return ["--chunks", workspace.name, "--keep", str(workspace.parent)]


def _questions(workspace: Path) -> Iterator[str]:
    """People's questions and headings, mixed; none twice."""
    file = Path(__file__).with_name("questions.jsonl")
    written = [json.loads(line)["text"] for line in file.open()] if file.exists() else []
    headings = about(workspace)["headings"]
    chance = random.Random(3)
    chance.shuffle(headings)
    mixed = [*written, *(text for text in headings if len(text) > 5)][: 4 * QUESTIONS]
    chance.shuffle(mixed)
    return iter(dict.fromkeys(mixed))


def _settings(workspace: Path) -> Any:
    from crawl4r.settings.load import FILE_NAME, load_settings  # noqa: PLC0415

    return load_settings(workspace / FILE_NAME)


def _percentile(values: Sequence[float], percent: int) -> float:
    return sorted(values)[min(len(values) * percent // 100, len(values) - 1)]


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
