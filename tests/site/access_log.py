"""Who asked for what, when, and with how many others: the proof of politeness."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class AccessRecord:
    """One request. Monotonic times are comparable between processes of the same machine.

    It arrived when the kernel had its last bytes, however much later the site came to read them.
    `connection` numbers the TCP connections; `path` has the query; `in_flight` counts the requests
    under way to this host address when this one arrived, itself included; `status` is None when no
    status line was sent; `bytes_sent` has the head; `is_complete` is False when the client left (or
    the site closed) in the middle, and its end is then the moment the site noticed.
    """

    connection: int
    host: str
    host_header: str | None
    method: str
    path: str
    user_agent: str | None
    headers: tuple[tuple[str, str], ...]
    arrived_monotonic: float
    arrived_wall: float
    ended_monotonic: float
    ended_wall: float
    status: int | None
    bytes_sent: int
    in_flight: int
    is_complete: bool

    def header(self, name: str) -> str | None:
        wanted = name.lower()
        return next((value for known, value in self.headers if known.lower() == wanted), None)


class AccessLog:
    """Appends records to a JSONL file, each in one unbuffered write."""

    def __init__(self, path: Path) -> None:
        self.count = 0
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def append(self, record: AccessRecord) -> None:
        os.write(self._file, json.dumps(asdict(record)).encode() + b"\n")
        self.count += 1

    def close(self) -> None:
        os.close(self._file)


def read_access_log(path: Path) -> list[AccessRecord]:
    """The records of a log that may still be growing, in order of response end."""
    lines = path.read_bytes().splitlines(keepends=True)
    # The last line may be half written.
    return [_parse_record(json.loads(line)) for line in lines if line.endswith(b"\n")]


def _parse_record(fields: dict[str, Any]) -> AccessRecord:
    headers = tuple((name, value) for name, value in fields.pop("headers"))
    return AccessRecord(headers=headers, **fields)
