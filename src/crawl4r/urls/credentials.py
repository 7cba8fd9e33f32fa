"""Remove passwords from addresses and messages."""

from __future__ import annotations

import re

HIDDEN = "***"  # in place of a name and password
# Before the host of an address, with or without a scheme. A password may hold any character except
# those that end the authority.
_USER = re.compile(r"(?<=://)[^/?#\s]*@|\A[^/?#\s]*:[^/?#\s]*@")
# In the query of an address, or in the key=value form of libpq.
_NAMED = re.compile(
    r"\b([a-z_-]*(?:password|passwd|secret|token|key)\s*=\s*)('(?:[^'\\]|\\.)*'|[^&#\s]+)",
    re.IGNORECASE,
)


def without_credentials(text: str) -> str:
    """Replace user names, passwords and keys in an address or a message."""
    return _NAMED.sub(rf"\1{HIDDEN}", _USER.sub(f"{HIDDEN}@", text))


def are_hidden(address: str) -> bool:
    """Whether `without_credentials` has replaced the credentials of this address."""
    return f"://{HIDDEN}@" in address
