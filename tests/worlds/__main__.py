"""python -m tests.worlds News '{"articles": 300}' --log FILE: serve until stdin closes.

Prints `{"port": N}` once it listens. Every line on stdin is answered by one line on stdout: an empty
one waits until the log holds all that was answered before, a JSON object is told to the world.
"""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import json
import sys
from collections.abc import Callable
from pathlib import Path

from tests.site.access_log import AccessLog
from tests.site.server import Site, listen_on_one_port
from tests.worlds.answer import Parameters, World, routes_of
from tests.worlds.changing import Changing
from tests.worlds.news import News
from tests.worlds.traps import Traps

WORLDS: dict[str, Callable[..., Parameters]] = {
    "News": News,
    "Traps": Traps,
    "Changing": Changing,
}


def main() -> None:
    options = _parse_options()
    world = WORLDS[options.world](**json.loads(options.parameters)).world()
    listeners = listen_on_one_port(options.hosts, options.port)
    log = AccessLog(options.log)
    site = Site(routes_of(world), log)
    _print_line({"port": listeners[0].getsockname()[1]})
    try:
        asyncio.run(site.serve(listeners, until=_answer_stdin(world, site, log)))
    finally:
        log.close()


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.worlds")
    parser.add_argument("world", choices=[*WORLDS])
    parser.add_argument("parameters", help="JSON object")
    parser.add_argument("--hosts", type=_loopback_addresses, default=["127.0.0.1"])
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--log", type=Path, required=True, help="JSONL access log, appended to")
    return parser.parse_args()


def _loopback_addresses(text: str) -> list[str]:
    hosts = text.split(",")
    if not all(ipaddress.ip_address(host).is_loopback for host in hosts):
        raise argparse.ArgumentTypeError(f"not all loopback addresses: {text}")
    return hosts


async def _answer_stdin(world: World, site: Site, log: AccessLog) -> None:
    """Returns when stdin closes, so that the world cannot outlive the test run."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        if line.strip():
            world.hear(json.loads(line))
        _print_line({"logged": log.count, "in_flight": site.in_flight.counts()})


def _print_line(fields: dict[str, object]) -> None:
    print(json.dumps(fields), flush=True)


if __name__ == "__main__":
    main()
