"""The other side of `sandbox`: the loop inside the worker process."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from crawl4r.resilience.sandbox import _FRAME


def main() -> None:
    target, config, memory_bytes = sys.argv[1:4]
    _die_with_the_parent()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    module, _, name = target.partition(":")
    run = getattr(importlib.import_module(module), name)(json.loads(config))
    # Only now: what the imports map is not the page's doing.
    resource.setrlimit(resource.RLIMIT_AS, (_mapped_bytes() + int(memory_bytes),) * 2)
    channel = socket.socket(fileno=0)
    with channel, channel.makefile("rb", buffering=256 * 1024) as incoming:
        while frame := incoming.read(_FRAME.size):
            head_length, body_length = _FRAME.unpack(frame)
            head = json.loads(incoming.read(head_length))
            answer, failed = _answer(run, head, incoming.read(body_length))
            channel.sendall(_FRAME.pack(len(answer), failed) + answer)


def _answer(run: Callable[[Any, bytes], Any], head: Any, body: bytes) -> tuple[bytes, int]:
    try:
        return json.dumps(run(head, body)).encode(), 0
    except Exception as problem:  # the page's doing: it is blamed, we go on
        return json.dumps(f"{type(problem).__name__}: {problem}"[:300]).encode(), 1


def _mapped_bytes() -> int:
    with contextlib.suppress(OSError), open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()
    return 1024**3


def _die_with_the_parent() -> None:
    """A parser stuck in native code does not see that its channel closed (Linux only)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


if __name__ == "__main__":
    main()
