"""Chunks of a transfer coding put together again. The transport does this for us; files may not."""

from __future__ import annotations

import re

_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n")


def dechunk(body: bytes, most: int) -> bytes:
    """The body without its chunks, up to where they are cut off.

    What does not begin with a chunk was put together already, and is given back as it is: many a
    writer leaves the header as it came. Raises ValueError for more than `most` chunks.
    """
    whole = bytearray()
    at = count = 0
    while match := _SIZE.match(body, at):
        size = int(match[1], 16)
        if size == 0:
            return bytes(whole)
        count += 1
        if count > most:
            raise ValueError(f"more than {most:,} chunks")
        whole += body[match.end() : match.end() + size]
        at = match.end() + size
        if body[at : at + 2] == b"\r\n":
            at += 2
        elif at < len(body):  # no chunk ends here, so it was none
            return body
    return bytes(whole) if count and at >= len(body) else body
