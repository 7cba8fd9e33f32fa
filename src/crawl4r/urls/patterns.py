"""Compile the users' patterns with RE2, whose time is linear in the text."""

from __future__ import annotations

from typing import Any

import re2

from crawl4r.errors import SettingsError


def compile_pattern(pattern: str, key: str) -> Any:
    """Compile with RE2. The error message names the setting `key`."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = False
    try:
        return re2.compile(pattern, options)
    except re2.error as problem:
        raise SettingsError(
            key,
            f"{pattern!r} is not a pattern RE2 can run ({_text(problem)}); "
            "look-around and back-references are not supported",
        ) from None


def _text(problem: Exception) -> str:
    detail = problem.args[0] if problem.args else problem
    return detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
