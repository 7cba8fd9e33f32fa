"""python -m tests.attacks: rounds of generated attacks, and a table of their results.

--seconds 3600                      rounds over all layers, for so long
--seed 7 --round 12 --only html     one attack again, with its commands
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import count
from pathlib import Path

from tests.attacks.alone import go_where_only_loopback_is
from tests.attacks.checking import Problem
from tests.attacks.exports import Exports, make_exports
from tests.attacks.layers import NAMES, attack
from tests.attacks.rounds import Round
from tests.attacks.tally import Tally

_STEPS = 5  # commands after the first, in a round


def main() -> int:
    options = _options()
    if not go_where_only_loopback_is():
        print("no network namespace can be made here: attacks run in the network of this machine")
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    folder = Path(options.keep or tempfile.mkdtemp(prefix="attacks-"))
    print(f"seed {seed}; what fails is kept in {folder}", flush=True)
    exports = cache(partial(_made_once, folder / "exports"))
    tally = Tally()
    for layer, number in _rounds(options):
        this = Round(layer, seed, number, folder / f"{number}-{layer}", options.steps)
        _attack(this, exports)
        _tell(this, tally, options.keep)
    print(tally.table())
    if options.json:
        Path(options.json).write_text(json.dumps(tally.as_json()), encoding="utf-8")
    return int(tally.has_failed)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    parser.add_argument("--seed", type=int, help="of all chance; a new one each time by default")
    parser.add_argument("--seconds", type=float, default=0, help="go on for so long")
    parser.add_argument("--round", type=int, help="this round alone")
    parser.add_argument(
        "--only", action="append", choices=NAMES, help="this layer; several may be given"
    )
    parser.add_argument(
        "--steps", type=int, default=_STEPS, help="commands after the first of a round, about"
    )
    parser.add_argument("--keep", help="a folder for workspaces and files of all rounds")
    parser.add_argument("--json", help="a file for the results")
    return parser.parse_args()


def _rounds(options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """The layers in turn: once, or until the time is over."""
    layers = options.only or NAMES
    deadline = time.monotonic() + options.seconds
    for number in count() if options.round is None else [options.round]:
        for layer in layers:
            if number and options.round is None and time.monotonic() > deadline:
                return
            yield layer, number
        if not options.seconds:
            return


def _made_once(folder: Path) -> Exports:
    folder.mkdir(parents=True)
    return make_exports(folder)


def _attack(this: Round, exports: Callable[[], Exports]) -> None:
    this.folder.mkdir(parents=True)
    try:
        attack(this, exports)
    except Exception:  # of the harness itself: told like any other problem, and the rounds go on
        this.problems.append(Problem("harness", this.layer, traceback.format_exc()))


def _tell(this: Round, tally: Tally, keep: str | None) -> None:
    tally.add(this)
    for problem in this.problems:
        print(f"\n{problem.kind}: {problem.command}\n  {problem.detail.strip()}")
    if this.problems:
        print("  the round's commands:", *this.commands, sep="\n    ")
        again = f"--seed {this.seed} --round {this.number} --only {this.layer}"
        print(f"  again: python -m tests.attacks {again}", flush=True)
    elif not keep:
        shutil.rmtree(this.folder)


if __name__ == "__main__":
    sys.exit(main())
