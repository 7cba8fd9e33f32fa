"""python -m tests.hostile.rebound: crawls names whose addresses change, in a network of its own.

Started by test_rebinding.py inside new network and mount namespaces, so that nothing it says leaves
the machine: `PUBLIC` is an address of the loopback device here, the name server is ours, and
/etc/resolv.conf is a bind mount that only this process sees. Prints one JSON object.
"""

import contextlib
import json
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

from tests.hostile.canary import ADDRESS as PRIVATE
from tests.hostile.canary import Canary
from tests.hostile.crawling import crawl, quick_settings

PUBLIC = "93.184.216.34"
OTHER_PUBLIC = "93.184.216.35"  # no server listens there
PORT, OTHER_PORT = 80, 8080
NAME_SERVER = "127.0.0.53"
_A, _IN = 1, 1

# What each name resolves to, a list for each look-up; the last one for all that follow.
ANSWERS = {
    "changes.test": [[PUBLIC], [PRIVATE]],
    "both.test": [[OTHER_PUBLIC, PRIVATE]],
    "both-ways.test": [[PRIVATE, PUBLIC]],
    "private.test": [[PRIVATE]],
}
SEEDS = [
    "http://changes.test/",
    "http://changes.test:8080/",  # another port is another look-up
    "http://both.test/",
    "http://both-ways.test/",
    "http://private.test/",
]


class NameServer:
    """Answers A queries from ANSWERS over UDP, and says that there is nothing else."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((NAME_SERVER, 53))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            query, client = self._socket.recvfrom(4096)
            self._socket.sendto(self._answer(query), client)

    def _answer(self, query: bytes) -> bytes:
        name, end = _read_name(query)
        (kind,) = struct.unpack("!H", query[end : end + 2])
        addresses = self._addresses(name) if kind == _A else []
        flags = 0x8580  # an authoritative answer
        head = query[:2] + struct.pack("!HHHHH", flags, 1, len(addresses), 0, 0)
        records = b"".join(
            # A pointer to the question's name, time to live 0.
            struct.pack("!HHHIH", 0xC00C, _A, _IN, 0, 4) + socket.inet_aton(address)
            for address in addresses
        )
        return head + query[12 : end + 4] + records

    def _addresses(self, name: str) -> list[str]:
        answers = ANSWERS.get(name, [[]])
        number = min(self.asked[name], len(answers) - 1)
        self.asked[name] += 1
        return answers[number]


def _read_name(query: bytes) -> tuple[str, int]:
    """The name in the question, and where its type begins."""
    labels, position = [], 12
    while length := query[position]:
        labels.append(query[position + 1 : position + 1 + length].decode())
        position += 1 + length
    return ".".join(labels).lower(), position + 1


def build_the_network(folder: Path) -> None:
    for command in (
        "ip link set lo up",
        f"ip address add {PUBLIC}/32 dev lo",
        f"ip address add {OTHER_PUBLIC}/32 dev lo",
    ):
        subprocess.run(command.split(), check=True)
    resolver = folder / "resolv.conf"
    resolver.write_text(f"nameserver {NAME_SERVER}\noptions timeout:1 attempts:1\n")
    services = folder / "nsswitch.conf"
    services.write_text("hosts: dns\n")
    for file, place in ((resolver, "/etc/resolv.conf"), (services, "/etc/nsswitch.conf")):
        subprocess.run(["mount", "--bind", file, place], check=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        build_the_network(folder)
        public = stack.enter_context(Canary(PUBLIC, PORT))
        private = [stack.enter_context(Canary(PRIVATE, port)) for port in (PORT, OTHER_PORT)]
        server = NameServer()
        verdicts: dict[str, str | None] = {}
        for number, seed in enumerate(SEEDS):  # one by one: look-ups at once have no order
            verdicts |= crawl_names(folder / str(number), [seed])
        again = crawl_names(folder / "again", SEEDS[:1])
    report = {
        "verdicts": verdicts,
        "again": again,
        "public_visits": public.visits,
        "private_visits": sum(canary.visits for canary in private),
        "asked": dict(server.asked),
    }
    json.dump(report, sys.stdout)


def crawl_names(folder: Path, seeds: list[str]) -> dict[str, str | None]:
    crawled = crawl(folder, seeds, quick_settings(network={"allow_private": []}))
    return {url: row.verdict for url, row in crawled.rows.items()}


if __name__ == "__main__":
    main()
