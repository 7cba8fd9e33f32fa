"""python -m tests.faults.dying COMMAND...: crawl4r that is killed at one operation, by itself.

    CRAWL4R_DIE=moment operation path#n     at the n-th operation of that name on a file whose path in
                                            the workspace matches (fnmatch); without it never
    CRAWL4R_DIE_BY=SIGINT                   another signal than SIGKILL, which it may survive
    CRAWL4R_DIE_TRACE=file                  where all operations are noted, in order

The moment is `before` it, `during` it (a third of a write is done, a part of a commit is in the log) or
`after` it. `*` for operation and path counts all of them. Nothing depends on how quick the machine is.
"""

from __future__ import annotations

import os
import signal
import sys
from fnmatch import fnmatchcase
from itertools import count
from typing import Any

from crawl4r.interfaces.cli.main import main as crawl4r_main
from tests.faults.operations import Operation, Operations


class Death:
    """Comes at the n-th operation that matches."""

    def __init__(self, wish: str, by: str = "SIGKILL", trace: str = "") -> None:
        pattern, _, number = wish.rpartition("#")
        self._moment, self._name, self._path = pattern.split() if pattern else ("", "", "")
        self._goal = int(number or 0)
        self._numbers = count(1)
        self._signal = signal.Signals[by]
        self._trace = trace
        self._pid = os.getpid()

    def install(self, folder: str) -> None:
        # Python ignores it; and only the main thread may say otherwise.
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        Operations(folder, self._do).install(
            with_keywords="keyword" in self._path or bool(self._trace)
        )

    def _do(self, operation: Operation) -> Any:
        if os.getpid() != self._pid:  # a process that reads for it
            return operation.perform()
        if self._trace:
            self._note(f"{operation.name} {operation.path}\n")
        moment = self._moment if self._is_due(operation) else ""
        if moment == "before":
            self._strike()
        elif moment == "during":
            operation.begin()
            self._strike()
        try:
            return operation.perform()
        finally:  # also when it failed, as one that deletes what is not there
            if moment == "after":
                self._strike()

    def _strike(self) -> None:
        os.kill(self._pid, self._signal)

    def _is_due(self, operation: Operation) -> bool:
        is_such = fnmatchcase(operation.name, self._name) and fnmatchcase(
            operation.path, self._path
        )
        return is_such and next(self._numbers) == self._goal

    def _note(self, line: str) -> None:
        with open(self._trace, "a", encoding="utf-8") as file:
            file.write(line)


def main() -> None:
    words = sys.argv
    place = next(at for at, word in enumerate(words) if word in {"-w", "--workspace"})
    told = os.environ.get
    death = Death(
        told("CRAWL4R_DIE", ""), told("CRAWL4R_DIE_BY", "SIGKILL"), told("CRAWL4R_DIE_TRACE", "")
    )
    death.install(os.path.abspath(words[place + 1]))
    crawl4r_main()


if __name__ == "__main__":
    main()
