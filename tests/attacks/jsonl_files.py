"""JSON lines: for `import`, for `extract --jsonl` and for `search --queries`."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tests.attacks.checking import Says
from tests.attacks.exports import Exports
from tests.attacks.json_pages import hostile_json, hostile_value
from tests.attacks.mutating import mutated, odd_word
from tests.attacks.redirects import target
from tests.attacks.rounds import REFUSED, Round
from tests.attacks.warc_files import look_after


def _record(chance: random.Random, good: dict[str, Any]) -> bytes:
    """A good record with a field or two that are not; sometimes not even a record."""
    record: dict[str, Any] = {**good, "id": f"{chance.random()}"}
    record["url"] = f"http://127.0.0.3/{chance.random()}"
    for _ in range(chance.choice((0, 1, 2))):
        odd = chance.choice((hostile_value(chance), odd_word(chance), _link(chance)))
        record[chance.choice(("id", "url", "text", "title", "date", "language", "author"))] = odd
    if chance.random() < 0.3:
        return hostile_json(chance, record).replace(b"\n", b" ")
    return json.dumps(record).encode()


def _link(chance: random.Random) -> str:
    return target(chance, "http://127.0.0.3").decode("utf-8", "replace")


def _lines(chance: random.Random, exports: Exports) -> bytes:
    lines = [
        _record(chance, chance.choice(exports.records)) for _ in range(chance.choice((1, 3, 12)))
    ]
    data = chance.choice((b"\n", b"\n", b"\r\n", b"\n\n\n", b"\x1e")).join(lines)
    return mutated(chance, data) if chance.random() < 0.3 else data


def _write(file: Path, data: bytes) -> Path:
    file.write_bytes(data)
    return file


def attack(this: Round, exports: Exports) -> None:
    workspace = exports.workspace(this)
    for number in range(3):
        file = _write(this.folder / f"hostile{number}.jsonl", _lines(this.chance, exports))
        this.run(
            "import", file, "-w", workspace, *this.chance.choice(((), ("--json",))), codes=REFUSED
        )
    if this.steps > 1:
        lines = _lines(this.chance, exports)
        this.run("extract", "--jsonl", codes=REFUSED, says=Says.JSON, stdin=lines)
        this.run("urls", "canonical", "--jsonl", codes=REFUSED, says=Says.JSON, stdin=lines)
        questions = _write(this.folder / "questions.jsonl", _lines(this.chance, exports))
        this.run(
            "search",
            "--queries",
            questions,
            "-w",
            workspace,
            "--json",
            codes=REFUSED,
            says=Says.JSON,
        )
    look_after(this, exports, workspace)
