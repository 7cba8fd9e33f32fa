"""Recognise endless paths: a part of the path repeats, or the path only grows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from crawl4r.discovery.traps.url_shapes import Shape

_PLAIN = re.compile(r"[0-9._-]*|.{1,2}")  # segments that may repeat: /1/1/1, /en/
_SAME_PARAM = 3  # times one parameter with one value


def winding(shape: Shape, repeats: int, most_segments: int) -> str:
    """Why a path looks endless; empty when it does not."""
    count = len(shape.segments)
    if count > most_segments:
        return f"a path of {count} segments; raise limits.traps.segments ({most_segments})"
    if part := _repeated(shape.segments, repeats):
        return f"/{'/'.join(part)}/ comes {repeats} times in a row; raise limits.traps.repeats"
    if len(shape.params) >= _SAME_PARAM:
        (name, value), times = Counter(shape.params).most_common(1)[0]
        if times >= _SAME_PARAM:
            return f"{name}={value} comes {times} times in its query"
    return ""


def recurring(shape: Shape, repeats: int) -> str:
    """The word that occurs at least `repeats` times in a path, as in `/django/django/main/django/`."""
    if len(shape.segments) - len(set(shape.segments)) < repeats - 1:
        return ""
    words = [segment for segment in shape.segments if not _PLAIN.fullmatch(segment)]
    word, times = Counter(words or [""]).most_common(1)[0]
    return word if times >= repeats else ""


def _repeated(segments: Sequence[str], times: int) -> Sequence[str]:
    """The first part that repeats `times` times in a row and is more than numbers."""
    for length in range(1, len(segments) // times + 1):
        run = 0
        for index in range(length, len(segments)):
            run = run + 1 if segments[index] == segments[index - length] else 0
            if run == length * (times - 1):
                part = segments[index - length + 1 : index + 1]
                if not all(_PLAIN.fullmatch(segment) for segment in part):
                    return part
    return ()
