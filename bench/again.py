"""What does a second scrape of an unchanged site cost, beside the first?

    python -m bench.again [--pages 2000] [--runs 3]

The discoverer fills a spool once a run; then `spool scrape` fetches everything, and `spool scrape
--refresh` asks for all of it again with its validators. Bars: only 304s for what has a validator, CPU
under a quarter of the first scrape's, no new bytes stored. Exit code 1 when one does not hold for the
command as it is; beside it, no bar, what is left of the gain where no documents are made.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from bench import measure, site
from bench.contenders import CRAWL4R
from bench.manifest import Manifest
from bench.measure import Spread
from bench.peers.environment import cache
from bench.server import serve

BAR = 0.25
OPTIONS = ["--rate", "0", "--per-host", "64", "--concurrency", "64", "--no-probe", "--json"]
VARIANTS = {"with documents": ["--extract"], "bytes and links alone": ["--no-extract"]}
DEFAULT = "with documents"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    directory = site.cached(cache(), arguments.pages)
    start = Manifest.load(directory / "manifest.json").start
    fine = True
    with serve(directory / "www", directory / "redirects.map") as server:
        for name, more in VARIANTS.items():
            rounds = [_round(server.url + start, more) for _ in range(arguments.runs)]
            fine &= _show(name, rounds) or name != DEFAULT
    return 0 if fine else 1


def _round(url: str, more: list[str]) -> tuple[dict, dict]:
    with tempfile.TemporaryDirectory(prefix="again-", dir=cache()) as folder:
        workspace = ["--workspace", folder, *OPTIONS, "--allow-private", "127.0.0.1", "--no-index"]
        _run(["spool", "discover", url, *workspace], folder)
        first = _run(["spool", "scrape", *workspace, *more], folder)
        return first, _run(["spool", "scrape", *workspace, *more, "--refresh"], folder)


def _run(arguments: list[str], folder: str) -> dict:
    os.sync()
    usage = measure.run([str(CRAWL4R), *arguments], cwd=Path(folder))
    if usage.exit_code:
        raise RuntimeError(f"ended with {usage.exit_code}: {usage.stderr[-2_000:]}")
    summary = json.loads(usage.stdout)
    return summary | {"cpu": usage.cpu, "wall": usage.wall}


def _show(name: str, rounds: list[tuple[dict, dict]]) -> bool:
    ratios = sorted(again["cpu"] / first["cpu"] for first, again in rounds)
    first, again = rounds[-1]
    visits = again["visits"]
    not_modified = again["verdicts"].get("not-modified", 0)
    new_bytes = max(again["stored_bytes"] - first["stored_bytes"] for first, again in rounds)
    print(f"{name}: {first['pages']} pages kept, {len(rounds)} runs")
    print(f"  first scrape  {_cpu([first for first, _ in rounds])}")
    print(f"  second scrape {_cpu([again for _, again in rounds])}")
    print(f"  {not_modified} of {visits} answers were 304: {again['verdicts']}")
    print(f"  new bytes stored: {new_bytes}")
    middle = ratios[len(ratios) // 2]
    spread = f"{middle:.3f} ({ratios[0]:.3f}..{ratios[-1]:.3f})"
    bar = f", bar {BAR}" if name == DEFAULT else ""
    print(f"  CPU of the second as a part of the first: {spread}{bar}")
    return middle < BAR and new_bytes == 0


def _cpu(runs: list[dict]) -> str:
    spread = Spread.of([run["cpu"] / run["visits"] * 1000 for run in runs])
    figures = f"{spread.median:.3f} ({spread.least:.3f}..{spread.greatest:.3f})"
    return f"{figures} ms CPU a visit, {sorted(run['wall'] for run in runs)[len(runs) // 2]:.2f} s"


if __name__ == "__main__":
    sys.exit(main())
