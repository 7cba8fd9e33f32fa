"""How fast are the logs of a crawl made again from its archive, and are they the same?

    python -m bench.replay [--pages 5000] [--runs 5] [--json FILE]

Crawls the generated site once with logs on (kept in the cache), then replays it again and again into an
empty folder, in turn with two yardsticks: the parser with the same bytes and nothing else, in one
process; and how fast the machine is beside the one on which the bar (2,000 pages a second) was set.
Wall time is that of the whole command, start included. Exit code 1: a file differs from the crawl's.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import measure, site
from bench.contenders import CONTENDERS, CRAWL4R
from bench.manifest import Manifest
from bench.measure import Spread
from bench.peers.environment import cache
from bench.server import serve
from bench.table import OURS
from bench.yardstick import SLICES, Yardstick

VERSION = 1  # part of the cache's name: raise it when the logs of the same crawl change
FILES = {
    "pages.csv": Path("logs", "pages.csv"),
    "edges.csv": Path("logs", "edges.csv"),
    "crawl_metadata.jsonl": Path("metadata", "crawl_metadata.jsonl"),
}
PYTHON = CRAWL4R.with_name("python")


@dataclass(frozen=True, slots=True)
class Replayed:
    wall: float  # seconds
    cpu: float  # seconds, of all its processes
    peak_rss: int
    yardstick: float  # seconds of CPU for parsing alone, right after it
    stolen: float  # share of the machine's time that went to others while it ran
    edges: int
    differing: tuple[str, ...]


def crawled(pages: int) -> Path:
    """A workspace with the site in it and the logs that its crawl wrote."""
    workspace = cache() / f"replay-v{VERSION}-{pages}"
    if not workspace.exists():
        unfinished = cache() / f"{workspace.name}.{os.getpid()}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        directory = site.cached(cache(), pages)
        with serve(directory / "www", directory / "redirects.map") as server:
            command = CONTENDERS[OURS].command(server.url + "/", unfinished)
            subprocess.run([*command, "--logs"], check=True, stdout=subprocess.DEVNULL)
        (unfinished / "workspace").rename(workspace)
        shutil.rmtree(unfinished)
    return workspace


def replay(workspace: Path) -> Replayed:
    with tempfile.TemporaryDirectory(prefix="replay-", dir=cache()) as name:
        out = Path(name)
        os.sync()
        command = [str(CRAWL4R), "replay", "--workspace", str(workspace), "--out", name, "--json"]
        usage = measure.run(command, cwd=out)
        if usage.exit_code:
            raise RuntimeError(f"replay ended with {usage.exit_code}: {usage.stderr[-2_000:]}")
        differing = [
            name
            for name, live in FILES.items()
            if (out / name).read_bytes() != (workspace / live).read_bytes()
        ]
        parsing = [str(PYTHON), "-m", "bench.replay", "--parse", str(workspace)]
        parsed = subprocess.run(parsing, check=True, capture_output=True, text=True)
        return Replayed(
            usage.wall,
            usage.cpu,
            usage.peak_rss,
            float(parsed.stdout),
            usage.stolen,
            json.loads(usage.stdout)["edges"],
            tuple(differing),
        )


def _parse(workspace: str) -> float:
    """CPU seconds of the parser for all HTML pages of a workspace; reading them is not counted."""
    import crawl4r  # noqa: PLC0415
    from crawl4r.formats.html import parse_html  # noqa: PLC0415
    from crawl4r.processes.malloc import keep_freed_memory  # noqa: PLC0415

    keep_freed_memory()
    seconds = 0.0
    with crawl4r.open(workspace, read_only=True) as opened:
        for capture in opened.captures.after(0):
            if capture.sha256 and capture.verdict == "ok" and capture.content_type == "text/html":
                body = opened.blobs.read(capture.sha256)
                started = time.process_time()
                parse_html(body)
                seconds += time.process_time() - started
    return seconds


def _show(runs: list[Replayed], pages: int, yardstick: Yardstick) -> None:
    cpu = Spread.of(1_000 * run.cpu / pages for run in runs)
    parsing = Spread.of(1_000 * run.yardstick / pages for run in runs)
    ratio = Spread.of(run.cpu / run.yardstick for run in runs)
    speed = Spread.of(pages / run.wall for run in runs)
    print(f"{pages:,} pages, {runs[0].edges:,} links, medians of {len(runs)} runs (least..most)")
    print(f"pages a second     {speed.median:9,.0f}  ({speed.least:,.0f}..{speed.greatest:,.0f})")
    print(f"at the bar's speed {speed.median * yardstick.pace:9,.0f}  ({yardstick})")
    print(f"CPU ms a page      {cpu.median:9.3f}  ({cpu.least:.3f}..{cpu.greatest:.3f})")
    print(
        f"parsing alone      {parsing.median:9.3f}  ({parsing.least:.3f}..{parsing.greatest:.3f})"
    )
    print(f"x parsing alone    {ratio.median:9.2f}  ({ratio.least:.2f}..{ratio.greatest:.2f})")
    print(f"stolen from us     {median(run.stolen for run in runs):9.1%}")
    print(f"peak RSS MB        {median(run.peak_rss for run in runs) / 1e6:9.0f}")
    for differing in sorted({name for run in runs for name in run.differing}):
        print(f"{differing} is not what the crawl wrote")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write every run to this file")
    parser.add_argument("--parse", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.parse:
        print(_parse(arguments.parse))
        return 0
    workspace = crawled(arguments.pages)
    manifest = Manifest.load(site.cached(cache(), arguments.pages) / "manifest.json")
    runs = []
    with Yardstick() as yardstick:
        for number in range(arguments.runs):
            runs.append(replay(workspace))
            yardstick.measure(SLICES)
            load = os.getloadavg()[0]
            print(
                f"run {number + 1}/{arguments.runs}: {runs[-1].wall:.2f} s, load {load:.1f}",
                file=sys.stderr,
            )
        _show(runs, len(manifest.pages), yardstick)
    if arguments.json:
        plain = [{name: getattr(run, name) for name in Replayed.__slots__} for run in runs]
        arguments.json.write_text(json.dumps(plain, indent=1))
    return 1 if any(run.differing for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
