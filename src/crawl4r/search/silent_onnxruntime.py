"""onnxruntime, told to say nothing of us: everybody here imports it from this module.

As it comes it makes an identifier of the device and a queue of events in the user's cache when it is
imported, and sends them to its maker. The variable must be there before that; its own function
`disable_telemetry_events` comes too late.
"""

from __future__ import annotations

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime

__all__ = ["onnxruntime"]
