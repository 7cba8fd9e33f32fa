"""A network of its own, with a name server that fails when told.

A process behind `OwnNetwork.prefix` is inside: it has its own loopback device and asks our name
server for every name, as in tests/hostile/rebound.py. Both the site and the crawler must be inside:

    with OwnNetwork({"news.test": "127.0.0.1"}) as network:
        site = WorldProcess(News(), prefix=network.prefix)
        network.answer_names(NamesAre.SERVFAIL)
        subprocess.run([*network.prefix, "crawl4r", "crawl", f"http://news.test:{site.port}/"])
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from tests.hostile.rebound import NameServer, build_the_network
from tests.worlds.process import Companion

NAMESPACES = ("unshare", "--net", "--mount")


class NamesAre(StrEnum):
    ANSWERED = "answered"
    SERVFAIL = "servfail"
    NXDOMAIN = "nxdomain"
    SILENT = "silent"  # no answer at all; the resolver waits for a second


_CODES = {NamesAre.SERVFAIL: 2, NamesAre.NXDOMAIN: 3}  # RFC 1035 section 4.1.1


class SwitchedNames(NameServer):
    """`asked` counts the look-ups of addresses of each name, answered or not."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self.names_are = NamesAre.ANSWERED
        self._known = addresses
        super().__init__()

    def _serve(self) -> None:
        while True:
            query, client = self._socket.recvfrom(4096)
            answer = self._answer(query)
            if self.names_are is not NamesAre.SILENT:
                self._socket.sendto(answer, client)

    def _answer(self, query: bytes) -> bytes:
        answer = super()._answer(query)
        return answer[:3] + bytes([answer[3] | _CODES.get(self.names_are, 0)]) + answer[4:]

    def _addresses(self, name: str) -> list[str]:
        self.asked[name] += 1
        known = self._known.get(name)
        return [known] if known and self.names_are is NamesAre.ANSWERED else []


class OwnNetwork(Companion):
    """`addresses` are those of the names; every other name has none."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        super().__init__("tests.worlds.own_network", [json.dumps(dict(addresses))], NAMESPACES)
        self.prefix = ("nsenter", "--target", str(self.pid), "--net", "--mount", "--wd")

    @staticmethod
    def can_be_made() -> bool:
        """False: this kernel or user may not make a network namespace."""
        there = shutil.which("unshare") and shutil.which("nsenter")
        return bool(there) and not subprocess.run([*NAMESPACES, "true"], check=False).returncode

    def answer_names(self, how: NamesAre) -> None:
        """In force for every query that comes after this returns."""
        self.say({"names_are": how})

    def asked(self) -> dict[str, int]:
        """How often each name was looked up, answered or not."""
        counts: dict[str, int] = self.say({})["asked"]
        return counts


def main() -> None:
    """Inside: build the network, answer names, listen to the test until stdin closes."""
    with tempfile.TemporaryDirectory() as folder:
        build_the_network(Path(folder))
        server = SwitchedNames(json.loads(sys.argv[1]))
        print("{}", flush=True)
        for line in sys.stdin:
            if told := json.loads(line):
                server.names_are = NamesAre(told["names_are"])
            print(json.dumps({"asked": server.asked}), flush=True)


if __name__ == "__main__":
    main()
