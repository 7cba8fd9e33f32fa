"""How fast is a crawl, beside Scrapy, crawlee and wget2 on the same site in the same run?

    python -m bench.speed [--pages 5000] [--runs 3] [--docs] [--only scrapy,wget2] [--json FILE]
    python -m bench.speed --only crawl4r,before --before OTHER_CHECKOUT

Politeness is off and concurrency is 64 for everyone. CPU is that of the crawler's processes,
not the server's. Exit code 1: crawl4r lost or falsified a page, or asked for a denied one.
"""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import documentation, measure, site, table
from bench.contenders import BY_DEFAULT, CONTENDERS, CRAWL4R, Contender, before
from bench.manifest import Manifest, compare
from bench.peers.environment import cache
from bench.server import DOCUMENTATION, Server, serve
from bench.table import OURS, Run

Results = dict[str, list[Run]]  # by contender


@dataclass(frozen=True, slots=True)
class Subject:
    """A site to crawl."""

    name: str
    root: Path
    manifest: Manifest
    redirects: Path | None = None


def subjects(pages: int, with_documentation: bool) -> Iterator[Subject]:
    directory = site.cached(cache(), pages)
    manifest = Manifest.load(directory / "manifest.json")
    redirects = directory / "redirects.map"
    yield Subject(f"generated-{pages}", directory / "www", manifest, redirects)
    if not with_documentation:
        return
    for name, root in DOCUMENTATION.items():
        if root.is_dir():
            yield Subject(name, root, documentation.cached(cache(), name, root))
        else:
            print(f"{name}: {root} is not installed, left out", file=sys.stderr)


def race(subject: Subject, contenders: Sequence[Contender], runs: int) -> Results:
    """Alternate the contenders; each round begins with another of them."""
    results: Results = {contender.name: [] for contender in contenders}
    with serve(subject.root, subject.redirects) as server:
        _warm(subject.root)
        for number in range(runs):
            turn = number % len(contenders)
            for contender in (*contenders[turn:], *contenders[:turn]):
                run = _run(subject, contender, server)
                results[contender.name].append(run)
                print(
                    f"{subject.name} round {number + 1}/{runs} {contender.name}: "
                    f"{run.tally.stored} pages in {run.usage.wall:.2f} s, "
                    f"{run.cpu_ms:.3f} ms CPU a page",
                    file=sys.stderr,
                )
    return results


def _warm(root: Path) -> None:
    """Read every file once, so that the first contender does not pay for the disk."""
    for file in root.rglob("*.html"):
        file.read_bytes()


def _run(subject: Subject, contender: Contender, server: Server) -> Run:
    """One crawl into an empty directory, which is gone when its content has been checked."""
    with tempfile.TemporaryDirectory(prefix=f"run-{contender.name}-", dir=cache()) as name:
        directory = Path(name)
        command = contender.command(server.url + subject.manifest.start, directory)
        os.sync()  # the last one's unwritten pages are not this one's burden
        load = os.getloadavg()[0]
        log_size = server.log_size()
        usage = measure.run(command, cwd=directory)
        if usage.exit_code not in contender.fine_exit_codes:
            raise RuntimeError(
                f"{contender.name} ended with {usage.exit_code}: {usage.stderr[-2_000:]}"
            )
        requested = [access.uri for access in server.accesses(since=log_size)]
        return Run(
            usage=usage,
            tally=compare(subject.manifest, contender.stored(directory, subject.manifest)),
            requests=len(requested),
            denied=sum(uri in subject.manifest.denied for uri in requested),
            load=load,
        )


def _document(everything: dict[str, Results], contenders: Sequence[Contender]) -> dict[str, object]:
    """Every run in full, and what it ran on, for later comparison."""

    def plain(run: Run) -> dict[str, object]:
        return {
            "wall": run.usage.wall,
            "cpu": run.usage.cpu,
            "peak_rss": run.usage.peak_rss,
            "exit_code": run.usage.exit_code,
            **asdict(run.tally),
            "cpu_ms_a_page": run.cpu_ms,
            "requests": run.requests,
            "denied_requests": run.denied,
            "load": run.load,
        }

    return {
        "machine": {
            "cores": os.cpu_count(),
            "platform": platform.platform(),
            "python": platform.python_version(),
        },
        "versions": {contender.name: contender.version() for contender in contenders},
        "sites": {
            name: {contender: [plain(run) for run in runs] for contender, runs in results.items()}
            for name, results in everything.items()
        },
    }


def _is_ours_correct(results: Results) -> bool:
    return not any(
        run.tally.missing or run.tally.wrong or run.tally.extra or run.denied
        for run in results.get(OURS, [])
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--runs", type=int, default=3, help="crawls a contender (default 3)")
    parser.add_argument("--docs", action="store_true", help="also on Debian's documentation")
    parser.add_argument(
        "--only", default=",".join(BY_DEFAULT), help=f"some of {', '.join(CONTENDERS)}"
    )
    parser.add_argument("--json", type=Path, help="also write every run to this file")
    parser.add_argument("--before", type=Path, help="a checkout: adds before, before-documents")
    arguments = parser.parse_args()
    if arguments.before:
        CONTENDERS.update({one.name: one for one in before(arguments.before)})
    chosen = arguments.only.split(",")
    if unknown := set(chosen) - set(CONTENDERS):
        parser.error(f"no such contender: {', '.join(sorted(unknown))}")
    if "wget2" in chosen and shutil.which("wget2") is None:
        parser.error("wget2 is not installed: apt-get install wget2")
    if OURS in chosen and not CRAWL4R.exists():
        parser.error(f"{CRAWL4R} does not exist: make setup")
    return arguments


def main() -> int:
    arguments = _arguments()
    contenders = [CONTENDERS[name] for name in arguments.only.split(",")]
    everything: dict[str, Results] = {}
    for subject in subjects(arguments.pages, arguments.docs):
        results = everything[subject.name] = race(subject, contenders, arguments.runs)
        size = sum(page.bytes for page in subject.manifest.pages.values())
        count = len(subject.manifest.pages)
        print(f"\n{subject.name}: {count} pages of {size / count / 1000:.1f} KB")
        print(table.render(results), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(_document(everything, contenders), indent=1))
    return 0 if all(map(_is_ours_correct, everything.values())) else 1


if __name__ == "__main__":
    sys.exit(main())
