"""Addresses and messages without the passwords in them."""

from __future__ import annotations

import re

HIDDEN = "***"  # in place of a name and password
# Before the host of an address, also of one without a scheme. A password may hold any sign but those
# that end the authority.
_USER = re.compile(r"(?<=://)[^/?#\s]*@|\A[^/?#\s]*:[^/?#\s]*@")
# In the query of an address, or in libpq's other way to write one.
_NAMED = re.compile(
    r"\b([a-z_-]*(?:password|passwd|secret|token|key)\s*=\s*)('(?:[^'\\]|\\.)*'|[^&#\s]+)",
    re.IGNORECASE,
)


def without_credentials(text: str) -> str:
    """An address, or a message that may hold one, without names, passwords and keys."""
    return _NAMED.sub(rf"\1{HIDDEN}", _USER.sub(f"{HIDDEN}@", text))


def are_hidden(address: str) -> bool:
    """Whether the credentials of this address were taken away."""
    return f"://{HIDDEN}@" in address
