"""How the crawl and a sandboxed worker frame what they tell each other.

Of its own, because the worker loads little: `sandbox` would bring asyncio along.
"""

from __future__ import annotations

import struct

from msgspec import Struct

# To the worker: lengths of the JSON head and of the raw body. Back: length of the JSON, and 1 when
# the function raised instead of answering.
FRAME = struct.Struct("<II")


class ProcessLimits(Struct, frozen=True):
    """What a worker may use. Sent with its config, before the first job."""

    memory_bytes: int  # beyond what it has mapped when it is ready
    seconds: float  # of CPU time, for one job
