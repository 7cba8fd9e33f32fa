"""How fast is this machine now, beside the one on which bars in milliseconds were set?

    python -m bench.yardstick [--rounds 3]

There, resiliparse took 3.5 ms of CPU for a page of the labelled set. It is run again between the parts
of whatever is measured, with the same pages and in the peers' environment: machines differ, and a
shared one takes half as long again in some hours. A time divided by `pace` is what it would have been
there.
"""

import argparse
import subprocess
import sys
import time
from math import nan
from typing import Self

from bench.extraction import DATA, labelled_pages, resiliparse
from bench.peers import environment

THERE = 3.5  # ms
SLICES = 10  # all pages are in as many; large and small ones in each


class Yardstick:
    """Another process, which measures a slice of the pages whenever it is asked."""

    def __init__(self) -> None:
        command = [str(environment.python()), "-m", "bench.yardstick", "--serve"]
        self._peer = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._pages = int(self._answer())
        self._seconds: list[float] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._peer.communicate()

    def measure(self, slices: int = 1) -> None:
        """The next ones; all of them have to have had their turn as often before anything is said."""
        for _ in range(slices):
            print(len(self._seconds) % SLICES, file=self._peer.stdin, flush=True)
            self._seconds.append(float(self._answer()))

    @property
    def milliseconds(self) -> float:
        """Of CPU, for a page; not a number where there are no pages."""
        rounds, rest = divmod(len(self._seconds), SLICES)
        if not self._pages:
            return nan
        if not rounds or rest:
            raise ValueError(f"{len(self._seconds)} slices measured, not a multiple of {SLICES}")
        return 1_000 * sum(self._seconds) / (rounds * self._pages)

    @property
    def pace(self) -> float:
        """How many times as long everything takes here."""
        return self.milliseconds / THERE

    def _answer(self) -> str:
        assert self._peer.stdout is not None
        line = self._peer.stdout.readline()
        if not line:
            raise RuntimeError(f"the yardstick ended with {self._peer.wait()}")
        return line

    def __str__(self) -> str:
        if not self._pages:
            return f"unknown without the labelled pages, {DATA}"
        return f"resiliparse {self.milliseconds:.2f} ms a page, {self.pace:.2f} times those {THERE}"


def _serve() -> None:
    pages = [page.html for page in labelled_pages()]
    for html in pages[::SLICES]:
        resiliparse(html)
    print(len(pages), flush=True)
    for line in sys.stdin:
        began = time.process_time()
        for html in pages[int(line) :: SLICES]:
            resiliparse(html)
        print(time.process_time() - began, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        _serve()
        return
    with Yardstick() as yardstick:
        yardstick.measure(arguments.rounds * SLICES)
        print(yardstick)


if __name__ == "__main__":
    main()
