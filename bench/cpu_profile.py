"""Where does each tenth of a millisecond of a crawl go?

    python -m bench.cpu_profile [--pages 5000 | --docs NAME] [--lines | --inclusive]

The kernel interrupts the crawl after every millisecond of CPU, and the line of ours that was at work
is charged, with the library that it had called. Start-up is charged to `import`. `--lines` shows the
dearest lines instead of the functions, `--inclusive` charges a function with all that it called.
`--docs python-docs` crawls Debian's documentation instead of the generated site. What other processes
of the crawl use is not in the rows.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType

from bench import documentation, site
from bench.contenders import CONTENDERS, CRAWL4R
from bench.manifest import Manifest
from bench.peers.environment import cache
from bench.server import DOCUMENTATION, serve
from bench.table import OURS

EVERY = 0.001  # seconds of CPU
LEAST = 0.005  # milliseconds a page that are worth a row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--docs", choices=DOCUMENTATION)
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--lines", action="store_true")
    shown.add_argument("--inclusive", action="store_true")
    parser.add_argument("--inside", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return _crawl_sampled(*options.inside)
    if options.docs:
        root, redirects = DOCUMENTATION[options.docs], None
        manifest = documentation.cached(cache(), options.docs, root)
    else:
        directory = site.cached(cache(), options.pages)
        root, redirects = directory / "www", directory / "redirects.map"
        manifest = Manifest.load(directory / "manifest.json")
    with (
        serve(root, redirects) as server,
        tempfile.TemporaryDirectory(dir=cache()) as folder,
    ):
        _, *arguments = CONTENDERS[OURS].command(server.url + manifest.start, Path(folder))
        output = Path(folder) / "samples.json"
        python = CRAWL4R.parent / "python"
        command = [python, "-m", "bench.cpu_profile", "--inside", output, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        samples = json.loads(output.read_text())
    rows, cpu, pages = samples["rows"], samples["cpu"], len(manifest.pages)
    total = sum(count for *_, count in rows)
    print(f"{cpu:.2f} s CPU, {1_000 * cpu / pages:.3f} ms a page, {total} samples")
    unit = 1_000 * cpu / total / pages  # milliseconds a page that one sample stands for
    _show(samples["inclusive"] if options.inclusive else _placed(rows, options.lines), total, unit)
    return None


def _placed(rows: list[list], by_line: bool) -> dict[str, int]:
    charged: Counter[str] = Counter()
    for file, function, line, library, count in rows:
        place = f"{file}:{line} {function}" if by_line else f"{file} {function}"
        charged[f"{place} > {library}" if library else place] += count
    return charged


def _show(charged: dict[str, int], total: int, unit: float) -> None:
    for place, count in Counter(charged).most_common():
        if count * unit >= LEAST:
            print(f"{count * unit:7.3f} ms  {count / total:6.1%}  {place}")


def _ours_among(frame: FrameType | None) -> set[str]:
    """The functions of ours that are at work, from the innermost to the first."""
    found = set()
    while frame is not None:
        _, is_ours, file = frame.f_code.co_filename.rpartition("/crawl4r/")
        if is_ours:
            found.add(f"{file} {frame.f_code.co_name}")
        frame = frame.f_back
    return found


def _crawl_sampled(output: str, *arguments: str) -> None:
    """In the crawl's own process: run the command with the timer on, and write what it hit."""
    import resource  # noqa: PLC0415

    hits: Counter[tuple[str, str, int, str]] = Counter()
    inclusive: Counter[str] = Counter()

    def charge(_: int, frame: FrameType | None) -> None:
        inclusive.update(_ours_among(frame))
        library = ""
        innermost = frame
        while frame is not None:
            path = frame.f_code.co_filename
            if "/crawl4r/" in path or frame.f_back is None:
                if frame is not innermost and innermost is not None:
                    library = Path(innermost.f_code.co_filename).parts[-1]
                hits[
                    path.rpartition("/crawl4r/")[2], frame.f_code.co_name, frame.f_lineno, library
                ] += 1
                return
            if "importlib" in path:
                hits["import", "", 0, ""] += 1
                return
            frame = frame.f_back

    signal.signal(signal.SIGPROF, charge)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    sys.argv = ["crawl4r", *arguments]
    try:
        from crawl4r.interfaces.cli.main import main as crawl4r  # noqa: PLC0415

        crawl4r()
    except SystemExit:
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        used = resource.getrusage(resource.RUSAGE_SELF)
        document = {
            "cpu": used.ru_utime + used.ru_stime,
            "rows": [[*place, count] for place, count in hits.items()],
            "inclusive": inclusive,
        }
        Path(output).write_text(json.dumps(document))


if __name__ == "__main__":
    main()
