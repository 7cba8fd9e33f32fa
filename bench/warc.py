"""What does a capture cost on its way out of a workspace, and into another one?

    .venv/bin/python -m bench.warc [--pages 2000] [--runs 3]

Crawls a generated site, exports it in every packing and as a package, imports each again, and prints
CPU a capture beside what `warcio index` and `cdxj-indexer` take to index the same file. Making
documents is no part of it.
"""

import argparse
import io
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.contenders import CONTENDERS
from bench.measure import Spread
from bench.peers.environment import cache
from bench.server import serve
from bench.site import cached
from bench.table import OURS

FACTS = {"software": "crawl4r/bench"}
OUTS = ["site.warc.gz", "site.warc.zst", "site.warc", "site.wacz"]
ONE_GIB = 1024**3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    site = cached(cache(), options.pages)
    with tempfile.TemporaryDirectory(prefix="crawl4r-warc-") as name:
        folder = Path(name)
        with serve(site / "www", site / "redirects.map") as server:
            command = CONTENDERS[OURS].command(server.url + "/", folder)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        _measure(folder, options.runs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of all of it: {peak:.0f} MB")


def _measure(folder: Path, runs: int) -> None:
    rows: list[tuple[str, Sequence[float], str]] = []
    for out in (folder / name for name in OUTS):
        exports = [_timed(lambda out=out: _export(folder / "workspace", out)) for _ in range(runs)]
        captures, size = exports[0][1].captures, out.stat().st_size / 1e6
        rows.append((f"export {out.name}", [cpu for cpu, _ in exports], f"{size:.1f} MB"))
        imports = []
        for number in range(runs):
            target = folder / f"{out.name}-{number}"
            cpu, counts = _timed(lambda out=out, target=target: _import(out, target))
            assert (counts.added, counts.broken) == (captures, 0), counts
            imports.append(cpu)
        rows.append((f"import {out.name}", imports, ""))
    rows += _yardsticks(folder / OUTS[0], runs)
    yard = Spread.of(rows[-2][1]).median
    print(f"{captures:,} captures; CPU ms a capture, median of {runs} runs (least..greatest)")
    for what, seconds, note in rows:
        cost = Spread.of(1000 * second / captures for second in seconds)
        ratio = cost.median * captures / 1000 / yard
        spread = f"({cost.least:.3f}..{cost.greatest:.3f})"
        print(f"  {what:32} {cost.median:7.3f} {spread:18} x{ratio:5.2f}  {note}")


def _export(workspace: Path, out: Path) -> Any:
    import crawl4r  # noqa: PLC0415 - the rest of bench goes without
    from crawl4r.archive.documents import Documents  # noqa: PLC0415
    from crawl4r.archive.requests import Requests  # noqa: PLC0415
    from crawl4r.archive.warc.writer import Packing  # noqa: PLC0415
    from crawl4r.transfer.export_warc import (  # noqa: PLC0415
        Archive,
        Selection,
        export_wacz,
        export_warc,
    )

    with crawl4r.open(workspace, read_only=True) as opened:
        database = opened.database
        archive = Archive(opened.captures, opened.blobs, Requests(database), Documents(database))
        every, silent = Selection(), _ignore
        if out.suffix == ".wacz":
            return export_wacz(archive, out, "site", ONE_GIB, FACTS, every, silent)
        return export_warc(archive, out, "site", Packing.GZIP, ONE_GIB, FACTS, every, silent)


def _import(file: Path, workspace: Path) -> Any:
    import crawl4r  # noqa: PLC0415

    with crawl4r.open(workspace) as opened:
        return opened.import_file(file, with_documents=False)


def _yardsticks(file: Path, runs: int) -> list[tuple[str, Sequence[float], str]]:
    from cdxj_indexer.main import CDXJIndexer  # noqa: PLC0415
    from warcio.indexer import Indexer  # noqa: PLC0415

    fields = ["offset", "length", "warc-type", "warc-target-uri", "http:status"]

    def index() -> None:
        Indexer(fields, [str(file)], io.StringIO()).process_all()

    def index_for_replay() -> None:
        CDXJIndexer(io.StringIO(), str(file), sort=True).process_all()

    return [
        ("warcio index", [_timed(index)[0] for _ in range(runs)], "of site.warc.gz"),
        ("cdxj-indexer", [_timed(index_for_replay)[0] for _ in range(runs)], "of site.warc.gz"),
    ]


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of this process, and what came of it."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def _ignore(done: int) -> None:
    pass


if __name__ == "__main__":
    sys.exit(main())
