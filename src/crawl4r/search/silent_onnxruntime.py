"""onnxruntime without telemetry. Every module imports it from here.

By default the import creates a device identifier and a queue of events in the user's cache, and sends
them to the vendor. The variable must be set before the import; onnxruntime's function
`disable_telemetry_events` comes too late.
"""

from __future__ import annotations

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime

__all__ = ["onnxruntime"]
