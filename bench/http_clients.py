"""Which HTTP client costs least in the real loop? pycurl against aiohttp, same crawl, alternating.

    python -m bench.http_clients [--pages 2000] [--runs 3] [--uvloop]

Needs aiohttp (and uvloop) beside crawl4r: `.venv/bin/pip install aiohttp uvloop`. The result is
recorded in docs/decisions/0001-http-client.md.
"""

import argparse
import asyncio
import json
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import site
from bench.peers.environment import cache
from bench.server import serve

CLIENTS = ("pycurl", "aiohttp")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--uvloop", action="store_true")
    parser.add_argument("--one", nargs=2, metavar=("CLIENT", "URL"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(crawl_with(*options.one, uvloop=options.uvloop)))
        return
    figures: dict[str, list[float]] = {client: [] for client in CLIENTS}
    directory = site.cached(cache(), options.pages)
    with serve(directory / "www", directory / "redirects.map") as server:
        for _ in range(options.runs):
            for client in CLIENTS:
                figures[client].append(measured(client, server.url + "/", uvloop=options.uvloop))
    base = statistics.median(figures["pycurl"])
    for client, values in figures.items():
        median = statistics.median(values)
        spread = f"({min(values):.3f}..{max(values):.3f})"
        print(f"{client:8} {median:.3f} ms CPU a page {spread}, x{median / base:.2f}")


def measured(client: str, url: str, *, uvloop: bool) -> float:
    """Milliseconds of CPU a page, in a process of its own."""
    command = [sys.executable, "-m", "bench.http_clients", "--one", client, url]
    output = subprocess.run(
        command + ["--uvloop"] * uvloop, check=True, capture_output=True, text=True
    )
    return float(json.loads(output.stdout)["cpu_ms"])


def crawl_with(client: str, url: str, *, uvloop: bool) -> dict[str, float]:
    if uvloop:
        import uvloop as loops  # noqa: PLC0415

        return loops.run(_crawl(client, url))
    return asyncio.run(_crawl(client, url))


async def _crawl(client: str, url: str) -> dict[str, float]:
    from crawl4r.settings.load import load_settings, overrides_of  # noqa: PLC0415
    from crawl4r.workspace.workspace import Workspace  # noqa: PLC0415

    options = {"allow_private": ["127.0.0.1"], "rate": 0, "per_host": 64, "concurrency": 64}
    options["extract"] = False
    settings = load_settings(environment={}, overrides=overrides_of(**options))
    factory = AiohttpTransport if client == "aiohttp" else None
    with tempfile.TemporaryDirectory() as folder:
        async with Workspace(Path(folder), settings, make_transport=factory) as workspace:
            before = resource.getrusage(resource.RUSAGE_SELF)
            run = workspace.crawl(url)
            await run.finish()
            after = resource.getrusage(resource.RUSAGE_SELF)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            return {"cpu_ms": spent / run.crawl.progress.visits * 1000}


class AiohttpTransport:
    """The other candidate, with the same duties: gate, no redirects, caps, our own decoding."""

    def __init__(self, settings: Any, gate: Any) -> None:
        import aiohttp  # noqa: PLC0415

        self._limits = settings.fetch.limits()
        self._gate = gate
        connector = aiohttp.TCPConnector(limit=0, socket_factory=self._open_socket)
        self._session = aiohttp.ClientSession(
            connector=connector, auto_decompress=False, cookie_jar=aiohttp.CookieJar(unsafe=True)
        )

    def _open_socket(self, info: Any) -> socket.socket:
        family, kind, protocol, _, address = info
        if self._gate.refusal(address[0], address[1]):
            raise OSError("refused by the egress gate")
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)
        return made

    async def fetch(self, request: Any) -> Any:
        from crawl4r.formats.content_coding import remove_codings  # noqa: PLC0415
        from crawl4r.model import Response  # noqa: PLC0415

        headers = dict(line.split(": ", 1) for line in request.headers)
        started = time.monotonic()
        async with self._session.get(request.url, headers=headers, allow_redirects=False) as answer:
            body = await answer.content.read()
        seen = [(name.lower(), value) for name, value in answer.headers.items()]
        codings = answer.headers.get("content-encoding")
        body = remove_codings(body, codings, self._limits.max_decoded_bytes)
        latency = time.monotonic() - started
        return Response(request.url, answer.status, seen, body, started, latency, len(body))

    async def close(self) -> None:
        await self._session.close()


if __name__ == "__main__":
    main()
