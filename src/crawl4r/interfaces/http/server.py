"""Runs a service on a socket that listens, until a signal ends it."""

from __future__ import annotations

import signal
import socket

import uvicorn
from fastapi import FastAPI

from crawl4r.interfaces.http.guard import guarded_protocol

_LAST_ANSWERS = 30  # seconds that requests may still take after a signal


def run_until_signal(
    app: FastAPI, listening: socket.socket, *, request_seconds: float, most_connections: int
) -> None:
    """Answer requests; SIGINT or SIGTERM finishes what was asked, and then this returns."""
    # uvicorn raises the signal again that has stopped it; this is where that ends.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    config = uvicorn.Config(
        app,
        http=guarded_protocol(request_seconds, most_connections),
        ws="none",
        log_level="error",
        use_colors=False,
        timeout_graceful_shutdown=_LAST_ANSWERS,
    )
    uvicorn.Server(config).run(sockets=[listening])
