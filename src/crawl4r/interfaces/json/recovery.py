"""The answer of `crawl4r recover --json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import to_builtins

from crawl4r.recovery.outcome import Outcome


def recovery_as_json(outcome: Outcome, workspace: Path, *, is_dry: bool) -> dict[str, Any]:
    said: dict[str, Any] = to_builtins(outcome)
    return {"workspace": str(workspace), "dry_run": is_dry, **said}
