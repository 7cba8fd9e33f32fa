"""Does it stay small and quick as the frontier grows?

    python -m bench.growth [--small 10000] [--large 1000000] [--hosts 10000]

Fills a workspace with that many pending URLs, starts `crawl4r crawl` on it against an nginx on
loopback, and prints when the first request came and the peak RSS. Then crawls one page of each of
`--hosts` hosts, names that resolve to loopback, each asked at most once a second.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from bench.measure import run
from bench.server import Server, serve

RUN_SECONDS = 5
EXECUTABLE = Path(sys.executable).with_name("crawl4r")
SPEED = (
    "--rate", "0", "--per-host", "64", "--concurrency", "64", "--allow-private", "127.0.0.1",
    "--no-extract",
)  # fmt: skip


def main() -> None:
    # Every URL shows the same page, which is a trap if anything is.
    os.environ["CRAWL4R_LIMITS__TRAPS__ENABLED"] = "false"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--crawl-hosts", nargs=2, metavar=("N", "URL"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.crawl_hosts:
        count, url = options.crawl_hosts
        print(json.dumps(asyncio.run(_crawl_hosts(int(count), url))))
        return
    with tempfile.TemporaryDirectory(prefix="crawl4r-growth-") as folder:
        www = Path(folder) / "www"
        www.mkdir()
        (www / "index.html").write_text("<!doctype html><title>a page</title><p>of a host")
        with serve(www) as server:
            for count in (options.small, options.large):
                _restart(Path(folder) / str(count), count, server)
            _many_hosts(options.hosts, server, Path(folder))


def _restart(workspace: Path, count: int, server: Server) -> None:
    """Go on with a crawl that knows `count` URLs, for a few seconds."""
    asyncio.run(_fill(workspace, count, server.url))
    since, started = server.log_size(), time.time()
    command = [str(EXECUTABLE), "crawl", "-w", str(workspace), "--json", *SPEED]
    usage = run([*command, "--max-seconds", str(RUN_SECONDS)], cwd=workspace)
    times = [access.time for access in server.accesses(since)]
    print(
        f"{count:>9,} URLs: first request after {times[0] - started:.2f} s, "
        f"{len(times) / RUN_SECONDS:,.0f} requests a second, RSS {usage.peak_rss / 1e6:.1f} MB"
    )


async def _fill(workspace: Path, count: int, url: str) -> None:
    """Make URLs known as a crawl would: through the frontier, in commits of a thousand."""
    from crawl4r.frontier.priority import breadth_first  # noqa: PLC0415
    from crawl4r.frontier.sqlite import SqliteFrontier  # noqa: PLC0415
    from crawl4r.model import Found  # noqa: PLC0415
    from crawl4r.settings.load import load_settings, overrides_of  # noqa: PLC0415
    from crawl4r.workspace.workspace import Workspace  # noqa: PLC0415

    settings = load_settings(overrides=overrides_of(allow_private=["127.0.0.1"], max_seconds=0.01))
    async with Workspace(workspace, settings) as opened:
        await opened.crawl(url + "/").finish()
        frontier = SqliteFrontier(opened.database, opened.parts.last_crawl(), breadth_first)
        for start in range(0, count, 1000):
            frontier.add(
                (
                    Found(
                        f"{url}/section-{n % 997}/page-{n}.html", "127.0.0.1", 1, "link", True, ""
                    )
                    for n in range(start, min(start + 1000, count))
                ),
                None,
                time.time(),
            )
            opened.database.commit()


def _many_hosts(count: int, server: Server, folder: Path) -> None:
    command = [sys.executable, "-m", "bench.growth", "--crawl-hosts", str(count), server.url]
    usage = run(command, cwd=Path.cwd())
    result = json.loads(usage.stdout)
    print(
        f"{count:>9,} hosts: {result['pages']:,} pages in {result['seconds']:.1f} s, "
        f"{usage.cpu / count * 1000:.2f} ms CPU a host (robots.txt and a page), "
        f"RSS {usage.peak_rss / 1e6:.1f} MB"
    )


async def _crawl_hosts(count: int, url: str) -> dict[str, float]:
    from crawl4r.settings.load import load_settings, overrides_of  # noqa: PLC0415
    from crawl4r.workspace.workspace import Workspace  # noqa: PLC0415

    port = url.rpartition(":")[2]
    names = [f"host-{n}.example" for n in range(count)]
    options = {
        "extract": False,
        "allow_private": ["127.0.0.1"],
        "resolve": dict.fromkeys(names, "127.0.0.1"),
        "concurrency": 64,
        "contact": "https://example.org/",
    }
    settings = load_settings(environment={}, overrides=overrides_of(**options))
    with tempfile.TemporaryDirectory(prefix="crawl4r-hosts-") as folder:
        async with Workspace(Path(folder), settings) as workspace:
            started = time.monotonic()
            crawling = workspace.crawl(*(f"http://{name}:{port}/" for name in names))
            await crawling.finish()
            seconds = time.monotonic() - started
            return {"pages": crawling.crawl.keeper.pages, "seconds": seconds}


if __name__ == "__main__":
    main()
