"""Functions that the sandbox's workers import; the worker finds this file through PYTHONPATH."""

import os
import signal
import struct
import time
from collections.abc import Callable
from typing import Any

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
    os.kill(os.getpid(), signal.SIGSEGV)


def _answer_in_no_json(config: Any, body: bytes) -> None:
    """What a subverted parser could send: a whole frame that cannot be read."""
    os.write(0, struct.pack("<II", 5, 0) + b"{oops")
    time.sleep(60)


def _answer_in_nested_json(config: Any, body: bytes) -> None:
    os.write(0, struct.pack("<II", 100_000, 0) + b"[" * 100_000)
    time.sleep(60)


def _answer_with_a_huge_length(config: Any, body: bytes) -> None:
    os.write(0, struct.pack("<II", 0xFFFF_FFFF, 0))
    time.sleep(60)


JOBS: dict[str, Callable[[Any, bytes], Any]] = {
    "who": lambda config, body: os.getpid(),
    "length": lambda config, body: len(body),
    "config": lambda config, body: config,
    "pid": lambda config, body: os.getpid(),
    "parts": lambda config, body: {"text": body.decode(), "list": [1, None, 2.5], "é": True},
    "no json": lambda config, body: {1, 2},
    "large": lambda config, body: "x" * 3_000_000,
    "raise": _raise,
    "loop": _loop,
    "crash": _crash,
    "exit": lambda config, body: os._exit(3),
    "abort": lambda config, body: os.abort(),
    "eat memory": lambda config, body: len(bytearray(2 * 1024**3)),
    "talk nonsense": _answer_in_no_json,
    "talk in circles": _answer_in_nested_json,
    "talk without end": _answer_with_a_huge_length,
    "print": lambda config, body: print("to nobody"),
}
