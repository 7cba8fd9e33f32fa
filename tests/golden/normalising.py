"""What differs between two runs of the same commands is replaced by words; the rest stays exact.

The pages of the golden site have dates of 2020, so a moment of a later year is one of the run.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from typing import Any

PLACES = 3  # of decimals that are kept
# JSON values that measure this run. `null` stays `null`.
_MEASURED = frozenset({
    "latency_ms", "max_ms", "median_ms", "memory_mb", "milliseconds", "ms", "p95_ms", "seconds",
    "min_s", "p01_s", "median_s", "histogram", "bucket_s", "buckets", "most",  # of `report`
    "rates", "pid",  # of `status`
    "seconds_between_changes", "probability",  # of `why`
})  # fmt: skip
_COLUMNS = frozenset({"fetch_latency_ms"})  # of CSV files
_MOMENT = r"20(?:2[1-9]|[3-9]\d)-\d\d-\d\d"
_WORDS = [
    (re.compile(rf"{_MOMENT}[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?"), "<time>"),
    (re.compile(r"(?m)^\d\d:\d\d:\d\d(?= )"), "<time>"),
    (re.compile(r"\b20\d{6}T\d{6}\b"), "<time>"),
    (re.compile(r"(?i)\b(crawl4r|crawlr)/\d+\.\d+\.\d+"), r"\1/<version>"),
    (re.compile(r"\b(in|after|than) [\d.,]+ (?:ms|s)\b"), r"\1 <duration>"),
    (re.compile(r"\bevery [^,]+(?=, the next by)"), "every <duration>"),
    (re.compile(r"\([\d.,]+ a second\)"), "(<rate> a second)"),
    (re.compile(r"\bms=\d+"), "ms=<duration>"),
    (re.compile(r"changed by now: \d+%"), "changed by now: <share>"),
    (re.compile(r"(?m)^last (?:\d+ )?minutes?: .*\n"), ""),  # rates, as long as there are any
]
_SCORE = re.compile(r"(?<![\w.])[01]\.\d{4,6}\b")


class Normaliser:
    """Knows the address of the site, which is another one in each run."""

    def __init__(self, address: str) -> None:
        self._address = address

    def text(self, text: str) -> str:
        text = text.replace(self._address, "<address>")
        for pattern, word in _WORDS:
            text = pattern.sub(word, text)
        text = _SCORE.sub(lambda score: f"{float(score.group()):.{PLACES}f}", text)
        return "\n".join(line.rstrip() for line in text.split("\n"))

    def json(self, value: Any, varying: Iterable[str] = ()) -> Any:
        """A JSON value; `varying` are more names whose values measure this run."""
        names = _MEASURED.union(varying)

        def normal(value: Any) -> Any:
            if isinstance(value, dict):
                return {
                    self.text(key): f"<{key}>"
                    if key in names and each is not None
                    else normal(each)
                    for key, each in value.items()
                }
            if isinstance(value, list):
                return [normal(each) for each in value]
            if isinstance(value, float):
                return round(value, PLACES)
            return self.text(value) if isinstance(value, str) else value

        return normal(value)

    def json_text(self, text: str, varying: Iterable[str] = ()) -> str:
        """One value over several lines, or JSON lines with a value each."""
        values = [self.json(json.loads(line), varying) for line in text.splitlines()]
        indent = 1 if len(values) == 1 else None
        return "".join(
            json.dumps(each, indent=indent, ensure_ascii=False) + "\n" for each in values
        )

    def csv(self, text: str) -> str:
        header, *rows = csv.reader(io.StringIO(text))
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            cells = zip(header, row, strict=True)
            writer.writerow(f"<{name}>" if name in _COLUMNS else cell for name, cell in cells)
        return self.text(out.getvalue())
