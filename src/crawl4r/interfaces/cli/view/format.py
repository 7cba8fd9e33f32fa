"""Format numbers, sizes and times for people."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crawl4r.safe_text import command_line


def human_bytes(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def counted(count: int, noun: str) -> str:
    """`1 visit`, `2 visits`."""
    return f"{count:,} {noun_for(count, noun)}"


def noun_for(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"


def human_seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours / 24:.0f} days"


def about_seconds(seconds: float) -> str:
    """A rough duration: two digits and a unit, or two units."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours / 24:.0f} days"


def clock_time(epoch: float | None) -> str:
    """UTC, to the second, as ISO 8601."""
    if epoch is None:
        return "-"
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))


def dropped_words(capture: Mapping[str, Any]) -> str:
    """When and why gc removed the bytes of a capture."""
    return f"dropped by gc on {clock_time(capture['dropped_at'])[:10]}: {capture['dropped_by']}"


def guess_words(guesses: dict[str, int]) -> str:
    """The results of guessed URLs; empty when there were none."""
    if not guesses["asked"]:
        return ""
    return (
        f"guesses of ours, {guesses['failed']:,} not there (usual sitemaps, archives, next pages)"
    )


def languages_in(counts: Mapping[str, int]) -> str:
    """Languages with their number of documents, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{count:,} {language}" for language, count in ordered[:5]]
    return ", ".join([*parts, "..."] if len(ordered) > 5 else parts)


def languages_kept_out(kept_out: Mapping[str, int], workspace: Path | str) -> str:
    """The number of documents that `index.languages` excludes, and the command that adds them."""
    total = sum(kept_out.values())
    one = "1 document in another language"
    words = one if total == 1 else f"{total:,} documents in other languages"
    where = () if str(workspace) == "workspace" else ("-w", workspace)
    command = command_line("crawl4r", "index", "--language", "all", *where)
    return f"{words} cannot be searched ({languages_in(kept_out)}); `{command}` lets them in"


def our_name() -> str:
    """The command name: `crawl4r`, or its path when it is not on the PATH."""
    if shutil.which("crawl4r"):
        return "crawl4r"
    return os.path.relpath(sys.argv[0]) if sys.argv[0].endswith("crawl4r") else "crawl4r"
