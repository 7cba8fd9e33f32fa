"""What an export wrote."""

from __future__ import annotations

from msgspec import Struct, field


class ExportReport(Struct, frozen=True):
    """What was written. Counts that do not belong to the form are 0."""

    form: str
    out: str
    documents: int = 0
    captures: int = 0
    edges: int = 0  # links
    revisits: int = 0  # captures whose bytes an earlier record holds
    records: int = 0
    bytes: int = 0  # of the WARC files
    files: list[str] = field(default_factory=list)
    dropped: int = 0  # captures whose bytes gc has removed
    index: str = ""  # the CDXJ file
    damaged: list[tuple[str, str]] = field(default_factory=list)  # URL, and what is wrong
    unreadable: list[tuple[str, str]] = field(
        default_factory=list
    )  # URL, and why links are missing
