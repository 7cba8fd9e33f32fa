"""Which way of searching vectors keeps its speed while it is written to?

    python -m bench.vectors [--points 100000] [--only "crawl4r scan,qdrant-edge"] [--vectors FILE.npy]

Each contender answers from a process of its own. Questions are points with some noise; recall is
against exact f32 search. "written" is the time of a question while 100 points
are put and 50 retired twenty times a second, by another process where the contender allows that. The
vectors are a random mixture of 2,000 centres in 64 dimensions, with noise in all 384, unless a file
gives real ones. Contenders that are not installed are passed over. The figures mean something on a
machine that does nothing else: the last line says how busy it was, and the least of all times is
what is left to compare when it was.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from bench.vector_contenders import CONTENDERS, DIMENSION

QUESTIONS = 200
LIMIT = 10
BATCH = 100  # points a write
PAUSE = 0.05  # seconds between writes
BREATH = 0.005  # seconds between questions while it is written to
HEADINGS = (
    "contender", "least ms", "p50", "p99", "filtered least", "p50", "p99",
    "written least", "p50", "p99", "recall@10", "filtered recall", "RSS MB", "open ms", "writes/s",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--only", default=",".join(CONTENDERS))
    parser.add_argument("--vectors", type=Path, help=".npy with a unit vector a row")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)  # contender, folder
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measure(options.measure[0], Path(options.measure[1]))))
    elif options.write:
        _write(_opened(options.write[0], Path(options.write[1]), writable=True))
    else:
        _race(options.points, options.only.split(","), options.vectors)


def _race(points: int, names: list[str], given: Path | None) -> None:
    vectors = np.load(given)[:points] if given else mixture(points)
    with tempfile.TemporaryDirectory() as folder:
        _prepare(Path(folder), vectors)
        print(" | ".join(HEADINGS), flush=True)
        for name in names:
            command = [sys.executable, "-m", "bench.vectors", "--measure", name, folder]
            ended = subprocess.run(
                command, capture_output=True, text=True, timeout=900, check=False
            )
            if ended.returncode:
                print(f"{name} | {ended.stderr.strip().splitlines()[-1]}", flush=True)
            else:
                row = json.loads(ended.stdout.splitlines()[-1])
                print(" | ".join([name, *(f"{cell:.4g}" for cell in row)]), flush=True)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def mixture(points: int) -> np.ndarray:
    chance = np.random.default_rng(7)
    centres = chance.standard_normal((2_000, 64), np.float32)
    spread = chance.standard_normal((64, DIMENSION), np.float32) / 8
    near = centres[chance.integers(0, 2_000, points)]
    vectors = (near + 0.6 * chance.standard_normal((points, 64), np.float32)) @ spread
    return _unit(vectors + 0.3 * chance.standard_normal((points, DIMENSION), np.float32))


def _prepare(folder: Path, vectors: np.ndarray) -> None:
    """The points, questions about them, and the right answers."""
    chance = np.random.default_rng(8)
    chosen = vectors[chance.integers(0, len(vectors), QUESTIONS)]
    questions = _unit(chosen + 0.03 * chance.standard_normal(chosen.shape, np.float32))
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "questions.npy", questions)
    scores = questions @ vectors.T
    np.save(folder / "truth.npy", np.argsort(-scores, axis=1)[:, :LIMIT])
    scores[:, np.arange(len(vectors)) % 10 != 0] = -2
    np.save(folder / "filtered_truth.npy", np.argsort(-scores, axis=1)[:, :LIMIT])


def _measure(name: str, folder: Path) -> list[float]:
    place = folder / name.replace(" ", "_")
    # Built elsewhere, so that the memory of building is not counted.
    builder = os.fork()
    if not builder:
        CONTENDERS[name](place).build(np.load(folder / "vectors.npy"))
        os._exit(0)
    if os.waitpid(builder, 0)[1]:
        raise SystemExit(f"{name} could not be built")
    questions = np.load(folder / "questions.npy")
    _forget_cached(place)
    started = time.perf_counter()
    contender = _opened(name, folder)
    contender.ask(questions[0], LIMIT, False)
    opened = 1_000 * (time.perf_counter() - started)
    plain, found = _ask_all(contender, questions, False)
    filtered, found_filtered = _ask_all(contender, questions, True)
    memory = _resident_mb()
    written, writes = _ask_while_written(name, folder, contender, questions)
    return [
        *plain, *filtered, *written,
        _recall(found, np.load(folder / "truth.npy")),
        _recall(found_filtered, np.load(folder / "filtered_truth.npy")),
        memory, opened, writes,
    ]  # fmt: skip


def _opened(name: str, folder: Path, *, writable: bool = False):
    contender = CONTENDERS[name](folder / name.replace(" ", "_"))
    contender.open(writable=writable)
    return contender


def _ask_all(contender, questions: np.ndarray, is_filtered: bool) -> tuple[list[float], list]:
    for question in questions[:20]:
        contender.ask(question, LIMIT, is_filtered)
    times, found = [], []
    for question in questions:
        started = time.perf_counter()
        found.append(contender.ask(question, LIMIT, is_filtered))
        times.append(1_000 * (time.perf_counter() - started))
    return _spread(times), found


def _ask_while_written(name, folder, contender, questions) -> tuple[list[float], float]:
    times: list[float] = []
    if contender.writes_from_elsewhere:
        command = [sys.executable, "-m", "bench.vectors", "--write", name, str(folder)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        writer.stdout.readline()
        for _ in range(3):
            times += _times_of(contender, questions)
        writer.terminate()
        writes = len(writer.communicate()[0].split()) + 1
    else:
        count: list[int] = []
        ended = threading.Event()
        thread = threading.Thread(target=_write, args=(contender, ended, count))
        thread.start()
        for _ in range(3):
            times += _times_of(contender, questions)
        ended.set()
        thread.join()
        writes = len(count)
    return _spread(times), writes / (sum(times) / 1_000 + len(times) * BREATH)


def _spread(times: list[float]) -> list[float]:
    return [float(np.percentile(times, percent)) for percent in (0, 50, 99)]


def _times_of(contender, questions: np.ndarray) -> list[float]:
    times = []
    for question in questions:
        started = time.perf_counter()
        contender.ask(question, LIMIT, False)
        times.append(1_000 * (time.perf_counter() - started))
        time.sleep(BREATH)
    return times


def _write(contender, ended: threading.Event | None = None, count: list[int] | None = None) -> None:
    """Until `ended`, or until the process is; a line on stdout for each write."""
    vectors = mixture(20_000)
    ended = ended or threading.Event()
    number = 10_000_000
    while not ended.is_set():
        start = number % (len(vectors) - BATCH)
        contender.write(number, vectors[start : start + BATCH])
        number += BATCH
        if count is None:
            print("w", flush=True)
        else:
            count.append(number)
        ended.wait(PAUSE)


def _recall(found: list, truth: np.ndarray) -> float:
    right = sum(len(set(a) & set(b.tolist())) for a, b in zip(found, truth, strict=True))
    return right / truth.size


def _unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _forget_cached(folder: Path) -> None:
    """Ask the kernel to drop the folder's files from its cache, as after a restart."""
    os.sync()
    for path in folder.rglob("*"):
        if path.is_file():
            fd = os.open(path, os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


if __name__ == "__main__":
    main()
