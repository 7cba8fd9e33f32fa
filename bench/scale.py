"""Does a page cost the same on a site twenty times as large?

    python -m bench.scale [--small 5000] [--large 100000] [--runs 2] [--documents]

Alternates crawls of both generated sites and compares CPU a page. The large site takes about 5 GB
and some minutes to write the first time. With documents, 100,000 pages take half an hour.
"""

import argparse
import sys

from bench.contenders import CONTENDERS
from bench.measure import Spread
from bench.speed import Subject, race, subjects
from bench.table import OURS, Run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", type=int, default=5_000, help="pages")
    parser.add_argument("--large", type=int, default=100_000, help="pages")
    parser.add_argument("--runs", type=int, default=2, help="crawls of each (default 2)")
    parser.add_argument("--documents", action="store_true", help="make text of the pages too")
    options = parser.parse_args()
    contender = "crawl4r-documents" if options.documents else OURS
    sites = [next(iter(subjects(pages, False))) for pages in (options.small, options.large)]
    runs: dict[str, list[Run]] = {subject.name: [] for subject in sites}
    for _ in range(options.runs):
        for subject in sites:
            runs[subject.name] += _crawl_once(subject, contender)
    for name, results in runs.items():
        cost = Spread.of(run.cpu_ms for run in results)
        memory = max(run.usage.peak_rss for run in results) / 1e6
        print(
            f"{name:18} {cost.median:.3f} ms CPU a page ({cost.least:.3f}..{cost.greatest:.3f}), "
            f"{memory:.0f} MB, {sum(run.tally.missing for run in results)} pages missing"
        )
    small, large = runs.values()
    ratio = Spread.of(b.cpu_ms / a.cpu_ms for a, b in zip(small, large, strict=True))
    print(f"large / small: x{ratio.median:.3f} ({ratio.least:.3f}..{ratio.greatest:.3f})")


def _crawl_once(subject: Subject, contender: str) -> list[Run]:
    return race(subject, [CONTENDERS[contender]], 1)[contender]


if __name__ == "__main__":
    sys.exit(main())
