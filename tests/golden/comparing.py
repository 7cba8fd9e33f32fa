"""Compares what came out with a file in `expected/`, or writes that file anew."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import pytest

EXPECTED = Path(__file__).with_name("expected")
REWRITE = "CRAWL4R_GOLDEN=write python -m pytest tests/golden"
_MOST_LINES = 200  # of a difference that are shown


def assert_golden(name: str, text: str) -> None:
    """Fail with the difference to `expected/<name>`; with CRAWL4R_GOLDEN=write, write it instead."""
    file = EXPECTED / name
    if os.environ.get("CRAWL4R_GOLDEN") == "write":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8", newline="")
        return
    expected = file.read_bytes().decode() if file.exists() else ""
    if text != expected:
        pytest.fail(f"{name} is not as expected:\n{_difference(expected, text)}\n{_ADVICE}", False)


def _difference(expected: str, text: str) -> str:
    lines = difflib.unified_diff(
        expected.splitlines(), text.splitlines(), "expected", "now", n=2, lineterm=""
    )
    shown = list(lines)
    hidden = len(shown) - _MOST_LINES
    return "\n".join(shown[:_MOST_LINES] + ([f"and {hidden} more lines"] if hidden > 0 else []))


_ADVICE = f"If users are meant to see this from now on, write the files anew:\n  {REWRITE}"
