"""python -m tests.site: serve until stdin closes.

Prints `{"port": N}` once it listens. Every line on stdin is answered by one line on stdout, so a
test can wait until the log holds all that was answered before. A line may be empty, or a command to
the gate (see gate.py).
"""

import argparse
import asyncio
import ipaddress
import json
import sys
from pathlib import Path

from tests.site.access_log import AccessLog
from tests.site.robots import RobotsAnswers
from tests.site.routes import build_routes
from tests.site.server import Site, listen_on_one_port


def main() -> None:
    options = _parse_options()
    listeners = listen_on_one_port(options.hosts, options.port)
    log = AccessLog(options.log)
    robots = RobotsAnswers(dict(options.robots), dict(options.robots_file))
    site = Site(build_routes(robots), log)
    _print_line({"port": listeners[0].getsockname()[1]})
    try:
        asyncio.run(site.serve(listeners, until=_answer_stdin(site, log)))
    finally:
        log.close()


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.site")
    parser.add_argument("--hosts", type=_loopback_addresses, default=["127.0.0.1"])
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--log", type=Path, required=True, help="JSONL access log, appended to")
    parser.add_argument("--robots", type=_host_and_spec, action="append", default=[])
    parser.add_argument("--robots-file", type=_host_and_file, action="append", default=[])
    return parser.parse_args()


def _loopback_addresses(text: str) -> list[str]:
    """This site must never be reachable from another machine."""
    hosts = text.split(",")
    if not all(ipaddress.ip_address(host).is_loopback for host in hosts):
        raise argparse.ArgumentTypeError(f"not all loopback addresses: {text}")
    return hosts


def _host_and_spec(text: str) -> tuple[str, str]:
    host, equals, spec = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected HOST=SPEC: {text}")
    return host, spec


def _host_and_file(text: str) -> tuple[str, Path]:
    host, path = _host_and_spec(text)
    return host, Path(path)


async def _answer_stdin(site: Site, log: AccessLog) -> None:
    """Returns when stdin closes, so that the site cannot outlive the test run."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        site.gates.obey(line.decode())
        in_flight, held = site.in_flight.counts(), site.gates.held()
        _print_line({"logged": log.count, "in_flight": in_flight, "held": held})


def _print_line(fields: dict[str, object]) -> None:
    print(json.dumps(fields), flush=True)


if __name__ == "__main__":
    main()
