"""The frames of messages between the crawl and a sandboxed worker.

A module of its own, because the worker must load little: `sandbox` would import asyncio.
"""

from __future__ import annotations

import struct

from msgspec import Struct

# To the worker: lengths of the JSON head and of the raw body. From the worker: length of the JSON,
# and 1 when the function raised an error.
FRAME = struct.Struct("<II")


class ProcessLimits(Struct, frozen=True):
    """The limits of a worker, sent with its config before the first job."""

    memory_bytes: int  # in addition to the memory of the ready worker
    seconds: float  # of CPU time, for one job
