"""A command under strace: which files it changed, and whom it wanted to talk to."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.debian import install, program

_NAMED = (
    "mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,rmdir,symlink,symlinkat,link,linkat"
)
_NAMED += ",mknod,mknodat,truncate,chmod,fchmodat"
_SENT = "connect,sendto,sendmsg,sendmmsg"
_CALL = re.compile(r"(?P<name>\w+)\((?P<told>.*)\)\s+= (?P<result>-?\d+)(?:<(?P<file>.*)>)?")
_CHANGES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_FOLDER = re.compile(r"(?:AT_FDCWD|\d+)<([^>]*)>, $")
_PLACE = re.compile(
    r'sin6?_port=htons\((\d+)\).*?(?:inet_addr\("|inet_pton\(AF_INET6, ")([^"]+)"'
    r'|sun_path=@?"([^"]*)"'
)


@dataclass(frozen=True, slots=True)
class Traced:
    code: int
    out: str
    err: str
    changed: set[Path]  # files and folders that were made, opened for writing, moved or removed
    addressed: set[str]  # "address:port", or the path of a local socket, whether it answered or not


def can_trace() -> bool:
    if not program("strace"):
        install("strace")
    return program("strace") is not None


def trace(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    prefix: Sequence[str] = (),
) -> Traced:
    """Run it with all its processes watched."""
    with tempfile.TemporaryDirectory() as place:
        calls = f"trace=open,openat,openat2,creat,{_NAMED},{_SENT}"
        watch = ["strace", "-ff", "-y", "-qq", "-s", "4096", "--seccomp-bpf", "-e", calls]
        ended = subprocess.run(
            [*prefix, *watch, "-o", f"{place}/calls", *command],
            env=dict(env),
            capture_output=True,
            text=True,
            check=False,
        )
        lines = [line for file in Path(place).iterdir() for line in file.read_text().splitlines()]
    found = [call for line in lines if (call := _CALL.match(line))]
    changed = {path for call in found for path in _changed(call)}
    addressed = {place for call in found for place in _addressed(call)}
    return Traced(ended.returncode, ended.stdout, ended.stderr, changed, addressed)


def _changed(call: re.Match[str]) -> list[Path]:
    if call["name"] in _SENT.split(",") or int(call["result"]) < 0:
        return []
    if call["name"] not in _NAMED.split(","):
        return [Path(call["file"])] if call["file"] and _CHANGES.search(call["told"]) else []
    paths = []
    for quoted in _QUOTED.finditer(call["told"]):
        base = _FOLDER.search(call["told"], 0, quoted.start())
        paths.append(Path(base[1] if base else "", quoted[1]))
    return paths


def _addressed(call: re.Match[str]) -> list[str]:
    if call["name"] not in _SENT.split(","):
        return []
    return [local or f"{address}:{port}" for port, address, local in _PLACE.findall(call["told"])]
