"""Sums over rounds: by layer, by death of a reading process."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.attacks.checking import Problem
from tests.attacks.rounds import Round

_COLUMNS = (
    "layer",
    "rounds",
    "commands",
    "problems",
    "readers lost",
    "peak MB",
    "most CPU s",
)


class Tally:
    def __init__(self) -> None:
        self._by_layer: dict[str, Counter[str]] = {}
        self._deaths: Counter[str] = Counter()
        self._problems: list[tuple[str, Problem]] = []

    @property
    def has_failed(self) -> bool:
        return bool(self._problems)

    def add(self, this: Round) -> None:
        sums = self._by_layer.setdefault(this.layer, Counter())
        added = (1, len(this.commands), len(this.problems), this.deaths.total())
        sums.update(dict(zip(_COLUMNS[1:], added, strict=False)))
        sums["peak MB"] = max(sums["peak MB"], this.peak_mb)
        sums["most CPU s"] = max(sums["most CPU s"], round(this.cpu))
        self._deaths += this.deaths
        self._problems += [(this.layer, problem) for problem in this.problems]

    def table(self) -> str:
        rows = [_COLUMNS]
        rows += [
            (layer, *(str(sums[name]) for name in _COLUMNS[1:]))
            for layer, sums in self._by_layer.items()
        ]
        lines = ["", *("".join(f"{cell:>13}" for cell in row) for row in rows)]
        lines += ["", f"reading processes lost: {self._deaths.total()}"]
        lines += [f"{number:>8}  {what}" for what, number in self._deaths.most_common()]
        lines += ["", f"{len(self._problems)} problems"]
        kinds = Counter((layer, problem.kind) for layer, problem in self._problems)
        lines += [
            f"{number:>8}  {kind} in {layer}" for (layer, kind), number in kinds.most_common()
        ]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        return {
            "layers": {layer: dict(sums) for layer, sums in self._by_layer.items()},
            "readers_lost": dict(self._deaths),
            "problems": [
                {"layer": layer, **problem._asdict()} for layer, problem in self._problems
            ],
        }
