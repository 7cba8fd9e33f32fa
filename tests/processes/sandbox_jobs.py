"""Functions that the sandbox's workers import; the worker finds this file through PYTHONPATH."""

import ctypes
import mmap
import os
import resource
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

libc = ctypes.CDLL(None)

Job = Callable[[Any, bytes], Any]


def make(config: Any) -> Job:
    """A job for each misdeed that a page can drive a parser to, named by its head."""

    def run(head: Any, body: bytes) -> Any:
        return JOBS[head](config, body)

    return run


def make_slowly(config: Any) -> Job:
    """A worker that takes longer to start than a job may take to run."""
    time.sleep(config)
    return lambda head, body: len(body)


def _raise(config: Any, body: bytes) -> None:
    raise ValueError("no such page")


def _loop(config: Any, body: bytes) -> None:
    while True:
        pass


def _crash(config: Any, body: bytes) -> None:
    ctypes.string_at(0)


def _attempts(config: Any, body: bytes) -> dict[str, str]:
    """What becomes of everything that a subverted parser would like to do."""
    told = {}
    for name, attempt in ATTEMPTS.items():
        try:
            told[name] = f"did it: {attempt()}"
        except Exception as problem:
            told[name] = type(problem).__name__
    return told


ATTEMPTS: dict[str, Callable[[], Any]] = {
    "read a file": lambda: os.open("/etc/hostname", os.O_RDONLY),
    "write a file": lambda: os.open("made-by-a-page", os.O_CREAT | os.O_WRONLY),
    "delete a file": lambda: os.unlink("made-by-a-page"),
    "look for a file": lambda: os.stat("/"),
    "duplicate its channel": lambda: os.dup(0),
    "make a pipe": os.pipe,
    "make a socket": socket.socket,
    "connect": lambda: socket.create_connection(("127.0.0.1", 9)),
    "use its channel as another socket": lambda: socket.socket(fileno=0).connect("/tmp/x"),
    "start a program": lambda: subprocess.run(["true"], check=True),
    "become a program": lambda: os.execv("/bin/true", ["true"]),
    "fork": os.fork,
    "start a thread": lambda: threading.Thread(target=print).start(),
    "kill its parent": lambda: os.kill(os.getppid(), signal.SIGKILL),
    "look into its parent": lambda: _must_succeed(libc.ptrace(16, os.getppid(), 0, 0)),
    "map memory for code": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_EXEC | mmap.PROT_READ),
    "raise its limits": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
}


def _must_succeed(result: int) -> None:
    if result:
        raise PermissionError


def _answer_in_no_json(config: Any, body: bytes) -> None:
    """What a subverted parser could send: a whole frame that cannot be read."""
    os.write(0, struct.pack("<II", 5, 0) + b"{oops")
    time.sleep(60)


def _answer_in_nested_json(config: Any, body: bytes) -> None:
    os.write(0, struct.pack("<II", 100_000, 0) + b"[" * 100_000)
    time.sleep(60)


def _break_the_next(config: Any, body: bytes) -> int:
    """What a parser does that writes past its buffers: it answers, and the page behind it dies."""
    JOBS["length"] = _crash
    return len(body)


def _answer_with_a_huge_length(config: Any, body: bytes) -> None:
    os.write(0, struct.pack("<II", 0xFFFF_FFFF, 0))
    time.sleep(60)


JOBS: dict[str, Callable[[Any, bytes], Any]] = {
    "who": lambda config, body: os.getpid(),
    "length": lambda config, body: len(body),
    "config": lambda config, body: config,
    "pid": lambda config, body: os.getpid(),
    "parts": lambda config, body: {"text": body.decode(), "list": [1, None, 2.5], "é": True},
    "no json": lambda config, body: object(),
    "attempts": _attempts,
    "large": lambda config, body: "x" * 3_000_000,
    "raise": _raise,
    "loop": _loop,
    "crash": _crash,
    "break the next": _break_the_next,
    "exit": lambda config, body: os._exit(3),
    "abort": lambda config, body: os.abort(),
    "eat memory": lambda config, body: len(bytearray(2 * 1024**3)),
    "talk nonsense": _answer_in_no_json,
    "talk in circles": _answer_in_nested_json,
    "talk without end": _answer_with_a_huge_length,
    "print": lambda config, body: print("to nobody"),
}
