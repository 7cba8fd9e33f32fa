"""Find faults in the ending of a command."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection
from enum import Enum, auto
from typing import Any, NamedTuple

from tests.attacks.watching import Ended

MOST_MEGABYTES = 400  # of memory that a process that owns something may hold at its peak

_OUR_FAULT = re.compile(
    rb"Traceback \(most|Exception ignored|never retrieved|panicked at|Fatal Python|\w+Warning: "
)
# What commands a terminal or changes the order of what it shows.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
_UNREADABLE = re.compile(r'page_unreadable .*?reason=(?:"([^"]*)"|(\S+))')
_READERS_END = re.compile(r"the reading process |reading took longer|MemoryError")


class Says(Enum):
    """What a command writes to standard output."""

    TEXT = auto()
    JSON = auto()  # one value, or one a line
    BYTES = auto()  # of a stored page, as they are


class Problem(NamedTuple):
    kind: str  # traceback, signal, exit, hang, memory, json, control, reader, lost
    command: str
    detail: str


def problems_of(ended: Ended, codes: Collection[int], says: Says) -> list[Problem]:
    command = shown(ended)
    found = [
        *_ending(ended, codes),
        *_output(ended, says),
        *(("reader", reason) for reason in deaths_told(ended) if not _READERS_END.search(reason)),
    ]
    return [Problem(kind, command, detail) for kind, detail in found]


def _ending(ended: Ended, codes: Collection[int]) -> list[tuple[str, str]]:
    found = []
    if _OUR_FAULT.search(ended.err):
        found.append(("traceback", ended.said[-1_500:]))
    if ended.hung:
        found.append(("hang", ended.hung))
    elif ended.code < 0:
        found.append(("signal", f"died of signal {-ended.code}: {ended.said[-500:]}"))
    elif ended.code not in codes:
        found.append(("exit", f"ended with {ended.code}: {ended.said[-500:]}"))
    if ended.peak_mb > MOST_MEGABYTES:
        found.append(("memory", f"held {ended.peak_mb} MB at its peak"))
    return found


def _output(ended: Ended, says: Says) -> list[tuple[str, str]]:
    found = []
    try:
        text = ended.err.decode() + ("" if says is Says.BYTES else ended.out.decode())
    except UnicodeDecodeError as problem:
        return [("control", f"it said what is not UTF-8: {problem}")]
    if control := _CONTROLS.search(text):
        around = text[max(0, control.start() - 60) : control.end() + 60]
        found.append(("control", f"it said {control.group()!r} to the terminal: {around!r}"))
    if says is Says.JSON and not ended.hung and ended.code == 0:
        try:
            json.dumps(values_of(ended), ensure_ascii=False).encode()
        except ValueError as problem:  # also of what cannot be encoded
            found.append(("json", f"{problem}: {ended.out[:200]!r}"))
    return found


def values_of(ended: Ended) -> list[Any]:
    """The JSON values on standard output: one on several lines, or one on each."""
    try:
        return [json.loads(ended.out, parse_constant=_refuse)]
    except json.JSONDecodeError:
        lines = ended.out.decode().split("\n")
        return [json.loads(line, parse_constant=_refuse) for line in lines if line]


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def deaths_told(ended: Ended) -> list[str]:
    """Why pages could not be read: by the events on standard error, else by the verdict on one page."""
    told = [quoted or plain for quoted, plain in _UNREADABLE.findall(ended.said)]
    if not told and ended.words[0] in {"scrape", "extract"} and b'"unreadable"' in ended.out:
        told = [str(row.get("reason")) for row in values_of(ended) if isinstance(row, dict)]
    return told


def kinds_of_death(ended: Ended) -> Counter[str]:
    return Counter(re.sub(r"\d+", "N", reason)[:60] for reason in deaths_told(ended))


def shown(ended: Ended) -> str:
    words = " ".join(
        ascii(word)[1:-1] if isinstance(word, bytes) else str(word) for word in ended.words
    )
    return f"crawl4r {words[:400]}".encode("ascii", "backslashreplace").decode()
