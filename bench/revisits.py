"""How many changes of a site does a fifth of the requests find?

    python -m bench.revisits [--pages 5000] [--budget 20%] [--learning 3] [--rounds 5]

A tenth of the pages changes in every round or in every other one, the others in one of 500. crawl4r
visits all of them once, then again in each learning round; after that `--refresh --budget`. Beside what
it finds stands what as many requests would have found at random, and oldest first. Bar: 95 % of the
changes in every round. Exit code 1 when one is missed, or when the budget is not kept to the page.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

from bench import measure
from bench.contenders import CRAWL4R
from bench.peers.environment import cache

BAR = 0.95
LIVELY = 10  # one page in so many
SELDOM = 500  # of the others, one in so many a round
BRANCHES = 10
OPTIONS = ["--rate", "0", "--per-host", "16", "--concurrency", "16", "--allow-private", "127.0.0.1"]
OPTIONS += ["--no-extract", "--no-index", "--no-probe", "--no-explore", "--json"]
SENTENCE = "The harbour keeper counts the boats that come home before the evening tide. "


class Site:
    """Pages in a tree, each with a version that its ETag names. It remembers who was asked for."""

    def __init__(self, pages: int) -> None:
        self.pages = pages
        self.versions = [0] * pages
        self.asked: Counter[int] = Counter()
        self.round = 0
        self._chance = random.Random("a changing site")
        chosen = self._chance.sample(range(pages), pages // LIVELY)
        # None: in every round, otherwise in even or in odd ones.
        self._lively = {page: self._chance.choice((None, None, 0, 1)) for page in chosen}

    def advance(self) -> set[int]:
        """Begin the next round; the pages that are different in it."""
        self.round += 1
        self.asked.clear()
        changed = {p for p, when in self._lively.items() if when in (None, self.round % 2)}
        others = (page for page in range(self.pages) if page not in self._lively)
        changed |= {page for page in others if self._chance.random() < 1 / SELDOM}
        for page in changed:
            self.versions[page] = self.round
        return changed

    def answer(self, path: str, known: str) -> tuple[str, str, bytes]:
        """Status, headers and body."""
        name = path.removeprefix("/")
        if name and not (name.isdecimal() and int(name) < self.pages):
            return "404 Not Found", "", b""
        page = int(name or 0)
        self.asked[page] += 1
        etag = f'"{page}-{self.versions[page]}"'
        if known == etag:
            return "304 Not Modified", f"ETag: {etag}\r\n", b""
        children = range(BRANCHES * page + 1, min(BRANCHES * (page + 1) + 1, self.pages))
        links = "".join(f"<a href=/{child}>page {child}</a> " for child in children)
        text = f"<p>Version {self.versions[page]} of page {page}.</p><p>{SENTENCE * 20}</p>"
        html = f"<!DOCTYPE html><title>Page {page}</title><h1>Page {page}</h1>{text}{links}"
        return "200 OK", f"ETag: {etag}\r\nContent-Type: text/html\r\n", html.encode()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _head(reader):
            first, *lines = head.split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
            known = headers.get("if-none-match", "")
            status, more, body = self.answer(first.split(" ")[1], known)
            length = f"Content-Length: {len(body)}\r\n" if not status.startswith("304") else ""
            writer.write(f"HTTP/1.1 {status}\r\n{more}{length}\r\n".encode() + body)
            await writer.drain()
        writer.close()


async def _head(reader: asyncio.StreamReader) -> str:
    try:
        return (await reader.readuntil(b"\r\n\r\n")).decode()
    except (asyncio.IncompleteReadError, ConnectionError):
        return ""


def serve(site: Site) -> int:
    """Serve in a thread that ends with us; the port."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(site.talk, "127.0.0.1", 0))
    threading.Thread(target=loop.run_forever, daemon=True).start()
    port: int = server.sockets[0].getsockname()[1]
    return port


class OldestFirst:
    """What would be found by always asking for what was not asked for longest."""

    def __init__(self, pages: int) -> None:
        self._queue = list(range(pages))

    def take(self, count: int) -> set[int]:
        taken, rest = self._queue[:count], self._queue[count:]
        self._queue = rest + taken
        return set(taken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--budget", default="20%")
    parser.add_argument("--learning", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    site = Site(arguments.pages)
    url = f"http://127.0.0.1:{serve(site)}/"
    with tempfile.TemporaryDirectory(prefix="revisits-", dir=cache()) as folder:
        summary = crawl(folder, url)
        print(f"first crawl: {summary['pages']} pages, {summary['cpu']:.1f} s CPU")
        for _ in range(arguments.learning):
            changed = site.advance()
            summary = crawl(folder, "--refresh")
            print(f"learning: {len(changed)} changes, {summary['visits']} requests")
        return judge(site, folder, arguments.budget, arguments.rounds)


def judge(site: Site, folder: str, budget: str, rounds: int) -> int:
    """Rounds with a budget, a line each; the exit code."""
    chance, oldest = random.Random("any pages"), OldestFirst(site.pages)
    most = int(budget) if "%" not in budget else int(site.pages * float(budget[:-1]) / 100)
    stale: set[int] = set()
    fine = True
    print("round  changes   found  requests  at random  oldest first  out of date after it")
    for _ in range(rounds):
        changed = site.advance()
        crawl(folder, "--refresh", "--budget", budget)
        asked = set(site.asked)
        requests = site.asked.total()
        share = len(changed & asked) / len(changed)
        stale = (stale | changed) - asked
        others = [set(chance.sample(range(site.pages), requests)), oldest.take(requests)]
        at_random, by_age = (len(changed & other) / len(changed) for other in others)
        print(
            f"{site.round:>5}  {len(changed):>7}  {share:>6.1%}  {requests:>8}"
            f"  {at_random:>9.1%}  {by_age:>12.1%}  {len(stale):>20}"
        )
        fine &= share >= BAR and requests == len(asked) == most
    print(f"bar: {BAR:.0%} in every round with {most} requests: {'met' if fine else 'MISSED'}")
    return 0 if fine else 1


def crawl(folder: str, *arguments: str) -> dict:
    usage = measure.run(
        [str(CRAWL4R), "crawl", *arguments, "--workspace", folder, *OPTIONS], cwd=Path(folder)
    )
    if usage.exit_code:
        raise RuntimeError(f"ended with {usage.exit_code}: {usage.stderr[-2_000:]}")
    return json.loads(usage.stdout) | {"cpu": usage.cpu}


if __name__ == "__main__":
    sys.exit(main())
